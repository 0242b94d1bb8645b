"""What an audit asks of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_spark.parts import AuditParts
from entrycache_spark.pulsar_pip430.columns import COLUMNS
from entrycache_spark.pulsar_pip430.replay.brokers import replay
from entrycache_spark.pulsar_pip430.settings import DEFAULTS, SETTING_COLUMNS, setting_values, split_budget
from entrycache_trace.pulsar_pip430.recorder import write_calls

PULSAR_PIP430: Final = AuditParts(
    package="entrycache_spark.pulsar_pip430",
    columns=COLUMNS,
    defaults=DEFAULTS,
    setting_columns=SETTING_COLUMNS,
    setting_values=setting_values,
    constants=lambda metadata: {"split_budget": split_budget(metadata)},
    chain="R-STATE-1",
    numbers_slots=True,
    begins_empty=False,
    window_rows=None,
    replay=replay,
    write=write_calls,
)
