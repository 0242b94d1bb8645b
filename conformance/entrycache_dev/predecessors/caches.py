"""Ask the three references of Pulsar's caches in the same words.

A `Word` is a write, a read, a delivery or the passage of time. A `Cache` translates it into operations of its reference
and returns an `Answer` with the entries that are cached afterwards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_reference import pulsar_legacy, pulsar_pip430, pulsar_segmented
from entrycache_reference.pulsar_legacy import ops as legacy_ops
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Eviction
from entrycache_reference.pulsar_segmented import ops as segmented_ops
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

LEDGER: Final = 1


@dataclass(frozen=True, slots=True)
class Add:
    """A written entry, with its number of expected reads or None if nobody counts them."""

    cache: str
    entry: int
    size_bytes: int = 1
    expected_reads: int | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """The passage of time."""

    nanos: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """The periodic task, which removes entries older than the time to live."""


@dataclass(frozen=True, slots=True)
class Range:
    """A read of the entries from `first` to `last`."""

    cache: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Deliver:
    """The delivery of an entry to its reader."""

    cache: str
    entry: int


@dataclass(frozen=True, slots=True)
class Postpone:
    """An entry that a dispatcher cannot deliver now and keeps for a replay."""

    cache: str
    entry: int


@dataclass(frozen=True, slots=True)
class Clear:
    """The removal of all entries of a ledger, such as that of a deleted ledger."""

    cache: str


@dataclass(frozen=True, slots=True)
class LatePass:
    """The size pass that an earlier write asked for, if another thread runs passes."""


Word = Add | Wait | Task | Range | Deliver | Postpone | Clear | LatePass
"""A word that every cache understands."""


class CachedEntry(NamedTuple):
    """A cached entry."""

    cache: str
    entry: int


class Limits(NamedTuple):
    """The settings of a short trace; passes that run `late` wait for a `LatePass`."""

    max_size_bytes: int = 10
    watermark: float = 0.5
    ttl_nanos: int = 1
    late: bool = False

    @property
    def eviction(self) -> Eviction:
        """The setting of that name."""
        return Eviction.MANUAL if self.late else Eviction.INLINE


class Answer(NamedTuple):
    """The cache after a word: its state and entries, the served part of a range, and the visits of passes.

    `inserted` tells whether a written entry came into the cache, even if it left at once.
    """

    state: Any
    kept: Mapping[CachedEntry, int]
    served: tuple[int, ...] = ()
    visits: int = 0
    inserted: bool = True


class Cache(NamedTuple):
    """One of the caches: `start` returns its empty state, and `say` the answer to a word."""

    system: str
    start: Callable[[Limits], Any]
    say: Callable[[Any, Word, Limits], Answer]


def _pip430(limits: Limits) -> pulsar_pip430.Config:
    return pulsar_pip430.Config(
        max_size_bytes=limits.max_size_bytes,
        watermark=limits.watermark,
        ttl_nanos=limits.ttl_nanos,
        eviction=limits.eviction,
    )


VISIT_ROWS: Final = frozenset({"EVICT", "REQUEUE"})
"""The rows of entries that a pass of pulsar-pip430 visited and passed; it visited one more where it ended."""


def _say_pip430(state: Any, word: Word, limits: Limits) -> Answer:
    served: tuple[int, ...] = ()
    visits, inserted = 0, True
    for op in _ops_of_pip430(word):
        done = pulsar_pip430.step(state, op, _pip430(limits))
        state = done.state
        served += tuple(pos.entry for pos in getattr(done.outcome, "hits", ()))
        inserted = getattr(done.outcome, "inserted", inserted)
        visits += sum(row.op in VISIT_ROWS for row in done.rows) + bool(state.queue)
    return Answer(state, _cached_entries(state.caches), served, visits, inserted)


def _ops_of_pip430(word: Word) -> Sequence[ops.Op]:
    """Return the operations of a word; a postponed entry is expected once more before it is given back."""
    if not isinstance(word, Deliver | Postpone):
        return [_op_of_pip430(word)]
    place = CacheName(word.cache), Position(LEDGER, word.entry)
    again = [ops.ExpectRead(*place)] if isinstance(word, Postpone) else []
    return [ops.Get(*place), *again, ops.MarkRead(*place)]


def _op_of_pip430(word: Add | Wait | Task | Range | Clear | LatePass) -> ops.Op:
    match word:
        case Add(cache, entry, size_bytes, expected_reads):
            count = ABSENT if expected_reads is None else expected_reads
            return ops.Insert(CacheName(cache), Position(LEDGER, entry), size_bytes, count)
        case Wait(nanos):
            return ops.Advance(nanos)
        case Task():
            return ops.Cycle()
        case Range(cache, first, last):
            return ops.Read(CacheName(cache), Position(LEDGER, first), Position(LEDGER, last), 0)
        case Clear(cache):
            return ops.Clear(CacheName(cache))
        case LatePass():
            return ops.RunScheduled()


def legacy_config(limits: Limits) -> pulsar_legacy.Config:
    """Return the configuration of pulsar-legacy under these limits."""
    return pulsar_legacy.Config(
        max_size_bytes=limits.max_size_bytes,
        watermark=limits.watermark,
        ttl_nanos=limits.ttl_nanos,
        eviction=limits.eviction,
    )


def _say_legacy(state: pulsar_legacy.State, word: Word, limits: Limits) -> Answer:
    served: tuple[int, ...] = ()
    visits, inserted = 0, True
    for op in ops_of_legacy(state, word):
        done = pulsar_legacy.step(state, op, legacy_config(limits))
        state = done.state
        served += tuple(pos.entry for pos in getattr(done.outcome, "hits", ()))
        inserted = getattr(done.outcome, "inserted", inserted)
        if isinstance(op, legacy_ops.Expire):
            visits += sum(row.op == "EVICT" for row in done.rows) + (op.cache in state.caches)
    return Answer(state, _cached_entries(state.caches), served, visits, inserted)


def ops_of_legacy(state: pulsar_legacy.State, word: Word) -> Sequence[Any]:
    """Return the operations of pulsar-legacy for a word that is said in a state."""
    match word:
        case Add(cache, entry, size_bytes, _):
            return [legacy_ops.Insert(CacheName(cache), Position(LEDGER, entry), size_bytes)]
        case Wait(nanos):
            return [legacy_ops.Advance(nanos)]
        case Task():
            return [legacy_ops.Expire(cache) for cache in sorted(state.caches)]
        case Range(cache, first, last):
            return [legacy_ops.Read(CacheName(cache), Position(LEDGER, first), Position(LEDGER, last))]
        case Clear(cache):
            return [legacy_ops.Clear(CacheName(cache))]
        case LatePass():
            return [legacy_ops.RunScheduled()]
        case Deliver(cache, entry) | Postpone(cache, entry):
            return [legacy_ops.Get(CacheName(cache), Position(LEDGER, entry))]


def _cached_entries(caches: Mapping[Any, Any]) -> dict[CachedEntry, int]:
    return {
        CachedEntry(str(name), pos.entry): entry.size_bytes
        for name, cache in caches.items()
        for pos, entry in cache.entries.items()
    }


def _segmented(limits: Limits) -> pulsar_segmented.Config:
    return pulsar_segmented.Config(
        max_size_bytes=limits.max_size_bytes, segments=2, mode=pulsar_segmented.Mode.REFERENCE
    )


def _say_segmented(state: pulsar_segmented.State, word: Word, limits: Limits) -> Answer:
    op = _op_of_segmented(word)
    served: tuple[int, ...] = ()
    if op is not None:
        done = pulsar_segmented.step(state, op, _segmented(limits))
        state, served = done.state, tuple(pos.entry for pos in getattr(done.outcome, "hits", ()))
    entries = [entry for segment in state.segments.values() for entry in segment.entries]
    kept = {CachedEntry(str(one.place.cache), one.place.pos.entry): one.size_bytes for one in entries}
    return Answer(state, kept, served)


def _op_of_segmented(word: Word) -> Any:
    """Return the operation of a word; time, tasks and a cleared ledger do nothing to a ring."""
    match word:
        case Add(cache, entry, size_bytes, _):
            return segmented_ops.Insert(CacheName(cache), Position(LEDGER, entry), size_bytes)
        case Range(cache, first, last):
            return segmented_ops.GetRange(CacheName(cache), Position(LEDGER, first), Position(LEDGER, last))
        case Deliver(cache, entry) | Postpone(cache, entry):
            return segmented_ops.Get(CacheName(cache), Position(LEDGER, entry))
        case _:
            return None


CACHES: Final = (
    Cache(pulsar_pip430.NAME, lambda limits: pulsar_pip430.initial(_pip430(limits)), _say_pip430),
    Cache(pulsar_legacy.NAME, lambda limits: pulsar_legacy.initial(legacy_config(limits)), _say_legacy),
    Cache(pulsar_segmented.NAME, lambda limits: pulsar_segmented.initial(_segmented(limits)), _say_segmented),
)
"""The caches, the newest first."""
