"""Record a Pulsar broker that real clients use: `trace record --broker`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from entrycache_cli.commands.record import RecordedBroker, RecordingRun, record_run
from entrycache_conformance.brokers.pulsar import BROKER_PLANS, BrokerPlan, run_clients, run_standalone
from entrycache_protocol.errors import UsageError


def record_broker(release: str, plan: BrokerPlan, out: Path, say: Callable[[str], None]) -> int:
    """Start a broker of a release, run the clients of a plan, and write its trace; return the number of events.

    Raises:
        UsageError: the broker or the clients fail, or `out` is not empty.
        MissingPrerequisite: Java, Maven or a jar is missing.
    """

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


BROKER = RecordedBroker("pulsar-pip430", "4.2.4", _record)
