"""Subjects: implementations under test as the runner holds them, their answers, and the ways in which they differ.

A `TestedSubject` has a declaration and plays cases and histories. If it has a process of its own, it can restart it. It
answers a case with a `RunResult`, a `SkippedRun`
or a `FailedRun`, and a history with a `HistoryResult` in place of the first. An `InProcessSubject` is a subject of this
process: the reference, our caches, seeded faults. `play_history` runs the clients of a history on threads.

A `Difference` is the first step at which a subject and the reference differ, and a `FailingCase` is a case with its
difference, as it is reported and written to a file.
"""

import dataclasses
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import EntrycacheError, UsageError
from entrycache_protocol.system import AnySystem, Instance, LocalSubject
from entrycache_reference.vocabulary import ABSENT


class RunResult(NamedTuple):
    """A run that ended, with one typed outcome for each step; `leaked` is set if the subject declares leaks."""

    outcomes: tuple[Any, ...]
    leaked: int | None = None


class SkippedRun(NamedTuple):
    """A run that the subject declined."""

    reason: str
    issue_url: str | None = None


class FailureKind(Enum):
    """The reason why a run has no answer after two attempts; `LEAKED`: it has answers, and left references behind."""

    ERRORED = "errored"
    HANG = "no answer within the time-out"
    DEATH = "the process ended"
    LEAKED = "buffer references leaked"


class FailedRun(NamedTuple):
    """A run that gave no answer, not even on a fresh process: a violation of the liveness rules.

    `log` holds the lines of stderr, or of a traceback that the subject sent, that name the cause.
    """

    trouble: FailureKind
    step: int | None
    message: str
    log: tuple[str, ...] = ()


Answer = RunResult | SkippedRun | FailedRun


class HistoryEvent(NamedTuple):
    """One step of a history between two ticks of a counter, with its typed outcome.

    Client -1 is the part before the threads; the number of clients stands for the part after them.
    """

    client: int
    step: int
    start: int
    end: int
    outcome: Any


class HistoryResult(NamedTuple):
    """A history that ended, with each of its steps once, in the order of its file."""

    events: tuple[HistoryEvent, ...]


HistoryAnswer = HistoryResult | SkippedRun | FailedRun


class TestedSubject(Protocol):
    """An implementation under test, as the runner sees it.

    A class that inherits from this one, and says nothing else, has no process that could be restarted or ended.
    """

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""

    @property
    def name(self) -> str:
        """The name of the subject in reports."""

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Play cases and return one answer for each, in order.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """

    def play_to_failure(self, cases: Sequence[Case]) -> list[Answer]:
        """Play cases and return the answers in order; a subject may end with the first run that fails.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """
        return self.play(cases)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Play histories and return one answer for each, in order; none is repeated, since no two schedules are equal.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """

    closing_note: str = ""
    """The note about a process that failed when it was stopped; "" if it did not, or before `close`."""

    def close(self) -> None:
        """Release processes and files."""

    def restart(self) -> bool:
        """Make the next run start a fresh process. Return whether the subject has one."""
        return False

    def earlier_runs(self, case: Case) -> tuple[Case, ...]:
        """Return the runs that the process of this very run had played before it; none if there is no process."""
        return ()

    def detach(self) -> None:
        """Forget processes that the runner of this fork has started, so that the next run starts its own."""
        return

    def limit_time(self, seconds: float) -> AbstractContextManager[None]:
        """Let a run inside the block take at most `seconds`, and try none again."""
        return nullcontext()

    def waives(self, failing: "FailingCase") -> bool:
        """Return whether this failure does not count, because it is known or has been reported."""
        return False

    def play_fresh(self, cases: Sequence[Case]) -> list[Answer]:
        """Play cases on a fresh process, if there is one, and return one answer for each, in order.

        Raises:
            BrokenSubject: the subject does not speak the protocol.
        """
        self.restart()
        return self.play(cases)


