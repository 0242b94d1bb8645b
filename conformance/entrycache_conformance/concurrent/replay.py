"""Replaying one history: it is played again and again, because no two schedules are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import offers
from entrycache_conformance.concurrent.search import SILENT_TRIES, Found, Tally, judge
from entrycache_conformance.replay import fit
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import History
from entrycache_protocol.subject import Trouble, UnderTest
from entrycache_protocol.verdict import Verdict

TRIES: Final = 1_000
"""How often a history is played at most; the first failure ends it."""

BATCH: Final = 50
"""How many of them at once; fewer at first, as one that hangs costs its time-out."""

LATE: Final = "one try got no answer, once; is the machine busy? run it again"


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
    tries, most, size = 0, TRIES, 1
    late = ""
    while tries < most:
        for answer in subject.play_histories([history] * min(size, most - tries)):
            tries += 1
            found = judge(subject, history, answer, tally)
            if found is None:
                continue
            if found.failed is None or found.failed.trouble is not Trouble.HANG or late:
                return Replayed(found._replace(tries=tries), tries)
            late, most = LATE, min(TRIES, tries + SILENT_TRIES)
        if tally.skipped:
            return Replayed(None, tries, f"it skipped the history: {tally.skipped[0].reason}")
        size = 1 if late else min(2 * size, BATCH)
    undecided = "" if tally.fired else next(iter(tally.undecided), "")
    return Replayed(None, tries, late or undecided)


def history_to_json(file: Path, name: str, replayed: Replayed) -> dict[str, Any]:
    """What `replay --json` prints of a history."""
    shown: dict[str, Any] = {"schema": 1, "case": str(file), "subject": name, "verdict": replayed.verdict.value}
    shown["tries"] = replayed.tries
    if replayed.found is not None:
        shown["rules"] = [rule.value for rule in replayed.found.rules]
        shown["said"] = replayed.found.said
        shown["events"] = list(replayed.found.history.events)
    return shown
