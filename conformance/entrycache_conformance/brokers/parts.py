"""The jars of a recorded broker: the recorder's own, and the class path of a whole broker."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.build import Part, built
from entrycache_conformance.java.driver import check_jars, jar_of
from entrycache_protocol.errors import MissingPrerequisite, UsageError

CLIENTS: Final = "pulsar/broker"
"""The module whose sources every release's clients are compiled from; the releases are folders in it."""

BROKERS: Final = ("4.2.4", "5.0.0-M1")
"""The releases of which a whole broker can be had. Of 5.0.1 too few jars are published."""


class BrokerJars(NamedTuple):
    """What starts a broker and its clients."""

    recorder: Path
    clients: Path
    """Our program that drives it."""
    broker: tuple[Path, ...]

    @property
    def classpath(self) -> str:
        """Of broker and clients."""
        return os.pathsep.join(str(jar) for jar in (self.clients, *self.broker))


def recorder_jar() -> Path:
    """The jar that a broker is started with, built if it is not there.

    Raises:
        MissingPrerequisite: what the build needs is not there.
    """
    part = Part("recorder", "recorder", ("recorder",), ("pom.xml", "recorder"), _keeps("recorder", "recorder"))
    return built(part) / jar_of("recorder")


def broker_jars(release: str) -> BrokerJars:
    """The jars of a release, which Maven brings the first time (250 MB), each the pinned one.

    Raises:
        UsageError: there is no such broker.
        MissingPrerequisite: Maven or the network is not there, or a jar is not the pinned one.
    """
    if release not in BROKERS:
        raise UsageError(f"there is no broker of release {release!r} to record; there are {', '.join(BROKERS)}")
    own = f"{CLIENTS}/{release}"
    part = Part(
        name=f"pulsar-broker-{release}",
        what=f"broker of Pulsar {release}, with its 250 MB of jars,",
        modules=(own,),
        depends_on=("pom.xml", f"{CLIENTS}/pom.xml", f"{CLIENTS}/src", own),
        keep=_keeps(own, "pulsar-broker"),
    )
    folder = built(part)
    jars = tuple(Path(jar) for jar in (folder / "classpath").read_text("utf-8").strip().split(os.pathsep))
    _verified(jars, folder)
    return BrokerJars(recorder_jar(), folder / jar_of("pulsar-broker"), jars)


@cache
def _verified(jars: tuple[Path, ...], folder: Path) -> None:
    missing = next((jar for jar in jars if not jar.is_file()), None)
    if missing is not None:
        raise MissingPrerequisite(f"{missing} is gone; remove the folder {folder} and try again")
    check_jars({jar.name: jar for jar in jars}, folder / "jars.lock")


def _keeps(module: str, artifact: str) -> Callable[[Path, Path], None]:
    """The module's jar, and of a broker the class path and the checksums."""

    def keep(work: Path, result: Path) -> None:
        target = work / module / "target"
        for made in (target / jar_of(artifact), target / "classpath", work / module / "jars.lock"):
            if made.is_file():
                made.rename(result / made.name)

    return keep
