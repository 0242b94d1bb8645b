"""The reference for several threads: one step after another, each under one lock. One possible answer of many."""

from __future__ import annotations

from threading import Lock
from typing import Any

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.outcomes import Outcome
from entrycache_reference.kafka_streams.state import initial
from entrycache_reference.kafka_streams.step import step
from entrycache_reference.rules import Rule, rule


class Shared:
    """One cache for several threads."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = initial(config)
        self.lock = Lock()

    @rule(Rule.K_CONCURRENCY_1)
    def __call__(self, op: Any) -> Outcome:
        """Perform a step; whoever else is in one is waited for."""
        with self.lock:
            done = step(self.state, op, self.config)
            self.state = done.state
            return done.outcome
