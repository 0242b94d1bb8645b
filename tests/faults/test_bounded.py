"""A faulty model that comes to no end is stopped; the reference itself stays far below that bound."""

from __future__ import annotations

import sys

import pytest

from entrycache_conformance.explain import CALLS_MOST
from entrycache_evidence.planted import FAULT_OF
from entrycache_faults.bounded import NoEnd, within_calls
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
    with pytest.raises(NoEnd), within_calls(CALLS_MOST):
        FAULT_OF[Rule.EVICT_3].model.step(state, evict, config)
    assert sys.getprofile() is None


def test_the_reference_is_far_below_the_bound() -> None:
    config = Config()
    state = filled(1_000, config)
    with within_calls(CALLS_MOST // 5):
        done = step(state, ops.Evict(1_000), config)
    assert done.state.queue == ()
    with pytest.raises(NoEnd), within_calls(1_000):
        step(state, ops.Evict(1_000), config)
