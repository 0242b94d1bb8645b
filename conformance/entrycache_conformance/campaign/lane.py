"""One subject of a campaign: it gets whole runs as they come, and its answers are compared as they are."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import entrycache_fast
from entrycache_conformance.subjects.jvm import is_released, jar_under_test, released_command
from entrycache_conformance.subjects.resolve import in_process
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration, read_declaration
from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_protocol.in_process import InProcess
from entrycache_protocol.limits import Limits
from entrycache_protocol.subject import Played
from entrycache_protocol.wire import START, parse_line, shortened

STOP_SECONDS: Final = 5
SILENT_SECONDS: Final = 120
"""A child that says nothing for so long is ended, and the campaign with it."""


class Run(NamedTuple):
    """One run on its way: the case, its request as text, and what the reference says, typed and as JSON."""

    case: Case
    line: str
    expected: tuple[Any, ...]
    expected_json: list[Any]


class Lane(Protocol):
    """A subject that runs are sent to; `same` takes the answers in the order of `send`."""

    name: str
    declaration: Declaration
    artifact: dict[str, str]

    def send(self, run: Run) -> None:
        """Start a run."""

    def same(self, run: Run) -> bool:
        """Whether the subject's answer to the oldest run is the reference's."""

    def close(self) -> None:
        """End it."""


class Inner:
    """A subject of this process."""

    def __init__(self, subject: InProcess) -> None:
        self.name = subject.name
        self.declaration = subject.declaration
        self.artifact = {"package": "entrycache_fast", "sha256": digest_of(entrycache_fast.__path__[0])}
        self._subject = subject

    def send(self, run: Run) -> None:
        """Nothing: a run is played when its answer is asked for."""

    def same(self, run: Run) -> bool:
        """Play the run and compare the typed outcomes."""
        answer = self._subject.play([run.case])[0]
        return isinstance(answer, Played) and answer.outcomes == run.expected and not answer.leaked

    def close(self) -> None:
        """Nothing to end."""


class Outer:
    """A released jar behind its driver; a thread of its own writes, so that neither side waits for the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        jar = jar_under_test(name)
        self.artifact = {"jar": jar.name, "sha256": hashlib.sha256(jar.read_bytes()).hexdigest()}
        self._process = subprocess.Popen(
            released_command(name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()
        self._lines.put(START)
        self.declaration = read_declaration(parse_line(self._read()), SYSTEMS)

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            while (line := self._lines.get()) is not None:
                pipe.write(line.encode())
                pipe.flush()
            pipe.close()
        except OSError:  # it reads no more; that it answers no more will show
            return

    def _read(self) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        watch = threading.Timer(SILENT_SECONDS, self._process.kill)
        watch.start()
        try:
            line = pipe.readline()
        finally:
            watch.cancel()
        if not line:
            raise BrokenSubject(f"{self.name} ended, or was silent for {SILENT_SECONDS} s")
        return line

    def send(self, run: Run) -> None:
        """Send the request."""
        self._lines.put(run.line)

    def same(self, run: Run) -> bool:
        """Read an answer and compare it with the reference's, as JSON."""
        line = self._read()
        try:
            answer = json.loads(line)
        except ValueError:
            raise BrokenSubject(f"{self.name} answered a line that is not JSON: {shortened(line)}") from None
        return alike(run.expected_json, answer.get("outcomes")) and not answer.get("leaked")

    def close(self) -> None:
        """End the child."""
        self._lines.put(None)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()


def alike(expected: list[Any], got: Any) -> bool:
    """Whether outcomes are the same but for the messages of errors and a payload of nothing, which are not compared."""
    if type(got) is not list or len(got) != len(expected):
        return False
    return all(one == other or _same(one, other) for one, other in zip(expected, got, strict=True))


def _same(one: dict[str, Any], other: Any) -> bool:
    if type(other) is not dict:
        return False
    if "tokens" not in one and other.get("tokens") == []:
        other = {name: value for name, value in other.items() if name != "tokens"}
    return bool(_without_messages(other) == one)


def _without_messages(value: Any) -> Any:
    if type(value) is dict:
        left = {name: _without_messages(each) for name, each in value.items()}
        if "error" in left:
            left.pop("message", None)
        return left
    return [_without_messages(each) for each in value] if type(value) is list else value


def open_lane(name: str, system: str = "pulsar-pip430") -> Lane:
    """The subject of that name, one of ours or a released jar; `system`: which one of ours is to play.

    Raises:
        UsageError: there is no such subject.
    """
    if is_released(name):
        return Outer(name)
    subject = in_process(name, system)
    if subject is None:
        raise UsageError(f"unknown subject {name!r}; a campaign takes fast, or released jars such as pulsar:4.2.4")
    return Inner(subject)


def common(lanes: Sequence[Lane]) -> Declaration:
    """What all of them take: their common operations and settings, under the narrowest of their limits.

    Raises:
        UsageError: two of them follow different variants, or not all of them carry payload.
    """
    first = lanes[0].declaration
    merged = first
    for lane in lanes[1:]:
        other = lane.declaration
        same = (other.system, other.variants, other.payload, other.fixed, other.introspection)
        if same != (first.system, first.variants, first.payload, first.fixed, first.introspection):
            raise UsageError(f"{lanes[0].name} and {lane.name} are not alike; give each a campaign of its own")
        merged = dataclasses.replace(
            merged,
            ops=merged.ops & other.ops,
            config=merged.sent_keys & other.sent_keys,
            limits=_narrowest(merged.limits, other.limits),
        )
    return merged


def _narrowest(one: Limits, other: Limits) -> Limits:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(one):
        both = getattr(one, field.name), getattr(other, field.name)
        known = [value for value in both if value is not None]
        values[field.name] = min(known) if known else None
    return type(one)(**values)


def digest_of(folder: str) -> str:
    """One checksum of all Python sources in a folder."""
    content = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        content.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()
