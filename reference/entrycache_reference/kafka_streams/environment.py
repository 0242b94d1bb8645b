"""What a rule function of `kafka-streams` leaves to others while a step is under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.outcomes import Answer
from entrycache_reference.kafka_streams.state import Node, State


class Environment(NamedTuple):
    """Who performs a step inside a call, and who takes what the namespace of a caching store flushes.

    `perform` is one step: the state after it, and its answer. `receive` is the listener that a caching store
    registers for itself.
    """

    perform: Callable[[State, Op, Config], tuple[State, Answer]]
    receive: Callable[[State, str, tuple[tuple[str, Node], ...], Config, Environment], State]
