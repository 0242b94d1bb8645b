"""`trace record --broker` of a Pulsar broker that real clients drive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from entrycache_cli.parts import RecordedBroker
from entrycache_conformance.brokers.pulsar import BROKER_PLANS, BrokerPlan
from entrycache_protocol.errors import UsageError


def record_broker(release: str, plan: BrokerPlan, out: Path, say: Callable[[str], None]) -> int:
    """Start a broker of a release, let clients do what the plan says, and write its trace; the number of events.

    Raises:
        UsageError: the broker or the clients fail, or `out` is not empty.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    from entrycache_cli.commands.record import RecordingRun, record_run  # noqa: PLC0415 -- needs the extra `trace`
    from entrycache_conformance.brokers.pulsar import (
        run_clients,  # noqa: PLC0415
        run_standalone,  # noqa: PLC0415
    )

    def run(given: RecordingRun) -> None:
        agent = f"{given.agent},broker=standalone"
        with run_standalone(given.java, given.jars, plan, given.folder, agent, given.say) as broker:
            run_clients(given.java, given.jars, plan, broker.addresses, given.folder, given.say)
            given.say("stopping the broker")
            broker.stop()

    return record_run("pulsar", release, out, say, run)


def _record(release: str, preset: str | None, messages: int | None, out: Path, say: Callable[[str], None]) -> int:
    name = preset or next(iter(BROKER_PLANS))
    if name not in BROKER_PLANS:
        raise UsageError(f"there is no preset {name!r} for a broker; there are {', '.join(BROKER_PLANS)}")
    plan = BROKER_PLANS[name] if messages is None else replace(BROKER_PLANS[name], messages=messages)
    return record_broker(release, plan, out, say)


BROKER = RecordedBroker("4.2.4", _record)
