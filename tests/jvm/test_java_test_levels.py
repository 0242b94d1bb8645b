"""Java files of cases of the later levels pass on the release and fail on a changed one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.releases import Release, newest_release
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.cases_cursors import CASES as CURSORS
from tests.support.jvm.cases_manager import CASES as MANAGER
from tests.support.jvm.cases_range_queue import CASES as QUEUE
from tests.support.jvm.cases_reads import CASES as READS
from tests.support.jvm.driver import RELEASE, SUBJECT
from tests.support.jvm.java_file import Compiled, compiled_case
from tests.support.jvm.steps import DONE, Case, ask, cursor

STALE_RANK: Final[Case] = (
    {},
    [
        *((cursor("add", name, entry), DONE) for name, entry in (("w", 0), ("x", 1), ("y", 4), ("z", 3))),
        (ask("slowest"), {"pos": [1, 0]}),
        (cursor("move", "y", 3), DONE),
        (cursor("rank", "z"), {"rank": 4}),
    ],
)
"""The different answer of era `map`: the last cursor moves back to the place of another one."""

PAGES: Final = newest_release("pulsar", "pages")


def _case(case: Case) -> dict[str, Any]:
    config, steps = case
    return {
        "system": "pulsar-pip430",
        "config": config,
        "steps": [step for step, _ in steps],
        "outcomes": [outcome for _, outcome in steps],
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "change", "lines"),
    [
        (
            MANAGER["a scheduled pass waits until it is run, by the sizes of that moment"],
            "target-without-watermark",
            ["step 6: {op: run_scheduled}", "expected: {entries=2, bytes=120}", "got:      {entries=1, bytes=60}"],
        ),
        (
            READS["fills that nobody else reads are not cached"],
            "fills-without-reads-cached",
            [
                "step 1: {op: read, cache: a, first: [1, 0], last: [1, 1], expected_reads: -1}",
                "expected: {hits=[], fills=[[1, 0], [1, 1]]}",
                "got:      {hits=[[1, 0], [1, 1]], fills=[]}",
            ],
        ),
        (
            READS["a range is served from the cache where it can be, and the gaps are filled"],
            "insert-keeps-a-reference",
            ["leaked: 3 references to buffers of entries"],
        ),
        (
            CURSORS["grace starts anew whenever a member leaves"],
            "grace-one-milli-longer",
            ["step 8: {op: should_cache, cache: a}", "expected: {should_cache=false}", "got:      {should_cache=true}"],
        ),
    ],
    ids=["manager", "reads", "leaks", "cursors"],
)
def test_it_passes_on_the_release_and_fails_on_a_changed_one(
    case: Case, change: str, lines: list[str], released: list[str], changed_jars: dict[str, Path], tmp_path: Path
) -> None:
    tools = java_test_classpath(SUBJECT)
    classes = compiled_case(_case(case), tools, tmp_path)
    assert run_lines(classes, tools) == ["conforms"]
    assert run_lines(classes, java_test_classpath(SUBJECT, str(changed_jars[change]))) == lines


@pytest.mark.long
@pytest.mark.parametrize("release", [RELEASE, PAGES], ids=str)
def test_a_case_of_cursors_needs_no_cache(release: Release, released: list[str], tmp_path: Path) -> None:
    """It is therefore the same file for every release that has the container."""
    tools = _tools(release)
    classes = compiled_case(_case(STALE_RANK), tools, tmp_path)
    assert "ManagedLedgerFactoryImpl" not in (tmp_path / "EntryCacheCaseTest.java").read_text("utf-8")
    assert run_lines(classes, tools) == (
        ["step 6: {op: cursor_rank, cache: a, cursor: z}", "expected: {rank=4}", "got:      {rank=3}"]
        if release is RELEASE
        else ["conforms"]
    )


@pytest.mark.long
def test_the_same_file_tells_where_another_release_differs(released: list[str], tmp_path: Path) -> None:
    """Era `pages` passes the count of a refused duplicate to the cached entry."""
    tools = _tools(PAGES)
    classes = compiled_case(_case(QUEUE["a duplicate changes nothing"]), tools, tmp_path)
    assert run_lines(classes, tools) == [
        "step 3: {op: mark_read, cache: a, pos: [1, 0]}",
        "expected: {expected_reads=1}",
        "got:      {expected_reads=6}",
    ]


def _tools(release: Release) -> JavaTestClasspath:
    try:
        return java_test_classpath(release.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def run_lines(classes: Compiled, tools: JavaTestClasspath) -> list[str]:
    done = classes.run(tools, f"-javaagent:{tools.agent}")
    assert done.returncode == (0 if done.stdout == "conforms\n" else 1), done.stderr
    return done.stdout.splitlines()
