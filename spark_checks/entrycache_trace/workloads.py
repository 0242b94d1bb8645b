"""The workloads that traces are made up of, by the name of their preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from entrycache_trace.kafka_streams.aggregation import WORKLOADS as KAFKA_STREAMS
from entrycache_trace.making import Workload
from entrycache_trace.pulsar_legacy.workload import WORKLOADS as PULSAR_LEGACY
from entrycache_trace.pulsar_pip430.catch_up import WORKLOADS as PULSAR_PIP430
from entrycache_trace.pulsar_segmented.workload import WORKLOADS as PULSAR_SEGMENTED

WORKLOADS: Final[Mapping[str, Workload]] = {
    **PULSAR_PIP430,
    **KAFKA_STREAMS,
    **PULSAR_LEGACY,
    **PULSAR_SEGMENTED,
}
