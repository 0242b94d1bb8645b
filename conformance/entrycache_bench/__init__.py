"""How quick our own caches are: medians of interleaved rounds, and ratios within one run."""

from __future__ import annotations

from entrycache_bench.measure import measure
from entrycache_bench.measurement import Measurement

__all__ = ["Measurement", "measure"]
