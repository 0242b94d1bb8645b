"""A difference that a campaign met: confirmed on a fresh subject, shortened, and written down as a case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_protocol.case import Case, write_case
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import UnderTest

TRIES = 2_000
"""How often a case is played while it is shortened."""


class Kept(NamedTuple):
    """One difference: in which case of the campaign, and the shortened case with both answers."""

    subject: str
    number: int
    case: Case
    difference: Difference
    path: Path

    def to_json(self) -> dict[str, Any]:
        """The line of the campaign's record."""
        got = self.difference.got
        return {
            "subject": self.subject,
            "case": self.number,
            "steps": len(self.case.steps),
            "op": type(self.case.steps[self.difference.at]).name,
            "expected": self.case.system.wire.write_outcome(self.difference.expected),
            "got": None if got is None else self.case.system.wire.write_outcome(got),
            "file": self.path.name,
        }


def keep(name: str, case: Case, folder: Path) -> Kept | None:
    """The difference of a subject from the reference on this case; None if a fresh process shows none."""
    subject = resolve(Choice(name))
    try:
        found = shortest(subject, case)
    finally:
        subject.close()
    if found is None:
        return None
    short, difference = found
    steps = trajectory(short, Coverage())
    right = [short.system.wire.write_outcome(done.outcome) for done in steps]
    got = () if difference.got is None else (*right[: difference.at], short.system.wire.write_outcome(difference.got))
    note = "" if difference.failed is None else difference.failed.message
    whole = dataclasses.replace(short, outcomes=tuple(right), got=got, note=note)
    return Kept(name, 0, whole, difference, write_case(whole, folder, name.replace(":", "-")))


def shortest(subject: UnderTest, case: Case) -> tuple[Case, Difference] | None:
    """The case with ever fewer steps while it still differs, and its difference; None if it differs in nothing."""

    def differs(shorter: Case) -> Difference | None:
        return judge(shorter, trajectory(shorter, Coverage()), subject.play([shorter])[0], subject.declaration)

    return shortened(case, differs)


def shortened(case: Case, differs: Callable[[Case], Difference | None]) -> tuple[Case, Difference] | None:
    """The case with ever fewer steps while it still differs, and its difference; None if it differs in nothing."""
    tries = 0

    def tried(steps: Sequence[Any]) -> tuple[Case, Difference] | None:
        nonlocal tries
        tries += 1
        shorter = dataclasses.replace(case, steps=tuple(steps))
        difference = differs(shorter)
        return None if difference is None else (shorter, difference)

    found = tried(case.steps)
    if found is None:
        return None
    cut = tried(case.steps[: found[1].at + 1]) or found
    size = max(1, len(cut[0].steps) // 2)
    while tries < TRIES:
        index = 0
        has_shrunk = False
        while index < len(cut[0].steps) and tries < TRIES:
            steps = cut[0].steps
            fewer = tried(steps[:index] + steps[index + size :])
            if fewer is None:
                index += size
            else:
                cut, has_shrunk = fewer, True
        if size == 1 and not has_shrunk:
            break
        size = max(1, size // 2)
    return cut
