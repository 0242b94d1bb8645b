"""The released jars of Pulsar's managed ledger since PIP-430."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.pulsar_pip430.java_text import JAVA
from entrycache_protocol.family import Absent, Family

COORDINATES: Final = "org.apache.pulsar:managed-ledger"
GONE: Final = ("4.1.0", "4.1.1", "4.2.0", "4.2.1", "4.2.2", "4.2.3")
NEVER_MERGED: Final = "no jar exists: its system, pulsar-segmented, was proposed and never merged (pull request 15955)"


def _absent(version: str) -> Absent:
    why = "does not resolve: Maven finds no such jar"
    return Absent(f"pulsar:{version}", f"{COORDINATES}:{version}", False, why)


PULSAR: Final = Family(
    name="pulsar",
    title="Pulsar",
    system="pulsar-pip430",
    coordinates=COORDINATES,
    main="org.apache.bookkeeper.mledger.impl.cache.Pip430Driver",
    modules=("agent", "protocol"),
    options=("-Dio.netty.leakDetection.level=disabled",),
    absent=(*(_absent(version) for version in GONE), Absent("pulsar:PIP-174", "", False, NEVER_MERGED)),
    text=JAVA,
)
