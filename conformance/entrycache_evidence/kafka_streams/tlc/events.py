"""The events of a world of `kafka-streams` as TLA+ records, and what its listeners do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from entrycache_evidence.tlc.text import maybe
from entrycache_reference.kafka_streams import ops
from entrycache_reference.vocabulary import ABSENT

Scripts = tuple[tuple[ops.Op, ...], ...]


def scripts_of(events: Iterable[ops.Op]) -> Scripts:
    """What the listeners do that these events register, and those that they register in turn; each once."""
    found: dict[tuple[ops.Op, ...], None] = {}
    for event in events:
        if isinstance(event, ops.Listen):
            steps = steps_of(event)
            found.update(dict.fromkeys((steps, *scripts_of(steps))))
    return tuple(found)


def steps_of(event: ops.Listen) -> tuple[ops.Op, ...]:
    """What a listener does."""
    return () if event.on_flush is ABSENT else event.on_flush


def write(event: Any) -> dict[str, Any]:
    """One write, which carries nothing but its key and its value."""
    return {"key": event.key, "value": maybe(event.value), "dirty": event.dirty}


def record(event: ops.Op, scripts: Scripts) -> Mapping[str, Any]:
    """One operation with its arguments; a listener is the number of what it does."""
    if isinstance(event, ops.Resize):
        return {"op": event.name, "limit": event.max_size_bytes}
    if isinstance(event, ops.Usage | ops.Metrics):
        return {"op": event.name, "of": () if event.ns is ABSENT else (event.ns,)}
    if isinstance(event, ops.Range | ops.ReverseRange | ops.All | ops.ReverseAll):
        return {"op": "list", "ns": event.ns, **_bounds(event)}
    return {"op": event.name, "ns": getattr(event, "ns", ""), **_arguments(event, scripts)}


def _bounds(event: Any) -> dict[str, Any]:
    return {
        "from": maybe(getattr(event, "from_", None)),
        "to": maybe(getattr(event, "to", None)),
        "inclusive": getattr(event, "to_inclusive", True),
        "reverse": isinstance(event, ops.ReverseRange | ops.ReverseAll),
    }


def _arguments(event: ops.Op, scripts: Scripts) -> dict[str, Any]:
    match event:
        case ops.Put() | ops.PutIfAbsent():
            return {"write": write(event)}
        case ops.PutAll():
            return {"writes": tuple(write(one) for one in event.entries)}
        case ops.Get():
            return {"key": maybe(event.key)}
        case ops.Delete():
            return {"key": event.key}
        case ops.Listen():
            fails = 0 if event.fails is ABSENT else event.fails
            return {"script": scripts.index(steps_of(event)) + 1, "fails": fails}
        case ops.Flush() | ops.Evict() | ops.Clear() | ops.Close():
            return {}
    raise TypeError(f"{event.name} stands in no TLA+ module")
