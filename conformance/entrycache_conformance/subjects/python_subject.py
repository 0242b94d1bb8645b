"""A Python class of an author as a subject of this process.

Requests and answers are lines of JSON here too, so a class that conforms in a test conforms behind `--command`. There
are no time-outs and no fresh processes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import server
from entrycache_protocol.case import Case, History
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.server import ClassAnswerer, Subject
from entrycache_protocol.subject import IMPLEMENTATION_ERRORS, Answer, HistoryAnswer
from entrycache_protocol.wire import encode_request, parse_line, read_answer


class PythonSubject:
    """A subject that calls a Python class with the very messages that a child process would get."""

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
        return read_answer(self._answered(case), case, self._identity, self._declaration)

    def _answered(self, case: Case | History) -> dict[str, Any]:
        """Return the answer of the class to a case, as JSON."""
        self._identity += 1
        request = json.loads(encode_request(case, self._identity, self._declaration))
        with _refuse_exit():
            answer = server.answer_request(self._answers, request)
        return parse_line(answer.encode())

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
        raise UsageError(f"cannot import {module!r}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
    if not (isinstance(loaded, type) and issubclass(loaded, Subject)):
        raise UsageError(f"{module}:{name} is no class that extends entrycache.Subject")
    return loaded


@contextmanager
def _refuse_exit() -> Iterator[None]:
    """Turn `os._exit` inside the block into an error of its caller. It would end the judge with an exit code of its
    own.
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
    """Refuse a method that looks like an operation and is none."""
    for name, offer in answers.start_answer["systems"].items():
        known = SYSTEMS[name].ops.keys() | SYSTEMS[name].wire.other_ops if name in SYSTEMS else set(offer["ops"])
        unknown = [op for op in offer["ops"] if op not in known]
        if unknown:
            why = f"{name} has no operation of that name; a method of your own begins with an underscore"
            raise UsageError(f"{answers.name}.{unknown[0]}: {why}")
