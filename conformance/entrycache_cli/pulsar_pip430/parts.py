"""What commands know of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import CliParts
from entrycache_cli.pulsar_pip430.commands import explain, settings, simulate
from entrycache_cli.pulsar_pip430.faults import FAULTS
from entrycache_cli.pulsar_pip430.recording import RECORDED

PULSAR_PIP430: Final = CliParts(
    faults=FAULTS,
    trace_commands=(explain.command, simulate.command),
    settings_file=settings.BROKER_CONF,
    broker=RECORDED,
)
