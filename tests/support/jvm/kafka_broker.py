"""A Kafka broker of a release in a process of its own, for tests that are clients of it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.brokers.jars import BrokerJars
from entrycache_conformance.brokers.kafka_streams import format_storage
from entrycache_conformance.brokers.pulsar import POLL_SECONDS, READY_SECONDS
from entrycache_conformance.subjects import processes

BROKER: Final = "4.3.1"
"""The release of the broker; the clients may be of another one."""


class Kafka(NamedTuple):
    """A running broker."""

    servers: str
    """The address for clients."""
    process: str
    """The id of its process."""


@contextmanager
def run_kafka(java: str, jars: BrokerJars, folder: Path) -> Iterator[Kafka]:
    """Run a broker on the loopback for the duration of the block."""
    folder.mkdir()
    port = format_storage(java, jars, folder)
    argv = [java, "-XX:+UseSerialGC", "-Xmx400m", "-cp", jars.classpath, "kafka.Kafka", "server.properties"]
    with (
        (folder / "broker.out").open("w", encoding="utf-8") as output,
        processes.start_program(argv, folder, out=output, err=output) as process,
    ):
        ends_at = time.monotonic() + READY_SECONDS
        while not _listens(port):
            assert process.poll() is None, (folder / "broker.out").read_text("utf-8")
            assert time.monotonic() < ends_at, f"the broker was not ready within {READY_SECONDS:g} s"
            time.sleep(POLL_SECONDS)
        yield Kafka(f"127.0.0.1:{port}", str(process.pid))


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
