"""Variant `total`, `running`: how a limit is lowered, and when that never ends.

The next namespace is chosen before the present one has had its turn, so one that is closed meanwhile still gets a
turn, which takes nothing. If the running total is above the sum of all sizes, turns go on when nothing is left; if
no namespace is left to choose, the released code throws what the protocol does not name. Such a step is marked.

Beside: ThreadCache.resize (kafka-streams 4.3.1)
"""

from __future__ import annotations

from typing import Final

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.environment import Environment
from entrycache_reference.kafka_streams.flush import evict_eldest
from entrycache_reference.kafka_streams.outcomes import Answer, Done, Failed
from entrycache_reference.kafka_streams.running import Held, booked, held, holds_entries
from entrycache_reference.kafka_streams.state import State

ENDLESS: Final = "resize evicts from nothing for ever: the running total is above the limit, and nothing is left"
NOTHING_TO_CHOOSE: Final = "resize throws NoSuchElementException: its listener closed the last namespace"


def shrink_running(state: State, config: Config, env: Environment) -> tuple[State, Answer]:
    """Evict by turns until the running total is within the limit; the namespaces by name."""
    if not state.spaces:
        return state, Done()
    after = state
    turns = Turns(after)
    while after.running > after.max_size_bytes:
        if not after.spaces:
            return stuck(after, NOTHING_TO_CHOOSE), Done()
        own = turns.next(after)
        if not holds_entries(after, own, config) and not any(space.recent for space in after.spaces.values()):
            return stuck(after, ENDLESS), Done()
        if holds_entries(after, own, config):
            done = evict_eldest(after, own.ns, config, env)
            if done.error is not None:
                return done.state, Failed(done.error)
            after = booked(after, done.state, own, config)
        after = after._replace(evicts=after.evicts + 1)
    return after, Done()


def stuck(state: State, reason: str) -> State:
    """The state of a step that gives no answer."""
    return state._replace(under_way=state.under_way._replace(stuck=reason))


class Turns:
    """Whose turn it is: round after round over the namespaces, each chosen one turn ahead."""

    def __init__(self, state: State) -> None:
        self.names: list[str] = []
        self.coming = self.chosen(state)

    def chosen(self, state: State) -> Held:
        """The next namespace of this round, or the first of another one."""
        self.names = self.names or sorted(state.spaces)
        return held(state, self.names.pop(0))

    def next(self, state: State) -> Held:
        """Who pays now."""
        now, self.coming = self.coming, self.chosen(state)
        return now
