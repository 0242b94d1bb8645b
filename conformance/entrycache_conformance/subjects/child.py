"""A subject behind a command: a child process that speaks the protocol.

`Child` starts the process, reads its declaration, sends runs ahead in batches, and reads the answers in order. Each
answer has a time-out. A run that fails is tried once more on a fresh process, and a process that breaks the protocol
ends. `PlayedRuns` remembers the runs of each process, because a failure may need what an earlier run left behind.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from entrycache_conformance.subjects.processes import ChildProcess, StderrListener
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import (
    BrokenAdapter,
    BrokenSubject,
    MissingPrerequisite,
    RestartError,
    UsageError,
    escape_unprintable,
    shorten,
)
from entrycache_protocol.subject import Answer, FailedRun, FailureKind, HistoryAnswer, TestedSubject
from entrycache_protocol.wire import START, check_adapter, encode_request, parse_line, quote_line, read_answer

MAX_RUNS: Final = 4_000
"""The number of runs that are remembered."""


class PlayedRuns:
    """The last runs in the order in which they were played, each with the number of its process."""

    def __init__(self) -> None:
        self._process_number = 0
        self._runs: deque[tuple[int, Case]] = deque(maxlen=MAX_RUNS)

    def begin(self) -> None:
        """Note that another process plays the next runs."""
        self._process_number += 1

    def add(self, case: Case) -> None:
        """Note that a run was sent to the process."""
        self._runs.append((self._process_number, case))

    def before(self, case: Case) -> tuple[Case, ...]:
        """Return the runs that the process of this very run had played before it; none if the run is forgotten."""
        runs = list(self._runs)
        at = next((index for index in reversed(range(len(runs))) if runs[index][1] is case), 0)
        return tuple(run for number, run in runs[:at] if number == runs[at][0])


SECONDS_PER_STEP: Final = 0.001
"""The time that a run gets for each of its steps, in addition to the time-out."""

STEPS_AHEAD: Final = 20_000
"""The approximate number of steps that are sent before the first answer is read."""

MISFIT: Final = 3
"""The exit code of a driver of ours that does not fit its jar."""

MISSING_PREREQUISITE: Final = 4
"""The exit code of a driver of ours that lacks something."""


Request = TypeVar("Request", Case, History)


class Child(TestedSubject):
    """A subject behind a command.

    With `prerequisites` the command is a driver of ours, which exits with 3 or 4 if it cannot work, and says why.
    `on_stderr` receives what the process writes to stderr. A run may take `timeout_seconds`, the start at least
    `start_seconds`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        system: str | None = None,
        timeout_seconds: float = 10.0,
        name: str | None = None,
        prerequisites: bool = False,
        on_stderr: StderrListener | None = None,
        start_seconds: float = 0.0,
    ) -> None:
        self.argv = tuple(argv)
        self._given_name = name
        self._on_stderr = on_stderr
        self._start_seconds = max(timeout_seconds, start_seconds)
        self._run_seconds = timeout_seconds
        self._patient = True
        self._prerequisites = prerequisites
        self._process: ChildProcess | None = None
        self.runs = PlayedRuns()
        self._identity = 0
        self._wanted = system
        self.start_answer: dict[str, Any] = {}
        try:
            self._declaration = self._start()
        except BaseException:
            self._drop()
            raise
        known = self._declaration.implementation
        version = f" {known['version']}" if known.get("version") else ""
        self._name = self._given_name or shorten(escape_unprintable(f"{known.get('name', self.argv[0])}{version}"), 100)

    @property
    def name(self) -> str:
        """The name in reports."""
        return self._name

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""
        return self._declaration

    @contextlib.contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Give each run inside the block at most `seconds`, and try no failed run again."""
        before = self._run_seconds, self._patient
        self._run_seconds, self._patient = min(seconds, self._run_seconds), False
        try:
            yield
        finally:
            self._run_seconds, self._patient = before

    def _start(self) -> Declaration:
        self._process = ChildProcess(self.argv, self._on_stderr)
        self.runs.begin()
        self._unanswered = 1  # so that a signal during the start leaves no answer that nobody asked for
        self._process.send(START)
        try:
            line = self._process.receive(self._start_seconds)
            self._unanswered = 0
            if line is FailureKind.HANG:
                raise BrokenSubject(f"no answer to start within {self._start_seconds:g} s")
            if isinstance(line, FailureKind):
                self._check_driver(self._process)
                raise BrokenSubject(f"the process ended before it answered start ({self._process.exit_note()})")
            self.start_answer = parse_line(line)
            check_adapter(self.start_answer)
            return read_declaration(self.start_answer, SYSTEMS, self._wanted)
        except (BrokenSubject, RecursionError) as error:
            broken = self._broken(error)
            self._drop()  # what it says later would be taken for the answer to a run
            raise broken from None

    def _check_driver(self, process: ChildProcess) -> None:
        """Raise the error of a driver of ours that ended at the start and said why.

        Raises:
            BrokenAdapter: it does not fit the jar.
            MissingPrerequisite: something is missing.
        """
        code = process.exit_code() if self._prerequisites else None
        why = " ".join(process.last_words()) or "the driver cannot work here and does not say why"
        if code == MISFIT:
            choose = "choose the driver of the release that is closest to your jar (entrycache subjects)"
            raise BrokenAdapter(f"the driver of {self._given_name} does not fit this jar: {why}; {choose}")
        if code == MISSING_PREREQUISITE:
            raise MissingPrerequisite(why)

    def _start_again(self) -> None:
        """Start the process once more.

        Raises:
            RestartError: it does not start; a licence, a port or a file may be for one process only.
        """
        try:
            declared = self._start()
        except BrokenSubject as error:
            raise RestartError(f"the subject could be started once, and not again: {error}") from None
        except UsageError as error:
            if self._process is None:
                raise RestartError(f"the subject could be started once, and not again: {error}") from None
            self._drop()
            raise BrokenSubject(f"the subject was started again, and declares something else: {error}") from None
        names = (name for name in Declaration.__dataclass_fields__ if name != "implementation")
        changed = [name for name in names if getattr(declared, name) != getattr(self._declaration, name)]
        if changed:
            self._drop()
            raise BrokenSubject(f"the subject was started again, and declares something else: {', '.join(changed)}")

    def _broken(self, error: Exception) -> BrokenSubject:
        """Return the error as one line, with the last words of stderr; a broken adapter has said why."""
        if isinstance(error, BrokenAdapter):
            return error
        what = (
            "the subject answered JSON that is nested too deeply" if isinstance(error, RecursionError) else str(error)
        )
        return BrokenSubject(shorten(escape_unprintable(what), 500) + self._last_words())

    def _last_words(self) -> str:
        """Return the cause that stderr names, in one line."""
        words = self._process.last_words() if self._process is not None else ()
        return f"; its stderr says: {shorten(' / '.join(words), 300)}" if words else ""

    def restart(self) -> bool:
        """End the process, so that the next run starts a fresh one."""
        self._drop()
        return True

    def detach(self) -> None:
        """Forget the process, which belongs to the runner of this fork; the next run starts another one."""
        self._process = None

    def earlier_runs(self, case: Case) -> tuple[Case, ...]:
        """Return the runs that the process of this very run had played before it."""
        return self.runs.before(case)

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order. Runs are sent ahead in batches of some thousand steps.

        Raises:
            BrokenSubject: garbage, a wrong count or order, or a failure that does not repeat.
        """
        answers: list[Answer] = []
        while len(answers) < len(cases):
            answers += self.play_to_failure(cases[len(answers) :])
        return answers

    def play_to_failure(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers in order up to the first run that fails; each such run costs a process.

        Raises:
            BrokenSubject: garbage, a wrong count or order, or a failure that does not repeat.
        """
        answers: list[Answer] = []
        while len(answers) < len(cases):
            batch = self._next_batch(cases[len(answers) :])
            got, failure = self._exchange(batch)
            answers += got
            if failure is not None:
                return answers + (self._again(batch[len(got) :], failure) if self._patient else [failure])
        return answers

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Return the answers, one per history, in order. After a failed history the process is a fresh one.

        Raises:
            BrokenSubject: garbage, or a wrong count or order.
        """
        answers: list[HistoryAnswer] = []
        while len(answers) < len(histories):
            got, failure = self._exchange(self._next_batch(histories[len(answers) :]))
            answers += got
            if failure is not None:
                self._drop()
                answers.append(failure)
        return answers

    @staticmethod
    def _next_batch(cases: Sequence[Request]) -> Sequence[Request]:
        steps = 0
        for count, case in enumerate(cases):
            steps += len(case.steps) + 1
            if steps > STEPS_AHEAD and count:
                return cases[:count]
        return cases

    def _exchange(self, batch: Sequence[Case | History]) -> tuple[list[Any], FailedRun | None]:
        """Play a batch up to its first run that fails. The process ends there, with its unread answers."""
        if self._process is None:
            self._start_again()
        process = self._process
        assert process is not None
        first = self._identity
        self._identity += len(batch)
        self._unanswered = len(batch)
        answers: list[Any] = []
        try:
            for index, case in enumerate(batch):
                process.send(encode_request(case, first + index, self._declaration))
                if isinstance(case, Case):
                    self.runs.add(case)
            for index, case in enumerate(batch):
                line = process.receive(self._run_seconds + SECONDS_PER_STEP * len(case.steps))
                if isinstance(line, FailureKind):
                    note = process.exit_note() if line is FailureKind.DEATH else f"{self._run_seconds:g} s"
                    failed = FailedRun(line, None, note + self._last_words(), process.last_words())
                    self._drop()
                    return answers, failed
                answer = read_answer(parse_line(line), case, first + index, self._declaration)
                self._unanswered -= 1
                if isinstance(answer, FailedRun):
                    answer = answer if answer.log else answer._replace(log=process.thrown())
                    if index + 1 < len(batch):
                        self._drop()
                    return answers, answer
                answers.append(answer)
        except (BrokenSubject, RecursionError) as error:
            broken = self._broken(error)
            self._drop()
            raise broken from None
        return answers, None

    def _again(self, cases: Sequence[Case], failure: FailedRun) -> list[Answer]:
        """Try a failed run once more, alone, on a fresh process.

        If it passes then, a run that was sent behind it may have ended the process before the answers that came first
        were written. So these runs are played one by one, up to one that fails.
        """
        self._drop()
        answers, second = self._exchange(cases[:1])
        if second is not None:
            return [self._confirm(failure, second)]
        for case in cases[1:]:
            got, other = self._exchange([case])
            if other is not None:
                self._drop()
                _, second = self._exchange([case])
                return [*answers, self._confirm(other, second)]
            answers += got
        raise self._passed(failure)

    def _passed(self, failure: FailedRun) -> BrokenSubject:
        what = failure.trouble.value
        return self._broken(
            BrokenSubject(f"a run failed ({what}: {failure.message}) and passed when it was tried again")
        )

    def _confirm(self, failure: FailedRun, second: FailedRun | None) -> FailedRun:
        """Return the failure of a second try, if it is that of the first one."""
        if second is None:
            raise self._passed(failure)
        if second.trouble is not failure.trouble or second.step != failure.step:
            raise self._broken(
                BrokenSubject(
                    f"a run failed in two ways: {failure.trouble.value} ({failure.message}), "
                    f"then {second.trouble.value} ({second.message})"
                )
            )
        self._drop()
        return second

    def send(self, line: str) -> None:
        """Send a request ahead. `receive` reads the answers in this order, and nothing is tried again."""
        if self._process is None:
            self._start_again()
        assert self._process is not None
        self._process.send(line)
        self._unanswered += 1
        self._process.push()

    def receive(self) -> dict[str, Any]:
        """Return the unchecked answer to the oldest request that was sent ahead.

        Raises:
            BrokenSubject: there is none within the time-out, or it is no JSON object.
        """
        assert self._process is not None
        try:
            line = self._process.receive(self._run_seconds)
            if isinstance(line, FailureKind):
                note = self._process.exit_note() if line is FailureKind.DEATH else f"{self._run_seconds:g} s"
                raise BrokenSubject(f"{self._name}: {line.value} ({note})")
            self._unanswered -= 1
            return parse_line(line)
        except BrokenSubject as error:
            broken = self._broken(error)
            self._drop()
            raise broken from None

    def close(self) -> None:
        """End the process. `closing_note` says if it ends otherwise than with exit code 0.

        Raises:
            BrokenSubject: all requests have their answers, and the subject has written more before it is stopped.
        """
        if self._process is not None:
            rest = b"" if self._unanswered else self._process.read_unrequested()
            ending = self._process.stop()
            self._process = None
            if ending:
                self.closing_note = (
                    f"the subject ended with {ending} after it was asked to stop; the verdict leaves that out"
                )
            if rest:
                raise BrokenSubject(
                    f"the subject wrote a line after the answer to the last request: {quote_line(rest)}"
                )
