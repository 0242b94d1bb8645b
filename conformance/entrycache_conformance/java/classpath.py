"""Class paths of releases: what a stand-alone Java file needs of one, and single jars of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import driver
from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.releases import release_of
from entrycache_protocol.errors import UsageError

_DRIVER_ONLY: Final = ("gson-",)
_CLOCK: Final = "-Dentrycache.clock."


class JavaTestClasspath(NamedTuple):
    """What compiles and runs a stand-alone Java test."""

    java: str
    javac: str
    classpath: str
    """The jar under test, its dependencies, and for Pulsar the agent's jar for the name of the clock."""
    agent: Path | None
    """The jar to give as ``-javaagent:``; Kafka Streams needs none."""
    options: tuple[str, ...]
    """What Java is started with for a case that needs the clock: the agent, and which classes ask it for the time."""


def java_test_classpath(subject: str, classpath: str | None = None) -> JavaTestClasspath:
    """What a stand-alone Java test of ``pulsar:4.2.4`` needs: its jar, the dependencies, the agent where there is one.

    Raises:
        UsageError: there is no driver for it, or the class path is not right.
        MissingPrerequisite: what its driver needs is not there, or a JDK.
    """
    front = in_front(classpath)
    release = release_of(subject)
    java = find_java(release.java, compiler=True)
    built = driver(release)
    jars = [jar for jar in built.jars if not jar.name.startswith(_DRIVER_ONLY)]
    if release.stand_ins:
        front.append(built.adapter)
    agent = built.agent if release.family.has_agent else None
    every = joined([*front, *jars, *([] if agent is None else [agent])])
    clocked = (option for option in release.family.options if option.startswith(_CLOCK))
    options = () if agent is None else (f"-javaagent:{agent}", *clocked)
    return JavaTestClasspath(java.program, str(java.tool("javac")), every, agent, options)


def pinned_jar(subject: str, name: str) -> Path:
    """One jar of a driver's pinned class path, by the beginning of its name."""
    return driver(release_of(subject)).jar(name)


def jar_under_test(subject: str) -> Path:
    """The jar of a released cache, ``pulsar:4.2.4``, that holds the classes under test."""
    return driver(release_of(subject)).tested_jar


def clock_sites(subject: str, paths: list[Path]) -> str:
    """The clock calls in jars and folders: a line a class, its count and its name."""
    release = release_of(subject)
    java = find_java(release.java).program
    argv: list[str | Path] = [java, "-XX:+UseSerialGC", "-jar", driver(release).agent, *paths]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def joined(paths: Iterable[Path]) -> str:
    """A class path."""
    return os.pathsep.join(str(path) for path in paths)


def in_front(classpath: str | None) -> list[Path]:
    """The entries of a class path that a user gives.

    Raises:
        UsageError: there is none, or one is not there.
    """
    paths = [] if classpath is None else [Path(entry) for entry in classpath.split(os.pathsep) if entry]
    for path in paths:
        if not path.exists():
            raise UsageError(f"class path entry {path} does not exist; give jars or folders of classes")
    if classpath is not None and not paths:
        raise UsageError("the class path is empty; give jars or folders of classes")
    return [path.resolve() for path in paths]
