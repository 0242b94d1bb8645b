"""Arguments of operations: at least half of the numbers are thresholds of the reference's state, or next to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_legacy.arguments import entries, passes
from entrycache_conformance.systems.pulsar_legacy.arguments.arguments import Aim
from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.state import State

MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    **entries.MAKERS,
    **passes.MAKERS,
    "usage": lambda aim, state: ops.Usage() if aim.draw(0, 1) == 0 else ops.Usage(aim.cache(state)),
    "observe": lambda aim, state: ops.Observe(),
}
"""The maker of each operation."""


def made(aim: Aim, name: str, state: State) -> Any:
    """An operation of that name for that state, or the next one of those that are to follow."""
    return aim.to_come.pop()(state) if aim.to_come else MAKERS[name](aim, state)


__all__ = ["MAKERS", "Aim", "made"]
