"""Lemmas about reads, their permits, and what they ask of storage.

The loops of `lookups`, `fill` and `deliver`, on any number of positions, are folds. An answer reaches everyone who
waits. The laws of permits hold on any numbers, and no wake-up is lost. The loops that serve those who wait, and that
fail those who wait too long, end only at a head that has to go on waiting.

A stand-in replaces the operation of a turn; it answers anything and records its turns. So each turn stands for any
turn, with any position and any state that the turn before left; after the first one, the loop may have made any number
of them. `steps` proves what the operation itself does.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction import lemma, symbolic
from entrycache_evidence.induction.turns import Unknown, any_tuple, counting_replaced, forget_counts
from entrycache_evidence.pulsar_pip430.induction import decision, shapes
from entrycache_faults.model import Model
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_pip430 import change, ops, outcomes, pending_reads, storage_reads
from entrycache_reference.pulsar_pip430.config import Config, LimiterTimeout, Variants
from entrycache_reference.pulsar_pip430.laws.law import Law, always
from entrycache_reference.pulsar_pip430.laws.storage_reads import PERMIT_LAWS
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    HeldPosition,
    Limiter,
    OpenRange,
    OpenRead,
    Part,
    PendingReads,
    RangeRequest,
    Slot,
    State,
    Step,
    Wait,
    Waiter,
    WaitingRequest,
    initial,
)

WANTED: Final = tuple(vocabulary.Position(1, entry) for entry in (3, 4, 5))
START: Final = shapes.SHAPES[1].state()


class Turn(NamedTuple):
    """The operation of one turn, the state before it, and its answer."""

    state: State
    event: ops.Op
    step: Step


class _AnyOperation:
    """A stand-in for the operation of a turn: it answers any state and any row, with parts or without."""

    def __init__(self, has_parts: bool) -> None:
        self.turns: list[Turn] = []
        self.has_parts = has_parts

    def __call__(self, state: State, event: Any, config: Config, cause: str = "") -> Step:
        at = len(self.turns)
        row = change.absent_row(rules.Rule.READ_7, f"turn {at}", "any", START, shapes.A, event.pos)
        after = START._replace(now_nanos=shapes.any_integer(f"present of turn {at}"))
        part = Part(state, event, Step(after, outcomes.Inserted(True), (row,)))
        done = Step(after, outcomes.Inserted(True), (row,), (part, part) if self.has_parts else ())
        self.turns.append(Turn(state, event, done))
        return done


class Loop(NamedTuple):
    """The function of a loop, the operation of its turn, and the event for a position."""

    function: str
    place: str
    run: Callable[[Model, Config], Step | tuple[Part, ...]]
    event: Callable[[vocabulary.Position], ops.Op]


_READ: Final = ops.Read(shapes.A, WANTED[0], WANTED[-1], shapes.any_integer("reads"))
_ANY_POSITIONS: Final = any_tuple(WANTED, "name event cached after parts rows pos entry entry_of done size_bytes")
_HELD_POSITIONS: Final = tuple(HeldPosition(Slot(shapes.A, pos), True) for pos in WANTED)
_LOST_CLAIM: Final = HeldPosition(Slot(shapes.A, vocabulary.Position(9, 9)), False)

LOOKUPS: Final = Loop(
    "storage_reads.look_up_each",
    "storage_reads.get",
    lambda model, config: model["storage_reads.look_up_each"](START, shapes.A, _ANY_POSITIONS, config),
    lambda pos: ops.Get(shapes.A, pos),
)
FILL: Final = Loop(
    "storage_reads.fill",
    "storage_reads.offer",
    lambda model, config: model["storage_reads.fill"](START, _READ, _ANY_POSITIONS, config),
    lambda pos: ops.Insert(shapes.A, pos, shapes.CONFIG.storage_entry_size, _READ.expected_reads, pos.entry),
)
DELIVER: Final = Loop(
    "storage_reads.deliver",
    "storage_reads.mark_read",
    lambda model, config: model["storage_reads.deliver"](
        START,
        any_tuple((_HELD_POSITIONS[0], _LOST_CLAIM, *_HELD_POSITIONS[1:]), "positions after parts held event done"),
        config,
    ),
    lambda pos: ops.MarkRead(shapes.A, pos),
)


def _is_fold(loop: Loop, turns: list[Turn], done: Step | tuple[Part, ...]) -> bool:
    """Return whether each turn asks for its own position in the state of the turn before, and adds its parts only."""
    if [one.event for one in turns] != [loop.event(pos) for pos in WANTED]:
        return False
    before = [START, *(one.step.state for one in turns)]
    if any(one.state is not state for one, state in zip(turns, before, strict=False)):
        return False
    parts = done.parts if isinstance(done, Step) else done
    turn_parts = [one.step.parts or (Part(*one),) for one in turns]
    rows = [row.op for one in turns for row in one.step.rows]
    if isinstance(done, Step) and (done.state is not before[-1] or [row.op for row in done.rows] != rows):
        return False
    flat = [part for some in turn_parts for part in some]
    return len(parts) == len(flat) and all(
        one.pre is two.pre and one.event == two.event and one.step.state is two.step.state
        for one, two in zip(parts, flat, strict=True)
    )


def _is_skipped(done: Step) -> bool:
    rows = [(row.op, row.entry_id) for row in done.rows]
    return done.outcome == outcomes.Served((), WANTED) and rows == [("SKIP", pos.entry) for pos in WANTED]


def _fold_obligations(loop: Loop) -> Callable[[Any, Model], Iterator[lemma.Obligation]]:
    def obligations(table: Any, model: Model) -> Iterator[lemma.Obligation]:
        for config, has_parts in (
            (shapes.CONFIG, False),
            (shapes.CONFIG, True),
            (shapes.RELEASED, False),
            (shapes.OFF, True),
        ):

            def run(config: Config = config, has_parts: bool = has_parts) -> tuple[bool, bool]:
                turn = _AnyOperation(has_parts and loop is FILL)
                replaced = {**counting_replaced("storage_reads"), loop.place: turn}
                try:
                    done = loop.run(shapes.prepare_model(model, replaced), config)
                except Unknown:
                    return True, False
                if turn.turns:
                    return True, _is_fold(loop, turn.turns, done)
                # Nothing is to be cached: no operation is called, nothing changes, and a row says so of each.
                return False, isinstance(done, Step) and done.state is START and _is_skipped(done)

            ways = symbolic.paths(run, z3.BoolVal(True))
            turned = z3.BoolVal(any(is_about for _, (is_about, _) in ways))
            said = [z3.Implies(condition, z3.BoolVal(holds)) for condition, (_, holds) in ways]
            yield lemma.Obligation(f"{loop.place}, {config.variants}, parts {has_parts}", turned, z3.And(said))

    return obligations


def _look_up_first_state(
    state: State, name: vocabulary.CacheName, cached: tuple[vocabulary.Position, ...], config: Config
) -> tuple[Part, ...]:
    return tuple(part for pos in cached for part in storage_reads.look_up_each(state, name, (pos,), config))


def _fill_in_reverse(state: State, event: ops.Read, fills: tuple[vocabulary.Position, ...], config: Config) -> Step:
    return storage_reads.fill(state, event, fills[::-1], config)


def _deliver_all_but_the_last(state: State, kept: tuple[HeldPosition, ...], config: Config) -> Step:
    return storage_reads.deliver(state, kept[:-1], config)


def _fault(note: str, place: str, replacement: object) -> lemma.LemmaFault:
    return lemma.LemmaFault(note, Model(decision.PULSAR.package, {place: replacement}))


EACH: Final = "any number of positions; each turn asks it of its own position, in what the turn before has left"


# Permits: up to two requests have some, and up to two wait. What is free and what is out make the limit, and the head
# of the queue does not fit. Each lemma says that a step keeps this, so it holds after any number of steps.

GRANTED: Final = (vocabulary.RequestName("a"), vocabulary.RequestName("b"))
QUEUED: Final = (vocabulary.RequestName("c"), vocabulary.RequestName("d"))
NEW: Final = vocabulary.RequestName("e")


LIMITED: Final = Config(
    max_reads_in_flight_bytes=shapes.any_integer("limit"),
    acquire_timeout_millis=shapes.any_integer("timeout"),
    acquire_queue=shapes.any_integer("queue"),
)


def limited_state(granted: int, number: int) -> State:
    """Build a state in which so many requests have permits, and so many wait."""
    waiting = tuple(
        WaitingRequest(name, shapes.any_integer(f"{name}.permits"), shapes.any_integer(f"{name}.since"))
        for name in QUEUED[:number]
    )
    out: dict[vocabulary.RequestName | RangeRequest, Any] = {
        name: shapes.any_integer(f"{name}.permits") for name in GRANTED[:granted]
    }
    return initial(LIMITED)._replace(
        now_nanos=shapes.any_integer("now"), limiter=Limiter(shapes.any_integer("free"), out, waiting)
    )


def limited_constraints(state: State, op: ops.Op) -> Any:
    """Build the constraints that hold between steps, and the signs of numbers."""
    limiter, limit = state.limiter, symbolic.raw(LIMITED.max_reads_in_flight_bytes)
    permits = [*limiter.out.values(), *(request.permits for request in limiter.waiting)]
    moments = [0, *(symbolic.raw(request.since_nanos) for request in limiter.waiting), symbolic.raw(state.now_nanos)]
    sums = (
        symbolic.raw(limiter.free) + z3.Sum([z3.IntVal(0), *(symbolic.raw(one) for one in limiter.out.values())])
        == limit
    )
    signs = [
        limit > 0,
        symbolic.raw(limiter.free) >= 0,
        symbolic.raw(LIMITED.acquire_timeout_millis) >= 0,
        symbolic.raw(LIMITED.acquire_queue) >= 1,
    ]
    idle = [
        z3.And(symbolic.raw(request.permits) > symbolic.raw(limiter.free), symbolic.raw(limiter.free) != limit)
        for request in limiter.waiting[:1]
    ]
    ordered = [one <= other for one, other in pairwise(moments)]
    positive = [symbolic.raw(op.permits) >= 1] if isinstance(op, ops.Acquire) else []
    return z3.And(sums, *signs, *(symbolic.raw(one) >= 1 for one in permits), *idle, *ordered, *positive)


OPERATIONS: Final[tuple[ops.Op, ...]] = (
    ops.Acquire(NEW, shapes.any_integer("permits")),
    *(ops.GiveBack(name) for name in GRANTED),
    ops.Advance(shapes.any_integer("nanos")),
    ops.LimiterState(),
)


def _permit_cases() -> Iterator[lemma.Case]:
    """Yield each operation on each shape; who waits, waits for somebody who has permits."""
    for granted, number, op in product(range(len(GRANTED) + 1), range(len(QUEUED) + 1), OPERATIONS):
        if granted or not number:
            state = limited_state(granted, number)
            name = f"{op.name}, {granted} with permits, {number} waiting"
            yield lemma.Case(name, state, op, LIMITED, limited_constraints(state, op))


def _prepare_model(model: Model) -> Model:
    """Return the model; its functions take terms as they are."""
    return lemma.build_term_model(model, {})


PERMIT_CASES: Final = lemma.LawCases(
    tuple(_permit_cases()),
    _prepare_model,
    "up to two requests with permits, up to two that wait; any limit, permits, moments, timeout and queue",
)


def leaves_nobody_who_fits(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check that the head of the queue does not fit: no wake-up is lost."""
    limiter = step.state.limiter
    if not limiter.waiting:
        return True
    permits, limit = limiter.waiting[0].permits, config.max_reads_in_flight_bytes
    return bool(permits > limiter.free) and not bool(limiter.free == limit)


