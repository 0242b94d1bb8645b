"""What the commands ask of `pulsar-pip430`."""

from __future__ import annotations

from typing import Final

from entrycache_cli.parts import CliParts, Program, Traced
from entrycache_cli.pulsar_pip430.commands import settings, simulate
from entrycache_cli.pulsar_pip430.java_test import JAVA
from entrycache_conformance.systems.pulsar_pip430.containers import containers

NOT_SHOWN: Final = frozenset("R-CURSOR-6 R-CURSOR-7 R-CURSOR-11 R-READ-10 R-TRIGGER-2 R-TRIGGER-3".split())
"""What the traced case cannot show: its cursors stand in a heap, and its passes are scheduled."""

PULSAR_PIP430: Final = CliParts(
    commands=(settings.command,),
    java=JAVA,
    traced=Traced(None, NOT_SHOWN, ("spark", "local", "replay")),
    # A program plays on the containers of cursors alone.
    campaigns={"containers": Program(containers)},
    trace_commands=(simulate.command,),
    settings_file=settings.BROKER_CONF,
)
