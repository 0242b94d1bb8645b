"""The scope of a bounded model of `pulsar-pip430`, its events, and the equality of its states.

`BoundedModel` builds its events from positions, sizes and counts, and merges states by ages and saturated counts
(`SaturatedStates`). `ListedModel` lists its events and keeps whole states.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from entrycache_conformance.systems.pulsar_pip430.system import SYSTEM
from entrycache_evidence.model_checker.checker import Parts
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, Position

DEAD: Final = 255
"""The byte of a dead slot in a key."""


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The scope of an exploration: only the listed events happen, in any order.

    `slots` bounds the queue with its dead slots: a full queue accepts no insert. `counts` are the least and the
    greatest expected reads; an event that would leave them does not happen. `with_queries` adds `exists` and `usage`.
    `ranges` and `wrong` list further events.
    """

    name: str
    config: Config
    keys: tuple[Slot, ...]
    sizes: tuple[int, ...]
    expected: tuple[int | Absent | None, ...]
    counts: tuple[int, int]
    slots: int
    older: tuple[int | Absent, ...]
    needs: tuple[int, ...]
    ranges: tuple[ops.Op, ...] = ()
    wrong: tuple[ops.Op, ...] = ()
    with_queries: bool = False
    depth: int | None = None

    @property
    def oldest(self) -> int:
        """The age from which no event of this model tells two ages apart."""
        return 1 + max(self.config.ttl_nanos if age is ABSENT else age for age in self.older)

    def parts(self) -> Parts:
        """Return the events, and the equality of states."""
        return Parts(SYSTEM, Events(self).of, SaturatedStates(self))

    def describe(self) -> str:
        """Describe the bounds."""
        caches = len({key.cache for key in self.keys})
        ages = ", ".join("ttl" if age is ABSENT else str(age) for age in self.older)
        return (
            f"{self.name}: {len(self.keys)} positions in {caches} cache{'s' if caches > 1 else ''}, "
            f"sizes {', '.join(map(str, self.sizes))}, "
            f"inserted counts {', '.join(map(describe_count, self.expected))} "
            f"within {self.counts[0]}..{self.counts[1]}, "
            f"at most {self.slots} slots, max_requeues {self.config.max_requeues}, ttl {self.config.ttl_nanos}, "
            f"extend_recently_accessed {str(self.config.extend_recently_accessed).lower()}, "
            f"expire {ages}, evict {', '.join(map(str, self.needs))}"
        )


def describe_count(count: int | Absent | None) -> str:
    """Describe a number of expected reads."""
    return "none" if count is ABSENT or count is None else str(count)


class Events:
    """The events of a bounded model."""

    def __init__(self, scope: BoundedModel) -> None:
        self.scope = scope
        self.inserts = {
            key: tuple(
                ops.Insert(key.cache, key.pos, size, count, index + 1)
                for size, count in product(scope.sizes, scope.expected)
            )
            for index, key in enumerate(scope.keys)
        }
        self.gets = {key: ops.Get(key.cache, key.pos) for key in scope.keys}
        self.reads = {key: ops.MarkRead(key.cache, key.pos) for key in scope.keys}
        self.expects = {key: ops.ExpectRead(key.cache, key.pos) for key in scope.keys}
        self.removes = {key: ops.RemoveRange(key.cache, key.pos, key.pos, True) for key in scope.keys}
        queries: list[ops.Op] = []
        if scope.with_queries:
            queries = [ops.Exists(key.cache, key.pos) for key in scope.keys]
            queries += [ops.Usage(), *(ops.Usage(name) for name in sorted({key.cache for key in scope.keys}))]
        self.always: tuple[ops.Op, ...] = (
            ops.Advance(1),
            *(ops.Expire(age) for age in scope.older),
            *(ops.Evict(need) for need in scope.needs),
            *queries,
            *scope.ranges,
            *scope.wrong,
        )

    def of(self, state: State) -> Iterator[ops.Op]:
        """Yield the events that can happen in a state."""
        yield from self.always
        scope = self.scope
        least, greatest = scope.counts
        room = len(state.queue) < scope.slots
        for key in scope.keys:
            cache = state.caches.get(key.cache)
            entry = None if cache is None else cache.entries.get(key.pos)
            if entry is None:
                if room:
                    yield from self.inserts[key]
                if scope.with_queries:
                    yield from (self.gets[key], self.reads[key], self.expects[key], self.removes[key])
                continue
            if scope.with_queries:
                yield from self.inserts[key]
            yield self.gets[key]
            yield self.removes[key]
            count = entry.expected_reads
            if count is None:
                if scope.with_queries:
                    yield self.reads[key]
                    yield self.expects[key]
                continue
            if count > least:
                yield self.reads[key]
            if count < greatest:
                yield self.expects[key]


