"""The released jars that there is a driver for.

A `Family` describes the jars that implement one system; it is imported with its system, at its first use. A `Release`
is a folder of the Maven project below the folder of its family, with a `release.toml`. Releases are found by listing
these folders, so a new one needs no line of Python. Subjects are named `pulsar:4.2.4`; two families may share the name
before the colon, but each version belongs to one of them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.systems import BUILT, SYSTEMS
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_protocol.system import Family


@cache
def subject_names() -> Mapping[str, str]:
    """Return the name before the colon of the subjects of each family."""
    return {family: name for built in BUILT.values() for family, name in built.families.items()}


class _Families(Mapping[str, Family]):
    """The families by their folders, each imported with its system at its first use."""

    def __getitem__(self, name: str) -> Family:
        system = next(system for system, built in BUILT.items() if name in built.families)
        family = SYSTEMS[system].jvm
        assert family is not None
        return family

    def __iter__(self) -> Iterator[str]:
        return iter(subject_names())

    def __len__(self) -> int:
        return len(subject_names())

    def __contains__(self, name: object) -> bool:
        return name in subject_names()


FAMILIES: Final[Mapping[str, Family]] = _Families()


def families_named(name: str) -> tuple[str, ...]:
    """Return the folders of the families whose subjects have this name before their colon."""
    return tuple(family for family, called in subject_names().items() if called == name)


RELEASE_FILE: Final = "release.toml"
"""The file that describes a release to this package; the ``pom.xml`` next to it describes the release to Maven."""


class Release(NamedTuple):
    """A released version that has a driver."""

    family: Family
    version: str
    folder: Path
    """The release's module of the Maven project."""
    era: str
    """The family's folder of sources that fits its classes."""
    java: int
    """The oldest Java that runs them."""
    example: bool = False
    """True if messages name it instead of the newest release of its family."""

    def __str__(self) -> str:
        return f"{self.family.name} {self.version}"

    @property
    def subject(self) -> str:
        """The name on the command line, such as ``pulsar:4.2.4``."""
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
    """Return the folder of the Maven project: next to the packages in a checkout, inside this one in a wheel."""
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "jvm", here.parents[1] / "jvm"):
        if (folder / "pom.xml").is_file():
            return folder
    raise MissingPrerequisite(
        "the sources of the JVM drivers are not there; "
        "expected a folder jvm next to or in entrycache_conformance; install entrycache anew"
    )


def list_releases(family: Family, project: Path) -> tuple[Release, ...]:
    """Return the releases of a family in a Maven project, the oldest first."""
    unordered = (_read_release(family, about) for about in (project / family.name).glob(f"*/{RELEASE_FILE}"))
    return tuple(sorted(unordered, key=_release_order))


@cache
def releases(family: str) -> tuple[Release, ...]:
    """Return the releases of a family, the oldest first."""
    return list_releases(FAMILIES[family], maven_project())


def release_versions(family: str) -> tuple[str, ...]:
    """Return the versions of a family, the oldest first."""
    return tuple(release.version for release in releases(family))


def versions_named(name: str) -> tuple[str, ...]:
    """Return the versions of all families whose subjects have this name before their colon, the oldest first."""
    named = (release for family in families_named(name) for release in releases(family))
    return tuple(release.version for release in sorted(named, key=_release_order))


def all_releases() -> tuple[Release, ...]:
    """Return the releases of all families."""
    return tuple(release for family in FAMILIES for release in releases(family))


def newest_release(family: str, era: str | None = None) -> Release:
    """Return the newest release of a family, or of one of its eras."""
    return [release for release in releases(family) if era in {None, release.era}][-1]


def example_release(family: str) -> Release:
    """Return the release that examples name: the one whose file says so, else the newest."""
    return max(releases(family), key=lambda release: (release.example, _release_order(release)))


def example_subjects() -> tuple[str, ...]:
    """Return one subject name of each family for a message, without importing the systems."""
    return tuple(f"{name}:{_example_version(family)}" for family, name in subject_names().items())


@cache
def _example_version(family: str) -> str:
    """Return the version of `example_release` from the files of the releases alone."""
    files = (maven_project() / family).glob(f"*/{RELEASE_FILE}")
    is_example = {file.parent.name: tomllib.loads(file.read_text("utf-8")).get("example", False) for file in files}
    return max(is_example, key=lambda version: (is_example[version], _version_order(version)))


def find_release(subject: str) -> Release | None:
    """Return the release that a name such as ``pulsar:4.2.4`` means, or None if there is no driver for it."""
    name, _, version = subject.partition(":")
    for family in families_named(name):
        if (maven_project() / family / version / RELEASE_FILE).is_file():
            return next((release for release in releases(family) if release.version == version), None)
    return None


def closest_releases(subject: str) -> tuple[Release, ...]:
    """Return the releases whose drivers may fit an unpinned version, the likeliest first.

    These are the newest release that is not newer than the version, and the oldest that is newer. One with the same two
    first numbers comes before one without.

    Raises:
        UsageError: the version cannot be read.
    """
    name, _, version = subject.partition(":")
    if not re.fullmatch(r"\d+(\.\d+){2,}(-\w+)?", version):
        known = ", ".join(versions_named(name))
        raise UsageError(f"{subject}: {version!r} is no version; expected one with three numbers; known: {known}")
    wanted = _version_order(version)
    named = sorted((each for family in families_named(name) for each in releases(family)), key=_release_order)
    older = [each for each in named if _release_order(each) <= wanted]
    newer = [each for each in named if _release_order(each) > wanted]
    line = version.split(".")[:2]
    return tuple(sorted((*older[-1:], *newer[:1]), key=lambda each: each.version.split(".")[:2] != line))


def require_release(subject: str) -> Release:
    """Return the release that a name such as ``pulsar:4.2.4`` means.

    Raises:
        UsageError: there is no driver for it.
    """
    release = find_release(subject)
    if release is None:
        name, _, version = subject.partition(":")
        known = ", ".join(versions_named(name))
        raise UsageError(f"there is no driver for {FAMILIES[families_named(name)[0]].title} {version}; known: {known}")
    return release


def _read_release(family: Family, about: Path) -> Release:
    try:
        return Release(family, about.parent.name, about.parent, **tomllib.loads(about.read_text("utf-8")))
    except (TypeError, tomllib.TOMLDecodeError) as error:
        keys = ", ".join(Release._fields[3:])
        raise UsageError(f"{about} describes no release: {error}; expected {keys}; the last is optional") from None


def _release_order(release: Release) -> tuple[object, ...]:
    return _version_order(release.version)


def _version_order(version: str) -> tuple[object, ...]:
    numbers, _, milestone = version.partition("-")
    return (*(int(number) for number in numbers.split(".")), milestone == "", milestone)
