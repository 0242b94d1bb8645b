"""Configurations that differ from the default where the subject lets them."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430 import odd
from entrycache_conformance.systems.pulsar_pip430.themes import Traits
from entrycache_conformance.systems.pulsar_pip430.weights import LEVEL_OF
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw, choose
from entrycache_reference.pulsar_pip430.config import Config, Eviction
from entrycache_reference.vocabulary import COUNT_MAX, INTEGER_MAX

Menu = dict[str, tuple[Any, ...]]

QUEUE: Final[Menu] = {
    "max_requeues": (5, 2, 1, 0, 3),
    "extend_recently_accessed": (True, False),
    "ttl_nanos": (1_000_000_000, 5, 1, 0, 20),
    "watermark": (0.9, 0.5, 1.0, 0.0),
}
"""What acts below the trigger."""

TRIGGER: Final[Menu] = {
    "max_size_bytes": (100, 50, 10, 20, 11, 33, 101, 51),
    "watermark": (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 0.97),
    "eviction": (Eviction.INLINE, Eviction.MANUAL),
}
"""Small limits, so that a few entries cross them, and targets below, at and above the trigger."""

GREAT_BYTES: Final = (3_001, 9_000, 20_000)
"""Limits that it takes hundreds of entries to cross."""

LEAST_BYTES: Final = 1
"""The least limit under which anything is cached: one byte less, and nothing is."""

READS: Final[Menu] = {"storage_entry_size": (10, 1, 3, 25, 100, 49)}

CURSORS: Final[Menu] = {
    "grace_millis": (None, 0, None, 1, 2, 3),
    "ttl_nanos": (1_000_000_000, 500_000, 1_250_000, 499_999, 5, 250_000_000_000_000),
    "evict_by_expected_reads": (True, False),
}

BUDGET_MAX: Final = 60
"""A pass may requeue an entry so often: with no bound in reach it would not end in a lifetime."""

EXTREME: Final[Menu] = {
    "max_size_bytes": (1, 2, 3, 100, 1_000_000),
    "watermark": (0.0, 1.0, 0.999999, 1e-9, 0.5),
    "ttl_nanos": (0, INTEGER_MAX, 1, 10**18 // 1_000),
    "max_requeues": (0, BUDGET_MAX, 1),
    "storage_entry_size": (1, 2, 1_000),
    "grace_millis": (0, None, COUNT_MAX, 1),
}


def make_config(draw: Draw, declaration: Declaration, menu: tuple[str, ...], traits: Traits) -> Config:
    """A configuration for cases of these operations."""
    base: Config = declaration.base_config()
    levels = {LEVEL_OF[name] for name in menu}
    crosses = bool(levels - {"range", "queue"})
    options = {**QUEUE, "max_size_bytes": (base.max_size_bytes,) * 11 + (0,)}
    if crosses:
        options |= TRIGGER
        options["max_size_bytes"] += (base.max_size_bytes, base.max_size_bytes, 0)
    if "reads" in levels:
        options |= READS
        options["max_size_bytes"] += (LEAST_BYTES,) if crosses else ()
    if "cursors" in levels:
        options |= CURSORS
        options["ttl_nanos"] += (1, 0, 20)
    if traits.flood and crosses:
        options["max_size_bytes"] = (base.max_size_bytes, *GREAT_BYTES)
    if traits.is_extreme:
        kept = {"max_size_bytes"} if not crosses else set()
        options |= {key: values for key, values in EXTREME.items() if key not in kept}
    changes = {key: choose(draw, values) for key, values in options.items() if declaration.varies(key)}
    if "max_requeues" in changes and declaration.limits.max_requeues is not None:
        changes["max_requeues"] = min(declaration.limits.max_requeues, changes["max_requeues"])
    if "storage_entry_size" in changes:
        changes["storage_entry_size"] = max(1, min(declaration.limits.max_size, changes["storage_entry_size"]))
    if traits.is_odd and crosses and changes.keys() >= {"max_size_bytes", "watermark"}:
        changes["max_size_bytes"], changes["watermark"] = choose(draw, odd.LIMITS)
    return dataclasses.replace(base, **changes)
