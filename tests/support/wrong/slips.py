"""A plain cache of `pulsar-pip430` up to level `cursors`, and slips of its author.

`SLIPS` names the level whose cases are to show a slip, and the rules that it breaks. Each was written from the text of
the rules, without a look at what judges it.
"""

from __future__ import annotations

from typing import Any, Final

from entrycache import Refuse, Subject

MILLIS: Final = 1_000_000
COUNTERS: Final = (
    "inserted_entries",
    "evicted_entries",
    "eviction_cycles",
    "hit_entries",
    "hit_bytes",
    "miss_entries",
    "miss_bytes",
)


class Slot:
    """A cached entry."""

    def __init__(self, cache: str, pos: Any, size: int, stamp: int, reads: int | None) -> None:
        self.cache, self.pos, self.size, self.stamp, self.reads = cache, pos, size, stamp, reads
        self.accessed = False
        self.requeues = 0
        self.live = True


class Plain(Subject):
    """A list of slots, and a dict a cache."""

    system = "pulsar-pip430"
    settings = (
        "max_size_bytes",
        "watermark",
        "ttl_nanos",
        "max_requeues",
        "extend_recently_accessed",
        "evict_by_expected_reads",
        "grace_millis",
        "storage_entry_size",
        "eviction",
    )
    introspection = ("now", "bytes", "caches", "queue", "requeues")

    def __init__(self, config: dict[str, Any]) -> None:
        self.limit = config.get("max_size_bytes", 134_217_728)
        self.watermark = config.get("watermark", 0.9)
        self.ttl = config.get("ttl_nanos", 1_000_000_000)
        self.most = config.get("max_requeues", 5)
        self.extends = config.get("extend_recently_accessed", True)
        self.by_reads = config.get("evict_by_expected_reads", True)
        grace = config.get("grace_millis")
        self.grace = 2 * self.ttl // MILLIS if grace is None else grace
        self.storage_size = config.get("storage_entry_size", 100)
        self.manual = config.get("eviction", "inline") == "manual"
        self.disabled = self.limit == 0
        self.now = 0
        self.due = False
        self.queue: list[Slot] = []
        self.caches: dict[str, dict[Any, Slot]] = {}
        self.holds: dict[str, list[Slot | None]] = {}
        self.readers: dict[str, dict[str, Any]] = {}
        self.since: dict[str, int] = {}
        self.counters = dict.fromkeys(COUNTERS, 0)

    def _entries(self, cache: str) -> dict[Any, Slot]:
        if cache not in self.caches:
            self.caches[cache], self.readers[cache], self.since[cache] = {}, {}, self.now
        return self.caches[cache]

    def _members(self, cache: str) -> dict[str, Any]:
        self._entries(cache)
        return self.readers[cache]

    def _bytes(self) -> int:
        return sum(slot.size for slot in self.queue)

    def _trigger(self) -> int:
        return int(self.limit * 0.98)

    def _over(self) -> int:
        return self._bytes() - int(self.limit * self.watermark) if self._bytes() > self._trigger() else 0

    def _drop(self, slots: list[Slot]) -> dict[str, int]:
        for slot in slots:
            slot.live = False
            self.queue.remove(slot)
            del self.caches[slot.cache][slot.pos]
            self.counters["evicted_entries"] += 1
        return {"entries": len(slots), "bytes": sum(slot.size for slot in slots)}

    def _add(self, cache: str, pos: Any, size: int, reads: int | None) -> Slot:
        slot = Slot(cache, pos, size, self.now, reads)
        self.caches[cache][pos] = slot
        self.queue.append(slot)
        self.counters["inserted_entries"] += 1
        self._check_trigger()
        return slot

    def _check_trigger(self) -> None:
        if self._bytes() > self._trigger():
            if self.manual:
                self.due = True
            else:
                self._size_pass(self._over(), counted=True)

    def _size_pass(self, need: int, counted: bool) -> dict[str, int]:
        self.counters["eviction_cycles"] += counted and need > 0
        gone = {"entries": 0, "bytes": 0}
        while gone["bytes"] < need and self.queue:
            self._take_head(gone)
        return gone

    def _time_pass(self, cutoff: int) -> dict[str, int]:
        gone = {"entries": 0, "bytes": 0}
        while self.queue and self.queue[0].stamp < cutoff:
            self._take_head(gone)
        return gone

    def _take_head(self, gone: dict[str, int]) -> None:
        slot = self.queue[0]
        if not self._requeue(slot):
            self._drop([slot])
            gone["entries"] += 1
            gone["bytes"] += slot.size

    def _stays(self, slot: Slot) -> bool:
        return (self.extends and slot.accessed) or ((slot.reads or 0) >= 1 and slot.requeues < self.most)

    def _requeue(self, slot: Slot) -> bool:
        if not self._stays(slot):
            return False
        slot.stamp, slot.accessed, slot.requeues = self.now, False, slot.requeues + 1
        self.queue.remove(slot)
        self.queue.append(slot)
        return True

    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        if size < 0:
            raise Refuse
        if self.disabled or pos in self._entries(cache):
            self._entries(cache)
            return {"inserted": False}
        self._add(cache, pos, size, expected_reads if (expected_reads or 0) > 0 else None)
        return {"inserted": True}

    def get(self, cache: str, pos: Any) -> Any:
        slot = self._entries(cache).get(pos)
        if slot:
            slot.accessed = True
        return {"hit": slot is not None}

    def get_range(self, cache: str, first: Any, last: Any) -> Any:
        entries = self._entries(cache)
        hits = [pos for pos in sorted(entries) if first <= pos <= last]
        for pos in hits:
            entries[pos].accessed = True
        return {"hits": hits}

    def exists(self, cache: str, pos: Any) -> Any:
        return {"exists": pos in self._entries(cache)}

    def remove_range(self, cache: str, first: Any, last: Any, last_inclusive: bool) -> Any:
        entries = self._entries(cache)
        inside = (pos for pos in entries if first <= pos < last or (last_inclusive and first <= pos == last))
        return self._drop([entries[pos] for pos in inside])

    def clear(self, cache: str) -> Any:
        return self._drop([*self._entries(cache).values()])

    def usage(self, cache: str | None = None) -> Any:
        slots = self.queue if cache is None else self._entries(cache).values()
        return {"entries": len(slots), "bytes": sum(slot.size for slot in slots)}

    def observe(self) -> Any:
        return {
            "now": self.now,
            "bytes": self._bytes(),
            "caches": {
                name: {"bytes": sum(slot.size for slot in entries.values()), "entries": sorted(entries)}
                for name, entries in self.caches.items()
                if entries
            },
            "queue": [
                {
                    "cache": slot.cache,
                    "pos": slot.pos,
                    "size": slot.size,
                    "age_nanos": self.now - slot.stamp,
                    "requeues": slot.requeues,
                    "accessed": slot.accessed,
                    "expected_reads": slot.reads,
                }
                for slot in self.queue
            ],
        }

    def advance(self, nanos: int) -> Any:
        if nanos < 0:
            raise Refuse
        self.now += nanos

    def expire(self, older_than_nanos: int | None = None) -> Any:
        if (older_than_nanos or 0) < 0:
            raise Refuse
        return self._time_pass(self.now - (self.ttl if older_than_nanos is None else older_than_nanos))

    def evict(self, bytes: int) -> Any:
        if bytes <= 0:
            raise Refuse
        return self._size_pass(bytes, counted=False)

    def _count(self, cache: str, pos: Any, more: int) -> Any:
        slot = self._entries(cache).get(pos)
        if slot is None or slot.reads is None:
            return {"expected_reads": None}
        slot.reads += more
        return {"expected_reads": slot.reads}

    def mark_read(self, cache: str, pos: Any) -> Any:
        return self._count(cache, pos, -1)

    def expect_read(self, cache: str, pos: Any) -> Any:
        return self._count(cache, pos, 1)

    def cycle(self) -> Any:
        by_time = self._time_pass(self.now - self.ttl)
        by_size = self._size_pass(self._over(), counted=True)
        return {name: by_time[name] + by_size[name] for name in by_time}

    def run_scheduled(self) -> Any:
        was_due, self.due = self.due, False
        return self._size_pass(self._over() if was_due else 0, counted=True)

    def configure(self, **given: Any) -> Any:
        limit = given.get("max_size_bytes")
        if limit is not None and (self.disabled or limit <= 0):
            raise Refuse
        if not 0 <= given.get("watermark", 0) <= 1 or min(given.get("ttl_nanos", 0), given.get("max_requeues", 0)) < 0:
            raise Refuse
        self.limit = given.get("max_size_bytes", self.limit)
        self.watermark = given.get("watermark", self.watermark)
        self.ttl = given.get("ttl_nanos", self.ttl)
        self.most = given.get("max_requeues", self.most)
        self.extends = given.get("extend_recently_accessed", self.extends)

    def invalidate_before(self, cache: str, pos: Any) -> Any:
        return self._drop([slot for slot in self._entries(cache).values() if slot.pos < pos])

    def invalidate_ledger(self, cache: str, ledger: int) -> Any:
        return self._drop([slot for slot in self._entries(cache).values() if slot.pos[0] == ledger])

    def remove_cache(self, cache: str) -> Any:
        self.clear(cache)

    def metrics(self) -> Any:
        return {**self.counters, "bytes": self._bytes()}

    def _hit(self, slot: Slot) -> None:
        slot.accessed = True
        self.counters["hit_entries"] += 1
        self.counters["hit_bytes"] += slot.size

    def _miss(self) -> None:
        self.counters["miss_entries"] += 1
        self.counters["miss_bytes"] += self.storage_size

    def _fill(self, cache: str, pos: Any, reads: int) -> Slot | None:
        return self._add(cache, pos, self.storage_size, reads) if reads > 0 and not self.disabled else None

    def read(self, cache: str, first: Any, last: Any, expected_reads: int | None, hold: str | None = None) -> Any:
        if first[0] != last[0] or first > last or hold in self.holds:
            raise Refuse
        entries = self._entries(cache)
        positions = [(first[0], number) for number in range(first[1], last[1] + 1)]
        hits = [pos for pos in positions if pos in entries]
        fills = [pos for pos in positions if pos not in entries]
        slots: list[Slot | None] = [entries[pos] for pos in hits]
        for pos in hits:
            self._hit(entries[pos])
        for _ in fills:
            self._miss()
        slots += [self._fill(cache, pos, expected_reads or 0) for pos in fills]
        self._deliver(hold, slots)
        return {"hits": hits, "fills": fills}

    def read_one(self, cache: str, pos: Any, hold: str | None = None) -> Any:
        if hold in self.holds:
            raise Refuse
        slot = self._entries(cache).get(pos)
        if slot:
            self._hit(slot)
        else:
            self._miss()
        self._deliver(hold, [slot])
        return {"hits": [pos] if slot else [], "fills": [] if slot else [pos]}

    def _deliver(self, hold: str | None, slots: list[Slot | None]) -> None:
        if hold is None:
            self._release(slots)
        else:
            self.holds[hold] = slots

    def _release(self, slots: list[Slot | None]) -> None:
        for slot in slots:
            if slot and slot.live and slot.reads is not None:
                slot.reads -= 1

    def release(self, hold: str) -> Any:
        if hold not in self.holds:
            raise Refuse
        slots = self.holds.pop(hold)
        self._release(slots)
        return {"released": len(slots)}

    def cursor_add(self, cache: str, cursor: str, pos: Any) -> Any:
        self._members(cache)[cursor] = pos

    def cursor_move(self, cache: str, cursor: str, pos: Any) -> Any:
        members = self._members(cache)
        if cursor in members and (self.by_reads or members[cursor] is not None):
            members[cursor] = pos

    def cursor_remove(self, cache: str, cursor: str) -> Any:
        members = self._members(cache)
        if cursor not in members:
            return {"removed": False}
        del members[cursor]
        self.since[cache] = self.now
        return {"removed": True}

    def cursor_rank(self, cache: str, cursor: str) -> Any:
        if not self.by_reads:
            raise Refuse
        places = self._members(cache)
        own = places.get(cursor)
        return {"rank": 0 if own is None else sum(pos is not None and pos <= own for pos in places.values())}

    def slowest(self, cache: str) -> Any:
        places = [pos for pos in self._members(cache).values() if pos is not None]
        return {"pos": min(places, default=None)}

    def cursors(self, cache: str) -> Any:
        return {"members": len(self._members(cache))}

    def _in_grace(self, cache: str) -> bool:
        return bool(self.now // MILLIS - self.since[cache] // MILLIS < self.grace)

    def should_cache(self, cache: str) -> Any:
        return {"should_cache": bool(self._members(cache)) or (self.by_reads and self._in_grace(cache))}


SLIPS: Final[dict[type[Plain], tuple[str, tuple[str, ...]]]] = {}
"""Each slip, with a level whose cases are to show it, and the rules that it breaks."""


def slip(level: str, *rules: str) -> Any:
    def enter(kind: type[Plain]) -> type[Plain]:
        SLIPS[kind] = (level, rules)
        return kind

    return enter


@slip("cursors", "R-CURSOR-6")
class GraceOnlyAfterATrackedOne(Plain):
    def cursor_remove(self, cache: str, cursor: str) -> Any:
        before = self.since.get(cache)
        tracked = self._members(cache).get(cursor) is not None
        done = super().cursor_remove(cache, cursor)
        if not tracked and before is not None:
            self.since[cache] = before
        return done


@slip("queue", "R-EXPIRE-1")
class ExpiresAtTheCutoff(Plain):
    def _time_pass(self, cutoff: int) -> dict[str, int]:
        return super()._time_pass(cutoff + 1)


@slip("queue", "R-EVICT-5", "R-EVICT-4")
class FreesOneByteMore(Plain):
    def _size_pass(self, need: int, counted: bool) -> dict[str, int]:
        return super()._size_pass(need + (need > 0 and not counted), counted)


@slip("manager", "R-TRIGGER-2")
class TriggersAByteEarly(Plain):
    def _trigger(self) -> int:
        return super()._trigger() - 1


@slip("queue", "R-REQUEUE-4")
class StampsAMomentEarlier(Plain):
    def _requeue(self, slot: Slot) -> bool:
        requeued = super()._requeue(slot)
        slot.stamp -= requeued and self.now > 0
        return requeued


@slip("queue", "R-REQUEUE-5", "R-REQUEUE-3")
class AccessCostsNothing(Plain):
    def _requeue(self, slot: Slot) -> bool:
        accessed = self.extends and slot.accessed
        requeued = super()._requeue(slot)
        slot.requeues -= requeued and accessed
        return requeued


@slip("queue", "R-REQUEUE-3", "R-REQUEUE-6")
class OneRequeueTooMany(Plain):
    def _stays(self, slot: Slot) -> bool:
        return (self.extends and slot.accessed) or ((slot.reads or 0) >= 1 and slot.requeues <= self.most)


@slip("queue", "R-REQUEUE-8", "R-REQUEUE-2")
class KeepsWhatNobodyExpects(Plain):
    def _stays(self, slot: Slot) -> bool:
        return (self.extends and slot.accessed) or (slot.reads is not None and slot.requeues < self.most)


@slip("queue", "R-REQUEUE-1")
class AccessWithinTheBudget(Plain):
    def _stays(self, slot: Slot) -> bool:
        return super()._stays(slot) and slot.requeues < self.most


@slip("queue", "R-INSERT-2")
class DuplicateIsNewAgain(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        if not done["inserted"] and pos in self.caches[cache]:
            slot = self.caches[cache][pos]
            slot.stamp = self.now
            self.queue.remove(slot)
            self.queue.append(slot)
        return done


@slip("queue", "R-INSERT-2")
class DuplicateIsAnAccess(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        if not done["inserted"] and pos in self.caches[cache]:
            self.caches[cache][pos].accessed = True
        return done


@slip("range", "R-INSERT-2", "R-STATE-7")
class DuplicateReplacesTheSize(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        if not done["inserted"] and pos in self.caches[cache]:
            self.caches[cache][pos].size = size
        return done


@slip("queue", "R-INSERT-4")
class CountsFromZero(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        if done["inserted"] and expected_reads == 0 and pos in self.caches[cache]:
            self.caches[cache][pos].reads = 0
        return done


@slip("queue", "R-COUNT-1")
class NeverBelowZero(Plain):
    def mark_read(self, cache: str, pos: Any) -> Any:
        done = super().mark_read(cache, pos)
        if (done["expected_reads"] or 0) < 0:
            self.caches[cache][pos].reads = 0
            return {"expected_reads": 0}
        return done


@slip("queue", "R-COUNT-4")
class MarkIsAnAccess(Plain):
    def mark_read(self, cache: str, pos: Any) -> Any:
        done = super().mark_read(cache, pos)
        if pos in self.caches[cache]:
            self.caches[cache][pos].accessed = True
        return done


@slip("queue", "R-COUNT-3")
class ExpectationStartsACount(Plain):
    def expect_read(self, cache: str, pos: Any) -> Any:
        slot = self._entries(cache).get(pos)
        if slot and slot.reads is None:
            slot.reads = 0
        return super().expect_read(cache, pos)


@slip("reads", "R-COUNT-6", "R-COUNT-5")
class ReleasesTheNextLife(Plain):
    def _release(self, slots: list[Slot | None]) -> None:
        super()._release([slot and self.caches[slot.cache].get(slot.pos) for slot in slots])


@slip("reads", "R-COUNT-7")
class TellsOnlyWhatWasCached(Plain):
    def release(self, hold: str) -> Any:
        cached = sum(slot is not None for slot in self.holds.get(hold, ()))
        super().release(hold)
        return {"released": cached}


@slip("reads", "R-READ-10")
class ReadOneFills(Plain):
    def read_one(self, cache: str, pos: Any, hold: str | None = None) -> Any:
        done = super().read_one(cache, pos, hold)
        if done["fills"]:
            self._fill(cache, pos, 1)
        return done


@slip("reads", "R-READ-9")
class FillsWhatNobodyExpects(Plain):
    def _fill(self, cache: str, pos: Any, reads: int) -> Slot | None:
        return super()._fill(cache, pos, max(reads, 1))


@slip("reads", "R-METRICS-6")
class MissesOfOneSize(Plain):
    def metrics(self) -> Any:
        return {**super().metrics(), "miss_bytes": self.counters["miss_entries"] * 100}


@slip("reads", "R-METRICS-6", "R-METRICS-3", "R-METRICS-4")
class AGetIsAHit(Plain):
    def get(self, cache: str, pos: Any) -> Any:
        done = super().get(cache, pos)
        self.counters["hit_entries"] += done["hit"]
        return done


@slip("manager", "R-METRICS-5")
class EvictIsACycle(Plain):
    def evict(self, bytes: int) -> Any:
        done = super().evict(bytes)
        self.counters["eviction_cycles"] += 1
        return done


@slip("manager", "R-METRICS-5")
class APassByTriggerIsNone(Plain):
    def _check_trigger(self) -> None:
        before = self.counters["eviction_cycles"]
        super()._check_trigger()
        self.counters["eviction_cycles"] = before


@slip("manager", "R-METRICS-4")
class ClearCountsNothing(Plain):
    def clear(self, cache: str) -> Any:
        before = self.counters["evicted_entries"]
        done = super().clear(cache)
        self.counters["evicted_entries"] = before
        return done


@slip("manager", "R-METRICS-3")
class DuplicatesCount(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        self.counters["inserted_entries"] += not done["inserted"]
        return done


@slip("manager", "R-CONFIG-3")
class ShrinksAtOnce(Plain):
    def configure(self, **given: Any) -> Any:
        super().configure(**given)
        self._size_pass(self._over(), counted=True)


@slip("cursors", "R-INVALIDATE-9")
class RemovedWithItsCursors(Plain):
    def remove_cache(self, cache: str) -> Any:
        super().remove_cache(cache)
        self.readers[cache] = {}


@slip("manager", "R-TRIGGER-3")
class DuplicatesTrigger(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        if not done["inserted"] and not self.disabled:
            self._check_trigger()
        return done


@slip("manager", "R-TRIGGER-6")
class SizeBeforeTime(Plain):
    def cycle(self) -> Any:
        by_size = self._size_pass(self._over(), counted=True)
        by_time = self._time_pass(self.now - self.ttl)
        return {name: by_time[name] + by_size[name] for name in by_time}


@slip("manager", "R-TRIGGER-7", "R-EVICT-7")
class TellsNoBytes(Plain):
    def run_scheduled(self) -> Any:
        return {**super().run_scheduled(), "bytes": 0}


@slip("manager", "R-TRIGGER-5")
class RunsTwice(Plain):
    def run_scheduled(self) -> Any:
        was_due = self.due
        done = super().run_scheduled()
        self.due = was_due and not done["entries"]
        return done


@slip("manager", "R-TRIGGER-9")
class TellsWhatIsLeft(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        return {"inserted": done["inserted"] and pos in self.caches[cache]}


@slip("cursors", "R-CURSOR-9", "R-CURSOR-8")
class NobodyIsSlowest(Plain):
    def slowest(self, cache: str) -> Any:
        return {"pos": None} if None in self._members(cache).values() else super().slowest(cache)


@slip("cursors", "R-CURSOR-7")
class RankOfTheFirstOfATie(Plain):
    def cursor_rank(self, cache: str, cursor: str) -> Any:
        rank = super().cursor_rank(cache, cursor)["rank"]
        places = self.readers[cache]
        same = sum(pos == places[cursor] for pos in places.values()) if rank else 1
        return {"rank": rank - same + 1 if rank else 0}


@slip("cursors", "R-CURSOR-4")
class MovesWhoIsNoMember(Plain):
    def cursor_move(self, cache: str, cursor: str, pos: Any) -> Any:
        super().cursor_move(cache, cursor, pos)
        self._members(cache).setdefault(cursor, pos)


@slip("cursors", "R-CURSOR-10")
class CountsTheTracked(Plain):
    def cursors(self, cache: str) -> Any:
        return {"members": sum(pos is not None for pos in self._members(cache).values())}


@slip("cursors", "R-CURSOR-11")
class GraceInNanos(Plain):
    def _in_grace(self, cache: str) -> bool:
        return bool((self.now - self.since[cache]) // MILLIS < self.grace)


@slip("cursors", "R-CURSOR-12")
class GraceForEveryone(Plain):
    def should_cache(self, cache: str) -> Any:
        return {"should_cache": bool(self._members(cache)) or self._in_grace(cache)}


@slip("queue", "R-STATE-7", "R-READ-6")
class ExistsIsAnAccess(Plain):
    def exists(self, cache: str, pos: Any) -> Any:
        done = super().exists(cache, pos)
        if done["exists"]:
            self.caches[cache][pos].accessed = True
        return done


@slip("range", "R-METRICS-2", "R-METRICS-1")
class ForgetsTheEmpty(Plain):
    def usage(self, cache: str | None = None) -> Any:
        done = super().usage(cache)
        return {**done, "entries": sum(slot.size > 0 for slot in self.queue)} if cache is None else done


@slip("manager", "R-INVALIDATE-7")
class BeforeAndIncluding(Plain):
    def invalidate_before(self, cache: str, pos: Any) -> Any:
        return super().invalidate_before(cache, (pos[0], pos[1] + 1))


@slip("range", "R-INVALIDATE-2")
class NoRangeOfOne(Plain):
    def remove_range(self, cache: str, first: Any, last: Any, last_inclusive: bool) -> Any:
        return super().remove_range(cache, first, last, last_inclusive and first != last)


@slip("range", "R-INSERT-3")
class TakenThoughOff(Plain):
    def insert(self, cache: str, pos: Any, size: int, expected_reads: int | None = None) -> Any:
        done = super().insert(cache, pos, size, expected_reads)
        return {"inserted": done["inserted"] or self.disabled}


@slip("queue", "R-EXPIRE-4")
class NegativeAgeIsNone(Plain):
    def expire(self, older_than_nanos: int | None = None) -> Any:
        return super().expire(None if older_than_nanos is None else max(0, older_than_nanos))


@slip("queue", "R-EVICT-7")
class CountsOneAtMost(Plain):
    def expire(self, older_than_nanos: int | None = None) -> Any:
        done = super().expire(older_than_nanos)
        return {**done, "entries": min(done["entries"], 1)}


@slip("range", "R-READ-1")
class MissesTheEmpty(Plain):
    def get(self, cache: str, pos: Any) -> Any:
        done = super().get(cache, pos)
        return {"hit": done["hit"] and self.caches[cache][pos].size > 0}


@slip("range", "R-READ-5")
class TurnsTheRange(Plain):
    def get_range(self, cache: str, first: Any, last: Any) -> Any:
        return super().get_range(cache, min(first, last), max(first, last))
