"""Releases: those that a driver is pinned to, and those that cannot be run, with the reason."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from typing import Final, NamedTuple

from entrycache_conformance.subjects.jvm_build import Release, lock_of
from entrycache_protocol.errors import MissingPrerequisite

TESTED: Final = {"pulsar": "managed-ledger-", "kafka-streams": "kafka-streams-"}
"""The jar under test of each family of releases, by the beginning of its name."""

PULSAR: Final = "org.apache.pulsar:managed-ledger"
ASK_SECONDS: Final = 120


class Pinned(NamedTuple):
    """A release that a driver runs: the jar under test, and the lock file of its whole class path."""

    jar: str
    sha256: str
    lock_sha256: str
    jars: int


class Absent(NamedTuple):
    """A release that is not run."""

    subject: str
    coordinates: str
    resolves: bool
    reason: str


ABSENT: Final = (
    *(
        Absent(f"pulsar:{version}", f"{PULSAR}:{version}", False, "does not resolve: Maven finds no such jar")
        for version in ("4.1.0", "4.1.1", "4.2.0", "4.2.1", "4.2.2", "4.2.3")
    ),
    *(
        Absent(f"pulsar:{version}", f"{PULSAR}:{version}", True, "resolves; its system, pulsar-legacy, is not built")
        for version in ("3.3.6", "4.0.8")
    ),
)
"""Releases that were asked for and are not run."""


def pinned(subject: str) -> Pinned | None:
    """What a released subject's class path is pinned to; None: it is no released jar."""
    family, _, version = subject.partition(":")
    if family not in TESTED:
        return None
    lock = lock_of(Release(family, version))
    if not lock.is_file():
        return None
    text = lock.read_bytes()
    lines = [line.split() for line in text.decode().splitlines() if line.strip()]
    digest, jar = next((digest, jar) for digest, jar in lines if jar == f"{TESTED[family]}{version}.jar")
    return Pinned(jar, digest, hashlib.sha256(text).hexdigest(), len(lines))


def ask_maven(release: Absent) -> bool:
    """Whether a release resolves today.

    Raises:
        MissingPrerequisite: there is no Maven, or it has no network.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingPrerequisite(
            "mvn is missing; --resolve asks Maven which of the releases that are not run are there"
        )
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [maven, "-q", "-B", "-U", goal, "-Dtransitive=false", f"-Dartifact={release.coordinates}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    if done.returncode == 0:
        return True
    if "Could not find artifact" in done.stdout or "was not found in" in done.stdout:
        return False
    raise MissingPrerequisite(f"Maven cannot tell whether {release.coordinates} resolves; is there a network?")
