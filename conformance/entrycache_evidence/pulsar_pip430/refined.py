"""The worlds along which the fast cache of `pulsar-pip430` is held to the reference, and a fault for each."""

from __future__ import annotations

from typing import Final

from entrycache_evidence.explore.parts import AnyWorld
from entrycache_evidence.pulsar_pip430.abstraction import fast
from entrycache_evidence.pulsar_pip430.worlds import later, small
from entrycache_evidence.refine.evidence import Refines
from entrycache_faults.fast.pulsar_pip430 import FAULTS

WORLDS: Final[tuple[tuple[AnyWorld, str, bool], ...]] = (
    (small.CACHING_OFF, "insert-limit-zero-ignored", True),
    (small.NO_BUDGET, "insert-takes-dead-slot", True),
    (later.MANAGER, "config-shrinks-at-once", True),
    (later.HEAP, "cursor-untracked-keeps-position", True),
    (small.PAIR, "state-exists-marks", True),
    (later.MANUAL, "invalidate-clear-takes-all", False),
    (later.CURSORS, "cursor-grace-only-once", False),
    (later.READS, "count-hold-stays-open", False),
    (small.ALL, "insert-duplicate-restamps", False),
)
"""With the fault that is told apart in it, and whether it is walked in a pull request; the quick ones first.

The readings of the releases are not among them: the fast cache has the norm's.
"""

REFINED: Final = tuple(
    Refines(world, fast(), fast(FAULTS[name]), (FAULTS[name].__doc__ or name).strip(), is_quick)
    for world, name, is_quick in WORLDS
)
