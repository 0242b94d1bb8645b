"""How quick our own caches are: medians of interleaved rounds, and ratios within one run."""

from __future__ import annotations

from entrycache_bench.measurement import Measurement
from entrycache_bench.pulsar_pip430.measure import measure

__all__ = ["Measurement", "measure"]
