"""A subject as it is when nothing was played on it before."""

from __future__ import annotations

from collections.abc import Sequence

from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.narrowed import Narrowed
from entrycache_conformance.subjects.validate import Validated
from entrycache_protocol.case import Case
from entrycache_protocol.subject import Answer, UnderTest


def child_of(subject: UnderTest) -> Child | None:
    """The process behind a subject, if it is one."""
    while isinstance(subject, Validated | Narrowed):
        subject = subject.subject
    return subject if isinstance(subject, Child) else None


def begin_anew(subject: UnderTest) -> bool:
    """Let the next run find a process that has played nothing; whether the subject is a process."""
    child = child_of(subject)
    if child is None:
        return False
    child.begin_anew()
    return True


def play_anew(subject: UnderTest, runs: Sequence[Case]) -> list[Answer]:
    """The answers to these runs of a process that has played nothing else.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
    """
    if isinstance(subject, Fresh):  # which would begin a process for each of them
        return play_anew(subject.subject, runs)
    begin_anew(subject)
    return subject.play(runs)


class Fresh(Narrowed):
    """The same subject, each case on a process of its own."""

    def __init__(self, subject: UnderTest) -> None:
        super().__init__(subject, subject.declaration)

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order."""
        return [play_anew(self.subject, [*case.earlier, case])[-1] for case in cases]
