"""The laws of `toy`: every MUST as a check of one step, written without the functions it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.rules import Rule
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.ops import Has, Put
from entrycache_reference.toy.outcomes import Found, Kept
from entrycache_reference.toy.state import State, Step

Check = Callable[[Config, State, Any, Step], bool]


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` has to be."""

    rule: Rule
    guard: Check
    holds: Check


def puts_with_room(config: Config, pre: State, event: Any, step: Step) -> bool:
    """A new key, and fewer than the limit."""
    return type(event) is Put and (event.key in pre.keys or len(pre.keys) < config.limit)


def comes_in(config: Config, pre: State, event: Any, step: Step) -> bool:
    """T-PUT-1."""
    return step.outcome == Kept(True) and step.state.keys == pre.keys | {event.key}


def puts_without_room(config: Config, pre: State, event: Any, step: Step) -> bool:
    """A new key, and as many as the limit."""
    return type(event) is Put and event.key not in pre.keys and len(pre.keys) >= config.limit


def stays_out(config: Config, pre: State, event: Any, step: Step) -> bool:
    """T-PUT-2."""
    return step.outcome == Kept(False) and step.state == pre


def asks(config: Config, pre: State, event: Any, step: Step) -> bool:
    """A question."""
    return type(event) is Has and type(step.outcome) is Found


def is_told(config: Config, pre: State, event: Any, step: Step) -> bool:
    """T-HAS-1."""
    return step.outcome == Found(event.key in pre.keys) and step.state == pre


def always(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Every step."""
    return True


def answers_its_own(config: Config, pre: State, event: Any, step: Step) -> bool:
    """T-LIVENESS-1."""
    return type(step.outcome) in event.answers


LAWS: Final = (
    Law(Rule.T_PUT_1, puts_with_room, comes_in),
    Law(Rule.T_PUT_2, puts_without_room, stays_out),
    Law(Rule.T_HAS_1, asks, is_told),
    Law(Rule.T_LIVENESS_1, always, answers_its_own),
)
"""One law a rule."""


def broken(
    config: Config, pre: State, event: Any, step: Step, fired: dict[Rule, int] | None = None
) -> tuple[Rule, ...]:
    """The rules that this step breaks; counts in `fired` every law whose guard held."""
    asked = [law for law in LAWS if law.guard(config, pre, event, step)]
    for law in asked if fired is not None else ():
        fired[law.rule] = fired.get(law.rule, 0) + 1
    return tuple(law.rule for law in asked if not law.holds(config, pre, event, step))
