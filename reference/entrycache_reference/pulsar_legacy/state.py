"""What the caches of one broker hold, and what a step hands back.

Beside: RangeEntryCacheManagerImpl.hasSpaceInCache (managed-ledger 4.0.8)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import Op
from entrycache_reference.pulsar_legacy.outcomes import Outcome
from entrycache_reference.pulsar_pip430.state import Row
from entrycache_reference.vocabulary import CacheName, Position


class Entry(NamedTuple):
    """One cached entry; `token` is its payload, None where none is carried."""

    size_bytes: int
    stamp_nanos: int
    token: int | None


class Cache(NamedTuple):
    """The cache of one managed ledger. The mapping is never changed in place."""

    entries: Mapping[Position, Entry]
    size_bytes: int


class State(NamedTuple):
    """The whole state. `caches` are those that hold entries; `size_bytes` is the manager's counter.

    `scheduled_bytes` is what the size pass is to free that an insert has asked for and `run_scheduled` is to run; None:
    none is scheduled. It may be 0 or less.
    """

    now_nanos: int
    caches: Mapping[CacheName, Cache]
    size_bytes: int
    scheduled_bytes: int | None = None


class Step(NamedTuple):
    """What one step makes of a state: the state after it, its answer, and its events in order.

    A step that does several things in a row, as an insert that runs a pass, names them in `parts`: each is a step of
    its own, made of the state that the one before it left. `givers` are the caches among which a size pass divides its
    amount.
    """

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()
    givers: tuple[CacheName, ...] = ()


class Part(NamedTuple):
    """One thing that a step did: the state it met, the operation that it amounts to, and what that made of it."""

    pre: State
    event: Op
    step: Step


def initial(config: Config) -> State:
    """Return the empty state at time 0."""
    return State(0, {}, 0)


__all__ = ["Cache", "Entry", "Part", "Row", "State", "Step", "initial"]
