"""Lemmas about the bytes of `kafka-streams`: the reference's own functions, run on sizes that may be any number.

One entry is that of the operation; a second one stands for all others of its namespace, a third one for another
namespace.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import z3

from entrycache_evidence.induction.lemma import Lemma, Obligation
from entrycache_evidence.induction.symbolic import Term, raw
from entrycache_evidence.kafka_streams.induction.held import (
    ELSEWHERE,
    HELD,
    LOWER,
    NEW,
    OWN,
    REST,
    SIZES,
    TOTAL,
    always,
    cache_of,
    fault,
    node_of,
)
from entrycache_faults.model import Model
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config, Total, Variants
from entrycache_reference.kafka_streams.outcomes import Deleted, Used
from entrycache_reference.kafka_streams.state import State, initial, total_bytes
from entrycache_reference.rules import Rule

RUNNING: Final = Config(variants=Variants(total=Total.RUNNING))
Way = Callable[[Model, State, Config], State]


def _put(key: str, value: str | None, dirty: bool) -> Way:
    """A write of an entry of any size, with the overflow that follows, as `put` makes it."""

    def way(model: Model, state: State, config: Config) -> State:
        node = node_of(value, dirty, NEW, state.writes)
        after: State = model["writes.put_node"](state, "a", key, node, config, model["step.environment"]()).state
        return after

    return way


def _by(op: ops.Op) -> Way:
    def way(model: Model, state: State, config: Config) -> State:
        after: State = model["step.perform"](state, op, config)[0]
        return after

    return way


def _write(model: Model, state: State, config: Config) -> State:
    """A write of an entry of any size, before its overflow."""
    after: State = model["writes.write_node"](state, "a", "x", node_of("1", True, NEW, state.writes))
    return after


WAYS: Final[dict[str, Way]] = {
    "put of a new key": _put("y", "1", True),
    "put of a tombstone over the key": _put("x", None, True),
    "clean put over the key": _put("x", "1", False),
    "put_if_absent": _by(ops.PutIfAbsent("a", "x", "1")),
    "delete": _by(ops.Delete("a", "x")),
    "delete of what is not there": _by(ops.Delete("a", "y")),
    "evict": _by(ops.Evict("a")),
    "flush": _by(ops.Flush("a")),
    "clear": _by(ops.Clear("a")),
    "close": _by(ops.Close("a")),
    "resize": _by(ops.Resize(Term(LOWER))),  # type: ignore[arg-type]
}
"""Everything that changes sizes, or the limit."""


def _drift(table: Any, model: Model) -> list[Obligation]:
    """The running total and the sum of all sizes stay as far from each other as they are; both begin with 0."""
    empty = initial(RUNNING)
    found = [Obligation("base", z3.BoolVal(True), z3.BoolVal(empty.running == total_bytes(empty) == 0))]
    for (name, way), held in product(WAYS.items(), HELD):
        goal = always(
            lambda way=way, held=held: way(model, cache_of(held), RUNNING),  # type: ignore[misc]
            lambda after: raw(after.running) - raw(total_bytes(after)) == TOTAL - (OWN + REST + ELSEWHERE),
        )
        found.append(Obligation(f"{name}, {held}", SIZES, goal))
    return found


def _replaced(table: Any, model: Model) -> list[Obligation]:
    """A write over a key changes the sum by its own size less the former, and counts."""
    found = []
    for held in HELD:
        state = cache_of(held)
        counted = z3.Int("overwrites")
        space = state.spaces["a"]._replace(overwrites=Term(counted))  # type: ignore[arg-type]
        after = _write(model, state._replace(spaces={**state.spaces, "a": space}), Config())
        sums = raw(total_bytes(after)) == NEW + REST + ELSEWHERE
        found.append(Obligation(str(held), SIZES, z3.And(sums, raw(after.spaces["a"].overwrites) == counted + 1)))
    return found


def _deleted(table: Any, model: Model) -> list[Obligation]:
    """A deletion takes the size of its key out of the sum, and answers the value."""
    found = []
    for held in HELD:
        after, answer = model["step.perform"](cache_of(held), ops.Delete("a", "x"), Config())
        told = z3.BoolVal(answer == Deleted(True, held.value))
        found.append(Obligation(str(held), SIZES, z3.And(told, raw(total_bytes(after)) == REST + ELSEWHERE)))
    return found


def _added_up(table: Any, model: Model) -> list[Obligation]:
    """`usage` answers sums: of a namespace, and of all, which is the sum over the namespaces."""
    found = []
    for held in HELD:
        asked = (ops.Usage(), ops.Usage("a"), ops.Usage("b"))
        used: list[Used] = [model["step.perform"](cache_of(held), op, Config())[1] for op in asked]
        every, one, other = (raw(answer.bytes) for answer in used)
        entries = z3.BoolVal([answer.entries for answer in used] == [3, 2, 1])
        sums = z3.And(one == OWN + REST, other == ELSEWHERE, every == one + other, raw(used[0].tracked) == every)
        found.append(Obligation(str(held), SIZES, z3.And(entries, sums)))
    return found


BESIDE: Final = "an entry, the rest of its namespace as one, another namespace as one; any sizes and limits"

LEMMAS: Final = (
    Lemma(
        Rule.K_METRICS_4,
        f"running total less sum of all sizes: kept by every write, removal, flush and resize whose listener does "
        f"nothing, throws or is not there; {BESIDE}",
        _drift,
        fault(Rule.K_METRICS_4),
    ),
    Lemma(Rule.K_METRICS_1, f"usage of a namespace and of all; {BESIDE}", _added_up, fault(Rule.K_METRICS_1)),
    Lemma(Rule.K_PUT_2, f"a write over a key, before its overflow; {BESIDE}", _replaced, fault(Rule.K_PUT_2)),
    Lemma(Rule.K_DELETE_1, f"a deletion of a key; {BESIDE}", _deleted, fault(Rule.K_DELETE_1)),
)
"""The lemmas of this module."""
