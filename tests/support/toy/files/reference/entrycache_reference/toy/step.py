"""One step: dispatch by the type of the event, one function an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from entrycache_reference.rules import Rule, rule
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.ops import Has, Op, Put
from entrycache_reference.toy.outcomes import Found, Kept
from entrycache_reference.toy.state import Row, State, Step


@rule(Rule.T_PUT_1)
def put(state: State, event: Put, config: Config) -> Step:
    """Bring in a key where there is room for it."""
    if not has_room(state, event.key, config):
        return Step(state, Kept(False), ())
    row = Row(Rule.T_PUT_1, "PUT", event.key)
    return Step(State(state.keys | {event.key}), Kept(True), (row,))


@rule(Rule.T_PUT_2)
def has_room(state: State, key: str, config: Config) -> bool:
    """Whether the key is there already, or the set holds fewer than its limit."""
    return key in state.keys or len(state.keys) < config.limit


@rule(Rule.T_HAS_1)
def has(state: State, event: Has, config: Config) -> Step:
    """Tell whether the key is there."""
    return Step(state, Found(event.key in state.keys), (Row(Rule.T_HAS_1, "HAS", event.key),))


FUNCTIONS: Final[dict[type[Op], Callable[..., Step]]] = {Put: put, Has: has}
"""The function of each operation."""


@rule(Rule.T_LIVENESS_1)
def step(state: State, event: Op, config: Config) -> Step:
    """What one event makes of a state."""
    return FUNCTIONS[type(event)](state, event, config)
