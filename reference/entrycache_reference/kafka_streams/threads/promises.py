"""The promises of a history: values are fresh, no write is lost, and sums and counters agree afterwards.

The first part follows values: a value that is read was written, and it is cached or delivered at the end. The second
part looks at the quiescent cache, after every thread has ended: sums, counters and the limit. Each check returns the
first `BrokenPromise`, or None.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.change import size_bytes
from entrycache_reference.kafka_streams.threads.history import Facts, PerformedOperation, Write
from entrycache_reference.rules import BrokenPromise, HistoryStep, Rule, rule

Place = tuple[str, str]
"""A namespace and a key."""

LISTINGS = (ops.Range, ops.ReverseRange, ops.All, ops.ReverseAll)
REMOVALS = (ops.Clear, ops.Close)


class Change(NamedTuple):
    """A change of a place: a write, or a removal (`write` None)."""

    write: Write | None
    event: HistoryStep


def _list_changes(facts: Facts) -> dict[Place, list[Change]]:
    """Return the writes and deletions of each place."""
    changes: dict[Place, list[Change]] = defaultdict(list)
    for write in facts.writes:
        changes[write.ns, write.key].append(Change(write, write.done.event))
    for done in facts.of(ops.Delete):
        if done.answer["present"]:
            changes[done.op.ns, done.op.key].append(Change(None, done.event))
    return changes


def _is_traceable(changes: Sequence[Change]) -> bool:
    """Return whether every value of a place identifies its write, and no listener wrote it."""
    writes = [change.write for change in changes if change.write is not None]
    values = {write.value for write in writes}
    return len(values) == len(writes) and None not in values and not any(write.done.inner for write in writes)


def _list_values_read(done: PerformedOperation) -> Iterator[tuple[Place, str | None]]:
    """Return the values that an operation showed."""
    op, answer = done.op, done.answer
    if "error" in answer:
        return
    if isinstance(op, ops.Get) and op.key is not None and answer["hit"]:
        yield (op.ns, op.key), answer["value"]
    elif isinstance(op, ops.PutIfAbsent) and answer["present"]:
        yield (op.ns, op.key), answer["existing"]
    elif isinstance(op, ops.Delete) and answer["present"]:
        yield (op.ns, op.key), answer["value"]
    elif isinstance(op, LISTINGS):
        for key, value in answer["entries"]:
            yield (op.ns, key), value


@rule(Rule.K_CONCURRENCY_6)
def check_freshness(facts: Facts) -> BrokenPromise | None:
    """Check that a value that is read was written before, and that no later change had ended before the read."""
    changes = _list_changes(facts)
    traceable = {place for place, of_place in changes.items() if _is_traceable(of_place)}
    for done in facts.done:
        keys_read = [key for (_, key), _ in _list_values_read(done)]
        if len(keys_read) != len(set(keys_read)):
            return BrokenPromise(f"a key stands twice in {keys_read}", done.event)
        for place, value in _list_values_read(done):
            if not changes[place]:
                return BrokenPromise(f"{place} has the value {value!r}, and no write wrote it", done.event)
            if place in traceable and not done.inner:
                broken = _is_stale(changes[place], place, value, done)
                if broken is not None:
                    return broken
    return None


def _is_stale(
    changes: Sequence[Change], place: Place, value: str | None, done: PerformedOperation
) -> BrokenPromise | None:
    own = next((change for change in changes if change.write is not None and change.write.value == value), None)
    if own is None or own.event.start > done.event.end:
        return BrokenPromise(f"{place} has the value {value!r}, and no write of it had begun", done.event)
    for later in changes:
        if own.event.end < later.event.start and later.event.end < done.event.start:
            what = "a deletion" if later.write is None else f"the write of {later.write.value!r}"
            return BrokenPromise(f"{place} has the value {value!r}, but {what} had ended before", done.event)
    return None


@rule(Rule.K_CONCURRENCY_4)
def check_nothing_lost(facts: Facts) -> BrokenPromise | None:
    """Check that the last value of a key is cached or was delivered, and each dirty value was delivered once."""
    changes = {place: of_place for place, of_place in _list_changes(facts).items() if _is_traceable(of_place)}
    handed = Counter((each.ns, each.key, each.value) for each in facts.handed)
    for (ns, key, value), times in handed.items():
        if (ns, key) not in changes:
            continue
        event = next(each.event for each in facts.handed if (each.ns, each.key, each.value) == (ns, key, value))
        writes = [change.write for change in changes[ns, key] if change.write is not None]
        if not any(write.value == value and write.dirty for write in writes):
            return BrokenPromise(f"{ns} delivered {key}={value!r}, which no dirty write wrote", event)
        if times > 1:
            return BrokenPromise(f"{ns} delivered {key}={value!r} {times} times", event)
    for ns in sorted({place[0] for place in changes}):
        listing = next((each for each in facts.record.final_steps if _is_listing(each, ns)), None)
        if listing is None:
            continue
        values = dict(listing.outcome["entries"])
        introspected = facts.record.final_steps if "dirty" in facts.record.introspection else ()
        dirty = next((each.outcome["dirty"] for each in introspected if _is_metrics(each, ns)), None)
        for place, of_place in changes.items():
            if place[0] == ns:
                broken = _find_loss(facts, place, of_place, values, dirty, handed)
                if broken is not None:
                    return BrokenPromise(broken, listing)
    return None


def _is_listing(event: HistoryStep, ns: str) -> bool:
    return isinstance(event.op, ops.All) and event.op.ns == ns


def _is_metrics(event: HistoryStep, ns: str) -> bool:
    return isinstance(event.op, ops.Metrics) and event.op.ns == ns


def _find_loss(
    facts: Facts,
    place: Place,
    changes: Sequence[Change],
    values: dict[str, Any],
    dirty: Sequence[str] | None,
    handed: Counter[tuple[str, str, str | None]],
) -> str | None:
    """Return what is wrong with the last value of a place, if that value is known."""
    ns, key = place
    last = [one for one in changes if not any(other.event.start > one.event.end for other in changes)]
    if len(last) != 1 or (len(last) == 1 and _has_equal(last[0], changes)):
        return None
    write = last[0].write
    if write is None:
        return f"{key} of {ns} was deleted and is {values[key]!r} at the end" if key in values else None
    delivered = handed[ns, key, write.value] > 0
    if key in values:
        if values[key] != write.value:
            return f"{key} of {ns} is {values[key]!r} at the end, {write.value!r} was written last"
        if dirty is not None and write.dirty and not delivered and key not in dirty:
            return f"{key}={write.value!r} of {ns} was written dirty, is not dirty at the end and was never delivered"
        return None
    if any(done.op.ns == ns and done.event.end > last[0].event.start for done in facts.of(*REMOVALS)):
        return None
    if write.dirty and not delivered:
        return f"{key}={write.value!r} of {ns} was written dirty, is gone at the end and was never delivered"
    evictable = facts.overflows or any(done.op.ns == ns for done in facts.of(ops.Evict))
    if not evictable:
        return f"{key}={write.value!r} of {ns} is gone at the end, and nothing removes it"
    return None


def _has_equal(last: Change, changes: Sequence[Change]) -> bool:
    """Return whether another change overlaps this one and could have been the last as well."""
    return any(other is not last and other.event.end > last.event.start for other in changes)


# The quiescent cache.


def _list_answers(facts: Facts, kind: type[Any], ns: str | None) -> list[HistoryStep]:
    events = (event for event in facts.record.final_steps if isinstance(event.op, kind))
    return [event for event in events if (event.op.ns if isinstance(event.op.ns, str) else None) == ns]


def _find_first(facts: Facts, kind: type[Any], ns: str | None = None) -> HistoryStep | None:
    return next(iter(_list_answers(facts, kind, ns)), None)


def written_namespaces(facts: Facts) -> tuple[str, ...]:
    """Return the namespaces that were written to."""
    return tuple(sorted({write.ns for write in facts.writes}))


def _find_listing(facts: Facts, ns: str) -> Mapping[str, str | None] | None:
    event = _find_first(facts, ops.All, ns)
    return None if event is None else dict(event.outcome["entries"])


@rule(Rule.K_CONCURRENCY_2)
def check_sums(facts: Facts) -> BrokenPromise | None:
    """Check the sums of the quiescent cache.

    Entries and bytes of all namespaces are the sums of those of each, the running total is the same, and each namespace
    counts the entries that it lists.
    """
    total = _find_first(facts, ops.Usage)
    if total is None:
        return None
    tracked = total.outcome.get("tracked", total.outcome["bytes"])
    if tracked != total.outcome["bytes"]:
        return BrokenPromise(f"at the end the running total is {tracked}, the sum is {total.outcome['bytes']}", total)
    parts = [_find_first(facts, ops.Usage, ns) for ns in written_namespaces(facts)]
    if None not in parts:
        for name in ("entries", "bytes"):
            of_parts = sum(part.outcome[name] for part in parts if part is not None)
            if of_parts != total.outcome[name]:
                message = f"at the end {name} of all are {total.outcome[name]}, those of the namespaces {of_parts}"
                return BrokenPromise(message, total)
    for ns, part in zip(written_namespaces(facts), parts, strict=True):
        mismatch = None if part is None else _find_mismatch(facts, ns, part)
        if mismatch is not None:
            return mismatch
    return None


def _find_mismatch(facts: Facts, ns: str, used: HistoryStep) -> BrokenPromise | None:
    listing = _find_listing(facts, ns)
    if listing is None:
        return None
    if len(listing) != used.outcome["entries"]:
        return BrokenPromise(f"at the end {ns} lists {len(listing)} entries and counts {used.outcome['entries']}", used)
    if all(_is_plain(write.done.op) for write in facts.writes if write.ns == ns):
        size = sum(size_bytes(key, value, "", ()) for key, value in listing.items())
        if size != used.outcome["bytes"]:
            return BrokenPromise(
                f"at the end the entries of {ns} have {size} bytes and count {used.outcome['bytes']}", used
            )
    counted = _find_first(facts, ops.Metrics, ns)
    lru = None if counted is None else counted.outcome["lru"]
    if lru and (len(lru) != len(set(lru)) or set(lru) != listing.keys()):
        return BrokenPromise(
            f"at the end the order of use of {ns} holds {lru}, the namespace {sorted(listing)}", counted
        )
    return None


def _is_plain(op: Any) -> bool:
    entries = op.entries if isinstance(op, ops.PutAll) else (op,)
    return all(not entry.topic and not entry.headers for entry in entries)


@rule(Rule.K_CONCURRENCY_3)
def check_counters(facts: Facts) -> BrokenPromise | None:
    """Check that the thread's counters are the numbers of calls, and its evictions the entries that left otherwise."""
    event = _find_first(facts, ops.Metrics)
    if event is None:
        return None
    done = [each for each in facts.done if each.event.end < event.start]
    expected = {"puts": 0, "gets": 0, "flushes": 0}
    for each in done:
        if isinstance(each.op, ops.Put):
            expected["puts"] += 1
        elif isinstance(each.op, ops.PutAll):
            expected["puts"] += len(each.op.entries)
        elif isinstance(each.op, ops.PutIfAbsent):
            expected["puts"] += not each.answer.get("present", True)
        elif isinstance(each.op, ops.Get):
            expected["gets"] += 1
        elif isinstance(each.op, ops.Flush):
            expected["flushes"] += 1
    if any(isinstance(each.op, ops.PutAll) and "error" in each.answer for each in done):
        del expected["puts"]
    evicted = _count_evicted(facts)
    if evicted is not None:
        expected["evicts"] = evicted
    for name, count in expected.items():
        if event.outcome[name] != count:
            return BrokenPromise(f"at the end {name} is {event.outcome[name]}, there were {count}", event)
    return None


