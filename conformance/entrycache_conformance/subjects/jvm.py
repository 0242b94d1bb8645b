"""Released JVM caches as subjects: the command that starts one, and what a stand-alone Java test of it needs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.subjects.java import find_java
from entrycache_conformance.subjects.jvm_build import Driver, Release, driver, versions
from entrycache_protocol.errors import UsageError

JAVA_OLDEST: Final = {Release("pulsar", "5.0.1"): 21}
"""The Java that a release's classes are compiled for, where it is not 17."""

WITH_STAND_INS: Final = (Release("pulsar", "5.0.1"),)
"""Releases that need a class that is published nowhere; the driver's own jar holds another in its place."""

JAVA_WARNS_OF_UNSAFE: Final = 24
"""From here on a JVM warns of the memory access that netty and jctools use, unless told not to."""

FAMILIES: Final = {"pulsar": "Pulsar", "kafka-streams": "Kafka Streams"}
"""What there are drivers for: the name of a subject before its colon, and what people call it."""

_MAIN: Final = {
    "pulsar": "org.apache.bookkeeper.mledger.impl.cache.Pip430Driver",
    "kafka-streams": "org.apache.kafka.streams.state.internals.KafkaStreamsDriver",
}
_DRIVER_ONLY: Final = ("gson-",)
_UNDER_TEST: Final = {"pulsar": "managed-ledger", "kafka-streams": "kafka-streams"}


class JavaTestClasspath(NamedTuple):
    """What compiles and runs a stand-alone Java test."""

    java: str
    javac: str
    classpath: str
    """The jar under test, its dependencies, and for Pulsar the agent's jar for the name of the clock."""
    agent: Path | None
    """The jar to give as ``-javaagent:``; Kafka Streams needs none."""


def pulsar_versions() -> tuple[str, ...]:
    """The releases of Pulsar that there is a driver for."""
    return versions("pulsar")


def is_released(subject: str) -> bool:
    """Whether a name means a released JVM cache: ``pulsar:4.2.4``."""
    return subject.partition(":")[0] in FAMILIES and ":" in subject


def released_command(subject: str, classpath: str | None = None) -> list[str]:
    """The command that serves a released cache, ``pulsar:4.2.4``, on stdin and stdout.

    ``classpath``, jars and folders of classes, goes in front of the pinned dependencies; the clock calls are
    then printed on stderr and not compared with the pinned ones.

    Raises:
        UsageError: there is no driver for it, or the class path is not right.
        MissingPrerequisite: what its driver needs is not there.
    """
    family, _, version = subject.partition(":")
    front = _in_front(classpath)
    release = _release(family, version)
    java = find_java(_oldest(release))
    built = driver(release)
    return [
        java.program,
        "-XX:+UseSerialGC",
        "-XX:+DisplayVMOutputToStderr",
        *(["--sun-misc-unsafe-memory-access=allow"] if java.major >= JAVA_WARNS_OF_UNSAFE else []),
        *(_with_virtual_clock(built, front) if family == "pulsar" else []),
        "-cp",
        _joined([*built.own_jars, *front, *built.jars]),
        _MAIN[family],
    ]


def pulsar_command(version: str, classpath: str | None = None) -> list[str]:
    """The command that serves a released Pulsar cache, as :func:`released_command`."""
    return released_command(f"pulsar:{version}", classpath)


def _with_virtual_clock(built: Driver, front: list[Path]) -> list[str]:
    clock = "-Dentrycache.clock.print=true" if front else f"-Dentrycache.clock.sites={built.clock_sites}"
    return ["-Dio.netty.leakDetection.level=disabled", clock, f"-javaagent:{built.agent}"]


def java_test_classpath(version: str, classpath: str | None = None, family: str = "pulsar") -> JavaTestClasspath:
    """What a stand-alone Java test needs: the jar under test, its dependencies, the agent where there is one."""
    front = _in_front(classpath)
    release = _release(family, version)
    java = find_java(_oldest(release), compiler=True)
    built = driver(release)
    jars = [jar for jar in built.jars if not jar.name.startswith(_DRIVER_ONLY)]
    if release in WITH_STAND_INS:
        front.append(built.own_jar(release.family))
    agent = built.agent if family == "pulsar" else None
    every = _joined([*front, *jars, *([] if agent is None else [agent])])
    return JavaTestClasspath(java.program, str(java.tool("javac")), every, agent)


def pinned_jar(version: str, name: str) -> Path:
    """One jar of a driver's pinned class path, by the beginning of its name."""
    return next(jar for jar in _pulsar_driver(version).jars if jar.name.startswith(name))


def jar_under_test(subject: str) -> Path:
    """The jar of a released cache, ``pulsar:4.2.4``, that holds the classes under test."""
    family, _, version = subject.partition(":")
    jars = driver(_release(family, version)).jars
    return next(jar for jar in jars if jar.name == f"{_UNDER_TEST[family]}-{version}.jar")


def clock_sites(version: str, paths: list[Path]) -> str:
    """The clock calls in jars and folders: a line a class, its count and its name."""
    java = find_java(_oldest(_pulsar(version))).program
    argv: list[str | Path] = [java, "-XX:+UseSerialGC", "-jar", _pulsar_driver(version).agent, *paths]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def _release(family: str, version: str) -> Release:
    known = versions(family)
    if version not in known:
        raise UsageError(f"there is no driver for {FAMILIES[family]} {version}; known: {', '.join(known)}")
    return Release(family, version)


def _pulsar(version: str) -> Release:
    return _release("pulsar", version)


def _pulsar_driver(version: str) -> Driver:
    return driver(_pulsar(version))


def _oldest(release: Release) -> int:
    return JAVA_OLDEST.get(release, 17)


def _joined(paths: list[Path]) -> str:
    return os.pathsep.join(str(path) for path in paths)


def _in_front(classpath: str | None) -> list[Path]:
    paths = [] if classpath is None else [Path(entry) for entry in classpath.split(os.pathsep) if entry]
    for path in paths:
        if not path.exists():
            raise UsageError(f"class path entry {path} does not exist; give jars or folders of classes")
    if classpath is not None and not paths:
        raise UsageError("the class path is empty; give jars or folders of classes")
    return [path.resolve() for path in paths]
