"""What holds at rest, when every thread has ended: sums, counters, the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from entrycache_reference.judged import Break, Event
from entrycache_reference.kafka_streams import ops
from entrycache_reference.kafka_streams.size import size_bytes
from entrycache_reference.kafka_streams.threads.record import Facts
from entrycache_reference.rules import Rule, rule


def _answers(facts: Facts, kind: type[Any], ns: str | None) -> list[Event]:
    found = (event for event in facts.record.at_rest if isinstance(event.op, kind))
    return [event for event in found if (event.op.ns if isinstance(event.op.ns, str) else None) == ns]


def _first(facts: Facts, kind: type[Any], ns: str | None = None) -> Event | None:
    return next(iter(_answers(facts, kind, ns)), None)


def namespaces(facts: Facts) -> tuple[str, ...]:
    """The namespaces that anybody wrote to."""
    return tuple(sorted({write.ns for write in facts.writes}))


def _listed(facts: Facts, ns: str) -> Mapping[str, str | None] | None:
    event = _first(facts, ops.All, ns)
    return None if event is None else dict(event.outcome["entries"])


@rule(Rule.K_CONCURRENCY_2)
def sums(facts: Facts) -> Break | None:
    """Entries and bytes of all are the sums of those of each, a running total is the same, each is what it lists."""
    whole = _first(facts, ops.Usage)
    if whole is None:
        return None
    tracked = whole.outcome.get("tracked", whole.outcome["bytes"])
    if tracked != whole.outcome["bytes"]:
        return Break(f"at rest the running total is {tracked}, the sum is {whole.outcome['bytes']}", whole)
    parts = [_first(facts, ops.Usage, ns) for ns in namespaces(facts)]
    if None not in parts:
        for name in ("entries", "bytes"):
            of_parts = sum(part.outcome[name] for part in parts if part is not None)
            if of_parts != whole.outcome[name]:
                said = f"at rest {name} of all are {whole.outcome[name]}, those of the namespaces {of_parts}"
                return Break(said, whole)
    for ns, part in zip(namespaces(facts), parts, strict=True):
        found = None if part is None else _mismatch(facts, ns, part)
        if found is not None:
            return found
    return None


def _mismatch(facts: Facts, ns: str, used: Event) -> Break | None:
    listed = _listed(facts, ns)
    if listed is None:
        return None
    if len(listed) != used.outcome["entries"]:
        return Break(f"at rest {ns} lists {len(listed)} entries and counts {used.outcome['entries']}", used)
    if all(_is_plain(write.done.op) for write in facts.writes if write.ns == ns):
        size = sum(size_bytes(key, value, "", ()) for key, value in listed.items())
        if size != used.outcome["bytes"]:
            return Break(f"at rest the entries of {ns} have {size} bytes and count {used.outcome['bytes']}", used)
    counted = _first(facts, ops.Metrics, ns)
    lru = None if counted is None else counted.outcome["lru"]
    if lru and (len(lru) != len(set(lru)) or set(lru) != listed.keys()):
        return Break(f"at rest the order of use of {ns} holds {lru}, the namespace {sorted(listed)}", counted)
    return None


def _is_plain(op: Any) -> bool:
    entries = op.entries if isinstance(op, ops.PutAll) else (op,)
    return all(not entry.topic and not entry.headers for entry in entries)


@rule(Rule.K_CONCURRENCY_3)
def counters(facts: Facts) -> Break | None:
    """The thread's counters are the numbers of calls; its evictions are the entries that nothing else took."""
    event = _first(facts, ops.Metrics)
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
    evicted = _evicted(facts)
    if evicted is not None:
        expected["evicts"] = evicted
    for name, count in expected.items():
        if event.outcome[name] != count:
            return Break(f"at rest {name} is {event.outcome[name]}, there were {count}", event)
    return None


def _evicted(facts: Facts) -> int | None:
    """How many entries evictions took; None where one cannot tell: a resize counts turns at empty namespaces too."""
    if next(facts.of(ops.Evict, ops.Clear, ops.Close, ops.PutAll, ops.Resize), None) is not None:
        return None
    if any(write.value is None for write in facts.writes):
        return None
    whole = _first(facts, ops.Usage)
    counted = [_first(facts, ops.Metrics, ns) for ns in namespaces(facts)]
    if whole is None or None in counted:
        return None
    overwrites = sum(event.outcome["overwrites"] for event in counted if event is not None)
    deleted = sum(bool(each.answer["present"]) for each in facts.of(ops.Delete))
    return len(facts.writes) - int(overwrites) - deleted - int(whole.outcome["entries"])


@rule(Rule.K_CONCURRENCY_7)
def within_the_limit(facts: Facts) -> Break | None:
    """The total is within the limit: one of those that can have been set last."""
    whole = _first(facts, ops.Usage)
    if whole is None:
        return None
    resizes = [done.event for done in facts.of(ops.Resize) if done.event.end < whole.start]
    last = [one for one in resizes if not any(other.start > one.end for other in resizes)]
    limit = max((one.op.max_size_bytes for one in last), default=facts.record.config.max_size_bytes)
    if whole.outcome["bytes"] > limit:
        return Break(f"at rest there are {whole.outcome['bytes']} bytes, the limit is {limit}", whole)
    return None
