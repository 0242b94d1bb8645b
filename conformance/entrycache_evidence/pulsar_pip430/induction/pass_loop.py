"""Run the loop of `run_pass` on z3 terms, observe each turn, and state claims about it.

The queue of the pass is replaced by one that records the variables of the loop whenever the loop asks whether it is
empty. The first turn brings the loop to any number of freed bytes. Then any number of turns may have been made: the
events of earlier turns, and whatever else the loop counts, become any number. So the second turn is any turn, and where
the loop ends after it, any number of turns may have been made. `LATER_SLOTS` stands for any number of slots behind. A
turn that reads one of them would fail, since nothing is known of them. The claims below use the words of the rules.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sized
from functools import cache
from itertools import combinations, pairwise
from typing import Any, ClassVar, Final, NamedTuple

import z3

from entrycache_evidence.induction.symbolic import Term, paths, raw
from entrycache_evidence.induction.turns import (
    EARLIER_TURNS,
    AnyList,
    AnyTuple,
    Unknown,
    any_length,
    any_number,
    counting_replaced,
    forget_counts,
)
from entrycache_evidence.pulsar_pip430.induction import shapes
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Settings, Variants
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.passes import PassEvent, PassKind
from entrycache_reference.pulsar_pip430.state import Cache, Counts, Entry, HeldPosition, Slot, State, Step
from entrycache_reference.vocabulary import CacheName, HoldName, Position

A: Final = CacheName("a")
B: Final = CacheName("b")
FIRST: Final = Slot(A, Position(0, 0))
SECOND: Final = Slot(A, Position(0, 1))
LATER_SLOTS: Final = Slot(A, Position(0, 2))
OTHERS: Final = Slot(B, Position(0, 0))
SLOT_NAMES: Final = {FIRST: "first", SECOND: "second", LATER_SLOTS: "rest", OTHERS: "others"}
TURNS: Final = 2
RANK_OF_REST: Final = z3.Int("rank of the rest")
BOUND: Final = shapes.any_integer("bound")
SLOTS: Final = shapes.any_integer("slots at the beginning")
KNOWN: Final = frozenset({"own", "events", "freed_bytes"})
"""The variables of the loop that the first turn, or `_WatchedQueue`, brings to any turn."""


class LoopState(NamedTuple):
    """The variables of the loop at the point where it decides whether to go on."""

    caches: dict[CacheName, Cache]
    queue: tuple[Slot | None, ...]
    freed: Any
    events: tuple[PassEvent, ...]

    def entry(self, slot: Slot) -> Entry:
        """Return the entry of a live slot."""
        return self.caches[slot.cache].entries[slot.pos]


class Run(NamedTuple):
    """The state before the pass, the observations of its loop, and its step if it ended.

    `problem` says what the loop asked that has no answer at any turn; then nothing can be claimed of it.
    """

    pre: State
    kind: PassKind
    states: tuple[LoopState, ...]
    step: Step | None
    problem: str = ""

    @property
    def turns(self) -> tuple[tuple[LoopState, LoopState], ...]:
        """The observations before and after each turn."""
        return tuple(pairwise(self.states))


class _Enough(Exception):
    """A signal that the requested turns have been made."""


class _Slots(AnyTuple[Slot | None]):
    """The queue at the beginning of a pass: any number of slots, of which the heads are known."""

    length = SLOTS


class _WatchedQueue(deque[Slot | None]):
    """A queue that records the variables of the loop whenever the loop asks whether it is empty.

    When it is asked for the second time, any number of turns may have been made since the first.
    """

    noted: ClassVar[list[LoopState]] = []
    whole: ClassVar[tuple[Slot | None, ...]] = ()

    def __init__(self, slots: tuple[Slot | None, ...]) -> None:
        if isinstance(self.whole, _Slots) and slots is not self.whole:
            raise Unknown("a pass begins with a part of the queue")
        super().__init__(tuple.__iter__(slots))

    def __bool__(self) -> bool:
        frame = sys._getframe(1)
        if len(self.noted) == 1 and isinstance(self.whole, _Slots):
            forget_counts(frame, KNOWN, events=AnyList(frame.f_locals["events"]))
        own, events = frame.f_locals["own"], frame.f_locals["events"]
        known = events.known() if isinstance(events, AnyList) else tuple(events)
        self.noted.append(LoopState(dict(own.caches), tuple(own.queue), frame.f_locals["freed_bytes"], known))
        has_ended = not len(self) or (known and known[-1].halted)
        if len(self.noted) > TURNS and not has_ended:
            raise _Enough
        if has_ended and isinstance(events, AnyList):
            forget_counts(frame, frozenset(frame.f_locals), events=list(known))
        return len(self) > 0


def _length(held: Sized) -> Any:
    if isinstance(held, _WatchedQueue) and LATER_SLOTS in held:
        return any_number("slots behind") + len(held)
    return any_length(held)


@cache
def _watched_model(model: Model) -> Model:
    return shapes.prepare_model(
        model, {"passes.deque": _WatchedQueue, **counting_replaced("passes"), "passes.len": _length}
    )


def run_turns(model: Model, pre: State, kind: PassKind, config: Config) -> Run:
    """Run a pass for as many turns as are observed."""
    _WatchedQueue.noted.clear()
    _WatchedQueue.whole = pre.queue
    step, problem = None, ""
    try:
        step = _watched_model(model)["passes.run_pass"](pre, kind, BOUND, config)
    except _Enough:
        pass
    except Unknown as error:
        problem = str(error)
    return Run(pre, kind, tuple(_WatchedQueue.noted), step, problem)


class Setting(NamedTuple):
    """The two heads, whether they carry counts, the slots behind them, and the kind of pass."""

    kind: PassKind
    heads: tuple[Slot | None, ...]
    is_counted: bool
    rest: tuple[Slot, ...]
    budget: RequeueBudget = RequeueBudget.SHARED

    @property
    def name(self) -> str:
        """The name of the setting."""
        heads = ["dead" if slot is None else "live" for slot in self.heads]
        count = "counted" if self.is_counted else "uncounted"
        behind = "more behind" if self.rest else "nothing behind"
        return f"{self.kind.value} pass, {' then '.join(heads)}, {count}, {behind}, budget {self.budget.value}"

    def state(self) -> State:
        """Build any such state."""
        own = {
            slot.pos: shapes.build_entry(SLOT_NAMES[slot], self.is_counted) for slot in self.heads if slot is not None
        }
        own |= {slot.pos: shapes.build_entry(SLOT_NAMES[slot], True) for slot in self.rest if slot.cache == A}
        other = {slot.pos: shapes.build_entry(SLOT_NAMES[slot], True) for slot in self.rest if slot.cache == B}
        caches = {A: Cache(own, shapes.any_integer("a.bytes")), B: Cache(other, shapes.any_integer("b.bytes"))}
        most: Any = shapes.any_integer("most")
        settings = Settings(
            shapes.any_integer("limit"), 0.9, shapes.any_integer("ttl"), most, shapes.any_boolean("extend")
        )
        held = tuple(HeldPosition(slot, slot in {*self.heads, *self.rest}) for slot in (FIRST, SECOND, LATER_SLOTS))
        state = State(
            shapes.any_integer("now"), settings, caches, _Slots((*self.heads, *self.rest)), shapes.any_integer("bytes")
        )
        return state._replace(
            counts=Counts(evicted_entries=shapes.any_integer("evicted")), holds={HoldName("kept"): held}
        )


def _settings() -> Iterator[Setting]:
    behind = (LATER_SLOTS, OTHERS)
    for kind in PassKind:
        for heads in ((FIRST, SECOND), (FIRST, None), (None, SECOND)):
            yield Setting(kind, heads, True, behind)
        yield Setting(kind, (FIRST, SECOND), False, behind)
        yield Setting(kind, (FIRST, SECOND), True, ())
        yield Setting(kind, (FIRST, SECOND), True, behind, RequeueBudget.SPLIT)
        yield Setting(kind, (), True, ())


SETTINGS: Final = tuple(_settings())


@cache
def paths_of_two_turns(
    model: Model, setting: Setting, config: Config | None = None
) -> tuple[Any, tuple[tuple[Any, Run], ...]]:
    """Return the assumptions about the state, and every path of two turns with its condition."""
    pre = setting.state()
    given = z3.And(shapes.build_constraints(pre), RANK_OF_REST >= 0, EARLIER_TURNS >= 0, raw(SLOTS) >= 0)
    if setting.kind is PassKind.SIZE:
        given = z3.And(given, raw(BOUND) > 0)
    config = config or Config(variants=Variants(requeue_budget=setting.budget))
    return given, tuple(paths(lambda: run_turns(model, pre, setting.kind, config), given))


# --- Claims

Claim = Callable[[Run], Any]
"""A claim about a run in the words of the rules, checked on each path."""


def entries(loop: LoopState) -> dict[Slot, Entry]:
    """Return all entries by their slots."""
    return {Slot(name, pos): entry for name, cache in loop.caches.items() for pos, entry in cache.entries.items()}


def oldest_leaves(run: Run) -> Any:
    """Claim that what a turn removes has no later stamp than anything that stays, in any cache."""
    said = []
    for before, after in run.turns:
        gone, kept = removed_entries(before, after), entries(after).values()
        said += [raw(one.stamp_nanos) <= raw(other.stamp_nanos) for one in gone for other in kept]
    return z3.And(said)


def removed_entries(before: LoopState, after: LoopState) -> list[Entry]:
    """Return the entries that a turn removed."""
    kept = entries(after)
    return [entry for slot, entry in entries(before).items() if slot not in kept]


def claim_sums(run: Run) -> Any:
    """Claim that the bytes of caches are the sums of sizes, and those of the manager less the freed their total."""
    said = []
    for loop in run.states:
        for one in loop.caches.values():
            said.append(raw(one.size_bytes) == _sum(one.entries.values()))
        said.append(raw(run.pre.size_bytes) - raw(loop.freed) == _sum(entries(loop).values()))
    if run.step is not None:
        said.append(raw(run.step.state.size_bytes) == raw(run.pre.size_bytes) - raw(run.states[-1].freed))
        said.append(z3.BoolVal(run.step.state.caches == run.states[-1].caches))
    return z3.And(said)


def _sum(held: Any) -> Any:
    return sum((raw(entry.size_bytes) for entry in held), z3.IntVal(0))


def one_slot_each(run: Run) -> Any:
    """Claim that each entry has one live slot, and each live slot an entry."""
    loops = [(loop.queue, entries(loop)) for loop in run.states]
    if run.step is not None:
        loops.append((run.step.state.queue, entries(run.states[-1])))
    return all(_live_slots(queue) == sorted(SLOT_NAMES[slot] for slot in held) for queue, held in loops)


def _live_slots(queue: tuple[Slot | None, ...]) -> list[str]:
    return sorted(SLOT_NAMES[slot] for slot in queue if slot is not None)


def by_age(run: Run) -> Any:
    """Claim that stamps ascend from head to tail, and that none is later than the present."""
    now = raw(run.pre.now_nanos)
    said = []
    for loop in run.states:
        stamps = [raw(loop.entry(slot).stamp_nanos) for slot in loop.queue if slot is not None]
        said += [one <= two for one, two in combinations(stamps, 2)]
        said += [stamp <= now for stamp in stamps]
    return z3.And(said)


def from_head_to_tail(run: Run) -> Any:
    """Claim that a turn takes only the head and puts it back at the tail, and that the end leaves the queue."""
    for before, after in run.turns:
        head, rest = before.queue[0], before.queue[1:]
        wanted = before.queue if after.events[-1].halted else rest
        if head in entries(after) and not after.events[-1].halted:
            wanted = (*rest, head)
        if after.queue != wanted:
            return False
    return run.step is None or run.step.state.queue == run.states[-1].queue


def the_rest_stays(run: Run) -> Any:
    """Claim that a turn changes only the entry at the head, and that a halting turn and the end change nothing."""
    for before, after in run.turns:
        head = None if after.events[-1].halted else before.queue[0]
        was, now = entries(before), entries(after)
        if any(now.get(slot) is not entry for slot, entry in was.items() if slot != head):
            return False
    if run.step is None:
        return True
    left = {
        Slot(name, pos): entry for name, cache in run.step.state.caches.items() for pos, entry in cache.entries.items()
    }
    return left.keys() == entries(run.states[-1]).keys() and all(
        entry is left[slot] for slot, entry in entries(run.states[-1]).items()
    )


def answers_what_left(run: Run) -> Any:
    """Claim that each turn adds the bytes that it removed and one event, and that the answer is their total."""
    said = []
    for before, after in run.turns:
        gone = removed_entries(before, after)
        said.append(raw(after.freed) == raw(before.freed) + _sum(gone))
        said.append(z3.BoolVal(after.events[:-1] == before.events and after.events[-1].removed is bool(gone)))
    if run.step is not None:
        answer, count = run.step.outcome, sum(event.removed for event in run.states[-1].events)
        assert isinstance(answer, Removed)
        evicted = raw(run.step.state.counts.evicted_entries) == raw(run.pre.counts.evicted_entries) + count
        said += [z3.BoolVal(answer.entries == count), raw(answer.bytes) == raw(run.states[-1].freed), evicted]
    return z3.And(said)


def one_row_each(run: Run) -> Any:
    """Claim that the rows name each removed entry once, and no other."""
    if run.step is None:
        return True
    rows = [(row.cache, row.ledger_id, row.entry_id) for row in run.step.rows if row.op == "EVICT"]
    gone = [event.slot for event in run.states[-1].events if event.removed and event.slot is not None]
    return rows == [(slot.cache, *slot.pos) for slot in gone]


def claims_follow(run: Run) -> Any:
    """Claim that a held entry is a claim on it as long as it is cached."""
    if run.step is None:
        return True
    kept = entries(run.states[-1])
    held = [
        (one, before)
        for name in run.pre.holds
        for one, before in zip(run.step.state.holds[name], run.pre.holds[name], strict=True)
    ]
    return all(
        one.slot == before.slot and one.is_cached == (before.is_cached and one.slot in kept) for one, before in held
    )


def ends_rightly(run: Run) -> Any:
    """Claim that the loop ends only with an empty queue or at a head that halts, after any number of turns."""
    if run.problem or run.step is None:
        return not run.problem
    last = run.states[-1]
    return not last.queue or (bool(last.events) and last.events[-1].halted)


def no_dead_head(run: Run) -> Any:
    """Claim that a pass ends with an empty queue or a live head."""
    return run.step is None or run.step.state.queue[:1] != (None,)


def enough_or_empty(run: Run) -> Any:
    """Claim that a size pass ends with enough bytes freed or an empty queue."""
    if run.step is None or run.kind is PassKind.TIME or not run.step.state.queue:
        return True
    return raw(run.states[-1].freed) >= raw(BOUND)


def overshoots_less_than_the_last(run: Run) -> Any:
    """Claim that a size pass removes only while it needs more bytes: it frees less than need and last size."""
    if run.kind is PassKind.TIME:
        return True
    said = []
    for before, after in run.turns:
        for entry in removed_entries(before, after):
            said += [raw(before.freed) < raw(BOUND), raw(after.freed) < raw(BOUND) + raw(entry.size_bytes)]
    return z3.And(said)


def takes_only_expired(run: Run) -> Any:
    """Claim that a time pass takes only entries whose stamp is below the cutoff."""
    if run.kind is PassKind.SIZE:
        return True
    taken = [before for before, after in run.turns if before.queue[0] is not None and not after.events[-1].halted]
    return z3.And([raw(before.entry(before.queue[0]).stamp_nanos) < raw(BOUND) for before in taken if before.queue[0]])


def the_rest_is_young(run: Run) -> Any:
    """Claim that no entry has a stamp below the cutoff after a time pass."""
    if run.step is None or run.kind is PassKind.SIZE:
        return True
    return z3.And([raw(entry.stamp_nanos) >= raw(BOUND) for entry in entries(run.states[-1]).values()])


def rank(run: Run, loop: LoopState) -> Any:
    """Return the rank: 1 for each slot, and the mark and the remaining budget of each entry; the rest has any rank."""
    return sum((_rank(run.pre, loop, slot) for slot in loop.queue if slot not in (LATER_SLOTS, OTHERS)), RANK_OF_REST)


def _rank(pre: State, loop: LoopState, slot: Slot | None) -> Any:
    if slot is None:
        return z3.IntVal(1)
    entry, most = loop.entry(slot), raw(pre.settings.max_requeues)
    accessed = raw(entry.accessed)
    marked = z3.If(accessed if isinstance(entry.accessed, Term) else z3.BoolVal(accessed), 1, 0)
    return 1 + marked + z3.If(most > raw(entry.requeues), most - raw(entry.requeues), 0)


def claim_termination(run: Run) -> Any:
    """Claim that each turn lowers the rank, which is never negative, and that a halting turn is the last."""
    said = []
    for before, after in run.turns:
        if not after.events[-1].halted:
            said += [rank(run, after) < rank(run, before), rank(run, after) >= 0]
    halted = [after.events[-1].halted for _, after in run.turns]
    return z3.And(*said, z3.BoolVal(not any(halted[:-1]) and (run.step is not None or not any(halted))))
