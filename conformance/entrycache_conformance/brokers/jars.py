"""The jars of a recorded broker: the recorder's own, and the class path of a whole broker.

Maven fetches a broker's jars the first time. Each must have its pinned checksum.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from entrycache_conformance.java import build, driver, releases
from entrycache_protocol.errors import MissingPrerequisite, UsageError


class BrokerJars(NamedTuple):
    """The jars that start a broker and its clients."""

    recorder: Path
    clients: Path
    """Our program that drives the broker."""
    broker: tuple[Path, ...]

    @property
    def classpath(self) -> str:
        """The class path of broker and clients."""
        return os.pathsep.join(str(jar) for jar in (self.clients, *self.broker))


def build_recorder_jar() -> Path:
    """Return the recorder's jar, and build it first if it is not there.

    Raises:
        MissingPrerequisite: what the build needs is not there.
    """
    part = build.BuildPart(
        "recorder", "recorder", ("recorder",), ("pom.xml", "recorder"), _moves_jars("recorder", "recorder")
    )
    return build.build_part(part) / driver.jar_name("recorder")


def broker_releases(family: str) -> tuple[str, ...]:
    """Return the releases with a whole broker: those whose folder pins one."""
    return tuple(
        sorted(lock.parent.name for lock in (releases.maven_project() / family / "broker").glob("*/jars.lock"))
    )


def build_broker_jars(family: str, release: str) -> BrokerJars:
    """Return the pinned jars of a release. Maven fetches them the first time (up to 250 MB).

    Raises:
        UsageError: there is no such broker.
        MissingPrerequisite: Maven or the network is not there, or a jar is not the pinned one.
    """
    if release not in broker_releases(family):
        there = ", ".join(broker_releases(family))
        raise UsageError(f"there is no broker of release {release!r} of {family} to record; there are {there}")
    name = f"{family}-broker"
    module = f"{family}/broker"
    own = f"{module}/{release}"
    part = build.BuildPart(
        name=f"{name}-{release}",
        what=f"broker of {family} {release}, with all of its jars,",
        modules=(own,),
        depends_on=("pom.xml", f"{module}/pom.xml", f"{module}/src", own),
        keep=_moves_jars(own, name),
    )
    folder = build.build_part(part)
    jars = tuple(Path(jar) for jar in (folder / "classpath").read_text("utf-8").strip().split(os.pathsep))
    _verify_jars(jars, folder)
    return BrokerJars(build_recorder_jar(), folder / driver.jar_name(name), jars)


@cache
def _verify_jars(jars: tuple[Path, ...], folder: Path) -> None:
    missing = next((jar for jar in jars if not jar.is_file()), None)
    if missing is not None:
        raise MissingPrerequisite(f"{missing} is gone; remove the folder {folder} and try again")
    driver.check_jars({jar.name: jar for jar in jars}, folder / "jars.lock")


def _moves_jars(module: str, artifact: str) -> Callable[[Path, Path], None]:
    """Return a function that keeps the module's jar and, for a broker, the class path and the checksums."""

    def keep(work: Path, result: Path) -> None:
        target = work / module / "target"
        for path in (target / driver.jar_name(artifact), target / "classpath", work / module / "jars.lock"):
            if path.is_file():
                path.rename(result / path.name)

    return keep
