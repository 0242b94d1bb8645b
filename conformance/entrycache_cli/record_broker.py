"""`trace record --broker`: a real broker, recorded while real clients drive it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from entrycache_conformance.brokers.driving import drive
from entrycache_conformance.brokers.parts import broker_jars
from entrycache_conformance.brokers.plans import Plan
from entrycache_conformance.brokers.standalone import standalone
from entrycache_conformance.java.jdk import find_java
from entrycache_protocol.leftovers import scratch
from entrycache_protocol.output import check_empty
from entrycache_trace.recorded import recorded_to_parquet

JAVA_OLDEST: Final = 17

BROKER: Final = "standalone"
"""What the trace calls it."""


def record_broker(release: str, plan: Plan, out: Path, say: Callable[[str], None]) -> int:
    """Start a broker of a release, let clients do what the plan says, and write its trace; the number of events.

    Raises:
        UsageError: the broker or the clients fail, or `out` is not empty.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    check_empty(out, "the trace")
    java = find_java(JAVA_OLDEST).program
    say(f"looking for the jars of a broker {release}")
    jars = broker_jars(release)
    with scratch() as folder:
        recorded = folder / "recorded"
        agent = f"{jars.recorder}={recorded},broker={BROKER}"
        with standalone(java, jars, plan, folder, agent, say) as broker:
            drive(java, jars, plan, broker.addresses, folder, say)
            say("stopping the broker")
            broker.stop()
        say("writing Parquet")
        return recorded_to_parquet(recorded, out)
