"""Find the subject that a user means, and run a Python class of an author as a subject of this process.

A `SubjectChoice` holds the words of the command line: a command, the name of a released jar, a Python class as
MODULE:CLASS, the reference, our fast cache, or a seeded fault. `resolve_subject` opens it. It imports the system of
the subject and no other.

A `PythonSubject` calls the class of an author. Requests and answers are lines of JSON here too, so a class that
conforms in a test conforms behind `--command`. There are no time-outs and no fresh processes.
"""

import importlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from entrycache_conformance.subjects import child, processes
from entrycache_conformance.systems import BUILT, SYSTEMS, reference, system_named, system_of_fault
from entrycache_protocol import errors, server, wire
from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.server import ClassAnswerer, Subject
from entrycache_protocol.subject import (
    IMPLEMENTATION_ERRORS,
    Answer,
    HistoryAnswer,
    InProcessSubject,
    TestedSubject,
    open_local_subject,
)
from entrycache_protocol.system import AnySystem


class PythonSubject:
    """A subject that calls a Python class with the same messages that a child process gets."""

    def __init__(self, subject: type[Subject]) -> None:
        """Wrap the class.

        Raises:
            UsageError: it is no such class, or has a public method that is no operation.
            BrokenSubject: it declares what the protocol does not know.
        """
        self._answers = ClassAnswerer(subject)
        _require_known_operations(self._answers)
        self._declaration = read_declaration(json.loads(json.dumps(self._answers.start_answer)), SYSTEMS)
        self._identity = 0

    @property
    def name(self) -> str:
        """The name in reports."""
        return self._answers.name

    @property
    def declaration(self) -> Declaration:
        """The declaration of the subject."""
        return self._declaration

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the answers, one per case, in order."""
        return [self._played(case) for case in cases]

    def play_histories(self, histories: Sequence[History]) -> list[HistoryAnswer]:
        """Return the answers, one per history, in order."""
        return [self._played(history) for history in histories]

    def _played(self, case: Case | History) -> Any:
        return wire.read_answer(self._answered(case), case, self._identity, self._declaration)

    def _answered(self, case: Case | History) -> dict[str, Any]:
        """Return the answer of the class to a case, as JSON."""
        self._identity += 1
        request = json.loads(wire.encode_request(case, self._identity, self._declaration))
        with _refuse_exit():
            answer = server.answer_request(self._answers, request)
        return wire.parse_line(answer.encode())

    def traceback(self, case: Case | History) -> str:
        """Return the traceback of an error that a step of the case throws; empty if none does."""
        return str(self._answered(case).get("errored", {}).get("traceback", ""))

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def open_python_subject(module: str, name: str) -> PythonSubject:
    """Open the class of that name in a module as a subject.

    Raises:
        UsageError: there is none, or it is no subject.
        BrokenSubject: it declares what the protocol does not know.
    """
    return PythonSubject(load_class(module, name))


def load_class(module: str, name: str) -> type[Subject]:
    """Return the class of that name in a module, which may also be in the current folder.

    Raises:
        UsageError: there is none, or it is no subject.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        with _refuse_exit():
            loaded: Any = getattr(importlib.import_module(module), name, None)
    except IMPLEMENTATION_ERRORS as error:  # whatever a module of somebody else throws while it is imported
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
    """Refuse a public method that is no operation."""
    for name, offer in answers.start_answer["systems"].items():
        known = SYSTEMS[name].ops.keys() | SYSTEMS[name].wire.other_ops if name in SYSTEMS else set(offer["ops"])
        unknown = [op for op in offer["ops"] if op not in known]
        if unknown:
            why = f"{name} has no operation of that name; a method of your own begins with an underscore"
            raise errors.UsageError(f"{answers.name}.{unknown[0]}: {why}")


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


def _is_released(name: str) -> bool:
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
    if _is_released(name):
        from entrycache_conformance.java.driver import released_command  # noqa: PLC0415 - only released jars need Java

        argv = released_command(name, choice.classpath)
        return child.Child(
            argv, choice.system, choice.timeout_seconds, name, prerequisites=True, on_stderr=choice.on_stderr
        )
    if choice.classpath is not None:
        raise errors.UsageError(f"--classpath goes with a released jar such as {_examples()[0]}, not with {name!r}")
    module, _, in_module = name.partition(":")
    if in_module.isidentifier():
        return _open_python_subject(module, in_module, choice.system)
    if is_seeded_fault(name):
        argv = [sys.executable, "-m", "entrycache_cli", "serve", name]
        return child.Child(argv, choice.system, choice.timeout_seconds, name, on_stderr=choice.on_stderr)
    subject = open_in_process(name, choice.system)
    if subject is None and name == "fast":
        raise errors.UsageError(f"{choice.system} has no fast cache; entrycache subjects lists what can be tested")
    if subject is None:
        raise errors.UsageError(f"unknown subject {name!r}; expected {subject_names()}, or --command CMD")
    _require_system(subject, choice.system)
    return subject


def _open_python_subject(module: str, name: str, system: str | None) -> TestedSubject:
    subject = open_python_subject(module, name)
    _require_system(subject, system)
    return subject


def _require_system(subject: TestedSubject, system: str | None) -> None:
    if system is not None and system != subject.declaration.system.name:
        offered = subject.declaration.system.name
        raise errors.UsageError(f"{subject.name} does not offer {system!r}; it offers: {offered}")


def _split_command(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise errors.UsageError(f"--command cannot be read: {error}") from None
    if not argv:
        raise errors.UsageError("--command is empty; expected a program and its arguments")
    return argv
