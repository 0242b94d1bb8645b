"""Level `cursors`, worked out by hand from the protocol."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.steps import DONE, INSERTED, REFUSED, Case, advance, ask, cursor, get, insert

HEAP: Final = {"evict_by_expected_reads": False}
MILLI: Final = 1_000_000


def _wanted(answer: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    return ask("should_cache"), {"should_cache": answer}


def _at(entry: int | None) -> dict[str, Any]:
    return {"pos": None if entry is None else [1, entry]}


CASES: Final[dict[str, Case]] = {
    "a rank counts all cursors at the position or before it": (
        {},
        [
            (cursor("add", "x", 5), DONE),
            (cursor("add", "y", 5), DONE),
            (cursor("add", "z", 7), DONE),
            (cursor("rank", "x"), {"rank": 2}),
            (cursor("rank", "z"), {"rank": 3}),
            (ask("slowest"), _at(5)),
            (cursor("move", "x", 9), DONE),
            (cursor("rank", "x"), {"rank": 3}),
            (cursor("rank", "y"), {"rank": 1}),
            (cursor("add", "y", 8), DONE),
            (ask("slowest"), _at(7)),
            (ask("cursors"), {"members": 3}),
            (cursor("remove", "z"), {"removed": True}),
            (cursor("rank", "y"), {"rank": 1}),
            (ask("cursors"), {"members": 2}),
        ],
    ),
    "a member without a position is not tracked": (
        {},
        [
            (ask("slowest"), _at(None)),
            (cursor("add", "x", None), DONE),
            (cursor("rank", "x"), {"rank": 0}),
            (ask("slowest"), _at(None)),
            (ask("cursors"), {"members": 1}),
            (cursor("move", "x", 1), DONE),
            (cursor("rank", "x"), {"rank": 1}),
        ],
    ),
    "an unknown cursor is no error": (
        {},
        [
            (cursor("move", "x", 1), DONE),
            (cursor("move", "x", None), DONE),
            (cursor("remove", "x"), {"removed": False}),
            (cursor("rank", "x"), {"rank": 0}),
            (ask("cursors"), {"members": 0}),
        ],
    ),
    "a cache has its own cursors": (
        {},
        [
            (cursor("add", "x", 1), DONE),
            ({**cursor("add", "x", 9), "cache": "b"}, DONE),
            (cursor("rank", "x"), {"rank": 1}),
            (ask("slowest"), _at(1)),
        ],
    ),
    "grace is counted in whole milliseconds from the first step that names the cache": (
        {"grace_millis": 2},
        [
            (insert(0, -1), REFUSED),
            (advance(2 * MILLI), DONE),
            (get(0), {"hit": False}),
            _wanted(True),
            (advance(2 * MILLI - 1), DONE),
            _wanted(True),
            (advance(1), DONE),
            _wanted(False),
        ],
    ),
    "grace starts anew whenever a member leaves": (
        {"grace_millis": 2},
        [
            (advance(MILLI - 1), DONE),
            (cursor("add", "x", None), DONE),
            (advance(9 * MILLI), DONE),
            _wanted(True),
            (cursor("remove", "x"), {"removed": True}),
            (advance(1), DONE),
            _wanted(True),
            (advance(MILLI), DONE),
            _wanted(False),
            (cursor("remove", "x"), {"removed": False}),
            _wanted(False),
        ],
    ),
    "grace may be off": ({"grace_millis": 0}, [_wanted(False), (cursor("add", "x", 1), DONE), _wanted(True)]),
    "the default of grace is computed once": (
        {"ttl_nanos": 3 * MILLI},
        [
            _wanted(True),
            ({"op": "configure", "ttl_nanos": 1}, DONE),
            (advance(6 * MILLI - 1), DONE),
            _wanted(True),
            (advance(1), DONE),
            _wanted(False),
        ],
    ),
    "cursors stay when their cache is removed": (
        {},
        [
            (insert(0), INSERTED),
            (cursor("add", "x", 3), DONE),
            ({"op": "remove_cache", "cache": "a"}, DONE),
            (ask("cursors"), {"members": 1}),
            (cursor("rank", "x"), {"rank": 1}),
        ],
    ),
    "the heap knows neither rank nor grace": (
        HEAP,
        [
            _wanted(False),
            (cursor("add", "x", 5), DONE),
            (cursor("add", "y", 2), DONE),
            (cursor("rank", "x"), REFUSED),
            (ask("slowest"), _at(2)),
            (cursor("move", "y", 9), DONE),
            (ask("slowest"), _at(5)),
            (ask("cursors"), {"members": 2}),
            _wanted(True),
            (cursor("remove", "x"), {"removed": True}),
            (cursor("remove", "y"), {"removed": True}),
            (ask("slowest"), _at(None)),
            _wanted(False),
        ],
    ),
    "a refused rank makes no cache exist": (
        HEAP,
        [(cursor("rank", "x"), REFUSED), ({"op": "usage"}, {"entries": 0, "bytes": 0})],
    ),
    "the heap moves only what it tracks": (
        HEAP,
        [
            (cursor("add", "x", None), DONE),
            (cursor("move", "x", 4), DONE),
            (ask("slowest"), _at(None)),
            (cursor("add", "x", 4), DONE),
            (ask("slowest"), _at(4)),
            (ask("cursors"), {"members": 1}),
        ],
    ),
}
