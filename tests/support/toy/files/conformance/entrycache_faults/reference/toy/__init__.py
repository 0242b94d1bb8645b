"""Planted faults of the reference of `toy`: one a rule."""

from __future__ import annotations

from typing import Final

from entrycache_faults.model import FaultRegistry
from entrycache_reference.rules import Rule
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.ops import Has, Put
from entrycache_reference.toy.outcomes import Found, Kept
from entrycache_reference.toy.state import State, Step

PLANTED: Final = FaultRegistry("entrycache_reference.toy")

planted = PLANTED.register


@planted(Rule.T_PUT_1, Put)
def put_forgotten(state: State, event: Put, config: Config) -> Step:
    """A key that is let in is not kept."""
    has_room = event.key in state.keys or len(state.keys) < config.limit
    return Step(state, Kept(has_room), ())


@planted(Rule.T_PUT_2, "step.has_room")
def always_room(state: State, key: str, config: Config) -> bool:
    """The limit is not looked at."""
    return True


@planted(Rule.T_HAS_1, Has)
def has_anything(state: State, event: Has, config: Config) -> Step:
    """Every key is there once there is one."""
    return Step(state, Found(bool(state.keys)), ())


@planted(Rule.T_LIVENESS_1, Has)
def has_of_put(state: State, event: Has, config: Config) -> Step:
    """A question is answered as a put is."""
    return Step(state, Kept(event.key in state.keys), ())
