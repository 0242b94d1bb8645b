"""What the set holds, and what a step hands back."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_reference.rules import Rule
from entrycache_reference.toy.config import Config
from entrycache_reference.toy.outcomes import Outcome


class Row(NamedTuple):
    """One event, with the rule that made it."""

    rule: Rule
    op: str
    key: str


class State(NamedTuple):
    """The keys."""

    keys: frozenset[str] = frozenset()


class Step(NamedTuple):
    """What one step makes of a state: the state after it, its answer, and its events in order."""

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]


def initial(config: Config) -> State:
    """The empty set."""
    return State()
