"""The promise of the stores, held against a plain map: an independent fold over the operations in program order."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from entrycache_conformance.case import Case
from entrycache_conformance.declaration import Declaration
from entrycache_conformance.generator import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.kafka_streams.themes import TRAITS, Theme
from entrycache_conformance.museum.mutants.mutant import applied
from entrycache_conformance.museum.mutants.streams import STREAMS
from entrycache_conformance.system import SYSTEMS
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.outcomes import Listed, Value
from entrycache_reference.rules import Rule

STEP: Final = importlib.import_module("entrycache_reference.kafka_streams.step")
SYSTEM: Final = SYSTEMS["kafka-streams"]
DECLARATION: Final = Declaration(SYSTEM, frozenset(SYSTEM.ops))
MENU: Final = SYSTEM.menu(SYSTEM.ops, "store")
CASES: Final = 100

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
    """Every operation as it begins, also those inside forwards, and the answers that a plain map contradicts."""

    def __init__(self) -> None:
        self.plain: Map = {}
        self.read = 0
        self.wrong: list[Any] = []

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of an operation, with the plain map beside it."""

        def watching(state: Any, op: Any, *rest: Any) -> Any:
            expected = _expected(op, self.plain)
            after, answer = function(state, op, *rest)
            if expected is not None:
                self.read += 1
                if answer != expected:
                    self.wrong.append((op, expected, answer))
            return after, answer

        return watching


def _settling() -> list[Any]:
    """Nothing is done downstream any more, and everything is flushed."""
    keys = sorted({key for traits in TRAITS.values() for key in traits.keys})
    quiet = [ops.OnForward(store, key, ()) for store in "st" for key in keys]
    return [*quiet, ops.StoreFlush("s"), ops.StoreFlush("t"), ops.StoreInner("s"), ops.StoreInner("t")]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Fixed random runs, made beside the reference as it is."""
    found = []
    for seed in range(CASES):
        source = random.Random(seed)
        theme = list(Theme)[seed % len(Theme)]
        found.append(make_case(source.randint, DECLARATION, MENU, Coverage(), 25, stops=False, theme=theme).case)
    return found


def _contradictions(monkeypatch: pytest.MonkeyPatch, cases: list[Case]) -> tuple[list[Any], int]:
    """What a plain map contradicts in these runs, and how many reads were held against it."""
    found: list[Any] = []
    reads = 0
    for case in cases:
        wrong, read = _run(monkeypatch, case.config, [*case.steps, *_settling()])
        found += wrong
        reads += read
    return found, reads


def _run(monkeypatch: pytest.MonkeyPatch, config: Any, events: list[Any]) -> tuple[list[Any], int]:
    watch = Watch()
    passed: dict[tuple[str, str], str | None] = {}
    with monkeypatch.context() as patch:
        patch.setattr(STEP, "FUNCTIONS", {op: watch.watched(call) for op, call in STEP.FUNCTIONS.items()})
        state = SYSTEM.initial(config)
        for at, op in enumerate(events):
            done = SYSTEM.step(state, op, config)
            state = done.state
            passed |= {(forward.store, forward.key): forward.value for forward in done.outcome.forwarded}
            if isinstance(op, ops.StoreInner) and at >= len(events) - 2:
                right = Listed(_between(op.store, watch.plain, None, None))
                watch.wrong += [(op, right, done.outcome.answer)] if done.outcome.answer != right else []
    late = [(key, value) for key, value in passed.items() if watch.plain.get(key) != value]
    return watch.wrong + late, watch.read


def test_stores_keep_what_a_plain_map_keeps(cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, reads = _contradictions(monkeypatch, cases)
    assert wrong == []
    assert reads > 2 * CASES


@pytest.mark.parametrize("rule", [Rule.K_STORE_1, Rule.K_STORE_8])
def test_a_planted_fault_is_contradicted(rule: Rule, cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    with applied(next(mutant for mutant in STREAMS if mutant.rule is rule)):
        wrong, _ = _contradictions(monkeypatch, cases)
    assert wrong


@pytest.fixture(autouse=True)
def _functions_stay() -> Iterator[None]:
    before = STEP.FUNCTIONS
    yield
    assert STEP.FUNCTIONS is before
