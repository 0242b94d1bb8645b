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
from entrycache_protocol.errors import OurError
from entrycache_protocol.history import History, write_history
from entrycache_protocol.subject import Happened, UnderTest
from entrycache_reference.rules import Rule

HISTORIES_MAX: Final = 6_000
"""Histories of one run at most: further ones of a profile say little that the first have not said."""


class Threaded(NamedTuple):
    """What came out: the level's object of `--json`, its failures there, and the same for people."""

    levels: dict[str, dict[str, Any]]
    failures: list[dict[str, Any]]
    skipped: list[dict[str, str]]
    found: tuple[tuple[Found, Path], ...]
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
    level: dict[str, Any] = {"examples": 0, "steps": 0, "verdict": "nothing-checked", "missing": []}
    if not offers(declaration):
        reason = "the subject declares no histories: limits.threads is 1 or absent"
        return Threaded({LEVEL: level}, [], [{"what": f"level {LEVEL}", "reason": reason}], ())
    promises = promises_of(declaration.system)
    tally = Tally()
    wanted = min(wanted, HISTORIES_MAX)
    found = search(subject, wanted, seed, tally, lambda count: notify(tally.histories, wanted))
    level |= {
        "examples": tally.histories,
        "steps": tally.steps,
        "histories": tally.histories,
        "threads": tally.threads,
        "inconclusive": sum(tally.undecided.values()),
        "states_max": promises.states_max,
    }
    skipped = [
        {"what": f"{LEVEL}: {count} histories", "reason": reason} for reason, count in sorted(tally.undecided.items())
    ]
    reasons = Counter(run.reason for run in tally.skipped)
    skipped += [{"what": f"{LEVEL}: {count} histories", "reason": reason} for reason, count in sorted(reasons.items())]
    if found is not None:
        level["verdict"] = "violates"
        path = _written(found, folder)
        return Threaded({LEVEL: level}, [_to_json(found, path)], skipped, ((found, path),), tally.fired)
    see_what_is_spoilt(subject, tally.ended)
    unmet = [
        rule.value for rule in promises.rules if rule not in promises.unasked(declaration) and not tally.fired[rule]
    ]
    if unmet:
        skipped.append({"what": f"level {LEVEL}", "reason": f"no history asked for {', '.join(unmet)}"})
    elif tally.histories:
        level["verdict"] = "conforms"
    return Threaded({LEVEL: level}, [], skipped, (), tally.fired)


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


def _written(found: Found, folder: Path) -> Path:
    rules = tuple(rule.value for rule in found.rules)
    history = dataclasses.replace(found.history, rules=rules, note=said(found))
    return write_history(history, folder, found.rules[0].value.lower())


def said(found: Found) -> str:
    """What happened, and how often."""
    return f"{found.said} ({found.times} of {found.tries} tries)"


def _to_json(found: Found, path: Path) -> dict[str, Any]:
    """One failure in the contract's form, with what only histories have: clients and tries."""
    steps = found.history.steps
    event = None if found.break_ is None else found.break_.event
    at = max(0, len(steps) - 1)
    got: Any = None
    if event is not None:
        got = dict(event.outcome)
        numbers = [(client, index) for client, part in found.history.parts() for index in range(len(part))]
        at = numbers.index((event.client, event.step))
    elif found.failed is not None:
        got = {"failed": found.failed.trouble.value, "message": found.failed.message}
    return {
        "rule": found.rules[0].value,
        "rules": [rule.value for rule in found.rules],
        "case": str(path),
        "step": at,
        "expected": None,
        "got": got,
        "steps": len(steps),
        "said": found.said,
        "clients": len(found.history.clients),
        "tries": found.tries,
        "times": found.times,
        "proved": found.failed is None or is_proved(found.failed),
    }
