"""The loop of `run_pass`, run on z3 terms and looked at each time it decides whether to go on.

An arbitrary turn is the second one: the first has brought the loop to any number of bytes freed and to any last event.
`REST` stands for any number of slots behind: a turn that looked into one would fail, as nothing is known of them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

import z3

from entrycache_evidence.induction.symbolic import paths, raw
from entrycache_evidence.pulsar_pip430.induction.shapes import asking, entry_of, flag, number, sound
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Settings, Variants
from entrycache_reference.pulsar_pip430.pass_events import Decided, PassKind
from entrycache_reference.pulsar_pip430.state import Cache, Counts, Entry, Held, Slot, State, Step
from entrycache_reference.vocabulary import CacheName, HoldName, Position

A: Final = CacheName("a")
B: Final = CacheName("b")
FIRST: Final = Slot(A, Position(0, 0))
SECOND: Final = Slot(A, Position(0, 1))
REST: Final = Slot(A, Position(0, 2))
OTHERS: Final = Slot(B, Position(0, 0))
NAMED: Final = {FIRST: "first", SECOND: "second", REST: "rest", OTHERS: "others"}
TURNS: Final = 2
RANK_OF_REST: Final = z3.Int("rank of the rest")
BOUND: Final = number("bound")


class Seen(NamedTuple):
    """The loop where it decides whether to go on: what its names stand for."""

    caches: dict[CacheName, Cache]
    queue: tuple[Slot | None, ...]
    freed: Any
    events: tuple[Decided, ...]

    def entry(self, slot: Slot) -> Entry:
        """The entry of a live slot."""
        return self.caches[slot.cache].entries[slot.pos]


class Run(NamedTuple):
    """The state that the pass met, the loop whenever it was looked at, and the step, where there was an end."""

    pre: State
    kind: PassKind
    seen: tuple[Seen, ...]
    step: Step | None

    @property
    def turns(self) -> tuple[tuple[Seen, Seen], ...]:
        """The loop before and after each turn."""
        return tuple(pairwise(self.seen))


class _Enough(Exception):
    """The turns that were asked for have been made."""


class _Watched(deque[Slot | None]):
    """The queue of a pass. Asked whether it is empty, at the head of the loop, it notes what the loop holds."""

    noted: ClassVar[list[Seen]] = []

    def __bool__(self) -> bool:
        names = sys._getframe(1).f_locals
        own, events = names["own"], tuple(names["events"])
        self.noted.append(Seen(dict(own.caches), tuple(own.queue), names["freed_bytes"], events))
        if len(self.noted) > TURNS and len(self) and not events[-1].halted:
            raise _Enough
        return len(self) > 0


@cache
def _watching(model: Model) -> Model:
    return asking(model, {"passes.deque": _Watched})


def played(model: Model, pre: State, kind: PassKind, config: Config) -> Run:
    """The run of a pass, as far as it is looked at."""
    _Watched.noted.clear()
    try:
        step = _watching(model)["passes.run_pass"](pre, kind, BOUND, config)
    except _Enough:
        step = None
    return Run(pre, kind, tuple(_Watched.noted), step)


class Setting(NamedTuple):
    """The two heads, whether they carry counts, what stands behind them, and what pass runs."""

    kind: PassKind
    heads: tuple[Slot | None, ...]
    is_counted: bool
    rest: tuple[Slot, ...]
    budget: RequeueBudget = RequeueBudget.SHARED

    @property
    def name(self) -> str:
        """What it is called."""
        heads = ["dead" if slot is None else "live" for slot in self.heads]
        count = "counted" if self.is_counted else "uncounted"
        behind = "more behind" if self.rest else "nothing behind"
        return f"{self.kind.value} pass, {' then '.join(heads)}, {count}, {behind}, budget {self.budget.value}"

    def state(self) -> State:
        """Any such state."""
        own = {slot.pos: entry_of(NAMED[slot], self.is_counted) for slot in self.heads if slot is not None}
        own |= {slot.pos: entry_of(NAMED[slot], True) for slot in self.rest if slot.cache == A}
        other = {slot.pos: entry_of(NAMED[slot], True) for slot in self.rest if slot.cache == B}
        caches = {A: Cache(own, number("a.bytes")), B: Cache(other, number("b.bytes"))}
        most: Any = number("most")
        settings = Settings(number("limit"), 0.9, number("ttl"), most, flag("extend"))
        held = tuple(Held(slot, slot in {*self.heads, *self.rest}) for slot in (FIRST, SECOND, REST))
        state = State(number("now"), settings, caches, (*self.heads, *self.rest), number("bytes"))
        return state._replace(counts=Counts(evicted_entries=number("evicted")), holds={HoldName("kept"): held})


def _settings() -> Iterator[Setting]:
    behind = (REST, OTHERS)
    for kind in PassKind:
        for heads in ((FIRST, SECOND), (FIRST, None), (None, SECOND)):
            yield Setting(kind, heads, True, behind)
        yield Setting(kind, (FIRST, SECOND), False, behind)
        yield Setting(kind, (FIRST, SECOND), True, ())
        yield Setting(kind, (FIRST, SECOND), True, behind, RequeueBudget.SPLIT)
        yield Setting(kind, (), True, ())


SETTINGS: Final = tuple(_settings())


@cache
def runs(model: Model, setting: Setting) -> tuple[Any, tuple[tuple[Any, Run], ...]]:
    """What is assumed of the state, and every way that two turns go, with its condition."""
    pre = setting.state()
    given = z3.And(sound(pre), RANK_OF_REST >= 0)
    if setting.kind is PassKind.SIZE:
        given = z3.And(given, raw(BOUND) > 0)
    config = Config(variants=Variants(requeue_budget=setting.budget))
    return given, tuple(paths(lambda: played(model, pre, setting.kind, config), given))