NO_LOST_WAKE_UP: Final = Law(
    rules.Rule.LIMIT_5, (ops.Acquire, ops.GiveBack, ops.Advance), always, leaves_nobody_who_fits
)


# The loops over the requests that wait: each ends only where nobody waits, or where the head has to go on waiting.


class _Waiting(tuple[WaitingRequest, ...]):
    """The requests that wait, of which two are known; before the second one there may have been any number of turns."""

    def __init__(self, requests: Iterable[WaitingRequest] = ()) -> None:
        """Take the requests. A class with an `__init__` of its own is data to a `Model`, which walks other tuples."""

    def __getitem__(self, at: Any) -> Any:
        if at == slice(1, None):
            forget_counts(sys._getframe(1), _OF_WAITING)
            return _Waiting(tuple(self)[1:])
        if at != 0:
            raise Unknown("a loop looks at another request than the head")
        return super().__getitem__(0)


_OF_WAITING: Final = frozenset({"state", "config", "grants", "limiter", "head", "permits", "waiting", "after"})
"""The variables of both loops; none of them counts turns."""


class WaitingLoop(NamedTuple):
    """The function of a loop over those who wait, its claim, a run of it, and the question whether its end is right."""

    function: str
    rule: rules.Rule
    claim: str
    run: Callable[[Model, State], storage_reads.Service]
    is_over: Callable[[State, Limiter], bool]


