"""One conformance run of the level `concurrent`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.failure import Failure, Schedules, build_history_table
from entrycache_conformance.history_search import (
    CONCURRENT_LEVEL,
    FailingHistory,
    HistoryCounts,
    find_failing_history,
    is_conclusive,
    offers_histories,
    require_histories,
)
from entrycache_conformance.report import LevelReport, Skip, ThreadCounts
from entrycache_protocol.case import History, write_history
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import InternalError, Verdict
from entrycache_protocol.files import try_write
from entrycache_protocol.subject import HistoryResult, TestedSubject, failure_to_json
from entrycache_reference.rules import Rule

MAX_HISTORIES: Final = 6_000
"""Histories of one run at most: further ones of a profile say little that the first have not said."""


class HistoryLevelResult(NamedTuple):
    """What came out: the level, its failures, what was not checked, and how often each rule was asked."""

    level: LevelReport
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skip, ...] = ()
    fired: Mapping[Rule, int] = MappingProxyType({})


class CorruptionUnseen(InternalError):
    """An answer that was spoilt on purpose was not seen: nothing the run says could be believed."""


def conform_histories(
    subject: TestedSubject, wanted: int, seed: int, folder: Path, notify: Callable[[int, int], None]
) -> HistoryLevelResult:
    """Judge a subject by its histories.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        SpoiltUnseen: our error.
    """
    declaration = subject.declaration
    if not offers_histories(declaration):
        reason = "the subject declares no histories: limits.threads is 1 or absent"
        return HistoryLevelResult(LevelReport(), skipped=(Skip(f"level {CONCURRENT_LEVEL}", reason),))
    tally = HistoryCounts()
    wanted = min(wanted, MAX_HISTORIES)
    found = find_failing_history(subject, wanted, seed, tally, lambda count: notify(tally.histories, wanted))
    skipped = _unjudged_histories(tally)
    if found is not None:
        level = _level_report(declaration, tally, Verdict.VIOLATES)
        return HistoryLevelResult(level, (_write_failure(found, folder),), skipped, tally.fired)
    check_corrupted_answer(subject, tally.ended)
    unmet = _unmet_rules(declaration, tally)
    if unmet:
        skipped += (Skip(f"level {CONCURRENT_LEVEL}", f"no history asked for {', '.join(unmet)}"),)
    if tally.is_late:
        once = "one got no answer once, and one each time that it was played again; is the machine busy? run it again"
        skipped += (Skip(f"level {CONCURRENT_LEVEL}", once),)
    judged = tally.fired[require_histories(declaration.system).ends]
    if 2 * judged < tally.histories:
        few = f"{judged} of {tally.histories} histories could be judged: too few to say anything"
        skipped += (Skip(f"level {CONCURRENT_LEVEL}", few),)
    conforms = 2 * judged >= tally.histories > 0 and not unmet and not tally.is_late
    verdict = Verdict.CONFORMS if conforms else Verdict.NOTHING_CHECKED
    return HistoryLevelResult(_level_report(declaration, tally, verdict), (), skipped, tally.fired)


def _level_report(declaration: Declaration, tally: HistoryCounts, verdict: Verdict) -> LevelReport:
    states_max = require_histories(declaration.system).states_max
    threads = ThreadCounts(tally.histories, tally.threads, sum(tally.undecided.values()), states_max)
    return LevelReport(tally.histories, tally.steps, verdict, (), threads)


def _unjudged_histories(tally: HistoryCounts) -> tuple[Skip, ...]:
    """The histories that no verdict came of, by reason: first those that were played."""
    declined = Counter(run.reason for run in tally.skipped)
    reasons = (*sorted(tally.undecided.items()), *sorted(declined.items()))
    return tuple(Skip(f"{CONCURRENT_LEVEL}: {count} histories", reason) for reason, count in reasons)


def _unmet_rules(declaration: Declaration, tally: HistoryCounts) -> list[str]:
    """The rules that no history asked for."""
    promises = require_histories(declaration.system)
    unasked = promises.unasked(declaration)
    return [rule.value for rule in promises.rules if rule not in unasked and not tally.fired[rule]]


def check_corrupted_answer(subject: TestedSubject, ended: tuple[History, HistoryResult] | None) -> None:
    """Judge an answered history once more with one byte more in its sum at rest, or stop.

    Raises:
        SpoiltUnseen: no rule saw it.
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


def count_schedules(found: FailingHistory) -> Schedules:
    """What happened on how many threads, and how often."""
    proved = found.failed is None or is_conclusive(found.failed)
    return Schedules(found.said, len(found.history.clients), found.tries, found.times, proved)


def _write_failure(found: FailingHistory, folder: Path) -> Failure:
    """A failure, and the history file that replays it."""
    rules = tuple(rule.value for rule in found.rules)
    schedules = count_schedules(found)
    history = dataclasses.replace(found.history, rules=rules, note=schedules.in_words)
    path, unwritten = try_write(lambda: write_history(history, folder, rules[0].lower()))
    at, got = _failing_step(found)
    return Failure(
        rules=rules,
        case=path,
        unwritten=unwritten,
        step=at,
        expected=None,
        got=got,
        steps=len(found.history.steps),
        schedules=schedules,
        level=CONCURRENT_LEVEL,
        table=build_history_table(found),
        found=found,
    )


def _failing_step(found: FailingHistory) -> tuple[int, Any]:
    """The step that shows a failure, counted through the whole history, and its answer; else how the run failed."""
    if found.break_ is not None and found.break_.event is not None:
        event = found.break_.event
        numbers = [(client, index) for client, part in found.history.parts() for index in range(len(part))]
        return numbers.index((event.client, event.step)), dict(event.outcome)
    last = max(0, len(found.history.steps) - 1)
    return last, None if found.failed is None else failure_to_json(found.failed)
