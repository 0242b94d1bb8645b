"""Where a difference began: the failing case once more, with a look at every namespace after every step.

A fault often shows steps after it happened. `metrics` counts nothing and uses nothing, so it can stand anywhere;
the first look that differs names the step at fault, and the laws can be asked about the subject's own state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_protocol.case import Case
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import Played, UnderTest
from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.kafka_streams.state import Node, Space, State


class Probed(NamedTuple):
    """The case with looks in between, the reference's steps through it, and its first difference.

    `at`: the step at fault; `pre`: the reference's state before it; `own`: the subject's state after it, as far
    as its looks tell it.
    """

    case: Case
    steps: list[Any]
    difference: Difference
    at: int
    pre: State
    own: State


def probe(subject: UnderTest, case: Case, difference: Difference) -> Probed | None:
    """The case played once more with looks in between; None where the subject shows too little of itself."""
    declaration = subject.declaration
    if "metrics" not in declaration.ops or not {"dirty", "lru"} <= declaration.introspection:
        return None
    names = sorted(_names(case.steps))
    looks = (Metrics(), *(Metrics(name) for name in names))
    stride = 1 + len(looks)
    probed_steps = [part for op in case.steps[: difference.at + 1] for part in (op, *looks)]
    limit = declaration.limits.max_steps
    if limit is not None and len(probed_steps) > limit:
        return None
    probed = dataclasses.replace(case, steps=tuple(probed_steps), outcomes=(), got=())
    answer = subject.play([probed])[0]
    if not isinstance(answer, Played):
        return None
    steps = trajectory(probed, Coverage())
    first = judge(probed, steps, answer, declaration)
    if first is None:
        return None
    at = first.at - first.at % stride
    pre = steps[at - 1].state if at else case.system.model.initial(case.config)
    shown = [case.system.wire.declared_part(outcome, declaration.introspection) for outcome in answer.outcomes]
    seen = dict(zip(names, shown[at + 2 : at + stride], strict=True))
    return Probed(probed, steps, first, at, pre, _own(pre, steps[at].state, shown[at + 1], seen))


def _names(steps: tuple[Any, ...]) -> set[str]:
    """Every namespace that a step names, or a step within it."""
    found: set[str] = set()
    for op in steps:
        found |= {name for name in (getattr(op, "ns", None), getattr(op, "store", None)) if isinstance(name, str)}
        for held in ("on_flush", "steps"):
            inner = getattr(op, held, ())
            found |= _names(inner) if isinstance(inner, tuple) else set()
    return found


def _own(pre: State, right: State, thread: Mapping[str, Any], seen: Mapping[str, Mapping[str, Any]]) -> State:
    """The subject's state: what its looks say, and what they do not say as the reference has it."""
    spaces = dict(right.spaces)
    for name, look in seen.items():
        known = right.spaces.get(name)
        if known is None and not look["lru"]:
            continue
        before = pre.spaces.get(name, Space()).nodes
        space = known or Space()
        nodes = {**before, **space.nodes}
        dirty = tuple(look["dirty"])
        lru = tuple(look["lru"])
        spaces[name] = space._replace(
            nodes={key: _with_flag(nodes[key], key in dirty) for key in lru if key in nodes},
            recent=lru,
            dirty=dirty,
            **{field: look[field] for field in ("hits", "misses", "overwrites", "flushes")},
        )
    counters = {field: thread[field] for field in ("puts", "gets", "evicts", "flushes")}
    return right._replace(spaces=spaces, **counters)


def _with_flag(node: Node, is_dirty: bool) -> Node:
    return node if node.is_dirty is is_dirty else node._replace(is_dirty=is_dirty)
