"""The files that a standalone broker is started with: all of it on this machine's loopback, and small."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.brokers.plans import Plan

FIXED: Final = """clusterName=standalone
bindAddress=127.0.0.1
advertisedAddress=127.0.0.1
managedLedgerCacheEvictionWatermark=0.9
managedLedgerDefaultEnsembleSize=1
managedLedgerDefaultWriteQuorum=1
managedLedgerDefaultAckQuorum=1
managedLedgerMinLedgerRolloverTimeMinutes=0
defaultRetentionTimeInMinutes=0
loadBalancerEnabled=false
systemTopicEnabled=false
topicLevelPoliciesEnabled=false
transactionCoordinatorEnabled=false
brokerDeleteInactiveTopicsEnabled=false
allowLoopback=true
listeningInterface=lo
dbStorage_writeCacheMaxSizeMb=32
dbStorage_readAheadCacheMaxSizeMb=16
dbStorage_rocksDB_blockCacheSize=8388608
journalSyncData=false
diskUsageThreshold=0.99
diskUsageWarnThreshold=0.99
"""

LOGGING: Final = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <File name="file" fileName="broker.log"><PatternLayout pattern="%d %p %c{1} %m%n%throwable"/></File>
  </Appenders>
  <Loggers><Root level="warn"><AppenderRef ref="file"/></Root></Loggers>
</Configuration>
"""

OPENED: Final = ("java.lang", "java.nio", "jdk.internal.misc", "sun.net", "java.util.concurrent")
"""Packages of the JDK that a broker reaches into."""


def broker_conf(plan: Plan, service_port: int, web_port: int) -> str:
    """The text of a broker.conf, in which the bookie's settings stand too."""
    own = {
        "brokerServicePort": service_port,
        "webServicePort": web_port,
        "managedLedgerCacheSizeMB": plan.cache_mib,
        "managedLedgerCacheEvictionTimeThresholdMillis": plan.ttl_millis,
        "managedLedgerCacheEvictionIntervalMs": plan.interval_millis,
        "managedLedgerMaxEntriesPerLedger": plan.entries_a_ledger,
    }
    return FIXED + "".join(f"{name}={value}\n" for name, value in own.items())


def jvm_options() -> list[str]:
    """What a small broker's JVM is started with."""
    opened = [part for name in OPENED for part in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    memory = ["-Xms256m", "-Xmx768m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC"]
    return [*memory, "-Dlog4j2.configurationFile=log4j2.xml", "-Dio.netty.leakDetectionLevel=disabled", *opened]
