"""The laws about the whole state, about time and refusals, about `configure`, and about the counters.

The laws of the state hold for every step: sums of bytes, one slot for each entry, the queue sorted by age. Laws about
counters compare a counter with the parts of a step, one part after the other. R-CONFIG-4 is about the grace period and
stands with the laws of the cursors.
"""

from typing import Final

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.laws import law
from entrycache_reference.pulsar_pip430.ops import Configure, Evict, Insert, Metrics, Op, Read, ReadOne, Usage
from entrycache_reference.pulsar_pip430.outcomes import Counters, Done, Refused, Served, Used
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def content_changed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the step changed the content: entries, queue or bytes."""
    after = step.state
    return after is not pre and (
        after.caches is not pre.caches or after.queue is not pre.queue or after.size_bytes != pre.size_bytes
    )


def bytes_are_sums(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-1."""
    before = pre.caches
    total = 0
    for name, cache in step.state.caches.items():
        total += cache.size_bytes
        same = before.get(name) is cache
        if not same and cache.size_bytes != sum([entry.size_bytes for entry in cache.entries.values()]):
            return False
    return total == step.state.size_bytes


def one_slot_an_entry(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-2."""
    live = [slot for slot in step.state.queue if slot is not None]
    entries = sum([len(cache.entries) for cache in step.state.caches.values()])
    if len(live) != entries or len(set(live)) != entries:
        return False
    caches = step.state.caches
    return all(name in caches and pos in caches[name].entries for name, pos in live)


def queue_sorted_by_age(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-3."""
    latest = 0
    for slot in step.state.queue:
        if slot is not None:
            entry = law.cached_entry(step.state, slot.cache, slot.pos)
            if entry is not None:
                if entry.stamp_nanos < latest:
                    return False
                latest = entry.stamp_nanos
    return latest <= step.state.now_nanos


def is_allowed(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the protocol does not refuse this event."""
    return not law.refusable(config, pre, event)


def time_moves(config: Config, pre: State, event: ops.Advance, step: Step) -> bool:
    """Check R-STATE-4; R-LIMIT-6 is about the requests that wait."""
    if law.decides_ranges(pre, step):
        return step.state.now_nanos == pre.now_nanos + event.nanos
    after = step.state._replace(limiter=pre.limiter) if pre.limiter.waiting else step.state
    return after == pre._replace(now_nanos=pre.now_nanos + event.nanos)


def was_refused(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the protocol refuses this event, and the step was refused."""
    return type(step.outcome) is Refused and law.refusable(config, pre, event)


def is_unchanged(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-5: nothing differs, not even the set of caches."""
    return step.state is pre or step.state == pre


def is_to_refuse(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the protocol refuses this event."""
    return law.refusable(config, pre, event)


def refuses(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-6, R-INSERT-5, R-EXPIRE-4, R-EVICT-6, R-READ-11, R-CURSOR-8."""
    return step.outcome == law.REFUSED


def only_looks(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-7."""
    return law.nothing_touched(pre, step)


def some_left(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether entries have left."""
    return bool(law.removed_entries(pre, step))


def left_once(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-8: one row, and so one cause, for each entry that has left, and none for any other."""
    removed = [law.slot_of(row) for row in step.rows if row.op in {"EVICT", "REMOVE"}]
    gone = law.removed_entries(pre, step)
    return len(removed) == len(gone) and set(removed) == gone.keys()


def names_a_new_cache(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the event names a cache that does not exist yet, and is not refused."""
    name = getattr(event, "cache", ABSENT)
    return name is not ABSENT and name not in pre.caches and not law.refusable(config, pre, event)


def opens_only_that_one(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-STATE-9."""
    return step.state.caches.keys() == pre.caches.keys() | {getattr(event, "cache", ABSENT)}


REMOVING_OPS: Final = (ops.RemoveRange, ops.Clear, ops.Expire, ops.Evict, ops.InvalidateBefore, ops.InvalidateLedger)
"""The operations by which entries leave; other operations run one of these as a part."""

REFUSABLE_OPS: Final = (*law.REFUSABLE, *law.REFUSED_BY_LEDGER)
"""The operations that can be refused for their arguments."""

STATE_LAWS: Final = (
    law.Law(Rule.STATE_1, (), content_changed, bytes_are_sums),
    law.Law(Rule.STATE_2, (), content_changed, one_slot_an_entry),
    law.Law(Rule.STATE_3, (), content_changed, queue_sorted_by_age),
    law.Law(Rule.STATE_4, (ops.Advance,), is_allowed, time_moves, True),
    law.Law(Rule.STATE_5, REFUSABLE_OPS, was_refused, is_unchanged, True),
    law.Law(Rule.STATE_6, (ops.Advance,), is_to_refuse, refuses),
    law.Law(Rule.STATE_7, (ops.Exists, ops.Usage, ops.Observe), law.always, only_looks),
    law.Law(Rule.STATE_8, REMOVING_OPS, some_left, left_once),
    law.Law(
        Rule.STATE_9,
        tuple(op for op in ops.OPS if "cache" in op.__dataclass_fields__),
        names_a_new_cache,
        opens_only_that_one,
        True,
    ),
)


# Laws about `configure`.


def changes_only_named_settings(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """Check R-CONFIG-1."""
    if step.outcome != Done():
        return False
    for name in Settings._fields:
        given = getattr(event, name)
        wanted = getattr(pre.settings, name) if given is ABSENT else given
        if getattr(step.state.settings, name) != wanted:
            return False
    return True


def refused_as_a_whole(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """Check R-CONFIG-2."""
    return step.outcome == law.REFUSED and step.state.settings == pre.settings


def changes_what_is_filled(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """Return whether the settings change while entries are cached."""
    return any(cache.entries for cache in pre.caches.values()) and not law.refusable(config, pre, event)


def changes_only_settings(config: Config, pre: State, event: Configure, step: Step) -> bool:
    """Check R-CONFIG-3."""
    return law.nothing_touched(pre, step) and step.state.is_scheduled == pre.is_scheduled and not step.parts


CONFIG_LAWS: Final = (
    law.Law(Rule.CONFIG_1, (Configure,), is_allowed, changes_only_named_settings, True),
    law.Law(Rule.CONFIG_2, (Configure,), is_to_refuse, refused_as_a_whole, True),
    law.Law(Rule.CONFIG_3, (Configure,), changes_what_is_filled, changes_only_settings, True),
)


# Laws about `usage`, the counters and `metrics`.


def asks_one(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Return whether the question names a cache."""
    return event.cache is not ABSENT


def sums_of_one(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check R-METRICS-1."""
    entries = {} if event.cache is ABSENT else law.entries_of(pre, event.cache)
    return step.outcome == Used(len(entries), sum(entry.size_bytes for entry in entries.values()))


def asks_all(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Return whether the question is about all caches."""
    return event.cache is ABSENT


def sums_of_all(config: Config, pre: State, event: Usage, step: Step) -> bool:
    """Check R-METRICS-2; that the manager's bytes are the sum is R-STATE-1."""
    return step.outcome == Used(sum([len(cache.entries) for cache in pre.caches.values()]), pre.size_bytes)


def count_inserted(event: Op, step: Step) -> int:
    """Return the number of entries that entered a cache."""
    if not step.parts:
        return int(type(event) is Insert and law.is_inserted(step))
    return sum(1 for part in step.parts if type(part.event) is Insert and law.is_inserted(part.step))


def insertions_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether an entry entered a cache, or the counter moved."""
    if step.state.counts is pre.counts and not step.parts and type(event) is not Insert:
        return False
    return step.state.counts.inserted_entries != pre.counts.inserted_entries or count_inserted(event, step) > 0


def insertions_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-METRICS-3."""
    return step.state.counts.inserted_entries == pre.counts.inserted_entries + count_inserted(event, step)


def count_evicted(pre: State, event: Op, step: Step) -> int:
    """Return the number of entries that left a cache by an operation that removes some."""
    if not step.parts:
        return len(law.removed_entries(pre, step)) if type(event) in REMOVING_OPS else 0
    return sum(len(law.removed_entries(part.pre, part.step)) for part in step.parts if type(part.event) in REMOVING_OPS)


def evictions_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether an entry left, or the counter moved."""
    return step.state.counts.evicted_entries != pre.counts.evicted_entries or count_evicted(pre, event, step) > 0


def evictions_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-METRICS-4."""
    return step.state.counts.evicted_entries == pre.counts.evicted_entries + count_evicted(pre, event, step)


def count_size_passes(step: Step) -> int:
    """Return the number of size passes that the manager asked for."""
    return sum(1 for part in step.parts if type(part.event) is Evict)


def cycles_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether the manager asked for a size pass, or the counter moved."""
    if step.state.counts is pre.counts and not step.parts:
        return False
    return step.state.counts.eviction_cycles != pre.counts.eviction_cycles or count_size_passes(step) > 0


def cycles_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-METRICS-5."""
    return step.state.counts.eviction_cycles == pre.counts.eviction_cycles + count_size_passes(step)


def reads_in_question(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Return whether something was read, or one of the counters of reads moved."""
    if type(step.outcome) is Served or law.decides_ranges(pre, step):
        return type(step.outcome) is Served
    return step.state.counts is not pre.counts and step.state.counts[3:] != pre.counts[3:]


def reads_counted(config: Config, pre: State, event: Op, step: Step) -> bool:
    """Check R-METRICS-6; R-READ-7 and R-READ-10 check which positions were hits."""
    hits, hit_bytes, misses = 0, 0, 0
    if type(step.outcome) is Served and (type(event) is Read or type(event) is ReadOne):
        sizes = [
            entry.size_bytes
            for pos in step.outcome.hits
            if (entry := law.cached_entry(pre, event.cache, pos)) is not None
        ]
        hits, hit_bytes, misses = len(step.outcome.hits), sum(sizes), len(step.outcome.fills)
    before, after = pre.counts, step.state.counts
    return (
        after.hit_entries - before.hit_entries == hits
        and after.hit_bytes - before.hit_bytes == hit_bytes
        and after.miss_entries - before.miss_entries == misses
        and after.miss_bytes - before.miss_bytes == misses * config.storage_entry_size
    )


def tells_and_keeps(config: Config, pre: State, event: Metrics, step: Step) -> bool:
    """Check R-METRICS-7."""
    return step.outcome == Counters(*pre.counts, pre.size_bytes) and (step.state is pre or step.state == pre)


COUNTING_OPS: Final = tuple(op for op in ops.OPS if op is not Metrics)

READS_OF_CURSORS: Final = (ops.CursorRead, ops.ReplayRead, ops.ReadBegin, ops.ReplayBegin, ops.StorageAnswer)

READ_COUNTING_OPS: Final = tuple(op for op in COUNTING_OPS if op not in READS_OF_CURSORS)
"""The operations whose hits and misses R-METRICS-6 checks; R-LEDGER-18 checks those of cursors."""

METRICS_LAWS: Final = (
    law.Law(Rule.METRICS_1, (Usage,), asks_one, sums_of_one),
    law.Law(Rule.METRICS_2, (Usage,), asks_all, sums_of_all),
    law.Law(Rule.METRICS_3, COUNTING_OPS, insertions_in_question, insertions_counted, True),
    law.Law(Rule.METRICS_4, COUNTING_OPS, evictions_in_question, evictions_counted, True),
    law.Law(Rule.METRICS_5, COUNTING_OPS, cycles_in_question, cycles_counted, True),
    law.Law(Rule.METRICS_6, READ_COUNTING_OPS, reads_in_question, reads_counted, True),
    law.Law(Rule.METRICS_7, (Metrics,), law.always, tells_and_keeps, True),
)


# Events in the wrong place.


def is_in_the_wrong_place(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether the cache is managed and does not take the event, or is not managed and would have to be."""
    return law.is_misplaced(pre, event)


def refuses_and_keeps_all(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check R-LEDGER-20, for an event in the wrong place."""
    return step.outcome == law.REFUSED and (step.state is pre or step.state == pre)


PLACE_LAWS: Final = (
    law.Law(
        Rule.LEDGER_20,
        tuple(op for op in ops.OPS if "cache" in op.__dataclass_fields__),
        is_in_the_wrong_place,
        refuses_and_keeps_all,
        True,
    ),
)
"""The laws of an event that the cache does not take; no other law is about it."""
