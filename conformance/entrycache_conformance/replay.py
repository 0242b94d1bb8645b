"""Play given cases: a case file, a history file, or the smoke cases of a system.

`replay_case` plays the case of a file once and judges it. `replay_history` plays a history many times, because no two
schedules are the same. `run_smoke_cases` plays one hand-made case per operation, as a first check of an adapter before
any search.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance import explain, histories, levels
from entrycache_conformance.failure import FailingHistory, Failure
from entrycache_conformance.judge import follow_file, is_match, judge_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, strict_json
from entrycache_protocol.case import Case, History, case_from_json, read_case
from entrycache_protocol.codec import MalformedValue
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError, Verdict, keep_partial_result
from entrycache_protocol.subject import (
    Difference,
    FailingCase,
    FailureKind,
    SkippedRun,
    TestedSubject,
    require_supported,
)

NO_STEPS: Final = "it has no steps"
"""The reason why a case or a history checks nothing."""


class ReplayResult(NamedTuple):
    """The result of a replay. Without a `failure` subject and reference agree.

    `stale` holds the steps at which the file has an outcome that the reference does not allow. `uncompared` are the
    operations of whose answers nothing is compared. `hidden_step` is the step at which the file shows a failure, if
    nothing of that failure is compared on this subject.
    """

    case: Case
    failure: Failure | None
    skipped: SkippedRun | None
    stale: list[int]
    uncompared: frozenset[str] = frozenset()
    hidden_step: int | None = None

    @property
    def uncompared_steps(self) -> list[int]:
        """The steps of whose answers nothing is compared but errors."""
        return [at for at, op in enumerate(self.case.steps) if type(op).name in self.uncompared]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the replay.

        A case checks nothing if no step is compared, or if nothing of the failure is that its file shows.
        """
        checks_nothing = len(self.uncompared_steps) == len(self.case.steps) or self.hidden_step is not None
        if self.failure is None and (self.skipped is not None or checks_nothing):
            return Verdict.NOTHING_CHECKED
        return Verdict.CONFORMS if self.failure is None else Verdict.VIOLATES


def replay_case(path: Path, subject: TestedSubject) -> ReplayResult:
    """Play the case of a file on a subject and judge it.

    Raises:
        UsageError: no readable case, or one that the subject cannot play.
    """
    case = read_case(path, SYSTEMS)
    for run in (*case.earlier, case):
        require_supported(run, subject)
    steps, answer, difference = judge_case(subject, case)
    expected = [case.system.wire.write_outcome(done.outcome) for done in steps]
    stale = [] if subject.declaration.order_slack else find_stale_steps(case, expected)
    if isinstance(answer, SkippedRun):
        return ReplayResult(case, None, answer, stale)
    if difference is None:
        declaration = subject.declaration
        return ReplayResult(case, None, None, stale, declaration.uncompared_ops(), find_hidden_step(case, declaration))
    rules = tuple(rule.value for rule in explain.explain_difference(subject, case, steps, difference))
    return ReplayResult(case, Failure.of(FailingCase(case, steps, difference), rules, str(path)), None, stale)


def find_stale_steps(case: Case, expected: Sequence[Any]) -> list[int]:
    """Return the steps whose outcome in a case's file is not the reference's, nor one that the promise allows."""
    if case.system.model.is_guided(case.steps):
        expected = [case.system.wire.write_outcome(done.outcome) for done in follow_file(case).steps]
    return [
        index
        for index, outcome in enumerate(case.outcomes)
        if index >= len(expected) or not strict_json.is_same_json(outcome, expected[index])
    ]


def find_hidden_step(case: Case, declaration: Declaration) -> int | None:
    """Return the step at which the file of a case shows a failure, if a subject gives nothing of it to compare."""
    pairs = enumerate(zip(case.outcomes, case.got, strict=False))
    at = next((at for at, (own, got) in pairs if not strict_json.is_same_json(own, got)), None)
    if at is None:
        return None
    op = case.steps[at]
    try:
        expected, got = (declaration.read_outcome(op, value) for value in (case.outcomes[at], case.got[at]))
    except MalformedValue:
        return None
    return at if is_match(op, expected, got, declaration) else None


class SmokeResult(NamedTuple):
    """The verdict about one operation: passed, failed, or why it says nothing.

    An operation may be skipped, not offered, beyond the subject's limits, not compared, or not played.
    """

    op: str
    verdict: str
    rules: tuple[str, ...] = ()
    difference: Difference | None = None
    case: Case | None = None


