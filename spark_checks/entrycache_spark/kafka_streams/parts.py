"""What an audit asks of `kafka-streams`."""

from __future__ import annotations

from typing import Final

from entrycache_spark.kafka_streams.columns import COLUMNS, KINDS
from entrycache_spark.parts import AuditParts, Traced
from entrycache_trace.kafka_streams.format import FORMAT
from entrycache_trace.kafka_streams.recorder import write_calls

WINDOW_ROWS: Final = 65_536
"""Many windows stand on one another here, so they share the memory.

Fewer rows would not do either: what went to disk is read back through a buffer of 1 MiB for each such piece.
"""


AUDIT: Final = AuditParts(
    checker="entrycache_spark.kafka_streams.fold.broker",
    replayer="entrycache_spark.kafka_streams.replay.threads",
    columns=COLUMNS,
    kinds=KINDS,
    setting_columns={},
    setting_values=lambda configs: [() for _ in configs],
    constants=lambda metadata: {},
    chain=None,
    numbers_slots=False,
    begins_empty=True,
    window_rows=WINDOW_ROWS,
    format=FORMAT,
    write=write_calls,
    # The short trace of the workload does not come to these rules.
    traced=Traced("windowed-aggregation", frozenset({"K-CLOSE-1", "K-CLOSE-2", "K-RESIZE-2"}), ("local", "replay")),
    altered=(("windowed-aggregation", 250),),
)
