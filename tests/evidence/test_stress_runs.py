"""Test stress runs: a broken law in one is a failure of `prove`, with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import Enum
from itertools import islice
from typing import Any

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence import run
from entrycache_evidence.core import stress
from entrycache_evidence.core.models import FAULT_OF
from entrycache_evidence.core.stress import find_broken_law
from entrycache_evidence.kafka_streams.runs import PLENTY_BYTES, generate_failing_runs
from entrycache_evidence.kafka_streams.stress import ask_for_every_view
from entrycache_evidence.pulsar_pip430.runs import (
    generate_deleted_runs,
    generate_double_holds,
    generate_held_runs,
    generate_ledger_runs,
    generate_moved_answers,
    generate_sharing_runs,
    generate_short_answers,
)
from entrycache_evidence.pulsar_pip430.stress import generate_large_runs
from entrycache_evidence.rulebook import corpus
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import flush, stores
from entrycache_reference.kafka_streams.config import Config as KafkaConfig
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.pulsar_pip430 import (
    Config,
    entries,
    initial,
    ledger,
    ledger_cursors,
    ops,
    pending_reads,
    reads_in_flight,
    storage_reads,
)
from entrycache_reference.pulsar_pip430.config import DeletedAcks, ReadEnd, Replay
from entrycache_reference.pulsar_pip430.outcomes import Ranked
from entrycache_reference.pulsar_pip430.pending_reads import GoOn, held_by, read_named, split_held, with_read
from entrycache_reference.pulsar_pip430.reads_in_flight import begin_chunk, go_on
from entrycache_reference.pulsar_pip430.state import Cache
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, Position
from tests.support.evidence.systems import replace_system

PULSAR = SYSTEMS["pulsar-pip430"]


def with_model(model: Any) -> Any:
    return PULSAR._replace(model=model)


def test_a_seeded_fault_is_reported_with_its_law_and_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty = with_model(FAULT_OF[Rule.INSERT_1].model)
    said = find_broken_law(faulty, generate_large_runs())
    assert said.startswith("R-INSERT-1")
    assert said.endswith("at step 0 (insert) of run 0")
    replace_system(monkeypatch, faulty)
    assert run._check_runs(PULSAR.name, "large runs", run.RUNS["large runs"]) == (
        [],
        [f"{PULSAR.name}, large runs: {said}"],
    )


def test_a_first_state_that_is_not_empty_is_reported() -> None:
    class Scheduled:
        step = staticmethod(PULSAR.model.step)

        @staticmethod
        def initial(config: Config) -> Any:
            return initial(config)._replace(is_scheduled=True)

    event = ops.Usage()
    assert find_broken_law(PULSAR, [(Config(), (event,))]) == ""
    assert find_broken_law(with_model(Scheduled), [(Config(), (event,))]) == (
        "the first state is not empty at step 0 of run 0"
    )


CROWDED = {
    "pulsar-pip430": Rule.CURSOR_7,
    "kafka-streams": Rule.K_FLUSH_1,
    "pulsar-legacy": Rule.L_EVICT_3,
    "pulsar-segmented": Rule.S_GET_1,
}


@pytest.mark.parametrize(("name", "rule"), CROWDED.items())
def test_a_seeded_fault_is_reported_in_crowded_runs(name: str, rule: Rule) -> None:
    faulty = SYSTEMS[name]._replace(model=FAULT_OF[rule].model)
    assert rule.value in find_broken_law(faulty, run.RUNS["crowded runs"](faulty))


def put_back_last(state: Any, ns: str, dirty: tuple[str, ...], back: Mapping[str, Any], gone: tuple[str, ...]) -> Any:
    """Return entries whose forward threw behind later writes."""
    after = flush.put_back(state, ns, dirty, back, gone)
    again, space = [key for key in dirty if key in back], after.spaces[ns]
    moved = (*space.dirty[len(again) :], *again)
    return after._replace(spaces={**after.spaces, ns: space._replace(dirty=moved)})


def takes_known_write(store: Any, name: str, node: Any, config: Any) -> bool:
    """Leave out tombstones of what is not there, whoever listens."""
    return stores.is_accepted(store, name, node) and not stores.is_dropped(store, name, config)


def show_behind_any(keys: tuple[str, ...], nodes: Any, inner: Mapping[str, str]) -> Any:
    """Show each deletion behind any entry of the underlying store, even if a cached one is between."""
    first = next((at for at, key in enumerate(keys) if key not in nodes), len(keys))
    pairs = [(key, nodes[key].value if key in nodes else inner[key], at) for at, key in enumerate(keys)]
    ways = [(key, value if value is not None or at < first else inner.get(key)) for key, value, at in pairs]
    return tuple((key, value) for key, value in ways if value is not None)


def expect_another(state: Any, event: Any, config: Any) -> Any:
    """Expect a read of the entry that came after the held one, which has left."""
    stale = [one.slot for one in state.holds.get(event.hold, ()) if one.slot.pos == event.pos and not one.is_cached]
    if not stale or event.dispatcher is not ops.Dispatcher.KEY_SHARED:
        return ledger_cursors.replay_add(state, event, config)
    more = ops.ExpectRead(*stale[0])
    done = ledger.as_part(state, more, entries.expect_read(state, more, config))
    return ledger.then(done, ledger_cursors.replay_add(done.state, event, config))


def subtract_all_deleted(managed: Any, cursor: Any, config: Config) -> int:
    """Take the acknowledged entries of deleted ledgers from the backlog, also those that the cursor has read."""
    forgetting = replace(config, variants=replace(config.variants, deleted_acks=DeletedAcks.FORGOTTEN))
    is_forgotten = config.variants.deleted_acks is DeletedAcks.FORGOTTEN
    deleted = [pos for pos in cursor.acks if pos.ledger not in managed.sizes and not is_forgotten]
    return ledger.backlog_of(managed, cursor, forgetting) - len(deleted)


def count_grouped_fills(state: Any, event: Any, gap: Any, config: Config) -> Any:
    """Cache what a grouped replay reads from storage with an expected read."""
    is_grouped = type(event) is ops.Read and config.variants.replay is Replay.GROUPED
    return storage_reads.fill(state, replace(event, expected_reads=1) if is_grouped else event, gap, config)


def end_without_entries(work: Any, name: Any, cached: Any, config: Config) -> Any:
    """End a read whose last chunk brings nothing, though it has got nothing before either."""
    is_last = cached.last == reads_in_flight.read_named(work, name).last
    if config.variants.read_end is ReadEnd.LAST_CONFIRMED and is_last and not reads_in_flight.positions_got(cached):
        return reads_in_flight.end_read(reads_in_flight.return_permits(work, name, config), name)
    return reads_in_flight.deliver_chunk(work, name, cached, config)


@pytest.mark.parametrize(
    ("name", "runs", "wrong", "rule"),
    [
        ("pulsar-pip430", generate_short_answers, {"reads_in_flight.deliver_chunk": end_without_entries}, "R-INFLIGHT"),
        ("pulsar-pip430", generate_ledger_runs, {"ledger_cursors.fill": count_grouped_fills}, "R-LEDGER-8"),
        ("pulsar-pip430", generate_deleted_runs, {"ledger.backlog_of": subtract_all_deleted}, "R-LEDGER-12"),
        ("kafka-streams", generate_failing_runs, {"flush.put_back": put_back_last}, "K-"),
        ("kafka-streams", generate_failing_runs, {"stores.takes_write": takes_known_write}, "K-STORE-2"),
        ("kafka-streams", generate_failing_runs, {"stores.merge_as_released": show_behind_any}, "K-STORE-11"),
        ("pulsar-pip430", generate_held_runs, {"ledger_cursors.replay_add": expect_another}, "R-LEDGER-9"),
    ],
)
def test_short_runs_meet_what_comes_between(name: str, runs: Any, wrong: Mapping[str, Any], rule: str) -> None:
    """Writes between forwards that throw, windows that nobody hears, and entries that come anew while they are held."""
    system, package = SYSTEMS[name], f"entrycache_reference.{name.replace('-', '_')}"
    assert find_broken_law(system, islice(runs(), 40)) == ""
    assert find_broken_law(system._replace(model=Model(package, wrong)), runs()).startswith(rule)


def end_with_any_chunk(work: Any, name: Any, after: Any, config: Config, is_last: bool = False) -> Any:
    """End a read after its first chunk, whether or not that was the last one when it asked."""
    return reads_in_flight.move_on(work, name, after, config, config.variants.read_end is ReadEnd.LAST_CONFIRMED)


def expect_what_has_left(work: Any, name: Any, cached: Any, config: Config) -> Any:
    """Expect a delivery of what the cache held no longer for the replay."""
    held = tuple(one._replace(is_cached=True) for one in reads_in_flight.held_by(work.state, name))
    done = reads_in_flight.expect_delivery(reads_in_flight.with_held(work, name, held), name, cached, config)
    return reads_in_flight.with_held(done, name, reads_in_flight.held_by(work.state, name))


def join_the_oldest_of_the_longest(pieces: Any, config: Config) -> Any:
    """Join the oldest one of the longest asks."""
    reversed_pieces = tuple(piece._replace(ask=-piece.ask) if piece.ask else piece for piece in pieces)
    piece = pending_reads.piece_to_join(reversed_pieces, config)
    return piece._replace(ask=-piece.ask) if piece.ask else piece


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("ledger_cursors.is_within", lambda *_: True),
        pytest.param("reads_in_flight.move_on", end_with_any_chunk, marks=pytest.mark.long),
        pytest.param("reads_in_flight.expect_delivery", expect_what_has_left, marks=pytest.mark.long),
        pytest.param("pending_reads.piece_to_join", join_the_oldest_of_the_longest, marks=pytest.mark.long),
    ],
)
def test_a_fault_of_shared_reads_is_reported(place: str, wrong: Any) -> None:
    """The budget of what lies between, the end of a read, a delivery that is expected, and the ask that is joined."""
    faulty = with_model(Model("entrycache_reference.pulsar_pip430", {place: wrong}))
    assert find_broken_law(faulty, generate_sharing_runs()).startswith("R-")


@pytest.mark.parametrize("name", SYSTEMS)
def test_crowded_runs_are_large(name: str) -> None:
    """Each has hundreds of steps, or of entries in one step."""
    lengths = [
        max(len(steps), *(len(getattr(step, "entries", ())) for step in steps))
        for _, steps in SYSTEM_EVIDENCE[name].crowded_runs()
    ]
    assert max(lengths) >= 200


def unaccessed_as_a_number(state: Any) -> Any:
    """Return the same state with 0 in place of False."""
    caches = {
        name: cache._replace(entries={pos: entry._replace(accessed=0) for pos, entry in cache.entries.items()})
        for name, cache in state.caches.items()
    }
    return state._replace(caches=caches)


@pytest.mark.parametrize(
    ("mistaken", "said"),
    [
        (unaccessed_as_a_number, "Entry.accessed is 0, expected bool"),
        (lambda state: state._replace(is_scheduled=0), "State.is_scheduled is 0, expected bool"),
        (lambda state: state._replace(now_nanos=False), "State.now_nanos is False, expected int"),
    ],
)
def test_an_integer_for_a_boolean_is_reported(mistaken: Callable[[Any], Any], said: str) -> None:
    class Mistaken:
        initial = staticmethod(initial)

        @staticmethod
        def step(state: Any, op: Any, config: Config) -> Any:
            done = PULSAR.model.step(state, op, config)
            return done._replace(state=mistaken(done.state))

    event = ops.Insert(CacheName("a"), Position(1, 0), 7)
    assert find_broken_law(PULSAR, [(Config(), (event,))]) == ""
    assert find_broken_law(with_model(Mistaken), [(Config(), (event,))]) == f"{said} at step 0 (insert) of run 0"


def test_a_run_goes_on_where_a_state_stands_in_place_of_a_step() -> None:
    """A bound at 127 cursors is beyond every step; a state with more of them refutes it."""
    config, names = Config(), [CursorName(f"c{number}") for number in range(130)]
    members = {name: Position(1, number) for number, name in enumerate(names)}
    large = initial(config)._replace(caches={CacheName("a"): Cache({}, 0, members)})
    event = ops.CursorRank(CacheName("a"), names[-1])

    class Bounded:
        initial = staticmethod(initial)

        @staticmethod
        def step(state: Any, op: Any, config: Config) -> Any:
            done = PULSAR.model.step(state, op, config)
            return done._replace(outcome=Ranked(min(127, done.outcome.rank)))

    assert find_broken_law(PULSAR, [(config, (large, event))]) == ""
    assert find_broken_law(with_model(Bounded), [(config, (event, large))]) == ""
    said = find_broken_law(with_model(Bounded), [(config, (large, event))])
    assert said.startswith("R-CURSOR-7")
    assert said.endswith("at step 1 (cursor_rank) of run 0")


LEAST: Mapping[str, tuple[tuple[int, int], ...]] = {
    "pulsar-pip430": ((150, 4500), (25, 7500), (2590, 98400), (160, 11000)),
    "kafka-streams": ((320, 7800), (87, 14800), (1190, 38700), (160, 3600)),
    "pulsar-legacy": ((150, 4500), (13, 3700), (3, 280), (160, 6500)),
    "pulsar-segmented": ((216, 6480), (48, 12400), (205, 7600), (160, 12100)),
}
"""The least numbers of runs and of their steps: of the rule book, large, crowded and generated."""


@pytest.mark.parametrize("name", SYSTEMS)
def test_there_are_as_many_runs_as_before(name: str) -> None:
    """Fewer seeds would check less, and nothing else would say so."""
    kinds = (corpus.list_runs, *(runs for kind, runs in run.RUNS.items() if kind != "mixed cases"))
    for kind, (runs, steps) in zip(kinds, LEAST[name], strict=True):
        lengths = [len(tuple(tuple(one)[-1])) for one in kind(SYSTEMS[name])]
        assert len(lengths) >= runs, kind
        assert sum(lengths) >= steps, kind
    assert (stress.SCALED_CASES, stress.SCALED_CASES_IN_CI) == (240, 64)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("views.has_prefix_and_more", lambda event: event.prefix is not None and None not in (event.from_, event.to)),
        ("windows.range_times", lambda event: (False, False)),
    ],
)
def test_a_view_that_is_to_be_refused_is_reported(place: str, wrong: Callable[[Any], Any]) -> None:
    system, config = SYSTEMS["kafka-streams"], KafkaConfig(PLENTY_BYTES)
    runs = [(config, tuple(ask_for_every_view(kind))) for kind in StoreKind]
    assert find_broken_law(system, runs) == ""
    faulty = Model("entrycache_reference.kafka_streams", {place: wrong})
    assert find_broken_law(system._replace(model=faulty), runs).startswith("K-")


@pytest.mark.parametrize(
    ("place", "wrong", "rule"),
    [
        ("pending_reads.is_uncached", lambda work, name, first, last: True, "R-INFLIGHT-1"),
        ("reads_in_flight.budget_of_replay", lambda state, event, config: 10**6, "R-LIMIT-1"),
        ("pending_reads.split_held", lambda held, positions, request=None: split_held(held, positions), "R-INFLIGHT-1"),
    ],
)
def test_a_position_that_is_held_twice_shows_faults(place: str, wrong: Callable[..., Any], rule: str) -> None:
    """The faults are: a cached entry is asked for, no limit for what lies between, and the other request gives back."""
    system = SYSTEMS["pulsar-pip430"]
    assert find_broken_law(system, generate_double_holds()) == ""
    faulty = Model("entrycache_reference.pulsar_pip430", {place: wrong})
    assert find_broken_law(system._replace(model=faulty), generate_double_holds()).startswith(rule)


def go_on_from_the_start(work: Any, name: Any, start: Any, most: Any) -> Any:
    """Let a read go on unless its own start is behind the last entry, wherever its cursor stands."""
    managed = work.state.managed[read_named(work, name).cache]
    if most == 0 or start >= ledger.next_append(managed):
        return go_on(work, name, start, 0)
    return work._replace(tasks=(*work.tasks, GoOn(name, start)))


def go_on_with_entries_only(work: Any, name: Any, start: Any, most: Any) -> Any:
    """End a read whose chunk got nothing, if it has got something before."""
    return go_on(work, name, start, 0 if most is None and held_by(work.state, name) else most)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("reads_in_flight.go_on", go_on_from_the_start),
        ("reads_in_flight.go_on", go_on_with_entries_only),
        (
            "reads_in_flight.end_of_chunk",
            lambda cursor, last, left_out: ledger.end_of_run(cursor, last) if left_out else last,
        ),
    ],
    ids=["behind the end", "not once more", "behind other acks"],
)
def test_a_read_that_goes_on_elsewhere_or_ends_early_is_reported(place: str, wrong: Callable[..., Any]) -> None:
    system = SYSTEMS["pulsar-pip430"]
    faulty = Model("entrycache_reference.pulsar_pip430", {place: wrong})
    assert find_broken_law(system._replace(model=faulty), generate_moved_answers()).startswith("R-INFLIGHT-1 ")


def test_a_chunk_that_begins_elsewhere_is_reported() -> None:
    """The fault is that a read goes on from where its cursor stands now."""
    system = SYSTEMS["pulsar-pip430"]

    def goes_on_elsewhere(work: Any, name: Any, start: Any, config: Any) -> Any:
        read = work.state.pending.of_cursors[name]
        at = work.state.managed[read.cache].cursors[read.cursor].read
        wrong = begin_chunk(work, name, at, config)
        left = wrong.state.pending.of_cursors.get(name)
        return wrong if left is None or not left.wanted else with_read(wrong, name, left._replace(start=start))

    assert find_broken_law(system, generate_moved_answers()) == ""
    faulty = Model("entrycache_reference.pulsar_pip430", {"reads_in_flight.begin_chunk": goes_on_elsewhere})
    assert find_broken_law(system._replace(model=faulty), generate_moved_answers()).startswith("R-")


LEAST_TAKEN = {"pulsar-pip430": 20, "kafka-streams": 3}
"""The least number of times that an operation is taken, and not refused, under each value of a variant."""


@pytest.mark.long
@pytest.mark.parametrize("name", LEAST_TAKEN)
def test_each_operation_is_taken_under_each_variant(name: str) -> None:
    """An operation that is rare under a variant hides what only the two together break."""
    system, taken = SYSTEMS[name], Counter[tuple[str, Any, str]]()
    default = system.model.variants()
    for kind in ("mixed cases", "generated cases", "crowded runs"):
        for config, steps in run.RUNS[kind](system):
            state = system.model.initial(config)
            values = [(field.name, getattr(config.variants, field.name)) for field in fields(default)]
            for event in steps:
                done = system.model.step(state, event, config)
                state = done.state
                if type(done.outcome).__name__ != "Refused":
                    taken.update((variant, value, event.name) for variant, value in values)
    variants = {field.name: getattr(default, field.name) for field in fields(default)}
    wanted = {
        (variant, value, op)
        for variant, one in variants.items()
        for value in (type(one) if isinstance(one, Enum) else (False, True))
        for op in system.ops
    }
    assert {one: taken[one] for one in wanted if taken[one] < LEAST_TAKEN[name]} == {}
