"""Lemmas about the loops of the levels `ledger`, `inflight` and `limits` of `pulsar-pip430`; more in `pending_loops`.

Most of these loops treat each element of a sequence once, in order, and hand the state on: each is a `Fold`. Stand-ins
take the place of what a turn calls. They record the element and the moment of the state that they are given, and answer
a state that is one moment later; so the record says that each turn goes on where the turn before has ended.

The other loops end by a condition. Each is run for one turn; then what it counts becomes any number, so the second turn
is any turn. A loop that goes on is left after that turn. A loop that ends must end rightly: its condition holds of what
was asked last.

A comprehension counts no turns and hands nothing on, so it needs no lemma. `SMALL_LOOPS` has the loops that walk a
sequence of a fixed length.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Lemma, LemmaFault, Obligation, build_term_model
from entrycache_evidence.induction.symbolic import paths, raw
from entrycache_evidence.induction.turns import (
    Fold,
    Unknown,
    Visit,
    any_mapping,
    any_tuple,
    counting_replaced,
    forget_counts,
)
from entrycache_evidence.pulsar_pip430.induction.decision import PULSAR
from entrycache_evidence.pulsar_pip430.induction.shapes import any_boolean, any_integer
from entrycache_faults.model import Model, Place
from entrycache_reference.pulsar_pip430 import ops, outcomes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ledger_cursors import Group
from entrycache_reference.pulsar_pip430.pending_reads import Decide, DropDue, GoOn, Work
from entrycache_reference.pulsar_pip430.state import (
    CachedRange,
    Entry,
    ManagedCursor,
    ManagedLedger,
    OpenRange,
    RangeRequest,
    ReadInFlight,
    State,
    Step,
    Wait,
    initial,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position, ReadName

SMALL_LOOPS: Final[Mapping[tuple[str, int], str]] = {
    ("decision.build_lookup", 0): "it walks the combinations of five facts",
    ("decision.build_lookup", 1): "it walks the lines of the decision table",
    ("manager.sum_removed", 0): "it adds up two passes",
    ("pending_reads.read_gap", 1): "two parts at most are left of a gap: the one before a piece and the one behind it",
}
"""The loops that walk a sequence of a fixed length: the function, the number of the loop in it, and the reason."""

CONFIG: Final = Config()
A: Final = CacheName("a")
READER: Final = CursorName("a")
READ: Final = ReadName("read")
FIRST: Final = initial(CONFIG)._replace(now_nanos=any_integer("present 0"))
PLACES: Final = tuple(Position(1, entry) for entry in (3, 4, 6, 9))


# The states that turns hand on.


def advance_state(state: State) -> State:
    """Return the state that a turn hands on: one moment later."""
    return state._replace(now_nanos=any_integer(f"present {count_turns(state) + 1}"))


def count_turns(state: State) -> int:
    """Return the number of turns that have handed a state on."""
    return int(raw(state.now_nanos).decl().name().split()[1])


def build_step(state: State) -> Step:
    """Build a step to a state, without rows and parts."""
    return Step(state, outcomes.Done(), ())


def advance_work(work: Work) -> Work:
    """Return the work that a turn hands on: its state is one moment later."""
    return work._replace(done=build_step(advance_state(work.state)))


WORK: Final = Work(build_step(FIRST))


def return_first(value: Any, *others: Any) -> Any:
    """Return what is handed on, unchanged."""
    return value


def return_no_positions(*others: Any) -> tuple[Position, ...]:
    """Return no positions."""
    return ()


def build_read(known: str, **fields: Any) -> ReadInFlight:
    """Build a read of a cursor; each of the named fields becomes a sequence of any length."""
    own: dict[str, Any] = {name: any_tuple(value, known) for name, value in fields.items()}
    return ReadInFlight(A, READER, None, PLACES[0], **own)


def build_range(pos: Position, **fields: Any) -> CachedRange:
    """Build a range of one position."""
    return CachedRange(pos, pos, **fields)


def build_gap(pos: Position, **fields: Any) -> OpenRange:
    """Build a gap of one position."""
    return OpenRange(pos, pos, **fields)


def build_fault(note: str, place: str, replacement: object) -> LemmaFault:
    """Build the seeded fault of a loop: another function in its place."""
    return LemmaFault(note, Model(PULSAR.package, {place: replacement}))


# Folds of managed ledgers and of reads by cursors.

_CURSORS: Final = {CursorName(name): ManagedCursor(name != "c", PLACES[0], PLACES[0]) for name in "abcd"}
_MANAGED: Final = ManagedLedger({1: (1,) * 10}, frozenset({1}), _CURSORS)
STATE: Final = FIRST._replace(managed={A: _MANAGED})
_REPLAY: Final = ops.ReplayRead(A, READER, PLACES)
_NO_COUNT: Final = Entry(1, 0, 0, False, 0, None)


def _roll_over(model: Model) -> Any:
    cursors = any_mapping(_CURSORS, "state name ledger config managed done cursor consumer start")
    state = FIRST._replace(managed={A: _MANAGED._replace(cursors=cursors)})
    return model["ledger.roll_over"](state, A, 2, CONFIG)


def _replay_each(model: Model) -> Any:
    wanted = any_tuple(PLACES, "state event wanted config done pos moved read")
    return model["ledger_cursors.replay_each"](STATE, _REPLAY, wanted, CONFIG)


_SPANS: Final = tuple(Group((pos,), (pos, Position(1, pos.entry + 1))) for pos in PLACES)


_OF_GROUPS: Final = "state event wanted config done hits fills groups gaps pos group gap served range_read"


def _pairs(groups: tuple[Group, ...], gaps: tuple[tuple[Position, ...], ...], strict: bool) -> Any:
    if len(groups) != len(gaps):
        raise Unknown("a loop before has left out a group")
    return any_tuple(zip(tuple.__iter__(groups), gaps, strict=strict), _OF_GROUPS)


def _replay_grouped(model: Model) -> Any:
    return model["ledger_cursors.replay_grouped"](STATE, _REPLAY, any_tuple(PLACES, _OF_GROUPS), CONFIG)


def _look_up(state: State, name: CacheName, wanted: tuple[Position, ...], config: Config) -> Step:
    return Step(advance_state(state), outcomes.Served((), wanted), ())


def _groups(model: Model) -> Any:
    wanted = any_tuple(PLACES, "managed wanted budget_bytes groups pos more is_affordable")
    return model["ledger_cursors.groups_of"](_MANAGED, wanted, 100)


def _expect(model: Model) -> Any:
    wanted = any_tuple(PLACES, "state name wanted config done pos entry more")
    return model["ledger_cursors.expect_delivery"](STATE, A, wanted, CONFIG)


_OFF: Final = Visit(
    lambda state, event, pos, *_: ("off", pos, count_turns(state)), lambda state, *_: build_step(advance_state(state))
)

LEDGER_FOLDS: Final = (
    Fold(
        Rule.LEDGER_2,
        "a new ledger moves each cursor that has consumed an older one",
        "ledger.roll_over",
        {
            "ledger.acknowledge": Visit(
                lambda state, name, cursor, *_: (cursor, count_turns(state)),
                lambda state, *_: build_step(advance_state(state)),
            )
        },
        _roll_over,
        (("a", 0), ("b", 1), ("d", 2)),
        build_fault("A new ledger moves no cursor.", "ledger.roll_over", lambda state, *_: build_step(state)),
        {"ledger.is_consumed": lambda managed, cursor: cursor.is_durable, "ledger.run_due": return_first},
    ),
    Fold(
        Rule.LEDGER_8,
        "a replay reads its positions one by one",
        "ledger_cursors.replay_each",
        {
            "ledger_cursors.move_off": _OFF,
            "ledger_cursors.replay_one": Visit(
                lambda state, event, pos, *_: ("read", pos, count_turns(state)),
                lambda state, *_: Step(advance_state(state), outcomes.Served((), ()), ()),
            ),
        },
        _replay_each,
        tuple(one for at, pos in enumerate(PLACES) for one in (("off", pos, 2 * at), ("read", pos, 2 * at + 1))),
        build_fault("A replay reads nothing.", "ledger_cursors.replay_each", lambda state, *_: build_step(state)),
        {"ledger.run_due": return_first},
    ),
    Fold(
        Rule.LEDGER_8,
        "a grouped replay moves off its positions, looks its groups up, then fills each and expects its delivery",
        "ledger_cursors.replay_grouped",
        {
            "ledger_cursors.move_off": _OFF,
            "ledger_cursors.look_up": Visit(lambda state, name, wanted, *_: (wanted, count_turns(state)), _look_up),
            "ledger_cursors.fill": Visit(
                lambda state, event, gap, *_: ("fill", event.first, gap, count_turns(state)),
                lambda state, *_: build_step(advance_state(state)),
            ),
            "ledger_cursors.expect_delivery": Visit(
                lambda state, name, wanted, *_: ("expect", wanted, count_turns(state)),
                lambda state, *_: build_step(advance_state(state)),
            ),
        },
        _replay_grouped,
        (
            *(("off", pos, at) for at, pos in enumerate(PLACES)),
            *(((), 4), ("expect", (), 5)),
            *((group.positions, 6 + at) for at, group in enumerate(_SPANS)),
            *(
                one
                for at, group in enumerate(_SPANS)
                for one in (
                    ("fill", group.positions[0], group.positions, 10 + 2 * at),
                    ("expect", group.wanted, 11 + 2 * at),
                )
            ),
        ),
        build_fault(
            "A grouped replay reads nothing.", "ledger_cursors.replay_grouped", lambda state, *_: build_step(state)
        ),
        {
            "ledger_cursors.groups_of": lambda *_: any_tuple(_SPANS, _OF_GROUPS),
            "ledger_cursors.zip": _pairs,
            "ledger_cursors.entry_at": lambda *_: None,
            "ledger.run_due": return_first,
        },
    ),
    Fold(
        Rule.LEDGER_8,
        "the groups of a replay, with what lies between them added up",
        "ledger_cursors.groups_of",
        {
            "ledger_cursors.is_within": Visit(
                lambda managed, pos, between, budget: (pos.entry, str(z3.simplify(z3.IntVal(0) + raw(between)))),
                lambda managed, pos, *_: pos.entry < PLACES[-1].entry,
            ),
            "ledger_cursors.may_span": Visit(
                lambda managed, first, last, pos: (first.entry, last.entry, pos.entry), lambda *_: True
            ),
        },
        _groups,
        (
            (3, 3, 4),
            (6, "1 + between at any turn"),
            (3, 4, 6),
            (9, "3 + between at any turn"),
            (PLACES[:3], tuple(Position(1, entry) for entry in (3, 4, 5, 6))),
            (PLACES[3:], PLACES[3:]),
        ),
        build_fault("A replay has no groups.", "ledger_cursors.groups_of", lambda *_: ()),
        {"ledger.positions_of": lambda managed, ledger: tuple(Position(ledger, entry) for entry in range(10))},
        tuple,
    ),
    Fold(
        Rule.LEDGER_8,
        "a grouped replay expects the delivery of each entry whose count is used up",
        "ledger_cursors.expect_delivery",
        {
            "entries.expect_read": Visit(
                lambda state, event, *_: (event.pos, count_turns(state)),
                lambda state, *_: build_step(advance_state(state)),
            )
        },
        _expect,
        tuple((pos, at) for at, pos in enumerate((PLACES[0], *PLACES[2:]))),
        build_fault(
            "A grouped replay expects nothing.", "ledger_cursors.expect_delivery", lambda state, *_: build_step(state)
        ),
        {"ledger_cursors.entry_at": lambda state, name, pos: _NO_COUNT if pos != PLACES[1] else None},
    ),
)

# Loops that end by a condition.


class _GoesOn(Exception):
    """A signal that the loop goes on after its second turn."""


class Loop(NamedTuple):
    """A loop that ends by a condition, the run of it, and the claim about its answer.

    `run` runs two turns of the loop of a model. It raises `_GoesOn` if the loop goes on, and returns whether it ends
    rightly.
    """

    rule: Rule
    claim: str
    place: str
    run: Callable[[Model], bool]
    given: Any
    fault: LemmaFault

    def lemma(self) -> Lemma:
        """Build the lemma: on every path that ends, the loop ends rightly."""

        def obligations(table: Any, model: Model) -> Iterator[Obligation]:
            def run() -> bool:
                try:
                    return self.run(model)
                except _GoesOn:
                    return True
                except Unknown:
                    return False

            ways = paths(run, self.given)
            yield Obligation(self.place, self.given, z3.And([z3.Implies(way, z3.BoolVal(good)) for way, good in ways]))

        return Lemma(self.rule, f"{self.claim}: any number of turns", obligations, self.fault, loop=self.place)


def _at_turn(name: str, turn: int) -> Any:
    """Return a number that is another one in each turn."""
    return any_integer(f"{name} of turn {turn}")


class _Acks(frozenset[Position]):
    """Acknowledgements of which nothing is known: each answer is any, and the loop that asks comes to any turn."""

    known: frozenset[str]
    questions: list[tuple[Any, bool]]

    def __new__(cls, known: str) -> "_Acks":
        own = super().__new__(cls)
        own.known, own.questions = frozenset(known.split()), []
        return own

    def __contains__(self, pos: object) -> bool:
        turn = len(self.questions)
        if turn == 2:
            raise _GoesOn
        if turn == 1:
            forget_counts(sys._getframe(1), self.known)
        is_there = bool(any_boolean(f"acknowledged in turn {turn}"))
        self.questions.append((pos, is_there))
        return is_there


def _end_of_run(model: Model) -> bool:
    """Run the loop to the end of a run of acknowledgements: the position behind its end is not acknowledged."""
    acks = _Acks("cursor pos")
    cursor = _CURSORS[CursorName("a")]._replace(acks=acks)
    term_model = build_term_model(model, counting_replaced("ledger"))
    end = term_model["ledger.end_of_run"](cursor, Position(1, any_integer("entry")))
    last, is_there = acks.questions[-1] if acks.questions else (None, True)
    return not is_there and bool(last == Position(1, end.entry + 1))


def _end_of_acks(model: Model) -> bool:
    """Run the loop over runs of acknowledgements: what comes after its end is not acknowledged, or was not appended."""
    acks = _Acks("managed cursor pos after")
    cursor = _CURSORS[CursorName("a")]._replace(acks=acks, mark_delete=Position(0, 0))
    behind = Position(1, any_integer("next append"))
    runs: list[Any] = []

    def end_of_run(own: ManagedCursor, pos: Position) -> Position:
        runs.append(pos)
        return Position(1, pos.entry + _at_turn("run", len(runs)))

    places: dict[Place, object] = {
        **counting_replaced("ledger"),
        "ledger.position_after": lambda managed, pos: Position(1, pos.entry + 1),
        "ledger.next_append": lambda managed: behind,
        "ledger.end_of_run": end_of_run,
    }
    term_model = build_term_model(model, places)
    end = term_model["ledger.end_of_acks"](_MANAGED, cursor, Position(1, any_integer("entry")))
    after = Position(1, end.entry + 1)
    if len(acks.questions) == len(runs):  # no question since the last run
        return not bool(after < behind)
    last, is_there = acks.questions[-1]
    return not is_there and bool(last == after)


def _cursor_read(model: Model) -> bool:
    """Run the loop of a read: it ends once enough was read, or behind the last entry."""
    known = frozenset("state event config done most more managed".split())
    turns: list[tuple[State, Any]] = []
    most, ends = any_integer("wanted"), []

    class Some(tuple[Position, ...]):
        """Some positions; their number is any."""

        length: Any = 0

    def read_on(state: State, event: Any, left: Any, config: Config) -> Step:
        turn = len(turns)
        if turn == 2:
            raise _GoesOn
        if turn == 1:
            forget_counts(sys._getframe(1), known)
        turns.append((state, left))
        ends.append(Position(1, _at_turn("read", turn)))
        cursor = _CURSORS[CursorName("a")]._replace(read=ends[-1])
        return build_step(advance_state(state)._replace(managed={A: _MANAGED._replace(cursors={READER: cursor})}))

    def served_by(first: Step, second: Step) -> outcomes.Served:
        hits, fills = Some(), Some()
        hits.length, fills.length = _at_turn("hits", len(turns)), _at_turn("fills", len(turns))
        return outcomes.Served(hits, fills, ())

    behind = Position(1, any_integer("next append"))
    places: dict[Place, object] = {
        **counting_replaced("ledger_cursors"),
        "ledger_cursors.len": lambda some: some.length if isinstance(some, Some) else len(some),
        "ledger_cursors.read_on": read_on,
        "ledger_cursors.served_by": served_by,
        "ledger_cursors.finish": return_first,
        "ledger.next_append": lambda managed: behind,
    }
    event = ops.CursorRead(A, READER, most)
    done = build_term_model(model, places)["ledger_cursors.cursor_read"](STATE, event, CONFIG)
    if not turns or not isinstance(done.outcome, outcomes.Served) or count_turns(done.state) != len(turns):
        return False
    hits, fills = done.outcome.hits, done.outcome.fills
    read = getattr(hits, "length", 0) + getattr(fills, "length", 0)
    return bool(most - read <= 0) or bool(ends[-1] >= behind)


def _read_gap(model: Model) -> bool:
    """Run the loop over what is left of a gap: it ends with the last part, of which nothing is left for a next gap."""
    known = frozenset("work name first last config request row wait left gap begin end is_next rest".split())
    cut: list[bool] = []
    left = [(PLACES[0], PLACES[0]), (PLACES[2], PLACES[2])]

    def wait_or_ask(work: Work, *others: Any) -> Any:
        if len(cut) == 2:
            raise _GoesOn
        if len(cut) == 1:
            forget_counts(sys._getframe(1), known)
        cut.append(False)
        return advance_work(work), Wait(len(cut), 1, 1), left

    def is_uncached(*others: Any) -> bool:
        cut[-1] = bool(any_boolean(f"uncached in turn {len(cut)}"))
        return cut[-1]

    places: dict[Place, object] = {
        **counting_replaced("pending_reads"),
        "pending_reads.wait_or_ask": wait_or_ask,
        "pending_reads.is_uncached": is_uncached,
        "pending_reads.read_through": lambda work, *_: (work, build_range(PLACES[0])),
    }
    term_model = build_term_model(model, places)
    done: Any = term_model["pending_reads.read_gap"](WORK, READ, PLACES[0], PLACES[3], CONFIG)
    if done is None:
        return False
    work, row = done
    is_whole = (
        bool(cut)
        and [gap.waits[0].ask for gap in row] == [*range(1, len(cut) + 1)]
        and count_turns(work.state) == len(cut)
    )
    return is_whole and not cut[-1] and not row[-1].is_cut


REQUESTS: Final = tuple(RangeRequest(READ, number) for number in range(4))


class _Tasks(tuple[Any, ...]):
    """Tasks in order; once the first has been taken, the loop comes to any turn."""

    def __init__(self, tasks: Collection[Any] = ()) -> None:
        """Take the tasks. A class with an `__init__` of its own is data to a `Model`, which walks other tuples."""

    def __iter__(self) -> Iterator[Any]:
        raise Unknown("a loop walks its tasks, though a task may queue others")

    def __getitem__(self, at: Any) -> Any:
        if at == slice(1, None):
            forget_counts(sys._getframe(1), frozenset({"work", "config", "task"}))
            return _Tasks(tuple(super().__iter__())[1:])
        if at != 0:
            raise Unknown("a loop looks at another task than the first")
        return super().__getitem__(0)


_TASKS: Final = (
    DropDue(A),
    Decide(REQUESTS[0], True),
    GoOn(READ, PLACES[0]),
    DropDue(CacheName("b")),
    GoOn(READ, PLACES[1]),
)


def _run_tasks(model: Model) -> bool:
    """Run the loop over tasks: it ends with no task left, and each has run in the state that the task before left."""
    executed: list[tuple[Any, int]] = []

    def run_due(done: Step, name: CacheName, config: Config) -> Step:
        executed.append((DropDue(name), count_turns(done.state)))
        return build_step(advance_state(done.state))

    def go_on(work: Work, name: ReadName, start: Position, config: Config) -> Work:
        executed.append((GoOn(name, start), count_turns(work.state)))
        return advance_work(work)

    def decide(work: Work, task: Decide, config: Config) -> Work:
        executed.append((task, count_turns(work.state)))
        return advance_work(work)

    places: dict[Place, object] = {
        **counting_replaced("reads_in_flight"),
        "ledger.run_due": run_due,
        "reads_in_flight.begin_chunk": go_on,
        "reads_in_flight.go_on_decided": decide,
    }
    work = build_term_model(model, places)["reads_in_flight.run_tasks"](WORK._replace(tasks=_Tasks(_TASKS)), CONFIG)
    return not work.tasks and executed == [(task, at) for at, task in enumerate(_TASKS)]


LOOPS: Final = (
    Loop(
        Rule.LEDGER_10,
        "a run of acknowledged neighbours ends only before a position that is not acknowledged",
        "ledger.end_of_run",
        _end_of_run,
        z3.BoolVal(True),
        build_fault("No run is followed.", "ledger.end_of_run", lambda cursor, pos: pos),
    ),
    Loop(
        Rule.LEDGER_10,
        "the mark-delete position passes all runs that follow, up to one that is not acknowledged, or to the end",
        "ledger.end_of_acks",
        _end_of_acks,
        z3.BoolVal(True),
        build_fault("No run is passed.", "ledger.end_of_acks", lambda managed, cursor, pos: pos),
    ),
    Loop(
        Rule.LEDGER_3,
        "a read ends only when it has got what it wants, or behind the last entry",
        "ledger_cursors.cursor_read",
        _cursor_read,
        z3.Int("wanted") >= 1,
        build_fault("A read gets nothing.", "ledger_cursors.cursor_read", lambda state, *_: build_step(state)),
    ),
    Loop(
        Rule.INFLIGHT_2,
        "a gap is cut until nothing is left of it that is to be the next one",
        "pending_reads.read_gap",
        _read_gap,
        z3.BoolVal(True),
        build_fault("A gap asks nothing.", "pending_reads.read_gap", lambda work, *_: (work, (build_gap(PLACES[0]),))),
    ),
    Loop(
        Rule.INFLIGHT_13,
        "a step ends only when all its tasks have run, in order",
        "reads_in_flight.run_tasks",
        _run_tasks,
        z3.BoolVal(True),
        build_fault("No task runs.", "reads_in_flight.run_tasks", return_first),
    ),
)

LEMMAS: Final = tuple(loop.lemma() for loop in (*LEDGER_FOLDS, *LOOPS))
"""The lemmas about the loops of managed ledgers, and about the loops that end by a condition."""
