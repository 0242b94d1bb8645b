"""What a subject is to the runner: a declaration, and answers to cases."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from entrycache_conformance.case import Case
    from entrycache_conformance.declaration import Declaration


class Played(NamedTuple):
    """A run that ended: one outcome a step, typed; `leaked` where the subject declares leaks."""

    outcomes: tuple[Any, ...]
    leaked: int | None = None


class Skipped(NamedTuple):
    """A run that the subject declined."""

    reason: str
    issue_url: str | None = None


class Trouble(Enum):
    """How a run failed to answer, twice; or, with `LEAKED`, what it left behind when it had answered."""

    ERRORED = "errored"
    HANG = "no answer within the time-out"
    DEATH = "the process ended"
    LEAKED = "buffer references leaked"


class Failed(NamedTuple):
    """A run that did not answer, on a fresh process too: a violation of the liveness rules."""

    trouble: Trouble
    step: int | None
    message: str


Answer = Played | Skipped | Failed


class Subject(Protocol):
    """An implementation under test."""

    @property
    def declaration(self) -> Declaration:
        """What the subject offers."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """

    def close(self) -> None:
        """Let go of processes and files."""
