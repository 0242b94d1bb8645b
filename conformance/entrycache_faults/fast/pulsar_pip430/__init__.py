"""Planted faults of the fast cache, each in one small method; `cases` shows the shortest proof of each."""

from __future__ import annotations

from typing import Final

from entrycache_fast import BrokerCache
from entrycache_faults.fast.pulsar_pip430.cursor_ranks import READERS
from entrycache_faults.fast.pulsar_pip430.cursors import CURSORS
from entrycache_faults.fast.pulsar_pip430.entries import ENTRIES
from entrycache_faults.fast.pulsar_pip430.manager import MANAGER
from entrycache_faults.fast.pulsar_pip430.passes import PASSES
from entrycache_faults.fast.pulsar_pip430.storage_reads import READS

__all__ = ["FAULTS"]

FAULTS: Final[dict[str, type[BrokerCache]]] = dict(
    sorted({**ENTRIES, **PASSES, **MANAGER, **READS, **CURSORS, **READERS}.items())
)
"""The faults by name; `cases` holds a case of the same name for each."""
