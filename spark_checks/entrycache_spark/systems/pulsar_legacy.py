"""The audit of `pulsar-legacy`: its settings and its `AUDIT`; the trace columns are those of `pulsar-pip430`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_spark.common.system import AuditedSystem, ConfigObject, DemoTrace
from entrycache_spark.systems.pulsar_pip430 import COLUMNS, IS_MANUAL
from entrycache_trace.files import Metadata
from entrycache_trace.formats.pulsar_legacy import FORMAT, write_case_trace

KINDS: Final[Mapping[str, type]] = {"max_size_bytes": int, "watermark": float, "ttl_nanos": int, "eviction": str}
"""The settings that rules need, with the types of their values."""

SETTING_COLUMNS: Final = {"trigger_now": "bigint", "target_now": "bigint", "manual": "boolean"}
"""The columns that each event gets from its effective CONFIG, with their SQL types."""


def setting_values(configs: Sequence[ConfigObject | None]) -> list[tuple[Any, ...]]:
    """Return the values of these columns, one row for a CONFIG event.

    The thresholds are IEEE products, truncated (L-TRIGGER-1).
    """
    return [(None,) * len(SETTING_COLUMNS) if config is None else _values(config) for config in configs]


def _values(config: ConfigObject) -> tuple[Any, ...]:
    limit, watermark = config["max_size_bytes"], config["watermark"]
    return (
        None if limit is None else int(limit * 0.98),
        None if limit is None or watermark is None else int(limit * watermark),
        IS_MANUAL.get(config["eviction"]),
    )


def by_object(metadata: Metadata) -> bool:
    """Return whether the trace uses the variant in which no lookup of a single position finds an entry."""
    return str(metadata.variants.get("single_lookup", "position")).lower() == "object"


# ---------- the system's audit

NOT_SHOWN: Final = frozenset({"L-TRIGGER-3", "L-TRIGGER-4", "L-TRIGGER-5"})
"""The rules that the demo trace cannot exercise, because its passes are not scheduled."""


AUDIT: Final = AuditedSystem(
    checker="entrycache_spark.checkers.pulsar_legacy.broker",
    replayer="entrycache_spark.replay.pulsar_legacy.broker",
    columns=COLUMNS,
    kinds=KINDS,
    setting_columns=SETTING_COLUMNS,
    setting_values=setting_values,
    constants=lambda metadata: {"by_object": by_object(metadata), "split_budget": False},
    chain="L-STATE-1",
    numbers_slots=False,
    begins_empty=True,
    window_rows=None,
    format=FORMAT,
    write=write_case_trace,
    demo_trace=DemoTrace("unequal-topics", NOT_SHOWN, ("local", "replay")),
    mutation_presets=(("unequal-topics", 400),),
)
