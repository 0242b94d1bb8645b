"""The entries of one broker as the reference holds them: each row is applied with the reference's own functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Variants
from entrycache_reference.pulsar_pip430.count import expect_read, mark_read
from entrycache_reference.pulsar_pip430.decision import Action
from entrycache_reference.pulsar_pip430.insert import new_entry
from entrycache_reference.pulsar_pip430.lookup import marked
from entrycache_reference.pulsar_pip430.ops import ExpectRead, Insert, MarkRead
from entrycache_reference.pulsar_pip430.passes import requeued
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step, initial
from entrycache_reference.vocabulary import CacheName, Position

Row = dict[str, Any]

NO_ENTRY: Final = Entry(0, 0, 0, False, None, None)
"""Stands for an entry of which nothing is known: never requeued, not accessed, without a count."""

READ_BY: Final = {
    "size_bytes": "R-STATE-1",
    "expected_reads": "R-REQUEUE-8",
    "requeues": "R-REQUEUE-6",
    "accessed": "R-REQUEUE-1",
    "stamp_ns": "R-EXPIRE-1",
}
"""The columns that show an entry, each with the first rule that is decided from it."""

_BEGINS: Final = ("INSERT", "SNAPSHOT")
_CACHE: Final = CacheName("the only cache")
_POS: Final = Position(0, 0)


class Difference(NamedTuple):
    """One value of a row that is not what the reference holds after the rows before it."""

    rule: str
    seq: int
    column: str
    held: object
    shown: object

    def __str__(self) -> str:
        return f"seq {self.seq}: {self.column} is {self.shown}, the reference holds {self.held}"


@dataclass
class Held:
    """The entry of one life; compared with the rows of one island only, and until the first difference."""

    entry: Entry = NO_ENTRY
    island: int | None = None


class ReferenceEntries:
    """The entries of one broker by life. `compare` False: rows of several threads, whose order shows nothing."""

    def __init__(self, split: bool, compare: bool) -> None:
        self.config = Config(variants=Variants(RequeueBudget.SPLIT if split else RequeueBudget.SHARED))
        self._held: dict[int, Held] = {}
        self._compare = compare

    def entry(self, life: int | None) -> Entry:
        """What is held of a life."""
        held = None if life is None else self._held.get(life)
        return NO_ENTRY if held is None else held.entry

    def after_requeue(self, row: Row) -> Entry:
        """The entry as the reference puts it at the tail."""
        action = Action.REQUEUE_ACCESSED if row["cause"] == "ACCESSED" else Action.REQUEUE_EXPECTED
        return requeued(self.entry(row["life"]), _stamp(row), action, self.config)

    def follow(self, row: Row, island: int) -> list[Difference]:
        """Apply one row; what it shows that the reference does not."""
        op, life = row["op"], row["life"]
        if life is None or op == "TOMBSTONE":
            return []
        held = self._held.setdefault(life, Held())
        before = held.entry
        held.entry = after = self._applied(row, before)
        if op == "INSERT" or (op == "SNAPSHOT" and row["cause"] == "OPEN"):
            whole = all(row[name] is not None for name in _needed(op))
            held.island = island if whole and self._compare else None
        if held.island != island:
            return []
        found = _differences(row, after if op in _BEGINS else before, after)
        if found or op in ("EVICT", "REMOVE"):
            held.island = None
        return found

    def _applied(self, row: Row, entry: Entry) -> Entry:
        op = row["op"]
        if op == "INSERT":
            event = Insert(_CACHE, _POS, row["size_bytes"] or 0, row["expected_reads"])
            return new_entry(initial(self.config)._replace(now_nanos=_stamp(row)), event, self.config)
        if op == "SNAPSHOT" and row["cause"] == "OPEN":
            size_bytes, stamp, used = (row[name] or 0 for name in ("size_bytes", "stamp_ns", "requeues"))
            return Entry(size_bytes, stamp, used, bool(row["accessed"]), row["expected_reads"], None)
        if op == "HIT":
            return marked(entry)
        if op == "REQUEUE":
            return self.after_requeue(row)
        if op == "READ_DONE":
            return self._counted(entry, lambda state: mark_read(state, MarkRead(_CACHE, _POS), self.config))
        if op == "EXPECT":
            return self._counted(entry, lambda state: expect_read(state, ExpectRead(_CACHE, _POS), self.config))
        return entry

    def _counted(self, entry: Entry, step: Callable[[State], Step]) -> Entry:
        """The entry after a step of a state that holds nothing else."""
        alone = initial(self.config)._replace(
            caches={_CACHE: Cache({_POS: entry}, entry.size_bytes)},
            queue=(Slot(_CACHE, _POS),),
            size_bytes=entry.size_bytes,
        )
        return step(alone).state.caches[_CACHE].entries[_POS]


def _needed(op: str) -> tuple[str, ...]:
    return ("size_bytes",) if op == "INSERT" else ("size_bytes", "stamp_ns", "requeues", "accessed")


def _stamp(row: Row) -> int:
    """The stamp that the event gives."""
    return int(row["ts_ns"] if row["new_stamp_ns"] is None else row["new_stamp_ns"])


def _differences(row: Row, before: Entry, after: Entry) -> list[Difference]:
    """A row shows the mark and the stamp from before its event, the counts from after it."""
    held = {
        "size_bytes": after.size_bytes,
        "expected_reads": after.expected_reads,
        "requeues": after.requeues,
        "accessed": before.accessed,
        "stamp_ns": before.stamp_nanos,
    }
    return [
        Difference(rule, row["seq"], column, held[column], row[column])
        for column, rule in READ_BY.items()
        if row[column] is not None and row[column] != held[column]
    ]
