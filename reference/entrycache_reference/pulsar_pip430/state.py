"""What the caches of one broker hold, and what a step hands back.

Beside: RangeCacheRemovalQueue, EntryReadCountHandlerImpl (managed-ledger 4.2.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.outcomes import Outcome
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, CursorName, HoldName, Position


class Entry(NamedTuple):
    """One cached entry. `expected_reads` None: it carries no count, for ever."""

    size_bytes: int
    stamp_nanos: int
    requeues: int
    accessed: bool
    expected_reads: int | None
    token: int | None


class Cache(NamedTuple):
    """The cache of one managed ledger. No mapping is ever changed in place.

    `members` are its cursors with their positions, None: not tracked. `grace_start_nanos` is when the grace
    period last began. `is_open` False: it was taken out of the manager, and its next use opens it again.
    """

    entries: Mapping[Position, Entry]
    size_bytes: int
    members: Mapping[CursorName, Position | None] = {}
    grace_start_nanos: int = 0
    is_open: bool = True


class Slot(NamedTuple):
    """A live slot of the removal queue: it names its entry."""

    cache: CacheName
    pos: Position


DEAD: Final = None
"""A slot whose entry has left by a call; the next pass that reaches it drops it."""


class HeldPosition(NamedTuple):
    """One position that a read handed over and that is not released yet.

    `is_cached` True: what was read is the entry that is cached there now; False: that has left, or it never
    was cached.
    """

    slot: Slot
    is_cached: bool


class Counts(NamedTuple):
    """The counters since the start of the run."""

    inserted_entries: int = 0
    evicted_entries: int = 0
    eviction_cycles: int = 0
    hit_entries: int = 0
    hit_bytes: int = 0
    miss_entries: int = 0
    miss_bytes: int = 0


class State(NamedTuple):
    """The whole state. `queue` runs from head (oldest) to tail; `size_bytes` is the manager's counter.

    `is_scheduled`: an insert has asked for a size pass that `run_scheduled` is to run. `holds` is what reads
    have handed over and still hold, by name.
    """

    now_nanos: int
    settings: Settings
    caches: Mapping[CacheName, Cache]
    queue: tuple[Slot | None, ...]
    size_bytes: int
    is_scheduled: bool = False
    holds: Mapping[HoldName, tuple[HeldPosition, ...]] = {}
    counts: Counts = Counts()


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
    """What one step makes of a state: the state after it, its answer, and its events in order.

    A step that does several things in a row, as an insert that triggers a pass, names them in `parts`: each
    is a step of its own, made of the state that the one before it left.
    """

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()


class Part(NamedTuple):
    """One thing that a step did: the state it met, the operation that it amounts to, and what that made of it."""

    pre: State
    event: Op
    step: Step


def initial(config: Config) -> State:
    """The empty state at time 0."""
    return State(0, config.settings, {}, (), 0)
