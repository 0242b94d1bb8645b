"""Outcomes of `pulsar-pip430` in JSON; the requeues of a slot are declared by themselves."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from entrycache_protocol.answers import Answers
from entrycache_protocol.codec import Malformed, decode_object
from entrycache_reference.pulsar_pip430.ops import Observe
from entrycache_reference.pulsar_pip430.outcomes import Observed, Refused, SlotView

REQUEUES: Final = "requeues"
"""What a subject declares that shows how often the entry of a slot was put back."""


def _slots(value: Any, introspection: frozenset[str]) -> tuple[SlotView, ...]:
    if type(value) is not list:
        raise Malformed(f"expected an array, got {value!r}")
    slots = []
    for item in value:
        if type(item) is dict and REQUEUES not in introspection:
            item = {**item, REQUEUES: 0}
        slots.append(decode_object(SlotView, item))
    return tuple(slots)


ANSWERS: Final = Answers(
    *(Refused, Observe, Observed),
    {"now": 0, "bytes": 0, "caches": {}, "queue": (), "tombstones": 0},
    {"queue": _slots},
)
"""How they are read and shown."""


def declared_part(outcome: Any, introspection: frozenset[str]) -> Any:
    """What was observed, with everything that is not declared emptied; other outcomes as they are."""
    shown = ANSWERS.declared_part(outcome, introspection)
    if type(shown) is not Observed or REQUEUES in introspection:
        return shown
    return dataclasses.replace(shown, queue=tuple(dataclasses.replace(slot, requeues=0) for slot in shown.queue))


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """The schema of what an operation answers."""
    schema = ANSWERS.outcome_schema(op)
    if op is Observe:
        schema["anyOf"][0]["properties"]["queue"]["items"]["required"].remove(REQUEUES)
    return schema
