"""A standalone broker in a folder of its own, which ends with whoever started it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.brokers.parts import BrokerJars
from entrycache_conformance.brokers.plans import Plan
from entrycache_conformance.brokers.settings import LOGGING, broker_conf, jvm_options
from entrycache_conformance.subjects import watch
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import cut, printable

READY_SECONDS: Final = 120.0
"""A quiet machine takes five."""

STOP_SECONDS: Final = 90.0

CALM: Final = 0.2
"""Between two looks at a broker that is starting."""


class Addresses(NamedTuple):
    """Where a broker listens, on the loopback."""

    service_port: int
    web_port: int

    @property
    def service(self) -> str:
        """What clients are given."""
        return f"pulsar://127.0.0.1:{self.service_port}"

    @property
    def web(self) -> str:
        """Its admin interface."""
        return f"http://127.0.0.1:{self.web_port}"


class Standalone(NamedTuple):
    """A broker that runs."""

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
        """The CPU that it has used, user and system."""
        import psutil  # noqa: PLC0415 -- only a measurement asks

        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@contextlib.contextmanager
def standalone(
    java: str, jars: BrokerJars, plan: Plan, folder: Path, agent: str | None, say: Callable[[str], None]
) -> Iterator[Standalone]:
    """A broker that is ready; it has ended after the block. `agent`: what `-javaagent:` names, if anything.

    Raises:
        UsageError: it does not start.
    """
    ports = _free_ports()
    addresses = Addresses(*ports)
    (folder / "broker.conf").write_text(broker_conf(plan, *addresses), "utf-8")
    (folder / "log4j2.xml").write_text(LOGGING, "utf-8")
    with (
        (folder / "broker.out").open("w", encoding="utf-8") as told,
        watch.begun(_argv(java, jars, agent), folder, out=told, err=told) as process,
    ):
        _await_ready(process, addresses, folder, say)
        yield Standalone(process, addresses, folder)


def _argv(java: str, jars: BrokerJars, agent: str | None) -> list[str]:
    first = [java] if agent is None else [java, f"-javaagent:{agent}"]
    main = ("org.apache.pulsar.PulsarStandaloneStarter", "--config", "broker.conf", "-nfw", "-nss", "-a", "127.0.0.1")
    places = ("--metadata-dir", "meta", "--bookkeeper-dir", "bookie")
    return [*first, *jvm_options(), "-cp", jars.classpath, *main, *places]


def _free_ports() -> tuple[int, int]:
    """Two ports that nobody has at the moment."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def _await_ready(
    process: subprocess.Popen[str], addresses: Addresses, folder: Path, say: Callable[[str], None]
) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < READY_SECONDS:
        if process.poll() is not None:
            raise UsageError(f"the broker did not start (exit {process.returncode}): {last_words(folder)}")
        if _ready(addresses):
            return
        say("starting the broker")
        time.sleep(CALM)
    raise UsageError(f"the broker was not ready within {READY_SECONDS:g} s: {last_words(folder)}")


def _ready(addresses: Addresses) -> bool:
    try:
        with urllib.request.urlopen(f"{addresses.web}/admin/v2/brokers/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def last_words(folder: Path) -> str:
    """What a broker said last of what went wrong, in one line."""
    for name, mark in (("broker.log", "Caused by: "), ("broker.log", " ERROR "), ("broker.out", "rror")):
        with contextlib.suppress(OSError):
            told = [line for line in (folder / name).read_text("utf-8", "replace").splitlines() if mark in line]
            if told:
                return cut(printable(told[-1].strip()), 300)
    return "it said nothing"
