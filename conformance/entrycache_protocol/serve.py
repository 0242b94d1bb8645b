"""Serving a subject of this process over the protocol, on stdin and stdout."""

from __future__ import annotations

import json
import sys
import traceback
from typing import IO, Any

from entrycache_protocol import threads
from entrycache_protocol.codec import Malformed, decode_object, decode_op, encode
from entrycache_protocol.errors import UsageError
from entrycache_protocol.history import from_json
from entrycache_protocol.in_process import InProcess


def _errored(identity: Any, step: int | None, message: str, trace: str = "") -> dict[str, Any]:
    return {"id": identity, "errored": {"step": step, "message": message, "traceback": trace}}


def history(subject: InProcess, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a `history`."""
    identity = request.get("id")
    system = subject.declaration.system
    given = {name: part for name, part in request.items() if name not in {"cmd", "id"}}
    try:
        asked = from_json(given, {system.name: system})
    except UsageError as error:
        return _errored(identity, None, str(error))
    instance = subject.open_shared(asked.config)
    if instance is None:
        return _errored(identity, None, f"histories of {system.name} are not offered")
    try:
        events = threads.play(instance, asked)
    except threads.StepFailed as error:
        return _errored(identity, None, str(error), "".join(traceback.format_exception(error)))
    return {
        "id": identity,
        "events": [{**event._asdict(), "outcome": system.wire.write_outcome(event.outcome)} for event in events],
    }


def run(subject: InProcess, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a `run`."""
    identity = request.get("id")
    system = subject.declaration.system
    if request.get("system") != system.name:
        return _errored(identity, 0, f"system {request.get('system')!r} is not offered")
    try:
        config = decode_object(system.model.config, request.get("config", {}))
    except Malformed as error:
        return _errored(identity, 0, f"config: {error}")
    steps = request.get("steps")
    if type(steps) is not list:
        return _errored(identity, 0, "steps is not an array")
    instance = subject.open(config)
    outcomes = []
    for index, step in enumerate(steps):
        try:
            outcomes.append(system.wire.write_outcome(instance(decode_op(system.ops, step))))
        except Malformed as error:
            return _errored(identity, index, str(error))
        except Exception as error:  # an error of the implementation is its answer
            return _errored(identity, index, f"{type(error).__name__}: {error}", traceback.format_exc())
    leaked = subject.leaked(instance)
    return {"id": identity, "outcomes": outcomes, **({} if leaked is None else {"leaked": leaked})}


def serve(subject: InProcess, source: IO[str] = sys.stdin, sink: IO[str] = sys.stdout) -> int:
    """Answer requests until `stop` or the end of input; the exit code."""
    for line in source:
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
            answer = subject.start_answer
        elif command == "run":
            answer = run(subject, request)
        elif command == "history":
            answer = history(subject, request)
        else:
            print(f"serve: unknown command {command!r}, expected start, run, history or stop", file=sys.stderr)
            return 2
        sink.write(json.dumps(answer, separators=(",", ":"), default=encode) + "\n")
        sink.flush()
    return 0
