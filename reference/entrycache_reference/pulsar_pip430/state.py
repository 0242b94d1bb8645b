"""What the caches of one broker hold, and what a step hands back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.outcomes import Outcome
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position


class Entry(NamedTuple):
    """One cached entry. `expected_reads` None: it carries no count, for ever."""

    size_bytes: int
    stamp_nanos: int
    requeues: int
    accessed: bool
    expected_reads: int | None
    token: int | None


class Cache(NamedTuple):
    """The cache of one managed ledger. The mapping is never changed in place."""

    entries: Mapping[Position, Entry]
    size_bytes: int


class Slot(NamedTuple):
    """A live slot of the removal queue: it names its entry."""

    cache: CacheName
    pos: Position


DEAD: Final = None
"""A slot whose entry has left by a call; the next pass that reaches it drops it."""


class State(NamedTuple):
    """The whole state. `queue` runs from head (oldest) to tail; `size_bytes` is the manager's counter."""

    now_nanos: int
    settings: Settings
    caches: Mapping[CacheName, Cache]
    queue: tuple[Slot | None, ...]
    size_bytes: int


class Row(NamedTuple):
    """One event as a recorded trace shows it, with the rule that made it.

    Fields but `rule` are columns of the trace; a recorder adds broker, seq, life, pass, call and the
    ordinals of queue slots. `accessed` and `stamp_ns` are those before the event, `expected_reads` and
    `requeues` those after it.
    """

    rule: Rule
    op: str
    cause: str | None
    ts_ns: int
    bytes_after: int
    origin: str | None = None
    cache: CacheName | None = None
    ledger_id: int | None = None
    entry_id: int | None = None
    size_bytes: int | None = None
    expected_reads: int | None = None
    requeues: int | None = None
    accessed: bool | None = None
    stamp_ns: int | None = None
    new_stamp_ns: int | None = None
    bound: int | None = None
    max_requeues: int | None = None
    extend_accessed: bool | None = None
    trigger_bytes: int | None = None
    target_bytes: int | None = None
    manager_bytes: int | None = None
    cursor: str | None = None
    key_hash: int | None = None
    dirty: bool | None = None
    value: str | None = None


class Step(NamedTuple):
    """What one step makes of a state: the state after it, its answer, and its events in order."""

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]


def initial(config: Config) -> State:
    """The empty state at time 0."""
    return State(0, config.settings, {}, (), 0)
