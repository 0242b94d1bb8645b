"""The coverage that a run counts: decision-table entries, and the sides of thresholds.

A decision-table entry is a kind of pass with a line of the table. A side of a threshold is one below it, at it, or one
above it: a comparison that is wrong by one shows there and nowhere else. Both are read from the reference's steps.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, Final

from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_pip430 import decision, ledger, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Entry, State, Step

MILLISECOND: Final = 1_000_000

SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}

THRESHOLDS: Final = (
    *("TRIGGER", "TARGET", "NEED", "CUTOFF", "BUDGET", "READS", "GRACE", "FIRST", "LAST", "BOUND"),
    *("BACKLOG", "BETWEEN"),
)
"""The thresholds: the bytes that trigger a pass, that it leaves, and that it must free; the age of an entry, its
requeues and its expected reads when a pass decides about it; the age of a grace period in milliseconds; the ends of a
range, and the bound of an invalidation, next to cached entries; a backlog, and how far two of them differ.
"""

UNREACHABLE_SIDES: Final = frozenset({"TARGET/ABOVE"})
"""The sides that cannot be reached: a triggered pass never leaves more than the target."""

_ALL_SIDES = tuple(f"{name}/{side}" for name in THRESHOLDS for side in SIDES.values())

SIDE_CELLS: Final = (*(side for side in _ALL_SIDES if side not in UNREACHABLE_SIDES), "FIRST_USE/REFUSED")
"""Every side, and the refused step that names a cache for the first time."""

Distance = tuple[str, int]
"""A threshold, and the distance of a step above it."""


def count_sides(config: Config, state: State, op: Any, done: Step, cells: dict[str, int]) -> None:
    """Count the sides of thresholds that a step lands on."""
    cache = getattr(op, "cache", vocabulary.ABSENT)
    if isinstance(done.outcome, outcomes.Refused):
        if cache is not vocabulary.ABSENT and cache not in state.caches:
            _count(cells, "FIRST_USE/REFUSED")
        return
    measure = MEASURES.get(type(op))
    for name, distance in () if measure is None else measure(config, state, op, done):
        if -1 <= distance <= 1:
            _count(cells, f"{name}/{SIDES[distance]}")


def _count(cells: dict[str, int], name: str) -> None:
    cells[name] = cells.get(name, 0) + 1


def _insert_distances(config: Config, state: State, op: ops.Insert, done: Step) -> Iterator[Distance]:
    """Yield the bytes after an insert, and what a triggered pass leaves."""
    if not done.outcome.inserted:  # type: ignore[union-attr]
        return
    size_bytes = state.size_bytes + op.size
    yield "TRIGGER", size_bytes - decision.trigger_bytes(state)
    if done.state.size_bytes < size_bytes:
        yield "TARGET", done.state.size_bytes - decision.target_bytes(state)


def _expire_distances(config: Config, state: State, op: ops.Expire, done: Step) -> Iterator[Distance]:
    age_nanos = state.settings.ttl_nanos if op.older_than_nanos is vocabulary.ABSENT else op.older_than_nanos
    for entry in _queued_entries(state):
        yield "CUTOFF", state.now_nanos - entry.stamp_nanos - age_nanos
    yield from _decision_distances(state)


def _evict_distances(config: Config, state: State, op: ops.Evict, done: Step) -> Iterator[Distance]:
    yield "NEED", state.size_bytes - done.state.size_bytes - op.bytes
    yield from _decision_distances(state)


def _decision_distances(state: State) -> Iterator[Distance]:
    """Yield what passes compare of the queue's entries."""
    for entry in _queued_entries(state):
        yield "BUDGET", entry.requeues - state.settings.max_requeues
        yield "READS", (entry.expected_reads or 0) - 1


def _queued_entries(state: State) -> list[Entry]:
    return [state.caches[slot.cache].entries[slot.pos] for slot in state.queue if slot is not None]


def _grace_distances(config: Config, state: State, op: ops.ShouldCache, done: Step) -> Iterator[Distance]:
    cache = state.caches.get(op.cache)
    if cache is not None and not cache.members:
        waited_millis = state.now_nanos // MILLISECOND - cache.grace_start_nanos // MILLISECOND
        yield "GRACE", waited_millis - config.effective_grace_millis


def _range_distances(config: Config, state: State, op: Any, done: Step) -> Iterator[Distance]:
    cache = state.caches.get(op.cache)
    for pos in () if cache is None else cache.entries:
        if pos.ledger == op.first.ledger:
            yield "FIRST", pos.entry - op.first.entry
        if pos.ledger == op.last.ledger:
            yield "LAST", pos.entry - op.last.entry


def _bound_distances(config: Config, state: State, op: ops.InvalidateBefore, done: Step) -> Iterator[Distance]:
    cache = state.caches.get(op.cache)
    for pos in () if cache is None else cache.entries:
        if pos.ledger == op.pos.ledger:
            yield "BOUND", pos.entry - op.pos.entry


def _backlog_distances(config: Config, state: State, op: ops.CheckBacklogs, done: Step) -> Iterator[Distance]:
    if config.evict_by_expected_reads or config.min_backlog_cursors == 0:
        return
    managed = state.managed[op.cache]
    sizes = [ledger.backlog_of(managed, cursor, config) for cursor in managed.cursors.values() if cursor.is_durable]
    for size in sizes:
        yield "BACKLOG", size - config.min_backlog_entries
    for one, other in combinations(sizes, 2):
        yield "BETWEEN", abs(one - other) - config.max_backlog_between


MEASURES: Final[dict[type[Any], Callable[..., Iterator[Distance]]]] = {
    ops.Insert: _insert_distances,
    ops.Expire: _expire_distances,
    ops.Evict: _evict_distances,
    ops.ShouldCache: _grace_distances,
    ops.GetRange: _range_distances,
    ops.RemoveRange: _range_distances,
    ops.Read: _range_distances,
    ops.InvalidateBefore: _bound_distances,
    ops.CheckBacklogs: _backlog_distances,
}


COVERAGE_CELLS: Final = (
    *(f"{kind}/{line.rule.name}" for kind in ("TIME", "SIZE") for line in decision.DECISION),
    *SIDE_CELLS,
)
"""Every entry and side."""

DECIDED_ROWS: Final = frozenset({"TOMBSTONE", "EVICT", "REQUEUE"})


def count_cells(config: Config, state: State, op: Any, done: Step, cells: dict[str, int]) -> None:
    """Count the entries and sides that a step meets."""
    count_sides(config, state, op, done, cells)
    _count_decisions(done, cells)


def _count_decisions(done: Step, cells: dict[str, int]) -> None:
    if not done.rows or (done.rows[-1].op != "PASS_END" and not done.parts):
        return
    kind = ""
    for row in done.rows:
        if row.op == "PASS_BEGIN":
            kind = row.cause or ""
        elif row.op in DECIDED_ROWS or (row.op == "PASS_END" and row.rule is rules.Rule.EVICT_2):
            name = f"{kind}/{row.rule.name}"
            cells[name] = cells.get(name, 0) + 1