def _count_evicted(facts: Facts) -> int | None:
    """Return how many entries evictions took; None if the number is not known.

    A resize counts turns at empty namespaces too.
    """
    if next(facts.of(ops.Evict, ops.Clear, ops.Close, ops.PutAll, ops.Resize), None) is not None:
        return None
    if any(write.value is None for write in facts.writes):
        return None
    whole = _find_first(facts, ops.Usage)
    counted = [_find_first(facts, ops.Metrics, ns) for ns in written_namespaces(facts)]
    if whole is None or None in counted:
        return None
    overwrites = sum(event.outcome["overwrites"] for event in counted if event is not None)
    deleted = sum(bool(each.answer["present"]) for each in facts.of(ops.Delete))
    return len(facts.writes) - int(overwrites) - deleted - int(whole.outcome["entries"])


@rule(Rule.K_CONCURRENCY_7)
def check_limit(facts: Facts) -> BrokenPromise | None:
    """Check that the total is within the limit: one of those that can have been set last."""
    whole = _find_first(facts, ops.Usage)
    if whole is None:
        return None
    resizes = [done.event for done in facts.of(ops.Resize) if done.event.end < whole.start]
    last = [one for one in resizes if not any(other.start > one.end for other in resizes)]
    limit = max((one.op.max_size_bytes for one in last), default=facts.record.config.max_size_bytes)
    if whole.outcome["bytes"] > limit:
        return BrokenPromise(f"at the end there are {whole.outcome['bytes']} bytes, the limit is {limit}", whole)
    return None
