"""Compile and run Java: the Java test of a case, or one of our programs with the classes of a release.

`build_program` returns a `Program` of ours (a campaign or a benchmark). `compile_sources` compiles Java files.
`render_java_test` turns a case into one Java file that drives the released classes and needs no other code of ours than
the agent.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.build import BuildPart, build_part, find_java
from entrycache_conformance.java.driver import JavaTestClasspath, build_driver, jar_name, join_classpath
from entrycache_conformance.java.releases import FAMILIES, releases, require_release
from entrycache_conformance.systems import SYSTEMS, java_text
from entrycache_protocol.errors import UsageError

QUICK_OPTIONS: Final = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""The options that make a short compilation faster."""


class DoesNotCompile(Exception):
    """The error of a Java file of ours that does not compile; the message is javac's."""


class Program(NamedTuple):
    """Compiled classes, and the Java that runs them."""

    java: str
    classpath: str

    def argv(self, main: str, *arguments: object, options: Sequence[str] = ()) -> list[str]:
        """Return the command that runs a class."""
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


def compile_sources(sources: Sequence[Path], tools: JavaTestClasspath, folder: Path) -> Program:
    """Compile Java files into a folder.

    Raises:
        DoesNotCompile: they do not.
    """
    argv = [tools.javac, *QUICK_OPTIONS, "-proc:none", "-nowarn", "-encoding", "UTF-8", "-cp", tools.classpath]
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
    program = compile_sources([source], tools, folder)
    return program.run(main_class(source), *arguments, options=options, timeout_seconds=timeout_seconds)


def main_class(source: Path) -> str:
    """Return the full name of the class that a file is named after."""
    lines = source.read_text("utf-8").splitlines()
    packages = [line.removeprefix("package ").rstrip(";") for line in lines if line.startswith("package ")]
    return ".".join((*packages, source.stem))


def build_program(subject: str, module: str) -> Program:
    """Return one of our programs, the module `campaign` or `bench` of a family, with the classes of a release.

    It is compiled against the family's oldest release and runs on each; the adapter holds the differences.

    Raises:
        UsageError: there is no such release.
        MissingPrerequisite: Java or the jars are not there.
    """
    release = require_release(subject)
    family = release.family.name
    java = find_java(release.java).program
    jar = build_part(_program_part(family, module)) / jar_name(f"{family}-{module}")
    driver = build_driver(release)
    return Program(java, join_classpath((jar, *driver.own_jars, *driver.jars)))


def _program_part(family: str, module: str) -> BuildPart:
    oldest = releases(family)[0]
    needed = (f"{family}/{module}", f"{family}/src", f"{family}/{oldest.version}", *oldest.family.modules)

    def keep(work: Path, result: Path) -> None:
        name = jar_name(f"{family}-{module}")
        (work / family / module / "target" / name).rename(result / name)

    return BuildPart(
        name=f"{family}-{module}",
        what=f"{module} of {family}",
        modules=(f"{family}/{module}",),
        depends_on=("pom.xml", f"{family}/pom.xml", *needed),
        keep=keep,
    )


CLASS_NAME: Final = "EntryCacheCaseTest"
"""The class, and without ``.java`` the file, of a stand-alone test."""

STEPS_A_METHOD: Final = 20
"""The number of steps in one Java method, which holds at most 64 KiB of code."""


def render_java_test(case: Mapping[str, Any], mismatch_step: int | None = None) -> str:
    """Return the text of the file ``EntryCacheCaseTest.java``.

    ``case`` is the JSON object with the reference's ``outcomes``, and the test checks every one of them. It ends at an
    answer that stands under ``allowed`` for its step, because the answers behind depend on it. The step
    ``mismatch_step``, at which a subject answered differently, gets a comment.
    """
    steps: Sequence[Mapping[str, Any]] = case["steps"]
    outcomes: Sequence[Mapping[str, Any]] = case.get("outcomes", ())
    family = SYSTEMS[case["system"]].jvm if case["system"] in SYSTEMS else None
    java = None if family is None else family.text
    if family is None or java is None:
        known = ", ".join(each.system for each in FAMILIES.values() if each.text is not None)
        raise UsageError(f"there is no Java test for the system {case['system']}; there is one for {known}")
    if len(outcomes) != len(steps):
        raise UsageError(f"the case has {len(outcomes)} outcomes for {len(steps)} steps; a test needs them all")
    lines = [
        {
            "index": index,
            "text": java_text.to_string(json.dumps(step).replace('"', "")),
            "call": java.call(step),
            "expected": java_text.to_literal(java_text.without_messages(outcome)),
            "allowed": [java_text.to_literal(other) for other in case.get("allowed", {}).get(index, ())],
            "mismatch": index == mismatch_step,
        }
        for index, (step, outcome) in enumerate(zip(steps, outcomes, strict=True))
    ]
    common = {
        "name": CLASS_NAME,
        "releases": ", ".join(each.version for each in releases(family.name) if each.era in (java.eras or [each.era])),
        "rules": java_text.to_comment(", ".join(case.get("rules", ()))),
        "note": java_text.to_comment(case.get("note", "")),
        "steps": [lines[start : start + STEPS_A_METHOD] for start in range(0, len(lines), STEPS_A_METHOD)],
    }
    text: str = _template(java.templates, java.like).render(**common, **java.fill(case))
    return text


def _template(*folders: str) -> Any:
    """Load the template of a Java test. A name that the case does not fill is an error; nothing is escaped."""
    import jinja2  # noqa: PLC0415 - slow to import

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("entrycache_conformance", folder) for folder in folders if folder]
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("test.java.j2")
