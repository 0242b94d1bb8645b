"""Record a Kafka Streams application and its KRaft broker: `trace record --broker --system kafka-streams`."""

from collections.abc import Callable
from pathlib import Path

from entrycache_cli.commands.record import RecordedBroker, RecordingRun, record_run
from entrycache_conformance.brokers.kafka_streams import Application, run_application
from entrycache_protocol.errors import UsageError


def record_application(release: str, plan: Application, out: Path, say: Callable[[str], None]) -> int:
    """Run an application of a release beside its broker, and write its trace; return the number of events.

    Raises:
        UsageError: the run fails, or `out` is not empty.
        MissingPrerequisite: Java, Maven or a jar is missing.
    """

    def run(given: RecordingRun) -> None:
        agent = f"{given.agent},broker=streams"
        run_application(given.java, given.jars, plan, given.folder, agent, given.say)

    return record_run("kafka-streams", release, out, say, run)


def _record(release: str, preset: str | None, messages: int | None, out: Path, say: Callable[[str], None]) -> int:
    if preset is not None:
        raise UsageError("--preset is of Pulsar brokers; an application has none")
    plan = Application() if messages is None else Application(messages=messages)
    return record_application(release, plan, out, say)


BROKER = RecordedBroker("kafka-streams", "4.3.1", _record)
