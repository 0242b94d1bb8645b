"""The level `concurrent`: judge a subject by histories of several threads.

A history is a case for several clients: some steps before, steps of each client that run at the same time, and some
steps after. `conform_histories` plays generated histories, kind after kind. No reference can predict their answers, so
the system's promises (`Histories`) judge them: is there an order of the steps that explains every answer?

The first history that breaks a promise is played again and again while clients and steps are left out. A shorter
history replaces a longer one only if it fails often enough, because no two schedules are the same. The result is a
`Failure` that says how often the history failed.
"""

import dataclasses
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance import levels, report, shrink
from entrycache_conformance.failure import FailingHistory, Failure, Schedules, build_history_table
from entrycache_conformance.generate import minimize_items
from entrycache_protocol import errors, files
from entrycache_protocol.case import History, write_history
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import (
    FailedRun,
    FailureKind,
    HistoryAnswer,
    HistoryResult,
    SkippedRun,
    TestedSubject,
    failure_to_json,
)
from entrycache_protocol.system import AnySystem, Histories
from entrycache_reference.rules import Rule

DEADLOCK_PREFIX: Final = "deadlock:"
"""The beginning of the message of an errored history in which the subject itself found a deadlock."""


def require_histories(system: AnySystem) -> Histories:
    """Return the promises of a system about histories.

    Raises:
        UsageError: it has no such level.
    """
    if system.histories is None:
        raise errors.UsageError(f"{system.name} has no level {levels.CONCURRENT_LEVEL}")
    return system.histories


def is_conclusive(failed: FailedRun) -> bool:
    """Return whether a failed history needs no second try: the subject found a deadlock, or a step threw."""
    return failed.trouble is FailureKind.ERRORED


def is_deadlock(failed: FailedRun) -> bool:
    """Return whether the subject found a deadlock of its threads."""
    return failed.trouble is FailureKind.ERRORED and failed.message.startswith(DEADLOCK_PREFIX)


def broken_rule(promises: Histories, failed: FailedRun) -> Rule:
    """Return the rule that a history without an answer breaks."""
    throws = failed.trouble is FailureKind.ERRORED and not is_deadlock(failed)
    return promises.throws if throws and "does not end" not in failed.message else promises.ends


MAX_HISTORIES: Final = 6_000
"""The largest number of histories in one run; further ones add little."""

BATCH: Final = 20
"""The number of histories that are sent ahead."""

SHRINK_TRIES: Final = 100
"""The number of times that a shorter history is played before it counts as one that does not fail."""

MIN_FAILURES: Final = 4
"""The number of failures that a shorter history needs in these tries. With one failure alone, shrinking would lead to
ever rarer failures.
"""

MAX_RARITY: Final = 4
"""The factor by which a shorter history may fail more rarely than the history that it comes from."""

SILENT_MIN_FAILURES: Final = 2
"""The number of failures that a history without an answer needs; each costs a process."""

FREQUENCY_TRIES: Final = 200
"""The number of times that the shortest history is played to measure how often it fails."""

FREQUENCY_FAILURES: Final = 20
"""The number of failures that is enough to measure how often a history fails."""

SILENT_FREQUENCY_FAILURES: Final = 3
"""The same number for a history without an answer, where each failure costs a process."""

MAX_CANDIDATES: Final = 80
"""The largest number of shorter histories that are tried."""

SILENT_MAX_CANDIDATES: Final = 40
"""The same number for a history without an answer, where each failure costs a time-out."""

SILENT_REPLAYS: Final = 10
"""The number of times that a history without an answer is played again: the machine may have been busy once."""


@dataclasses.dataclass(slots=True)
class HistoryCounts:
    """The counts of judged histories: their steps and threads, and the rules that were checked.

    `overlapping` counts histories in which steps of two clients overlapped in time. `ended` is one history that ended
    and was judged. `is_late` says that one did not end, but did each time that it was
    played again.
    """

    histories: int = 0
    steps: int = 0
    threads: int = 0
    overlapping: int = 0
    undecided: Counter[str] = dataclasses.field(default_factory=Counter)
    fired: Counter[Rule] = dataclasses.field(default_factory=Counter)
    skipped: list[SkippedRun] = dataclasses.field(default_factory=list)
    ended: tuple[History, HistoryResult] | None = None
    is_late: bool = False


