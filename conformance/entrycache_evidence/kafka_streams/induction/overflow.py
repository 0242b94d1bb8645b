"""Lemmas about the overflow of a write, and about shares, of `kafka-streams`: any sizes, any limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.kafka_streams.induction.held import (
    ELSEWHERE,
    HELD,
    LIMIT,
    NEW,
    OWN,
    REST,
    SIZES,
    Held,
    always,
    cache_of,
    fault,
    node_of,
)
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.state import Change, total_bytes
from entrycache_reference.rules import Rule

_EVICTS, _BYTES, _THREADS = z3.Ints("evicts bytes threads")


def _written(model: Model, held: Held, key: str) -> Change:
    """A dirty write into a namespace of two entries, with its overflow."""
    state = cache_of(held)._replace(evicts=Term(_EVICTS))  # type: ignore[arg-type]
    node = node_of("1", True, NEW, state.writes)
    done: Change = model["writes.put_node"](state, "a", key, node, Config(), model["step.environment"]())
    return done


def _of_writes(goal: Callable[[str, Change], Any]) -> Callable[[Any, Model], list[Obligation]]:
    """The goal after a write over the eldest of two entries, and after one of a third."""

    def obligations(table: Any, model: Model) -> list[Obligation]:
        return [
            Obligation(
                f"{key}, {held}",
                SIZES,
                always(lambda: _written(model, held, key), lambda done: goal(key, done)),  # noqa: B023 - called at once
            )
            for key in ("x", "y")
            for held in HELD
        ]

    return obligations


def _evictions(done: Change) -> int:
    return sum([event.op == "EVICT" for event in done.state.under_way.events])


def _pays(key: str, done: Change) -> Any:
    """It ends within the limit or with its namespace empty, and the other one is as it was."""
    empty = z3.BoolVal(not done.state.spaces["a"].nodes)
    paid = z3.Or(z3.BoolVal(done.error is not None), empty, raw(total_bytes(done.state)) <= LIMIT)
    return z3.And(z3.BoolVal(len(done.state.spaces["b"].nodes) == 1), paid)


def _spares(key: str, done: Change) -> Any:
    """What fits evicts nothing."""
    total = NEW + REST + ELSEWHERE + (0 if key == "x" else OWN)
    nothing = z3.And(
        z3.BoolVal(_evictions(done) == 0 and not done.state.under_way.calls), raw(done.state.evicts) == _EVICTS
    )
    return z3.Implies(total <= LIMIT, nothing)


def _counts(key: str, done: Change) -> Any:
    """The thread counts each eviction that succeeded."""
    return raw(done.state.evicts) == _EVICTS + _evictions(done)


def _shares(table: Any, model: Model) -> list[Obligation]:
    """Equal shares, rounded down; the global thread takes one; without threads all of it."""
    found = []
    for is_global in (False, True):

        def way(is_global: bool = is_global) -> Any:
            event = ops.Share(Term(_BYTES), Term(_THREADS), is_global)  # type: ignore[arg-type]
            return raw(model["step.perform"](None, event, Config())[1].bytes)

        takers = _THREADS + int(is_global)
        goal = always(
            way,
            lambda answer, takers=takers: z3.If(  # type: ignore[misc]
                _THREADS == 0, answer == _BYTES, z3.And(answer * takers <= _BYTES, (answer + 1) * takers > _BYTES)
            ),
        )
        name = "with a global thread" if is_global else "without"
        found.append(Obligation(name, z3.And(_BYTES >= 0, _THREADS >= 0), goal))
    return found


THREE: Final = "a dirty write into a namespace of two entries, beside another namespace; any sizes and limit"

LEMMAS: Final = (
    Lemma(Rule.K_EVICT_4, f"where an overflow ends: {THREE}", _of_writes(_pays), fault(Rule.K_EVICT_4)),
    Lemma(Rule.K_EVICT_5, f"nothing evicted within the limit: {THREE}", _of_writes(_spares), fault(Rule.K_EVICT_5)),
    Lemma(Rule.K_EVICT_6, f"the thread's count: {THREE}", _of_writes(_counts), fault(Rule.K_EVICT_6)),
    Lemma(Rule.K_SHARE_1, "any number of bytes and of threads", _shares, fault(Rule.K_SHARE_1)),
)
"""The lemmas of this module."""
