"""The audit of `pulsar-pip430`: its trace columns, its settings and its `AUDIT`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_spark.common.system import AuditedSystem, ConfigObject, DemoTrace
from entrycache_trace import files
from entrycache_trace.formats.pulsar_pip430 import FORMAT, write_case_trace

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "origin", "cache", "ledger_id", "entry_id", "life", "size_bytes"),
    *("expected_reads", "requeues", "accessed", "stamp_ns", "new_stamp_ns", "pass_id", "call_id", "bound"),
    *("max_requeues", "extend_accessed", "trigger_bytes", "target_bytes", "bytes_after", "manager_bytes"),
    *("tail_no", "head_no", "ticket", "cursor", "value"),
    *("read_id", "ask_id", "last_entry_id", "permits"),
)


# ---------- settings

KINDS: Final[Mapping[str, type]] = {
    "max_size_bytes": int,
    "watermark": float,
    "ttl_nanos": int,
    "max_requeues": int,
    "extend_recently_accessed": bool,
    "evict_by_expected_reads": bool,
    "storage_entry_size": int,
    "eviction": str,
    "max_reads_in_flight_bytes": int,
    "acquire_queue": int,
    "acquire_timeout_millis": int,
}
"""The settings that rules need, with the types of their values."""

_OF_PERMITS: Final = ("max_reads_in_flight_bytes", "acquire_queue", "acquire_timeout_millis")
"""The settings of the limiter of reads in flight."""

IS_MANUAL: Final = {"manual": True, "inline": False}
"""The values of `eviction` that show whether passes wait for a call of their own; other values do not show it."""

SETTING_COLUMNS: Final = {
    "trigger_now": "bigint",
    "target_now": "bigint",
    "ttl_now": "bigint",
    "max_requeues_now": "bigint",
    "extend_now": "boolean",
    "ranks": "boolean",
    "manual": "boolean",
    "grace_millis": "bigint",
    "storage_bytes": "bigint",
    "permits_now": "bigint",
    "queue_now": "bigint",
    "timeout_now": "bigint",
    "drops_late": "boolean",
}
"""The columns that each event gets from its effective CONFIG, with their SQL types.

The grace period is that of the broker's first CONFIG. `drops_late`: what cursors drop waits for a call, so it may lie
above the slowest cursor of the moment.
"""


def setting_values(configs: Sequence[ConfigObject | None]) -> list[tuple[Any, ...]]:
    """Return the values of these columns, one row for a CONFIG event."""
    grace = _grace(configs[0]) if configs and configs[0] is not None else None
    return [
        (None,) * len(SETTING_COLUMNS)
        if config is None
        else (
            *_numbers(config),
            grace,
            config["storage_entry_size"],
            *(config[name] for name in _OF_PERMITS),
            config.get("invalidation") == "manual",
        )
        for config in configs
    ]


def _numbers(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of one CONFIG. The thresholds are IEEE products, truncated (R-TRIGGER-1)."""
    limit, watermark = config["max_size_bytes"], config["watermark"]
    return (
        None if limit is None else int(limit * 0.98),
        None if limit is None or watermark is None else int(limit * watermark),
        config["ttl_nanos"],
        config["max_requeues"],
        config["extend_recently_accessed"],
        config["evict_by_expected_reads"],
        IS_MANUAL.get(config["eviction"]),
    )


def _grace(config: Mapping[str, Any]) -> int | None:
    """Return the grace period of the first configuration, or twice its time to live (R-CONFIG-4)."""
    ttl = config["ttl_nanos"]
    grace = config.get("grace_millis", None if ttl is None else 2 * ttl // 1_000_000)
    return grace if type(grace) is int else None


def split_budget(metadata: files.Metadata) -> bool:
    """Return whether the trace uses the variant in which accessed entries have a budget of their own."""
    return str(metadata.variants.get("requeue_budget", "shared")).lower() == "split"


def permit_variants(metadata: files.Metadata) -> dict[str, bool]:
    """Return which variants of reads in flight a trace uses: its name in the rule files, and whether it is used."""
    names = {
        "overtakes": ("limiter_order", "overtaking"),
        "leaves_waiting": ("limiter_timeout", "leaves"),
        "counts_failed": ("failed_read", "counted"),
    }
    return {own: str(metadata.variants.get(name, "")).lower() == value for own, (name, value) in names.items()}


# ---------- the system's audit

NOT_SHOWN: Final = frozenset(
    "R-CURSOR-7 R-CURSOR-12 R-READ-10 R-TRIGGER-2 R-TRIGGER-3 "
    "R-INFLIGHT-1 R-INFLIGHT-2 R-INFLIGHT-3 R-INFLIGHT-4 R-INFLIGHT-9 R-INFLIGHT-10 R-INFLIGHT-13 "
    "R-LEDGER-1 R-LEDGER-6 R-LEDGER-14 R-LEDGER-17 "
    "R-LIMIT-1 R-LIMIT-2 R-LIMIT-3 R-LIMIT-4 R-LIMIT-5 R-LIMIT-6 R-LIMIT-7".split()
)
"""The rules that the demo case cannot exercise.

Its cursors are in a sorted list, its passes are scheduled, and no managed ledger reads from storage.
"""


AUDIT: Final = AuditedSystem(
    checker="entrycache_spark.checkers.pulsar_pip430.broker",
    replayer="entrycache_spark.replay.pulsar_pip430.brokers",
    columns=COLUMNS,
    kinds=KINDS,
    setting_columns=SETTING_COLUMNS,
    setting_values=setting_values,
    constants=lambda metadata: {"split_budget": split_budget(metadata), **permit_variants(metadata)},
    chain="R-STATE-1",
    numbers_slots=True,
    begins_empty=False,
    window_rows=None,
    format=FORMAT,
    write=write_case_trace,
    demo_trace=DemoTrace(None, NOT_SHOWN, ("spark", "local", "replay"), "cursors"),
    mutation_presets=(("tail-fanout", 500), ("catch-up-fanout", 300)),
)
