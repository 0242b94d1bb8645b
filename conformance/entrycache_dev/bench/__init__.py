"""How quick our own caches are: medians of interleaved rounds, and ratios within one run."""

from __future__ import annotations

from entrycache_dev.bench.measurement import Measurement
from entrycache_dev.bench.pulsar_pip430 import measure_caches

__all__ = ["Measurement", "measure_caches"]
