"""The promise of the stores, compared with a plain map that follows the operations in program order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pytest

from entrycache_evidence.core.models import FAULT_OF
from entrycache_faults.model import Model
from entrycache_protocol.case import variants_to_json
from entrycache_reference.kafka_streams import Config, Variants, ops
from entrycache_reference.kafka_streams.config import DeleteRead, Delivery, FlushedTombstone
from entrycache_reference.kafka_streams.laws.stores import agrees
from entrycache_reference.kafka_streams.outcomes import Listing, Value
from entrycache_reference.rules import Rule

REFERENCE: Final = Model("entrycache_reference.kafka_streams")
CASES: Final = 400
STEPS: Final = 25
KEYS: Final = ("x", "y", "z")
STORES: Final = ("s", "t")
LIMITS: Final = (0, 47, 60, 94, 95, 141, 10_485_760)
"""No entry, one, one and a tombstone's difference, two, three, all of them."""

WITHIN: Final = (ops.StorePut, ops.StoreDelete, ops.StoreGet, ops.StoreRange, ops.StoreAll, ops.StoreFlush)
"""The operations that forwards perform in these runs, and forwards inside those forwards."""

DEFAULTS: Final = Variants()


class Run(NamedTuple):
    """A configuration, and the operations in their order."""

    config: Config
    events: tuple[Any, ...]


Map = dict[tuple[str, str], str]


def _between(store: str, plain: Map, start: str | None, end: str | None) -> tuple[tuple[str, str], ...]:
    keys = sorted((key for name, key in plain if name == store), key=lambda key: key.encode())
    low = b"" if start is None else start.encode()
    return tuple(
        (key, plain[store, key])
        for key in keys
        if low <= key.encode() and (end is None or key.encode() <= end.encode())
    )


def _expected(op: Any, plain: Map) -> Any:
    """Return the answer of a plain map, changed as the operation begins; None if the operation reads nothing."""
    match op:
        case ops.StorePut(store, key, value):
            _write(plain, store, key, value)
        case ops.StoreGet(store, key):
            return Value(plain.get((store, key)))
        case ops.StoreDelete(store, key):
            return Value(plain.pop((store, key), None))
        case ops.StoreRange(store, start, end):
            return Listing(_between(store, plain, start, end))
        case ops.StoreAll(store):
            return Listing(_between(store, plain, None, None))
    return None


def _write(plain: Map, store: str, key: str, value: str | None) -> None:
    if value is None:
        plain.pop((store, key), None)
    else:
        plain[store, key] = value


