"""The clients of a recorded broker, in a JVM of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from entrycache_conformance.brokers.parts import BrokerJars
from entrycache_conformance.brokers.plans import Plan
from entrycache_conformance.brokers.standalone import Addresses
from entrycache_conformance.subjects import watch
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import cut, printable

MAIN: Final = "entrycache.broker.Drive"


def arguments(plan: Plan, addresses: Addresses) -> list[str]:
    """What the program is told."""
    told = {
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
    return [f"{name}={value}" for name, value in told.items()]


def drive(
    java: str, jars: BrokerJars, plan: Plan, addresses: Addresses, folder: Path, say: Callable[[str], None]
) -> None:
    """Run the clients to their end; `say` is told how far they are.

    Raises:
        UsageError: they failed, did not get every message, or took too long.
    """
    options = ["-Xmx400m", "-XX:+UseSerialGC", "-Dlog4j2.configurationFile=log4j2.xml"]
    argv = [java, *options, "-cp", jars.classpath, MAIN, *arguments(plan, addresses)]
    with (
        (folder / "clients.err").open("w", encoding="utf-8") as errors,
        watch.begun(argv, folder, err=errors) as process,
    ):
        late = threading.Timer(plan.seconds_most, process.kill)
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
        told = [line for line in (folder / "clients.err").read_text("utf-8").splitlines() if "xception" in line]
        why = cut(printable(told[-1]), 300) if told else "not every message came"
        raise UsageError(f"the clients failed (exit {process.returncode}): {why}")