def require_supported(case: Case | History, subject: TestedSubject) -> None:
    """Refuse a case that needs something that the subject does not offer.

    Raises:
        UsageError: another system, an operation that is not declared, a token without `payload`, a setting that is
            fixed otherwise, or one that the subject does not take and that decides an answer.
    """
    declaration = subject.declaration
    if case.system is not declaration.system:
        raise UsageError(f"the case is about {case.system.name}, {subject.name} offers {declaration.system.name}")
    missing = sorted({type(op).name for op in case.steps} - declaration.ops)
    if missing:
        raise UsageError(f"{subject.name} does not offer {', '.join(missing)}, which the case needs")
    tokens = [index for index, op in enumerate(case.steps) if getattr(op, "token", ABSENT) is not ABSENT]
    if tokens and not declaration.payload:
        raise UsageError(f"{subject.name} does not declare payload, and step {tokens[0]} of the case carries a token")
    reason = declaration.unsupported_reason(case.config, case.steps)
    if reason:
        raise UsageError(f"{subject.name}: {reason}")
    base: Any = declaration.base_config()
    for setting in dataclasses.fields(base):
        if setting.name == "variants" or getattr(base, setting.name) is None or declaration.varies(setting.name):
            continue
        wanted, has = getattr(case.config, setting.name), getattr(base, setting.name)
        if setting.name in declaration.fixed and wanted != has:
            raise UsageError(f"{subject.name} has {setting.name} fixed to {has!r}, the case needs {wanted!r}")
        if wanted != has and isinstance(case, Case) and _decides_answers(case, setting.name, has):
            raise UsageError(f"{subject.name} does not take {setting.name}, and the case needs {wanted!r}, not {has!r}")


def _decides_answers(case: Case, name: str, other: Any) -> bool:
    """Return whether the reference answers a case otherwise with another value of a setting."""
    model = case.system.model
    configs = (case.config, dataclasses.replace(case.config, **{name: other}))
    states = [model.initial(config) for config in configs]
    for op in case.steps:
        done = [model.step(state, op, config) for state, config in zip(states, configs, strict=True)]
        if done[0].outcome != done[1].outcome:
            return True
        states = [one.state for one in done]
    return False


class Difference(NamedTuple):
    """The first step at which a subject and the reference differ; `got` is None if the run gave no answer.

    `guided` holds the reference's steps up to this one if an answer of the subject guided them.
    """

    at: int
    expected: Any
    got: Any
    failed: FailedRun | None = None
    guided: tuple[Any, ...] = ()

    @property
    def is_unanswered(self) -> bool:
        """Return whether the run gave no answer to the step."""
        return self.failed is not None and self.failed.trouble is not FailureKind.LEAKED


class FailingCase(NamedTuple):
    """A case on which a subject and the reference differ, with the reference's steps.

    `repeats` says that the case failed again on a fresh process, after its earlier runs if it has any. `unconfirmed` is
    the reason why that was not tried; empty if it was.
    """

    case: Case
    steps: list[Any]
    difference: Difference
    repeats: bool = True
    unconfirmed: str = ""

    @property
    def path(self) -> list[Any]:
        """The reference's steps as the subject's answers guided them."""
        return [*self.difference.guided, *self.steps[len(self.difference.guided) :]]

    @property
    def is_hang(self) -> bool:
        """True if the run never ended. Finding it again would cost its time-outs again."""
        failed = self.difference.failed
        return failed is not None and failed.trouble is FailureKind.HANG

    def as_reported(self, rules: tuple[str, ...] = ()) -> Case:
        """Return the case for its file: with the answers of the reference and of the subject, and the rules."""
        write = self.case.system.wire.write_outcome
        right = tuple(write(done.outcome) for done in self.path)
        difference = self.difference
        return dataclasses.replace(
            self.case,
            outcomes=right,
            got=() if difference.got is None else (*right[: difference.at], write(difference.got)),
            rules=rules,
            note=difference.failed.message if difference.failed is not None else "",
        )


def failure_to_json(failed: FailedRun) -> dict[str, str]:
    """Return a failed run as JSON."""
    return {"failed": failed.trouble.value, "message": failed.message}


def answer_to_json(system: AnySystem, difference: Difference) -> Any:
    """Return the subject's answer at the difference as JSON, or its failure to answer."""
    if difference.failed is not None:
        return failure_to_json(difference.failed)
    return system.wire.write_outcome(difference.got)


