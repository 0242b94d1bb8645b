"""Steps and outcomes that the cases of the driver are written in."""

from __future__ import annotations

from typing import Any, Final

from tests.support.jvm.driver import Step

Case = tuple[Step, list[tuple[Step, Step]]]
"""The config, and each step with the outcome that the protocol names."""

INSERTED: Final[Step] = {"inserted": True}
REFUSED: Final[Step] = {"error": "illegal-argument"}
DONE: Final[Step] = {}


def insert(entry: int, size: int = 10, reads: int | None = None, cache: str = "a", **more: Any) -> Step:
    step: Step = {"op": "insert", "cache": cache, "pos": [1, entry], "size": size, **more}
    return step if reads is None else {**step, "expected_reads": reads}


def get(entry: int, cache: str = "a") -> Step:
    return {"op": "get", "cache": cache, "pos": [1, entry]}


def exists(entry: int) -> Step:
    return {"op": "exists", "cache": "a", "pos": [1, entry]}


def of_range(op: str, first: int, last: int, **more: Any) -> Step:
    return {"op": op, "cache": "a", "first": [1, first], "last": [1, last], **more}


def read(first: int, last: int, reads: int, **more: Any) -> Step:
    return of_range("read", first, last, expected_reads=reads, **more)


def read_one(entry: int, **more: Any) -> Step:
    return {"op": "read_one", "cache": "a", "pos": [1, entry], **more}


def counted(op: str, entry: int) -> Step:
    return {"op": op, "cache": "a", "pos": [1, entry]}


def advance(nanos: int) -> Step:
    return {"op": "advance", "nanos": nanos}


def removed(entries: int, size: int) -> Step:
    return {"entries": entries, "bytes": size}


def served(hits: list[int], fills: list[int], tokens: list[int] | None = None) -> Step:
    outcome: Step = {"hits": [[1, entry] for entry in hits], "fills": [[1, entry] for entry in fills]}
    return outcome if tokens is None else {**outcome, "tokens": tokens}


def metrics(
    inserted: int = 0,
    evicted: int = 0,
    cycles: int = 0,
    hits: tuple[int, int] = (0, 0),
    misses: tuple[int, int] = (0, 0),
    size: int = 0,
) -> Step:
    return {
        "inserted_entries": inserted,
        "evicted_entries": evicted,
        "eviction_cycles": cycles,
        "hit_entries": hits[0],
        "hit_bytes": hits[1],
        "miss_entries": misses[0],
        "miss_bytes": misses[1],
        "bytes": size,
    }


def cursor(op: str, name: str, *entry: int | None) -> Step:
    step: Step = {"op": f"cursor_{op}", "cache": "a", "cursor": name}
    return {**step, "pos": None if entry[0] is None else [1, entry[0]]} if entry else step


def ask(op: str) -> Step:
    return {"op": op, "cache": "a"}
