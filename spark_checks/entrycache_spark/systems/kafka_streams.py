"""The audit of `kafka-streams`: its trace columns, its settings and its `AUDIT`."""

from collections.abc import Mapping
from typing import Final

from entrycache_spark.common.system import AuditedSystem, DemoTrace
from entrycache_trace.formats.kafka_streams import FORMAT, write_case_trace

COLUMNS: Final = (
    *("broker", "seq", "ts_ns", "op", "cause", "cache", "key_hash", "life", "size_bytes", "dirty", "call_id"),
    *("bytes_after", "manager_bytes", "value", "pass_id", "window_start", "window_end", "store_kind", "value_hash"),
    "old_hash",
)

KINDS: Final[Mapping[str, type]] = {"max_size_bytes": int}
"""The settings that rules need, with the types of their values: only the limit."""


RULES_OF_STORES: Final = frozenset(
    {
        *("K-STORE-2", "K-STORE-4", "K-OLD-2", "K-CLOSE-3", "K-VIEW-1"),
        *("K-WINDOW-1", "K-WINDOW-2", "K-WINDOW-6"),
    }
)
"""The rules about the rows of caching stores."""

# ---------- the system's audit

WINDOW_ROWS: Final = 65_536
"""The rows that one window keeps in memory; many windows depend on each other here and share the memory.

Fewer rows would not help: Spark reads each spilled piece back through a buffer of 1 MiB.
"""


AUDIT: Final = AuditedSystem(
    checker="entrycache_spark.checkers.kafka_streams.broker",
    replayer="entrycache_spark.replay.kafka_streams.threads",
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
    write=write_case_trace,
    # The short trace of the workload does not come to these rules; its stores report no rows of their own.
    demo_trace=DemoTrace(
        "windowed-aggregation",
        frozenset({"K-CLOSE-1", "K-CLOSE-2", "K-RESIZE-2"}) | RULES_OF_STORES,
        ("local", "replay"),
    ),
    mutation_presets=(("windowed-aggregation", 250),),
)
