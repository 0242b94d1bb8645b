"""The bounded models of `pulsar-legacy` that are exhausted; together they fire every law of its steps.

A `BoundedModel` lists its events; `AgedStates` makes states equal that differ in the time only. `CI`, `LONG` and
`NIGHTLY` are the models of the profiles.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from entrycache_conformance.systems.pulsar_legacy.system import SYSTEM
from entrycache_evidence.model_checker.checker import Parts
from entrycache_evidence.pulsar_legacy.stress import A, B, at
from entrycache_reference.pulsar_legacy import Config, State, Step, Variants, ops
from entrycache_reference.pulsar_legacy.config import Eviction, SingleLookup
from entrycache_reference.pulsar_legacy.state import Cache
from entrycache_reference.vocabulary import ABSENT, Absent, CacheName, Position


@dataclass(frozen=True, slots=True)
class BoundedModel:
    """The scope of an exploration; `description` names the events, and every event may happen in every state.

    From the age `oldest`, in nanoseconds, no event tells two ages apart.
    """

    name: str
    config: Config
    events: tuple[ops.Op, ...]
    description: str
    oldest: int = 2
    depth: int | None = None

    def parts(self) -> Parts:
        """Return the events, which are the same in every state, with ages instead of stamps."""
        return Parts(SYSTEM, lambda _: self.events, AgedStates(self.oldest))

    def describe(self) -> str:
        """Describe the bounds."""
        return f"{self.name}: {len(self.events)} events ({self.description})"


class AgedStates:
    """Equality of states that ignores the time, and ages that nothing tells apart."""

    def __init__(self, oldest: int) -> None:
        self._oldest = oldest

    def key(self, state: State) -> Hashable:
        """Return a key that is equal for states that no further event and no law tells apart."""
        caches = [(name, self._cache(state.caches[name], state.now_nanos)) for name in sorted(state.caches)]
        return tuple(caches), state.size_bytes, state.scheduled_bytes

    def _cache(self, cache: Cache, now: int) -> Hashable:
        entries = cache.entries
        held = [
            (pos, entries[pos].size_bytes, min(now - entries[pos].stamp_nanos, self._oldest), entries[pos].token)
            for pos in sorted(entries)
        ]
        return tuple(held), cache.size_bytes

    def representative(self, state: State) -> State:
        """Return the representative of a state: the time is `oldest`, and nothing is older."""
        back = state.now_nanos - self._oldest
        caches = {
            name: cache._replace(
                entries={
                    pos: entry._replace(stamp_nanos=max(0, entry.stamp_nanos - back))
                    for pos, entry in cache.entries.items()
                }
            )
            for name, cache in state.caches.items()
        }
        return state._replace(now_nanos=self._oldest, caches=caches)

    def follows(self, step: Step) -> bool:
        """Return True: every step is followed."""
        return True


def build_inserts(
    places: Iterable[tuple[CacheName, Position]], sizes: Iterable[int], token: int | Absent = ABSENT
) -> tuple[ops.Op, ...]:
    """Build an insert of each of these sizes at each of these places."""
    sized = tuple(sizes)
    return tuple(ops.Insert(name, pos, size, token) for name, pos in places for size in sized)


C: Final = CacheName("c")
LOW, NEXT, LATER = at(0), at(1), at(0, 2)
"""Two positions of a ledger, and one of the next ledger."""

THREE: Final = ((A, LOW), (A, LATER), (B, LOW))
REFUSED_EVENTS: Final[tuple[ops.Op, ...]] = (
    ops.Insert(A, LOW, -1),
    ops.Advance(-1),
    ops.Expire(A, -1),
    ops.Evict(0),
    ops.EvictCache(A, 0),
    ops.Read(A, NEXT, LOW),
    ops.Read(A, LOW, LATER),
)
"""Events that the protocol refuses."""

QUERIES: Final[tuple[ops.Op, ...]] = (
    *(ops.Get(*place) for place in THREE),
    *(ops.GetRange(A, *bounds) for bounds in ((LOW, LATER), (LATER, LOW))),
    ops.Exists(A, LOW),
    ops.ReadOne(A, LOW),
    *(ops.Usage(), ops.Usage(A), ops.Usage(B)),
    ops.Observe(),
)
"""Events that change nothing."""

REMOVALS: Final[tuple[ops.Op, ...]] = (
    *(ops.RemoveRange(A, LOW, LATER, inclusive) for inclusive in (False, True)),
    ops.RemoveRange(A, LATER, LOW, True),
    *(ops.Clear(name) for name in (A, B)),
    *(ops.InvalidateBefore(A, pos) for pos in (LOW, LATER)),
    *(ops.InvalidateLedger(A, ledger) for ledger in (1, 2)),
    ops.RemoveCache(A),
)
TIME: Final[tuple[ops.Op, ...]] = (ops.Advance(1), *(ops.Expire(A, age) for age in (ABSENT, 0)), ops.Expire(B))
PASSES: Final[tuple[ops.Op, ...]] = (
    *(ops.Evict(need) for need in (1, 3)),
    *(ops.EvictCache(A, need) for need in (1, 2)),
)

SMALL: Final = Config(max_size_bytes=4, watermark=0.5, ttl_nanos=1)
EVERY: Final = BoundedModel(
    "every operation on three entries",
    SMALL,
    (*build_inserts(THREE, (0, 1, 2)), *QUERIES, *REMOVALS, *TIME, *PASSES, ops.RunScheduled(), *REFUSED_EVENTS),
    "three entries of two ledgers in two caches, sizes 0, 1 and 2 under a limit of 4, the watermark at the half",
)
MANUAL: Final = BoundedModel(
    "passes that wait",
    replace(SMALL, eviction=Eviction.MANUAL),
    (*build_inserts(THREE, (1, 2)), *TIME[:2], ops.Evict(1), ops.EvictCache(A, 1), ops.Clear(A), ops.RunScheduled()),
    "three entries of two sizes under a limit of 4, a pass of which waits until it is run",
)
HIGH: Final = BoundedModel(
    "a watermark above the trigger",
    replace(SMALL, watermark=1.0),
    (*build_inserts(THREE, (1, 3)), ops.Evict(1), ops.Clear(A), ops.RunScheduled(), *QUERIES[-4:]),
    "three entries of two sizes under a limit of 4, nothing to free above the trigger",
)
HIGH_MANUAL: Final = replace(
    HIGH,
    name="a watermark above the trigger, passes that wait",
    config=replace(HIGH.config, eviction=Eviction.MANUAL),
)
READS: Final = BoundedModel(
    "reads of whole ranges",
    Config(max_size_bytes=210, watermark=0.5, ttl_nanos=1),
    (
        *build_inserts(((A, LOW), (A, NEXT), (B, LOW)), (7,), 5),
        *(ops.Read(A, *bounds) for bounds in ((LOW, LOW), (LOW, NEXT), (NEXT, at(2)))),
        *(ops.ReadOne(A, pos) for pos in (LOW, NEXT)),
        ops.Get(A, LOW),
        ops.GetRange(A, LOW, NEXT),
        ops.RemoveRange(A, LOW, LOW, True),
        *REFUSED_EVENTS[-2:],
    ),
    "three positions of a cache and one of another, entries of 7 bytes with a payload and of 100 from storage",
)
SIZED: Final = (("a", 15), ("b", 7), ("c", 7), ("d", 3))
SHARES: Final = BoundedModel(
    "four caches, shares that are truncated",
    Config(max_size_bytes=1000),
    (
        *(ops.Insert(CacheName(name), at(entry), size) for entry in range(2) for name, size in SIZED),
        *(ops.Evict(need) for need in (1, 9, 22)),
    ),
    "two entries in each of four caches, of 15, 7, 7 and 3 bytes",
)
OFF: Final = BoundedModel(
    "no insert is taken",
    Config(max_size_bytes=0, ttl_nanos=1),
    (*build_inserts(THREE, (0, 1)), *QUERIES, *TIME, *PASSES, ops.Read(A, LOW, NEXT)),
    "a limit of 0",
)
OBJECT: Final = BoundedModel(
    "every operation on three entries, single lookups by object",
    replace(SMALL, variants=Variants(SingleLookup.OBJECT)),
    EVERY.events,
    EVERY.description,
    depth=4,
)

THREE_CACHES: Final = BoundedModel(
    "four entries of three caches",
    Config(max_size_bytes=6, watermark=0.5, ttl_nanos=1),
    (
        *build_inserts(((A, LOW), (A, NEXT), (B, LOW), (C, LOW)), (1, 2)),
        *TIME,
        *PASSES,
        *(ops.Clear(name) for name in (A, B, C)),
        ops.InvalidateBefore(A, NEXT),
    ),
    "two sizes under a limit of 6, the watermark at the half",
)
FIVE: Final = BoundedModel(
    "five entries of three caches, passes that wait",
    Config(max_size_bytes=8, watermark=0.5, ttl_nanos=2, eviction=Eviction.MANUAL),
    (
        *build_inserts(((A, LOW), (A, NEXT), (A, LATER), (B, LOW), (C, LOW)), (1, 3)),
        *TIME,
        *PASSES,
        *(ops.Clear(name) for name in (A, B, C)),
        ops.RunScheduled(),
    ),
    "two sizes under a limit of 8",
    oldest=2,
)

CI: Final[tuple[BoundedModel, ...]] = (EVERY, MANUAL, HIGH, HIGH_MANUAL, READS, SHARES, OFF, OBJECT)
LONG: Final[tuple[BoundedModel, ...]] = (*CI, THREE_CACHES)
NIGHTLY: Final[tuple[BoundedModel, ...]] = (*LONG, FIVE)
