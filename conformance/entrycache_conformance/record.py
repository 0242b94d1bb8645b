"""`trace record`: the calls of a case on a subject, as a recorded trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.case import Case, config_to_json, variants_to_json
from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, judge, play, trajectory
from entrycache_conformance.machine import Failure
from entrycache_conformance.subjects import fast
from entrycache_conformance.subjects.subject import Subject
from entrycache_reference.errors import UsageError
from entrycache_spark.files import Metadata
from entrycache_spark.recorder import TraceWriter


class Recording(NamedTuple):
    """What was recorded. `failure`: where the subject's outcomes and the reference's part, if they do."""

    events: int
    own_rows: bool
    failure: Failure | None
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
    calls = _fast_calls(case) if own_rows else [done.rows for done in steps]
    source = "fast, its own rows" if own_rows else f"the reference's rows beside {subject.name}; no evidence about it"
    metadata = Metadata(
        system=case.system.name, variants=variants_to_json(case.config), source=source, clock="virtual", threads="one"
    )
    recorder = TraceWriter(out, metadata).recorder("one", config_to_json(case.config))
    for rows in calls:
        recorder.call(rows)
    recorder.close()
    if difference is None:
        return Recording(recorder.seq, own_rows, None, ())
    failure = Failure(case, steps, difference)
    return Recording(
        recorder.seq, own_rows, failure, tuple(rule.value for rule in explain(subject, case, steps, difference))
    )


def _fast_calls(case: Case) -> list[list[Any]]:
    """The rows of the fast cache, a list a step."""
    rows: list[Any] = []
    calls: list[list[Any]] = []
    instance: Callable[[Any], Any] = fast.open_fast(case.config, on_row=rows.append)
    for op in case.steps:
        instance(op)
        calls.append(list(rows))
        rows.clear()
    return calls
