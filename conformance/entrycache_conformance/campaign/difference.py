"""A difference that a campaign met: confirmed on a fresh subject, shortened, and written down as a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from entrycache_conformance.judge import Coverage, judge, trajectory
from entrycache_conformance.shrink import shortest
from entrycache_conformance.subjects.resolve import Choice, resolve
from entrycache_protocol.case import Case, write_case
from entrycache_protocol.failure import Difference, FailingCase
from entrycache_protocol.output import tried
from entrycache_protocol.subject import UnderTest

TRIES = 2_000
"""How often a case is played while it is shortened."""


class Kept(NamedTuple):
    """One difference: in which case of the campaign, and the shortened case with both answers.

    `file`: that of the case; empty where it could not be written, and `unwritten` says why.
    """

    subject: str
    number: int
    case: Case
    difference: Difference
    file: str
    unwritten: str

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
            "file": Path(self.file).name,
        }


def keep(name: str, case: Case, folder: Path) -> Kept | None:
    """The difference of a subject from the reference on this case; None if a fresh process shows none."""
    subject = resolve(Choice(name))
    try:
        found = _shortest(subject, case)
    finally:
        subject.close()
    if found is None:
        return None
    short, difference = found
    whole = FailingCase(short, trajectory(short, Coverage()), difference).as_reported()
    file, unwritten = tried(lambda: write_case(whole, folder, name.replace(":", "-")))
    return Kept(name, 0, whole, difference, file, unwritten)


def _shortest(subject: UnderTest, case: Case) -> tuple[Case, Difference] | None:
    """The shortest case found that still differs, and its difference; None if it differs in nothing."""

    def differs(shorter: Case) -> Difference | None:
        return judge(shorter, trajectory(shorter, Coverage()), subject.play([shorter])[0], subject.declaration)

    difference = differs(case)
    return None if difference is None else shortest(case, difference, differs, TRIES, forwards=True)
