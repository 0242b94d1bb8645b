"""What an audit asks of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_spark.parts import AuditParts, Traced
from entrycache_spark.pulsar_pip430.columns import COLUMNS
from entrycache_spark.pulsar_pip430.settings import KINDS, SETTING_COLUMNS, setting_values, split_budget
from entrycache_trace.pulsar_pip430.format import FORMAT
from entrycache_trace.pulsar_pip430.recorder import write_calls

NOT_SHOWN: Final = frozenset("R-CURSOR-6 R-CURSOR-7 R-CURSOR-11 R-READ-10 R-TRIGGER-2 R-TRIGGER-3".split())
"""What the traced case cannot show: its cursors stand in a heap, and its passes are scheduled."""


AUDIT: Final = AuditParts(
    checker="entrycache_spark.pulsar_pip430.fold.broker",
    replayer="entrycache_spark.pulsar_pip430.replay.brokers",
    columns=COLUMNS,
    kinds=KINDS,
    setting_columns=SETTING_COLUMNS,
    setting_values=setting_values,
    constants=lambda metadata: {"split_budget": split_budget(metadata)},
    chain="R-STATE-1",
    numbers_slots=True,
    begins_empty=False,
    window_rows=None,
    format=FORMAT,
    write=write_calls,
    traced=Traced(None, NOT_SHOWN, ("spark", "local", "replay")),
    altered=(("tail-fanout", 500), ("catch-up-fanout", 300)),
)
