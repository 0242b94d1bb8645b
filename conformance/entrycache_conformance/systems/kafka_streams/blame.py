"""What `kafka-streams` says for explaining a difference: its looks, and the subject's step as they tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams.answers import answer_type
from entrycache_conformance.systems.kafka_streams.weights import OF_VARIANTS
from entrycache_faults.planted import Fault
from entrycache_faults.reference.kafka_streams import PLANTED
from entrycache_protocol.blame import Blame
from entrycache_protocol.codec import decode_object
from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.kafka_streams.outcomes import Call, Context, Failed, Forward, Handed, Outcome
from entrycache_reference.kafka_streams.state import Node, Row, Space, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

GENERAL: Final = OF_VARIANTS | {Rule.K_PUT_1, Rule.K_PUT_6, Rule.K_RANGE_2, Rule.K_EVICT_6, Rule.K_LIVENESS_2}
"""Laws of all writes, of all iterations and of variants, which almost any difference breaks; others say more."""


def faults() -> Sequence[Sequence[Fault]]:
    """What is planted function by function, and the variants of releases."""
    return (tuple(PLANTED),)


def looks(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """`metrics`, which counts nothing and uses nothing: of the thread, and of each namespace of the case."""
    if "metrics" not in declaration.ops or not {"dirty", "lru"} <= declaration.introspection:
        return ()
    return (Metrics(), *(Metrics(name) for name in sorted(set(_names(steps)))))


def _names(steps: Sequence[Any]) -> Iterator[str]:
    """Every namespace that a step names, or a step within it."""
    for op in steps:
        yield from (name for name in (getattr(op, "ns", None), getattr(op, "store", None)) if isinstance(name, str))
        for held in ("on_flush", "steps"):
            inner = getattr(op, held, ())
            yield from _names(inner) if isinstance(inner, tuple) else ()


def told(
    pre: State, done: Step, op: Any, answer: Any, shown: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """Of the subject's state what its looks say, and the rest as the reference has it."""
    state = own_state(pre, done.state, shown) if shown else done.state
    return pre, done, done._replace(state=state, outcome=typed(op, answer))


def own_state(pre: State, right: State, shown: Mapping[Any, Any]) -> State:
    """The subject's state after a step, from what it shows of the thread and of each namespace."""
    spaces = dict(right.spaces)
    for name, look in ((op.ns, look) for op, look in shown.items() if op.ns is not ABSENT):
        if name in right.spaces or look["lru"]:
            space = right.spaces.get(name, Space())
            nodes = {**pre.spaces.get(name, Space()).nodes, **space.nodes}
            dirty, lru = tuple(look["dirty"]), tuple(look["lru"])
            spaces[name] = space._replace(
                nodes={key: _with_flag(nodes[key], key in dirty) for key in lru if key in nodes},
                recent=lru,
                dirty=dirty,
                **{field: look[field] for field in ("hits", "misses", "overwrites", "flushes")},
            )
    thread = shown[Metrics()]
    return right._replace(spaces=spaces, **{field: thread[field] for field in ("puts", "gets", "evicts", "flushes")})


def _with_flag(node: Node, is_dirty: bool) -> Node:
    return node if node.is_dirty is is_dirty else node._replace(is_dirty=is_dirty)


def typed(op: Any, value: Any) -> Outcome:
    """An outcome from its JSON object; what steps inside calls have answered stays as it is."""
    if isinstance(value, Outcome):
        return value
    answer = {name: part for name, part in value.items() if name not in {"flushed", "forwarded"}}
    kind = Failed if "error" in answer else answer_type(op)
    calls = tuple(
        Call(call["ns"], tuple(_handed(*entry) for entry in call["entries"]), tuple(call["inner"]))
        for call in value.get("flushed", ())
    )
    forwards = tuple(
        Forward(call["store"], call["key"], call["value"], tuple(call["inner"])) for call in value.get("forwarded", ())
    )
    return Outcome(decode_object(kind, answer), calls, forwards)


def _handed(key: str, value: str | None, context: dict[str, int] | None = None) -> Handed:
    return Handed(key, value, Context(**(context or {})))


def is_about(expected: Any, got: Any, row: Row) -> bool:
    """Any lookup can be part of a step; a row of another rule says more."""
    return row.rule is not Rule.K_GET_1


BLAME: Final = Blame(faults, looks, told, is_about, GENERAL, Rule.K_LIVENESS_2)
