"""What an audit asks of `pulsar-segmented`."""

from __future__ import annotations

from typing import Final

from entrycache_spark.parts import AuditParts, Traced
from entrycache_spark.pulsar_segmented.columns import COLUMNS
from entrycache_spark.pulsar_segmented.settings import KINDS, SETTING_COLUMNS, setting_values
from entrycache_trace.pulsar_segmented.format import FORMAT
from entrycache_trace.pulsar_segmented.recorder import write_calls

AUDIT: Final = AuditParts(
    checker="entrycache_spark.pulsar_segmented.fold.broker",
    replayer="entrycache_spark.pulsar_segmented.replay.rings",
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
    write=write_calls,
    # The workload says how many segments there are, and holds copies.
    traced=Traced("ring-copies", frozenset({"S-CONFIG-1", "S-SEGMENT-3"}), ("local", "replay")),
    altered=(("ring-copies", 250), ("ring-references", 250)),
)
