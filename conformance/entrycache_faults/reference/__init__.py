"""Planted faults of the references: each one a decorated function, with its rule, its place and its sentence."""

from __future__ import annotations

from typing import Final

from entrycache_faults.reference import kafka_streams, pulsar_pip430
from entrycache_faults.reference.pulsar_pip430 import flips

__all__ = ["FAULT_OF", "OTHERS", "OWN", "flips"]

OWN: Final = (*pulsar_pip430.PLANTED.own, *kafka_streams.PLANTED.own, *kafka_streams.THREADS.own)
"""One planted fault a rule."""

OTHERS: Final = (*pulsar_pip430.PLANTED.others, *kafka_streams.PLANTED.others)
"""Other ways to break some."""

FAULT_OF: Final = {fault.rule: fault for fault in OWN}
"""The planted fault of each rule that has one."""
