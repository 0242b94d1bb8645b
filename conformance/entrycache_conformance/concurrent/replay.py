"""Replaying one history: it is played again and again, because no two schedules are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import is_proved, offers
from entrycache_conformance.concurrent.search import SILENT_TRIES, Found, Tally, judge
from entrycache_conformance.replay import fit
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.verdict import Verdict

TRIES: Final = 1_000
"""How often a history is played at most; the first failure ends it."""

BATCH: Final = 50


class Replayed(NamedTuple):
    """What a replay shows. `found` None: no try failed. `unjudged`: why no try could be judged, in words."""

    found: Found | None
    tries: int
    unjudged: str = ""

    @property
    def verdict(self) -> Verdict:
        """What it comes to."""
        if self.found is not None:
            return Verdict.VIOLATES
        return Verdict.NOTHING_CHECKED if self.unjudged else Verdict.CONFORMS


def replay_history(history: History, subject: UnderTest) -> Replayed:
    """Play a history until it fails, at most a thousand times.

    Raises:
        UsageError: the subject cannot be asked it.
    """
    fit(history, subject)
    if not offers(subject.declaration):
        raise UsageError(f"{subject.name} takes no histories, and {history.system.name} has some")
    threads = subject.declaration.limits.threads
    if len(history.clients) > threads:
        raise UsageError(
            f"{subject.name} takes histories of at most {threads} clients, this one has {len(history.clients)}"
        )
    tally = Tally()
    silent = tries = 0
    while tries < TRIES:
        for answer in subject.play_histories([history] * (1 if tries == 0 else BATCH)):
            tries += 1
            found = judge(subject, history, answer, tally)
            if found is None:
                continue
            silent += found.failed is not None and not is_proved(found.failed)
            if found.failed is None or is_proved(found.failed) or silent > 1:
                return Replayed(found._replace(tries=tries), tries)
            if tries >= SILENT_TRIES:
                break
        if tally.skipped:
            return Replayed(None, tries, f"it skipped the history: {tally.skipped[0].reason}")
    undecided = "" if tally.fired else next(iter(tally.undecided), "")
    return Replayed(None, tries, undecided)


def history_to_json(file: Path, name: str, replayed: Replayed) -> dict[str, Any]:
    """What `replay --json` prints of a history."""
    shown: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    shown["tries"] = replayed.tries
    if replayed.found is not None:
        shown["rules"] = [rule.value for rule in replayed.found.rules]
        shown["said"] = replayed.found.said
        shown["events"] = list(replayed.found.history.events)
    return shown
