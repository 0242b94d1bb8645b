"""A subject that is broken on purpose, for a run's check of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from entrycache_conformance.subjects.reference import offer_of, open_reference
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.in_process import InProcess

LIES_FROM: Final = 3
"""Which call of the operation is the first that is answered wrongly."""


class BrokenReference(InProcess):
    """The reference with wrong answers, under the declaration of the subject that is to be judged.

    `lies`: it was asked for an answer that can be a wrong one.
    """

    lies = False

    def __init__(self, declaration: Declaration, open_instance: Callable[[Any], Callable[[Any], Any]]) -> None:
        super().__init__("broken on purpose", declaration.system, open_instance, offer_of(declaration.system))
        self._declaration = declaration


def wrong(outcome: Any, refusal: Any) -> Any:
    """The outcome with its first field changed to another value of the same type, or a refusal."""
    fields = dataclasses.fields(outcome)
    if not fields:
        return refusal
    value = getattr(outcome, fields[0].name)
    changed: Any = value
    if type(value) is bool:
        changed = not value
    elif type(value) is int:
        changed = value + 1
    elif type(value) is tuple:
        changed = value[1:]
    elif value is None:
        changed = 0
    elif dataclasses.is_dataclass(value):
        changed = wrong(value, refusal)
    return dataclasses.replace(outcome, **{fields[0].name: changed})


def can_be_wrong(outcome: Any) -> bool:
    """Whether there is another outcome of the same kind: none can be made up of an empty list or of a refusal."""
    fields = dataclasses.fields(outcome)
    value = getattr(outcome, fields[0].name) if fields else None
    return value is None or (value != () and not isinstance(value, Enum))


def broken_reference(declaration: Declaration, op_name: str) -> BrokenReference:
    """The reference that answers wrongly from the third call of one operation on, or the last it takes."""
    correct = open_reference(declaration.system.model)
    refusal = declaration.system.wire.refusal
    lies_from = min(LIES_FROM, declaration.limits.max_steps or LIES_FROM)

    def open_instance(config: Any) -> Callable[[Any], Any]:
        answer = correct(config)
        calls = 0

        def lie(op: Any) -> Any:
            nonlocal calls
            outcome = answer(op)
            calls += type(op).name == op_name
            if type(op).name != op_name or calls < lies_from:
                return outcome
            broken.lies |= can_be_wrong(outcome)
            return wrong(outcome, refusal)

        return lie

    broken = BrokenReference(declaration, open_instance)
    return broken