def find_failing_history(
    subject: TestedSubject,
    wanted: int,
    seed: int,
    tally: HistoryCounts,
    progress: Callable[[int], None] = lambda count: None,
) -> FailingHistory | None:
    """Play that many histories, kind after kind. Return the first that breaks a promise, shortened, or None.

    Raises:
        Interrupted: with a failure that was not shrunk yet.
    """
    promises = require_histories(subject.declaration.system)
    source = random.Random(seed)
    made_count = 0
    while made_count < wanted:
        size = min(BATCH, wanted - made_count)
        histories = [
            promises.make(
                source.randint, subject.declaration, promises.kinds[(made_count + index) % len(promises.kinds)]
            )
            for index in range(size)
        ]
        made_count += size
        for history, answer in zip(histories, subject.play_histories(histories), strict=True):
            failing = judge_history(subject, history, answer, tally)
            if failing is None:
                continue
            with subject.limit_time(shrink.TRY_SECONDS):
                if failing.failed is None or is_conclusive(failing.failed) or _fails_again(subject, failing):
                    return _shrink_or_keep(subject, failing)
            # A busy machine makes a subject late once; it ends no process, and it is not late twice.
            if failing.failed.trouble is not FailureKind.HANG or tally.is_late:
                return failing._replace(tries=1 + SILENT_REPLAYS)
            tally.is_late = True
        progress(size)
    return None


def judge_history(
    subject: TestedSubject, history: History, answer: HistoryAnswer, tally: HistoryCounts
) -> FailingHistory | None:
    """Return the failure that an answer shows, if any."""
    promises = require_histories(history.system)
    if isinstance(answer, SkippedRun):
        tally.skipped.append(answer)
        return None
    tally.histories += 1
    tally.steps += len(history.steps)
    tally.threads += len(history.clients)
    if isinstance(answer, FailedRun):
        return FailingHistory(history, (broken_rule(promises, answer),), answer.message, None, answer)
    tally.overlapping += has_overlap(history, answer)
    judged = promises.judge(history, answer, subject.declaration)
    tally.ended = (history, answer) if judged.fired else tally.ended
    tally.fired.update(judged.fired)
    if judged.undecided:
        tally.undecided[judged.undecided] += 1
    if not judged.broken:
        return None
    rules = tuple(rule for rule, _ in judged.broken)
    broken = judged.broken[0][1]
    return FailingHistory(attach_events(history, answer), rules, broken.said, broken, None)


def has_overlap(history: History, happened: HistoryResult) -> bool:
    """Return whether a step of one client began before a step of another client had ended."""
    ends: dict[int, int] = {}
    for event in sorted(happened.events, key=lambda event: event.start):
        if 0 <= event.client < len(history.clients):
            if any(event.start < end for client, end in ends.items() if client != event.client):
                return True
            ends[event.client] = event.end
    return False


def attach_events(history: History, happened: HistoryResult) -> History:
    """Return the history with the events that were answered, as its file holds them."""
    events = [
        {**event._asdict(), "outcome": history.system.wire.write_outcome(event.outcome)} for event in happened.events
    ]
    return dataclasses.replace(history, events=tuple(events))


def _shrink_or_keep(subject: TestedSubject, failing: FailingHistory) -> FailingHistory:
    """Shrink a failure.

    Raises:
        Interrupted: with the failure as it was.
    """
    with errors.keep_partial_result(lambda: failing):
        return shrink_history(subject, failing)


def _fails_again(subject: TestedSubject, failing: FailingHistory) -> bool:
    """Return whether a history without an answer gives none when it is played again."""
    return replay_until_failure(subject, failing.history, failing, SILENT_REPLAYS, 1) is not None


