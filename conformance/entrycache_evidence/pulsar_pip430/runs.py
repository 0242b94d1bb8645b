"""Short runs of `pulsar-pip430`: those of tests of single rules, and random ones of managed ledgers.

`play` runs events on the reference, or on the model under test, reports the run to the rulebook, and returns a
`PlayedRun` record with the states and steps.

The random runs mix the operations on managed ledgers, on pending reads and on permits over few places, under every
variant. `generate_sharing_runs` follows the reference, so that most of its steps answer an open ask or release an open
hold, and many cursors share what they ask.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

from entrycache_evidence.core.models import current_model, report_run
from entrycache_evidence.core.stress import choose_each_variant
from entrycache_reference import pulsar_pip430, vocabulary
from entrycache_reference.pulsar_pip430 import NAME, Config, Row, State, Step, change, ops, state
from entrycache_reference.pulsar_pip430 import config as configuration
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Outcome, Refused
from entrycache_reference.vocabulary import ABSENT, CursorName, HoldName, Position, ReadName, RequestName

A: Final = vocabulary.CacheName("a")
B: Final = vocabulary.CacheName("b")
C: Final = vocabulary.CursorName("c")
D: Final = vocabulary.CursorName("d")
H: Final = vocabulary.HoldName("h")
REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


def at(entry: int, ledger: int = 1) -> vocabulary.Position:
    """Return a position, most often in ledger 1."""
    return vocabulary.Position(ledger, entry)


class PlayedRun(NamedTuple):
    """A run: its states, the initial one first, and the steps between them."""

    states: tuple[State, ...]
    steps: tuple[Step, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The answers, one for each step."""
        return tuple(done.outcome for done in self.steps)

    @property
    def last(self) -> Outcome:
        """The answer of the last step."""
        return self.steps[-1].outcome

    @property
    def before(self) -> State:
        """The state before the last step."""
        return self.states[-2]

    @property
    def after(self) -> State:
        """The state after the last step."""
        return self.states[-1]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the last step."""
        return self.steps[-1].rows

    def entry(self, entry: int, cache: vocabulary.CacheName = A, ledger: int = 1) -> state.Entry:
        """Return the entry at a position, which must be cached."""
        cached_entry = self.find(entry, cache, ledger)
        assert cached_entry is not None, f"no entry at {ledger}:{entry} of {cache} in {self.after}"
        return cached_entry

    def find(self, entry: int, cache: vocabulary.CacheName = A, ledger: int = 1) -> state.Entry | None:
        """Return the entry at a position, or None."""
        return change.entry_at(self.after, cache, at(entry, ledger))

    def queue(self) -> list[int | None]:
        """Return the entry numbers of the removal queue from head to tail; None is a dead slot."""
        return [None if slot is None else slot.pos.entry for slot in self.after.queue]


def play(*events: ops.Op, **config: Any) -> PlayedRun:
    """Play these events on the reference or the model under test; keywords change the configuration."""
    settings = Config(**config)
    report_run(NAME, settings, events)
    played = current_model() or pulsar_pip430
    states = [played.initial(settings)]
    steps: list[Step] = []
    for event in events:
        steps.append(played.step(states[-1], event, settings))
        states.append(steps[-1].state)
    return PlayedRun(tuple(states), tuple(steps))


Run = tuple[configuration.Config, tuple[ops.Op, ...]]
STEPS: Final = 26
"""The number of steps of a short random run."""


# --- Short random runs of managed ledgers

LEDGER_RUNS: Final = 220


def mix_ledger_operations(source: random.Random) -> Iterator[ops.Op]:
    """Mix all operations on one managed cache of three ledgers, whose cursors stand among acknowledged entries."""
    names = (CursorName("c"), CursorName("d"))
    places = [at(entry, ledger) for ledger in (1, 2, 4) for entry in range(3)]
    yield from (ops.Append(A, pos, source.choice((1, 2, 3))) for pos in places[:-1])
    yield from (ops.CursorOpen(A, name, source.choice(places[:4]), source.random() < 0.7) for name in names)
    for _ in range(STEPS):
        name, pos, hold = source.choice(names), source.choice(places), HoldName("h")
        moves: Sequence[ops.Op] = (
            ops.Ack(A, name, pos),
            ops.Ack(A, name, pos),
            ops.MarkDelete(A, name, pos),
            ops.CursorSeek(A, name, pos),
            ops.CursorReset(A, name, pos),
        )
        reads: Sequence[ops.Op] = (
            ops.CursorRead(A, name, source.choice((1, 2, 3, 5)), source.choice((ABSENT, hold))),
            ops.ReplayRead(A, name, tuple(source.sample(places, 3)), source.choice((ABSENT, hold))),
            source.choice((ops.Release(hold), ops.ReplayAdd(hold, pos, source.choice(list(ops.Dispatcher))))),
        )
        others: Sequence[ops.Op] = (
            ops.Activate(A, name),
            ops.Deactivate(A, name),
            source.choice((ops.CursorClose(A, name), ops.CursorOpen(A, name, pos), ops.DeleteLedger(A, pos.ledger))),
            source.choice(
                (ops.Append(A, places[-1], 2), ops.Append(A, at(0, 5), 2), ops.Append(B, at(0, pos.ledger), 1))
            ),
            source.choice((ops.CheckBacklogs(A), ops.Evict(3), ops.CursorState(A, name))),
        )
        yield source.choice(source.choices((moves, reads, others), (5, 4, 3))[0])


def mix_held_entries(source: random.Random) -> Iterator[ops.Op]:
    """Hold entries for a cursor while they leave, come anew by the read of another cursor, and are put back."""
    names, places = (CursorName("c"), CursorName("d")), [at(entry) for entry in range(4)]
    yield from (ops.Append(A, pos, source.choice((1, 2))) for pos in places)
    yield from (ops.CursorOpen(A, name, at(0), True) for name in names)
    for _ in range(5):
        (name, other), hold = source.sample(names, 2), HoldName(source.choice("hi"))
        yield from (ops.CursorSeek(A, name, at(0)), ops.CursorRead(A, name, source.choice((2, 4)), hold))
        yield source.choice((ops.Evict(9), ops.Evict(2), ops.Clear(A), ops.Observe()))
        yield from (ops.CursorSeek(A, other, at(0)), ops.CursorRead(A, other, source.choice((2, 4)), ABSENT))
        yield ops.ReplayRead(A, source.choice(names), tuple(source.sample(places, 2)), ABSENT)
        for pos in source.sample(places, 2):
            yield ops.ReplayAdd(hold, pos, source.choice(list(ops.Dispatcher)))
        yield source.choice((ops.Release(hold), ops.Ack(A, name, source.choice(places))))
    yield from (ops.Observe(), ops.Metrics())


HELD_RUNS: Final = 80


def generate_held_runs() -> Iterator[Run]:
    """Generate short runs of held entries, half of them under other variants."""
    for number in range(HELD_RUNS):
        source = random.Random(f"held {number}")
        variants = choose_each_variant(configuration.Variants(), source) if number % 2 else configuration.Variants()
        config = configuration.Config(
            max_size_bytes=1_000, evict_by_expected_reads=source.random() < 0.8, variants=variants
        )
        yield config, tuple(mix_held_entries(source))


def generate_ledger_runs() -> Iterator[Run]:
    """Generate short random runs of a managed ledger, under each tracking of cursors and several variants."""
    for number in range(LEDGER_RUNS):
        source = random.Random(f"ledger {number}")
        yield (
            configuration.Config(
                max_size_bytes=source.choice((1_000, 1_000, 12)),
                evict_by_expected_reads=number % 2 == 0,
                evict_by_mark_deleted=source.random() < 0.4,
                min_backlog_cursors=1,
                min_backlog_entries=source.choice((0, 2)),
                max_backlog_between=source.choice((0, 3)),
                variants=choose_each_variant(configuration.Variants(), source),
            ),
            tuple(mix_ledger_operations(source)),
        )


DELETED_RUNS: Final = 300


def mix_deleted_ledgers(source: random.Random, sizes: Sequence[int]) -> Iterator[ops.Op]:
    """Delete a ledger among entries that cursors have acknowledged, skipped or are still to read."""
    names = (CursorName("c"), CursorName("d"))[: source.choice((1, 2))]
    places = [at(entry) for entry in range(3)] + [at(entry, 2) for entry in range(5)]
    yield ops.Append(A, places[0], 1)
    yield from (ops.CursorOpen(A, name, at(0), True) for name in names)
    yield from (ops.Append(A, pos, source.choice(sizes)) for pos in places[1:])
    for _ in range(10):
        name, pos = source.choice(names), source.choice(places)
        moves: Sequence[Sequence[ops.Op]] = (
            *((ops.Ack(A, name, pos),), (ops.Ack(A, name, pos),), (ops.MarkDelete(A, name, pos),)),
            *((ops.CursorSeek(A, name, pos),), (ops.DeleteLedger(A, 1),), (ops.RunInvalidations(A),)),
            (ops.Deactivate(A, name), ops.Activate(A, name), ops.CursorSeek(A, name, pos)),
            (ops.Ack(A, name, at(source.choice((1, 2)))), ops.DeleteLedger(A, 1), ops.CursorSeek(A, name, pos)),
            (ops.CheckBacklogs(A), ops.CursorRead(A, name, source.choice((1, 5)), ABSENT)),
        )
        yield from source.choice(moves)
    yield from (ops.CheckBacklogs(A), ops.RunInvalidations(A))
    yield from (event for name in names for event in (ops.CursorRead(A, name, 9, ABSENT), ops.CursorState(A, name)))
    yield ops.Observe()


def generate_deleted_runs() -> Iterator[Run]:
    """Generate short runs of deleted ledgers, half with invalidations that wait for a call, some without bytes."""
    for number in range(DELETED_RUNS):
        source = random.Random(f"deleted {number}")
        yield (
            configuration.Config(
                max_size_bytes=1_000,
                grace_millis=0,
                evict_by_expected_reads=number % 4 == 0,
                min_backlog_cursors=1,
                min_backlog_entries=source.choice((2, 3, 4, 5)),
                max_backlog_between=5,
                invalidation=configuration.Invalidation.MANUAL if number % 2 else configuration.Invalidation.AT_ONCE,
                variants=choose_each_variant(configuration.Variants(), source),
            ),
            tuple(mix_deleted_ledgers(source, (1, 2) if number % 10 else (0,))),
        )


# --- Short random runs of permits, of pending reads and of grouped replays

NARROW_RUNS: Final = 120
"""The number of short runs of each kind."""
FLIGHT_RUNS, FLIGHT_STEPS = 360, 56
"""The number of runs of reads in flight, and of their steps after the first reads."""
MILLISECOND_NANOS: Final = 10**6


def mix_permits(source: random.Random) -> Iterator[ops.Op]:
    """Ask for few permits under a small limit, give them back, and let time pass over parts of milliseconds."""
    for _ in range(STEPS):
        name = RequestName(source.choice("abcdef"))
        choices: Sequence[ops.Op] = (
            ops.Acquire(name, source.choice((0, 1, 1, 2, 3, 5, 6, 9))),
            ops.Acquire(name, source.choice((1, 2, 4, 5, 7))),
            ops.GiveBack(name),
            ops.Advance(source.choice((0, 1, 499_999, 500_000, MILLISECOND_NANOS - 1, MILLISECOND_NANOS))),
            ops.LimiterState(),
        )
        yield source.choice(choices)


def mix_pending_reads(source: random.Random) -> Iterator[ops.Op]:
    """Read overlapping ranges of two ledgers under names out of order, and answer what was asked in any order."""
    for number in range(STEPS):
        first, ledger = source.randrange(8), source.choice((1, 1, 1, 2))
        last = first + source.choice((-1, 0, 0, 1, 2, 3, 5))
        end_ledger = ledger if source.random() < 0.95 else 3
        answers = (*ops.StorageAnswerKind, ops.StorageAnswerKind.ALL, 1, 2, 3, source.choice((-1, 0, 5)))
        choices: Sequence[ops.Op] = (
            ops.Fetch(ReadName(source.choice("qwertyu")), at(first, ledger), at(max(last, 0), end_ledger)),
            ops.StorageAnswer(source.randrange(number // 2 + 1), source.choice(answers)),
        )
        yield source.choice(choices)


def mix_replays(source: random.Random) -> Iterator[ops.Op]:
    """Replay positions with gaps between them, in ledgers of small and large entries, some of them cached."""
    name, size = CursorName("c"), source.choice((0, 1, 20_000, 32_768, 65_536, 196_608, 300_000))
    count = 24
    for ledger in (1, 2):
        yield from (ops.Append(A, at(entry, ledger), size) for entry in range(count))
    yield ops.CursorOpen(A, name, at(0))
    for _ in range(4):
        yield from (ops.Evict(max(1, size) * source.choice((3, 20, 60))), ops.Ack(A, name, at(source.randrange(count))))
        gap, start = source.choice((1, 2, 3, 6, 7, 8, 9)), source.randrange(4)
        near = [at(entry, source.choice((1, 1, 2))) for entry in range(start, count, gap)]
        some = [at(source.randrange(count), source.choice((1, 2))) for _ in range(source.randrange(1, 6))]
        yield ops.ReplayRead(A, name, tuple(source.choice((near, some, near + some))), HoldName("h"))
        yield from (ops.Observe(), ops.Release(HoldName("h")), ops.CursorState(A, name), ops.Metrics())


def mix_reads_in_flight(source: random.Random) -> Iterator[ops.Op]:
    """Read two managed caches at once, answer storage in any order, and let cursors move and leave meanwhile."""
    names, reads = [CursorName(name) for name in source.choice(("c", "cd", "cd"))], [ReadName(name) for name in "stuv"]
    places_of = {
        A: [at(entry, ledger) for ledger in (1, 2, 3) for entry in range(4)],
        B: [at(entry, 7) for entry in range(5)],
    }
    for cache, places in places_of.items():
        appends: list[ops.Op] = [ops.Append(cache, pos, source.choice((0, 1, 2, 30))) for pos in places[:-1]]
        opened: list[ops.Op] = [
            ops.CursorOpen(cache, name, places[source.choice((0, 0, 0, 1))], True) for name in names
        ]
        uncached = source.choice((3, 3, 6, len(appends)))
        yield from (*appends[:uncached], *opened, *appends[uncached:])
    yield from (ops.ReadBegin(A, name, read, most) for name, read, most in zip(names, reads, (2, 5), strict=False))
    for number in range(FLIGHT_STEPS):
        cache, name = source.choice((A, A, A, B)), source.choice(names)
        places = places_of[cache]
        pos = source.choice(places)
        read, wanted = source.choice(reads), tuple(source.sample(places[:-1], source.choice((1, 2, 3, 3))))
        answer = source.choice((*ops.StorageAnswerKind, ops.StorageAnswerKind.ALL, ops.StorageAnswerKind.FAIL, 0, 1, 2))
        begins: Sequence[ops.Op] = (
            ops.ReadBegin(cache, name, read, source.choice((1, 2, 3, 5, 9))),
            ops.ReplayBegin(cache, name, read, wanted),
        )
        moves: Sequence[ops.Op] = (
            ops.Ack(cache, name, pos),
            ops.Ack(cache, name, source.choice(places[:3])),
            source.choice((ops.MarkDelete(cache, name, pos), *2 * (ops.CursorSeek(cache, name, places[0]),))),
            source.choice((ops.Activate(cache, name), ops.Deactivate(cache, name), ops.CursorClose(cache, name))),
            source.choice((ops.Append(cache, places[-1], 2), ops.DeleteLedger(cache, pos.ledger), ops.Evict(9))),
            source.choice((ops.Advance(MILLISECOND_NANOS), ops.CursorOpen(cache, name, pos, True))),
        )
        leaves: Sequence[ops.Op] = (
            ops.Release(HoldName(read)),
            ops.ReplayAdd(HoldName(read), pos, source.choice(list(ops.Dispatcher))),
        )
        answers = (ops.StorageAnswer(source.randrange(number // 3 + 1), answer),)
        yield source.choice(source.choices((begins, answers, moves, leaves), (6, 7, 3, 2))[0])


def generate_flight_runs() -> Iterator[Run]:
    """Generate short random runs of reads in flight, with and without permits, under every variant."""
    for number in range(FLIGHT_RUNS):
        source = random.Random(f"flight {number}")
        yield (
            configuration.Config(
                max_size_bytes=source.choice((1_000, 1_000, 1_000, 40, 0)),
                grace_millis=0,
                storage=configuration.Storage.HELD,
                evict_by_expected_reads=number % 2 == 0,
                max_reads_in_flight_bytes=source.choice((0, 0, 150, 260, 400, 400)),
                acquire_timeout_millis=source.choice((1, 2)),
                acquire_queue=source.choice((1, 3, 9)),
                variants=choose_each_variant(configuration.Variants(), source),
            ),
            tuple(mix_reads_in_flight(source)),
        )


# --- Short random runs in which many cursors share what they ask

SHARING_RUNS, SHARING_STEPS = 240, 44
READ_VARIANTS: Final = (
    *("replay", "read_end", "acked_window", "inner_ask", "failed_read", "short_answer"),
    *("duplicate_count", "zero_reads", "count_floor", "disabled_limit"),
)
"""The variants that a read by a cursor may meet."""


def share_asks(source: random.Random, config: Config, entries: int) -> Iterator[ops.Op]:
    """Let four cursors read and replay the same places of one managed ledger, and answer what is open by then."""
    places = [at(entry, ledger) for ledger in ((1,) if entries < 9 else (1, 2)) for entry in range(entries)]
    names, reads = [CursorName(name) for name in "cdef"], [ReadName(name) for name in "stuvw"]
    size, uncached = source.choice((1, 1, 2, 30)), len(places) - source.choice((0, 0, len(places) // 4, entries // 2))
    starts = (*places[:1] * 3, *places[1:4])
    appends: list[ops.Op] = [ops.Append(A, pos, size) for pos in places]
    opened: list[ops.Op] = [ops.CursorOpen(A, name, source.choice(starts), True) for name in names]
    present = pulsar_pip430.initial(config)
    for event in (*appends[:uncached], *opened, *appends[uncached:]):
        yield event
        present = pulsar_pip430.step(present, event, config).state
    later = iter(range(SHARING_STEPS))
    plan: list[ops.Op | bool] = []
    for _ in range(SHARING_STEPS):
        plan = plan or (plan_sharing(source, places) if source.random() < 0.15 else [])
        event = (
            take_planned_step(present, plan.pop(0))
            if plan
            else _share(source, present, places, names, reads, lambda: ops.Append(A, at(next(later), 5), size))
        )
        yield event
        present = pulsar_pip430.step(present, event, config).state


def plan_sharing(source: random.Random, places: list[Position]) -> list[ops.Op | bool]:
    """Plan steps in which an entry is asked for twice, or a range finds several asks between its ends.

    True is an answer to the newest open ask, False one to the oldest.
    """
    (c, d, e), (s, t, u) = map(CursorName, "cde"), map(ReadName, "stu")
    first, second = sorted(source.sample(range(1, 4), 2))
    singles: list[ops.Op | bool] = [
        ops.ReplayBegin(A, c, s, (places[second],)),
        ops.ReplayBegin(A, d, t, (places[first],)),
    ]
    if source.random() < 0.5:
        wide = source.choice((ops.ReadBegin(A, e, u, 9), ops.ReplayBegin(A, e, u, (places[0], places[-1]))))
        return [ops.Clear(A), *source.sample(singles, 2), wide]
    again = (places[second - 1], places[second])
    return [
        ops.Clear(A),
        *singles,
        ops.Evict(100),
        True,
        ops.ReplayBegin(A, e, u, again),
        False,
        ops.Release(HoldName(s)),
        True,
    ]


def take_planned_step(present: State, planned: ops.Op | bool) -> ops.Op:
    """Return a planned step; an answer to the newest ask fails while another one is open."""
    if not isinstance(planned, bool):
        return planned
    asks, kinds = sorted(present.pending.asks) or [0], ops.StorageAnswerKind
    return ops.StorageAnswer(asks[-1 if planned else 0], kinds.FAIL if planned and len(asks) > 1 else kinds.ALL)


def _share(
    source: random.Random,
    present: State,
    places: list[Position],
    names: list[CursorName],
    reads: list[ReadName],
    append: Callable[[], ops.Op],
) -> ops.Op:
    """Choose a step: a read with a free name, an answer to an open ask, a move, or a release of what is held."""
    asks, open_reads, kinds = present.pending.asks, present.pending.of_cursors, ops.StorageAnswerKind
    holds = [hold for hold in present.holds if ReadName(hold) not in open_reads] or [HoldName(reads[0])]
    read = source.choice(
        [one for one in reads if one not in open_reads and HoldName(one) not in present.holds] or reads
    )
    name, pos, hold, kind = source.choice(names), source.choice(places), source.choice(holds), source.randrange(4)
    if kind == 0:
        wanted = places[source.randrange(4) :: source.choice((2, 2, 3, 4))][: source.choice((2, 3, 4, 5))]
    else:
        wanted = source.sample(places, (1, 2, source.choice((1, 2, 3)))[kind - 1])
    begins: Sequence[ops.Op] = (
        *3 * (ops.ReplayBegin(A, name, read, tuple(wanted)),),
        ops.ReadBegin(A, name, read, source.choice((2, 4, 7, 9))),
    )
    answer = source.choice((*6 * (kinds.ALL,), kinds.FAIL, kinds.FAIL, kinds.BUSY, 1, 2))
    answers = (ops.StorageAnswer(source.choice(list(asks) or [0]), answer),)
    moves: Sequence[ops.Op] = (
        source.choice((ops.Evict(source.choice((3, 100))), ops.Clear(A))),
        source.choice((ops.Ack(A, name, pos), ops.Ack(A, name, places[0]), ops.MarkDelete(A, name, pos))),
        ops.CursorSeek(A, name, source.choice((places[0], pos))),
        source.choice((ops.CursorReset(A, name, places[0]), ops.Deactivate(A, name), ops.Activate(A, name))),
        source.choice((ops.Advance(MILLISECOND_NANOS), ops.Observe(), ops.LimiterState())),
    )
    leaves: Sequence[ops.Op] = (
        *2 * (ops.Release(hold),),
        ops.ReplayAdd(hold, pos, source.choice(list(ops.Dispatcher))),
    )
    if source.random() < 0.04:
        return append()
    return source.choice(source.choices((begins, answers, moves, leaves), (6, 1 + len(asks), 2, 1 + len(holds)))[0])


def generate_sharing_runs() -> Iterator[Run]:
    """Generate short random runs of many cursors, three of four with grouped replays, on few and on more places."""
    for number in range(SHARING_RUNS):
        source = random.Random(f"sharing {number}")
        variants = choose_each_variant(configuration.Variants(), source)
        default = configuration.Variants()
        others = {name: getattr(variants, name) for name in READ_VARIANTS}
        grouped = {"replay": configuration.Replay.GROUPED} if number % 4 else {}
        config = configuration.Config(
            max_size_bytes=source.choice((10**6, 10**6, 10**6, 10**6, 40, 0)),
            grace_millis=0,
            storage=configuration.Storage.HELD,
            evict_by_expected_reads=number % 3 > 0,
            max_reads_in_flight_bytes=source.choice((0, 0, 0, 330, 400, 500, 700)),
            acquire_timeout_millis=1,
            acquire_queue=source.choice((1, 3, 9)),
            variants=replace(default, **{**others, **grouped}),
        )
        yield config, tuple(share_asks(source, config, source.choice((4, 6, 9, 9))))


def generate_short_answers() -> Iterator[Run]:
    """Generate every pair of reads to the end of a ledger, the second from further on, with all pairs of answers."""
    answers: tuple[ops.StorageAnswerKind | int, ...] = (*ops.StorageAnswerKind, 1, 2)
    ends, shorts = configuration.ReadEnd, configuration.ShortAnswer
    for end, short, entries, one, other in product(ends, shorts, (2, 3, 4), answers, answers):
        variants = replace(configuration.Variants(), read_end=end, short_answer=short)
        config = configuration.Config(grace_millis=0, storage=configuration.Storage.HELD, variants=variants)
        for start in range(1, entries):
            names = ((CursorName("c"), ReadName("r"), 0), (CursorName("d"), ReadName("s"), start))
            yield (
                config,
                (
                    *(ops.Append(A, at(entry), 1) for entry in range(entries)),
                    *(ops.CursorOpen(A, cursor, at(first)) for cursor, _, first in names),
                    *(ops.ReadBegin(A, cursor, read, entries) for cursor, read, _ in names),
                    *(
                        ops.StorageAnswer(ask, answer)
                        for ask, answer in enumerate((one, other, ops.StorageAnswerKind.ALL))
                    ),
                ),
            )


# --- Written runs of reads in flight that cursors, failures and permits cut in pieces


def generate_moved_answers() -> Iterator[Run]:
    """Generate pairs of reads, of which short answers, acknowledgements and moves leave parts out."""
    c, d, kinds = CursorName("c"), CursorName("d"), ops.StorageAnswerKind
    moves: Sequence[Sequence[ops.Op]] = (
        (ops.CursorSeek(A, d, at(0)),),
        (ops.CursorSeek(A, d, at(7)),),
        (ops.MarkDelete(A, d, at(4)),),
        tuple(ops.Ack(A, d, at(entry)) for entry in (2, 3, 5)),
    )
    config = configuration.Config(grace_millis=0, storage=configuration.Storage.HELD)
    shorts: Sequence[ops.StorageAnswerKind | int] = (kinds.ALL, 1, 2)
    for cut, moved, first, most, begin in product((1, 2, 3), moves, shorts, (4, 5), (1, 3)):
        answers: list[tuple[int, ops.StorageAnswerKind | int]] = [
            (0, first),
            *((ask, kinds.ALL) for ask in range(1, 5)),
        ]
        if cut == 2:
            answers[:2] = reversed(answers[:2])
        yield (
            config,
            (
                *(ops.Append(A, at(entry), 1) for entry in range(7)),
                *(ops.CursorOpen(A, name, at(start)) for name, start in ((c, 2), (d, begin))),
                ops.Ack(A, d, at(cut)),
                *(ops.ReadBegin(A, name, ReadName(name), most) for name in (c, d)),
                *moved,
                *(ops.StorageAnswer(ask, answer) for ask, answer in answers),
                *(ops.CursorState(A, name) for name in (c, d)),
            ),
        )


def hold_twice(empty: bool, answers: Sequence[ops.StorageAnswerKind]) -> Iterator[ops.Op]:
    """Replay a cached position alone and within the group that reads over it, beside one of another ledger.

    While an answer has failed and others are due, another cursor replays a part of the group.
    """
    c, d = CursorName("c"), CursorName("d")
    for ledger, size in ((1, 30), (2, 0 if empty else 30)):
        yield from (ops.Append(A, at(entry, ledger), size) for entry in range(4))
    yield from (ops.CursorOpen(A, name, at(0)) for name in (c, d))
    yield from (ops.CursorSeek(A, c, at(1)), ops.ReadBegin(A, c, ReadName("s"), 1))
    yield from (ops.StorageAnswer(0, ops.StorageAnswerKind.ALL), ops.Release(HoldName("s")))
    yield ops.ReplayBegin(A, c, ReadName("r"), (at(0), at(1), at(2), at(0, 2)))
    for ask, answer in enumerate(answers, 1):
        yield from (ops.StorageAnswer(ask, answer), ops.LimiterState())
        if ask == 1:
            yield ops.ReplayBegin(A, d, ReadName("t"), (at(0),))
    yield from (ops.StorageAnswer(ask, ops.StorageAnswerKind.ALL) for ask in range(4, 8))
    for read in "rt":
        yield from (ops.Release(HoldName(read)), ops.LimiterState())
    yield ops.Observe()


def generate_double_holds() -> Iterator[Run]:
    """Generate grouped replays that hold a position twice, with every answer, with and without permits."""
    kinds = ops.StorageAnswerKind
    for permits, failed, zero in product((0, 500, 40_000), configuration.FailedRead, configuration.ZeroReads):
        variants = configuration.Variants(replay=configuration.Replay.GROUPED, failed_read=failed, zero_reads=zero)
        config = configuration.Config(
            grace_millis=0,
            storage=configuration.Storage.HELD,
            max_reads_in_flight_bytes=permits,
            variants=variants,
        )
        for answers in product((kinds.ALL, kinds.BUSY), repeat=3):
            yield config, tuple(hold_twice(permits == 40_000, answers))


def generate_narrow_runs() -> Iterator[Run]:
    """Generate short random runs of permits, of pending reads and of replays, under every variant."""
    for number in range(NARROW_RUNS):
        source = random.Random(f"narrow {number}")
        config = configuration.Config(
            max_size_bytes=10**9,
            max_reads_in_flight_bytes=source.choice((5, 5, 5, 1, 0)),
            acquire_timeout_millis=source.choice((0, 1, 1, 2)),
            acquire_queue=source.choice((1, 2, 3, 9)),
            variants=choose_each_variant(configuration.Variants(), source),
        )
        grouped = replace(config, variants=replace(config.variants, replay=configuration.Replay.GROUPED))
        yield config, tuple(mix_permits(source))
        yield config, tuple(mix_pending_reads(source))
        if number % 3 == 0:
            yield grouped, tuple(mix_replays(source))
