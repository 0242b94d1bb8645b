"""`trace record`: the calls of a case on a subject, as a recorded trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.brokers.jars import BrokerJars, build_broker_jars
from entrycache_conformance.explain import explain_difference
from entrycache_conformance.java.build import find_java
from entrycache_conformance.judge import Coverage, judge, play, run_reference
from entrycache_protocol.case import Case, config_to_json, variants_to_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import check_empty_folder, scratch_folder
from entrycache_protocol.subject import FailingCase, InProcessSubject, SkippedRun, TestedSubject
from entrycache_spark.common.system import AUDITED
from entrycache_trace.convert import convert_recording
from entrycache_trace.files import Metadata
from entrycache_trace.recording import CaseStep


class Recording(NamedTuple):
    """What was recorded. `failure`: where the subject's outcomes and the reference's part, if they do."""

    events: int
    own_rows: bool
    failure: FailingCase | None
    rules: tuple[str, ...]


def check_recorded(case: Case, where: str) -> None:
    """Refuse a case of a system that has no traces.

    Raises:
        UsageError: it is of such a system; `where` the case stands.
    """
    if case.system.name not in AUDITED:
        known = ", ".join(AUDITED)
        raise UsageError(f"{where} is about {case.system.name}, of which there are no traces; expected one of {known}")


def record(subject: TestedSubject, case: Case, out: Path) -> Recording:
    """Play a case and write its trace into `out`.

    Our own fast cache writes its own rows. Beside any other subject the rows are the reference's, every
    outcome is compared, and the trace says so: an audit of it is no evidence about the subject.

    Raises:
        UsageError: the case cannot be asked of the subject, or it declines it; its system has no traces, or `out` is
            not empty.
    """
    check_recorded(case, "the case")
    check_empty_folder(out, "the trace")
    steps = run_reference(case, Coverage())
    answer = play(subject, case)
    if isinstance(answer, SkippedRun):
        raise UsageError(f"nothing was recorded: {subject.name} skipped the case: {answer.reason}")
    difference = judge(case, steps, answer, subject.declaration)
    own_rows = subject.name == "fast" and isinstance(subject, InProcessSubject)  # any subject may call itself so
    done = _fast_outcomes(case) if own_rows else [(step.outcome, step.rows) for step in steps]
    calls = [
        CaseStep(op, partial(case.system.wire.write_outcome, outcome), rows)
        for op, (outcome, rows) in zip(case.steps, done, strict=True)
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


def _fast_outcomes(case: Case) -> list[tuple[Any, Sequence[Any]]]:
    """The outcomes and rows of the fast cache, step by step."""
    rows: list[Any] = []
    steps: list[tuple[Any, Sequence[Any]]] = []
    own = case.system.fast
    assert own is not None and own.open_with_rows is not None
    instance = own.open_with_rows(case.config, rows.append)
    for op in case.steps:
        outcome = instance(op)
        steps.append((outcome, list(rows)))
        rows.clear()
    return steps


# --- record_broker
# `trace record --broker`: what the recordings of all systems share.

JAVA_OLDEST: Final = 17


class RecordingRun(NamedTuple):
    """What a recording is run with; `say` is told how far it is."""

    java: str
    jars: BrokerJars
    folder: Path
    """A scratch folder."""
    agent: str
    """What `-javaagent:` names, to which options may be added."""
    say: Callable[[str], None]


def record_run(
    family: str, release: str, out: Path, say: Callable[[str], None], run: Callable[[RecordingRun], None]
) -> int:
    """Let `run` start what is recorded, wait for it, and write its trace; the number of events.

    Raises:
        UsageError: it fails, or `out` is not empty.
        MissingPrerequisite: there is no Java, no Maven, or a jar cannot be had.
    """
    check_empty_folder(out, "the trace")
    java = find_java(JAVA_OLDEST).program
    say(f"looking for the jars of {release}")
    jars = build_broker_jars(family, release)
    with scratch_folder() as folder:
        lines = folder / "recorded"
        run(RecordingRun(java, jars, folder, f"{jars.recorder}={lines}", say))
        say("writing Parquet")
        return convert_recording(lines, out)
