"""Lemmas about the loops of pending reads, reads in flight and their permits, and of the rows that a step makes.

Each is a `Fold`, as `ledger_loops` explains: it treats each element once, in order, and hands the state on.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import build_term_model
from entrycache_evidence.induction.symbolic import raw
from entrycache_evidence.induction.turns import Fold, Visit, any_mapping, any_tuple, forget_counts
from entrycache_evidence.pulsar_pip430.induction.ledger_loops import (
    CONFIG,
    FIRST,
    PLACES,
    READ,
    READER,
    REQUESTS,
    STATE,
    WORK,
    A,
    advance_work,
    build_fault,
    build_gap,
    build_range,
    build_read,
    build_step,
    count_turns,
    return_first,
    return_no_positions,
)
from entrycache_evidence.pulsar_pip430.induction.shapes import any_integer
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import ops, outcomes, storage_reads
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.pending_reads import Piece, Work
from entrycache_reference.pulsar_pip430.state import (
    Ask,
    Cache,
    CachedRange,
    Entry,
    HeldPosition,
    OpenRange,
    OpenRead,
    PendingReads,
    Row,
    Slot,
    State,
    Step,
    Wait,
    Waiter,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Position, ReadName

# Folds of the table of pending reads.

_ASKS: Final = {number: Ask(1, first, last, ()) for number, (first, last) in enumerate(((2, 3), (4, 4), (6, 9)))}
_NAMES: Final = tuple(map(ReadName, "abcd"))
_OPEN: Final = {name: OpenRead(build_gap(pos)) for name, pos in zip(_NAMES, PLACES, strict=True)}


def _pieces(model: Model) -> Any:
    asks = any_tuple(_ASKS, "pending first last pieces start number ask")
    term_model = build_term_model(model, {**model.replaced, "pending_reads.covering_asks": lambda *_: asks})
    return term_model["pending_reads.pieces_of"](PendingReads(_ASKS), Position(1, 0), Position(1, 8))


_PIECES: Final = tuple(Piece(None, pos.entry, pos.entry) for pos in PLACES)


def _fetch(model: Model) -> Any:
    pieces = any_tuple(_PIECES, "state event config pending waits piece wait opened")
    term_model = build_term_model(model, {**model.replaced, "pending_reads.pieces_of": lambda *_: pieces})
    state = FIRST._replace(pending=PendingReads(sent=any_integer("sent")))
    return term_model["pending_reads.fetch"](state, ops.Fetch(READ, PLACES[0], PLACES[-1]), CONFIG)


def _join(pending: PendingReads, name: ReadName, ledger: int, piece: Piece) -> tuple[PendingReads, Wait]:
    return pending._replace(sent=pending.sent + 1), Wait(piece.first, piece.first, piece.last)


def _give_to_all(model: Model) -> Any:
    waiting = any_tuple(
        (Waiter(name, pos.entry) for name, pos in zip(_NAMES, PLACES, strict=True)),
        "pending number answer ask given done name _ opened end reads",
    )
    pending = PendingReads({0: Ask(1, 3, 9, waiting)}, 1, _OPEN)
    return model["pending_reads.give_to_all"](pending, 0, ops.StorageAnswerKind.ALL)


def _has_ended(name: ReadName, opened: OpenRead) -> outcomes.EndedRead | None:
    return None if name == _NAMES[1] else outcomes.EndedRead(name)


_HOLD: Final = tuple(HeldPosition(Slot(A, pos), True, number) for number, pos in enumerate((*PLACES[::-1], PLACES[1])))


def _split(model: Model) -> Any:
    positions = any_tuple(PLACES[1:], "held positions request kept taken pos same at")
    return model["pending_reads.split_held"](_HOLD, positions)


def _runs(model: Model) -> Any:
    return model["pending_reads.runs_of"](any_tuple(PLACES, "positions runs pos"))


def _read_through(model: Model) -> Any:
    ends = any_tuple(
        ((pos, pos) for pos in PLACES), "work name first last config request cache cached gaps start end row"
    )
    places: dict[Place, object] = {
        "pending_reads.runs_of": lambda *_: ends,
        "pending_reads.positions_in": return_no_positions,
    }
    term_model = build_term_model(model, {**model.replaced, **places})
    return term_model["pending_reads.read_through"](WORK, READ, PLACES[0], PLACES[-1], CONFIG)


_GAPS: Final = tuple(build_gap(pos) for pos in PLACES)
_ROWS: Final = tuple((gap,) for gap in _GAPS)


def _resolve(model: Model) -> Any:
    rows = any_tuple(_ROWS, "work name cached config gaps row resolved whole")
    term_model = build_term_model(model, {**model.replaced, "pending_reads.rows_of": lambda *_: rows})
    return term_model["pending_reads.resolve"](WORK, READ, build_range(PLACES[0]), CONFIG)


_CUT: Final = tuple(build_gap(pos, is_cut=pos in PLACES[::2]) for pos in PLACES)


def _rows(model: Model) -> Any:
    return model["pending_reads.rows_of"](any_tuple(_CUT, "gaps rows row gap"))


_OF_GAPS: Final = "work name row config request left gap rests rest resolved inner has_lost"
_RESTS: Final = PLACES[:2]
_ROW: Final = tuple(
    build_gap(pos, rests=any_tuple(map(build_range, _RESTS), _OF_GAPS), is_cut=True) for pos in PLACES[:3]
)


class _Answered:
    """A stand-in for `is_answered`: of a row, only the first gap still waits."""

    @staticmethod
    def answer(gap: OpenRange) -> bool:
        """Answer, and bring the loop that asks to any turn if it has looked at a gap."""
        if gap.first == PLACES[1]:
            forget_counts(sys._getframe(2), frozenset(_OF_GAPS.split()))
        return gap.first != PLACES[0]


def _resolve_gap(model: Model) -> Any:
    row = any_tuple(_ROW, _OF_GAPS)
    return model["pending_reads.resolve_gap"](WORK, READ, row, CONFIG)


def _return_permits(model: Model) -> Any:
    out = any_mapping(dict.fromkeys(REQUESTS, 5), "work name config read kept request service")
    limiter = FIRST.limiter._replace(free=any_integer("free"), out=out)
    work = Work(build_step(FIRST._replace(limiter=limiter)))
    return model["pending_reads.return_permits"](work, READ, CONFIG)


_RESOLVED: Final = Visit(
    lambda work, name, cached, *_: (cached.first, count_turns(work.state)),
    lambda work, name, cached, *_: (advance_work(work), cached),
)

PENDING_FOLDS: Final = (
    Fold(
        Rule.INFLIGHT_2,
        "a range is cut at the asks that cover a part of it",
        "pending_reads.pieces_of",
        {},
        _pieces,
        (Piece(None, 0, 1), Piece(0, 2, 3), Piece(1, 4, 4), Piece(None, 5, 5), Piece(2, 6, 8)),
        build_fault("A range has no pieces.", "pending_reads.pieces_of", return_no_positions),
    ),
    Fold(
        Rule.INFLIGHT_2,
        "a read without a cache waits for each piece of its range",
        "pending_reads.fetch",
        {
            "pending_reads.join": Visit(
                lambda pending, name, ledger, piece: (piece, str(raw(pending.sent)).count("+")), _join
            )
        },
        _fetch,
        (
            *((piece, at) for at, piece in enumerate(_PIECES)),
            *(Wait(pos.entry, pos.entry, pos.entry) for pos in PLACES),
            len(PLACES),
        ),
        build_fault("A read without a cache asks nothing.", "pending_reads.fetch", lambda state, *_: state.pending),
        {"pending_reads.report": lambda state, pending: pending},
        lambda pending: (
            *(pending.reads[READ].range.waits if pending.reads else ()),
            str(raw(pending.sent)).count("+"),
        ),
    ),
    Fold(
        Rule.INFLIGHT_3,
        "an answer is given to everybody who waits for the ask, and those who have all end",
        "pending_reads.give_to_all",
        {
            "pending_reads.give": Visit(lambda opened, *_: opened, lambda opened, *_: opened),
            "pending_reads.ended": Visit(lambda name, opened: name, _has_ended),
        },
        _give_to_all,
        (
            *(one for name in _NAMES for one in (_OPEN[name], name)),
            {_NAMES[1]: _OPEN[_NAMES[1]]},
            tuple(outcomes.EndedRead(name) for name in _NAMES if name != _NAMES[1]),
        ),
        build_fault("An answer is given to nobody.", "pending_reads.give_to_all", lambda pending, *_: (pending, ())),
        {"pending_reads.close_ask": return_first, "pending_reads.given_entries": return_no_positions},
        lambda after: (after[0].reads, after[1]),
    ),
    Fold(
        Rule.INFLIGHT_9,
        "what a read gives back leaves what it holds",
        "pending_reads.split_held",
        {},
        _split,
        ((_HOLD[3], _HOLD[4]), (_HOLD[2], _HOLD[1], _HOLD[0])),
        build_fault("Nothing leaves what a read holds.", "pending_reads.split_held", lambda held, *_: (held, ())),
        {"pending_reads.enumerate": enumerate},
    ),
    Fold(
        Rule.INFLIGHT_2,
        "the runs of positions that are not cached",
        "pending_reads.runs_of",
        {},
        _runs,
        ((PLACES[0], PLACES[1]), (PLACES[2], PLACES[2]), (PLACES[3], PLACES[3])),
        build_fault("There are no runs.", "pending_reads.runs_of", return_no_positions),
    ),
    Fold(
        Rule.LEDGER_5,
        "a range that is read through the cache reads each gap",
        "pending_reads.read_through",
        {
            "pending_reads.read_gap": Visit(
                lambda work, name, first, last, *_: (first, last, count_turns(work.state)),
                lambda work, name, first, *_: (advance_work(work), (build_gap(first),)),
            )
        },
        _read_through,
        (*((pos, pos, at) for at, pos in enumerate(PLACES)), len(PLACES), _GAPS),
        build_fault(
            "A range reads no gap.", "pending_reads.read_through", lambda work, *_: (work, build_range(PLACES[0]))
        ),
        {"pending_reads.read_named": lambda *_: build_read(""), "pending_reads.take_hits": return_first},
        lambda after: (count_turns(after[0].state), after[1].gaps),
    ),
    Fold(
        Rule.INFLIGHT_8,
        "after an answer, each row of gaps of a range is looked at",
        "pending_reads.resolve",
        {
            "pending_reads.resolve_gap": Visit(
                lambda work, name, row, *_: (row, count_turns(work.state)),
                lambda work, name, row, *_: (advance_work(work), row),
            )
        },
        _resolve,
        (*((row, at) for at, row in enumerate(_ROWS)), len(PLACES), _GAPS),
        build_fault(
            "No gap is looked at after an answer.", "pending_reads.resolve", lambda work, name, one, *_: (work, one)
        ),
        {"pending_reads.is_whole": lambda cached: False},
        lambda after: (count_turns(after[0].state), after[1].gaps),
    ),
    Fold(
        Rule.INFLIGHT_8,
        "the rows of the gaps of a range",
        "pending_reads.rows_of",
        {},
        _rows,
        (_CUT[:2], _CUT[2:]),
        build_fault("There are no rows.", "pending_reads.rows_of", return_no_positions),
    ),
    Fold(
        Rule.INFLIGHT_8,
        "of a gap each rest is looked at; then each gap of the row, from the last one, up to one that waits",
        "pending_reads.resolve_gap",
        {
            "pending_reads.resolve": _RESOLVED,
            "pending_reads.is_answered": Visit(lambda gap: ("answered", gap.first), _Answered.answer),
        },
        _resolve_gap,
        (
            *((pos, len(_RESTS) * at + number) for at in range(len(_ROW)) for number, pos in enumerate(_RESTS)),
            *(("answered", gap.first) for gap in _ROW[::-1]),
            len(_RESTS) * len(_ROW),
            tuple((gap.first, _RESTS) for gap in _ROW),
        ),
        build_fault("A gap is not looked at.", "pending_reads.resolve_gap", lambda work, name, row, *_: (work, row)),
        {"pending_reads.has_failed": lambda *_: False},
        lambda after: (
            count_turns(after[0].state),
            tuple((gap.first, tuple(map(_first_of, tuple.__iter__(gap.rests)))) for gap in tuple.__iter__(after[1])),
        ),
    ),
    Fold(
        Rule.LIMIT_5,
        "the permits of each range of a read that holds nothing any more are given back",
        "pending_reads.return_permits",
        {
            "storage_reads.take_back": Visit(
                lambda limiter, request: (request, str(raw(limiter.free)).count("+")),
                lambda limiter, request: limiter._replace(free=limiter.free + 1),
            )
        },
        _return_permits,
        (*((request, at) for at, request in enumerate(REQUESTS)), len(REQUESTS)),
        build_fault("A read keeps its permits.", "pending_reads.return_permits", return_first),
        {
            "storage_reads.serve": lambda limiter, config: storage_reads.Service(limiter),
            "pending_reads.decide": return_first,
        },
        lambda work: (str(raw(work.state.limiter.free)).count("+"),),
    ),
)


def _first_of(cached: CachedRange) -> Position:
    return cached.first


# Folds of reads in flight.

_BEGIN: Final = ops.ReplayBegin(A, READER, READ, PLACES)
_LEDGER_WORK: Final = Work(build_step(STATE))


def _begin_replay(model: Model) -> Any:
    read = build_read("work name event config pos", wanted=PLACES)
    term_model = build_term_model(model, {**model.replaced, "reads_in_flight.read_named": lambda *_: read})
    return term_model["reads_in_flight.begin_replay"](_LEDGER_WORK, READ, _BEGIN, CONFIG)


def _begin_grouped(model: Model) -> Any:
    known = "work name event config wanted cached missing budget_bytes groups pos first last"
    read = build_read(known, wanted=PLACES)
    places: dict[Place, object] = {
        "reads_in_flight.read_named": lambda *_: read,
        "ledger_cursors.ranges_of": lambda *_: any_tuple(((pos, pos) for pos in PLACES), known),
    }
    term_model = build_term_model(model, {**model.replaced, **places})
    return term_model["reads_in_flight.begin_grouped_replay"](_LEDGER_WORK, READ, _BEGIN, CONFIG)


_MOVED: Final = Visit(
    lambda work, name, event: ("off", event, count_turns(work.state)), lambda work, *_: advance_work(work)
)
_REQUESTED: Final = Visit(
    lambda work, name, first, last, *_: (first, last, count_turns(work.state)), lambda work, *_: advance_work(work)
)
_OF_BEGIN: Final[Mapping[Place, object]] = {
    "ledger_cursors.move_off": lambda state, event, pos, config: pos,
    "ledger_cursors.groups_of": return_no_positions,
    "reads_in_flight.budget_of_replay": lambda *_: None,
    "reads_in_flight.entry_at": lambda *_: None,
    "reads_in_flight.complete_replay": return_first,
}

_RANGES: Final = tuple(build_range(pos, is_last_try=pos in PLACES[1:3]) for pos in PLACES)


def _finish_ranges(model: Model) -> Any:
    read = build_read("work name config read whole left cached resolved", ranges=_RANGES)
    term_model = build_term_model(model, {**model.replaced, "reads_in_flight.read_named": lambda *_: read})
    return term_model["reads_in_flight.finish_ranges"](WORK, READ, CONFIG)


def _give_up(model: Model) -> Any:
    known = "work name config read wanted failed left cached own others lost"
    read = build_read(known, finished=_RANGES)._replace(wanted=PLACES)
    term_model = build_term_model(model, {**model.replaced, "reads_in_flight.read_named": lambda *_: read})
    return term_model["reads_in_flight.give_up"](WORK, READ, CONFIG)


_GIVEN_BACK: Final = Visit(
    lambda work, name, own, *_: (tuple(own), count_turns(work.state)), lambda work, *_: advance_work(work)
)
_WAITERS: Final = tuple(Waiter(READ, pos.entry) for pos in PLACES)


def _answer(model: Model) -> Any:
    known = "state event config ask given has_failed closed work filled waiter"
    ask = Ask(1, 3, 9, any_tuple(_WAITERS, known), cache=A)
    state = FIRST._replace(pending=PendingReads({0: ask}, 1))
    event = ops.StorageAnswer(0, ops.StorageAnswerKind.ALL)
    return model["reads_in_flight.storage_answer"](state, event, CONFIG)


IN_FLIGHT_FOLDS: Final = (
    Fold(
        Rule.LEDGER_8,
        "a replay in flight moves off each position and requests it",
        "reads_in_flight.begin_replay",
        {"reads_in_flight.queue_if_due": _MOVED, "reads_in_flight.request_range": _REQUESTED},
        _begin_replay,
        tuple(one for at, pos in enumerate(PLACES) for one in (("off", pos, 2 * at), (pos, pos, 2 * at + 1))),
        build_fault("A replay in flight requests nothing.", "reads_in_flight.begin_replay", return_first),
        _OF_BEGIN,
    ),
    Fold(
        Rule.LEDGER_8,
        "a grouped replay in flight moves off all positions, then requests each range",
        "reads_in_flight.begin_grouped_replay",
        {"reads_in_flight.queue_if_due": _MOVED, "reads_in_flight.request_range": _REQUESTED},
        _begin_grouped,
        (
            *(("off", pos, at) for at, pos in enumerate(PLACES)),
            *((pos, pos, len(PLACES) + at) for at, pos in enumerate(PLACES)),
        ),
        build_fault(
            "A grouped replay in flight requests nothing.", "reads_in_flight.begin_grouped_replay", return_first
        ),
        _OF_BEGIN,
    ),
    Fold(
        Rule.INFLIGHT_10,
        "each range of a replay is looked at, and what is whole is taken",
        "reads_in_flight.finish_ranges",
        {
            "reads_in_flight.resolve": _RESOLVED,
            "reads_in_flight.expect_delivery": Visit(
                lambda work, name, cached, *_: ("expect", cached.first, count_turns(work.state)),
                lambda work, *_: advance_work(work),
            ),
            "reads_in_flight.with_read": Visit(
                lambda work, name, read: (read.ranges, read.finished, count_turns(work.state)), lambda work, *_: work
            ),
        },
        _finish_ranges,
        (
            *((PLACES[0], 0), (PLACES[1], 1), ("expect", PLACES[1], 2), (PLACES[2], 3)),
            *(("expect", PLACES[2], 4), (PLACES[3], 5), ((_RANGES[0], _RANGES[3]), _RANGES[1:3], 6)),
        ),
        build_fault("No range of a replay is finished.", "reads_in_flight.finish_ranges", return_first),
        {
            "reads_in_flight.is_whole": lambda cached: cached.is_last_try,
            "reads_in_flight.give_up": return_first,
            "reads_in_flight.return_permits": return_first,
        },
    ),
    Fold(
        Rule.INFLIGHT_9,
        "a replay that has failed gives back what each range has got",
        "reads_in_flight.give_up",
        {"reads_in_flight.give_back": _GIVEN_BACK},
        _give_up,
        tuple(((pos,), at) for at, pos in enumerate(PLACES)),
        build_fault("A replay that has failed gives nothing back.", "reads_in_flight.give_up", return_first),
        {
            "reads_in_flight.is_incomplete": lambda *_: True,
            "reads_in_flight.positions_got": lambda cached: (cached.first,),
            "reads_in_flight.held_by": return_no_positions,
            "reads_in_flight.split_held": lambda held, others, request: ((), tuple(others)),
            "reads_in_flight.with_held": return_first,
            "reads_in_flight.with_read": return_first,
        },
    ),
    Fold(
        Rule.INFLIGHT_3,
        "an answer is given to everybody who waits for the ask, through the cache",
        "reads_in_flight.storage_answer",
        {
            "reads_in_flight.give_part": Visit(
                lambda work, waiter, *_: (waiter, count_turns(work.state)), lambda work, *_: advance_work(work)
            ),
            "reads_in_flight.finish": Visit(lambda state, work, config: count_turns(work.state), lambda *_: None),
        },
        _answer,
        (*((waiter, at) for at, waiter in enumerate(_WAITERS)), len(_WAITERS)),
        build_fault(
            "An answer is given to nobody.", "reads_in_flight.storage_answer", lambda state, *_: build_step(state)
        ),
        {
            "pending_reads.given_entries": return_no_positions,
            "pending_reads.close_ask": return_first,
            "reads_in_flight.fill_answer": lambda work, *_: (work, ()),
        },
    ),
)


# Folds of entries and of rows.

_ENTRIES: Final = {pos: Entry(pos.entry, 0, 0, False, None, None) for pos in PLACES}
_CACHED: Final = FIRST._replace(caches={A: Cache(_ENTRIES, 22)}, size_bytes=any_integer("bytes"))


def _removed_rows(model: Model) -> Any:
    positions = any_tuple(PLACES, "rule cause before cache positions rows pos entry row")
    return model["change.removed_rows"](Rule.EVICT_1, "EVICT", _CACHED, A, positions)


def _observe(model: Model) -> Any:
    queue = any_tuple((Slot(A, pos) for pos in PLACES), "state event config caches live slot entry age_nanos")
    done = model["step.observe"](_CACHED._replace(queue=queue), ops.Observe(), CONFIG)
    return (view.pos for view in done.outcome.queue)


def _observe_nothing(state: State, event: ops.Observe, config: Config) -> Step:
    return Step(state, outcomes.Observed(0, 0, {}, (), 0), ())


ENTRY_FOLDS: Final = (
    Fold(
        Rule.STATE_1,
        "the rows of what a call removes, with the bytes that are left after each",
        "change.removed_rows",
        {
            "change.entry_row": Visit(
                lambda rule, op, cause, state, cache, pos, *_: pos,
                lambda rule, op, cause, state, cache, pos, entry, *_: Row(rule, op, cause, 0, entry.size_bytes),
            )
        },
        _removed_rows,
        (*PLACES, *(f"{-freed} + bytes" for freed in (3, 7, 13, 22))),
        build_fault("A call removes without rows.", "change.removed_rows", return_no_positions),
        {},
        lambda rows: (str(z3.simplify(raw(row.bytes_after))) for row in rows),
    ),
    Fold(
        Rule.STATE_2,
        "the slots that an observation shows",
        "step.observe",
        {},
        _observe,
        PLACES,
        build_fault("An observation shows no slots.", "step.observe", _observe_nothing),
    ),
)

LEMMAS: Final = tuple(fold.lemma() for fold in (*PENDING_FOLDS, *IN_FLIGHT_FOLDS, *ENTRY_FOLDS))
"""The lemmas about the loops of pending reads, reads in flight and rows."""