class Watch:
    """A plain map beside a run: it follows every operation and collects the answers that it contradicts.

    `operations` holds each operation with its depth inside forwards.
    """

    def __init__(self) -> None:
        self.plain: Map = {}
        self.read = 0
        self.wrong: list[Any] = []
        self.depth = 0
        self.operations: set[tuple[int, type[Any]]] = set()

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function of an operation with the plain map beside it."""

        def watching(state: Any, op: Any, *rest: Any) -> Any:
            expected = _expected(op, self.plain)
            self.operations.add((self.depth, type(op)))
            self.depth += 1
            after, answer = function(state, op, *rest)
            self.depth -= 1
            if expected is not None:
                self.read += 1
                if answer != expected:
                    self.wrong.append((op, expected, answer))
            return after, answer

        return watching


def _op(source: random.Random, stores: tuple[str, ...], keys: tuple[str, ...]) -> Any:
    store, key = source.choice(stores), source.choice(keys)
    match source.randrange(20):
        case 0 | 1 | 2 | 3 | 4 | 5:
            return ops.StorePut(store, key, source.choice(("1", "2", "33", None)))
        case 6 | 7 | 8:
            return ops.StoreGet(store, key)
        case 9 | 10 | 11:
            return ops.StoreDelete(store, key)
        case 12:
            return ops.StoreRange(store, source.choice((None, key)), source.choice((None, *keys)))
        case 13:
            return ops.StoreAll(store)
        case 14:
            return ops.Evict(store)
        case 15:
            return ops.OnForward(store, key, ())
    return ops.StoreFlush(store)


def _events(source: random.Random) -> tuple[Any, ...]:
    """Return steps downstream for most keys, then operations on few keys of one or two stores."""
    stores, keys = STORES[: source.randint(1, 2)], KEYS[: source.randint(1, 3)]
    downstream = [
        ops.OnForward(store, key, tuple(_op(source, stores, keys) for _ in range(source.randint(1, 3))))
        for store in stores
        for key in keys
        if source.random() < 0.7
    ]
    return (*downstream, *(_op(source, stores, keys) for _ in range(STEPS)))


def _final_events() -> tuple[Any, ...]:
    """Return the operations that clear all steps downstream and flush everything."""
    quiet = tuple(ops.OnForward(store, key, ()) for store in STORES for key in KEYS)
    return (*quiet, *(kind(store) for kind in (ops.StoreFlush, ops.StoreInner) for store in STORES))


@pytest.fixture(scope="module")
def cases() -> list[Run]:
    """Random runs, the same every time."""
    runs = []
    for seed in range(CASES):
        source = random.Random(seed)
        config = Config(LIMITS[seed % len(LIMITS)], source.choice((8, 8, 3, 1)))
        runs.append(Run(config, (*_events(source), *_final_events())))
    return runs


def _watched(cases: list[Run], variants: Variants = DEFAULTS, model: Model = REFERENCE) -> list[Watch]:
    """Return what the plain map found in each of these runs."""
    return [_run(model, replace(case.config, variants=variants), case.events) for case in cases]


def _run(model: Model, config: Config, events: tuple[Any, ...]) -> Watch:
    watch = Watch()
    forwarded: dict[tuple[str, str], str | None] = {}
    watching = Model(model.package, {op: watch.watched(call) for op, call in model["step.FUNCTIONS"].items()})
    state = watching.initial(config)
    for at, op in enumerate(events):
        done = watching.step(state, op, config)
        state = done.state
        if config.variants == DEFAULTS and not agrees(state):
            watch.wrong.append((op, "a clean cached entry differs from the underlying store", state))
        forwarded |= {(forward.store, forward.key): forward.value for forward in done.outcome.forwarded}
        if isinstance(op, ops.StoreInner) and at >= len(events) - 2:
            right = Listing(_between(op.store, watch.plain, None, None))
            watch.wrong += [(op, right, done.outcome.answer)] if done.outcome.answer != right else []
    watch.wrong += [(key, value) for key, value in forwarded.items() if watch.plain.get(key) != value]
    return watch


def test_stores_agree_with_a_plain_map(cases: list[Run]) -> None:
    watched = _watched(cases)
    assert [watch.wrong for watch in watched if watch.wrong] == []
    assert sum(watch.read for watch in watched) > 2 * CASES
    operations = set().union(*(watch.operations for watch in watched))
    assert {(depth, op) for depth in (1, 2) for op in WITHIN} <= operations


RELEASED: Final = (
    Variants(delivery=Delivery.ONE_BY_ONE),
    Variants(delete_read=DeleteRead.CACHED),
    Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE),
)
"""Variants that break the promise to stores, each alone."""


@pytest.mark.long
@pytest.mark.parametrize("variants", RELEASED, ids=lambda variants: str(variants_to_json(Config(variants=variants))))
def test_a_variant_of_a_release_contradicts_the_plain_map(
    variants: Variants, cases: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(watch.wrong for watch in _watched(cases, variants))


@pytest.mark.parametrize("rule", [Rule.K_STORE_1, Rule.K_STORE_8])
def test_a_seeded_fault_contradicts_the_plain_map(rule: Rule, cases: list[Run]) -> None:
    assert any(watch.wrong for watch in _watched(cases[:100], model=FAULT_OF[rule].model))
