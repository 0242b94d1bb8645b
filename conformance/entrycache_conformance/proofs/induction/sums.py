"""Lemmas about the bytes of `kafka-streams`: the reference's own functions, run on sizes that may be any number.

A namespace is one entry, whose key the operation is about, and a second one that stands for all others; another
namespace is one entry that stands for all of its own. A listener does nothing, throws, or is not there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product
from typing import Any, Final, NamedTuple

import z3

from entrycache_conformance.museum.mutants import applied
from entrycache_conformance.museum.mutants.streams import STREAMS
from entrycache_conformance.proofs.induction.lemma import Fault, Lemma, Obligation
from entrycache_conformance.proofs.induction.symbolic import Term, paths, raw
from entrycache_conformance.proofs.induction.take import Table
from entrycache_reference.kafka_streams import ops, stores, writes
from entrycache_reference.kafka_streams.config import Config, Total, Variants
from entrycache_reference.kafka_streams.outcomes import Context, Deleted, Used
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State, initial, total_bytes
from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.rules import Rule

RUNNING: Final = Config(variants=Variants(total=Total.RUNNING))
_OWN, _REST, _ELSEWHERE, _NEW, _TOTAL, _LIMIT, _LOWER = z3.Ints("own rest elsewhere new running limit lower")
_SIZES: Final = z3.And(_OWN >= 0, _REST >= 0, _ELSEWHERE >= 0, _NEW >= 0, _LIMIT >= 0, _LOWER >= 0)
_step: Final = importlib.import_module("entrycache_reference.kafka_streams.step")
"""The module: its package has a function of that name."""


class Held(NamedTuple):
    """What is said of the two entries and of the listener."""

    value: str | None
    dirty: bool
    rest_dirty: bool
    listener: Listener | None


_LISTENERS: Final = (None, Listener(), Listener((), 1))
HELD: Final = tuple(Held(*one) for one in product(("1", None), (False, True), (False, True), _LISTENERS))
"""Everything that can be said of them."""


def _node(value: str | None, dirty: bool, size: Any, write: int) -> Node:
    return Node(value, dirty, Term(size), Context(), write)  # type: ignore[arg-type]


def _state(held: Held) -> State:
    nodes = {"x": _node(held.value, held.dirty, _OWN, 1), "rest": _node("1", held.rest_dirty, _REST, 2)}
    dirty = tuple(key for key, node in nodes.items() if node.is_dirty)
    other = Space({"all": _node("1", False, _ELSEWHERE, 3)}, ("all",))
    spaces = {"a": Space(nodes, ("rest", "x"), dirty, held.listener), "b": other}
    limit, running = Term(_LIMIT), Term(_TOTAL)
    return State(limit, spaces, writes=4, running=running)  # type: ignore[arg-type]


Way = Callable[[State, Config], State]


def _put(key: str, value: str | None, dirty: bool) -> Way:
    """A write of an entry of any size, with the overflow that follows, as `put` makes it."""

    def way(state: State, config: Config) -> State:
        node = _node(value, dirty, _NEW, state.writes)
        return writes.put_node(state, "a", key, node, config, _step.perform, stores.receive).state

    return way


def _by(op: ops.Op) -> Way:
    def way(state: State, config: Config) -> State:
        after: State = _step.perform(state, op, config)[0]
        return after

    return way


def _write(state: State, config: Config) -> State:
    """A write of an entry of any size, before its overflow."""
    return writes.write_node(state, "a", "x", _node("1", True, _NEW, state.writes))


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
    "resize": _by(ops.Resize(Term(_LOWER))),  # type: ignore[arg-type]
}
"""Everything that changes sizes, or the limit."""


def _always(way: Callable[[], Any], goal: Callable[[Any], Any]) -> Any:
    """The goal on every way through a function."""
    return z3.And([z3.Implies(condition, goal(answer)) for condition, answer in paths(way)])


def _drift(table: Table) -> list[Obligation]:
    """The running total and the sum of all sizes stay as far from each other as they are; both begin with 0."""
    empty = initial(RUNNING)
    found = [Obligation("base", z3.BoolVal(True), z3.BoolVal(empty.running == total_bytes(empty) == 0))]
    for (name, way), held in product(WAYS.items(), HELD):
        goal = _always(
            lambda way=way, held=held: way(_state(held), RUNNING),  # type: ignore[misc]
            lambda after: raw(after.running) - raw(total_bytes(after)) == _TOTAL - (_OWN + _REST + _ELSEWHERE),
        )
        found.append(Obligation(f"{name}, {held}", _SIZES, goal))
    return found


def _replaced(table: Table) -> list[Obligation]:
    """A write over a key changes the sum by its own size less the former, and counts."""
    found = []
    for held in HELD:
        state = _state(held)
        counted = z3.Int("overwrites")
        space = state.spaces["a"]._replace(overwrites=Term(counted))  # type: ignore[arg-type]
        after = _write(state._replace(spaces={**state.spaces, "a": space}), Config())
        sums = raw(total_bytes(after)) == _NEW + _REST + _ELSEWHERE
        found.append(Obligation(str(held), _SIZES, z3.And(sums, raw(after.spaces["a"].overwrites) == counted + 1)))
    return found


def _deleted(table: Table) -> list[Obligation]:
    """A deletion takes the size of its key out of the sum, and answers the value."""
    found = []
    for held in HELD:
        after, answer = _step.perform(_state(held), ops.Delete("a", "x"), Config())
        told = z3.BoolVal(answer == Deleted(True, held.value))
        found.append(Obligation(str(held), _SIZES, z3.And(told, raw(total_bytes(after)) == _REST + _ELSEWHERE)))
    return found


def _added_up(table: Table) -> list[Obligation]:
    """`usage` answers sums: of a namespace, and of all, which is the sum over the namespaces."""
    found = []
    for held in HELD:
        asked = (ops.Usage(), ops.Usage("a"), ops.Usage("b"))
        used: list[Used] = [_step.perform(_state(held), op, Config())[1] for op in asked]
        every, one, other = (raw(answer.bytes) for answer in used)
        entries = z3.BoolVal([answer.entries for answer in used] == [3, 2, 1])
        sums = z3.And(one == _OWN + _REST, other == _ELSEWHERE, every == one + other, raw(used[0].tracked) == every)
        found.append(Obligation(str(held), _SIZES, z3.And(entries, sums)))
    return found


def _fault(rule: Rule) -> Fault:
    mutant = next(mutant for mutant in STREAMS if mutant.rule is rule)
    return Fault(mutant.note, DECISION, lambda: applied(mutant))


BESIDE: Final = "an entry, the rest of its namespace as one, another namespace as one; any sizes and limits"

LEMMAS: Final = (
    Lemma(
        Rule.K_METRICS_4,
        f"running total less sum of all sizes: kept by every write, removal, flush and resize whose listener does "
        f"nothing, throws or is not there; {BESIDE}",
        _drift,
        _fault(Rule.K_METRICS_4),
    ),
    Lemma(Rule.K_METRICS_1, f"usage of a namespace and of all; {BESIDE}", _added_up, _fault(Rule.K_METRICS_1)),
    Lemma(Rule.K_PUT_2, f"a write over a key, before its overflow; {BESIDE}", _replaced, _fault(Rule.K_PUT_2)),
    Lemma(Rule.K_DELETE_1, f"a deletion of a key; {BESIDE}", _deleted, _fault(Rule.K_DELETE_1)),
)
"""The lemmas of this module."""
