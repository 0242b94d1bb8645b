"""Level `pending`, worked out by hand from the protocol, for the released table of pending reads."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.driver import Step
from tests.support.jvm.steps import DONE, REFUSED, Case


def fetch(name: str, first: int, last: int, ledger: int = 1) -> Step:
    return {"op": "fetch", "read": name, "first": [ledger, first], "last": [ledger, last]}


def answer(ask: int, what: Any) -> Step:
    return {"op": "storage_answer", "ask": ask, "answer": what}


def sent(*asks: tuple[int, int, int], ledger: int = 1) -> Step:
    return {"asked": [{"ask": ask, "ledger": ledger, "first": first, "last": last} for ask, first, last in asks]}


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
}
