"""One conformance run of the level `concurrent`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL, is_proved, offers, promises_of
from entrycache_conformance.concurrent.search import Found, Tally, search
from entrycache_conformance.failures import Failure, Schedules
from entrycache_conformance.report import LevelReport, Skip, Threads
from entrycache_conformance.table import table_of_history
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import OurError
from entrycache_protocol.failure import failed_json
from entrycache_protocol.history import History, write_history
from entrycache_protocol.output import tried
from entrycache_protocol.subject import Happened, UnderTest
from entrycache_protocol.verdict import Verdict
from entrycache_reference.rules import Rule

HISTORIES_MAX: Final = 6_000
"""Histories of one run at most: further ones of a profile say little that the first have not said."""


class Threaded(NamedTuple):
    """What came out: the level, its failures, what was not checked, and how often each rule was asked."""

    level: LevelReport
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skip, ...] = ()
    fired: Mapping[Rule, int] = MappingProxyType({})


class SpoiltUnseen(OurError):
    """An answer that was spoilt on purpose was not seen: nothing the run says could be believed."""


def conform_concurrent(
    subject: UnderTest, wanted: int, seed: int, folder: Path, notify: Callable[[int, int], None]
) -> Threaded:
    """Judge a subject by its histories.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        SpoiltUnseen: our error.
    """
    declaration = subject.declaration
    if not offers(declaration):
        reason = "the subject declares no histories: limits.threads is 1 or absent"
        return Threaded(LevelReport(), skipped=(Skip(f"level {LEVEL}", reason),))
    tally = Tally()
    wanted = min(wanted, HISTORIES_MAX)
    found = search(subject, wanted, seed, tally, lambda count: notify(tally.histories, wanted))
    skipped = _unjudged(tally)
    if found is not None:
        level = _level(declaration, tally, Verdict.VIOLATES)
        return Threaded(level, (_written(found, folder),), skipped, tally.fired)
    see_what_is_spoilt(subject, tally.ended)
    unmet = _unmet(declaration, tally)
    if unmet:
        skipped += (Skip(f"level {LEVEL}", f"no history asked for {', '.join(unmet)}"),)
    if tally.is_late:
        once = "one got no answer once, and one each time that it was played again; is the machine busy? run it again"
        skipped += (Skip(f"level {LEVEL}", once),)
    judged = tally.fired[promises_of(declaration.system).ends]
    if 2 * judged < tally.histories:
        few = f"{judged} of {tally.histories} histories could be judged: too few to say anything"
        skipped += (Skip(f"level {LEVEL}", few),)
    conforms = 2 * judged >= tally.histories > 0 and not unmet and not tally.is_late
    verdict = Verdict.CONFORMS if conforms else Verdict.NOTHING_CHECKED
    return Threaded(_level(declaration, tally, verdict), (), skipped, tally.fired)


def _level(declaration: Declaration, tally: Tally, verdict: Verdict) -> LevelReport:
    states_max = promises_of(declaration.system).states_max
    threads = Threads(tally.histories, tally.threads, sum(tally.undecided.values()), states_max)
    return LevelReport(tally.histories, tally.steps, verdict, (), threads)


def _unjudged(tally: Tally) -> tuple[Skip, ...]:
    """The histories that no verdict came of, by reason: first those that were played."""
    declined = Counter(run.reason for run in tally.skipped)
    reasons = (*sorted(tally.undecided.items()), *sorted(declined.items()))
    return tuple(Skip(f"{LEVEL}: {count} histories", reason) for reason, count in reasons)


def _unmet(declaration: Declaration, tally: Tally) -> list[str]:
    """The rules that no history asked for."""
    promises = promises_of(declaration.system)
    unasked = promises.unasked(declaration)
    return [rule.value for rule in promises.rules if rule not in unasked and not tally.fired[rule]]


def see_what_is_spoilt(subject: UnderTest, ended: tuple[History, Happened] | None) -> None:
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
    if not promises_of(history.system).judge(history, Happened(tuple(events)), declaration).broken:
        raise SpoiltUnseen("an answer that was spoilt on purpose was not seen; this run would prove nothing")


def schedules_of(found: Found) -> Schedules:
    """What happened on how many threads, and how often."""
    proved = found.failed is None or is_proved(found.failed)
    return Schedules(found.said, len(found.history.clients), found.tries, found.times, proved)


def _written(found: Found, folder: Path) -> Failure:
    """A failure, and the history file that replays it."""
    rules = tuple(rule.value for rule in found.rules)
    schedules = schedules_of(found)
    history = dataclasses.replace(found.history, rules=rules, note=schedules.in_words)
    path, unwritten = tried(lambda: write_history(history, folder, rules[0].lower()))
    at, got = _shown_by(found)
    return Failure(
        rules=rules,
        case=path,
        unwritten=unwritten,
        step=at,
        expected=None,
        got=got,
        steps=len(found.history.steps),
        schedules=schedules,
        level=LEVEL,
        table=table_of_history(found),
        found=found,
    )


def _shown_by(found: Found) -> tuple[int, Any]:
    """The step that shows a failure, counted through the whole history, and its answer; else how the run failed."""
    if found.break_ is not None and found.break_.event is not None:
        event = found.break_.event
        numbers = [(client, index) for client, part in found.history.parts() for index in range(len(part))]
        return numbers.index((event.client, event.step)), dict(event.outcome)
    last = max(0, len(found.history.steps) - 1)
    return last, None if found.failed is None else failed_json(found.failed)