def _is_served(state: State, limiter: Limiter) -> bool:
    after = state._replace(limiter=limiter)
    return leaves_nobody_who_fits(LIMITED, after, ops.LimiterState(), Step(after, outcomes.Decided(), ()))


def _is_timed_out(state: State, limiter: Limiter) -> bool:
    waiting, now = limiter.waiting, state.now_nanos
    if not waiting:
        return True
    timeout, millis = LIMITED.acquire_timeout_millis, now // 10**6 - waiting[0].since_nanos // 10**6
    return not (bool(timeout > 0) and bool(timeout <= millis))


_LEAVING: Final = replace(LIMITED, variants=Variants(limiter_timeout=LimiterTimeout.LEAVES))

WAITING_LOOPS: Final = (
    WaitingLoop(
        "storage_reads.serve",
        rules.Rule.LIMIT_5,
        "serving those who wait ends with nobody who waits, or with a head that does not fit",
        lambda model, state: model["storage_reads.serve"](state.limiter, LIMITED),
        _is_served,
    ),
    WaitingLoop(
        "storage_reads.time_out",
        rules.Rule.LIMIT_6,
        "failing those who have waited too long ends with nobody who waits, or with a head that has not",
        lambda model, state: model["storage_reads.time_out"](state.limiter, state.now_nanos, _LEAVING),
        _is_timed_out,
    ),
)


