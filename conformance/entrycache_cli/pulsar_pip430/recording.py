"""`trace record --broker` of a Pulsar broker that real clients drive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from entrycache_cli.parts import RecordedBroker
from entrycache_conformance.brokers.plans import PLANS, Plan
from entrycache_protocol.errors import UsageError


def record_broker(release: str, plan: Plan, out: Path, say: Callable[[str], None]) -> int:
    """Start a broker of a release, let clients do what the plan says, and write its trace; the number of events.

    Raises:
        UsageError: the broker or the clients fail, or `out` is not empty.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    from entrycache_cli.record_broker import Run, recorded  # noqa: PLC0415 -- needs the extra `trace`
    from entrycache_conformance.brokers.driving import drive  # noqa: PLC0415
    from entrycache_conformance.brokers.standalone import standalone  # noqa: PLC0415

    def run(given: Run) -> None:
        agent = f"{given.agent},broker=standalone"
        with standalone(given.java, given.jars, plan, given.folder, agent, given.say) as broker:
            drive(given.java, given.jars, plan, broker.addresses, given.folder, given.say)
            given.say("stopping the broker")
            broker.stop()

    return recorded("pulsar", release, out, say, run)


def _record(release: str, preset: str | None, messages: int | None, out: Path, say: Callable[[str], None]) -> int:
    name = preset or next(iter(PLANS))
    if name not in PLANS:
        raise UsageError(f"there is no preset {name!r} for a broker; there are {', '.join(PLANS)}")
    plan = PLANS[name] if messages is None else replace(PLANS[name], messages=messages)
    return record_broker(release, plan, out, say)


RECORDED = RecordedBroker("4.2.4", _record)
