"""What becomes of written values: they are read while they stand, and they are cached or handed over at rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from entrycache_reference.judged import Break, Event
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.threads.record import Done, Facts, Write
from entrycache_reference.rules import Rule, rule

Place = tuple[str, str]
"""A namespace and a key."""

LISTINGS = (ops.Range, ops.ReverseRange, ops.All, ops.ReverseAll)
REMOVALS = (ops.Clear, ops.Close)


class Change(NamedTuple):
    """What a place was made: a value, or nothing (`write` None)."""

    write: Write | None
    event: Event


def _changes(facts: Facts) -> dict[Place, list[Change]]:
    """Writes and deletions of each place."""
    found: dict[Place, list[Change]] = defaultdict(list)
    for write in facts.writes:
        found[write.ns, write.key].append(Change(write, write.done.event))
    for done in facts.of(ops.Delete):
        if done.answer["present"]:
            found[done.op.ns, done.op.key].append(Change(None, done.event))
    return found


def _is_traceable(changes: Sequence[Change]) -> bool:
    """Whether every value of a place tells which write it is of, and no listener wrote it."""
    writes = [change.write for change in changes if change.write is not None]
    values = {write.value for write in writes}
    return len(values) == len(writes) and None not in values and not any(write.done.inner for write in writes)


def _read(done: Done) -> Iterator[tuple[Place, str | None]]:
    """The values that an operation showed."""
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
def fresh(facts: Facts) -> Break | None:
    """A value that is read was written by a write that had begun, and none that followed it had ended before."""
    changes = _changes(facts)
    traceable = {place for place, of_place in changes.items() if _is_traceable(of_place)}
    for done in facts.done:
        listed = [key for (_, key), _ in _read(done)]
        if len(listed) != len(set(listed)):
            return Break(f"a key stands twice in {listed}", done.event)
        for place, value in _read(done):
            if not changes[place]:
                return Break(f"{place} has the value {value!r}, and nobody wrote it", done.event)
            if place in traceable and not done.inner:
                broken = _is_stale(changes[place], place, value, done)
                if broken is not None:
                    return broken
    return None


def _is_stale(changes: Sequence[Change], place: Place, value: str | None, done: Done) -> Break | None:
    own = next((change for change in changes if change.write is not None and change.write.value == value), None)
    if own is None or own.event.start > done.event.end:
        return Break(f"{place} has the value {value!r}, and no write of it had begun", done.event)
    for later in changes:
        if own.event.end < later.event.start and later.event.end < done.event.start:
            what = "a deletion" if later.write is None else f"the write of {later.write.value!r}"
            return Break(f"{place} has the value {value!r}, but {what} had ended before", done.event)
    return None


@rule(Rule.K_CONCURRENCY_4)
def nothing_lost(facts: Facts) -> Break | None:
    """The last value of a key is cached at rest or was handed over, and each dirty value is handed over once."""
    changes = {place: found for place, found in _changes(facts).items() if _is_traceable(found)}
    handed = Counter((each.ns, each.key, each.value) for each in facts.handed)
    for (ns, key, value), times in handed.items():
        if (ns, key) not in changes:
            continue
        event = next(each.event for each in facts.handed if (each.ns, each.key, each.value) == (ns, key, value))
        writes = [change.write for change in changes[ns, key] if change.write is not None]
        if not any(write.value == value and write.dirty for write in writes):
            return Break(f"{ns} handed over {key}={value!r}, which nobody wrote as dirty", event)
        if times > 1:
            return Break(f"{ns} handed over {key}={value!r} {times} times", event)
    for ns in sorted({place[0] for place in changes}):
        listed = next((each for each in facts.record.at_rest if _is_listing(each, ns)), None)
        if listed is None:
            continue
        values = dict(listed.outcome["entries"])
        told = facts.record.at_rest if "dirty" in facts.record.introspection else ()
        dirty = next((each.outcome["dirty"] for each in told if _is_metrics(each, ns)), None)
        for place, found in changes.items():
            if place[0] == ns:
                broken = _lost(facts, place, found, values, dirty, handed)
                if broken is not None:
                    return Break(broken, listed)
    return None


def _is_listing(event: Event, ns: str) -> bool:
    return isinstance(event.op, ops.All) and event.op.ns == ns


def _is_metrics(event: Event, ns: str) -> bool:
    return isinstance(event.op, ops.Metrics) and event.op.ns == ns


def _lost(
    facts: Facts,
    place: Place,
    changes: Sequence[Change],
    values: dict[str, Any],
    dirty: Sequence[str] | None,
    handed: Counter[tuple[str, str, str | None]],
) -> str | None:
    """What is wrong with the last value of a place, if one can tell which it is."""
    ns, key = place
    last = [one for one in changes if not any(other.event.start > one.event.end for other in changes)]
    if len(last) != 1 or (len(last) == 1 and _has_equal(last[0], changes)):
        return None
    write = last[0].write
    if write is None:
        return f"{key} of {ns} was deleted and is {values[key]!r} at rest" if key in values else None
    delivered = handed[ns, key, write.value] > 0
    if key in values:
        if values[key] != write.value:
            return f"{key} of {ns} is {values[key]!r} at rest, {write.value!r} was written last"
        if dirty is not None and write.dirty and not delivered and key not in dirty:
            return f"{key}={write.value!r} of {ns} was written dirty, is not dirty at rest and was never handed over"
        return None
    if any(done.op.ns == ns and done.event.end > last[0].event.start for done in facts.of(*REMOVALS)):
        return None
    if write.dirty and not delivered:
        return f"{key}={write.value!r} of {ns} was written dirty, is gone at rest and was never handed over"
    evictable = facts.overflows or any(done.op.ns == ns for done in facts.of(ops.Evict))
    if not evictable:
        return f"{key}={write.value!r} of {ns} is gone at rest, and nothing removes it"
    return None


def _has_equal(last: Change, changes: Sequence[Change]) -> bool:
    """Whether another change of the same event, or one that overlaps it, could have been the last as well."""
    return any(other is not last and other.event.end > last.event.start for other in changes)
