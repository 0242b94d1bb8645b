"""The promise of the stores, held against a plain map: an independent fold over the operations in program order."""

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
from entrycache_reference.kafka_streams.outcomes import Listed, Value
from entrycache_reference.rules import Rule

REFERENCE: Final = Model("entrycache_reference.kafka_streams")
CASES: Final = 400
STEPS: Final = 25
KEYS: Final = ("x", "y", "z")
STORES: Final = ("s", "t")
LIMITS: Final = (0, 47, 60, 94, 95, 141, 10_485_760)
"""No entry, one, one and a tombstone's difference, two, three, all of them."""

WITHIN: Final = (ops.StorePut, ops.StoreDelete, ops.StoreGet, ops.StoreRange, ops.StoreAll, ops.StoreFlush)
"""What forwards do in these runs, and what forwards inside those forwards do."""

NORM: Final = Variants()


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
    """What a plain map answers; None where the operation reads nothing. It is changed when the operation begins."""
    match op:
        case ops.StorePut(store, key, value):
            _write(plain, store, key, value)
        case ops.StoreGet(store, key):
            return Value(plain.get((store, key)))
        case ops.StoreDelete(store, key):
            return Value(plain.pop((store, key), None))
        case ops.StoreRange(store, start, end):
            return Listed(_between(store, plain, start, end))
        case ops.StoreAll(store):
            return Listed(_between(store, plain, None, None))
    return None


def _write(plain: Map, store: str, key: str, value: str | None) -> None:
    if value is None:
        plain.pop((store, key), None)
    else:
        plain[store, key] = value


class Watch:
    """Every operation as it begins, also those inside forwards, and the answers that a plain map contradicts.

    `met` holds what was done inside forwards: how deep, and by which operation.
    """

    def __init__(self) -> None:
        self.plain: Map = {}
        self.read = 0
        self.wrong: list[Any] = []
        self.depth = 0
        self.met: set[tuple[int, type[Any]]] = set()

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of an operation, with the plain map beside it."""

        def watching(state: Any, op: Any, *rest: Any) -> Any:
            expected = _expected(op, self.plain)
            self.met.add((self.depth, type(op)))
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
    """Steps downstream for most keys, then operations on few keys of one store or two."""
    stores, keys = STORES[: source.randint(1, 2)], KEYS[: source.randint(1, 3)]
    told = [
        ops.OnForward(store, key, tuple(_op(source, stores, keys) for _ in range(source.randint(1, 3))))
        for store in stores
        for key in keys
        if source.random() < 0.7
    ]
    return (*told, *(_op(source, stores, keys) for _ in range(STEPS)))


def _settling() -> tuple[Any, ...]:
    """Nothing is done downstream any more, and everything is flushed."""
    quiet = tuple(ops.OnForward(store, key, ()) for store in STORES for key in KEYS)
    return (*quiet, *(kind(store) for kind in (ops.StoreFlush, ops.StoreInner) for store in STORES))


@pytest.fixture(scope="module")
def cases() -> list[Run]:
    """Random runs, the same every time."""
    found = []
    for seed in range(CASES):
        source = random.Random(seed)
        config = Config(LIMITS[seed % len(LIMITS)], source.choice((8, 8, 3, 1)))
        found.append(Run(config, (*_events(source), *_settling())))
    return found


def _watched(cases: list[Run], variants: Variants = NORM, model: Model = REFERENCE) -> list[Watch]:
    """What was seen of these runs."""
    return [_run(model, replace(case.config, variants=variants), case.events) for case in cases]


def _run(model: Model, config: Config, events: tuple[Any, ...]) -> Watch:
    watch = Watch()
    passed: dict[tuple[str, str], str | None] = {}
    watching = Model(model.package, {op: watch.watched(call) for op, call in model["step.FUNCTIONS"].items()})
    state = watching.initial(config)
    for at, op in enumerate(events):
        done = watching.step(state, op, config)
        state = done.state
        if config.variants == NORM and not agrees(state):
            watch.wrong.append((op, "what is cached clean does not lie below", state))
        passed |= {(forward.store, forward.key): forward.value for forward in done.outcome.forwarded}
        if isinstance(op, ops.StoreInner) and at >= len(events) - 2:
            right = Listed(_between(op.store, watch.plain, None, None))
            watch.wrong += [(op, right, done.outcome.answer)] if done.outcome.answer != right else []
    watch.wrong += [(key, value) for key, value in passed.items() if watch.plain.get(key) != value]
    return watch


def test_stores_keep_what_a_plain_map_keeps(cases: list[Run]) -> None:
    watched = _watched(cases)
    assert [watch.wrong for watch in watched if watch.wrong] == []
    assert sum(watch.read for watch in watched) > 2 * CASES
    met = set().union(*(watch.met for watch in watched))
    assert {(depth, op) for depth in (1, 2) for op in WITHIN} <= met


RELEASED: Final = (
    Variants(delivery=Delivery.ONE_BY_ONE),
    Variants(delete_read=DeleteRead.CACHED),
    Variants(flushed_tombstone=FlushedTombstone.ANY_WRITE),
)
"""Variants that break the promise to stores, each alone."""


@pytest.mark.parametrize("variants", RELEASED, ids=lambda variants: str(variants_to_json(Config(variants=variants))))
def test_a_released_reading_is_contradicted(
    variants: Variants, cases: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(watch.wrong for watch in _watched(cases, variants))


@pytest.mark.parametrize("rule", [Rule.K_STORE_1, Rule.K_STORE_8])
def test_a_planted_fault_is_contradicted(rule: Rule, cases: list[Run]) -> None:
    assert any(watch.wrong for watch in _watched(cases[:100], model=FAULT_OF[rule].model))
