"""The released jars of Pulsar's managed ledger before PIP-430."""

from __future__ import annotations

from typing import Final

from entrycache_protocol.family import Family

CLOCKED: Final = ("EntryImpl", "cache.RangeEntryCacheManagerImpl")
"""Released classes that ask for the time: a stamp is made with the cached entry."""

PULSAR_LEGACY: Final = Family(
    name="pulsar-legacy",
    title="Pulsar",
    system="pulsar-legacy",
    coordinates="org.apache.pulsar:managed-ledger",
    main="org.apache.bookkeeper.mledger.impl.cache.LegacyDriver",
    modules=("agent", "protocol"),
    options=(
        "-Dio.netty.leakDetection.level=disabled",
        "-Dentrycache.clock.require=" + ",".join(f"org.apache.bookkeeper.mledger.impl.{name}" for name in CLOCKED),
    ),
    alias="pulsar",
    shares=("pulsar/pom.xml", "pulsar/src/shared"),
)