def _waiting_obligations(loop: WaitingLoop) -> Callable[[Any, Model], Iterator[lemma.Obligation]]:
    def obligations(table: Any, model: Model) -> Iterator[lemma.Obligation]:
        state = limited_state(0, len(QUEUED))
        term_model = lemma.build_term_model(model, counting_replaced("storage_reads"))

        def run() -> bool:
            requests = _Waiting(state.limiter.waiting)
            try:
                done = loop.run(term_model, state._replace(limiter=state.limiter._replace(waiting=requests)))
            except Unknown:
                return False
            decided = [name for name, _ in done.grants]
            return decided == list(QUEUED[: len(decided)]) and loop.is_over(state, done.limiter)

        limiter = state.limiter
        given = z3.And(
            *(symbolic.raw(request.permits) >= 1 for request in limiter.waiting),
            symbolic.raw(limiter.free) >= 0,
            symbolic.raw(LIMITED.max_reads_in_flight_bytes) > 0,
        )
        ways = symbolic.paths(run, given)
        said = [z3.Implies(condition, z3.BoolVal(holds)) for condition, holds in ways]
        yield lemma.Obligation(loop.function, given, z3.And(said))

    return obligations


def _serve_one(limiter: Limiter, config: Config) -> storage_reads.Service:
    """Serve the head alone."""
    done = storage_reads.serve(limiter._replace(waiting=tuple(limiter.waiting)[:1]), config)
    left = (*done.limiter.waiting, *tuple(limiter.waiting)[1:])
    return done._replace(limiter=done.limiter._replace(waiting=left))


def _time_nobody_out(limiter: Limiter, now_nanos: int, config: Config) -> storage_reads.Service:
    return storage_reads.Service(limiter)


# The table of pending reads: a range is cut at up to three asks, of which one cannot be joined.

MOST_ASKS: Final = 3


def table_of(joinable: int, has_sealed: bool) -> PendingReads:
    """Build a table with so many joinable asks, in no order, and perhaps one that cannot be joined."""
    ends = [(shapes.any_integer(f"first {at}"), shapes.any_integer(f"last {at}")) for at in range(MOST_ASKS + 1)]
    asks = {at: Ask(1, first, last, ()) for at, (first, last) in enumerate(ends[:joinable])}
    sealed = {MOST_ASKS: Ask(1, *ends[MOST_ASKS], (), is_joinable=False)} if has_sealed else {}
    return PendingReads({**asks, **sealed}, MOST_ASKS + 1)


def _bounds(one: Ask | pending_reads.Piece) -> tuple[Any, Any]:
    return symbolic.raw(one.first), symbolic.raw(one.last)


def _are_apart(asks: list[Ask]) -> list[Any]:
    """Build the constraints that asks are ranges and that no two of them overlap."""
    ranges = [_bounds(ask) for ask in asks]
    pairs = [z3.Or(one[1] < two[0], two[1] < one[0]) for one, two in combinations(ranges, 2)]
    return [*(first <= last for first, last in ranges), *pairs]


