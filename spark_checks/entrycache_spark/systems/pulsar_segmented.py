"""The audit of `pulsar-segmented`: its trace columns, its settings and its `AUDIT`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_segmented.config import SEGMENTS_LEAST, Config, Mode, segment_bytes, segments_of
from entrycache_spark.common.system import AuditedSystem, ConfigObject, DemoTrace
from entrycache_trace.formats.pulsar_segmented import FORMAT, write_case_trace

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "cache", "ledger_id", "entry_id", "key_hash", "life", "size_bytes"),
    *("pass_id", "call_id", "bound", "trigger_bytes", "bytes_after", "manager_bytes", "tail_no", "ticket", "value"),
)


# ---------- settings

KINDS: Final[Mapping[str, type]] = {"max_size_bytes": int, "segments": int, "mode": str}
"""The settings that rules need, with the types of their values."""

SETTING_COLUMNS: Final = {"segments_now": "bigint", "room_now": "bigint", "named": "boolean", "copies": "boolean"}
"""The columns that each event gets: the number of segments, the bytes of a segment, `named` and `copies`.

`named` is true if the CONFIG names the number of segments; `copies` is true in copy mode.
"""

COPIES: Final = {Mode.COPY.value: True, Mode.REFERENCE.value: False}


class EffectiveValues(NamedTuple):
    """The values of these columns; None for a value that the CONFIG does not determine."""

    segments: int | None = None
    room_bytes: int | None = None
    named: bool | None = None
    copies: bool | None = None


def effective_values(config: ConfigObject) -> EffectiveValues:
    """Return the values of a CONFIG, deriving the number of segments if it names none (S-CONFIG-1)."""
    limit, segments, copies = config["max_size_bytes"], config["segments"], COPIES.get(config["mode"])
    number = segments if segments is not None or limit is None else segments_of(Config(limit))
    if number is None or number < SEGMENTS_LEAST:
        return EffectiveValues(None, None, segments is not None, copies)
    room = None if limit is None or limit < 0 else segment_bytes(Config(limit), number)
    return EffectiveValues(number, room, segments is not None, copies)


def setting_values(configs: Sequence[ConfigObject | None]) -> list[tuple[Any, ...]]:
    """Return the values of the columns, one row for a CONFIG event."""
    return [EffectiveValues() if config is None else effective_values(config) for config in configs]


# ---------- the system's audit

AUDIT: Final = AuditedSystem(
    checker="entrycache_spark.checkers.pulsar_segmented.broker",
    replayer="entrycache_spark.replay.pulsar_segmented",
    columns=COLUMNS,
    kinds=KINDS,
    setting_columns=SETTING_COLUMNS,
    setting_values=setting_values,
    constants=lambda metadata: {},
    chain=None,
    numbers_slots=False,
    begins_empty=True,
    window_rows=65_536,
    format=FORMAT,
    write=write_case_trace,
    # The workload says how many segments there are, and holds copies.
    demo_trace=DemoTrace("ring-copies", frozenset({"S-CONFIG-1", "S-SEGMENT-3"}), ("local", "replay")),
    mutation_presets=(("ring-copies", 250), ("ring-references", 250)),
)
