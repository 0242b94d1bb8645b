"""Large runs: every law, the definitions and the frames after each step of runs that no small world holds.

They are a fixed few, so they are no evidence that a law holds; they show that none of them is bounded unseen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from entrycache_conformance.judge import Coverage, LawBroken, checked_step
from entrycache_protocol.system import AnySystem

GIVEN: Final = frozenset({"settings", "max_size_bytes"})
"""What the first state has of the configuration; all else of it is 0, absent or empty."""


def _is_empty(value: Any) -> bool:
    return all(map(_is_empty, value)) if isinstance(value, tuple) else not value


def broken_in(system: AnySystem, runs: Iterable[tuple[Any, Iterable[Any]]]) -> str:
    """What the reference breaks first in these runs, and where; empty: nothing."""
    for number, (config, steps) in enumerate(runs):
        state = system.model.initial(config)
        if not all(_is_empty(value) for name, value in zip(state._fields, state, strict=True) if name not in GIVEN):
            return f"the first state is not empty at step 0 of large run {number}"
        for at, event in enumerate(steps):
            try:
                state = checked_step(system, config, state, event, Coverage(whole=True)).state
            except LawBroken as broken:
                said = str(broken).removeprefix("the reference breaks ").partition(" at ")[0]
                return f"{said} at step {at} ({event.name}) of large run {number}"
    return ""