def _is_cut(pieces: tuple[pending_reads.Piece, ...], asks: dict[int, Ask], first: Any, last: Any) -> Any:
    """Build the claim that the pieces make up the range, within the asks that they join and outside of all others."""
    ends = [_bounds(piece) for piece in pieces]
    row = [one[1] + 1 == two[0] for one, two in pairwise(ends)]
    claims = [ends[0][0] == first, ends[-1][1] == last, *row, *(one <= two for one, two in ends)]
    for piece, (start, end) in zip(pieces, ends, strict=True):
        if piece.ask is None:
            claims += [
                z3.Or(end < _bounds(ask)[0], start > _bounds(ask)[1]) for ask in asks.values() if ask.is_joinable
            ]
        else:
            claims += [start >= _bounds(asks[piece.ask])[0], end <= _bounds(asks[piece.ask])[1]]
            claims += [z3.BoolVal(asks[piece.ask].is_joinable)]
    return z3.And(*claims)


def _cut_obligations(table: Any, model: Model) -> Iterator[lemma.Obligation]:
    first, last = shapes.any_integer("first"), shapes.any_integer("last")
    for joinable, has_sealed in product(range(MOST_ASKS + 1), (False, True)):
        pending = table_of(joinable, has_sealed)
        asks = dict(pending.asks)
        given = z3.And(
            symbolic.raw(first) <= symbolic.raw(last), *_are_apart([ask for ask in asks.values() if ask.is_joinable])
        )
        cut = lemma.build_term_model(model, {})["pending_reads.pieces_of"]
        places = vocabulary.Position(1, first), vocabulary.Position(1, last)

        def run(cut: Any = cut, pending: PendingReads = pending, places: Any = places) -> Any:
            return cut(pending, *places)

        ways = symbolic.paths(run, given)
        said = [
            z3.Implies(condition, _is_cut(pieces, asks, symbolic.raw(first), symbolic.raw(last)))
            for condition, pieces in ways
        ]
        yield lemma.Obligation(f"{joinable} asks, another one {has_sealed}", given, z3.And(said))


def _pieces_at_the_first_ask(
    pending: PendingReads, first: vocabulary.Position, last: vocabulary.Position
) -> tuple[pending_reads.Piece, ...]:
    pieces = pending_reads.pieces_of(pending, first, last)
    at = next((number for number, piece in enumerate(pieces) if piece.ask is not None), 0)
    if at + 1 >= len(pieces):
        return pieces
    return (*pieces[: at + 1], pending_reads.Piece(None, pieces[at + 1].first, last.entry))


# An answer: up to three reads wait for an ask, each for a part of it, and perhaps for a part of another one.

READERS: Final = tuple(vocabulary.ReadName(name) for name in "xyz")
OTHER_PART: Final = Wait(1, 7, 7)
"""A part that another ask is to bring."""


def _waiting_reads(number: int, also_waiting: tuple[bool, ...]) -> tuple[PendingReads, list[tuple[Any, Any]]]:
    """Build a table in which reads wait for parts of ask 0 with any bounds, and some of them for ask 1 too."""
    parts = [(shapes.any_integer(f"first {name}"), shapes.any_integer(f"last {name}")) for name in READERS[:number]]
    waiting = tuple(Waiter(name, first) for name, (first, _) in zip(READERS, parts, strict=False))
    waits = [(Wait(0, *part), *((OTHER_PART,) if also else ())) for part, also in zip(parts, also_waiting, strict=True)]
    whole = OpenRange(vocabulary.Position(1, 4), vocabulary.Position(1, 7))
    reads = {name: OpenRead(whole._replace(waits=own)) for name, own in zip(READERS, waits, strict=False)}
    return PendingReads({0: Ask(1, 4, 6, waiting), 1: Ask(1, 7, 7, ())}, 2, reads), parts


def _is_given(after: Any, name: vocabulary.ReadName, also: bool, part: tuple[Any, Any], given: range) -> Any:
    """Build the claim that a read has got each given entry of its part and no other, and has ended if it may."""
    pending, done = after
    ends = [end for end in done if end.read == name]
    if also == bool(ends) or also != (name in pending.reads) or len(ends) > 1:
        return z3.BoolVal(False)
    got = pending.reads[name].range.given if also else ends[0].entries
    if got is None or (also and pending.reads[name].range.waits != (OTHER_PART,)):
        return z3.BoolVal(False)
    entries = [pos.entry for pos in got]
    first, last = (symbolic.raw(bound) for bound in part)
    return z3.And([z3.BoolVal(entry in entries) == z3.And(first <= entry, entry <= last) for entry in given])


