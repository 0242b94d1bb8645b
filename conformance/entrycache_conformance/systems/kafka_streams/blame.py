"""What `kafka-streams` says for explaining a difference: its looks, and the subject's step as they tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from entrycache_protocol.codec import decode_object
from entrycache_conformance.systems.kafka_streams.answers import answer_type
from entrycache_conformance.systems.kafka_streams.weights import OF_VARIANTS
from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.kafka_streams.outcomes import Call, Context, Failed, Forward, Handed, Outcome
from entrycache_reference.kafka_streams.state import Node, Row, Space, State, Step
from entrycache_reference.rules import Rule

if TYPE_CHECKING:
    from entrycache_conformance.blame_proto import Seen
    from entrycache_protocol.declaration import Declaration

GENERAL: Final = OF_VARIANTS | {Rule.K_PUT_1, Rule.K_PUT_6, Rule.K_RANGE_2, Rule.K_EVICT_6, Rule.K_LIVENESS_2}
"""Laws of all writes, of all iterations and of readings, which almost any difference breaks; others say more."""


def looks(declaration: Declaration, steps: Sequence[Any]) -> Sequence[Any]:
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


def told(seen: Seen) -> tuple[State, Step, Step]:
    """The step at fault; of the subject's state what its looks say, and the rest as the reference has it."""
    right: Step = seen.steps[seen.at]
    shown = [seen.case.system.declared_part(look, seen.declaration.introspection) for look in seen.shown]
    names = [op.ns for op in seen.case.steps[seen.at + 2 : seen.at + 1 + seen.looks]]
    own = own_state(seen.pre, right.state, shown[0], dict(zip(names, shown[1:], strict=True))) if shown else right.state
    outcome = typed(seen.case.steps[seen.at], seen.answers[seen.at]) if seen.difference.at == seen.at else right.outcome
    return seen.pre, right, right._replace(state=own, outcome=outcome)


def own_state(pre: State, right: State, thread: dict[str, Any], seen: dict[str, dict[str, Any]]) -> State:
    """The subject's state after a step, from what it shows of the thread and of each namespace."""
    spaces = dict(right.spaces)
    for name, look in seen.items():
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


def is_about(seen: Seen, row: Row) -> bool:
    """Any lookup can be part of a step; a row of another rule says more."""
    return row.rule is not Rule.K_GET_1
