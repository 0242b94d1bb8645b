"""`entrycache findings` lists every page and prints its files."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from entrycache_cli.main import main
from tests.support.findings import FINDINGS, GRAVE, PAGES, TESTS


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
        (("limiter-overtakes", "fix.patch", "--upstream-form"), "fix.patch is no Java test"),
        (("--upstream-form",), "expected NAME and the FILE"),
        (("limiter-overtakes", "--json"), "expected no NAME"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
