"""Test frames and definitions: each declaration is as narrow as possible, and detects every alteration of a step."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any, Final, NamedTuple

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core.models import DEFINED_IN, build_check, find_definition
from entrycache_evidence.kafka_streams import frame as kafka
from entrycache_evidence.kafka_streams import frame as kafka_words
from entrycache_evidence.pulsar_pip430 import frame as pulsar
from entrycache_evidence.pulsar_pip430 import frame as pulsar_words
from entrycache_evidence.rulebook.corpus import Run, generate_runs
from entrycache_protocol.system import AnySystem
from entrycache_reference import kafka_streams, pulsar_pip430
from entrycache_reference.kafka_streams import ops as kafka_ops
from entrycache_reference.kafka_streams import view_ops
from entrycache_reference.kafka_streams.config import ExpiredWindows, Total, UndeliveredEviction
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import DuplicateCount, Eviction, Invalidation, Replay, Storage, ZeroReads
from entrycache_reference.vocabulary import (
    CacheName,
    CursorName,
    HoldName,
    LedgerBound,
    Position,
    ReadName,
    RequestName,
)
from tests.support.altered import altered, fields_altered, rows_altered

PULSAR, KAFKA = (SYSTEMS[module.NAME] for module in (pulsar_pip430, kafka_streams))
FRAMES: Mapping[str, ModuleType] = {PULSAR.name: pulsar, KAFKA.name: kafka}
WORDS: Mapping[str, ModuleType] = {PULSAR.name: pulsar_words, KAFKA.name: kafka_words}


A: Final = CacheName("a")
AT: Final = Position(0, 0)
LOSING: Final = kafka_streams.Config(
    max_size_bytes=100,
    variants=kafka_streams.Variants(undelivered_eviction=UndeliveredEviction.LOST),
)
LOST: Final = (
    kafka_ops.Put("s", "x", "1", True),
    kafka_ops.Evict("s"),
    kafka_ops.Put("s", "y", "1", True),
    kafka_ops.StoreInner("s"),
)
"""Evict without a listener, so that a dirty key has no entry any more; then a store opens and flushes it."""

FULL: Final = (kafka_ops.StorePut("s", "x", "1"), kafka_ops.StorePut("s", "y", "1"))
"""Two dirty entries of a store that fill the limit."""

OWING: Final = (
    *(kafka_ops.StorePut("s", key, "1") for key in "wx"),
    kafka_ops.StoreFlush("s"),
    kafka_ops.StorePut("s", "x", None),
    kafka_ops.StorePut("s", "y", "1"),
    view_ops.FailForward("s", "x", 1),
)
"""Delete a value that lies below, in a full cache, so that the forward of the deletion throws when its turn comes."""

WINDOW: Final = view_ops.StoreOpen("s", kind=view_ops.StoreKind.WINDOW)
SESSION: Final = view_ops.StoreOpen("s", kind=view_ops.StoreKind.SESSION)
OWING_WINDOW: Final = (
    WINDOW,
    view_ops.WindowPut("s", "x", 1, "1"),
    kafka_ops.StoreFlush("s"),
    view_ops.WindowPut("s", "x", 1, None),
    view_ops.WindowPut("s", "y", 1, "1"),
    view_ops.FailForward("s", "x", 1),
)
OWING_SESSION: Final = (
    SESSION,
    view_ops.SessionPut("s", "x", 1, 2, "1"),
    kafka_ops.StoreFlush("s"),
    view_ops.SessionRemove("s", "x", 1, 2),
    view_ops.SessionPut("s", "y", 1, 2, "1"),
    view_ops.FailForward("s", "x", 1),
)

WRITES: Final = (
    kafka_ops.Put("s", "z", "1", True),
    kafka_ops.PutAll("s", (kafka_ops.Write("z", "1", True),)),
    kafka_ops.PutIfAbsent("s", "z", "1", True),
    kafka_ops.Resize(10),
)
STORE_WRITES: Final = (
    kafka_ops.StorePut("s", "z", "1"),
    kafka_ops.StoreDelete("s", "z"),
    view_ops.StorePutAll("s", (("z", "1"),)),
    view_ops.StorePutIfAbsent("s", "z", "1"),
    kafka_ops.StoreGet("s", "w"),
)
FLUSHES: Final = (kafka_ops.Evict("s"), kafka_ops.Flush("s"), kafka_ops.StoreFlush("s"), view_ops.StoreClose("s"))
STORE_READS: Final = (
    kafka_ops.StoreAll("s"),
    kafka_ops.StoreRange("s", None, None),
    view_ops.StoreView("s"),
    view_ops.StoreQuery("s", "y"),
    view_ops.StoreQueryRange("s"),
)
WINDOW_WRITES: Final = (view_ops.WindowPut("s", "z", 9, "1"),)
SESSION_WRITES: Final = (view_ops.SessionPut("s", "z", 8, 9, "1"), view_ops.SessionRemove("s", "z", 8, 9))
EXPIRING: Final = kafka_streams.Variants(expired_windows=ExpiredWindows.CACHED)
FAILS_ONCE: Final = kafka_ops.Listen("s", (), 1)


def written_runs() -> Iterator[Run]:
    """Yield runs in which an operation hands entries to a store, a listener or a forward that throws."""
    full, running = (
        kafka_streams.Config(100),
        kafka_streams.Config(100, variants=kafka_streams.Variants(total=Total.RUNNING)),
    )
    for event in (*WRITES, *STORE_WRITES, *FLUSHES):
        yield Run(KAFKA, full, (*OWING, event))
        yield Run(KAFKA, running, (*OWING[:-1], event))
        yield Run(KAFKA, full, (*OWING[:-1], FAILS_ONCE, event))
    for event in (*STORE_WRITES, *STORE_READS):
        yield Run(KAFKA, full, (event,))
        yield Run(KAFKA, full, (*FULL[::-1], event))
    yield Run(KAFKA, full, (*OWING, kafka_ops.StoreFlush("s"), view_ops.StoreClose("s")))
    yield Run(KAFKA, running, (*FULL, kafka_ops.Clear("s")))
    yield Run(KAFKA, full, (*FULL, kafka_ops.StoreDelete("s", "x"), view_ops.StorePutIfAbsent("s", "x", "1")))
    yield Run(KAFKA, full, (*FULL, view_ops.StorePutAll("s", (("x", "2"), ("y", "2")))))
    yield Run(KAFKA, full, (*FULL, *FULL, kafka_ops.StoreGet("s", "x"), kafka_ops.Close("s")))
    for events, writes in ((OWING_WINDOW, WINDOW_WRITES), (OWING_SESSION, SESSION_WRITES)):
        for event in writes:
            for end in ((events[-1],), (), (FAILS_ONCE,)):
                yield Run(KAFKA, kafka_streams.Config(145), (*events[:-1], *end, event))
            yield Run(KAFKA, full, (events[0], kafka_ops.Close("s"), event))
            raw = tuple(
                kafka_ops.Put("s", f"{key}@1-2" if events[0] is SESSION else f"{key}@1", "1", True) for key in "xy"
            )
            yield Run(
                KAFKA, LOSING, (raw[0], kafka_ops.Evict("s"), raw[1], events[0], event, kafka_ops.StoreFlush("s"))
            )
    for event in (
        kafka_ops.Put("s", "z@9", "1", True),
        kafka_ops.PutAll("s", (kafka_ops.Write("z@9", "1", True),)),
        kafka_ops.PutIfAbsent("s", "z@9", "1", True),
        kafka_ops.Resize(10),
    ):
        raw = tuple(kafka_ops.Put("s", key, "1", True) for key in ("x@5", "y@5"))
        yield Run(KAFKA, dataclasses.replace(full, variants=EXPIRING), (WINDOW, *raw, event))


M: Final = CacheName("m")
C, D = CursorName("c"), CursorName("d")
R, S = RequestName("r"), RequestName("s")
UNCACHED: Final = pulsar_pip430.Config(max_size_bytes=10, grace_millis=0)
APPENDED: Final = tuple(ops.Append(M, Position(1, entry), 8) for entry in range(3))
"""Entries that are not cached, because nobody reads them."""

REPLAYED: Final = (
    *APPENDED,
    ops.CursorOpen(M, C, Position(1, 0)),
    ops.ReplayRead(M, C, (Position(1, 0), Position(1, 2))),
)
GROUPED: Final = pulsar_pip430.Variants(replay=Replay.GROUPED, zero_reads=ZeroReads.COUNTED)

LATE_STORAGE: Final = pulsar_pip430.Config(max_size_bytes=10, grace_millis=0, storage=Storage.HELD)
LATE_REPLAY: Final = (
    *APPENDED,
    ops.CursorOpen(M, C, Position(1, 0)),
    ops.ReplayBegin(M, C, ReadName("r"), (Position(1, 0), Position(1, 2))),
    ops.StorageAnswer(0, ops.StorageAnswerKind.ALL),
)

HOLDING: Final = (
    ops.CursorOpen(M, C, Position(1, 0)),
    *(ops.Append(M, Position(2, entry), 2) for entry in range(2)),
    ops.CursorRead(M, C, 9, HoldName("h")),
    ops.CursorSeek(M, C, Position(1, 0)),
    ops.CursorRead(M, C, 9, HoldName("i")),
    ops.ReplayRead(M, C, (Position(1, 0), Position(1, 1)), HoldName("j")),
)
"""A cursor holds what it has read from the cache and from storage, and what it replays."""

RARE: Final = (
    Run(PULSAR, pulsar_pip430.Config(max_size_bytes=100, grace_millis=0), (*APPENDED, *HOLDING)),
    Run(PULSAR, pulsar_pip430.Config(max_size_bytes=10, grace_millis=0), (*APPENDED, *HOLDING)),
    *(
        Run(PULSAR, pulsar_pip430.Config(ttl_nanos=1, max_requeues=0), (ops.Read(A, AT, AT, 1, HoldName("h")), *events))
        for events in ((ops.Advance(9), ops.Expire()), (ops.RemoveRange(A, AT, AT, True),))
    ),
    Run(PULSAR, pulsar_pip430.Config(), (ops.Read(A, AT, AT, 1, HoldName("h")), ops.Clear(A))),
    Run(PULSAR, pulsar_pip430.Config(max_size_bytes=10, eviction=Eviction.MANUAL), (ops.Read(A, AT, AT, 1),)),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (
            *(
                ops.Fetch(ReadName(name), Position(1, first), Position(1, first + 2))
                for first, name in enumerate("abc")
            ),
            *(ops.StorageAnswer(*each) for each in ((1, ops.StorageAnswerKind.FAIL), (0, 1), (2, 1))),
        ),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (ops.Insert(A, AT, 8), ops.Get(A, AT), ops.Insert(A, Position(1, 9), 8), ops.Evict(8)),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (ops.Insert(A, AT, 8, 1), ops.Insert(A, Position(1, 9), 8), ops.Advance(1), ops.Evict(8)),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (
            ops.Append(M, Position(1, 0), 8),
            ops.Append(M, Position(2, 0), 8),
            ops.CursorOpen(M, C, Position(1, 0)),
            ops.ReplayRead(M, C, (Position(1, 0),)),
            ops.DeleteLedger(M, LedgerBound(1)),
        ),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(max_reads_in_flight_bytes=1, acquire_timeout_millis=1),
        (ops.Acquire(R, 1), ops.Acquire(S, 1), ops.Advance(1_000_000)),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(evict_by_expected_reads=False, min_backlog_cursors=1, min_backlog_entries=1),
        (*APPENDED, *(ops.CursorOpen(M, name, Position(1, 0)) for name in (C, D)), ops.CheckBacklogs(M)),
    ),
    *(
        Run(PULSAR, dataclasses.replace(UNCACHED, eviction=eviction, variants=variants), events)
        for eviction in Eviction
        for variants, events in (
            (pulsar_pip430.Variants(), (*REPLAYED[:-1], ops.CursorRead(M, C, 3))),
            (GROUPED, REPLAYED),
        )
    ),
    *(
        Run(PULSAR, dataclasses.replace(LATE_STORAGE, eviction=eviction, variants=GROUPED), LATE_REPLAY)
        for eviction in Eviction
    ),
    *(
        Run(
            PULSAR,
            pulsar_pip430.Config(evict_by_expected_reads=False, storage=Storage.HELD, invalidation=invalidation),
            (
                ops.Append(M, Position(1, 0), 8),
                ops.CursorOpen(M, C, Position(1, 0)),
                ops.CursorOpen(M, D, Position(1, 0)),
                ops.Append(M, Position(1, 1), 8),
                ops.Deactivate(M, D),
                ops.ReadBegin(M, D, ReadName("r"), 1),
                leaving,
                ops.RunInvalidations(M),
            ),
        )
        for leaving in (ops.Deactivate(M, C), ops.CursorClose(M, C))
        for invalidation in Invalidation
    ),
    Run(PULSAR, pulsar_pip430.Config(), (ops.Insert(A, AT, 8), ops.GetRange(A, AT, AT))),
    Run(PULSAR, pulsar_pip430.Config(max_reads_in_flight_bytes=2), (ops.Acquire(R, 1), ops.GiveBack(R))),
    Run(
        PULSAR, pulsar_pip430.Config(ttl_nanos=1), (ops.Insert(A, AT, 1), ops.Get(A, AT), ops.Advance(9), ops.Expire())
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (ops.Read(A, AT, AT, 1, HoldName("h")), ops.InvalidateBefore(A, Position(1, 0))),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(),
        (ops.Read(A, AT, AT, 1, HoldName("h")), ops.InvalidateLedger(A, AT.ledger)),
    ),
    Run(
        PULSAR,
        pulsar_pip430.Config(variants=pulsar_pip430.Variants(duplicate_count=DuplicateCount.REPLACED)),
        (ops.Insert(A, AT, 1, 1), ops.Read(A, AT, AT, 1, HoldName("h")), ops.Insert(A, AT, 1, 2)),
    ),
    Run(KAFKA, kafka_streams.Config(), (kafka_ops.Put("a", "x", "1"), kafka_ops.Get("a", "x"), kafka_ops.Close("a"))),
    Run(
        KAFKA,
        kafka_streams.Config(variants=EXPIRING),
        (view_ops.StoreOpen("s", kind=view_ops.StoreKind.WINDOW), *WINDOW_WRITES, kafka_ops.Evict("s")),
    ),
    Run(KAFKA, kafka_streams.Config(), (*FULL, view_ops.StorePutAll("s", (("x", "2"), ("y", "2"))))),
    Run(
        KAFKA,
        kafka_streams.Config(50, variants=kafka_streams.Variants(undelivered_eviction=UndeliveredEviction.LOST)),
        (
            *(kafka_ops.Put("a", key, "1", True) for key in "xy"),
            kafka_ops.Listen("a"),
            kafka_ops.Put("a", "z", "1", True),
        ),
    ),
    *(
        Run(KAFKA, kafka_streams.Config(max_size_bytes=100), (*FULL, event))
        for event in (
            kafka_ops.Put("s", "z", "1", True),
            kafka_ops.PutAll("s", (kafka_ops.Write("z", "1", True),)),
            kafka_ops.PutIfAbsent("s", "z", "1", True),
            kafka_ops.StoreDelete("s", "z"),
            view_ops.StorePutAll("s", (("z", "1"),)),
            view_ops.StorePutIfAbsent("s", "z", "1"),
            kafka_ops.Resize(50),
        )
    ),
    Run(
        KAFKA,
        kafka_streams.Config(max_size_bytes=100, variants=kafka_streams.Variants(total=Total.RUNNING)),
        (*FULL, kafka_ops.Put("r", "x", ""), kafka_ops.Resize(50)),
    ),
    Run(
        KAFKA,
        kafka_streams.Config(max_size_bytes=100),
        (FULL[0], kafka_ops.StoreFlush("s"), FULL[1], kafka_ops.StorePut("s", "z", "1"), kafka_ops.StoreGet("s", "x")),
    ),
    Run(
        KAFKA,
        kafka_streams.Config(),
        (kafka_ops.Put("a", "x", "1", True), kafka_ops.Listen("a", (), 1), kafka_ops.Resize(0)),
    ),
    Run(
        KAFKA,
        kafka_streams.Config(max_size_bytes=50),
        (
            kafka_ops.Put("a", "x", "1", True),
            kafka_ops.Listen("a", (), 1),
            kafka_ops.PutAll("a", (kafka_ops.Write("y", "1", True),)),
        ),
    ),
    Run(
        KAFKA,
        kafka_streams.Config(max_size_bytes=50),
        (
            kafka_ops.Put("a", "x", "1", True),
            kafka_ops.Listen("a", (), 1),
            kafka_ops.PutIfAbsent("a", "y", "1", True),
        ),
    ),
    Run(
        KAFKA,
        kafka_streams.Config(variants=kafka_streams.Variants(total=Total.RUNNING)),
        (*FULL, kafka_ops.StoreFlush("s"), view_ops.StoreClear("s"), kafka_ops.StoreGet("s", "x")),
    ),
    *(
        Run(KAFKA, kafka_streams.Config(), (*FULL, view_ops.ViewOpen("v", "s"), view_ops.ViewNext("v"), end))
        for end in (kafka_ops.Close("s"), view_ops.StoreClose("s"), kafka_ops.Metrics("s"))
    ),
    *(
        Run(KAFKA, kafka_streams.Config(), (*(kafka_ops.Put("a", key, "1") for key in keys), walk))
        for keys, walk in (
            ("xy", kafka_ops.ReverseRange("a", None, None)),
            ("xy", kafka_ops.ReverseAll("a")),
            ("yx", kafka_ops.Range("a", None, None)),
            ("yx", kafka_ops.All("a")),
        )
    ),
    Run(
        KAFKA,
        kafka_streams.Config(variants=kafka_streams.Variants(total=Total.RUNNING)),
        (kafka_ops.Put("a", "x", "1", True), kafka_ops.Delete("a", "x")),
    ),
    *(
        Run(KAFKA, LOSING, (*LOST, *events))
        for events in (
            (kafka_ops.Evict("s"),),
            (kafka_ops.Resize(0),),
            (kafka_ops.StoreFlush("s"),),
            (kafka_ops.Flush("s"),),
            (kafka_ops.StorePut("s", "z", "1"), kafka_ops.StorePut("s", "w", "1")),
            (view_ops.StorePutAll("s", (("z", "1"), ("w", "1"))),),
            (kafka_ops.PutAll("s", (kafka_ops.Write("z", "1", True), kafka_ops.Write("w", "1", True))),),
        )
    ),
    *written_runs(),
)
"""Runs with states that random runs hardly ever reach."""


class PlayedStep(NamedTuple):
    """One step of a run."""

    config: Any
    pre: Any
    event: Any
    step: Any


def varied(system: AnySystem) -> Iterator[Run]:
    """Return the runs of a system, every second one under random variants."""
    chance = random.Random(16)
    kinds = [type(getattr(system.model.variants(), one.name)) for one in dataclasses.fields(system.model.variants)]
    for number, run in enumerate(generate_runs(system)):
        variants = system.model.variants(*(chance.choice(list(kind)) for kind in kinds))
        yield run._replace(config=dataclasses.replace(run.config, variants=variants)) if number % 2 else run
    yield from (run for run in RARE if run.system is system)


@pytest.fixture(scope="module", params=[PULSAR, KAFKA], ids=lambda system: system.name)
def system(request) -> AnySystem:
    return request.param


@pytest.fixture(scope="module")
def played_steps(system) -> list[PlayedStep]:
    steps = []
    for run in varied(system):
        state = system.model.initial(run.config)
        for event in run.events:
            step = system.model.step(state, event, run.config)
            steps.append(PlayedStep(run.config, state, event, step))
            state = step.state
    return steps


ChangedExtents = dict[tuple[type[Any], bool], dict[Enum, list[frozenset[Enum]]]]
"""The extents of each change of an aspect, by operation and whether the change is between its parts."""


def words_of(system: AnySystem, one: Any, key: tuple[Any, ...]) -> frozenset[Enum]:
    """Return the extents to which a key belongs."""
    words = set()
    for word, is_in in FRAMES[system.name].IS_IN.items():
        arguments = (one.event,) if system is KAFKA else (one.pre, one.event, one.step)
        try:
            if key and is_in(*arguments, key):
                words.add(word)
        except (AttributeError, IndexError, TypeError):
            continue
    return frozenset(words)


def framed(system: AnySystem, step: PlayedStep) -> Iterator[tuple[Any, bool]]:
    """Return the parts of a step that have a frame."""
    if system is KAFKA:
        for one in kafka.framed_steps(step.pre, step.event, step.step.state, step.step.parts):
            yield one, False
        return
    for each in pulsar.framed_steps(step.pre, step.event, step.step):
        yield each, each.may_change is not pulsar.MAY_CHANGE[type(each.event)]


@pytest.fixture(scope="module")
def changed_extents(system, played_steps) -> ChangedExtents:
    extents: ChangedExtents = defaultdict(lambda: defaultdict(list))
    changes = FRAMES[system.name].changes
    for step in played_steps:
        for one, between_parts in framed(system, step):
            after = one.after if system is KAFKA else one.step.state
            for aspect, key in changes(one.pre, after):
                extents[type(one.event), between_parts][aspect].append(words_of(system, one, key))
    return extents


def declarations(system: AnySystem) -> dict[tuple[type[Any], bool], Mapping[Any, Any]]:
    may_change_by_op = {(op, False): may_change for op, may_change in FRAMES[system.name].MAY_CHANGE.items()}
    return may_change_by_op | {(op, True): may_change for op, may_change in FRAMES[system.name].BETWEEN_PARTS.items()}


def test_every_system_and_every_operation_has_its_declaration_and_its_definition():
    for each in SYSTEMS.values():
        assert find_definition(each) is not None
    assert len(DEFINED_IN) == len(SYSTEMS)
    for name, frames in FRAMES.items():
        assert frames.MAY_CHANGE.keys() == set(SYSTEMS[name].ops.values())


def too_wide(
    words: ModuleType, may_change: Mapping[Any, Any], changed: Mapping[Enum, list[frozenset[Enum]]]
) -> set[Any]:
    """Return the declared aspects that never change, or that a narrower word would cover."""
    order = list(words.Extent)
    aspects = set()
    for aspect, whose in may_change.items():
        times = changed.get(aspect, [])
        narrower = order[: order.index(whose)]
        if not times or any(all(word in held for held in times) for word in narrower):
            aspects.add(aspect)
    return aspects


def test_each_declared_aspect_changes_in_no_narrower_extent(system, changed_extents):
    words = WORDS[system.name]
    wide = {
        f"{op.name}{' between parts' if between_parts else ''}: {', '.join(sorted(aspect.name for aspect in aspects))}"
        for (op, between_parts), declared in declarations(system).items()
        if (aspects := too_wide(words, declared, changed_extents[op, between_parts]))
    }
    assert wide == set()


def test_a_declaration_that_is_widened_is_noticed(system, changed_extents):
    words = WORDS[system.name]
    for (op, between_parts), declared in declarations(system).items():
        changed = changed_extents[op, between_parts]
        opened = words.OPENED.keys() if changed.keys() - declared.keys() else set()
        for aspect in set(words.Aspect) - declared.keys() - opened:
            assert too_wide(words, {**declared, aspect: words.Extent.ALL}, changed) == {aspect}, (op.name, aspect)
        for aspect, whose in declared.items():
            if whose is not words.Extent.ALL and any(changed[aspect]):
                assert aspect in too_wide(words, {**declared, aspect: words.Extent.ALL}, changed), (op.name, aspect)


def richest(played_steps: list[PlayedStep], op: type[Any], many: int) -> list[PlayedStep]:
    """Return the steps of an operation whose states hold most."""
    own = [step for step in played_steps if type(step.event) is op]
    return sorted(own, key=lambda step: len(str(step.step.state)))[-many:]


def is_detected(system: AnySystem, step: PlayedStep, altered: Any) -> bool:
    """Return whether an altered step breaks a rule; a law that cannot read it counts too."""
    try:
        return bool(build_check(system)(step.config, step.pre, step.event, altered, {}))
    except (KeyError, IndexError, AttributeError, ValueError, TypeError):
        return True


def test_every_alteration_of_the_state_is_detected(system, played_steps):
    shape = FRAMES[system.name].STATE
    aspects = defaultdict(set)
    for op in system.ops.values():
        for step in richest(played_steps, op, 3):
            for aspect, state in altered(step.step.state, shape):
                aspects[op].add(aspect)
                assert is_detected(system, step, step.step._replace(state=state)), (step.event, aspect)
    assert {aspect for keys in aspects.values() for aspect in keys} == set(WORDS[system.name].Aspect)
    assert min(len(keys) for keys in aspects.values()) > 12


@pytest.mark.long
def test_every_alteration_of_the_answer_or_a_row_is_detected(system, played_steps):
    chance = random.Random(16)
    for op in system.ops.values():
        for step in richest(played_steps, op, 12):
            rows = list(rows_altered(step.step.rows))
            altered = [step.step._replace(outcome=answer) for answer in answers(step.step.outcome)]
            altered += [step.step._replace(rows=some) for some in chance.sample(rows, min(len(rows), 25))]
            assert all(is_detected(system, step, one) for one in altered), step.event


def answers(outcome: Any) -> Iterator[Any]:
    """Yield the outcome with one part altered."""
    yield from fields_altered(outcome)
    if isinstance(outcome, kafka_streams.state.Outcome):
        yield from (dataclasses.replace(outcome, answer=answer) for answer in fields_altered(outcome.answer))
