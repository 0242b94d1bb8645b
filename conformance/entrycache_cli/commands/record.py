"""Record traces: of a case that a subject plays, and of a real broker.

`record` plays a case and writes the rows of its steps. Our fast cache writes rows of its own; for any other subject the
rows are the reference's, so the trace is no evidence about the subject. `record_run` starts a broker whose JVM holds
the recorder, waits for it, and converts what the recorder wrote into Parquet; the modules `pulsar_recording` and
`kafka_recording` say how their broker is started.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.brokers.jars import BrokerJars, build_broker_jars
from entrycache_conformance.explain import explain_difference
from entrycache_conformance.java.build import find_java
from entrycache_conformance.judge import judge_case
from entrycache_protocol import errors, files
from entrycache_protocol.case import Case, config_to_json, variants_to_json
from entrycache_protocol.subject import FailingCase, InProcessSubject, SkippedRun, TestedSubject
from entrycache_spark.common.system import AUDITED
from entrycache_trace import convert, recording
from entrycache_trace.files import Metadata


class Recording(NamedTuple):
    """The result of recording a case; `failure` is the first difference between subject and reference, if any."""

    events: int
    own_rows: bool
    failure: FailingCase | None
    rules: tuple[str, ...]


LEVELS_WITH_STATE_ROWS: Final = frozenset({"ledger", "inflight", "limits"})
"""The levels of which a trace has rows that a state shows, such as ASK and PERMIT; our fast cache shows no state."""


def require_traces(case: Case, where: str) -> None:
    """Refuse a case of a system that has no traces; `where` says where the case stands.

    Raises:
        UsageError: the system has no traces.
    """
    if case.system.name not in AUDITED:
        known = ", ".join(AUDITED)
        raise errors.UsageError(f"{where} is about {case.system.name}, which has no traces; expected one of {known}")


Player = Callable[[Case], Sequence[tuple[Any, Sequence[Any]]]]
"""A function that plays a case and returns the outcome and all rows of each step."""


class Players(NamedTuple):
    """The players of a system's cases: on the reference, and on our fast cache."""

    reference: Player
    fast: Player


def record(
    subject: TestedSubject, case: Case, out: Path, players: Mapping[str, Players] = MappingProxyType({})
) -> Recording:
    """Play a case and write its trace into `out`.

    Our fast cache writes its own rows, unless the case has operations of managed ledgers. For any other subject the
    rows are the reference's and every outcome is compared. The trace says so, because an audit of it is no evidence
    about the subject. `players` has some for each system whose traces have rows that the steps of its reference lack.

    Raises:
        UsageError: the subject cannot play the case or skips it, the system has no traces, or `out` is not empty.
    """
    require_traces(case, "the case")
    files.check_empty_folder(out, "the trace")
    steps, answer, difference = judge_case(subject, case)
    if isinstance(answer, SkippedRun):
        raise errors.UsageError(f"nothing was recorded: {subject.name} skipped the case: {answer.reason}")
    own_rows = subject.name == "fast" and isinstance(subject, InProcessSubject)  # any subject may call itself so
    own_rows = own_rows and not any(op.level in LEVELS_WITH_STATE_ROWS for op in case.steps)
    own = players.get(case.system.name)
    if own is not None:
        done = [(outcome, rows, None, ()) for outcome, rows in (own.fast if own_rows else own.reference)(case)]
    elif own_rows:
        done = _fast_outcomes(case)
    else:
        done = [(step.outcome, step.rows, step.state, getattr(step, "parts", ())) for step in steps]
    calls = [
        recording.CaseStep(op, partial(case.system.wire.write_outcome, outcome), rows, state, parts)
        for op, (outcome, rows, state, parts) in zip(case.steps, done, strict=True)
    ]
    source = "fast, its own rows" if own_rows else f"the reference's rows beside {subject.name}; no evidence about it"
    metadata = Metadata(
        system=case.system.name, variants=variants_to_json(case.config), source=source, clock="virtual", threads="one"
    )
    events = AUDITED[case.system.name].write(out, metadata, config_to_json(case.system, case.config), calls)
    if difference is None:
        return Recording(events, own_rows, None, ())
    failure = FailingCase(case, steps, difference)
    return Recording(
        events, own_rows, failure, tuple(rule.value for rule in explain_difference(subject, case, steps, difference))
    )


def _fast_outcomes(case: Case) -> list[tuple[Any, Sequence[Any], None, tuple[()]]]:
    """Return the outcomes and rows of the fast cache, step by step; it shows no state."""
    rows: list[Any] = []
    steps: list[tuple[Any, Sequence[Any], None, tuple[()]]] = []
    own = case.system.fast
    assert own is not None and own.open_with_rows is not None
    instance = own.open_with_rows(case.config, rows.append)
    for op in case.steps:
        outcome = instance(op)
        steps.append((outcome, list(rows), None, ()))
        rows.clear()
    return steps


JAVA_OLDEST: Final = 17


class RecordedBroker(NamedTuple):
    """A real broker that `trace record --broker` starts.

    `record` takes a release, a preset, a number of messages, the folder of the trace, and a function that shows
    progress; it returns the number of events.
    """

    system: str
    release: str
    """The release that is recorded if none is named."""
    record: Callable[[str, str | None, int | None, Path, Callable[[str], None]], int]


class RecordingRun(NamedTuple):
    """The programs, folders and options of one recording; `say` shows progress."""

    java: str
    jars: BrokerJars
    folder: Path
    """A folder that is deleted afterwards."""
    agent: str
    """The value of `-javaagent:`, to which options may be appended."""
    say: Callable[[str], None]


def record_run(
    family: str, release: str, out: Path, say: Callable[[str], None], run: Callable[[RecordingRun], None]
) -> int:
    """Let `run` start a broker and wait for it, then write its trace; return the number of events.

    Raises:
        UsageError: the run fails, or `out` is not empty.
        MissingPrerequisite: Java, Maven or a jar is missing.
    """
    files.check_empty_folder(out, "the trace")
    java = find_java(JAVA_OLDEST).program
    say(f"looking for the jars of {release}")
    jars = build_broker_jars(family, release)
    with files.scratch_folder() as folder:
        lines = folder / "recorded"
        run(RecordingRun(java, jars, folder, f"{jars.recorder}={lines}", say))
        say("writing Parquet")
        return convert.convert_recording(lines, out)
