"""Find the subject that a user means, and run a Python class of an author as a subject of this process.

A `SubjectChoice` holds the words of the command line: a command, the name of a released jar, a Python class as
MODULE:CLASS, the reference, our fast cache, or a seeded fault. `resolve_subject` opens it. It imports the system of
the subject and no other.

A `PythonSubject` calls the class of an author. Requests and answers are lines of JSON here too, so a class that
conforms in a test conforms behind `--command`. It needs no process of its own until a run takes too long, which a
`RunClock` notices. From then on a child process plays the class: an interrupted class may be in any state, and a child
can be ended and started afresh.
"""

import contextlib
import importlib
import json
import math
import mmap
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, NoReturn

from entrycache_conformance.subjects import child, processes
from entrycache_conformance.systems import BUILT, SYSTEMS, reference, system_named, system_of_fault
from entrycache_protocol import errors, server, wire
from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.server import ClassAnswerer, Subject
from entrycache_protocol.subject import (
    Answer,
    FailedRun,
    FailureKind,
    HistoryAnswer,
    InProcessSubject,
    Interruption,
    TestedSubject,
    open_local_subject,
    raise_interruption,
)
from entrycache_protocol.system import AnySystem

SHARED_BYTES: Final = 4096
"""The size of the memory that a clock shares with its guard."""

RUN, STEP, LIMIT, OPS = range(4)
"""The shared numbers of 8 bytes: of the run (0 between two runs), of its step, its limit in ms. Then the number of the
operation of each step, one byte each, as far as there is room.
"""

INTERRUPT_AGAIN_SECONDS: Final = 0.5
"""The time after which a step is interrupted again, if it caught the first interruption."""

GUARD_SECONDS: Final = 2.0
"""The time after which the guard ends a process that the timer could not interrupt."""

MAX_TIMER_SECONDS: Final = 1e8
"""The longest time that a timer of the operating system is set to."""

GUARD_SCRIPT: Final = f"""
import mmap, os, select, signal, sys
shared = mmap.mmap(int(sys.argv[1]), {SHARED_BYTES})
numbers = memoryview(shared).cast("q")
runner, hint, ops = int(sys.argv[2]), sys.argv[3], sys.argv[4:]
run = waited = 0
while not select.select([0], [], [], 0.25)[0]:
    if numbers[{RUN}] != run or not run:
        run, waited = numbers[{RUN}], 0
        continue
    waited += 0.25
    limit, step = numbers[{LIMIT}] / 1000, numbers[{STEP}]
    if waited > limit + {GUARD_SECONDS}:
        at = 8 * {OPS} + step
        where = "the start of a run" if step < 0 else f"step {{step}}"
        where += f" ({{ops[shared[at]]}})" if step >= 0 and at < {SHARED_BYTES} else ""
        said = f"entrycache: {{where}} gives no answer within {{limit:.3g}} s and cannot be interrupted; {{hint}}"
        os.write(2, f"{{said}}\\n".encode())
        os.kill(runner, signal.SIGKILL)
        break
"""
"""The program of the guard. Its stdin ends with the guarded process. It counts turns: both may be suspended at once."""


class RunTimedOut(Interruption):
    """A run took too long."""


