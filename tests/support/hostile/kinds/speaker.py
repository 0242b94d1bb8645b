"""A speaker of the protocol that is right, and the register of misbehaviours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SYSTEM = "pulsar-pip430"
HANG = "R-LIVENESS-1"
THROW = "R-LIVENESS-2"


class Speaker:
    """Speaks the protocol rightly; a misbehaviour replaces one of these functions."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.runs = 0
        self.offer: dict[str, Any] = {"ops": ["insert", "get", "exists"], "config": []}
        self.hello: dict[str, Any] = {
            "version": 1,
            "implementation": {"name": "hostile", "version": "1", "language": "Python", "source": "tests"},
            "systems": {SYSTEM: self.offer},
        }
        self.sizes: dict[str, int] = {}

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            if request["cmd"] == "stop":
                break
            if request["cmd"] == "start":
                self.on_start()
            else:
                self.runs += 1
                self.on_run(request)
        self.on_end()

    def on_start(self) -> None:
        self.write(self.hello)

    def on_run(self, request: dict[str, Any]) -> None:
        self.write(self.answer(request))

    def on_end(self) -> None:
        pass

    def answer(self, request: dict[str, Any]) -> Any:
        return {"id": request["id"], "outcomes": self.outcomes(request)}

    def outcomes(self, request: dict[str, Any]) -> Any:
        self.sizes = {}
        return [self.outcome(step) for step in request["steps"]]

    def outcome(self, step: dict[str, Any]) -> Any:
        place = json.dumps([step["cache"], step["pos"]])
        if step["op"] == "get":
            return {"hit": place in self.sizes}
        if step["op"] == "exists":
            return {"exists": place in self.sizes}
        if step["size"] < 0:
            return {"error": "illegal-argument"}
        inserted = place not in self.sizes
        self.sizes.setdefault(place, step["size"])
        return {"inserted": inserted}

    def write(self, value: Any) -> None:
        self.raw(json.dumps(value).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def first_life(self) -> bool:
        """Return whether this is the first process of this kind in this scratch folder."""
        try:
            (self.scratch / "lived").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


Misbehave = Callable[[Speaker], None]


class Kind(NamedTuple):
    """One misbehaviour, the exit code that `conform` has to end with, and the rule of a violation.

    `timeout`: seconds for --timeout; short only where a time-out is what the kind is about.
    """

    misbehave: Misbehave
    code: int
    rule: str = ""
    timeout: float = 10
    level: str = "range"


KINDS: dict[str, Kind] = {}


def kind(
    name: str, code: int, rule: str = "", timeout: float = 10, level: str = "range"
) -> Callable[[Misbehave], Misbehave]:
    def keep(misbehave: Misbehave) -> Misbehave:
        assert name not in KINDS, name
        KINDS[name] = Kind(misbehave, code, rule, timeout, level)
        return misbehave

    return keep
