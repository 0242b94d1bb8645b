"""Levels `pending` and `inflight`, worked out by hand from the protocol, for released reads that overlap in time."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.cases_ledger import HEAP, UNCACHED, append, of, opened, read, stands, uncached, used
from tests.support.jvm.driver import Step
from tests.support.jvm.steps import DONE, REFUSED, Case, ask, removed


def fetch(name: str, first: int, last: int, ledger: int = 1) -> Step:
    return {"op": "fetch", "read": name, "first": [ledger, first], "last": [ledger, last]}


def answer(ask: int, what: Any) -> Step:
    return {"op": "storage_answer", "ask": ask, "answer": what}


def sent(*asks: tuple[int, int, int], ledger: int = 1, **more: Any) -> Step:
    sizes = ({"ask": ask, "ledger": ledger, "first": first, "last": last, **more} for ask, first, last in asks)
    return {"asked": list(sizes)}


def begin(name: str, cursor: str, most: int) -> Step:
    return of("read_begin", cursor, read=name, max_entries=most)


def replay(name: str, cursor: str, *entries: int) -> Step:
    return of("replay_begin", cursor, read=name, positions=[[1, entry] for entry in entries])


def released(name: str, number: int) -> tuple[Step, Step]:
    return {"op": "release", "hold": name}, {"released": number}


HELD_STORAGE: Final = {**UNCACHED, "storage": "held"}


def entries_of(name: str, *entries: int) -> Step:
    return {"read": name, "entries": [[1, entry] for entry in entries]}


def failed(name: str) -> Step:
    return {"read": name, "error": "read-failed"}


def ended(*reads: Step) -> Step:
    return {"done": list(reads)}


CASES: Final[dict[str, Case]] = {
    "a read asks for what nobody has asked for": (
        {},
        [
            (fetch("a", 2, 3), sent((0, 2, 3))),
            (fetch("b", 6, 7), sent((1, 6, 7))),
            (fetch("c", 0, 9), sent((2, 0, 1), (3, 4, 5), (4, 8, 9))),
            (fetch("d", 2, 2), DONE),
            (fetch("e", 2, 3, 2), sent((5, 2, 3), ledger=2)),
            (answer(0, "all"), ended(entries_of("a", 2, 3), entries_of("d", 2))),
            (answer(0, "all"), REFUSED),
            (fetch("a", 1, 2), sent((6, 2, 2))),
            (fetch("a", 0, 0), REFUSED),
            (fetch("f", 1, 0), REFUSED),
        ],
    ),
    "a short answer gives each read what there is": (
        {},
        [
            (fetch("a", 0, 3), sent((0, 0, 3))),
            (fetch("b", 1, 2), DONE),
            (answer(0, 4), REFUSED),
            (answer(0, 2), ended(entries_of("a", 0, 1), entries_of("b", 1))),
        ],
    ),
    "a read fails when all its parts are answered, and an error ends the joining": (
        {},
        [
            (fetch("a", 0, 1), sent((0, 0, 1))),
            (fetch("b", 0, 3), sent((1, 2, 3))),
            (answer(0, "busy"), ended(failed("a"))),
            (fetch("c", 2, 4), sent((2, 4, 4))),
            (answer(1, "fail"), ended(failed("b"))),
            (fetch("d", 4, 4), sent((3, 4, 4))),
            (answer(2, "all"), ended(failed("c"))),
            (answer(3, "all"), ended(entries_of("d", 4))),
        ],
    ),
    "reads of cursors share what is asked for, and end when all of it is there": (
        HELD_STORAGE,
        [
            uncached(1, 0),
            uncached(1, 1),
            uncached(1, 2),
            opened("x"),
            opened("y"),
            (begin("a", "x", 2), sent((0, 0, 1), cache="a")),
            (begin("b", "x", 1), REFUSED),
            (begin("a", "y", 1), REFUSED),
            (begin("b", "y", 9), sent((1, 2, 2), cache="a")),
            (replay("c", "x", 2, 1), DONE),
            (of("cursor_close", "x"), REFUSED),
            (of("cursor_reset", "x", pos=[1, 0]), REFUSED),
            (read("x", 1, [], [])[0], REFUSED),
            (answer(1, "all"), DONE),
            (answer(0, "all"), ended(entries_of("a", 0, 1), entries_of("b", 0, 1, 2), entries_of("c", 1, 2))),
            stands("x", [1, 2], [1, -1]),
            (begin("a", "x", 1), REFUSED),
            released("a", 2),
            (begin("a", "x", 1), ended(entries_of("a", 2))),
        ],
    ),
    "a chunk with hits is read once more as a whole": (
        {**HELD_STORAGE, "evict_by_expected_reads": True},
        [
            uncached(1, 0),
            opened("x"),
            append(1, 1, 1),
            (begin("a", "x", 2), sent((0, 0, 0), cache="a")),
            (answer(0, "fail"), sent((1, 0, 1), cache="a")),
            (answer(1, "busy"), ended(failed("a"))),
            stands("x", [1, 0], [1, -1]),
        ],
    ),
    "an invalidation waits until it is run": (
        {**HELD_STORAGE, **HEAP, "invalidation": "manual"},
        [
            uncached(1, 0),
            opened("x"),
            append(1, 1, None),
            append(1, 2, None),
            (of("cursor_seek", "x", pos=[1, 2]), DONE),
            used(2, 20),
            (ask("run_invalidations"), removed(1, 10)),
            (ask("run_invalidations"), removed(0, 0)),
            used(1, 10),
        ],
    ),
}
