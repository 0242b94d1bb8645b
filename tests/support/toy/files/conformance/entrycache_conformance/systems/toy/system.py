"""The system `toy`: its parts, put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from entrycache_conformance.systems.toy.blame import BLAME
from entrycache_conformance.systems.toy.cases import CASES
from entrycache_conformance.systems.toy.wire import WIRE
from entrycache_fast.toy import ToySet
from entrycache_faults.fast.toy import TOY
from entrycache_faults.reference.toy import PLANTED
from entrycache_protocol.system import (
    Laws,
    LocalSubject,
    Model,
    SeededFaults,
    System,
    Text,
    index_ops,
    rules_with_prefix,
)
from entrycache_reference.rules import Rule
from entrycache_reference.toy import NAME, Config, Variants, initial, laws, ops, step
from entrycache_reference.toy.outcomes import Found, Kept, Outcome
from entrycache_reference.toy.state import State


def open_cache(config: Config, kind: type[ToySet] = ToySet) -> Callable[[Any], Outcome]:
    """An empty instance: a function from an operation to its outcome."""
    held = kind(config.limit)
    return lambda op: Kept(held.put(op.key)) if type(op) is ops.Put else Found(held.has(op.key))


def state_text(state: State) -> str:
    """The keys."""
    return " ".join(sorted(state.keys)) or "(empty)"


OFFER: Final = {"ops": list(index_ops(ops.OPS))}

SYSTEM: Final[System[Config, State, ops.Op, Outcome]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=index_ops(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.T_LIVENESS_1, Rule.T_LIVENESS_1),
        rules=rules_with_prefix("T-"),
        of_variants=frozenset(),
    ),
    wire=WIRE,
    cases=CASES,
    text=Text("set", state_text),
    blame=BLAME,
    fast=LocalSubject(OFFER, open_cache),
    faults={name: LocalSubject(OFFER, partial(open_cache, kind=kind)) for name, kind in TOY.items()},
    seeded_faults=SeededFaults(PLANTED.own),
)
