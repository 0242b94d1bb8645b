"""What an audit asks of `pulsar-legacy`."""

from __future__ import annotations

from typing import Final

from entrycache_spark.parts import AuditParts, Traced
from entrycache_spark.pulsar_legacy.settings import KINDS, SETTING_COLUMNS, by_object, setting_values
from entrycache_spark.pulsar_pip430.columns import COLUMNS
from entrycache_trace.pulsar_legacy.format import FORMAT
from entrycache_trace.pulsar_legacy.recorder import write_calls

NOT_SHOWN: Final = frozenset({"L-TRIGGER-3", "L-TRIGGER-4", "L-TRIGGER-5"})
"""What the traced workload cannot show: its passes are not scheduled."""


AUDIT: Final = AuditParts(
    checker="entrycache_spark.pulsar_legacy.fold.broker",
    replayer="entrycache_spark.pulsar_legacy.replay.brokers",
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
    write=write_calls,
    traced=Traced("unequal-topics", NOT_SHOWN, ("local", "replay")),
    altered=(("unequal-topics", 400),),
)
