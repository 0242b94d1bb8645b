"""Making cases: numbers are aimed at the thresholds of the reference's present state.

The same generator runs under Hypothesis, which shrinks, and from a seed, which is fast: all it asks for is
an integer between two bounds, and smaller answers lead to simpler cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.case import Case
from entrycache_conformance.declaration import Declaration
from entrycache_conformance.judge import Coverage, checked_step
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, INTEGER_MAX, Absent, CacheName, Position

Draw = Callable[[int, int], int]
"""An integer between two bounds, both included."""

STEPS_MAX: Final = 60
CACHES: Final = tuple(CacheName(name) for name in ("a", "b", "c"))
ENTRIES: Final = 4
FRESH: Final = tuple(
    (cache, Position(1 + ledger, entry)) for cache in CACHES for ledger in (0, 1) for entry in range(ENTRIES)
)
SIZES: Final = (1, 2, 3, 10, 0, 7, 1, 2, 0, 5, 100, 9_999, -1)
COUNTS: Final[tuple[int | None | Absent, ...]] = (ABSENT, 1, 2, 1, 3, None, 0, -1)

WEIGHTS: Final = {
    "insert": 9,
    "get": 4,
    "get_range": 2,
    "exists": 1,
    "remove_range": 2,
    "clear": 1,
    "usage": 2,
    "observe": 2,
    "advance": 4,
    "expire": 5,
    "evict": 4,
    "mark_read": 5,
    "expect_read": 3,
}


class Made(NamedTuple):
    """A case, and the reference's steps through it."""

    case: Case
    steps: list[Any]


def choose(draw: Draw, items: Sequence[Any]) -> Any:
    """One of the items; the first is the simplest."""
    return items[draw(0, len(items) - 1)]


def make_config(draw: Draw, declaration: Declaration) -> Any:
    """A configuration that differs from the default where the subject lets it."""
    base = declaration.base_config()
    changes: dict[str, Any] = {}
    menu: dict[str, tuple[Any, ...]] = {
        "max_requeues": (5, 2, 1, 0, 3),
        "extend_recently_accessed": (True, False),
        "ttl_nanos": (1_000_000_000, 5, 1, 0, 20),
        "max_size_bytes": (base.max_size_bytes,) * 11 + (0,),
        "watermark": (0.9, 0.5, 1.0, 0.0),
    }
    for key, values in menu.items():
        if declaration.varies(key):
            changes[key] = choose(draw, values)
    return dataclasses.replace(base, **changes)


def op_menu(names: Sequence[str]) -> tuple[str, ...]:
    """The operations, each as often as its weight says; `insert` comes first."""
    return tuple(name for name in WEIGHTS if name in names for _ in range(WEIGHTS[name]))


def make_case(
    draw: Draw,
    declaration: Declaration,
    menu: Sequence[str],
    coverage: Coverage,
    steps_max: int = STEPS_MAX,
    stops: bool = True,
) -> Made:
    """A case whose every step was made with the reference's state before it in sight.

    With `stops` it may end before `steps_max` at every step.
    """
    system = declaration.system
    config = make_config(draw, declaration)
    state = system.initial(config)
    limit = min(steps_max, declaration.limits.max_steps or steps_max)
    aim = Aim(draw, declaration, int(config.max_size_bytes * 0.98))
    made: list[Any] = []
    steps: list[Any] = []
    while len(made) < limit:
        at = draw(0 if stops else 1, len(menu))
        if at == 0:
            break
        op = aim.op(menu[at - 1], state)
        done = checked_step(system, config, state, op, coverage)
        made.append(op)
        steps.append(done)
        state = done.state
    return Made(Case(system, config, tuple(made)), steps)


