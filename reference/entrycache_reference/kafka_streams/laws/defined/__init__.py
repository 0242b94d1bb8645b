"""Definitions: what a step is, as a function of the state before it, made in another way than the reference makes it.

They leave nothing open: every step, and every step that a listener performs inside it, has a picture, and is held to
it. They speak where no law of a rule has spoken, and then name the rule of the operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.laws.defined.caches import CACHES, Does
from entrycache_reference.kafka_streams.laws.defined.picture import Picture
from entrycache_reference.kafka_streams.laws.defined.stores import STORES
from entrycache_reference.kafka_streams.laws.frame import BESIDE, MAY_CHANGE, outside
from entrycache_reference.kafka_streams.outcomes import Failed, Unanswered
from entrycache_reference.kafka_streams.state import Part, Row, State, Step
from entrycache_reference.rules import Rule

__all__ = ["BESIDE", "MAY_CHANGE", "check_definition", "is_defined"]

DOES: Final[Mapping[type[ops.Op], Does]] = {**CACHES, **STORES}


def check_definition(config: Config, pre: State, event: ops.Op, step: Step) -> tuple[Rule, ...]:
    """The rule of the operation, where the step is not what is defined or leaves its frame."""
    return () if is_defined(config, pre, event, step) else (event.rule,)


def is_defined(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Whether a step is the one that its operation is defined as, and keeps to its frame.

    One that gives no answer is held to all the rest: up to where it ends, or what it throws, it is defined.
    """
    picture = Picture(config, pre, step.parts, step.rows)
    answer = step.outcome.answer
    if outside(pre, event, step.state, step.parts) or not is_drawn(picture, event, answer):
        return False
    return (
        (picture.stuck or None) == (answer.reason if isinstance(answer, Unanswered) else None)
        and picture.lasting() == step.state
        and tuple(picture.rows) == step.rows
        and tuple(picture.calls) == step.outcome.flushed
        and tuple(picture.forwards) == step.outcome.forwarded
        and all(is_part_defined(config, part, step.rows) for part in step.parts)
    )


def is_part_defined(config: Config, part: Part, rows: tuple[Row, ...]) -> bool:
    """Whether a step inside a call is the one that its operation is defined as; `rows` are those of the whole step."""
    picture = Picture(config, part.pre, part.parts, rows)
    return (
        is_drawn(picture, part.event, part.answer)
        and picture.stuck == part.after.under_way.stuck
        and picture.is_shown(part.after)
        and all(is_part_defined(config, inner, rows) for inner in part.parts)
    )


def is_drawn(picture: Picture, event: ops.Op, answer: object) -> bool:
    """Draw what the operation does; whether it answers that, or nothing, and every step inside it was met."""
    wanted = DOES[type(event)](picture, event)
    answered = wanted if picture.error is None else Failed(picture.error)
    answers = isinstance(answer, Unanswered) or answered == answer
    return picture.is_right and answers and next(picture.parts, None) is None
