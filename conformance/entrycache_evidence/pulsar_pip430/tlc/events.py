"""The events of a world of `pulsar-pip430` as TLA+ records."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from entrycache_evidence.pulsar_pip430.worlds.world import Events, World
from entrycache_evidence.tlc.text import maybe
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.vocabulary import ABSENT


def every(world: World) -> tuple[ops.Op, ...]:
    """Each event of a world once: those that always happen, then those that depend on the state."""
    events = Events(world)
    kinds = (events.gets, events.reads, events.expects, events.removes)
    inserts = (event for some in events.inserts.values() for event in some)
    return (*events.always, *inserts, *(event for kind in kinds for event in kind.values()))


def records(world: World) -> tuple[Mapping[str, Any], ...]:
    """The record of each event, in the same order."""
    always = len(Events(world).always)
    return tuple({"always": at < always, **record(event)} for at, event in enumerate(every(world)))


def key_of(event: Any) -> tuple[str, int, int]:
    """The place that an operation names."""
    return (event.cache, *event.pos)


def given(value: Any) -> tuple[Any, ...]:
    """An argument that may be absent or null."""
    return maybe(None if value is ABSENT else value)


def fraction(value: float) -> tuple[int, int]:
    """A watermark as a fraction of whole numbers."""
    exact = Fraction(str(value))
    return exact.numerator, exact.denominator


def record(event: ops.Op) -> dict[str, Any]:
    """One operation: its name, the caches that it names, and its arguments; `one` is the entry that it is about."""
    cache = getattr(event, "cache", ABSENT)
    return {"op": event.name, "names": frozenset(given(cache)), **_arguments(event)}


def _arguments(event: ops.Op) -> dict[str, Any]:  # noqa: PLR0912 - a line an operation
    match event:
        case ops.Insert():
            return {"key": key_of(event), "size": event.size, "expected": given(event.expected_reads)}
        case ops.Get() | ops.MarkRead() | ops.ExpectRead() | ops.Exists():
            return {"key": key_of(event), "one": key_of(event)}
        case ops.GetRange():
            return {"cache": event.cache, "first": event.first, "last": event.last}
        case ops.RemoveRange():
            one = (event.cache, *event.first)
            bounds = {"first": event.first, "last": event.last, "inclusive": event.last_inclusive}
            return {"cache": event.cache, "one": one, **bounds}
        case ops.Usage():
            return {"of": given(event.cache)}
        case ops.Advance():
            return {"nanos": event.nanos}
        case ops.Expire():
            return {"older": given(event.older_than_nanos)}
        case ops.Evict():
            return {"bytes": event.bytes}
        case ops.Clear() | ops.RemoveCache():
            return {"cache": event.cache}
        case ops.InvalidateBefore():
            return {"cache": event.cache, "position": event.pos}
        case ops.InvalidateLedger():
            return {"cache": event.cache, "ledger": event.ledger}
        case ops.Configure():
            return _settings(event)
        case ops.Observe() | ops.Cycle() | ops.RunScheduled():
            return {}
    raise TypeError(f"{event.name} stands in no TLA+ module")


def _settings(event: ops.Configure) -> dict[str, Any]:
    watermark = event.watermark
    return {
        "max": given(event.max_size_bytes),
        "watermark": () if watermark is ABSENT else (fraction(watermark),),
        "ttl": given(event.ttl_nanos),
        "requeues": given(event.max_requeues),
        "extend": given(event.extend_recently_accessed),
    }
