"""Compiling and running Java: one file of a test, or a program of ours beside a release."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.java.build import Part, built
from entrycache_conformance.java.classpath import JavaTestClasspath, joined
from entrycache_conformance.java.driver import driver, jar_of
from entrycache_conformance.java.jdk import find_java
from entrycache_conformance.java.releases import release_of, releases

QUICK: Final = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""A compiler of a few files is over before it would have made itself fast."""


class DoesNotCompile(Exception):
    """A Java file that we wrote does not compile; the message is javac's."""


class Program(NamedTuple):
    """Compiled classes, and the Java that runs them."""

    java: str
    classpath: str

    def argv(self, main: str, *arguments: object, options: Sequence[str] = ()) -> list[str]:
        """The command that runs a class."""
        return [self.java, "-XX:+UseSerialGC", *options, "-cp", self.classpath, main, *map(str, arguments)]

    def run(
        self,
        main: str,
        *arguments: object,
        options: Sequence[str] = (),
        text: str | None = None,
        timeout_seconds: float | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a class to its end, with that text on stdin; its exit code is the caller's to judge."""
        argv = self.argv(main, *arguments, options=options)
        return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=timeout_seconds, check=False)

    def start(self, main: str) -> subprocess.Popen[str]:
        """Start a class that is talked to: text on stdin and stdout, nothing of stderr."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.argv(main), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)


def compiled(sources: Sequence[Path], tools: JavaTestClasspath, folder: Path) -> Program:
    """Java files, compiled into a folder.

    Raises:
        DoesNotCompile: they do not.
    """
    argv = [tools.javac, *QUICK, "-proc:none", "-nowarn", "-encoding", "UTF-8", "-cp", tools.classpath]
    done = subprocess.run([*argv, "-d", folder, *sources], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DoesNotCompile(f"{', '.join(path.name for path in sources)}: {done.stderr}")
    return Program(tools.java, os.pathsep.join((str(folder), tools.classpath)))


def compile_and_run(
    source: Path,
    tools: JavaTestClasspath,
    folder: Path,
    *arguments: object,
    options: Sequence[str] = (),
    timeout_seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Compile one Java file into a folder and run its class to its end.

    Raises:
        DoesNotCompile: it does not.
    """
    program = compiled([source], tools, folder)
    return program.run(main_of(source), *arguments, options=options, timeout_seconds=timeout_seconds)


def main_of(source: Path) -> str:
    """The full name of the class that a file is named after."""
    lines = source.read_text("utf-8").splitlines()
    packages = [line.removeprefix("package ").rstrip(";") for line in lines if line.startswith("package ")]
    return ".".join((*packages, source.stem))


def program_of(subject: str, module: str) -> Program:
    """A program of ours, the module `campaign` or `bench` of a family, beside the classes of a release.

    It is compiled against the family's oldest release and runs on each; what differs stands in the adapter.

    Raises:
        UsageError: there is no such release.
        MissingPrerequisite: Java or the jars are not there.
    """
    release = release_of(subject)
    family = release.family.name
    java = find_java(release.java).program
    jar = built(_part(family, module)) / jar_of(f"{family}-{module}")
    beside = driver(release)
    return Program(java, joined((jar, *beside.own_jars, *beside.jars)))


def _part(family: str, module: str) -> Part:
    oldest = releases(family)[0]
    needed = (f"{family}/{module}", f"{family}/src", f"{family}/{oldest.version}", *oldest.family.modules)

    def keep(work: Path, result: Path) -> None:
        name = jar_of(f"{family}-{module}")
        (work / family / module / "target" / name).rename(result / name)

    return Part(
        name=f"{family}-{module}",
        what=f"{module} of {family}",
        modules=(f"{family}/{module}",),
        depends_on=("pom.xml", f"{family}/pom.xml", *needed),
        keep=keep,
    )
