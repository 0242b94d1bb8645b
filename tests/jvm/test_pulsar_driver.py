"""The driver of the released Pulsar cache, on cases worked out by hand from the protocol."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jvm_driver import VERSION, Step, run_request, talk

from entrycache_conformance.subjects.jvm import pulsar_command


def _insert(entry: int, size: int = 10, reads: int | None = None, cache: str = "a") -> Step:
    step: Step = {"op": "insert", "cache": cache, "pos": [1, entry], "size": size}
    return step if reads is None else {**step, "expected_reads": reads}


def _get(entry: int, cache: str = "a") -> Step:
    return {"op": "get", "cache": cache, "pos": [1, entry]}


def _exists(entry: int) -> Step:
    return {"op": "exists", "cache": "a", "pos": [1, entry]}


def _range(op: str, first: int, last: int, **more: Any) -> Step:
    return {"op": op, "cache": "a", "first": [1, first], "last": [1, last], **more}


def _advance(nanos: int) -> Step:
    return {"op": "advance", "nanos": nanos}


def _gone(entries: int, size: int) -> Step:
    return {"entries": entries, "bytes": size}


INSERTED = {"inserted": True}
REFUSED = {"error": "illegal-argument"}

CASES: dict[str, tuple[Step, list[tuple[Step, Step]]]] = {
    "a duplicate changes nothing": (
        {},
        [
            (_insert(0, 10, 2), INSERTED),
            (_insert(0, 99, 7), {"inserted": False}),
            ({"op": "usage"}, _gone(1, 10)),
            ({"op": "mark_read", "cache": "a", "pos": [1, 0]}, {"expected_reads": 1}),
        ],
    ),
    "an empty entry is an entry": (
        {},
        [(_insert(0, 0), INSERTED), (_get(0), {"hit": True}), ({"op": "usage"}, _gone(1, 0))],
    ),
    "an entry of the largest size": (
        {"max_size_bytes": 2**40},
        [(_insert(0, 2**31 - 1), INSERTED), (_get(0), {"hit": True}), ({"op": "usage"}, _gone(1, 2**31 - 1))],
    ),
    "refused arguments change nothing": (
        {},
        [
            (_insert(0, -1), REFUSED),
            (_advance(-1), REFUSED),
            ({"op": "expire", "older_than_nanos": -1}, REFUSED),
            ({"op": "evict", "bytes": 0}, REFUSED),
            ({"op": "evict", "bytes": -5}, REFUSED),
            ({"op": "usage"}, _gone(0, 0)),
        ],
    ),
    "no cache without bytes": (
        {"max_size_bytes": 0},
        [
            (_insert(0), {"inserted": False}),
            (_get(0), {"hit": False}),
            (_exists(0), {"exists": False}),
            (_range("get_range", 0, 9), {"hits": []}),
            (_range("remove_range", 0, 9, last_inclusive=True), _gone(0, 0)),
            ({"op": "clear", "cache": "a"}, _gone(0, 0)),
            ({"op": "usage", "cache": "a"}, _gone(0, 0)),
        ],
    ),
    "ranges include both ends and may be reversed": (
        {},
        [
            *((_insert(entry), INSERTED) for entry in (3, 1, 2, 5)),
            (_range("get_range", 1, 3), {"hits": [[1, 1], [1, 2], [1, 3]]}),
            (_range("get_range", 3, 1), {"hits": []}),
            (_range("get_range", -1, 1), {"hits": [[1, 1]]}),
            (_range("remove_range", 3, 1, last_inclusive=True), _gone(0, 0)),
            (_range("remove_range", 1, 3, last_inclusive=False), _gone(2, 20)),
            (_range("remove_range", 3, 3, last_inclusive=False), _gone(0, 0)),
            (_range("remove_range", 3, 5, last_inclusive=True), _gone(2, 20)),
            ({"op": "usage"}, _gone(0, 0)),
        ],
    ),
    "clear empties one cache": (
        {},
        [
            (_insert(0), INSERTED),
            (_insert(0, 7, cache="b"), INSERTED),
            ({"op": "clear", "cache": "a"}, _gone(1, 10)),
            ({"op": "usage", "cache": "a"}, _gone(0, 0)),
            ({"op": "usage"}, _gone(1, 7)),
            ({"op": "usage", "cache": "unknown"}, _gone(0, 0)),
        ],
    ),
    "the cutoff is strict": (
        {"ttl_nanos": 100},
        [
            (_insert(0), INSERTED),
            (_advance(100), {}),
            ({"op": "expire"}, _gone(0, 0)),
            (_advance(1), {}),
            ({"op": "expire"}, _gone(1, 10)),
        ],
    ),
    "a cutoff may be negative": (
        {},
        [(_insert(0), INSERTED), ({"op": "expire", "older_than_nanos": 2**53 - 1}, _gone(0, 0))],
    ),
    "an accessed entry is spared once": (
        {},
        [
            (_insert(0), INSERTED),
            (_get(0), {"hit": True}),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(0, 0)),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(1, 10)),
        ],
    ),
    "exists marks nothing": (
        {},
        [
            (_insert(0), INSERTED),
            (_exists(0), {"exists": True}),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(1, 10)),
            (_exists(0), {"exists": False}),
        ],
    ),
    "accesses do not count when the setting is off": (
        {"extend_recently_accessed": False},
        [
            (_insert(0), INSERTED),
            (_get(0), {"hit": True}),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(1, 10)),
        ],
    ),
    "expected reads are spared as often as the budget says": (
        {"max_requeues": 1},
        [
            (_insert(0, 10, 1), INSERTED),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(0, 0)),
            (_advance(5), {}),
            ({"op": "expire", "older_than_nanos": 1}, _gone(1, 10)),
        ],
    ),
    "counts have no floor, and none is none": (
        {},
        [
            (_insert(0, 10, 1), INSERTED),
            (_insert(1, 10, 0), INSERTED),
            ({"op": "mark_read", "cache": "a", "pos": [1, 0]}, {"expected_reads": 0}),
            ({"op": "mark_read", "cache": "a", "pos": [1, 0]}, {"expected_reads": -1}),
            ({"op": "expect_read", "cache": "a", "pos": [1, 0]}, {"expected_reads": 0}),
            ({"op": "expect_read", "cache": "a", "pos": [1, 1]}, {"expected_reads": None}),
            ({"op": "mark_read", "cache": "a", "pos": [1, 9]}, {"expected_reads": None}),
        ],
    ),
    "whole entries go until enough is free": (
        {},
        [
            *((_insert(entry), INSERTED) for entry in range(4)),
            ({"op": "evict", "bytes": 10}, _gone(1, 10)),
            ({"op": "evict", "bytes": 11}, _gone(2, 20)),
            ({"op": "evict", "bytes": 11}, _gone(1, 10)),
            ({"op": "evict", "bytes": 1}, _gone(0, 0)),
        ],
    ),
    "the queue, its order, stamps and tombstones": (
        {},
        [
            (_insert(0, 10, 2), INSERTED),
            (_insert(1, 20), INSERTED),
            (_advance(7), {}),
            (_insert(0, 30, cache="b"), INSERTED),
            (_range("remove_range", 1, 1, last_inclusive=True), _gone(1, 20)),
            (_get(0, "b"), {"hit": True}),
            ({"op": "expire", "older_than_nanos": 6}, _gone(0, 0)),
            (
                {"op": "observe"},
                {
                    "now": 7,
                    "bytes": 40,
                    "caches": {
                        "a": {"bytes": 10, "entries": [[1, 0]]},
                        "b": {"bytes": 30, "entries": [[1, 0]]},
                    },
                    "queue": [
                        {"cache": "b", "pos": [1, 0], "size": 30, "age_nanos": 0, "requeues": 0}
                        | {"accessed": True, "expected_reads": None},
                        {"cache": "a", "pos": [1, 0], "size": 10, "age_nanos": 0, "requeues": 1}
                        | {"accessed": False, "expected_reads": 2},
                    ],
                    "tombstones": 0,
                },
            ),
        ],
    ),
    "tombstones behind a live head stay, and nothing is shown of an empty cache": (
        {},
        [
            (_insert(0), INSERTED),
            (_insert(1), INSERTED),
            (_insert(0, cache="b"), INSERTED),
            ({"op": "clear", "cache": "b"}, _gone(1, 10)),
            (_range("remove_range", 1, 1, last_inclusive=True), _gone(1, 10)),
            ({"op": "expire"}, _gone(0, 0)),
            (
                {"op": "observe"},
                {
                    "now": 0,
                    "bytes": 10,
                    "caches": {"a": {"bytes": 10, "entries": [[1, 0]]}},
                    "queue": [
                        {"cache": "a", "pos": [1, 0], "size": 10, "age_nanos": 0, "requeues": 0}
                        | {"accessed": False, "expected_reads": None},
                    ],
                    "tombstones": 2,
                },
            ),
        ],
    ),
}


def outcomes(command: list[str]) -> dict[str, list[Step]]:
    """The answers to all cases above, sent in one go."""
    requests = [run_request(i, config, [step for step, _ in steps]) for i, (config, steps) in enumerate(CASES.values())]
    answers = talk(command, {"cmd": "start", "version": 1}, *requests)[1:]
    assert [answer["id"] for answer in answers] == list(range(len(CASES)))
    return {
        name: [{key: part for key, part in outcome.items() if key != "message"} for outcome in answer["outcomes"]]
        for name, answer in zip(CASES, answers, strict=True)
    }


@pytest.fixture(scope="module")
def answered(released: list[str]) -> dict[str, list[Step]]:
    return outcomes(released)


@pytest.mark.parametrize("name", CASES)
def test_the_released_jar_answers_by_the_protocol(name: str, answered: dict[str, list[Step]]) -> None:
    assert answered[name] == [expected for _, expected in CASES[name][1]]


def test_every_jdk_beside_this_one_answers_the_same(
    released: list[str], answered: dict[str, list[Step]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the class path was built by another JDK, and without a word on stderr."""
    here = Path(released[0]).resolve().parents[1]
    for home in sorted({java.resolve().parents[1] for java in here.parent.glob("*/bin/java")} | {here}):
        monkeypatch.setenv("JAVA_HOME", str(home))
        command = pulsar_command(VERSION)
        if Path(command[0]).resolve().parents[1] != home:
            continue  # Too old; another one was found instead.
        assert outcomes(command) == answered
        done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_start_declares_what_the_levels_range_and_queue_need(released: list[str]) -> None:
    (answer,) = talk(released, {"cmd": "start", "version": 1}, {"cmd": "stop"})
    system = answer["systems"]["pulsar-pip430"]
    assert answer["implementation"]["version"] == VERSION
    assert {step["op"] for _, steps in CASES.values() for step, _ in steps} == set(system["ops"])
    assert system["introspection"] == ["now", "bytes", "caches", "queue", "tombstones", "requeues"]
    assert (system["payload"], system["leaks"]) == (False, False)


