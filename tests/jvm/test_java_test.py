"""A case as one Java file compiles, passes on the released jar and fails on a changed one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.java.driver import JavaTestClasspath, java_test_classpath
from entrycache_conformance.java.program import render_java_test
from entrycache_protocol.errors import UsageError
from tests.support.jvm.driver import SUBJECT
from tests.support.jvm.java_file import Compiled, compiled_case

TIMED: dict[str, Any] = {
    "system": "pulsar-pip430",
    "config": {"max_size_bytes": 2**30, "watermark": 0.5, "ttl_nanos": 4, "max_requeues": 3},
    "note": "a note that would end the comment: */ \\u002a/",
    "rules": ["R-EXPIRE-1"],
    "steps": [
        {"op": "insert", "cache": 'a "quoted" name', "pos": [1, 0], "size": 10, "expected_reads": None},
        {"op": "insert", "cache": "b", "pos": [1, 0], "size": 20, "expected_reads": 2},
        {"op": "insert", "cache": "b", "pos": [1, 1], "size": -1},
        {"op": "get", "cache": "b", "pos": [1, 0]},
        {"op": "get_range", "cache": "b", "first": [0, -1], "last": [2, 0]},
        {"op": "exists", "cache": "b", "pos": [1, 1]},
        {"op": "mark_read", "cache": "b", "pos": [1, 0]},
        {"op": "expect_read", "cache": "b", "pos": [1, 5]},
        {"op": "advance", "nanos": 5},
        {"op": "observe"},
        {"op": "expire", "older_than_nanos": 5},
        {"op": "expire"},
        {"op": "evict", "bytes": 1},
        {"op": "evict", "bytes": 0},
        {"op": "remove_range", "cache": "b", "first": [1, 1], "last": [1, 0], "last_inclusive": True},
        {"op": "clear", "cache": "b"},
        {"op": "usage", "cache": "b"},
        {"op": "usage"},
        {"op": "insert", "cache": "b", "pos": [1, 2], "size": 2000000},
        {"op": "usage"},
        {"op": "remove_range", "cache": "b", "first": [0, 0], "last": [3, 0], "last_inclusive": False},
    ],
    "outcomes": [
        {"inserted": True},
        {"inserted": True},
        {"error": "illegal-argument", "message": "not compared"},
        {"hit": True},
        {"hits": [[1, 0]]},
        {"exists": False},
        {"expected_reads": 1},
        {"expected_reads": None},
        {},
        {
            "now": 5,
            "bytes": 30,
            "caches": {
                'a "quoted" name': {"bytes": 10, "entries": [[1, 0]]},
                "b": {"bytes": 20, "entries": [[1, 0]]},
            },
            "queue": [
                {"cache": 'a "quoted" name', "pos": [1, 0], "size": 10, "age_nanos": 5, "requeues": 0}
                | {"accessed": False, "expected_reads": None},
                {"cache": "b", "pos": [1, 0], "size": 20, "age_nanos": 5, "requeues": 0}
                | {"accessed": True, "expected_reads": 1},
            ],
            "tombstones": 0,
        },
        {"entries": 0, "bytes": 0},
        {"entries": 1, "bytes": 10},
        {"entries": 1, "bytes": 20},
        {"error": "illegal-argument"},
        {"entries": 0, "bytes": 0},
        {"entries": 0, "bytes": 0},
        {"entries": 0, "bytes": 0},
        {"entries": 0, "bytes": 0},
        {"inserted": True},
        {"entries": 1, "bytes": 2000000},
        {"entries": 1, "bytes": 2000000},
    ],
}

UNTIMED: dict[str, Any] = {
    "system": "pulsar-pip430",
    "config": {},
    "steps": [
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 10},
        {"op": "insert", "cache": "a", "pos": [1, 1], "size": 10},
        {"op": "evict", "bytes": 10},
    ],
    "outcomes": [{"inserted": True}, {"inserted": True}, {"entries": 1, "bytes": 10}],
}


@pytest.fixture(scope="module")
def tools(released: list[str]) -> JavaTestClasspath:
    return java_test_classpath(SUBJECT)


@pytest.fixture(scope="module")
def timed(tools: JavaTestClasspath, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled_case(TIMED, tools, tmp_path_factory.mktemp("timed"))


@pytest.fixture(scope="module")
def untimed(tools: JavaTestClasspath, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled_case(UNTIMED, tools, tmp_path_factory.mktemp("untimed"))


@pytest.mark.long
def test_the_released_jar_passes_with_every_op(timed: Compiled, tools: JavaTestClasspath) -> None:
    done = timed.run(tools, f"-javaagent:{tools.agent}")
    assert (done.returncode, done.stdout) == (0, "conforms\n"), done.stderr


@pytest.mark.long
def test_a_changed_jar_fails_where_it_differs(
    timed: Compiled, released: list[str], changed_jars: dict[str, Path]
) -> None:
    tools = java_test_classpath(SUBJECT, str(changed_jars["time-cutoff-included"]))
    done = timed.run(tools, f"-javaagent:{tools.agent}")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "step 10: {op: expire, older_than_nanos: 5}",
        "expected: {entries=0, bytes=0}",
        "got:      {entries=1, bytes=10}",
    ]


def test_a_case_with_time_asks_for_the_agent(timed: Compiled, tools: JavaTestClasspath) -> None:
    done = timed.run(tools)
    assert (done.returncode, done.stderr) == (2, "start this test with -javaagent:entrycache-agent.jar\n")


@pytest.mark.long
def test_a_case_without_time_needs_no_agent(
    untimed: Compiled, tools: JavaTestClasspath, changed_jars: dict[str, Path]
) -> None:
    assert "javaagent" not in render_java_test(UNTIMED, None)
    assert untimed.run(tools).stdout == "conforms\n"
    changed = java_test_classpath(SUBJECT, str(changed_jars["size-one-entry-too-many"]))
    assert untimed.run(changed).returncode == 1


def test_what_has_no_java_test_is_refused() -> None:
    with pytest.raises(UsageError, match="for the system cachelib"):
        render_java_test({**UNTIMED, "system": "cachelib"}, None)
    with pytest.raises(UsageError, match="0 outcomes for 3 steps"):
        render_java_test({**UNTIMED, "outcomes": []}, None)
    with pytest.raises(UsageError, match="no Java test for the op append"):
        render_java_test({**UNTIMED, "steps": [{"op": "append"}], "outcomes": [{}]}, None)
