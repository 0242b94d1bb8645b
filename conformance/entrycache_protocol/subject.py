"""What a subject is to the runner: a declaration, and answers to cases."""

from __future__ import annotations

import dataclasses
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import EntrycacheError
from entrycache_protocol.system import AnySystem, Instance, LocalSubject


class RunResult(NamedTuple):
    """A run that ended: one outcome a step, typed; `leaked` where the subject declares leaks."""

    outcomes: tuple[Any, ...]
    leaked: int | None = None


class SkippedRun(NamedTuple):
    """A run that the subject declined."""

    reason: str
    issue_url: str | None = None


class FailureKind(Enum):
    """How a run failed to answer, twice; or, with `LEAKED`, what it left behind when it had answered."""

    ERRORED = "errored"
    HANG = "no answer within the time-out"
    DEATH = "the process ended"
    LEAKED = "buffer references leaked"


class FailedRun(NamedTuple):
    """A run that did not answer, on a fresh process too: a violation of the liveness rules.

    `log`: the telling lines of what the subject wrote to stderr, or of the traceback that it sent.
    """

    trouble: FailureKind
    step: int | None
    message: str
    log: tuple[str, ...] = ()


Answer = RunResult | SkippedRun | FailedRun


class HistoryEvent(NamedTuple):
    """One step of a history, between two ticks of its counter; the outcome typed as in a run.

    Client -1 is what came before the threads; the number of clients is what came after them.
    """

    client: int
    step: int
    start: int
    end: int
    outcome: Any


class HistoryResult(NamedTuple):
    """A history that ended: each of its steps once, in the order of its file."""

    events: tuple[HistoryEvent, ...]


HistoryAnswer = HistoryResult | SkippedRun | FailedRun


class TestedSubject(Protocol):
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


# --- failure
# How a subject differs from the reference: where, and by which case.


class Difference(NamedTuple):
    """The first step at which a subject and the reference part; `got` None: the run did not answer."""

    at: int
    expected: Any
    got: Any
    failed: FailedRun | None = None

    @property
    def is_silent(self) -> bool:
        """Whether the run gave no answer to this step."""
        return self.failed is not None and self.failed.trouble is not FailureKind.LEAKED


class FailingCase(NamedTuple):
    """A case on which a subject and the reference differ, with the reference's steps.

    `repeats`: it differed again on a fresh process, after the runs before it, if it has any. `unconfirmed`: why nobody
    knows, empty where it was tried.
    """

    case: Case
    steps: list[Any]
    difference: Difference
    repeats: bool = True
    unconfirmed: str = ""

    def as_reported(self, rules: tuple[str, ...] = ()) -> Case:
        """The case as its file tells it: with the reference's answers, those of the subject, and the rules."""
        write = self.case.system.wire.write_outcome
        right = tuple(write(done.outcome) for done in self.steps)
        difference = self.difference
        return dataclasses.replace(
            self.case,
            outcomes=right,
            got=() if difference.got is None else (*right[: difference.at], write(difference.got)),
            rules=rules,
            note=difference.failed.message if difference.failed is not None else "",
        )


def failure_to_json(failed: FailedRun) -> dict[str, str]:
    """How a run failed to answer."""
    return {"failed": failed.trouble.value, "message": failed.message}


def answer_to_json(system: AnySystem, difference: Difference) -> Any:
    """What the subject answered, or how it failed to."""
    if difference.failed is not None:
        return failure_to_json(difference.failed)
    return system.wire.write_outcome(difference.got)


def expected_to_json(system: AnySystem, difference: Difference) -> Any:
    """What the reference answers at the difference; null where there is no step."""
    return None if difference.expected is None else system.wire.write_outcome(difference.expected)


# --- threads
# Playing a history on an instance in this process: each client's steps on a thread of its own.

SWITCH_SECONDS: Final = 1e-6
"""How soon the interpreter gives the next thread its turn while a history is played."""

IMPLEMENTATION_ERRORS: Final = (Exception, SystemExit)
"""What an implementation may throw. One that calls `sys.exit` would end its judge with an exit code of its own."""


class StepError(Exception):
    """A step of a history threw what the protocol does not name; the cause is what it threw."""


