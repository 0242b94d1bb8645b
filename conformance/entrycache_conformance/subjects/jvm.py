"""Released JVM caches as subjects: the command that starts one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from entrycache_conformance.java.classpath import in_front, joined
from entrycache_conformance.java.driver import Driver, driver
from entrycache_conformance.java.families import families_called
from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.releases import release_of
from entrycache_conformance.java.replaced import replaced

JAVA_WARNS_OF_UNSAFE: Final = 24
"""From here on a JVM warns of the memory access that netty and jctools use, unless told not to."""


def is_released(subject: str) -> bool:
    """Whether a name means a released JVM cache: ``pulsar:4.2.4``."""
    name, colon, _ = subject.partition(":")
    return bool(colon and families_called(name))


def released_command(subject: str, classpath: str | None = None) -> list[str]:
    """The command that serves a released cache, ``pulsar:4.2.4``, on stdin and stdout.

    ``classpath``, jars and folders of classes, goes in front of the pinned dependencies; the clock calls are
    then printed on stderr and not compared with the pinned ones, and so is how many classes under test come from where.

    Raises:
        UsageError: there is no driver for it, or the class path is not right, or replaces no class under test.
        MissingPrerequisite: what its driver needs is not there.
    """
    front = in_front(classpath)
    release = release_of(subject)
    java = find_java(release.java)
    built = driver(release)
    for path, count in replaced(front, built).items():
        print(f"entrycache: {path}: {count} classes of {built.tested_jar.name} come from here", file=sys.stderr)
    return [
        java.program,
        "-XX:+UseSerialGC",
        "-XX:+DisplayVMOutputToStderr",
        *(["--sun-misc-unsafe-memory-access=allow"] if java.major >= JAVA_WARNS_OF_UNSAFE else []),
        *release.family.options,
        *(_virtual_clock(built, front) if release.family.has_agent else []),
        "-cp",
        joined([*built.own_jars, *front, *built.jars]),
        release.family.main,
    ]


def _virtual_clock(built: Driver, front: list[Path]) -> list[str]:
    clock = "-Dentrycache.clock.print=true" if front else f"-Dentrycache.clock.sites={built.clock_sites}"
    return [clock, f"-javaagent:{built.agent}"]