def expected_to_json(system: AnySystem, difference: Difference) -> Any:
    """Return the reference's answer at the difference as JSON, or null if there is no step."""
    return None if difference.expected is None else system.wire.write_outcome(difference.expected)


SWITCH_SECONDS: Final = 1e-6
"""The time after which the interpreter switches threads while a history is played."""


class Interruption(BaseException):
    """An error that ends a run from outside. This is no `Exception`, so that a class seldom catches it by accident."""


def raise_interruption(error: BaseException) -> None:
    """Raise an error again if it ends a run from outside; return if it is an error of the implementation.

    An implementation may raise any class, also `SystemExit` or a cancelled task, and none of them ends the runner.
    """
    if isinstance(error, KeyboardInterrupt | Interruption):
        raise error


class StepError(Exception):
    """A step of a history raised an error that the protocol does not have; `__cause__` is that error."""


def play_history(
    instance: Callable[[Any], Any], parts: Sequence[tuple[int, Sequence[Any]]]
) -> tuple[HistoryEvent, ...]:
    """Play the parts of a history (see `History.parts`) and return every step with its outcome, in their order.

    The threads are daemons: if they wait for one another for ever, the process can still be ended.

    Raises:
        StepError: a step raised an error; this is the first one.
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
            except BaseException as error:  # any error of an implementation is its answer
                raise_interruption(error)
                failures.append(_step_error(number, index, op, error))
                return
            done.append(HistoryEvent(number, index, start, next(ticks), outcome))

    before, *clients, after = parts
    client(*before)
    start_line = threading.Barrier(len(clients))
    with _eager_switches():
        threads = [
            threading.Thread(target=client, args=(number, steps, start_line.wait), name=f"client {number}", daemon=True)
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


OpenInstance = Callable[[Any], Instance]
"""A function from a configuration to an instance."""


class InProcessSubject(TestedSubject):
    """A subject of this process, without a transport: the reference, our caches and seeded faults.

    `offer` is the offer of the system, as in a start answer. `open_shared` opens instances that several threads may
    call at once, if there are such.
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
        """The name of the subject in reports."""
        return self._name

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""
        return self._declaration

    def open(self, config: Any) -> Callable[[Any], Any]:
        """Open a new, empty instance."""
        return self._open(config)

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Play cases and return one answer for each, in order."""
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
        """Open a new, empty instance for several threads, or return None if the subject has none."""
        return None if self._open_shared is None else self._open_shared(config)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Play histories and return one answer for each, in order."""
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
        """Return the references that are left when a run has ended, or None if the subject does not count them."""
        count = getattr(instance, "leaked", None)
        return None if count is None or not self._declaration.leaks else int(count())

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def open_local_subject(name: str, system: AnySystem, own: LocalSubject) -> InProcessSubject:
    """Return a local subject under a name."""
    return InProcessSubject(name, system, own.open, own.offer, own.open_shared)


class SubjectWrapper(TestedSubject):
    """A subject that does what the subject behind it does."""

    def __init__(self, subject: TestedSubject) -> None:
        self.subject = subject

    @property
    def name(self) -> str:
        """The name in reports."""
        return self.subject.name

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""
        return self.subject.declaration

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order."""
        return self.subject.play(cases)

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Return the answers, one per history, in order."""
        return self.subject.play_histories(histories)

    def restart(self) -> bool:
        """Make the next run start a fresh process. Return whether the subject has one."""
        return self.subject.restart()

    def earlier_runs(self, case: Case) -> tuple[Case, ...]:
        """Return the runs that the process of this very run had played before it."""
        return self.subject.earlier_runs(case)

    def detach(self) -> None:
        """Forget processes that the runner of this fork has started."""
        self.subject.detach()

    def limit_time(self, seconds: float) -> AbstractContextManager[None]:
        """Let a run inside the block take at most `seconds`, and try none again."""
        return self.subject.limit_time(seconds)

    def waives(self, failing: FailingCase) -> bool:
        """Return whether this failure does not count, because it is known or has been reported."""
        return self.subject.waives(failing)

    def close(self) -> None:
        """Close the subject."""
        self.subject.close()
        self.closing_note = self.subject.closing_note
