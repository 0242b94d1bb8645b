"""The released jars of Pulsar's managed ledger."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.pulsar_pip430.java_text import JAVA
from entrycache_protocol.family import Absent, Family

COORDINATES: Final = "org.apache.pulsar:managed-ledger"
GONE: Final = ("4.1.0", "4.1.1", "4.2.0", "4.2.1", "4.2.2", "4.2.3")
LEGACY: Final = ("3.3.6", "4.0.8")
NEVER_MERGED: Final = "no jar exists: its system, pulsar-segmented, was proposed and never merged (pull request 15955)"


def _absent(version: str, resolves: bool, reason: str) -> Absent:
    return Absent(f"pulsar:{version}", f"{COORDINATES}:{version}", resolves, reason)


PULSAR: Final = Family(
    name="pulsar",
    title="Pulsar",
    system="pulsar-pip430",
    coordinates=COORDINATES,
    main="org.apache.bookkeeper.mledger.impl.cache.Pip430Driver",
    modules=("agent", "protocol"),
    options=("-Dio.netty.leakDetection.level=disabled",),
    absent=(
        *(_absent(version, False, "does not resolve: Maven finds no such jar") for version in GONE),
        *(_absent(version, True, "resolves; its system, pulsar-legacy, is not built") for version in LEGACY),
        Absent("pulsar:PIP-174", "", False, NEVER_MERGED),
    ),
    text=JAVA,
)
