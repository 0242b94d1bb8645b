"""What commands know of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_cli.commands import settings, simulate
from entrycache_cli.commands.pulsar_recording import BROKER
from entrycache_cli.parts import CliParts
from entrycache_cli.pulsar_pip430.faults import FAULTS

PULSAR_PIP430: Final = CliParts(
    faults=FAULTS,
    trace_commands=(simulate.explain_command, simulate.simulate_command),
    settings_file=settings.BROKER_CONF,
    broker=BROKER,
)
