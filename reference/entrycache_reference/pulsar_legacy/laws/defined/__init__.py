"""The definition: what a step is, made in another way than the reference makes it.

It speaks where no law of a rule has spoken, and then names the rule of the operation.
"""

from __future__ import annotations

from typing import Any

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config, Eviction
from entrycache_reference.pulsar_legacy.laws.defined.content import (
    DEFINED,
    Defined,
    content_of,
    given,
    left_by,
    offers,
    total,
    triggered,
)
from entrycache_reference.pulsar_legacy.laws.defined.rows import told
from entrycache_reference.pulsar_legacy.laws.frame import BESIDE, MAY_CHANGE, outside
from entrycache_reference.pulsar_legacy.laws.law import refusable
from entrycache_reference.pulsar_legacy.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["BESIDE", "MAY_CHANGE", "check_definition", "is_defined"]


def parts_of(config: Config, pre: Defined, event: Any) -> list[ops.Op]:
    """What an operation does in a row, as operations."""
    kind = type(event)
    if refusable(event):
        return []
    if kind is ops.Evict:
        return [ops.EvictCache(*share) for share in given(pre.table, event.bytes)]
    if kind is ops.Read:
        return [*offers(pre, event)]
    if kind is ops.RemoveCache:
        return [ops.Clear(event.cache)]
    need_bytes = pre.scheduled_bytes if kind is ops.RunScheduled else None
    if kind is ops.Insert and config.eviction is Eviction.INLINE:
        need_bytes = triggered(config, pre)
    return [ops.Evict(need_bytes)] if need_bytes is not None and need_bytes > 0 else []


def has_its_parts(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Whether a step consists of what its operation does, each part done to what the one before it left."""
    if [part.event for part in step.parts] != parts_of(config, content_of(pre), event):
        return False
    first = pre._replace(scheduled_bytes=None) if type(event) is ops.RunScheduled else pre
    left = [first, *(part.step.state for part in step.parts)]
    are_joined = [part.pre for part in step.parts] == left[:-1]
    return are_joined and (type(event) is ops.Evict or not step.givers)


def shows_caches_by_name(event: ops.Op, step: Step) -> bool:
    """Whether what `observe` shows stands in the order of names."""
    caches = [*getattr(step.outcome, "caches", ())]
    return type(event) is not ops.Observe or caches == sorted(caches)


def is_defined(config: Config, pre: State, event: ops.Op, step: Step, within: type[ops.Op] | None = None) -> bool:
    """Whether a step leaves and tells what its operation is defined to, alone or as a part `within` another."""
    if step.state is pre and type(event) not in DEFINED and not step.rows and not step.parts:
        return shows_caches_by_name(event, step) and told(config, content_of(pre), event, within) == ()
    before, left = content_of(pre), content_of(step.state)
    return (
        left_by(config, before, event) == left
        and total(left.table) == step.state.size_bytes
        and has_its_parts(config, pre, event, step)
        and told(config, before, event, within) == step.rows
    )


def check_definition(
    config: Config, pre: State, event: ops.Op, step: Step, within: type[ops.Op] | None = None
) -> tuple[Rule, ...]:
    """The rule of the operation that is not what is defined, or leaves its frame: of the first part, or of the step.

    A part is an operation `within` that of the step.
    """
    for part in step.parts:
        wrong = check_definition(config, part.pre, part.event, part.step, type(event))
        if wrong:
            return wrong
    right = is_defined(config, pre, event, step, within) and not outside(pre, event, step)
    return () if right else (event.rule,)