class RunClock:
    """The clock of the runs of a class in this process: it knows the step, and ends a run that takes too long.

    A timer of the operating system raises `RunTimedOut` in the main thread, in the middle of the step. Some steps
    cannot be interrupted in this way: a call into C that never returns, or a loop that catches every exception. A guard
    process watches for them, and ends this process with one line that names the step and gives the `hint`. With a
    time-out of None, nothing is limited.
    """

    running: "RunClock | None" = None
    """The clock whose run is being played."""

    def __init__(self, timeout_seconds: float | None, operations: Sequence[str], hint: str) -> None:
        self.timeout_seconds = timeout_seconds
        self._operations = tuple(operations)
        self._op_numbers = {name: number for number, name in enumerate(self._operations)}
        self.hint = hint
        self._runs = 0
        self._steps: Sequence[Any] = ()
        self._is_armed = False
        self._guard: subprocess.Popen[bytes] | None = None
        self._shared: mmap.mmap | None = None
        self.numbers: Any = [0, -1, 0]

    @property
    def step(self) -> int | None:
        """The number of the current or last step; None before the first step of a run."""
        return self.numbers[STEP] if self.numbers[STEP] >= 0 else None

    def describe_step(self) -> str:
        """Return the number and the operation of the current or last step."""
        return "the start of a run" if self.step is None else f"step {self.step} ({self._steps[self.step]['op']})"

    def play(self, answers: ClassAnswerer, request: dict[str, Any]) -> str:
        """Return the line that answers a request.

        Outside the main thread nothing is limited. Neither is it if somebody else has set the same timer to less.

        Raises:
            RunTimedOut: it took longer than the time-out and a little for each step.
        """
        self._steps = request.get("steps", ())
        self.numbers[STEP] = -1
        before, RunClock.running = RunClock.running, self
        try:
            if self.timeout_seconds is None or threading.current_thread() is not threading.main_thread():
                return server.answer_request(answers, request)
            seconds = min(self.timeout_seconds + child.SECONDS_PER_STEP * len(self._steps), MAX_TIMER_SECONDS)
            self._tell_guard(seconds)
            return self._play_limited(answers, request, seconds)
        finally:
            RunClock.running = before
            self.numbers[RUN] = 0

    def _play_limited(self, answers: ClassAnswerer, request: dict[str, Any], seconds: float) -> str:
        handler = signal.signal(signal.SIGALRM, self._interrupt)
        left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, INTERRUPT_AGAIN_SECONDS)
        started_at = time.monotonic()
        try:
            if 0 < left <= seconds:
                signal.signal(signal.SIGALRM, handler)
                signal.setitimer(signal.ITIMER_REAL, left, interval)
                left = 0.0
                return server.answer_request(answers, request)
            self._is_armed = True
            return server.answer_request(answers, request)
        finally:
            if self._is_armed:
                self._is_armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
                if left:
                    signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started_at), 0.001), interval)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._is_armed:
            raise RunTimedOut

    def _tell_guard(self, seconds: float) -> None:
        """Tell the guard that a run begins; the first time, start it. Without one the timer alone limits the runs."""
        if self._shared is None:
            with tempfile.TemporaryFile() as file:
                file.truncate(SHARED_BYTES)
                self._shared = mmap.mmap(file.fileno(), SHARED_BYTES)
                self.numbers = memoryview(self._shared).cast("q")
                self.numbers[STEP] = -1
                with contextlib.suppress(OSError):
                    self._guard = self._start_guard(file.fileno())
        self._runs += 1
        ops = bytes(self._op_numbers.get(step["op"], 0) for step in self._steps[: SHARED_BYTES - 8 * OPS])
        self._shared[8 * OPS : 8 * OPS + len(ops)] = ops
        self.numbers[LIMIT] = int(seconds * 1000)
        self.numbers[RUN] = self._runs

    def _start_guard(self, file: int) -> subprocess.Popen[bytes]:
        """Start the guard with the stop signals blocked: it ends with this process."""
        script = [sys.executable, "-I", "-S", "-c", GUARD_SCRIPT, str(file), str(os.getpid()), self.hint]
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            return subprocess.Popen(
                [*script, *self._operations], pass_fds=(file,), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def close(self) -> None:
        """End the guard."""
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None


class _ClockedAnswerer(ClassAnswerer):
    """The answerer of a class that tells a clock when a step begins."""

    clock: RunClock

    def perform(self, instance: Subject, step: Any) -> Any:
        """Perform one step on an instance and return its answer."""
        self.clock.numbers[STEP] += 1
        return instance.perform(step)


class PythonSubject(TestedSubject):
    """A subject that calls a Python class with the same messages that a child process gets.

    A run may take `timeout_seconds`; None: as long as it wants. `start_child` starts the class in a child process. It
    is needed with a time-out. `child` is that process once a run has taken too long.
    """

    def __init__(
        self,
        subject: type[Subject],
        timeout_seconds: float | None = None,
        start_child: Callable[[], child.Child] | None = None,
        hint: str = "",
    ) -> None:
        """Wrap the class.

        Raises:
            UsageError: it is no such class, or has a public method that is no operation.
            BrokenSubject: it declares what the protocol does not know.
        """
        self._answers = _ClockedAnswerer(subject)
        _require_known_operations(self._answers)
        self._declaration = read_declaration(json.loads(json.dumps(self._answers.start_answer)), SYSTEMS)
        self._clock = self._answers.clock = RunClock(timeout_seconds, sorted(self._declaration.ops), hint)
        self._start_child = start_child
        self._identity = 0
        self.child: child.Child | None = None

    @property
    def name(self) -> str:
        """The name in reports."""
        return self._answers.name

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""
        return self._declaration

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order.

        Raises:
            BrokenSubject: garbage, or a run that takes too long and does so only once.
        """
        answers: list[Answer] = []
        for index, case in enumerate(cases):
            if self.child is not None:
                return [*answers, *self.child.play(cases[index:])]
            try:
                answers.append(self._play(case))
            except RunTimedOut:
                answers.append(self._confirm_hang(case))
        return answers

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Return the answers, one per history, in order.

        Raises:
            BrokenSubject: garbage, or a run that takes too long and a child process that does not start.
        """
        answers: list[HistoryAnswer] = []
        for index, history in enumerate(histories):
            if self.child is not None:
                return [*answers, *self.child.play_histories(histories[index:])]
            try:
                answers.append(self._play(history))
            except RunTimedOut:
                self._switch_to_child("a history")
                answers.append(self._hang(None))
        return answers

    def _play(self, case: Case | History) -> Any:
        return wire.read_answer(self._answer(case), case, self._identity, self._declaration)

    def _answer(self, case: Case | History) -> dict[str, Any]:
        """Return the answer of the class to a case, as JSON."""
        self._identity += 1
        request = json.loads(wire.encode_request(case, self._identity, self._declaration))
        with _refuse_exit(), server.divert_stdout():
            answer = self._clock.play(self._answers, request)
        return wire.parse_line(answer.encode())

    def _hang(self, step: int | None) -> FailedRun:
        return FailedRun(FailureKind.HANG, step, f"{self._clock.timeout_seconds:g} s")

    def _confirm_hang(self, case: Case) -> FailedRun:
        """Play a run that took too long once more, in a child process, and return its failure.

        Raises:
            BrokenSubject: the run gets another answer there, or there is no child process.
        """
        failed, where = self._hang(self._clock.step), self._clock.describe_step()
        process = self._switch_to_child(where)
        with process.limit_time(math.inf):
            again = process.play([case])[0]
        if isinstance(again, FailedRun) and again.trouble is FailureKind.HANG:
            return failed._replace(log=again.log)
        first = f"{where}: {failed.trouble.value} ({failed.message})"
        if isinstance(again, FailedRun):
            second = f"{again.trouble.value} ({again.message})"
            raise errors.BrokenSubject(f"a run failed in two ways: {first}, then in a fresh process {second}")
        raise errors.BrokenSubject(f"a run failed ({first}) and passed when it was tried again in a fresh process")

    def _switch_to_child(self, where: str) -> child.Child:
        """Let a child process play the class from now on.

        Raises:
            BrokenSubject: it does not start.
        """
        assert self._start_child is not None, "a time-out needs it"
        self._clock.close()
        try:
            self.child = self._start_child()
        except errors.EntrycacheError as error:
            late = f"{where}: no answer within {self._clock.timeout_seconds:g} s"
            raise errors.BrokenSubject(f"{late}, and the class does not start in a child process: {error}") from None
        return self.child

    def restart(self) -> bool:
        """Make the next run start a fresh process. Return whether there is one."""
        return self.child is not None and self.child.restart()

    def detach(self) -> None:
        """Forget the processes that the runner of this fork has started; the next run starts its own."""
        clock = self._clock
        self._clock = self._answers.clock = RunClock(clock.timeout_seconds, sorted(self._declaration.ops), clock.hint)
        if self.child is not None:
            self.child.detach()

    def earlier_runs(self, case: Case) -> tuple[Case, ...]:
        """Return the runs that the process of this very run had played before it; none if there is no process."""
        return () if self.child is None else self.child.earlier_runs(case)

    def limit_time(self, seconds: float) -> contextlib.AbstractContextManager[None]:
        """Let a run inside the block take at most `seconds` if there is a process, and try none again."""
        return contextlib.nullcontext() if self.child is None else self.child.limit_time(seconds)

    def traceback(self, case: Case | History) -> str:
        """Return the traceback of an error that a step of the case throws; empty if none does."""
        return str(self._answer(case).get("errored", {}).get("traceback", ""))

    def close(self) -> None:
        """End the processes that belong to the subject."""
        self._clock.close()
        if self.child is not None:
            self.child.close()


def load_class(module: str, name: str) -> type[Subject]:
    """Return the class of that name in a module, which may also be in the current folder.

    Raises:
        UsageError: there is none, or it is no subject.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        with _refuse_exit(), server.divert_stdout():
            loaded: Any = getattr(importlib.import_module(module), name, None)
    except BaseException as error:  # whatever a module of somebody else throws while it is imported
        raise_interruption(error)
        raise errors.UsageError(f"cannot import {module!r}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
    if not (isinstance(loaded, type) and issubclass(loaded, Subject)):
        raise errors.UsageError(f"{module}:{name} is no class that extends entrycache.Subject")
    return loaded


@contextmanager
def _refuse_exit() -> Iterator[None]:
    """Turn `os._exit` inside the block into an error of its caller. Otherwise it would end the runner with a wrong exit
    code.
    """
    end, judge = os._exit, os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != judge:
            end(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = refused
    try:
        yield
    finally:
        os._exit = end


def _require_known_operations(answers: ClassAnswerer) -> None:
    """Refuse a public method that is no operation, and an operation that is no plain method."""
    for name, offer in answers.start_answer["systems"].items():
        known = SYSTEMS[name].ops.keys() if name in SYSTEMS else set(offer["ops"])
        for op in [op for op in offer["ops"] if op not in known]:
            why = f"{name} has no operation of that name; a method of your own begins with an underscore"
            raise errors.UsageError(f"{answers.name}.{op}: {why}")
        answers.require_methods(known)


OWN_NAMES: Final = frozenset({reference.REFERENCE_NAME, "fast"})
"""The subjects that every system, or nearly every one, has under the same name."""

TIMEOUT_SECONDS: Final = 10.0
"""The default time-out of an answer."""


class SubjectChoice(NamedTuple):
    """The subject as the command line names it. `on_stderr` receives what a child process writes to stderr."""

    name: str | None
    command: str | None = None
    classpath: str | None = None
    system: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    on_stderr: processes.StderrListener | None = None

    def typed(self) -> str:
        """Return the choice as shell text, ready to be pasted."""
        parts = [] if self.name is None else [self.name]
        for option, value in (("command", self.command), ("classpath", self.classpath), ("system", self.system)):
            parts += [] if value is None else [f"--{option}", value]
        if self.timeout_seconds != TIMEOUT_SECONDS:
            parts += ["--timeout", f"{self.timeout_seconds:g}"]
        return shlex.join(parts)


def _examples() -> tuple[str, ...]:
    from entrycache_conformance.java.releases import example_subjects  # noqa: PLC0415 - only messages need it

    return example_subjects()


def is_released(name: str) -> bool:
    """Return whether a name means a released jar, such as ``pulsar:4.2.4``."""
    family, colon, _ = name.partition(":")
    return bool(colon) and any(family in built.families.values() for built in BUILT.values())


def subject_names() -> str:
    """Return the list of subject names for a message."""
    own = f"reference, fast, {', '.join(_examples())}, a class of yours as MODULE:CLASS"
    return f"{own}, or a seeded fault (entrycache faults lists them)"


def open_in_process(name: str, system: str | None = None) -> InProcessSubject | None:
    """Open the subject of this name in this process; None if there is none.

    Without `system`, a name that several systems have means the first of them.

    Raises:
        UsageError: there is no such system.
    """
    if system is None and name not in OWN_NAMES:
        return _open_in_system(system_of_fault(name), name)
    systems = SYSTEMS.values() if system is None else (system_named(system),)
    return next((subject for each in systems if (subject := _open_in_system(each, name)) is not None), None)


def _open_in_system(system: AnySystem, name: str) -> InProcessSubject | None:
    if name == reference.REFERENCE_NAME:
        return reference.reference_subject(system)
    own = system.fast if name == "fast" else system.faults.get(name)
    if own is not None:
        return open_local_subject(name, system, own)
    if system.histories is not None and name in system.histories.faults:
        return reference.reference_subject(system, name, system.histories.faults[name])
    return None


def is_seeded_fault(name: str) -> bool:
    """Return whether this is the name of a seeded fault."""
    system = system_of_fault(name)
    return name in system.faults or (system.histories is not None and name in system.histories.faults)


def is_own_subject(name: str) -> bool:
    """Return whether this is a subject of our own, which has the version of this package."""
    return name in OWN_NAMES or is_seeded_fault(name)


def resolve_subject(choice: SubjectChoice) -> TestedSubject:
    """Open the subject that is meant; the caller closes it.

    Seeded faults run in a child process, because some of them never answer.

    Raises:
        UsageError: no such subject, or options that do not go together.
        MissingPrerequisite: what the subject needs is not there.
        BrokenSubject: it does not start.
    """
    name = choice.name
    if choice.command is not None:
        if choice.classpath is not None:
            raise errors.UsageError("--command and --classpath do not go together")
        if name is not None:
            raise errors.UsageError(f"--command is the subject; leave {name!r} out, which it would be reported as")
        argv = _split_command(choice.command)
        return child.Child(argv, choice.system, choice.timeout_seconds, on_stderr=choice.on_stderr)
    if name is None:
        raise errors.UsageError(f"no subject was named; expected --command CMD, or one of {subject_names()}")
    if is_released(name) or is_jar(name):
        return _open_released(name, choice)
    if choice.classpath is not None:
        raise errors.UsageError(f"--classpath goes with a released jar such as {_examples()[0]}, not with {name!r}")
    module, _, in_module = name.partition(":")
    if in_module.isidentifier():
        return _open_python_subject(module, in_module, choice)
    if is_seeded_fault(name):
        argv = [sys.executable, "-m", "entrycache_cli", "serve", name]
        return child.Child(argv, choice.system, choice.timeout_seconds, name, on_stderr=choice.on_stderr)
    subject = open_in_process(name, choice.system)
    if subject is None and name == "fast":
        raise errors.UsageError(f"{choice.system} has no fast cache; entrycache subjects lists what can be tested")
    if subject is None and (module := _find_module(name)):
        hint = f"name its class too, as in {module}:CLASS"
        raise errors.UsageError(f"{name!r} is a Python module; {hint}")
    if subject is None:
        raise errors.UsageError(f"unknown subject {name!r}; expected {subject_names()}, or --command CMD")
    _require_system(subject, choice.system)
    return subject


def is_jar(name: str) -> bool:
    """Return whether a name is the path of a jar."""
    return name.endswith(".jar")


def _open_released(name: str, choice: SubjectChoice) -> TestedSubject:
    """Open a released jar, such as ``pulsar:4.2.4``, a version that is not pinned, or the jar of a path."""
    from entrycache_conformance.java import driver, releases  # noqa: PLC0415 - only released jars need Java

    def open_child(argv: list[str], name: str) -> child.Child:
        system, seconds = choice.system, choice.timeout_seconds
        return child.Child(argv, system, seconds, name, prerequisites=True, on_stderr=choice.on_stderr)

    is_pinned = is_released(name) and releases.find_release(name) is not None
    if is_pinned and choice.classpath is None:
        return open_child(driver.released_command(name), name)
    from entrycache_conformance import unpinned  # noqa: PLC0415 - few subjects need it

    if is_pinned:
        return unpinned.lift_repaired(open_child(driver.released_command(name, choice.classpath), name))
    if is_jar(name):
        return unpinned.open_jar(Path(name), choice.classpath, open_child)
    return unpinned.open_unpinned(name, choice.classpath, open_child)


def _find_module(name: str) -> str:
    """Return the module in the current folder that a file or a name without a class means; empty if there is none."""
    module = name.removesuffix(".py").removeprefix("./").replace("/", ".")
    path, is_name = Path(module.replace(".", "/")), all(part.isidentifier() for part in module.split("."))
    is_there = is_name and (path.with_suffix(".py").is_file() or path.joinpath("__init__.py").is_file())
    return module if is_there else ""


def _open_python_subject(module: str, name: str, choice: SubjectChoice) -> TestedSubject:
    argv = [sys.executable, "-m", "entrycache_cli", "serve", f"{module}:{name}"]

    def start_child() -> child.Child:
        return child.Child(
            argv, choice.system, choice.timeout_seconds, name, on_stderr=choice.on_stderr, start_seconds=TIMEOUT_SECONDS
        )

    hint = f"""test it with --command "entrycache serve {module}:{name}\""""
    subject = PythonSubject(load_class(module, name), choice.timeout_seconds, start_child, hint)
    _require_system(subject, choice.system)
    return subject


def _require_system(subject: TestedSubject, system: str | None) -> None:
    if system is not None and system != subject.declaration.system.name:
        own = subject.declaration.system.name
        raise errors.UsageError(f"{subject.name} does not offer {system!r}; it offers: {own}")


def _split_command(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise errors.UsageError(f"--command cannot be read: {error}") from None
    if not argv:
        raise errors.UsageError("--command is empty; expected a program and its arguments")
    return argv
