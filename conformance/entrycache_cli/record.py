"""`trace record`: the calls of a case on a subject, as a recorded trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, judge, play, trajectory
from entrycache_protocol.case import Case, config_to_json, variants_to_json
from entrycache_protocol.errors import UsageError
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.subject import Subject
from entrycache_reference.kafka_streams.ops import Metrics
from entrycache_reference.vocabulary import ABSENT
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.kafka_recorder import StreamRecorder
from entrycache_trace.recorder import TraceWriter
from entrycache_trace.schema import STREAMS


class Call(NamedTuple):
    """What one step answered, and the events that it caused."""

    outcome: Any
    rows: Sequence[Any]


class Recording(NamedTuple):
    """What was recorded. `failure`: where the subject's outcomes and the reference's part, if they do."""

    events: int
    own_rows: bool
    failure: FailingCase | None
    rules: tuple[str, ...]


def record(subject: Subject, case: Case, out: Path) -> Recording:
    """Play a case and write its trace into `out`.

    Our own fast cache writes its own rows. Beside any other subject the rows are the reference's, every
    outcome is compared, and the trace says so: an audit of it is no evidence about the subject.

    Raises:
        UsageError: the case cannot be asked of the subject, or `out` is not empty.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; expected a new folder for the trace")
    steps = trajectory(case, Coverage())
    answer = play(subject, case)
    difference = judge(case, steps, answer, subject.declaration)
    own_rows = subject.name == "fast"
    calls = _fast_calls(case) if own_rows else [Call(done.outcome, done.rows) for done in steps]
    source = "fast, its own rows" if own_rows else f"the reference's rows beside {subject.name}; no evidence about it"
    metadata = Metadata(
        system=case.system.name, variants=variants_to_json(case.config), source=source, clock="virtual", threads="one"
    )
    events = _write_streams(out, metadata, case, calls) if _is_streams(case) else _write(out, metadata, case, calls)
    if difference is None:
        return Recording(events, own_rows, None, ())
    failure = FailingCase(case, steps, difference)
    return Recording(events, own_rows, failure, tuple(rule.value for rule in explain(subject, case, steps, difference)))


def _is_streams(case: Case) -> bool:
    return bool(case.system.name == STREAMS)


def _write(out: Path, metadata: Metadata, case: Case, calls: Sequence[Call]) -> int:
    recorder = TraceWriter(out, metadata).recorder("one", config_to_json(case.system, case.config))
    for call in calls:
        recorder.call(call.rows)
    recorder.close()
    return recorder.seq


def _write_streams(out: Path, metadata: Metadata, case: Case, calls: Sequence[Call]) -> int:
    """A step that asks for counters is its own event; its outcome is what it tells."""
    out.mkdir(parents=True, exist_ok=True)
    write_metadata(out, metadata)
    recorder = StreamRecorder(PartWriter(out, "one"), config_to_json(case.system, case.config))
    for op, call in zip(case.steps, calls, strict=True):
        recorder.call(call.rows)
        if isinstance(op, Metrics):
            recorder.metrics(case.system.wire.write_outcome(call.outcome), None if op.ns is ABSENT else op.ns)
    recorder.close()
    return recorder.seq


def _fast_calls(case: Case) -> list[Call]:
    """The outcomes and rows of the fast cache, step by step."""
    rows: list[Any] = []
    calls: list[Call] = []
    own = case.system.fast
    assert own is not None and own.open_told is not None
    instance = own.open_told(case.config, rows.append)
    for op in case.steps:
        outcome = instance(op)
        calls.append(Call(outcome, list(rows)))
        rows.clear()
    return calls
