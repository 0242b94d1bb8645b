"""Builds of the drivers: what is pinned, what is refused, and what a machine may lack."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from entrycache_conformance.java import build
from entrycache_conformance.java.driver import (
    build_driver,
    check_jars,
    clock_sites,
    jar_under_test,
    pinned_jar,
    released_command,
)
from entrycache_conformance.java.releases import Release, newest_release, release_versions, releases
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from tests.support.jvm.driver import RELEASE, SUBJECT, run_request, talk

VERSION = RELEASE.version
PAGES = newest_release("pulsar", "pages")
CLOCKED = (*releases("pulsar"), *releases("pulsar-legacy"))


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(
            each, marks=() if each in (releases("pulsar")[-1], releases("pulsar-legacy")[-1]) else pytest.mark.long
        )
        for each in CLOCKED
    ],
    ids=str,
)
def test_the_clock_sites_of_the_release_are_the_pinned_ones(release: Release, released: list[str]) -> None:
    assert clock_sites(release.subject, [_jar(release)]) == (release.folder / "clock.sites").read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("release", CLOCKED, ids=str)
def test_each_release_answers_with_its_own_classes(release: Release, released: list[str]) -> None:
    _jar(release)
    start, run = talk(
        released_command(release.subject),
        {"cmd": "start", "version": 1},
        {
            **run_request(1, {}, [{"op": "insert", "cache": "a", "pos": [1, 0], "size": 1}, {"op": "observe"}]),
            "system": release.family.system,
        },
    )
    implementation = start["implementation"]
    assert implementation["version"] == release.version
    assert f"({release.tested_jar}" in implementation["source"]
    assert ("stand in" in implementation["source"]) == (release.subject == "pulsar:5.0.1")
    assert run["outcomes"][1]["caches"] == {"a": {"bytes": 1, "entries": [[1, 0]]}}


def _jar(release: Release) -> Path:
    try:
        return jar_under_test(release.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def test_a_new_clock_site_stops_the_driver(released: list[str], tmp_path: Path) -> None:
    pinned = next(argument for argument in released if argument.startswith("-Dentrycache.clock.sites="))
    text = Path(pinned.split("=", 1)[1]).read_text("utf-8")
    fewer = tmp_path / "fewer.sites"
    fewer.write_text(text.replace("2 org.apache.bookkeeper.mledger.impl.cache.RangeCacheEntryWrapper\n", ""))
    command = [f"-Dentrycache.clock.sites={fewer}" if part == pinned else part for part in released]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "RangeCacheEntryWrapper has 2 clock calls, expected 0" in done.stderr


def test_a_class_that_must_have_a_clock_and_has_none_is_named(released: list[str], tmp_path: Path) -> None:
    from entrycache_dev.changed_jars import NO_CLOCK_CALL, write_changed_jar

    jar = write_changed_jar(NO_CLOCK_CALL, tmp_path / "no-clock.jar")
    command = released_command(SUBJECT, str(jar))
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert "RangeCacheEntryWrapper was not rewritten" in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_with_a_class_path_the_sites_are_printed(changed_jars: dict[str, Path]) -> None:
    command = released_command(SUBJECT, str(changed_jars["time-cutoff-included"]))
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "clock sites: 2 org.apache.bookkeeper.mledger.impl.cache.RangeCacheEntryWrapper" in done.stderr


def test_bad_arguments_are_one_clear_line() -> None:
    known = re.escape(", ".join([*release_versions("pulsar-legacy"), *release_versions("pulsar")]))
    with pytest.raises(UsageError, match=rf"^there is no driver for Pulsar 1\.0; known: {known}$"):
        released_command("pulsar:1.0")
    with pytest.raises(UsageError, match=r"^class path entry no-such\.jar does not exist;.*$"):
        released_command(SUBJECT, f"no-such.jar{os.pathsep}other.jar")
    with pytest.raises(UsageError, match=r"^the class path is empty;.*$"):
        released_command(SUBJECT, "")


def _tool(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def _java(folder: Path, version: str) -> None:
    _tool(folder, "java", f"echo 'openjdk version \"{version}\"' >&2")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that is the whole path of a machine without Java and Maven."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("ENTRYCACHE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(build, "PLACES", (f"{tmp_path}/jdks/*",))
    monkeypatch.setattr(build, "RUNTIME_ON_PYPI", "no_such_package")
    return tmp_path / "bin"


def test_without_java_the_line_says_where_it_was_looked_for(bare: Path) -> None:
    with pytest.raises(MissingPrerequisite) as missing:
        released_command(SUBJECT)
    assert str(missing.value) == (
        f"there is no Java 17 or later in JAVA_HOME, the path, {bare.parent}/jdks/*, no_such_package; "
        "install a JDK, or the Python package no_such_package, of that version, or set JAVA_HOME to one"
    )


def test_each_java_that_is_too_old_is_named(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _java(bare, "17.0.1")
    _java(bare.parent / "home" / "bin", "11.0.2")
    _java(bare.parent / "jdks" / "8" / "bin", "1.8.0_402")
    _tool(bare.parent / "jdks" / "broken" / "bin", "java", "exit 1")
    monkeypatch.setenv("JAVA_HOME", str(bare.parent / "home"))
    with pytest.raises(MissingPrerequisite) as missing:
        released_command(PAGES.subject)
    home, path, old, broken = str(missing.value).partition("(")[2].partition(")")[0].split("; ")
    assert home.startswith("JAVA_HOME: ") and home.endswith("is Java 11")
    assert path.startswith("the path: ") and path.endswith("is Java 17")
    assert old.endswith("is Java 8")
    assert broken.endswith("does not tell its version")


def test_the_first_java_that_is_new_enough_is_taken(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _java(bare, "17.0.1")
    for version in ("21.0.1", "25.0.1"):
        _java(bare.parent / "jdks" / version / "bin", version)
    assert build.find_java(17).program == str(bare / "java")
    assert build.find_java(21).major == 21
    assert build.find_java(25).major == 25
    _tool(bare.parent / "jdks" / "25.0.1" / "bin", "javac", "exit 0")
    assert build.find_java(17, compiler=True).major == 25
    monkeypatch.setenv("JAVA_HOME", str(bare.parent / "jdks" / "25.0.1"))
    assert build.find_java(17).major == 25


def test_the_runtime_of_a_python_package_is_found(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = bare.parent / "site" / "a_java_runtime"
    _java(package / "java-runtime" / "bin", "25.0.2")
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(build, "RUNTIME_ON_PYPI", "a_java_runtime")
    monkeypatch.syspath_prepend(str(package.parent))
    assert build.find_java(21).program == str(package / "java-runtime" / "bin" / "java")


NOT_FOUND = (
    f"[ERROR] Failed to execute goal on project entrycache-pulsar-{VERSION}: Could not resolve dependencies for "
    f"project entrycache:entrycache-pulsar-{VERSION}:jar:1: Could not find artifact "
    "org.apache.pulsar:managed-ledger:jar:4.2.3 in central (https://repo.maven.apache.org/maven2) -> [Help 1]"
)
POM_ERROR = "[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n[FATAL] Malformed POM @ line 5"
NOT_FOUND_BEFORE = (
    "[ERROR] Failed to execute goal on project entrycache-pulsar: Could not resolve dependencies for project "
    "entrycache:entrycache-pulsar:jar:1: org.apache.pulsar:managed-ledger:jar:4.2.3 was not found in "
    "https://repo.maven.apache.org/maven2 during a previous attempt. This failure was cached in the local repository"
)
OFFLINE = (
    "[ERROR] Failed to execute goal on project entrycache-pulsar: Could not resolve dependencies for project "
    "entrycache:entrycache-pulsar:jar:1: Cannot access central (https://repo.maven.apache.org/maven2) in offline mode "
    "and the artifact org.apache.pulsar:managed-ledger:jar:4.2.3 has not been downloaded from it before."
)


@pytest.mark.parametrize(
    ("tools", "line"),
    [
        ({}, r"^mvn is not on the path; expected Maven 3\.6 or later; install it$"),
        (
            {"mvn": "exit 1"},
            r"^there is no JDK 17 or later in .*\(the path: no javac next to .*\); install a JDK .*$",
        ),
        (
            {"mvn": "echo '[ERROR] the disk is full'; exit 1", "javac": "exit 0"},
            rf"^mvn could not build the driver of pulsar {re.escape(VERSION)}: the disk is full; see \S+\.log$",
        ),
        (
            {"mvn": f"echo '{POM_ERROR}'; exit 1", "javac": "exit 0"},
            rf"^mvn could not build the driver of pulsar {re.escape(VERSION)}: Malformed POM @ line 5; see \S+\.log$",
        ),
        *(
            (
                {"mvn": f"echo '{says}'; exit 1", "javac": "exit 0"},
                rf"^org\.apache\.pulsar:managed-ledger:jar:4\.2\.3, which the driver of pulsar {re.escape(VERSION)} "
                r"needs, could not be resolved; expected Maven Central or a filled local repository; see \S+\.log$",
            )
            for says in (NOT_FOUND, NOT_FOUND_BEFORE, OFFLINE)
        ),
    ],
)
def test_what_a_build_misses_is_one_clear_line(tools: dict[str, str], line: str, bare: Path) -> None:
    _java(bare, "17.0.1")
    for name, script in tools.items():
        _tool(bare, name, script)
    with pytest.raises(MissingPrerequisite, match=line):
        released_command(SUBJECT)


NOT_COMPILED = (
    "[ERROR] COMPILATION ERROR : \n"
    "[ERROR] /x/src/flush/java/org/apache/Era.java:[17,5] constructor Cache cannot be applied to given types;\n"
    "[ERROR] /x/src/flush/java/org/apache/Era.java:[40,9] cannot find symbol\n"
    "[ERROR] Failed to execute goal maven-compiler-plugin:3.14.1:compile: Compilation failure"
)


def test_a_driver_that_does_not_compile_names_the_line(bare: Path) -> None:
    _java(bare, "17.0.1")
    _tool(bare, "javac", "exit 0")
    _tool(bare, "mvn", f"echo '{NOT_COMPILED}'; exit 1")
    line = (
        rf"^the driver of pulsar {re.escape(VERSION)} does not compile: Era\.java:\[17,5\] constructor Cache cannot be "
        r"applied to given types; \(and 1 more\); mend that source, or choose the era .*; see \S+\.log$"
    )
    with pytest.raises(MissingPrerequisite, match=line):
        released_command(SUBJECT)


def test_a_release_without_a_lock_says_how_to_write_it(tmp_path: Path) -> None:
    release = RELEASE._replace(folder=tmp_path)
    with pytest.raises(
        UsageError, match=r"jars\.lock is missing; expected the sha256 and the name of each jar; .* mvn"
    ):
        build_driver(release)
    (tmp_path / "jars.lock").write_text("gson.jar\n", "utf-8")
    with pytest.raises(UsageError, match=r"jars\.lock, line 1: 'gson\.jar'; expected a sha256 and the name of a jar$"):
        check_jars({}, release.lock)


def test_a_jar_of_another_group_is_named(
    changed_jars: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fork = tmp_path / "managed-ledger.jar"
    with zipfile.ZipFile(changed_jars["time-cutoff-included"]) as own, zipfile.ZipFile(fork, "w") as jar:
        for name in own.namelist():
            if not name.startswith("META-INF/maven/"):
                jar.writestr(name, own.read(name))
        jar.writestr("META-INF/maven/com.example/managed-ledger/pom.properties", "")
    command = released_command(SUBJECT, str(fork))
    assert capsys.readouterr().err.endswith(
        " come from here; it is com.example:managed-ledger, and the driver is for org.apache.pulsar:managed-ledger: "
        "give that jar unless you mean this one\n"
    )
    (start,) = talk(command, {"cmd": "start", "version": 1})
    assert start["implementation"]["source"] == "com.example:managed-ledger (managed-ledger.jar)"


@pytest.mark.long
def test_of_several_first_users_one_builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _java(tmp_path, "17.0.1")
    _tool(tmp_path, "javac", "exit 0")
    places = {"agent": "agent", "protocol": "protocol", "pulsar": f"pulsar/{VERSION}"}
    programs = " ".join(f"{place}/target/entrycache-{module}.jar" for module, place in places.items())
    folders = f"agent/target protocol/target pulsar/{VERSION}/target/lib"
    _tool(tmp_path, "mvn", f"echo built >> {tmp_path}/builds; sleep 0.5; mkdir -p {folders}; touch {programs}")
    environment = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "ENTRYCACHE_CACHE": str(tmp_path / "cache")}
    environment["JAVA_HOME"] = ""
    program = f"from entrycache_conformance.java.driver import released_command; released_command({SUBJECT!r})"
    users = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for user in users:
        assert "has sha256 no such file, expected " in user.communicate(timeout=60)[1]
    assert (tmp_path / "builds").read_text() == "built\n"


def test_a_jar_that_is_not_the_pinned_one_is_refused(
    released: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built = pinned_jar(SUBJECT, "gson").parents[1]
    copy = tmp_path / "jvm" / built.name
    for path in built.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(built)).parent.mkdir(parents=True, exist_ok=True)
            (copy / path.relative_to(built)).write_bytes(path.read_bytes() if path.suffix != ".jar" else b"")
    monkeypatch.setenv("ENTRYCACHE_CACHE", str(tmp_path))
    with pytest.raises(MissingPrerequisite, match=r"lib/\S+\.jar has sha256 e3b0c44\w+, expected \w{64}"):
        released_command(SUBJECT)


@pytest.mark.long
def test_a_report_says_what_stands_in(released: list[str], tmp_path: Path) -> None:
    _jar(PAGES)
    argv = [sys.executable, "-m", "entrycache_cli", "conform", PAGES.subject, "--level", "range"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (source,) = (line for line in done.stdout.splitlines() if line.startswith("source: "))
    assert PAGES.tested_jar in source
    assert "bookkeeper-stats-api 4.18.0" in source
