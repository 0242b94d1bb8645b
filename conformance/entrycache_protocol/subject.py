"""What a subject is to the runner: a declaration, and answers to cases."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.history import History


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
    """A run that did not answer, on a fresh process too: a violation of the liveness rules.

    `log`: the telling lines of what the subject wrote to stderr, or of the traceback that it sent.
    """

    trouble: Trouble
    step: int | None
    message: str
    log: tuple[str, ...] = ()


Answer = Played | Skipped | Failed


class Event(NamedTuple):
    """One step of a history, between two ticks of its counter; the outcome typed as in a run.

    Client -1 is what came before the threads; the number of clients is what came after them.
    """

    client: int
    step: int
    start: int
    end: int
    outcome: Any


class Happened(NamedTuple):
    """A history that ended: each of its steps once, in the order of its file."""

    events: tuple[Event, ...]


HistoryAnswer = Happened | Skipped | Failed


class UnderTest(Protocol):
    """An implementation under test, as the runner holds it."""

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

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """The answers, one a history, in order. None is tried again: two schedules are never the same.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """

    def close(self) -> None:
        """Let go of processes and files."""