def play_history(
    instance: Callable[[Any], Any], parts: Sequence[tuple[int, Sequence[Any]]]
) -> tuple[HistoryEvent, ...]:
    """Every step of the parts of a history with its outcome, in their order: see `History.parts`.

    The threads are daemons: where they wait for one another for ever, whoever waits here can still be ended.

    Raises:
        StepFailed: a step threw; the first one is told.
    """
    ticks = itertools.count(1)
    failures: list[StepError] = []
    events: dict[int, list[HistoryEvent]] = {}

    def client(number: int, steps: Sequence[Any], begin: Callable[[], object] = lambda: None) -> None:
        done = events.setdefault(number, [])
        begin()
        for index, op in enumerate(steps):
            if failures:
                return
            start = next(ticks)
            try:
                outcome = instance(op)
            except EntrycacheError as error:
                failures.append(_step_error(number, index, op, error))
                return
            except IMPLEMENTATION_ERRORS as error:  # any error of an implementation is its answer
                failures.append(_step_error(number, index, op, error))
                return
            done.append(HistoryEvent(number, index, start, next(ticks), outcome))

    before, *clients, after = parts
    client(*before)
    together = threading.Barrier(len(clients))
    with _eager_switches():
        threads = [
            threading.Thread(target=client, args=(number, steps, together.wait), name=f"client {number}", daemon=True)
            for number, steps in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    client(*after)
    if failures:
        raise failures[0]
    return tuple(event for number, _ in parts for event in events[number])


def _step_error(number: int, index: int, op: Any, error: BaseException) -> StepError:
    name = op["op"] if isinstance(op, dict) else type(op).name
    failed = StepError(f"client {number}, step {index} ({name}): {type(error).__name__}: {error}")
    failed.__cause__ = error
    return failed


@contextmanager
def _eager_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


# --- in_process
# A subject in this process: a function that opens an instance, which is called step by step.

OpenInstance = Callable[[Any], Instance]
"""From a configuration to an instance."""


class InProcessSubject:
    """Our own caches and the reference itself, without a transport.

    `offer` is what a start answer says of the system; `open_shared` opens instances that several threads may call
    at once, where there are such.
    """

    def __init__(
        self,
        name: str,
        system: AnySystem,
        open_instance: OpenInstance,
        offer: dict[str, Any],
        open_shared: OpenInstance | None = None,
    ) -> None:
        self._name = name
        self._open = open_instance
        self._open_shared = open_shared
        implementation = {"name": name, "version": "0.1.0", "language": "Python", "source": "entrycache"}
        self.start_answer: dict[str, Any] = {
            "version": 1,
            "implementation": implementation,
            "systems": {system.name: offer},
        }
        self._declaration: Declaration = read_declaration(self.start_answer, {system.name: system})

    @property
    def name(self) -> str:
        """How reports call it."""
        return self._name

    @property
    def declaration(self) -> Declaration:
        """What the subject offers."""
        return self._declaration

    def open(self, config: Any) -> Callable[[Any], Any]:
        """A new, empty instance."""
        return self._open(config)

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """The answers, one a case, in order."""
        return [self._play(case) for case in cases]

    def _play(self, case: Case) -> Answer:
        instance = self._open(case.config)
        outcomes = []
        for index, op in enumerate(case.steps):
            try:
                outcomes.append(instance(op))
            except EntrycacheError:
                raise
            except Exception as error:  # any error of an implementation is its answer
                return FailedRun(FailureKind.ERRORED, index, f"{type(error).__name__}: {error}")
        return RunResult(tuple(outcomes), self.leaked(instance))

    def open_shared(self, config: Any) -> Callable[[Any], Any] | None:
        """A new, empty instance for several threads; None where there is no such."""
        return None if self._open_shared is None else self._open_shared(config)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """The answers, one a history, in order."""
        return [self._play_history(history) for history in histories]

    def _play_history(self, history: History) -> HistoryAnswer:
        instance = self.open_shared(history.config)
        if instance is None:
            return SkippedRun(f"{self._name} takes no histories")
        try:
            return HistoryResult(play_history(instance, tuple(history.parts())))
        except StepError as error:
            return FailedRun(FailureKind.ERRORED, None, str(error))

    def leaked(self, instance: Any) -> int | None:
        """The references that are left when a run has ended; None where nobody counts them."""
        count = getattr(instance, "leaked", None)
        return None if count is None or not self._declaration.leaks else int(count())

    def close(self) -> None:
        """Nothing to let go of."""


def open_local_subject(name: str, system: AnySystem, own: LocalSubject) -> InProcessSubject:
    """A cache of ours as a subject of that name."""
    return InProcessSubject(name, system, own.open, own.offer, own.open_shared)
