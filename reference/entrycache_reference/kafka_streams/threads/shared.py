"""The reference for several threads: one step after another, each under one lock. One possible answer of many."""

from __future__ import annotations

from threading import Lock
from typing import Any

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Outcome
from entrycache_reference.kafka_streams.state import State, initial
from entrycache_reference.kafka_streams.step import step
from entrycache_reference.rules import Rule, rule


class Shared:
    """One cache for several threads."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state: State = initial(config)
        self.lock = Lock()

    def __call__(self, op: Any) -> Outcome:
        """Perform a step."""
        return alone(self, op)


@rule(Rule.K_CONCURRENCY_1)
def alone(shared: Shared, op: Any) -> Outcome:
    """Perform a step while nobody else is in one; who waits is never waited for."""
    with shared.lock:
        done = step(shared.state, op, shared.config)
        shared.state = done.state
        return done.outcome
