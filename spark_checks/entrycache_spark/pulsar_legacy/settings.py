"""What a CONFIG event of `pulsar-legacy` puts in force besides the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_spark.parts import ConfigObject
from entrycache_spark.pulsar_pip430.settings import IS_MANUAL
from entrycache_trace.files import Metadata

KINDS: Final[Mapping[str, type]] = {"max_size_bytes": int, "watermark": float, "ttl_nanos": int, "eviction": str}
"""The settings, with the types of their values."""

SETTING_COLUMNS: Final = {"trigger_now": "bigint", "target_now": "bigint", "manual": "boolean"}
"""The columns that each event gets, with their SQL types."""


def setting_values(configs: Sequence[ConfigObject | None]) -> list[tuple[Any, ...]]:
    """The values of these columns, a row a CONFIG event; the thresholds are IEEE products, truncated (L-TRIGGER-1)."""
    return [(None,) * len(SETTING_COLUMNS) if config is None else _values(config) for config in configs]


def _values(config: ConfigObject) -> tuple[Any, ...]:
    limit, watermark = config["max_size_bytes"], config["watermark"]
    return (
        None if limit is None else int(limit * 0.98),
        None if limit is None or watermark is None else int(limit * watermark),
        IS_MANUAL.get(config["eviction"]),
    )


def by_object(metadata: Metadata) -> bool:
    """Whether the trace is of the variant in which no lookup of one position finds an entry."""
    return str(metadata.variants.get("single_lookup", "position")).lower() == "object"
