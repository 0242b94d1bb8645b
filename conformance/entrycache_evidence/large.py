"""Large runs: every law, the definitions and the frames after each step of runs that no small world holds.

They are a fixed few, so they are no evidence that a law holds; they show that none of them is bounded unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, get_type_hints

from entrycache_conformance.judge import Coverage, LawBroken, checked_step
from entrycache_evidence.core.definitions import find_definition
from entrycache_protocol.system import AnySystem

LOOKED_INTO_EVERY: Final = 16
"""After one step of so many it is looked whether what the state holds is of its kind."""

GIVEN: Final = frozenset({"settings", "max_size_bytes", "segment_bytes"})
"""What the first state has of the configuration; all else of it is 0, absent or empty."""


def _is_empty(value: Any) -> bool:
    """Whether nothing is there: what is numbered, as segments are, is there from the start, and empty."""
    if isinstance(value, Mapping):
        return all(isinstance(key, int) and _is_empty(one) for key, one in value.items())
    return all(map(_is_empty, value)) if isinstance(value, tuple) else not value


@cache
def _kinds(of: type[Any]) -> tuple[tuple[str, type[Any]], ...]:
    """The fields of a record that are yes or no, and those that are whole numbers, by their annotations."""
    hints = {name: getattr(hint, "__supertype__", hint) for name, hint in get_type_hints(of).items()}
    return tuple((name, hint) for name, hint in hints.items() if hint in {bool, int})


def _mistaken(value: Any) -> str:
    """Where 0 stands for no or no for 0, which are equal, but not in JSON; empty: nowhere."""
    if not isinstance(value, tuple | dict):
        return ""
    if isinstance(value, dict):
        return next((wrong for one in value.values() if (wrong := _mistaken(one))), "")
    if not hasattr(value, "_fields"):
        return next((wrong for one in value if (wrong := _mistaken(one))), "")
    for name, kind in _kinds(type(value)):
        if type(getattr(value, name)) is not kind:
            return f"{type(value).__name__}.{name} is {getattr(value, name)!r}, expected {kind.__name__}"
    return next((wrong for one in value if (wrong := _mistaken(one))), "")


def broken_in(system: AnySystem, runs: Iterable[tuple[Any, Iterable[Any]]]) -> str:
    """What the reference breaks first in these runs, and where; empty: nothing."""
    definition = find_definition(system)
    for number, (config, steps) in enumerate(runs):
        state = system.model.initial(config)
        if not all(_is_empty(value) for name, value in zip(state._fields, state, strict=True) if name not in GIVEN):
            return f"the first state is not empty at step 0 of run {number}"
        for at, event in enumerate(steps):
            try:
                state = checked_step(system, config, state, event, Coverage(definition=definition)).state
            except LawBroken as broken:
                said = str(broken).removeprefix("the reference breaks ").partition(" at ")[0]
                return f"{said} at step {at} ({event.name}) of run {number}"
            wrong = _mistaken(state) if at % LOOKED_INTO_EVERY == 0 else ""
            if wrong:
                return f"{wrong} at step {at} ({event.name}) of run {number}"
    return ""
