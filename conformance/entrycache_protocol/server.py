"""The server side of the protocol: a loop that reads requests, plays them on an `Answerer` and writes the answers.

An `Answerer` opens instances, performs steps, and converts steps and outcomes from and to JSON. `TypedAnswerer` serves
the subjects of this process, whose steps are dataclasses of their system; `entrycache_protocol.author` serves classes
of authors. `serve_requests` runs until `stop` or the end of input. An error of the implementation is its answer.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from typing import IO, Any, Protocol

from entrycache_protocol import subject
from entrycache_protocol.codec import MalformedValue, decode_object, decode_op, encode
from entrycache_protocol.subject import IMPLEMENTATION_ERRORS, InProcessSubject


class Skip(Exception):
    """The reason why a run cannot be played; an implementation raises it instead of answering."""

    def __init__(self, reason: str, issue_url: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.issue_url = issue_url


class Answerer(Protocol):
    """The part that knows the implementation: it opens instances, performs steps and converts from and to JSON.

    `open`, `open_shared` and `read` raise `MalformedValue` if the request is not of the protocol.
    """

    @property
    def start_answer(self) -> dict[str, Any]:
        """The answer to `start`."""

    def open(self, config: Any) -> Any:
        """Open a new, empty instance."""

    def open_shared(self, config: Any) -> Any | None:
        """Open a new, empty instance for several threads, or return None if there is none."""

    def read(self, step: Any) -> Any:
        """Convert a step of a request to the form that `perform` takes."""

    def perform(self, instance: Any, step: Any) -> Any:
        """Perform one step on an instance and return its outcome."""

    def write(self, outcome: Any) -> Any:
        """Convert an outcome to the JSON of an answer."""

    def leaked(self, instance: Any) -> int | None:
        """Return the references that are left when a run has ended, or None if nobody counts them."""


def _errored(request: dict[str, Any], step: int | None, error: BaseException) -> dict[str, Any]:
    """Return the answer for an error; the message names the type of an error of the implementation, not of ours."""
    message = (
        str(error) if isinstance(error, MalformedValue | subject.StepError) else f"{type(error).__name__}: {error}"
    )
    trace = "" if isinstance(error, MalformedValue) else "".join(traceback.format_exception(error))
    return {"id": request.get("id"), "errored": {"step": step, "message": message, "traceback": trace}}


def _skipped(request: dict[str, Any], skip: Skip) -> dict[str, Any]:
    link = {} if skip.issue_url is None else {"issue_url": skip.issue_url}
    return {"id": request.get("id"), "skipped": {"reason": skip.reason, **link}}


def _open_instance(request: dict[str, Any], answerer: Answerer, opener: Callable[[Any], Any]) -> Any:
    if request.get("system") not in answerer.start_answer["systems"]:
        raise MalformedValue(f"system {request.get('system')!r} is not offered")
    try:
        return opener(request.get("config", {}))
    except MalformedValue as error:
        raise MalformedValue(f"config: {error}") from None


def _check_array(value: Any, name: str) -> list[Any]:
    if type(value) is not list:
        raise MalformedValue(f"{name} is not an array")
    return value


def answer_run(answerer: Answerer, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a `run`."""
    at = 0
    try:
        steps = _check_array(request.get("steps"), "steps")
        instance = _open_instance(request, answerer, answerer.open)
        outcomes: list[Any] = []
        for step in steps:
            at = len(outcomes)
            outcomes.append(answerer.write(answerer.perform(instance, answerer.read(step))))
        leaked = answerer.leaked(instance)
    except Skip as skip:
        return _skipped(request, skip)
    except IMPLEMENTATION_ERRORS as error:  # an error of the implementation is its answer
        return _errored(request, at, error)
    return {"id": request.get("id"), "outcomes": outcomes, **({} if leaked is None else {"leaked": leaked})}


def answer_history(answerer: Answerer, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a `history`."""
    try:
        clients = _check_array(request.get("clients"), "clients")
        lists = [request.get("before", []), *clients, request.get("after", [])]
        parts = [
            (number, tuple(answerer.read(step) for step in _check_array(steps, f"part {number}")))
            for number, steps in enumerate(lists, start=-1)
        ]
        instance = _open_instance(request, answerer, answerer.open_shared)
        if instance is None:
            raise MalformedValue(f"histories of {request['system']} are not offered")
        events = subject.play_history(lambda step: answerer.perform(instance, step), parts)
        answered = [{**event._asdict(), "outcome": answerer.write(event.outcome)} for event in events]
    except IMPLEMENTATION_ERRORS as error:  # as in a run
        why = error.__cause__ if isinstance(error, subject.StepError) else error
        return _skipped(request, why) if isinstance(why, Skip) else _errored(request, None, error)
    return {"id": request.get("id"), "events": answered}


def answer_request(answerer: Answerer, request: dict[str, Any]) -> str:
    """Return the line that answers a `run` or a `history`."""
    answered = (answer_run if request["cmd"] == "run" else answer_history)(answerer, request)
    try:
        return _encode_line(answered)
    except (TypeError, ValueError) as error:
        return _encode_line(_errored(request, _first_unencodable(answered.get("outcomes", [])), error))


def _encode_line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _first_unencodable(outcomes: list[Any]) -> int | None:
    """Return the index of the first outcome that is no JSON."""
    for at, outcome in enumerate(outcomes):
        try:
            json.dumps(outcome)
        except (TypeError, ValueError):
            return at
    return None


def serve_requests(answerer: Answerer, source: IO[str] | None = None, sink: IO[str] | None = None) -> int:
    """Answer requests, by default those on stdin, until `stop` or the end of input, and return the exit code."""
    sink = sink or sys.stdout
    for line in source or sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            print(f"serve: not a JSON object: {line[:80]!r}", file=sys.stderr)
            return 2
        command = request.get("cmd") if type(request) is dict else None
        if command == "stop":
            return 0
        if command == "start":
            if request.get("version") != 1:
                print(f"serve: version {request.get('version')!r} is not known, expected 1", file=sys.stderr)
                return 2
            reply = _encode_line(answerer.start_answer)
        elif command in {"run", "history"}:
            reply = answer_request(answerer, request)
        else:
            print(f"serve: unknown command {command!r}, expected start, run, history or stop", file=sys.stderr)
            return 2
        sink.write(reply)
        sink.flush()
    return 0


class TypedAnswerer:
    """The answerer for a subject of this process."""

    def __init__(self, subject: InProcessSubject) -> None:
        self._subject = subject
        self._system = subject.declaration.system
        self.start_answer: dict[str, Any] = encode(subject.start_answer)

    def open(self, config: Any) -> Any:
        """Open a new, empty instance."""
        return self._subject.open(decode_object(self._system.model.config, config))

    def open_shared(self, config: Any) -> Any | None:
        """Open a new, empty instance for several threads, or return None if there is none."""
        return self._subject.open_shared(decode_object(self._system.model.config, config))

    def read(self, step: Any) -> Any:
        """Decode the operation of a step."""
        return decode_op(self._system.ops, step)

    def perform(self, instance: Any, step: Any) -> Any:
        """Perform one operation on an instance and return its outcome."""
        return instance(step)

    def write(self, outcome: Any) -> Any:
        """Return an outcome as JSON."""
        return self._system.wire.write_outcome(outcome)

    def leaked(self, instance: Any) -> int | None:
        """Return the references that are left when a run has ended, or None if nobody counts them."""
        return self._subject.leaked(instance)