class Aim:
    """Arguments for the next operation: half of all numbers come from the state, at a threshold or next to it."""

    def __init__(self, draw: Draw, declaration: Declaration, room_bytes: int) -> None:
        self._draw = draw
        self._payload = declaration.payload
        self._max_size = declaration.limits.max_size
        self._room_bytes = room_bytes
        self._tokens = 0
        self._makers: dict[str, Callable[[State], Any]] = {
            "insert": self._insert,
            "get": lambda state: ops.Get(*self._place(state)),
            "get_range": self._get_range,
            "exists": lambda state: ops.Exists(*self._place(state)),
            "remove_range": self._remove_range,
            "clear": lambda state: ops.Clear(self._cache()),
            "usage": self._usage,
            "observe": lambda state: ops.Observe(),
            "advance": self._advance,
            "expire": self._expire,
            "evict": self._evict,
            "mark_read": lambda state: ops.MarkRead(*self._counted(state)),
            "expect_read": lambda state: ops.ExpectRead(*self._counted(state)),
        }

    def op(self, name: str, state: State) -> Any:
        """An operation of that name."""
        return self._makers[name](state)

    def _cache(self) -> CacheName:
        return CACHES[self._draw(0, len(CACHES) - 1)]

    def _place(self, state: State, live_weight: int = 4, fresh_weight: int = 1) -> tuple[CacheName, Position]:
        """A place, cached or not, by one number: small key spaces make places meet."""
        live = [slot for slot in state.queue if slot is not None]
        fresh = len(FRESH) * fresh_weight
        at = self._draw(0, fresh + live_weight * len(live) - 1)
        return FRESH[at % len(FRESH)] if at < fresh else live[(at - fresh) % len(live)]

    def _counted(self, state: State) -> tuple[CacheName, Position]:
        """A place, three times in four that of an entry that carries a count, the lowest count first."""
        counts = []
        for slot in state.queue:
            if slot is not None:
                count = state.caches[slot.cache].entries[slot.pos].expected_reads
                if count is not None:
                    counts.append((count, slot))
        at = self._draw(0, 4 * max(1, len(counts)) - 1)
        if not counts or at >= 3 * len(counts):
            return self._place(state)
        return sorted(counts)[at % len(counts)][1]

    def _insert(self, state: State) -> ops.Insert:
        cache, pos = self._place(state, live_weight=1)
        size = self._size()
        count = choose(self._draw, COUNTS)
        if not self._payload:
            return ops.Insert(cache, pos, size, count)
        self._tokens += 1
        return ops.Insert(cache, pos, size, count, self._tokens)

    def _size(self) -> int:
        size: int = min(self._max_size, choose(self._draw, SIZES))
        if self._room_bytes and size > self._room_bytes:
            return 0
        self._room_bytes -= max(0, size) if self._room_bytes else 0
        return size

    def _bounds(self, state: State) -> tuple[CacheName, Position, Position]:
        """Two bounds, mostly in order, mostly at a cached position, next to one, or at an end of everything."""
        cache, first = self._place(state, live_weight=12)
        entries = state.caches[cache].entries if cache in state.caches else {}
        ends = [*sorted(entries), Position(first.ledger, first.entry + 1), Position(-1, -1), Position(3, 0)]
        at = self._draw(0, 4 * len(ends) - 1)
        last = ends[at % len(ends)]
        if first > last and at < 3 * len(ends):
            first, last = last, first
        return cache, first, last

    def _get_range(self, state: State) -> ops.GetRange:
        return ops.GetRange(*self._bounds(state))

    def _remove_range(self, state: State) -> ops.RemoveRange:
        return ops.RemoveRange(*self._bounds(state), self._draw(0, 1) == 1)

    def _usage(self, state: State) -> ops.Usage:
        return ops.Usage() if self._draw(0, 1) == 0 else ops.Usage(self._cache())

    def _near(self, thresholds: list[int]) -> int:
        """A threshold, one above it, or one below it, by one number."""
        at = self._draw(0, 3 * len(thresholds) - 1)
        return thresholds[at % len(thresholds)] + (0, 1, -1)[at // len(thresholds)]

    def _ages(self, state: State) -> list[int]:
        """The ages at which a time pass would change its mind."""
        ages = {0}
        for slot in state.queue:
            if slot is not None:
                ages.add(state.now_nanos - state.caches[slot.cache].entries[slot.pos].stamp_nanos)
        return sorted(ages)

    def _advance(self, state: State) -> ops.Advance:
        kind = self._draw(0, 11)
        if kind == 11:
            return ops.Advance(-1)
        if kind >= 6:
            waits = [max(0, state.settings.ttl_nanos - age) for age in self._ages(state)]
            return ops.Advance(max(0, self._near(waits)))
        return ops.Advance(10**12 if kind == 5 else 1 + kind)

    def _expire(self, state: State) -> ops.Expire:
        kind = self._draw(0, 11)
        if kind == 11:
            return ops.Expire(-1)
        if kind >= 9:
            return ops.Expire()
        if kind >= 4:
            return ops.Expire(max(0, self._near(self._ages(state))))
        return ops.Expire(INTEGER_MAX if kind == 3 else kind)

    def _evict(self, state: State) -> ops.Evict:
        kind = self._draw(0, 11)
        if kind == 11:
            return ops.Evict(-self._draw(0, 1))
        if kind >= 4:
            sums = [1]
            for slot in state.queue:
                if slot is not None:
                    sums.append(sums[-1] + state.caches[slot.cache].entries[slot.pos].size_bytes)
            return ops.Evict(max(1, self._near(sums) - 1))
        return ops.Evict(1 + kind)