class SaturatedStates:
    """Equality of states that ignores a time shift, and saturates ages and requeue counts."""

    def __init__(self, scope: BoundedModel) -> None:
        self.index = {key: number for number, key in enumerate(scope.keys)}
        self.cache_bit = {name: 1 << at for at, name in enumerate(sorted({key.cache for key in scope.keys}))}
        self.oldest = scope.oldest
        self.most = scope.config.max_requeues

    def key(self, state: State) -> bytes:
        """Return a key that is equal for states that no further event and no law tells apart."""
        now, oldest, most = state.now_nanos, self.oldest, self.most
        parts = [sum([self.cache_bit[name] for name in state.caches])]
        for slot in state.queue:
            if slot is None:
                parts.append(DEAD)
                continue
            size, stamp, requeues, accessed, count, _ = state.caches[slot.cache].entries[slot.pos]
            age = now - stamp
            parts += (
                self.index[slot],
                size,
                age if age < oldest else oldest,
                (requeues if requeues < most else most) * 2 + accessed,
                0 if count is None else count + 100,
            )
        return bytes(parts)

    def follows(self, step: Step) -> bool:
        """Return True: no event of the model leaves the bounds."""
        return True

    def representative(self, state: State) -> State:
        """Return the representative of a state: the present is `oldest`, and ages and requeue counts are saturated."""
        oldest, most = self.oldest, self.most
        shift = oldest - state.now_nanos
        caches = state.caches
        changed = False
        for name, cache in state.caches.items():
            entries: dict[Position, Entry] | None = None
            for pos, entry in cache.entries.items():
                stamp = entry.stamp_nanos + shift
                if shift or stamp < 0 or entry.requeues > most:
                    if entries is None:
                        entries = dict(cache.entries)
                    entries[pos] = entry._replace(stamp_nanos=max(stamp, 0), requeues=min(entry.requeues, most))
            if entries is not None:
                if not changed:
                    caches, changed = dict(caches), True
                caches = {**caches, name: cache._replace(entries=entries)}
        return state._replace(now_nanos=oldest, caches=caches)


def slot(cache: str, ledger: int, entry: int) -> Slot:
    """Build a position of a cache."""
    return Slot(CacheName(cache), Position(ledger, entry))


# --- Models with listed events


@dataclass(frozen=True, slots=True)
class ListedModel:
    """The scope of an exploration; `description` names the events, and `start` the steps before the first one.

    A step that leaves the bounds is judged but not followed: time after `latest_nanos`, more than `slots` slots, or a
    count below `least`.
    """

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    description: str
    latest_nanos: int = 0
    slots: int = 3
    least: int = 0
    depth: int | None = None
    start: tuple[ops.Op, ...] = ()

    def parts(self) -> Parts:
        """Return the events, which are the same in every state, with whole states."""
        return Parts(SYSTEM, EveryEvent(self).of, WholeStates(self), self.start)

    def describe(self) -> str:
        """Describe the bounds."""
        return (
            f"{self.name}: {len(self.events)} events ({self.description}), time up to {self.latest_nanos}, "
            f"at most {self.slots} slots, counts from {self.least} on"
        )


class EveryEvent:
    """The same events in every state."""

    def __init__(self, scope: ListedModel) -> None:
        self._events = scope.events

    def of(self, state: State) -> tuple[ops.Op, ...]:
        """Return the events that can happen in a state."""
        return self._events


class WholeStates:
    """Equality of states that ignores counters only, since no law compares them with anything earlier."""

    def __init__(self, scope: ListedModel) -> None:
        self._scope = scope

    def key(self, state: State) -> Hashable:
        """Return a key that is equal for equal states."""
        caches = tuple(
            (
                name,
                cache.is_open,
                cache.grace_start_nanos,
                tuple(sorted(cache.members.items())),
                tuple((pos, cache.entries[pos]) for pos in sorted(cache.entries)),
            )
            for name, cache in sorted(state.caches.items())
        )
        holds = tuple(sorted(state.holds.items()))
        asks, sent, reads, of_cursors = state.pending
        pending = (tuple(sorted(asks.items())), sent, tuple(sorted(reads.items())), tuple(sorted(of_cursors.items())))
        managed = tuple(
            (name, tuple(one.sizes.items()), tuple(sorted(one.cursors.items())), one[3:])
            for name, one in sorted(state.managed.items())
        )
        limiter = (state.limiter.free, tuple(state.limiter.out.items()), state.limiter.waiting)
        of_cache = (caches, state.queue, state.is_scheduled, holds)
        return state.now_nanos, state.settings, *of_cache, pending, managed, limiter

    def representative(self, state: State) -> State:
        """Return the representative of a state: the one that was reached first."""
        return state

    def follows(self, step: Step) -> bool:
        """Return whether the state is within the bounds."""
        scope, state = self._scope, step.state
        if state.now_nanos > scope.latest_nanos or len(state.queue) > scope.slots:
            return False
        return all(
            entry.expected_reads is None or entry.expected_reads >= scope.least
            for cache in state.caches.values()
            for entry in cache.entries.values()
        )
