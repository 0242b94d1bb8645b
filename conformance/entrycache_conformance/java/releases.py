"""The families of released jars that there is an adapter for: those of the systems."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_protocol.system import Family

FAMILIES: Final[dict[str, Family]] = {each.jvm.name: each.jvm for each in SYSTEMS.values() if each.jvm is not None}
"""By their folders."""


def families_named(name: str) -> tuple[Family, ...]:
    """Those whose subjects have this name before their colon; each version belongs to one of them."""
    return tuple(family for family in FAMILIES.values() if family.called == name)


# --- releases
# Releases of a family, found by listing the folders of the Maven project that have a ``release.toml``.

RELEASE_FILE: Final = "release.toml"
"""What the suite knows of a release; what Maven knows of it stands in the ``pom.xml`` beside."""


class Release(NamedTuple):
    """A released version that there is a driver for."""

    family: Family
    version: str
    folder: Path
    """Its module of the Maven project."""
    era: str
    """The family's folder of sources that fits its classes."""
    java: int
    """The oldest Java that runs them."""
    tour: bool = False
    """Whether a plain `make conform` runs it."""
    stand_ins: bool = False
    """Whether the driver's own jar holds a class in place of one that is published nowhere."""

    def __str__(self) -> str:
        return f"{self.family.name} {self.version}"

    @property
    def subject(self) -> str:
        """What the command line calls it: ``pulsar:4.2.4``."""
        return f"{self.family.called}:{self.version}"

    @property
    def tested_jar(self) -> str:
        """The file name of the jar that holds the classes under test."""
        return f"{self.family.artifact}-{self.version}.jar"

    @property
    def lock(self) -> Path:
        """The file that pins the class path by checksum."""
        return self.folder / "jars.lock"


@cache
def maven_project() -> Path:
    """The Maven project: beside the packages in a checkout, inside this one in an installed wheel."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "jvm", here.parents[1] / "jvm"):
        if (folder / "pom.xml").is_file():
            return folder
    raise MissingPrerequisite(
        "the sources of the JVM drivers are not there; "
        "expected a folder jvm beside or in entrycache_conformance; install entrycache anew"
    )


def list_releases(family: Family, project: Path) -> tuple[Release, ...]:
    """The releases of a family in a Maven project, the oldest first."""
    found = (_read_release(family, about) for about in (project / family.name).glob(f"*/{RELEASE_FILE}"))
    return tuple(sorted(found, key=_release_order))


@cache
def releases(family: str) -> tuple[Release, ...]:
    """The releases of a family that there is a driver for, the oldest first."""
    return list_releases(FAMILIES[family], maven_project())


def release_versions(family: str) -> tuple[str, ...]:
    """The same, their versions only."""
    return tuple(release.version for release in releases(family))


def versions_named(name: str) -> tuple[str, ...]:
    """The versions of all families whose subjects have a name before their colon, the oldest first."""
    found = (release for family in families_named(name) for release in releases(family.name))
    return tuple(release.version for release in sorted(found, key=_release_order))


def all_releases() -> tuple[Release, ...]:
    """The releases of all families."""
    return tuple(release for family in FAMILIES for release in releases(family))


def newest_release(family: str, era: str | None = None) -> Release:
    """The newest release of a family, or of one of its eras."""
    return [release for release in releases(family) if era in {None, release.era}][-1]


def demo_release(family: str) -> Release:
    """The release that stands for its family: the newest that a plain `make conform` runs."""
    return [release for release in releases(family) if release.tour][-1]


def example_subjects() -> tuple[str, ...]:
    """Names of released subjects for a message or a help text: one a family."""
    return tuple(demo_release(family).subject for family in FAMILIES)


def find_release(subject: str) -> Release | None:
    """The release that ``pulsar:4.2.4`` names; None: there is no driver for it."""
    return next((release for release in all_releases() if release.subject == subject), None)


def require_release(subject: str) -> Release:
    """The release that ``pulsar:4.2.4`` names.

    Raises:
        UsageError: there is no driver for it.
    """
    found = find_release(subject)
    if found is None:
        name, _, version = subject.partition(":")
        known = ", ".join(versions_named(name))
        raise UsageError(f"there is no driver for {families_named(name)[0].title} {version}; known: {known}")
    return found


def _read_release(family: Family, about: Path) -> Release:
    return Release(family, about.parent.name, about.parent, **tomllib.loads(about.read_text("utf-8")))


def _release_order(release: Release) -> tuple[object, ...]:
    numbers, _, milestone = release.version.partition("-")
    return (*(int(number) for number in numbers.split(".")), milestone == "", milestone)
