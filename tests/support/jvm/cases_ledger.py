"""Level `ledger`, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.driver import Step
from tests.support.jvm.steps import DONE, REFUSED, Case, ask, metrics, removed

HEAP: Final = {"evict_by_expected_reads": False}
UNCACHED: Final = {"grace_millis": 0}

Played = tuple[Step, Step]
"""A step with its outcome."""


def append(ledger: int, entry: int, count: int | None, size: int = 10, cached: bool = True) -> Played:
    step = {"op": "append", "cache": "a", "pos": [ledger, entry], "size": size}
    return step, {"cached": cached, "expected_reads": count}


def uncached(ledger: int, entry: int, size: int = 10) -> Played:
    return append(ledger, entry, None, size, cached=False)


def of(op: str, name: str, **more: Any) -> Step:
    return {"op": op, "cache": "a", "cursor": name, **more}


def opened(name: str, ledger: int = 1, entry: int = 0, **more: Any) -> Played:
    return of("cursor_open", name, pos=[ledger, entry], **more), DONE


def read(name: str, most: int, hits: list[list[int]], fills: list[list[int]], **more: Any) -> Played:
    return of("cursor_read", name, max_entries=most, **more), {"hits": hits, "fills": fills}


def stands(name: str, read_at: list[int], mark_delete: list[int], active: bool = True) -> Played:
    return of("cursor_state", name), {"read": read_at, "mark_delete": mark_delete, "active": active}


def used(entries: int, size: int) -> Played:
    return ask("usage"), removed(entries, size)


def slot(entry: int, count: int | None, accessed: bool = False) -> Step:
    whole: Step = {"cache": "a", "pos": [1, entry], "size": 10, "age_nanos": 0, "requeues": 0}
    return {**whole, "accessed": accessed, "expected_reads": count}


CASES: Final[dict[str, Case]] = {
    "an append is cached with the number of active cursors": (
        {},
        [
            append(1, 0, None),
            opened("x"),
            opened("y", durable=False),
            append(1, 1, 2),
            (of("deactivate", "y"), DONE),
            append(1, 2, 1),
            (of("activate", "y"), DONE),
            append(1, 3, 2),
            (of("cursor_close", "x"), DONE),
            append(1, 4, 1),
            (of("cursor_state", "x"), REFUSED),
        ],
    ),
    "an append that is not the next one is refused": (
        {},
        [
            ({"op": "append", "cache": "a", "pos": [1, 1], "size": 1}, REFUSED),
            append(1, 0, None),
            ({"op": "append", "cache": "a", "pos": [1, 0], "size": 1}, REFUSED),
            ({"op": "append", "cache": "a", "pos": [1, 1], "size": -1}, REFUSED),
            append(1, 1, None),
            ({"op": "insert", "cache": "a", "pos": [1, 5], "size": 1}, REFUSED),
        ],
    ),
    "a read goes over ledgers and leaves out what is acknowledged": (
        {},
        [
            append(1, 0, None),
            append(1, 1, None),
            append(1, 2, None),
            append(2, 0, None),
            opened("x"),
            (of("ack", "x", pos=[1, 1]), DONE),
            read("x", 3, [[1, 0], [1, 2], [2, 0]], []),
            stands("x", [2, 1], [1, -1]),
            read("x", 5, [], []),
        ],
    ),
    "fills are cached with the rank that the reader had": (
        UNCACHED,
        [
            uncached(1, 0),
            uncached(1, 1),
            opened("x"),
            opened("y"),
            read("x", 1, [], [[1, 0]]),
            read("y", 2, [[1, 0]], [[1, 1]]),
            used(2, 20),
            ({"op": "metrics"}, metrics(2, hits=(1, 10), misses=(2, 20), size=20)),
        ],
    ),
    "the fills of a cursor that is not active are not cached": (
        UNCACHED,
        [
            uncached(1, 0),
            opened("x"),
            (of("deactivate", "x"), DONE),
            read("x", 1, [], [[1, 0]]),
            used(0, 0),
        ],
    ),
    "acknowledgements join the mark-delete position": (
        {},
        [
            *(append(1, entry, None) for entry in range(4)),
            opened("x"),
            (of("ack", "x", pos=[1, 1]), DONE),
            stands("x", [1, 0], [1, -1]),
            (of("ack", "x", pos=[1, 0]), DONE),
            stands("x", [1, 2], [1, 1]),
            (of("ack", "x", pos=[1, 3]), DONE),
            (of("mark_delete", "x", pos=[1, 2]), DONE),
            stands("x", [1, 4], [1, 3]),
            (of("mark_delete", "x", pos=[1, 2]), REFUSED),
        ],
    ),
    "a rollover moves the cursor that has consumed a ledger": (
        {},
        [
            append(1, 0, None),
            opened("x"),
            opened("y"),
            (of("mark_delete", "x", pos=[1, 0]), DONE),
            append(2, 0, 2),
            stands("x", [2, 0], [2, -1]),
            stands("y", [1, 0], [1, -1]),
        ],
    ),
    "what lies below the slowest cursor is dropped": (
        HEAP,
        [
            append(1, 0, None, cached=False),
            opened("x"),
            opened("y"),
            append(1, 1, None),
            append(1, 2, None),
            read("x", 3, [[1, 1], [1, 2]], [[1, 0]]),
            used(2, 20),
            (of("cursor_seek", "y", pos=[1, 2]), DONE),
            used(1, 10),
            (of("cursor_reset", "y", pos=[1, 1]), DONE),
            stands("y", [1, 1], [1, 0]),
            used(1, 10),
            (of("deactivate", "y"), DONE),
            used(0, 0),
        ],
    ),
    "a replay reads single entries and caches none": (
        UNCACHED,
        [
            uncached(1, 0),
            uncached(1, 1),
            opened("x"),
            append(1, 2, 1),
            read("x", 3, [[1, 2]], [[1, 0], [1, 1]], hold="h"),
            (of("ack", "x", pos=[1, 1]), DONE),
            (of("replay_read", "x", positions=[[1, 2], [1, 0], [1, 1]]), {"hits": [[1, 0], [1, 2]], "fills": []}),
        ],
    ),
    "key_shared expects a replayed entry once more": (
        {},
        [
            append(1, 0, None),
            opened("x"),
            append(1, 1, 1),
            append(1, 2, 1),
            (of("cursor_seek", "x", pos=[1, 1]), DONE),
            read("x", 2, [[1, 1], [1, 2]], [], hold="h"),
            ({"op": "replay_add", "hold": "h", "pos": [1, 1], "dispatcher": "key_shared"}, DONE),
            ({"op": "replay_add", "hold": "h", "pos": [1, 2], "dispatcher": "shared"}, DONE),
            ({"op": "replay_add", "hold": "h", "pos": [1, 2], "dispatcher": "shared"}, REFUSED),
            (
                {"op": "observe"},
                {
                    "now": 0,
                    "bytes": 30,
                    "caches": {"a": {"bytes": 30, "entries": [[1, 0], [1, 1], [1, 2]]}},
                    "queue": [slot(0, None), slot(1, 1, accessed=True), slot(2, 0, accessed=True)],
                    "tombstones": 0,
                },
            ),
        ],
    ),
    "a deleted ledger takes its entries along": (
        {},
        [
            append(1, 0, None),
            opened("x"),
            append(2, 0, 1),
            ({"op": "delete_ledger", "cache": "a", "ledger": 2}, REFUSED),
            ({"op": "delete_ledger", "cache": "a", "ledger": 1}, removed(1, 10)),
            stands("x", [1, 0], [1, -1]),
            read("x", 5, [[2, 0]], []),
        ],
    ),
    "cursors with long and similar backlogs have their fills cached": (
        {**HEAP, "min_backlog_cursors": 1, "min_backlog_entries": 2, "max_backlog_between": 1},
        [
            uncached(1, 0),
            uncached(1, 1),
            opened("x"),
            opened("y", 1, 1),
            (ask("check_backlogs"), DONE),
            read("y", 1, [], [[1, 1]]),
            used(0, 0),
            read("x", 1, [], [[1, 0]], hold="h"),
            ({"op": "metrics"}, metrics(1, evicted=1, misses=(2, 20))),
        ],
    ),
}
