"""Releases: those that a driver is pinned to, and those that cannot be run, with the reason."""

from __future__ import annotations

import hashlib
import shutil
from typing import Final, NamedTuple

from entrycache_conformance.java.families import FAMILIES
from entrycache_conformance.java.releases import find_release
from entrycache_conformance.subjects import watch
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.family import Absent
from entrycache_protocol.leftovers import scratch

ASK_SECONDS: Final = 120


class Pinned(NamedTuple):
    """A release that a driver runs: the jar under test, and the lock file of its whole class path."""

    jar: str
    sha256: str
    lock_sha256: str
    jars: int


ABSENT: Final = tuple(absent for family in FAMILIES.values() for absent in family.absent)
"""Releases that were asked for and are not run."""


def pinned(subject: str) -> Pinned | None:
    """What a released subject's class path is pinned to; None: it is no released jar."""
    release = find_release(subject)
    if release is None:
        return None
    text = release.lock.read_bytes()
    lines = [line.split() for line in text.decode().splitlines() if line.strip()]
    digest = next(digest for digest, jar in lines if jar == release.tested_jar)
    return Pinned(release.tested_jar, digest, hashlib.sha256(text).hexdigest(), len(lines))


def ask_maven(release: Absent) -> bool:
    """Whether a release resolves today; what never was a release does not.

    Raises:
        MissingPrerequisite: there is no Maven, or it has no network.
    """
    if not release.coordinates:
        return False
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingPrerequisite(
            "mvn is missing; --resolve asks Maven which of the releases that are not run are there"
        )
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
    with scratch() as folder:
        argv = [maven, "-q", "-B", "-U", goal, "-Dtransitive=false", f"-Dartifact={release.coordinates}"]
        done = watch.run(argv, folder, timeout_seconds=ASK_SECONDS)
    if done.returncode == 0:
        return True
    if "Could not find artifact" in done.stdout or "was not found in" in done.stdout:
        return False
    raise MissingPrerequisite(f"Maven cannot tell whether {release.coordinates} resolves; is there a network?")
