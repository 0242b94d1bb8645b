"""Upstream's released unit tests judge each fix: a page says which of them fail with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from entrycache_protocol.errors import MissingPrerequisite
from tests.conftest import fix_scope
from tests.support.findings import FINDINGS, PAGES, Page
from tests.support.jvm.upstream_tests import SUITES, Judgement, judge_fix, reaches, read_junit, read_testng, render_row

JUDGED: Final = [page for page in PAGES if page.fixes and page.system.family in SUITES]
ROW: Final = re.compile(r"^\| Upstream tests \| (.*) \|$", re.MULTILINE)


def broken_tests(page: Page) -> tuple[str, ...]:
    """Return the tests of upstream that fail with the fix, by the page's row."""
    return named_after(page, "with the fix alone fail: ")


def failing_anyway(page: Page) -> tuple[str, ...]:
    """Return the tests of upstream that fail with the fix and without it, by the page's row."""
    return named_after(page, "also without the fix fail: ")


def named_after(page: Page, words: str) -> tuple[str, ...]:
    """Return the tests that the row names after some words."""
    (row,) = ROW.findall(page.text)
    return tuple(re.findall(r"`(\w+\.\w+)`", row.partition(words)[2].partition(";")[0]))


@pytest.mark.parametrize("page", JUDGED, ids=lambda page: page.name)
def test_a_page_with_a_fix_says_which_tests_of_upstream_fail_with_it(page: Page) -> None:
    broken = broken_tests(page)
    assert ROW.findall(page.text)[0].endswith("none") is not bool(broken)
    for test_class in {name.partition(".")[0] for name in broken}:
        assert test_class in page.section("What happens")
        assert test_class in (FINDINGS / page.name / "ISSUE.md").read_text("utf-8").split("\n\n")[2]


def test_the_tests_of_the_cache_judge_a_fix_of_the_cache_only() -> None:
    internals, operators = "org/apache/kafka/streams/state/internals", "org/apache/kafka/streams/kstream/internals"
    cache_test, join = f"{internals}/ThreadCacheTest", {f"{operators}/KTableKTableInnerJoin"}
    assert reaches(cache_test, frozenset(), {f"{internals}/CachingWindowStore"})
    assert not reaches(cache_test, frozenset(), join)
    assert reaches(f"{operators}/KTableKTableInnerJoinTest", frozenset(), join)
    assert reaches(f"{operators}/KTableImplTest", frozenset(join), join)


def test_a_method_that_fails_with_one_of_its_parameters_fails(tmp_path: Path) -> None:
    cases = (
        '<testcase classname="a.OneTest" name="first(int)[1]"/><testcase classname="a.OneTest" name="first(int)[2]">'
    )
    rest = '<failure/></testcase><testcase classname="a.OneTest" name="other()"><skipped/></testcase>'
    (tmp_path / "TEST-junit-jupiter.xml").write_text(f"<testsuite>{cases}{rest}</testsuite>", "utf-8")
    outcome = read_junit(tmp_path)
    assert (outcome.passed, outcome.failed) == (frozenset(), frozenset({"OneTest.first"}))


def test_methods_of_the_configuration_are_no_tests(tmp_path: Path) -> None:
    methods = (
        '<test-method name="setUp" status="PASS" is-config="true"/>'
        '<test-method name="reads" status="PASS"/><test-method name="writes" status="FAIL"/>'
    )
    text = f'<testng-results><class name="a.TwoTest">{methods}</class></testng-results>'
    (tmp_path / "testng-results.xml").write_text(text, "utf-8")
    outcome = read_testng(tmp_path)
    assert (outcome.passed, outcome.failed) == (frozenset({"TwoTest.reads"}), frozenset({"TwoTest.writes"}))


def test_a_row_names_what_fails() -> None:
    assert render_row(Judgement(3, (), ())).endswith("with the fix alone fail: none")
    row = render_row(Judgement(3, ("OneTest.first",), ("OneTest.other",)))
    page = PAGES[0]._replace(text=f"| Upstream tests | {row} |")
    assert (broken_tests(page), failing_anyway(page)) == (("OneTest.first",), ("OneTest.other",))


def test_the_tests_of_one_fix_go_to_one_worker() -> None:
    names = ("test_fixes.py::test_one[page]", "test_upstream_tests.py::test_two[page]", "test_parts.py::test_one[page]")
    assert [fix_scope(f"tests/findings/{name}") for name in names] == ["page", "page", None]


@pytest.mark.long
@pytest.mark.parametrize("page", JUDGED, ids=lambda page: page.name)
def test_the_released_tests_of_upstream_judge_a_fix(
    page: Page, classes: Callable[[Page], Path], tmp_path: Path
) -> None:
    try:
        judgement = judge_fix(page, classes(page), tmp_path)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert judgement.broken == broken_tests(page)
    assert set(judgement.failing_anyway) <= set(failing_anyway(page))
