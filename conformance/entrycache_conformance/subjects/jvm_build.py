"""Builds the drivers of released JVM caches on first use, and checks every jar of their class paths.

The sources are a Maven project, with a folder for each release. A driver is built into the user's cache folder
(``ENTRYCACHE_CACHE``, else ``~/.cache/entrycache``), under a name made of the content of its sources.
What its class path holds is pinned by checksum in ``FAMILY/VERSION/jars.lock``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.subjects.java import find_java
from entrycache_protocol.errors import MissingPrerequisite

JDK_OLDEST: Final = 17
"""The drivers are compiled for it."""

PROGRESS_SECONDS: Final = 2.0
"""A build that takes longer says so."""

COMMON_MODULES: Final = {"pulsar": ("agent", "protocol"), "kafka-streams": ("protocol",)}
"""What else of the Maven project a family's drivers are made of."""

_NOT_RESOLVED: Final = re.compile(r"(?:Could not (?:find|transfer) artifact|Failure to find) ([\w.:$-]+)")


class Release(NamedTuple):
    """A released version that there is a driver for."""

    family: str
    """The folder of the Maven project: ``pulsar``."""
    version: str

    def __str__(self) -> str:
        return f"{self.family} {self.version}"


class Driver(NamedTuple):
    """A driver that is built."""

    folder: Path
    family: str
    jars: tuple[Path, ...]
    """The pinned class path, without the driver's own jars."""

    @property
    def agent(self) -> Path:
        """The jar of the Java agent that gives the released classes a virtual clock."""
        return self.own_jar("agent")

    @property
    def own_jars(self) -> tuple[Path, ...]:
        """The driver's own jars, which come first; they hold the classes that stand in for missing ones."""
        return tuple(self.own_jar(module) for module in (*COMMON_MODULES[self.family], self.family))

    @property
    def clock_sites(self) -> Path:
        """How often each released class asks for the time."""
        return self.folder / "clock.sites"

    def own_jar(self, module: str) -> Path:
        """The jar of one module of the Maven project."""
        return self.folder / f"entrycache-{module}.jar"


def versions(family: str) -> tuple[str, ...]:
    """The releases that there is a driver for, the oldest first."""
    found = (lock.parent.name for lock in (_sources() / family).glob("*/jars.lock"))
    return tuple(sorted(found, key=_age))


def lock_of(release: Release) -> Path:
    """The file that pins a release's class path by checksum; it is there if there is a driver."""
    return _sources() / release.family / release.version / "jars.lock"


def driver(release: Release) -> Driver:
    """The driver of a release, built if it is not there; whoever comes second waits.

    Raises:
        MissingPrerequisite: what the build needs is not there, or a jar is not the pinned one.
    """
    folder = _built(_sources(), release)
    return Driver(folder, release.family, _verified(folder))


def _age(version: str) -> tuple[object, ...]:
    numbers, _, milestone = version.partition("-")
    return (*(int(number) for number in numbers.split(".")), milestone == "", milestone)


def _sources() -> Path:
    """The Maven project: beside the packages in a checkout, inside this one in an installed wheel."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "jvm", here.parents[1] / "jvm"):
        if (folder / "pom.xml").is_file():
            return folder
    raise MissingPrerequisite(
        "the sources of the JVM drivers are not there; "
        "expected a folder jvm beside or in entrycache_conformance; install entrycache anew"
    )


@cache
def _verified(folder: Path) -> tuple[Path, ...]:
    """The pinned jars, if each of them is what it was when it was pinned."""
    lines = (folder / "jars.lock").read_text("utf-8").splitlines()
    pinned = {name: digest for digest, name in (line.split() for line in lines)}
    jars = {jar.name: jar for jar in (folder / "lib").iterdir()}
    for name in sorted(pinned.keys() | jars.keys()):
        got = hashlib.sha256(jars[name].read_bytes()).hexdigest() if name in jars else "no such file"
        if got != pinned.get(name):
            raise MissingPrerequisite(
                f"{folder / 'lib' / name} has sha256 {got}, expected {pinned.get(name, 'no such file')}; "
                "remove the folder (and the file in the local Maven repository) and try again"
            )
    return tuple(jars[name] for name in sorted(pinned))


def _cache_folder() -> Path:
    chosen = os.environ.get("ENTRYCACHE_CACHE")
    return Path(chosen).resolve() if chosen else Path.home() / ".cache" / "entrycache"


def _files(folder: Path) -> list[Path]:
    every = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    return sorted(path for path in every if "target" not in path.relative_to(folder).parts)


def _depends_on(sources: Path, release: Release) -> list[Path]:
    """All that a driver's build depends on; other releases are not among it."""
    family = sources / release.family
    folders = (
        *(sources / module for module in COMMON_MODULES[release.family]),
        family / "src",
        family / release.version,
    )
    return [sources / "pom.xml", family / "pom.xml", *(path for folder in folders for path in _files(folder))]


def _built(sources: Path, release: Release) -> Path:
    content = hashlib.sha256()
    for path in _depends_on(sources, release):
        content.update(f"{path.relative_to(sources).as_posix()}\0{path.stat().st_size}\0".encode())
        content.update(path.read_bytes())
    name = f"{release.family}-{release.version}-{content.hexdigest()[:16]}"
    folder = _cache_folder() / "jvm" / name
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
        what = f"building the driver of {release} with mvn (once)"
        with _progress(what), _alone(lock):
            if not folder.is_dir():
                _make(sources, release, folder)
    return folder


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


def _make(sources: Path, release: Release, folder: Path) -> None:
    """Builds beside the final place and moves there at the end, so that the folder is whole or absent."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise MissingPrerequisite("mvn is not on the path; expected Maven 3.6 or later; install it")
    home = find_java(JDK_OLDEST, compiler=True).home
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="building-") as scratch:
        work = Path(scratch) / "sources"
        for path in _files(sources):
            copy = work / path.relative_to(sources)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        own = work / release.family / release.version
        modules = [pom.parent.relative_to(work).as_posix() for pom in sorted(own.rglob("pom.xml"))]
        _run_maven(mvn, home, work, modules, f"driver of {release}", folder.with_name(f"{folder.name}.log"))
        result = Path(scratch) / "result"
        result.mkdir()
        (own / "target" / "lib").rename(result / "lib")
        for module, place in (*((name, work / name) for name in COMMON_MODULES[release.family]), (release.family, own)):
            name = f"entrycache-{module}.jar"
            (place / "target" / name).rename(result / name)
        for pinned in (*own.glob("*.lock"), *own.glob("*.sites")):
            shutil.copyfile(pinned, result / pinned.name)
        result.rename(folder)


def _run_maven(mvn: str, home: Path, work: Path, modules: list[str], what: str, log: Path) -> None:
    done = subprocess.run(
        [mvn, "-B", "-q", "-pl", ",".join(modules), "-am", "package"],
        cwd=work,
        env={**os.environ, "JAVA_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    log.write_bytes(done.stdout)
    if done.returncode != 0:
        told = [line for line in done.stdout.decode(errors="replace").splitlines() if "[ERROR]" in line]
        missing = next((found[1] for line in told if (found := _NOT_RESOLVED.search(line))), None)
        if missing is not None:
            raise MissingPrerequisite(
                f"{missing}, which the {what} needs, could not be resolved; "
                f"expected Maven Central or a filled local repository; see {log}"
            )
        why = told[0].partition("[ERROR]")[2].strip() if told else "no message"
        raise MissingPrerequisite(f"mvn could not build the {what}: {why}; see {log}")
