"""`entrycache findings` lists every page and prints its files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from entrycache_cli.main import main
from entrycache_conformance.java.upstream_form import ReleasedSources, fetch_sources, released_sources, upstream_patch
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from tests.support.findings import FINDINGS, GRAVE, PAGES, TESTS
from tests.support.jvm.fixes import patched_files


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["findings", *arguments])


def test_the_list_has_every_page_with_its_tier_and_releases() -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    rows = {row["name"]: row for row in json.loads(result.stdout)["findings"]}
    assert rows.keys() == {page.name for page in PAGES}
    for page in PAGES:
        row = rows[page.name]
        assert (row["title"], row["tier"]) == (page.title, page.tier)
        assert {"README.md", *(path.name for page_, path in TESTS if page_ is page)} <= set(row["files"])
    table = run().stdout
    assert all(name in "".join(table.split()) for name in rows)


def test_a_page_a_patch_and_an_issue_text_are_printed_as_they_stand() -> None:
    folder = FINDINGS / "limiter-overtakes"
    assert run("limiter-overtakes").stdout == (folder / "README.md").read_text("utf-8")
    for file in ("fix.patch", "ISSUE.md", "LimiterOvertakesTest.java", "harm/WaiterIsWokenTest.java"):
        assert run("limiter-overtakes", file).stdout == (folder / file).read_text("utf-8")


@pytest.mark.parametrize("suite", ["org.testng", "org.junit.jupiter.api"])
def test_every_test_of_the_first_tiers_has_upstream_s_form(suite: str) -> None:
    pages = [(page, path) for page, path in TESTS if page.tier in GRAVE]
    is_testng = suite == "org.testng"
    of_suite = [each for each in pages if each[0].system.family.startswith("pulsar") == is_testng]
    assert of_suite
    for page, path in of_suite:
        result = run(page.name, path.relative_to(FINDINGS / page.name).as_posix(), "--upstream-form")
        assert result.exit_code == 0, result.output
        assert f"import {suite}." in result.stdout
        assert "void main(" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("limiter-overtake",), "did you mean limiter-overtakes?"),
        (("nothing-like-it",), "unknown finding 'nothing-like-it'; `entrycache findings` lists them"),
        (("limiter-overtakes", "fix.path"), "expected one of ISSUE.md, LimiterOvertakesTest.java"),
        (("limiter-overtakes", "../README.md"), "has no file '../README.md'"),
        (("limiter-overtakes", "ISSUE.md", "--upstream-form"), "ISSUE.md is no Java test and no patch"),
        (
            ("kafka-empty-windows-wipe-task", "broker/EmptyWindowsBrokerTest.java", "--upstream-form"),
            "a program that takes a running broker; print it without --upstream-form",
        ),
        (("--upstream-form",), "expected NAME and the FILE"),
        (("limiter-overtakes", "--json"), "expected no NAME"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def shelf() -> list[str]:
    """Return the findings that a maintainer is to read first."""
    first = (FINDINGS / "README.md").read_text("utf-8").partition("Read these twelve first")[2].partition("\n## ")[0]
    return re.findall(r"^- \[.*?\]\(([\w-]+)/README\.md\)", first, re.MULTILINE)


def test_the_twelve_that_are_read_first_name_the_files_to_attach() -> None:
    assert len(set(shelf())) == 12
    for name in shelf():
        last = (FINDINGS / name / "ISSUE.md").read_text("utf-8").splitlines()[-1]
        assert last.startswith("**Attached:** ")
        attached = set(re.findall(r"`([\w.]+)`", last))
        files = {path.name: path for path in (FINDINGS / name).rglob("*")}
        assert attached <= files.keys()
        assert ("fix.patch" in attached) is ("fix.patch" in files)
        tests = [file for file in attached if file.endswith("Test.java")]
        assert tests
        for file in tests:
            path = files[file].relative_to(FINDINGS / name).as_posix()
            exit_code = run(name, path, "--upstream-form").exit_code
            assert exit_code == (2 if "arguments[" in files[file].read_text("utf-8") else 0)


def jar_of(folder: Path, lines: str) -> Path:
    """Return a jar with one source file."""
    jar = folder / "one.jar"
    with zipfile.ZipFile(jar, "w") as written:
        written.writestr("a/One.java", "".join(f"{line}\n" for line in lines))
    return jar


def test_a_patch_in_upstream_s_form_has_its_paths_and_three_lines_of_context(tmp_path: Path) -> None:
    first = "--- a/a/One.java\n+++ b/a/One.java\n@@ -1,0 +2 @@\n+new\n@@ -8 +9 @@\n-h\n+H\n"
    second = "--- a/a/One.java\n+++ b/a/One.java\n@@ -8 +8 @@\n-H\n+other\n"
    sources = ReleasedSources("group:one:1", "src")
    text = upstream_patch([first, second], sources, jar_of(tmp_path, "abcdefgh"))
    assert text.splitlines() == [
        *("--- a/src/a/One.java", "+++ b/src/a/One.java"),
        *("@@ -1,8 +1,9 @@", " a", "+new", " b", " c", " d", " e", " f", " g", "-h", "+other"),
    ]
    with pytest.raises(UsageError, match=r"does not fit a/One\.java: expected other lines at 8"):
        upstream_patch([second], sources, jar_of(tmp_path, "abc"))


def test_sources_that_are_not_the_pinned_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = ReleasedSources("group:one:1", "src")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPrerequisite, match="mvn is not on the path"):
        fetch_sources(sources, tmp_path, "")
    (tmp_path / "mvn").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "mvn").chmod(0o755)
    with pytest.raises(MissingPrerequisite, match=r"mvn could not resolve one-1-sources\.jar"):
        fetch_sources(sources, tmp_path, "")
    (tmp_path / sources.jar).write_bytes(b"")
    with pytest.raises(MissingPrerequisite, match=r"one-1-sources\.jar is not the one that jars\.lock pins"):
        fetch_sources(sources, tmp_path, "")


@pytest.mark.long
@pytest.mark.parametrize("family", ["pulsar", "pulsar-legacy", "kafka-streams"])
def test_each_fix_in_upstream_s_form_applies_to_upstream_s_repository(family: str, tmp_path: Path) -> None:
    pages = [page for page in PAGES if page.system.family == family and page.fixes]
    sources = released_sources(pages[0].name)
    try:
        jar = fetch_sources(sources, tmp_path, (FINDINGS / "jars.lock").read_text("utf-8"))
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    for page in pages:
        repository = tmp_path / page.name
        with zipfile.ZipFile(jar) as released:
            for name in {name for patch in page.fixes for name in patched_files(patch)}:
                released.extract(name, repository / sources.folder)
                released.extract(name, repository / "bare")
        text = upstream_patch([patch.read_text("utf-8") for patch in page.fixes], sources, jar)
        apply = ["git", "apply", "--whitespace=nowarn"]
        alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
        subprocess.run(apply, input=text, text=True, cwd=repository, check=True, env=alone)
        for patch in page.fixes:
            subprocess.run([*apply, "--unidiff-zero", str(patch)], cwd=repository / "bare", check=True, env=alone)
        for file in (repository / "bare").rglob("*.java"):
            of_upstream = repository / sources.folder / file.relative_to(repository / "bare")
            assert file.read_bytes() == of_upstream.read_bytes(), page.name
