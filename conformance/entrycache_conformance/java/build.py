"""Builds parts of the Maven project on first use.

What is built goes into the user's cache folder (``ENTRYCACHE_CACHE``, else ``~/.cache/entrycache``), under a name made
of the content of its sources.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.releases import sources
from entrycache_conformance.subjects import watch
from entrycache_protocol.errors import MissingPrerequisite, Unwritten
from entrycache_protocol.leftovers import FOLDERS, scratch, sweep
from entrycache_protocol.output import reason

JDK_OLDEST: Final = 17
"""What is built is compiled for it."""

NO_MAVEN: Final = "mvn is not on the path; expected Maven 3.6 or later; install it"

PROGRESS_SECONDS: Final = 2.0
"""A build that takes longer says so."""

NO_SOURCES: Final = frozenset({".md", ".toml"})
"""Files beside the sources that no build depends on."""

_NOT_RESOLVED: Final = re.compile(r"(?:Could not (?:find|transfer) artifact|Failure to find) ([\w.:$-]+)")


class Part(NamedTuple):
    """A part of the Maven project that is built as one; all paths are below the project."""

    name: str
    """Of its folder in the cache, before the checksum."""
    what: str
    """What a message calls it."""
    modules: tuple[str, ...]
    """What Maven is asked for; it adds what they need."""
    depends_on: tuple[str, ...]
    """Files and folders; what else there is may change without a new build."""
    keep: Callable[[Path, Path], None]
    """Moves what is wanted from the built project into the result."""


def built(part: Part) -> Path:
    """The folder of a part, built if it is not there; whoever comes second waits.

    Raises:
        MissingPrerequisite: what the build needs is not there.
    """
    folder = _place(part)
    name = folder.name
    sweep(folder.parent, FOLDERS)
    lock = folder.with_name(f"{name}.lock")
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()
        except OSError as error:
            raise MissingPrerequisite(
                f"{folder.parent} cannot be written ({error.strerror}); "
                "expected a folder to keep the JVM drivers in; set ENTRYCACHE_CACHE"
            ) from None
        with _progress(f"building the {part.what} with mvn (once)"), _alone(lock):
            if not folder.is_dir():
                try:
                    _make(part, folder)
                except OSError as error:
                    raise Unwritten(f"cannot write {folder}: {reason(error)}") from None
    return folder


def lacking(part: Part) -> str:
    """Why a part could not be had here, in a line; empty where it is there, or can be built."""
    if _place(part).is_dir():
        return ""
    if shutil.which("mvn") is None:
        return NO_MAVEN
    try:
        find_java(JDK_OLDEST, compiler=True)
    except MissingPrerequisite as missing:
        return str(missing)
    return ""


def _place(part: Part) -> Path:
    """The folder of a part, which its sources name."""
    return _cache_folder() / "jvm" / f"{part.name}-{_checksum(sources(), part.depends_on)[:16]}"


def _cache_folder() -> Path:
    chosen = os.environ.get("ENTRYCACHE_CACHE")
    return Path(chosen).resolve() if chosen else Path.home() / ".cache" / "entrycache"


def _files(place: Path) -> list[Path]:
    every = (path for path in place.rglob("*") if path.is_file() and path.suffix not in NO_SOURCES)
    return sorted(path for path in every if "target" not in path.relative_to(place).parts)


def _checksum(project: Path, depends_on: tuple[str, ...]) -> str:
    content = hashlib.sha256()
    for place in (project / name for name in depends_on):
        for path in [place] if place.is_file() else _files(place):
            content.update(f"{path.relative_to(project).as_posix()}\0{path.stat().st_size}\0".encode())
            content.update(path.read_bytes())
    return content.hexdigest()


@contextlib.contextmanager
def _progress(what: str) -> Iterator[None]:
    line = f"entrycache: {what} ..."
    timer = threading.Timer(PROGRESS_SECONDS, lambda: print(line, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Among all processes; the system frees the lock of one that dies."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _make(part: Part, folder: Path) -> None:
    """Builds beside the final place and moves there at the end, so that the folder is whole or absent."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise MissingPrerequisite(NO_MAVEN)
    home = find_java(JDK_OLDEST, compiler=True).home
    with scratch(folder.parent) as made:
        work = made / "sources"
        for path in _files(sources()):
            copy = work / path.relative_to(sources())
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        _run_maven(mvn, home, work, part, folder.with_name(f"{folder.name}.log"))
        result = made / "result"
        result.mkdir()
        part.keep(work, result)
        result.rename(folder)


def _run_maven(mvn: str, home: Path, work: Path, part: Part, log: Path) -> None:
    argv = [mvn, "-B", "-q", "-pl", ",".join(part.modules), "-am", "package"]
    done = watch.run(argv, work, {**os.environ, "JAVA_HOME": str(home)})
    log.write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode != 0:
        told = [line for line in (done.stdout + done.stderr).splitlines() if "[ERROR]" in line]
        missing = next((found[1] for line in told if (found := _NOT_RESOLVED.search(line))), None)
        if missing is not None:
            raise MissingPrerequisite(
                f"{missing}, which the {part.what} needs, could not be resolved; "
                f"expected Maven Central or a filled local repository; see {log}"
            )
        why = told[0].partition("[ERROR]")[2].strip() if told else "no message"
        raise MissingPrerequisite(f"mvn could not build the {part.what}: {why}; see {log}")
