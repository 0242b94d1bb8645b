"""Planted faults of the fast cache, each in one small method; `cases` shows the shortest proof of each."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.museum.exhibits.cursors import CURSORS
from entrycache_conformance.museum.exhibits.entries import ENTRIES
from entrycache_conformance.museum.exhibits.manager import MANAGER
from entrycache_conformance.museum.exhibits.passes import PASSES
from entrycache_conformance.museum.exhibits.readers import READERS
from entrycache_conformance.museum.exhibits.reads import READS
from entrycache_fast import BrokerCache

__all__ = ["EXHIBITS"]

EXHIBITS: Final[dict[str, type[BrokerCache]]] = dict(
    sorted({**ENTRIES, **PASSES, **MANAGER, **READS, **CURSORS, **READERS}.items())
)
"""The exhibits by name; `cases` holds a case of the same name for each."""
