"""From what a user names to a subject."""

from __future__ import annotations

import shlex
import sys
from typing import Final, NamedTuple

from entrycache_conformance.java.driver import is_released, released_command
from entrycache_conformance.java.releases import example_subjects
from entrycache_conformance.subjects.child import Child
from entrycache_conformance.subjects.processes import StderrListener
from entrycache_conformance.subjects.python_subject import open_python_subject
from entrycache_conformance.systems import SYSTEMS, system_named
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import InProcessSubject, TestedSubject, open_local_subject
from entrycache_protocol.system import AnySystem

TIMEOUT_SECONDS: Final = 10.0
"""How long an answer may take where nobody says otherwise."""


class SubjectChoice(NamedTuple):
    """What the command line says of the subject; `heard` is told what a child process writes to stderr."""

    name: str | None
    command: str | None = None
    classpath: str | None = None
    system: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    heard: StderrListener | None = None

    def typed(self) -> str:
        """The choice as it is typed, to be pasted into a shell."""
        parts = [] if self.name is None else [self.name]
        for option, value in (("command", self.command), ("classpath", self.classpath), ("system", self.system)):
            parts += [] if value is None else [f"--{option}", value]
        if self.timeout_seconds != TIMEOUT_SECONDS:
            parts += ["--timeout", f"{self.timeout_seconds:g}"]
        return shlex.join(parts)


def subject_names() -> str:
    """The subjects that have a name of their own."""
    own = f"reference, fast, {', '.join(example_subjects())}, a class of yours as MODULE:CLASS"
    return f"{own}, or a planted fault (entrycache museum lists them)"


def open_in_process(name: str, system: str | None = None) -> InProcessSubject | None:
    """The subject of this process that has this name, if any; one that several systems have is of the first.

    Raises:
        UsageError: there is no such system.
    """
    asked = SYSTEMS.values() if system is None else (system_named(system),)
    return next((found for each in asked if (found := _open_in_system(each, name)) is not None), None)


def _open_in_system(system: AnySystem, name: str) -> InProcessSubject | None:
    if name == "reference":
        return reference_subject(system)
    own = system.fast if name == "fast" else system.faults.get(name)
    if own is not None:
        return open_local_subject(name, system, own)
    if system.histories is not None and name in system.histories.faults:
        return reference_subject(system, name, system.histories.faults[name])
    return None


def is_seeded_fault(name: str) -> bool:
    """Whether this is the name of a planted fault."""
    return any(
        name in each.faults or (each.histories is not None and name in each.histories.faults)
        for each in SYSTEMS.values()
    )


def is_own_subject(name: str) -> bool:
    """Whether this is a subject of our own, whose version is that of this package."""
    return name in {"reference", "fast"} or is_seeded_fault(name)


def resolve_subject(choice: SubjectChoice) -> TestedSubject:
    """The subject that is meant; the caller closes it.

    Planted faults run behind the protocol, because some of them never answer.

    Raises:
        UsageError: no such subject, or options that do not go together.
        MissingPrerequisite: what the subject needs is not there.
        BrokenSubject: it does not start.
    """
    name = choice.name
    if choice.command is not None:
        if choice.classpath is not None:
            raise UsageError("--command and --classpath do not go together")
        argv = _split_command(choice.command)
        return Child(argv, choice.system, choice.timeout_seconds, name, heard=choice.heard)
    if name is None:
        raise UsageError(f"no subject was named; expected --command CMD, or one of {subject_names()}")
    if is_released(name):
        argv = released_command(name, choice.classpath)
        return Child(argv, choice.system, choice.timeout_seconds, name, prerequisites=True, heard=choice.heard)
    if choice.classpath is not None:
        raise UsageError(f"--classpath goes with a released jar such as {example_subjects()[0]}, not with {name!r}")
    if is_seeded_fault(name):
        argv = [sys.executable, "-m", "entrycache_cli", "serve", name]
        return Child(argv, choice.system, choice.timeout_seconds, name, heard=choice.heard)
    module, _, in_module = name.partition(":")
    if in_module.isidentifier():
        return _open_python_subject(module, in_module, choice.system)
    subject = open_in_process(name, choice.system)
    if subject is None and name == "fast":
        raise UsageError(f"{choice.system} has no fast cache; entrycache subjects lists what can be tested")
    if subject is None:
        raise UsageError(f"unknown subject {name!r}; expected {subject_names()}, or --command CMD")
    _require_system(subject, choice.system)
    return subject


def _open_python_subject(module: str, name: str, system: str | None) -> TestedSubject:
    subject = open_python_subject(module, name)
    _require_system(subject, system)
    return subject


def _require_system(subject: TestedSubject, system: str | None) -> None:
    if system is not None and system != subject.declaration.system.name:
        offered = subject.declaration.system.name
        raise UsageError(f"{subject.name} does not offer {system!r}; it offers: {offered}")


def _split_command(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--command cannot be read: {error}") from None
    if not argv:
        raise UsageError("--command is empty; expected a program and its arguments")
    return argv
