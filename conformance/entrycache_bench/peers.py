"""The caches of cachetools, which stand beside ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from entrycache_protocol.extras import missing


def lru_cache() -> Callable[[int], Any]:
    """The LRU cache of cachetools.

    Raises:
        MissingPrerequisite: cachetools is not installed.
    """
    try:
        from cachetools import LRUCache  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing("bench", "cachetools", "bench") from None
    return LRUCache
