"""The settings that a trace says are in force: one row a CONFIG event, from it to the next one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_trace.files import Metadata

SETTING_COLUMNS: Final = {
    "broker": "string",
    "config_seq": "bigint",
    "config_until": "bigint",
    "only_config": "boolean",
    "trigger_now": "bigint",
    "target_now": "bigint",
    "ttl_now": "bigint",
    "max_requeues_now": "bigint",
    "extend_now": "boolean",
    "ranks": "boolean",
    "manual": "boolean",
    "grace_millis": "bigint",
    "storage_bytes": "bigint",
    "limit_now": "bigint",
    "limit_before": "bigint",
}
"""The columns that each event gets from the CONFIG in force, with their SQL types."""

LAST_SEQ: Final = (1 << 63) - 1
DEFAULTS: Final[Mapping[str, Any]] = {
    "max_size_bytes": 134_217_728,
    "watermark": 0.9,
    "ttl_nanos": 1_000_000_000,
    "max_requeues": 5,
    "extend_recently_accessed": True,
    "evict_by_expected_reads": True,
    "storage_entry_size": 100,
    "eviction": "inline",
}
"""What a config object says that does not name a setting."""


STREAM_DEFAULTS: Final[Mapping[str, Any]] = {**DEFAULTS, "max_size_bytes": 10_485_760}
"""What a config object of `kafka-streams` says that does not name a setting; only the limit is read."""


class Settings(NamedTuple):
    """The settings of one CONFIG event; the grace period is that of the broker's first one.

    `limit_bytes` is the limit of the cache, `limit_before` that of the CONFIG event before.
    """

    broker: str
    config_seq: int
    config_until: int
    only_config: bool
    trigger_bytes: int | None
    target_bytes: int | None
    ttl_nanos: int | None
    max_requeues: int | None
    extend_accessed: bool | None
    ranks: bool | None
    manual: bool | None
    grace_millis: int | None
    storage_bytes: int | None
    limit_bytes: int | None
    limit_before: int | None


def settings_of(
    broker: str, configs: Iterable[tuple[int, str | None]], defaults: Mapping[str, Any] = DEFAULTS
) -> list[Settings]:
    """The settings of one broker, from its CONFIG events (seq, value); unreadable ones say nothing."""
    ordered = sorted(configs, key=lambda config: config[0])
    read = [readable(value, defaults) for _, value in ordered]
    limits = [None if config is None else config["max_size_bytes"] for config in read]
    grace = _grace(read[0]) if read and read[0] is not None else None
    found = []
    for number, ((seq, _), config) in enumerate(zip(ordered, read, strict=True)):
        until = ordered[number + 1][0] if number + 1 < len(ordered) else LAST_SEQ
        known = (None,) * 9 if config is None else (*_numbers(config), grace, config["storage_entry_size"])
        parts = (*known, limits[number], limits[number - 1] if number else None)
        found.append(Settings(broker, seq, until, len(ordered) == 1, *parts))
    return found


def readable(value: str | None, defaults: Mapping[str, Any] = DEFAULTS) -> dict[str, Any] | None:
    """The config object of a CONFIG event with its defaults filled in; None if it is none."""
    try:
        shown = json.loads(value or "")
    except ValueError:
        return None
    if not isinstance(shown, dict):
        return None
    config = {**defaults, **{name: part for name, part in shown.items() if part is not None}}
    return config if all(_readable(name, config[name]) for name in DEFAULTS) else None


def _readable(name: str, value: object) -> bool:
    if name == "watermark":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(DEFAULTS[name])


def _numbers(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """The thresholds are IEEE products, truncated (R-TRIGGER-1)."""
    limit = config["max_size_bytes"]
    return (
        int(limit * 0.98),
        int(limit * config["watermark"]),
        config["ttl_nanos"],
        config["max_requeues"],
        config["extend_recently_accessed"],
        config["evict_by_expected_reads"],
        config["eviction"] == "manual",
    )


def _grace(config: Mapping[str, Any]) -> int | None:
    """R-CONFIG-4: what the first configuration says, or twice its time to live."""
    grace = config.get("grace_millis", 2 * config["ttl_nanos"] // 1_000_000)
    return grace if isinstance(grace, int) else None


def constants(metadata: Metadata) -> dict[str, bool]:
    """What holds for the whole trace."""
    return {
        "many": metadata.many_threads,
        "split_budget": str(metadata.variants.get("requeue_budget", "shared")).lower() == "split",
        "virtual": metadata.clock == "virtual",
    }
