"""The part of `observe` that a subject declares: reading it from JSON, and comparing no more than it."""

from __future__ import annotations

import dataclasses
from typing import Any

from entrycache_protocol.codec import Malformed, decode_object, fields_of
from entrycache_reference.pulsar_pip430.outcomes import Observed, SlotView

FIELDS = ("now", "bytes", "caches", "queue", "tombstones")
EMPTY: dict[str, Any] = {"now": 0, "bytes": 0, "caches": {}, "queue": (), "tombstones": 0}
DECODE = {codec.name: codec.decode for codec in fields_of(Observed)}
SLOT_KEYS = frozenset(field.name for field in dataclasses.fields(SlotView))


def declared_part(observed: Any, introspection: frozenset[str]) -> Any:
    """The observation with everything that is not declared emptied; other outcomes as they are."""
    if type(observed) is not Observed or (len(introspection) == len(FIELDS) + 1):
        return observed
    parts = {name: getattr(observed, name) if name in introspection else EMPTY[name] for name in FIELDS}
    if "requeues" not in introspection:
        parts["queue"] = tuple(dataclasses.replace(slot, requeues=0) for slot in parts["queue"])
    return Observed(**parts)


def read_observed(op: type[Any], value: Any, introspection: frozenset[str]) -> Observed:
    """The observation of a subject: keys that it declares are read, others are passed over.

    Raises:
        Malformed: a declared key is missing or ill-typed, or a key is unknown.
    """
    if type(value) is not dict:
        raise Malformed(f"expected an object, got {value!r}")
    unknown = sorted(value.keys() - set(FIELDS))
    if unknown:
        raise Malformed(f"unknown key {unknown[0]!r}")
    parts = dict(EMPTY)
    for name in FIELDS:
        if name not in introspection:
            continue
        if name not in value:
            raise Malformed(f"{name} is missing, though introspection declares it")
        try:
            parts[name] = _slots(value, introspection) if name == "queue" else DECODE[name](value[name])
        except Malformed as error:
            raise Malformed(f"{name}: {error}") from None
    return Observed(**parts)


def _slots(value: dict[str, Any], introspection: frozenset[str]) -> tuple[SlotView, ...]:
    if type(value["queue"]) is not list:
        raise Malformed(f"expected an array, got {value['queue']!r}")
    slots = []
    for item in value["queue"]:
        if type(item) is dict and "requeues" not in introspection:
            item = {**item, "requeues": 0}
        slots.append(decode_object(SlotView, item))
    return tuple(slots)
