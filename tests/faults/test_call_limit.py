"""The calls of a model: a limit stops one that never ends, and a run that calls no faulty function reaches no fault."""

from __future__ import annotations

import cProfile
import gc
import sys

import pytest

from entrycache_conformance.explain import MAX_CALLS
from entrycache_evidence.core.models import FAULT_OF
from entrycache_faults.model import CallLimitExceeded, limit_calls, record_calls
from entrycache_faults.reference import kafka_streams
from entrycache_reference.pulsar_pip430 import Config, State, initial, ops, step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position

A = CacheName("a")


def filled(entries: int, config: Config) -> State:
    state = initial(config)
    for entry in range(entries):
        at = Position(1, entry)
        state = step(step(state, ops.Insert(A, at, 1), config).state, ops.Get(A, at), config).state
    return state


def test_a_fault_that_uses_up_a_large_budget_is_stopped() -> None:
    config = Config(max_requeues=2**31 - 1)
    state, evict = filled(1, config), ops.Evict(1)
    assert step(state, evict, config).outcome is not None
    with pytest.raises(CallLimitExceeded), limit_calls(MAX_CALLS):
        FAULT_OF[Rule.EVICT_3].model.step(state, evict, config)
    assert sys.getprofile() is None


def test_the_reference_is_far_below_the_limit() -> None:
    config = Config()
    state = filled(1_000, config)
    with limit_calls(MAX_CALLS // 5):
        done = step(state, ops.Evict(1_000), config)
    assert done.state.queue == ()
    with pytest.raises(CallLimitExceeded), limit_calls(1_000):
        step(state, ops.Evict(1_000), config)


def test_the_garbage_collector_does_not_swallow_the_limit() -> None:
    config = Config(max_requeues=2**31 - 1)
    state, calls = filled(1, config), 0

    def nothing() -> None:
        nonlocal calls
        calls += 1

    def busy(phase: str, info: dict[str, int]) -> None:
        for _ in range(50):
            nothing()

    threshold = gc.get_threshold()
    gc.callbacks.append(busy)
    gc.set_threshold(1)
    try:
        for most in range(1_000, 1_020):
            with pytest.raises(CallLimitExceeded), limit_calls(most):
                FAULT_OF[Rule.EVICT_3].model.step(state, ops.Evict(1), config)
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(busy)
    assert calls > 20 * 500, "most calls were the collector's"


def test_a_profiler_stays_in_place() -> None:
    config, profiler = Config(), cProfile.Profile()
    profiler.enable()
    try:
        with limit_calls(1):
            step(filled(1, config), ops.Evict(1), config)
        assert sys.getprofile() is profiler
    finally:
        profiler.disable()


def test_a_fault_is_reached_where_its_function_is_called_and_a_constant_everywhere() -> None:
    config = Config()
    with record_calls() as inserted:
        state = filled(1, config)
    with record_calls() as evicted:
        step(state, ops.Evict(1), config)
    assert inserted is not None
    assert evicted is not None
    assert not FAULT_OF[Rule.EVICT_3].is_reached(inserted)
    assert FAULT_OF[Rule.EVICT_3].is_reached(evicted)
    constants = next(fault for fault in kafka_streams.SEEDED_FAULTS if "change.FLAG_BYTES" in fault.replaced)
    assert constants.is_reached(set())
