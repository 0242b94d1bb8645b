"""Drivers of releases: built on first use, every jar of their class paths checked against the pinned one.

What a class path holds is pinned by checksum in ``FAMILY/VERSION/jars.lock``.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from entrycache_conformance.java.build import Part, built, lacking
from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.releases import Release, sources
from entrycache_protocol.errors import MissingPrerequisite


class Driver(NamedTuple):
    """A driver that is built."""

    folder: Path
    release: Release
    jars: tuple[Path, ...]
    """The pinned class path, without the driver's own jars."""

    @property
    def agent(self) -> Path:
        """The jar of the Java agent that gives the released classes a virtual clock."""
        return self._own_jar("agent")

    @property
    def adapter(self) -> Path:
        """The jar of the adapter; it also holds the classes that stand in for missing ones."""
        return self._own_jar(self.release.family.name)

    @property
    def own_jars(self) -> tuple[Path, ...]:
        """The driver's own jars, which come first."""
        return (*(self._own_jar(module) for module in self.release.family.modules), self.adapter)

    @property
    def clock_sites(self) -> Path:
        """How often each released class asks for the time."""
        return self.folder / "clock.sites"

    @property
    def tested_jar(self) -> Path:
        """The jar that holds the classes under test."""
        return self.jar(self.release.tested_jar)

    def jar(self, name: str) -> Path:
        """One jar of the pinned class path, by the beginning of its name."""
        return next(jar for jar in self.jars if jar.name.startswith(name))

    def _own_jar(self, module: str) -> Path:
        return self.folder / jar_of(module)


def jar_of(module: str) -> str:
    """What Maven calls the jar of a module."""
    return f"entrycache-{module}.jar"


def driver(release: Release) -> Driver:
    """The driver of a release, built if it is not there; whoever comes second waits.

    Raises:
        MissingPrerequisite: what the build needs is not there, or a jar is not the pinned one.
    """
    folder = built(part_of(release))
    return Driver(folder, release, verified(folder))


def lacks(release: Release) -> str:
    """Why a release cannot run here, in a line; empty where it can. A build that has not been tried may still fail."""
    try:
        find_java(release.java)
    except MissingPrerequisite as missing:
        return str(missing)
    return lacking(part_of(release))


def part_of(release: Release) -> Part:
    """What is built for a release; no other release is among what it depends on."""
    family = release.family.name
    own = f"{family}/{release.version}"
    poms = sorted((sources() / own).rglob("pom.xml"))
    places = {module: module for module in release.family.modules} | {family: own}

    def keep(work: Path, result: Path) -> None:
        (work / own / "target" / "lib").rename(result / "lib")
        for module, place in places.items():
            (work / place / "target" / jar_of(module)).rename(result / jar_of(module))
        for pinned in (*(work / own).glob("*.lock"), *(work / own).glob("*.sites")):
            shutil.copyfile(pinned, result / pinned.name)

    return Part(
        name=f"{family}-{release.version}",
        what=f"driver of {release}",
        modules=tuple(pom.parent.relative_to(sources()).as_posix() for pom in poms),
        depends_on=(
            "pom.xml",
            f"{family}/pom.xml",
            *release.family.modules,
            *release.family.shares,
            f"{family}/src",
            own,
        ),
        keep=keep,
    )


@cache
def verified(folder: Path) -> tuple[Path, ...]:
    """The pinned jars, if each of them is what it was when it was pinned."""
    jars = {jar.name: jar for jar in (folder / "lib").iterdir()}
    check_jars(jars, folder / "jars.lock")
    return tuple(jars[name] for name in sorted(jars))


def check_jars(jars: Mapping[str, Path], lock: Path) -> None:
    """Hold jars, by their names, to a file of checksums.

    Raises:
        MissingPrerequisite: one is not the pinned one, is missing or is not pinned.
    """
    lines = lock.read_text("utf-8").splitlines()
    pinned = {name: digest for digest, name in (line.split() for line in lines)}
    for name in sorted(pinned.keys() | jars.keys()):
        got = hashlib.sha256(jars[name].read_bytes()).hexdigest() if name in jars else "no such file"
        if got != pinned.get(name):
            raise MissingPrerequisite(
                f"{jars.get(name, lock.parent / 'lib' / name)} has sha256 {got}, "
                f"expected {pinned.get(name, 'no such file')}; "
                "remove the folder (and the file in the local Maven repository) and try again"
            )
