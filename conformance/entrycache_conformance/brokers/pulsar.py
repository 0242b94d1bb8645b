"""A standalone Pulsar broker in a folder of its own, and the clients that drive it.

A `BrokerPlan` says how the broker's cache is set and what the clients do. `run_standalone` starts the broker, which
ends with the block however the runner ends. `run_clients` runs our client program to its end. Everything listens on
this machine's loopback.
"""

import contextlib
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.brokers.jars import BrokerJars
from entrycache_conformance.subjects import processes
from entrycache_protocol.errors import UsageError, escape_unprintable, shorten


@dataclass(frozen=True)
class BrokerPlan:
    """The settings of the broker's cache, and the work of the clients.

    Half of the messages are read as they come, by subscriptions that are there all the time, one of them Key_Shared.
    The other half of the deliveries goes to subscriptions that connect late and catch up.
    """

    what: str
    cache_mib: int = 8
    reads_mib: int = 0
    """The most MiB of reads in flight; 0: no limit."""
    ttl_millis: int = 1_000
    interval_millis: int = 100
    entries_a_ledger: int = 50_000
    topics: int = 3
    messages: int = 50_000
    message_bytes: int = 1_024
    per_second: int = 4_000
    """The rate of messages; 0 means as fast as the clients can."""
    batches: bool = False
    """True if messages are sent in batches; a batch is one entry of the cache."""
    refused_percent: int = 0
    """The share of messages that are acknowledged negatively once and come again."""
    unloads: bool = False
    deletes: bool = False
    patience_seconds: int = 90

    @property
    def seconds_most(self) -> int:
        """The time limit of the clients."""
        return self.patience_seconds + (self.messages // self.per_second if self.per_second else 60) + 60


BROKER_PLANS: Final = {
    "mixed": BrokerPlan(
        "a bit of all: tailing, Key_Shared, catching up, nacks, a topic unloaded, ledgers deleted, a cache of 2 MiB, "
        "reads of 1 MiB at once",
        cache_mib=2,
        reads_mib=1,
        entries_a_ledger=2_500,
        messages=24_000,
        per_second=3_000,
        refused_percent=3,
        unloads=True,
        deletes=True,
    ),
    "steady": BrokerPlan("tailing and catching up at 4,000 messages a second, a cache of 8 MiB"),
    "tiny": BrokerPlan(
        "batches and nacks, a cache of 1 MiB that is checked every 10 ms",
        cache_mib=1,
        interval_millis=10,
        topics=4,
        messages=60_000,
        per_second=6_000,
        batches=True,
        refused_percent=5,
    ),
    "deletion": BrokerPlan(
        "a cache of 64 MiB that nothing leaves by a pass; topics unloaded, trimmed, deleted",
        cache_mib=64,
        ttl_millis=8_000,
        entries_a_ledger=5_000,
        messages=40_000,
        per_second=5_000,
        unloads=True,
        deletes=True,
    ),
    "full-rate": BrokerPlan("as fast as clients can, a cache of 8 MiB", messages=100_000, per_second=0),
}
"""The plans by name; the first one is the default."""


FIXED_SETTINGS: Final = """clusterName=standalone
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

LOGGING_CONFIG: Final = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <File name="file" fileName="broker.log"><PatternLayout pattern="%d %p %c{1} %m%n%throwable"/></File>
  </Appenders>
  <Loggers><Root level="warn"><AppenderRef ref="file"/></Root></Loggers>
</Configuration>
"""

OPENED_PACKAGES: Final = ("java.lang", "java.nio", "jdk.internal.misc", "sun.net", "java.util.concurrent")
"""The packages of the JDK that a broker reaches into."""


def broker_conf(plan: BrokerPlan, service_port: int, web_port: int) -> str:
    """Return the text of a broker.conf, which also holds the bookie's settings."""
    own = {
        "brokerServicePort": service_port,
        "webServicePort": web_port,
        "managedLedgerCacheSizeMB": plan.cache_mib,
        "managedLedgerMaxReadsInFlightSizeInMB": plan.reads_mib,
        "managedLedgerCacheEvictionTimeThresholdMillis": plan.ttl_millis,
        "managedLedgerCacheEvictionIntervalMs": plan.interval_millis,
        "managedLedgerMaxEntriesPerLedger": plan.entries_a_ledger,
    }
    return FIXED_SETTINGS + "".join(f"{name}={value}\n" for name, value in own.items())


def jvm_options() -> list[str]:
    """Return the JVM options of a small broker."""
    opened = [part for name in OPENED_PACKAGES for part in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    memory = ["-Xms256m", "-Xmx768m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC"]
    return [*memory, "-Dlog4j2.configurationFile=log4j2.xml", "-Dio.netty.leakDetectionLevel=disabled", *opened]


READY_SECONDS: Final = 120.0
"""The time limit of a start; a quiet machine takes five seconds."""

STOP_SECONDS: Final = 90.0

POLL_SECONDS: Final = 0.2
"""The pause between two checks of a starting broker."""


class Addresses(NamedTuple):
    """The ports of a broker on the loopback."""

    service_port: int
    web_port: int

    @property
    def service(self) -> str:
        """The address for clients."""
        return f"pulsar://127.0.0.1:{self.service_port}"

    @property
    def web(self) -> str:
        """The address of the admin interface."""
        return f"http://127.0.0.1:{self.web_port}"


class Standalone(NamedTuple):
    """A running broker."""

    process: subprocess.Popen[str]
    addresses: Addresses
    folder: Path

    def stop(self) -> None:
        """Ask it to end, and wait until it has.

        Raises:
            UsageError: it does not.
        """
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise UsageError(f"the broker did not end within {STOP_SECONDS:g} s") from None

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used, user and system."""
        import psutil  # noqa: PLC0415 -- only a measurement asks

        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@contextlib.contextmanager
def run_standalone(
    java: str, jars: BrokerJars, plan: BrokerPlan, folder: Path, agent: str | None, say: Callable[[str], None]
) -> Iterator[Standalone]:
    """Run a broker for the duration of the block. `agent` is the value of `-javaagent:`, if any.

    Raises:
        UsageError: it does not start.
    """
    addresses = Addresses(*free_ports())
    (folder / "broker.conf").write_text(broker_conf(plan, *addresses), "utf-8")
    (folder / "log4j2.xml").write_text(LOGGING_CONFIG, "utf-8")
    with (
        (folder / "broker.out").open("w", encoding="utf-8") as output,
        processes.start_program(_broker_command(java, jars, agent), folder, out=output, err=output) as process,
    ):
        _await_ready(process, addresses, folder, say)
        yield Standalone(process, addresses, folder)


def _broker_command(java: str, jars: BrokerJars, agent: str | None) -> list[str]:
    first = [java] if agent is None else [java, f"-javaagent:{agent}"]
    main = ("org.apache.pulsar.PulsarStandaloneStarter", "--config", "broker.conf", "-nfw", "-nss", "-a", "127.0.0.1")
    places = ("--metadata-dir", "meta", "--bookkeeper-dir", "bookie")
    return [*first, *jvm_options(), "-cp", jars.classpath, *main, *places]


def free_ports() -> tuple[int, int]:
    """Return two ports that nobody uses at the moment."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _await_ready(
    process: subprocess.Popen[str], addresses: Addresses, folder: Path, say: Callable[[str], None]
) -> None:
    started_at = time.monotonic()
    while time.monotonic() - started_at < READY_SECONDS:
        if process.poll() is not None:
            raise UsageError(f"the broker did not start (exit {process.returncode}): {last_words(folder)}")
        if _is_ready(addresses):
            return
        say("starting the broker")
        time.sleep(POLL_SECONDS)
    raise UsageError(f"the broker was not ready within {READY_SECONDS:g} s: {last_words(folder)}")


def _is_ready(addresses: Addresses) -> bool:
    try:
        with urllib.request.urlopen(f"{addresses.web}/admin/v2/brokers/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def last_words(folder: Path) -> str:
    """Return the last error that a broker reported, in one line."""
    for name, mark in (("broker.log", "Caused by: "), ("broker.log", " ERROR "), ("broker.out", "rror")):
        with contextlib.suppress(OSError):
            lines = [line for line in (folder / name).read_text("utf-8", "replace").splitlines() if mark in line]
            if lines:
                return shorten(escape_unprintable(lines[-1].strip()), 300)
    return "it said nothing"


CLIENTS_MAIN: Final = "entrycache.broker.Drive"


def client_arguments(plan: BrokerPlan, addresses: Addresses) -> list[str]:
    """Return the arguments of the client program."""
    arguments = {
        "service": addresses.service,
        "web": addresses.web,
        "topics": plan.topics,
        "messages": plan.messages,
        "bytes": plan.message_bytes,
        "rate": plan.per_second,
        "batches": int(plan.batches),
        "refused": plan.refused_percent,
        "unload": int(plan.unloads),
        "delete": int(plan.deletes),
        "patience": plan.patience_seconds,
    }
    return [f"{name}={value}" for name, value in arguments.items()]


def run_clients(
    java: str, jars: BrokerJars, plan: BrokerPlan, addresses: Addresses, folder: Path, say: Callable[[str], None]
) -> None:
    """Run the clients to their end, and report their progress to `say`.

    Raises:
        UsageError: they failed, did not get every message, or took too long.
    """
    options = ["-Xmx400m", "-XX:+UseSerialGC", "-Dlog4j2.configurationFile=log4j2.xml"]
    argv = [java, *options, "-cp", jars.classpath, CLIENTS_MAIN, *client_arguments(plan, addresses)]
    follow_program("the clients", argv, folder, plan.seconds_most, say)


def follow_program(
    what: str, argv: Sequence[str], folder: Path, seconds_most: float, say: Callable[[str], None]
) -> None:
    """Run a program that says line by line how far it is.

    Raises:
        UsageError: it failed or took too long.
    """
    with (
        (folder / "program.err").open("w", encoding="utf-8") as errors,
        processes.start_program(argv, folder, err=errors) as process,
    ):
        late = threading.Timer(seconds_most, process.kill)
        late.daemon = True
        late.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                say(line.strip())
            process.wait()
        finally:
            late.cancel()
    if process.returncode:
        errors_reported = [
            line for line in (folder / "program.err").read_text("utf-8", "replace").splitlines() if "xcept" in line
        ]
        why = shorten(escape_unprintable(errors_reported[-1]), 300) if errors_reported else "not every message came"
        raise UsageError(f"{what} failed (exit {process.returncode}): {why}")
