"""Releases are found by listing folders, and Maven builds the same ones."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from entrycache_conformance.java.build import find_java
from entrycache_conformance.java.driver import JavaTestClasspath
from entrycache_conformance.java.program import DoesNotCompile, compile_and_run
from entrycache_conformance.java.releases import (
    FAMILIES,
    Release,
    all_releases,
    example_release,
    list_releases,
    maven_project,
    newest_release,
    releases,
)
from entrycache_protocol.errors import MissingPrerequisite, UsageError


def test_a_folder_with_a_release_toml_is_a_release(tmp_path: Path) -> None:
    family = FAMILIES["kafka-streams"]
    shutil.copytree(maven_project() / family.name, tmp_path / family.name)
    before = list_releases(family, tmp_path)
    added = tmp_path / family.name / "10.0.0-M1"
    added.mkdir()
    (added / "release.toml").write_text('era = "any"\njava = 25\n', "utf-8")
    assert [release.version for release in list_releases(family, tmp_path)] == [
        *(release.version for release in before),
        "10.0.0-M1",
    ]
    assert list_releases(family, tmp_path)[-1] == Release(family, "10.0.0-M1", added, "any", 25)
    (added / "release.toml").write_text('era = "any"\njava = 25\njdk = 25\n', "utf-8")
    with pytest.raises(
        UsageError, match=r"10\.0\.0-M1/release\.toml describes no release: .*'jdk'; expected era, java, "
    ):
        list_releases(family, tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_oldest_comes_first_and_a_milestone_before_its_release(family: str) -> None:
    family_releases = releases(family)
    assert newest_release(family) is family_releases[-1]
    assert [each for each in family_releases if each.example] in ([], [example_release(family)])
    assert example_release(family).example or example_release(family) is family_releases[-1]
    assert {newest_release(family, release.era).era for release in family_releases} == {
        release.era for release in family_releases
    }


@pytest.mark.parametrize("release", all_releases(), ids=str)
def test_maven_builds_what_the_suite_knows(release: Release) -> None:
    family = maven_project() / release.family.name
    era = re.findall("<era>(.*)</era>", (release.folder / "pom.xml").read_text("utf-8"))
    assert [release.era] == (era or re.findall("<era>(.*)</era>", (family / "pom.xml").read_text("utf-8")))
    assert (family / "src" / release.era / "java").is_dir()
    assert f"<module>{release.family.name}/{release.version}</module>" in (maven_project() / "pom.xml").read_text(
        "utf-8"
    )
    assert release.tested_jar in release.lock.read_text("utf-8")


@pytest.fixture
def tools() -> JavaTestClasspath:
    try:
        java = find_java(17, compiler=True)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    return JavaTestClasspath(java.program, str(java.tool("javac")), ".", None, ())


def test_one_file_is_compiled_and_run(tools: JavaTestClasspath, tmp_path: Path) -> None:
    source = tmp_path / "Told.java"
    text = "package a.b; class Told { public static void main(String[] a) { System.out.print(a[0]); System.exit(3); } }"
    source.write_text(text.replace("package a.b; ", "package a.b;\n"), "utf-8")
    done = compile_and_run(source, tools, tmp_path / "out", 7)
    assert (done.returncode, done.stdout, done.stderr) == (3, "7", "")
    source.write_text("class Told {", "utf-8")
    with pytest.raises(DoesNotCompile, match=r"Told\.java: .*reached end of file"):
        compile_and_run(source, tools, tmp_path / "out")