def test_an_error_in_a_step_names_it_and_the_process_lives_on(released: list[str]) -> None:
    bad, unknown, good = talk(
        released,
        run_request(1, {}, [_insert(0), {"op": "get", "cache": "a"}]),
        run_request(2, {}, [{"op": "fly"}]),
        run_request(3, {}, [_get(0)]),
    )
    assert (bad["id"], bad["errored"]["step"]) == (1, 1)
    assert "'pos' is missing" in bad["errored"]["message"]
    assert "at entrycache.protocol" in bad["errored"]["traceback"]
    assert unknown["errored"]["step"] == 0
    assert good == {"id": 3, "outcomes": [{"hit": False}]}


def test_an_answer_comes_before_the_next_request_is_sent(released: list[str]) -> None:
    with subprocess.Popen(released, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        for number in range(3):
            process.stdin.write(json.dumps(run_request(number, {}, [_insert(0)])) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"id": number, "outcomes": [INSERTED]}
        process.stdin.write('{"cmd":"stop"}\n')
        process.stdin.flush()
        assert process.wait(timeout=10) == 0


def test_calls_are_listed_without_input(released: list[str]) -> None:
    done = subprocess.run([*released, "--calls"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    calls = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert calls["evict"] == "RangeEntryCacheManagerEvictionHandler.evictEntries"
    assert calls["remove_range"] == "RangeCache.removeRange, RangeEntryCacheManagerImpl.entriesRemoved"


@pytest.mark.parametrize(
    ("change", "seen_in"),
    [
        ("time-cutoff-included", "the cutoff is strict"),
        ("size-one-entry-too-many", "whole entries go until enough is free"),
        ("requeue-keeps-accessed", "an accessed entry is spared once"),
        ("removal-keeps-size", "whole entries go until enough is free"),
    ],
)
def test_a_changed_jar_answers_otherwise(
    change: str, seen_in: str, changed_jars: dict[str, Path], answered: dict[str, list[Step]]
) -> None:
    config, steps = CASES[seen_in]
    request = run_request(1, config, [*(step for step, _ in steps), {"op": "observe"}])
    (answer,) = talk(pulsar_command(VERSION, str(changed_jars[change])), request)
    got = answer["outcomes"]
    if change == "removal-keeps-size":
        assert got[:-1] == answered[seen_in]
        assert (got[-1]["bytes"], got[-1]["caches"]) == (0, {"a": {"bytes": 40, "entries": []}})
    else:
        assert got[:-1] != answered[seen_in]
