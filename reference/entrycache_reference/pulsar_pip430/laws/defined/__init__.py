"""Definitions: what a step is, as a function of the state before it, made in another way than the reference makes it.

Together with the frames they leave nothing open: what an operation may change is defined here or by a law of a rule,
and all else is as it was. They speak where no law of a rule has spoken, and then name the rule of the operation.
"""

from __future__ import annotations

from typing import Any

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.defined.answers import ANSWERS, keeps_what_is_held
from entrycache_reference.pulsar_pip430.laws.defined.passes import is_that_pass
from entrycache_reference.pulsar_pip430.laws.defined.whole import LOOKS, PASSES, has_its_parts, rows_follow
from entrycache_reference.pulsar_pip430.laws.frame import BESIDE, MAY_CHANGE, opens, outside
from entrycache_reference.pulsar_pip430.laws.law import refusable
from entrycache_reference.pulsar_pip430.ops import Op, RemoveCache
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["BESIDE", "MAY_CHANGE", "check_definition", "is_defined"]


def check_definition(config: Config, pre: State, event: Op, step: Step) -> tuple[Rule, ...]:
    """The rule of the operation, where the step is not what is defined or leaves its frame."""
    return () if is_defined(config, pre, event, step) else (event.rule,)


def is_defined(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Whether a step is the one that its operation is defined as, and keeps to its frame."""
    if not step.parts and step.state is pre and not step.rows and type(event) in LOOKS:
        return ANSWERS[type(event)](config, pre, event, step)
    first = opens(pre, event, step)
    return (
        not outside(pre, event, step)
        and is_rightly_open(event, step, first)
        and all(_is_done(config, part.pre, part.event, part.step) for part in step.parts)
        and _is_done(config, pre, event, step)
        and has_its_parts(config, pre, event, step)
        and rows_follow(config, pre, event, step, first)
    )


def is_rightly_open(event: Any, step: Step, first: bool) -> bool:
    """A step opens the cache that it names, if it is not open; after `remove_cache` it is not."""
    is_closing = type(event) is RemoveCache
    return not (first or is_closing) or step.state.caches[event.cache].is_open is not is_closing


def _is_done(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Whether a step without parts, or one part, makes of the state and answers what is defined."""
    if type(event) in PASSES:
        return refusable(config, pre, event) or is_that_pass(config, pre, event, step)  # type: ignore[arg-type]
    return ANSWERS[type(event)](config, pre, event, step) and keeps_what_is_held(config, pre, event, step)
