"""The released jars of Pulsar's managed ledger before PIP-430."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.pulsar_legacy.java_text import CLOCK_OPTION, JAVA
from entrycache_protocol.family import Family

PULSAR_LEGACY: Final = Family(
    name="pulsar-legacy",
    title="Pulsar",
    system="pulsar-legacy",
    coordinates="org.apache.pulsar:managed-ledger",
    main="org.apache.bookkeeper.mledger.impl.cache.LegacyDriver",
    modules=("agent", "protocol"),
    options=("-Dio.netty.leakDetection.level=disabled", CLOCK_OPTION),
    alias="pulsar",
    shares=("pulsar/pom.xml", "pulsar/src/shared"),
    text=JAVA,
)
