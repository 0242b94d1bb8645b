"""The two thresholds of the manager's bytes, and what a size pass is to free.

Beside: RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold, .hasSpaceInCache (managed-ledger 4.0.8)
"""

from __future__ import annotations

from math import trunc
from typing import Final

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.state import Row
from entrycache_reference.rules import Rule, rule

TRIGGER_SHARE: Final = 0.98
"""The share of the limit above which an insert asks for a size pass."""


@rule(Rule.L_TRIGGER_1)
def trigger_bytes(config: Config) -> int:
    """The bytes above which an insert asks for a size pass: the IEEE product, truncated."""
    return trunc(config.max_size_bytes * TRIGGER_SHARE)


@rule(Rule.L_TRIGGER_1)
def target_bytes(config: Config) -> int:
    """The bytes down to which a size pass is to free: the IEEE product, truncated."""
    return trunc(config.max_size_bytes * config.watermark)


@rule(Rule.L_TRIGGER_1)
def amount_bytes(size_bytes: int, config: Config) -> int:
    """What a size pass is to free that is asked for at these bytes: what lies above the target.

    It may be 0 or less.
    """
    return size_bytes - target_bytes(config)


def with_thresholds(row: Row, config: Config) -> Row:
    """The row of a size pass, with the two thresholds."""
    return row._replace(trigger_bytes=trigger_bytes(config), target_bytes=target_bytes(config))
