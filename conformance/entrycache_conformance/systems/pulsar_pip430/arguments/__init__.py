"""Arguments of operations: at least half of the numbers are thresholds of the reference's state, or next to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments import cursors, manager, queue, range, reads
from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_reference.pulsar_pip430.state import State

MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    **range.MAKERS,
    **queue.MAKERS,
    **manager.MAKERS,
    **reads.MAKERS,
    **cursors.MAKERS,
}
"""The maker of each operation."""

__all__ = ["MAKERS", "Aim"]
