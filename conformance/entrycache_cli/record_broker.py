"""`trace record --broker`: what the recordings of all systems share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.brokers.parts import BrokerJars, broker_jars
from entrycache_conformance.java.jdk import find_java
from entrycache_protocol.leftovers import scratch
from entrycache_protocol.output import check_empty
from entrycache_trace.recorded import recorded_to_parquet

JAVA_OLDEST: Final = 17


class Run(NamedTuple):
    """What a recording is run with; `say` is told how far it is."""

    java: str
    jars: BrokerJars
    folder: Path
    """A scratch folder."""
    agent: str
    """What `-javaagent:` names, to which options may be added."""
    say: Callable[[str], None]


def recorded(family: str, release: str, out: Path, say: Callable[[str], None], run: Callable[[Run], None]) -> int:
    """Let `run` start what is recorded, wait for it, and write its trace; the number of events.

    Raises:
        UsageError: it fails, or `out` is not empty.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    check_empty(out, "the trace")
    java = find_java(JAVA_OLDEST).program
    say(f"looking for the jars of {release}")
    jars = broker_jars(family, release)
    with scratch() as folder:
        lines = folder / "recorded"
        run(Run(java, jars, folder, f"{jars.recorder}={lines}", say))
        say("writing Parquet")
        return recorded_to_parquet(lines, out)