def replay_until_failure(
    subject: TestedSubject, history: History, like: FailingHistory, tries: int, often: int
) -> FailingHistory | None:
    """Play a history up to `tries` times. Return the last failure like that one if there are `often` of them."""
    done = times = 0
    size = 1
    while done < tries:
        size = min(size, tries - done)
        for answer in subject.play_histories([history] * size):
            done += 1
            failing = judge_history(subject, history, answer, HistoryCounts())
            if failing is not None and _is_same_failure(failing, like):
                times += 1
                if times >= often:
                    return failing._replace(tries=done, times=times)
        size = min(4 * size, BATCH)
    return None


def _is_same_failure(failing: FailingHistory, like: FailingHistory) -> bool:
    """Return whether two failures break the same rule in the same way. A deadlock is not an endless eviction."""
    if like.rules[0] not in failing.rules:
        return False
    if failing.failed is None or like.failed is None:
        return failing.failed is like.failed
    return failing.failed.trouble is like.failed.trouble and is_deadlock(failing.failed) == is_deadlock(like.failed)


def shrink_history(subject: TestedSubject, failing: FailingHistory) -> FailingHistory:
    """Return the shortest history found that fails in the same way, and how often it does. The caller limits a try."""
    promises = require_histories(failing.history.system)
    left = MAX_CANDIDATES if failing.failed is None or is_conclusive(failing.failed) else SILENT_MAX_CANDIDATES
    shortest = failing
    often = MIN_FAILURES if failing.failed is None else SILENT_MIN_FAILURES if is_conclusive(failing.failed) else 1

    def try_(history: History) -> bool:
        nonlocal left, shortest
        if left <= 0 or not history.clients or not promises.is_sound(history):
            return False
        left -= 1
        again = replay_until_failure(subject, history, failing, max_tries(shortest, often), often)
        if again is not None:
            shortest = again
        return again is not None

    if failing.failed is None:
        shortest = replay_until_failure(subject, failing.history, failing, SHRINK_TRIES, often) or failing._replace(
            tries=SHRINK_TRIES
        )
    for client in reversed(range(len(failing.history.clients))):
        try_(_without_client(shortest.history, client))
    history = shortest.history
    minimize_items(_steps_with_clients(history), lambda steps: steps if try_(_keep_steps(history, steps)) else None)
    for listening in range(len(shortest.history.before)):
        _shrink_listener(shortest.history, listening, try_)
    return _measure_frequency(subject, shortest)


