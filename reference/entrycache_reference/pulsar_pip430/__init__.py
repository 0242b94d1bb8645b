"""System `pulsar-pip430`: the broker entry cache of Apache Pulsar 4.1 and later."""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.config import Config, Settings, Variants
from entrycache_reference.pulsar_pip430.decision import DECISION, decide
from entrycache_reference.pulsar_pip430.state import Row, State, Step, initial
from entrycache_reference.pulsar_pip430.step import step

NAME = "pulsar-pip430"

__all__ = [
    "DECISION",
    "NAME",
    "Config",
    "Row",
    "Settings",
    "State",
    "Step",
    "Variants",
    "decide",
    "initial",
    "step",
]