def _delivery_obligations(table: Any, model: Model) -> Iterator[lemma.Obligation]:
    answers: tuple[tuple[Any, range], ...] = ((ops.StorageAnswerKind.ALL, range(4, 7)), (2, range(4, 6)))
    for (answer, given), number in product(answers, range(1, len(READERS) + 1)):
        for also_waiting in product((False, True), repeat=number):
            pending, parts = _waiting_reads(number, also_waiting)
            bounds = [(symbolic.raw(first), symbolic.raw(last)) for first, last in parts]
            known = z3.And([z3.And(first >= 4, first <= last, last <= 6) for first, last in bounds])
            give = lemma.build_term_model(model, {})["pending_reads.give_to_all"]

            def run(give: Any = give, pending: PendingReads = pending, answer: Any = answer) -> Any:
                return give(pending, 0, answer)

            claims = [
                z3.Implies(
                    condition,
                    z3.And(
                        [
                            z3.BoolVal(0 not in after[0].asks),
                            *(
                                _is_given(after, name, also, part, given)
                                for name, also, part in zip(READERS, also_waiting, parts, strict=False)
                            ),
                        ]
                    ),
                )
                for condition, after in symbolic.paths(run, known)
            ]
            yield lemma.Obligation(f"answer {answer}, waiting {also_waiting}", known, z3.And(claims))


def _give_all_but_the_last(pending: PendingReads, number: int, answer: ops.StorageAnswerKind | int) -> Any:
    waiting = pending.asks[number].waiting
    last = waiting[-1].read
    after, done = pending_reads.give_to_all(pending, number, answer)
    if len(waiting) < 2:
        return after, done
    reads = {**after.reads, last: pending.reads[last]}
    return after._replace(reads=reads), tuple(end for end in done if end.read != last)


LEMMAS: Final = (
    lemma.Lemma(
        rules.Rule.INFLIGHT_3,
        "an answer is delivered to everyone who waits, each his part and no more, and who waits for nothing else ends: "
        "up to three reads, parts with any bounds in an ask of three entries, whole and short answers",
        _delivery_obligations,
        _fault("The read that joined last is forgotten.", "pending_reads.give_to_all", _give_all_but_the_last),
    ),
    lemma.Lemma(
        rules.Rule.INFLIGHT_2,
        "no entry is asked for while a joinable ask covers it, and each entry is waited for once: any range, and up to "
        "three joinable asks anywhere beside one that cannot be joined",
        _cut_obligations,
        _fault(
            "A range is cut at the first ask only; all behind that is asked for.",
            "pending_reads.pieces_of",
            _pieces_at_the_first_ask,
        ),
    ),
    lemma.Lemma(
        rules.Rule.READ_7,
        f"the lookups of a read are a fold of get: {EACH}",
        _fold_obligations(LOOKUPS),
        _fault(
            "Each lookup of a read asks the state before the first.", "storage_reads.look_up_each", _look_up_first_state
        ),
        loop=LOOKUPS.function,
    ),
    lemma.Lemma(
        rules.Rule.READ_9,
        f"the fills of a read are a fold of insert with its trigger: {EACH}",
        _fold_obligations(FILL),
        _fault("Fills are cached from the last to the first.", "storage_reads.fill", _fill_in_reverse),
        loop=FILL.function,
    ),
    lemma.Lemma(
        rules.Rule.COUNT_5,
        f"the deliveries of a read are a fold of mark_read: {EACH}; what has left the cache is passed over",
        _fold_obligations(DELIVER),
        _fault("The last entry of a read is not delivered.", "storage_reads.deliver", _deliver_all_but_the_last),
        loop=DELIVER.function,
    ),
    *(PERMIT_CASES.lemma(law) for law in (*PERMIT_LAWS, NO_LOST_WAKE_UP)),
    *(
        lemma.Lemma(
            loop.rule,
            f"{loop.claim}: any number of them, any permits, moments and limits; in order, from the head",
            _waiting_obligations(loop),
            _fault(note, loop.function, replacement),
            loop=loop.function,
        )
        for loop, note, replacement in zip(
            WAITING_LOOPS,
            ("Only the head of those who wait is served.", "No request ever times out."),
            (_serve_one, _time_nobody_out),
            strict=True,
        )
    ),
)
"""The lemmas about reads and permits."""
