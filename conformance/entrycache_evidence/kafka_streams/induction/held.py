"""A cache of `kafka-streams` whose sizes are z3 terms, and what lemmas about it are made of.

A namespace is one entry, whose key an operation is about, and a second one; another namespace is one entry. A listener
does nothing, throws, or is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final, NamedTuple

import z3

from entrycache_evidence.induction.lemma import Planted
from entrycache_evidence.induction.symbolic import Term, paths
from entrycache_evidence.planted import FAULT_OF
from entrycache_reference.kafka_streams.outcomes import Context
from entrycache_reference.kafka_streams.state import Listener, Node, Space, State
from entrycache_reference.rules import Rule

OWN, REST, ELSEWHERE, NEW, TOTAL, LIMIT, LOWER = z3.Ints("own rest elsewhere new running limit lower")
"""Sizes of the entry, of the rest, of the other namespace and of a new entry; totals and limits."""

SIZES: Final = z3.And(OWN >= 0, REST >= 0, ELSEWHERE >= 0, NEW >= 0, LIMIT >= 0, LOWER >= 0)


class Held(NamedTuple):
    """What is said of the two entries and of the listener."""

    value: str | None
    dirty: bool
    rest_dirty: bool
    listener: Listener | None


_LISTENERS: Final = (None, Listener(), Listener((), 1))
HELD: Final = tuple(Held(*one) for one in product(("1", None), (False, True), (False, True), _LISTENERS))
"""Everything that can be said of them."""


def node_of(value: str | None, dirty: bool, size: Any, write: int) -> Node:
    """An entry of any size."""
    return Node(value, dirty, Term(size), Context(), write)  # type: ignore[arg-type]


def cache_of(held: Held) -> State:
    """A cache of any limit and running total; `x` is the eldest of its namespace."""
    nodes = {"x": node_of(held.value, held.dirty, OWN, 1), "rest": node_of("1", held.rest_dirty, REST, 2)}
    dirty = tuple(key for key, node in nodes.items() if node.is_dirty)
    other = Space({"all": node_of("1", False, ELSEWHERE, 3)}, ("all",))
    spaces = {"a": Space(nodes, ("rest", "x"), dirty, held.listener), "b": other}
    limit, running = Term(LIMIT), Term(TOTAL)
    return State(limit, spaces, writes=4, running=running)  # type: ignore[arg-type]


def always(way: Callable[[], Any], goal: Callable[[Any], Any]) -> Any:
    """The goal on every way through a function."""
    return z3.And([z3.Implies(condition, goal(answer)) for condition, answer in paths(way)])


def fault(rule: Rule) -> Planted:
    """The planted fault of a rule."""
    found = FAULT_OF[rule]
    return Planted(found.note, found.model)
