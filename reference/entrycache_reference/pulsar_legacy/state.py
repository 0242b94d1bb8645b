"""The state of the caches of one broker, and the result of a step.

`State` holds the clock, the caches that hold entries, the manager's bytes, and the amount of a scheduled pass. A `Step`
is the result: the state after it, its outcome, its rows, and its `parts`, each an operation of its own.

Beside: RangeEntryCacheManagerImpl.hasSpaceInCache (managed-ledger 4.0.8)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.ops import Op, Outcome
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

    `scheduled_bytes` is the amount of the size pass that an insert has requested and `run_scheduled` will run. None: no
    pass is scheduled. It may be 0 or less.
    """

    now_nanos: int
    caches: Mapping[CacheName, Cache]
    size_bytes: int
    scheduled_bytes: int | None = None


class Step(NamedTuple):
    """The result of one step: the state after it, its outcome, and its rows in order.

    A step that does several things in a row, such as an insert that runs a pass, names them in `parts`. Each part
    starts from the state that the one before it left. `givers` are the caches among which a size pass divides its
    amount.
    """

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()
    givers: tuple[CacheName, ...] = ()


class Part(NamedTuple):
    """One part of a step: the state before it, the operation that it amounts to, and its result."""

    pre: State
    event: Op
    step: Step


def initial(config: Config) -> State:
    """Return the empty state at time 0."""
    return State(0, {}, 0)


__all__ = ["Cache", "Entry", "Part", "Row", "State", "Step", "initial"]
