"""A Kafka Streams application with its KRaft broker in one process, recorded.

`run_application` formats the broker's folder and runs broker and application to their end, with the recorder as a Java
agent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from entrycache_conformance.brokers.jars import BrokerJars
from entrycache_conformance.brokers.pulsar import follow_program, free_ports
from entrycache_conformance.subjects import processes
from entrycache_protocol.errors import UsageError, escape_unprintable, shorten

APPLICATION_MAIN: Final = "entrycache.broker.Application"

FORMAT_SECONDS: Final = 60.0

CLUSTER_ID: Final = "4L6g3nShT-eMCtK--X86sw"
"""The identity of the cluster. Its value does not matter, because nobody else is in the cluster."""


@dataclass(frozen=True)
class Application:
    """The amount of data that is sent, and the size of the record cache."""

    messages: int = 20_000
    cache_bytes: int = 60_000
    threads: int = 2
    seconds_most: float = 180.0


def server_properties(folder: Path, port: int, controller_port: int) -> str:
    """Return the text of a server.properties, with broker and controller on this machine's loopback."""
    properties = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
        "log.dirs": folder / "logs",
        "num.partitions": 3,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in properties.items())


def format_storage(java: str, jars: BrokerJars, folder: Path) -> int:
    """Write a server.properties into the broker's folder, format the folder, and return the port for clients.

    Raises:
        UsageError: it failed.
    """
    port, controller_port = free_ports()
    (folder / "server.properties").write_text(server_properties(folder, port, controller_port), "utf-8")
    tool = ["kafka.tools.StorageTool", "format", "--standalone", "-t", CLUSTER_ID, "-c", "server.properties"]
    done = processes.run_program(
        [java, "-XX:+UseSerialGC", "-cp", jars.classpath, *tool], folder, timeout_seconds=FORMAT_SECONDS
    )
    if done.returncode:
        raise UsageError(
            f"the broker's folder could not be formatted: {shorten(escape_unprintable(done.stderr.strip()), 300)}"
        )
    return port


def run_application(
    java: str, jars: BrokerJars, plan: Application, folder: Path, agent: str, say: Callable[[str], None]
) -> None:
    """Format the broker's folder and run broker and application to their end, with a Java agent.

    Raises:
        UsageError: it failed or took too long.
    """
    say("formatting the broker's folder")
    port = format_storage(java, jars, folder)
    options = ["-XX:+UseSerialGC", "-Xmx512m", f"-javaagent:{agent}"]
    arguments = {
        "folder": folder,
        "port": port,
        "messages": plan.messages,
        "cache": plan.cache_bytes,
        "threads": plan.threads,
    }
    argv = [
        java,
        *options,
        "-cp",
        jars.classpath,
        APPLICATION_MAIN,
        *(f"{name}={value}" for name, value in arguments.items()),
    ]
    follow_program("the application", argv, folder, plan.seconds_most, say)
