"""Planted faults of the fast cache, each in one small method; `cases` shows the shortest proof of each."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache
from entrycache_faults.fast.cursors import CURSORS
from entrycache_faults.fast.entries import ENTRIES
from entrycache_faults.fast.manager import MANAGER
from entrycache_faults.fast.passes import PASSES
from entrycache_faults.fast.readers import READERS
from entrycache_faults.fast.reads import READS

__all__ = ["EXHIBITS"]

EXHIBITS: Final[dict[str, type[BrokerCache]]] = dict(
    sorted({**ENTRIES, **PASSES, **MANAGER, **READS, **CURSORS, **READERS}.items())
)
"""The exhibits by name; `cases` holds a case of the same name for each."""