def max_tries(failing: FailingHistory, often: int) -> int:
    """Return the number of times to play a shorter history, so that it can fail that often."""
    return min(SHRINK_TRIES, MAX_RARITY * often * failing.tries // failing.times)


def _without_client(history: History, client: int) -> History:
    clients = history.clients
    return dataclasses.replace(history, clients=clients[:client] + clients[client + 1 :], events=())


def _steps_with_clients(history: History) -> list[tuple[int, Any]]:
    """Return every step with the client that takes it."""
    return [(client, step) for client, steps in history.parts() for step in steps]


def _keep_steps(history: History, kept: Sequence[tuple[int, Any]]) -> History:
    """Return the history of these steps alone, without clients that have no step left."""
    parts = [tuple(step for of, step in kept if of == client) for client, _ in history.parts()]
    before, *clients, after = parts
    return dataclasses.replace(
        history, before=before, clients=tuple(steps for steps in clients if steps), after=after, events=()
    )


def _shrink_listener(history: History, at: int, try_: Callable[[History], bool]) -> None:
    """Leave out steps of a listener that is set before the threads start."""
    listen = history.before[at]
    steps = getattr(listen, "on_flush", ())

    def fails(kept: tuple[Any, ...]) -> tuple[Any, ...] | None:
        before = (*history.before[:at], dataclasses.replace(listen, on_flush=kept), *history.before[at + 1 :])
        return kept if try_(dataclasses.replace(history, before=before, events=())) else None

    minimize_items(steps if isinstance(steps, tuple) else (), fails)


def _measure_frequency(subject: TestedSubject, failing: FailingHistory) -> FailingHistory:
    """Return the failure with its measured frequency."""
    most = FREQUENCY_FAILURES if failing.failed is None else SILENT_FREQUENCY_FAILURES
    tries = times = 0
    last = failing
    while times < most and tries < FREQUENCY_TRIES:
        again = replay_until_failure(subject, failing.history, failing, FREQUENCY_TRIES - tries, 1)
        tries += FREQUENCY_TRIES - tries if again is None else again.tries
        if again is not None:
            times += 1
            last = again
    return last._replace(tries=tries + failing.tries, times=times + failing.times)


class HistoryLevelResult(NamedTuple):
    """The result of the level: its report, its failures, what was not checked, and how often each rule was checked."""

    level: report.LevelReport
    failures: tuple[Failure, ...] = ()
    skipped: tuple[report.Skip, ...] = ()
    fired: Mapping[Rule, int] = MappingProxyType({})


ONE_IN: Final = 20
"""One of so many histories has overlapping steps of two clients. Threads of Python behind a lock reach eight."""


class CorruptionUnseen(errors.InternalError):
    """The error of a run that did not notice an answer corrupted on purpose: nothing it reports is credible."""


def conform_histories(
    subject: TestedSubject, wanted: int, seed: int, folder: Path, notify: Callable[[int, int], None]
) -> HistoryLevelResult:
    """Judge a subject by its histories.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        CorruptionUnseen: our error.
        Interrupted: with the result of a failure that was not shrunk yet.
    """
    declaration = subject.declaration
    if not levels.offers_histories(declaration):
        reason = "the subject takes no histories: limits.threads is 1 or absent, or limits.max_size is too small"
        return HistoryLevelResult(
            report.LevelReport(), skipped=(report.Skip(f"level {levels.CONCURRENT_LEVEL}", reason),)
        )
    tally = HistoryCounts()
    wanted = min(wanted, MAX_HISTORIES)

    def violates(failing: FailingHistory) -> HistoryLevelResult:
        level = _level_report(declaration, tally, errors.Verdict.VIOLATES)
        return HistoryLevelResult(level, (_write_failure(failing, folder),), _unjudged_histories(tally), tally.fired)

    with errors.map_partial_result(violates):
        failing = find_failing_history(subject, wanted, seed, tally, lambda count: notify(tally.histories, wanted))
    if failing is not None:
        return violates(failing)
    skipped = _unjudged_histories(tally)
    check_corrupted_answer(subject, tally.ended)
    unmet = _unmet_rules(declaration, tally)
    if unmet:
        skipped += (report.Skip(f"level {levels.CONCURRENT_LEVEL}", f"no history checked {', '.join(unmet)}"),)
    if tally.is_late:
        once = "one got no answer once, and one each time that it was played again; is the machine busy? run it again"
        skipped += (report.Skip(f"level {levels.CONCURRENT_LEVEL}", once),)
    judged = tally.fired[require_histories(declaration.system).ends]
    if 2 * judged < tally.histories:
        few = f"{judged} of {tally.histories} histories could be judged: too few to say anything"
        skipped += (report.Skip(f"level {levels.CONCURRENT_LEVEL}", few),)
    apart = tally.histories >= ONE_IN and ONE_IN * tally.overlapping < tally.histories
    if apart:
        serial = f"steps of two clients overlapped in {tally.overlapping} of {tally.histories} histories; "
        serial += "expected each client on a thread of its own"
        skipped += (report.Skip(f"level {levels.CONCURRENT_LEVEL}", serial),)
    conforms = 2 * judged >= tally.histories > 0 and not (unmet or tally.is_late or apart)
    verdict = errors.Verdict.CONFORMS if conforms else errors.Verdict.NOTHING_CHECKED
    return HistoryLevelResult(_level_report(declaration, tally, verdict), (), skipped, tally.fired)


def judge_histories(
    subject: TestedSubject,
    profile: levels.Profile,
    seed: int,
    folder: Path,
    fired: dict[Rule, int],
    notify: Callable[[int, int], None],
) -> report.LevelResult:
    """Judge the level, and enter how often each rule was checked into `fired`.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        CorruptionUnseen: our error.
        Interrupted: with the level if a failure was found.
    """
    started_at = time.monotonic()

    def add_rules(judged: HistoryLevelResult) -> report.LevelResult:
        fired.update(judged.fired)
        rules = report.judge_rules(judged.fired, judged.level.verdict, judged.failures, profile.rule_minimum)
        level = dataclasses.replace(judged.level, rules=rules, seconds=report.seconds_since(started_at))
        return report.LevelResult(level, judged.failures, judged.skipped)

    with errors.map_partial_result(add_rules):
        return add_rules(conform_histories(subject, profile.examples, seed, folder, notify))


def _level_report(declaration: Declaration, tally: HistoryCounts, verdict: errors.Verdict) -> report.LevelReport:
    states_max = require_histories(declaration.system).states_max
    threads = report.ThreadCounts(tally.histories, tally.threads, sum(tally.undecided.values()), states_max)
    return report.LevelReport(tally.histories, tally.steps, verdict, (), threads)


def _unjudged_histories(tally: HistoryCounts) -> tuple[report.Skip, ...]:
    """Count the histories without a verdict by reason, played ones first."""
    declined = Counter(run.reason for run in tally.skipped)
    reasons = (*sorted(tally.undecided.items()), *sorted(declined.items()))
    return tuple(report.Skip(f"{levels.CONCURRENT_LEVEL}: {count} histories", reason) for reason, count in reasons)


def _unmet_rules(declaration: Declaration, tally: HistoryCounts) -> list[str]:
    """Return the rules that no history checked."""
    promises = require_histories(declaration.system)
    unasked = promises.unasked(declaration)
    return [rule.value for rule in promises.rules if rule not in unasked and not tally.fired[rule]]


def check_corrupted_answer(subject: TestedSubject, ended: tuple[History, HistoryResult] | None) -> None:
    """Judge an answered history once more with one byte more in its quiescent total, or stop.

    Raises:
        CorruptionUnseen: no rule saw it.
    """
    if ended is None:
        return
    history, happened = ended
    declaration = subject.declaration
    events = []
    for event in happened.events:
        outcome = history.system.wire.write_outcome(event.outcome)
        if event.client == len(history.clients) and "entries" in outcome and "bytes" in outcome:
            outcome = {**outcome, "bytes": outcome["bytes"] + 1}
        events.append(event._replace(outcome=outcome))
    if not require_histories(history.system).judge(history, HistoryResult(tuple(events)), declaration).broken:
        raise CorruptionUnseen("an answer that was spoilt on purpose was not seen; this run would prove nothing")


def count_schedules(failing: FailingHistory) -> Schedules:
    """Return how often a failure occurred, and on how many threads."""
    proved = failing.failed is None or is_conclusive(failing.failed)
    return Schedules(failing.said, len(failing.history.clients), failing.tries, failing.times, proved)


def _write_failure(failing: FailingHistory, folder: Path) -> Failure:
    """Write the history file that replays a failure, and return the failure."""
    rules = tuple(rule.value for rule in failing.rules)
    schedules = count_schedules(failing)
    history = dataclasses.replace(failing.history, rules=rules, note=schedules.in_words)
    path, unwritten = files.try_write(lambda: write_history(history, folder, rules[0].lower()))
    at, got = _failing_step(failing)
    return Failure(
        rules=rules,
        case=path,
        unwritten=unwritten,
        step=at,
        expected=None,
        got=got,
        steps=len(failing.history.steps),
        schedules=schedules,
        level=levels.CONCURRENT_LEVEL,
        table=build_history_table(failing),
        source=failing,
    )


def _failing_step(failing: FailingHistory) -> tuple[int, Any]:
    """Return the failing step, counted through the whole history, and its answer; otherwise how the run failed."""
    if failing.break_ is not None and failing.break_.event is not None:
        event = failing.break_.event
        numbers = [(client, index) for client, part in failing.history.parts() for index in range(len(part))]
        return numbers.index((event.client, event.step)), dict(event.outcome)
    last = max(0, len(failing.history.steps) - 1)
    return last, None if failing.failed is None else failure_to_json(failing.failed)