def run_smoke_cases(subject: TestedSubject) -> list[SmokeResult]:
    """Play and judge each case that the subject supports. After a case that hangs, no more are played.

    Raises:
        Interrupted: with what was judged by then.
    """
    results: list[SmokeResult] = []
    with keep_partial_result(lambda: results):
        for name, steps in subject.declaration.system.cases.smoke.items():
            failures = (result.difference.failed for result in results if result.difference)
            hung = any(failed and failed.trouble is FailureKind.HANG for failed in failures)
            results.append(SmokeResult(name, "not played") if hung else _play_smoke_case(subject, name, steps))
    return results


def smoke_verdict(results: list[SmokeResult]) -> Verdict:
    """Return the verdict of the operations that were judged."""
    judged = {"passed": Verdict.CONFORMS, "failed": Verdict.VIOLATES}
    return errors.combine_verdicts(judged[result.verdict] for result in results if result.verdict in judged)


def _play_smoke_case(subject: TestedSubject, name: str, objects: list[dict[str, Any]]) -> SmokeResult:
    declaration = subject.declaration
    if not {step["op"] for step in objects} <= declaration.ops:
        return SmokeResult(name, "not offered")
    if declaration.payload:
        objects = [{**step, "token": 100 + at} if step["op"] == "insert" else step for at, step in enumerate(objects)]
    read = case_from_json(
        {"system": declaration.system.name, "steps": objects}, {declaration.system.name: declaration.system}
    )
    case = Case(read.system, declaration.base_config(), declaration.fit_steps(read.steps))
    if not any(type(op).name == name for op in case.steps) or not _within_limits(case, declaration):
        return SmokeResult(name, "beyond its limits")
    steps, answer, difference = judge_case(subject, case)
    if isinstance(answer, SkippedRun):
        return SmokeResult(name, "skipped")
    if difference is None:
        return SmokeResult(name, "not compared" if name in declaration.uncompared_ops() else "passed")
    rules = tuple(rule.value for rule in explain.explain_difference(subject, case, steps, difference))
    return SmokeResult(name, "failed", rules, difference, case)


def _within_limits(case: Case, declaration: Declaration) -> bool:
    """Return whether the subject takes that many steps and such sizes, and no insert crosses its trigger."""
    return not (declaration.unsupported_reason(case.config, case.steps) or declaration.find_exceeded(case.steps))


MAX_HISTORY_TRIES: Final = 1_000
"""The largest number of times that a history is played; the first failure ends it."""

HISTORY_BATCH: Final = 50
"""The largest number of histories at once; the first batches are smaller, because one that hangs costs its time-out."""

BUSY_MACHINE: Final = "one try got no answer, once; is the machine busy? run it again"


class HistoryReplayResult(NamedTuple):
    """The result of replaying a history. `failing` is None if no try failed. `unjudged` says why no try was judged."""

    failing: FailingHistory | None
    tries: int
    unjudged: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict of the replay."""
        if self.failing is not None:
            return Verdict.VIOLATES
        return Verdict.NOTHING_CHECKED if self.unjudged else Verdict.CONFORMS


def replay_history(history: History, subject: TestedSubject) -> HistoryReplayResult:
    """Play a history until it fails, at most a thousand times.

    Raises:
        UsageError: the subject cannot play it.
    """
    require_supported(history, subject)
    if not history.steps:
        return HistoryReplayResult(None, 0, NO_STEPS)
    if not levels.offers_histories(subject.declaration):
        raise UsageError(f"{subject.name} takes no histories, and {history.system.name} has some")
    threads = subject.declaration.limits.threads
    if len(history.clients) > threads:
        raise UsageError(
            f"{subject.name} takes histories of at most {threads} clients, this one has {len(history.clients)}"
        )
    tally = histories.HistoryCounts()
    tries, most, size = 0, MAX_HISTORY_TRIES, 1
    late = ""
    while tries < most:
        for answer in subject.play_histories([history] * min(size, most - tries)):
            tries += 1
            failing = histories.judge_history(subject, history, answer, tally)
            if failing is None:
                continue
            if failing.failed is None or failing.failed.trouble is not FailureKind.HANG or late:
                return HistoryReplayResult(failing._replace(tries=tries), tries)
            late, most = BUSY_MACHINE, min(MAX_HISTORY_TRIES, tries + histories.SILENT_REPLAYS)
        if tally.skipped:
            return HistoryReplayResult(None, tries, f"it skipped the history: {tally.skipped[0].reason}")
        size = 1 if late else min(2 * size, HISTORY_BATCH)
    undecided = "" if tally.fired else next(iter(tally.undecided), "")
    return HistoryReplayResult(None, tries, late or undecided)


def history_result_json(file: Path, name: str, replayed: HistoryReplayResult) -> dict[str, Any]:
    """Return what `replay --json` prints of a history."""
    value: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    value["tries"] = replayed.tries
    if replayed.failing is not None:
        value["rules"] = [rule.value for rule in replayed.failing.rules]
        value["said"] = replayed.failing.said
        value["events"] = list(replayed.failing.history.events)
    return value
