"""Subjects that misbehave: `python hostile.py KIND SCRATCH`. Only the standard library.

Each speaks the protocol and answers a small part of the level `range` rightly, except for its one
misbehaviour. `KINDS` says, beside it, how a run of the suite has to end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
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
        """Whether this is the first process of this kind in this scratch folder."""
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


# What happens instead of an answer.


def forever() -> None:
    while True:
        time.sleep(60)


def spin() -> None:
    while True:
        pass


def die(code: int) -> None:
    os._exit(code)


def killed(number: int) -> None:
    os.kill(os.getpid(), number)
    forever()


def flood(data: bytes, descriptor: int = 1) -> None:
    while True:
        os.write(descriptor, data)


def speak(data: bytes) -> None:
    os.write(1, data)


def drip() -> None:
    while True:
        time.sleep(0.05)
        os.write(1, b"x")


def close_output() -> None:
    os.close(1)
    forever()


def child_keeps_output(own_session: bool = False, seconds: float = 20) -> None:
    """A process that holds the pipes open for a while; in a session of its own nobody can find it."""
    if os.fork() == 0:
        if own_session:
            os.setsid()
        time.sleep(seconds)
        os._exit(0)


def deafen() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


# At start.


def at_start(name: str, instead: Callable[[], None], code: int = 3, timeout: float = 10) -> None:
    def misbehave(speaker: Speaker) -> None:
        speaker.on_start = instead

    KINDS[f"start-{name}"] = Kind(misbehave, code, timeout=timeout)


def start_bytes(name: str, data: bytes, then: Callable[[], None] = forever, timeout: float = 10) -> None:
    def instead() -> None:
        with contextlib.suppress(OSError):
            os.write(1, data)
        then()

    at_start(name, instead, timeout=timeout)


HELLO = json.dumps(Speaker(Path()).hello).encode()

at_start("silent", forever, timeout=1)
at_start("slow", lambda: time.sleep(3), timeout=1)
at_start("spins", spin, timeout=1)
at_start("closes-stdout", close_output)
for exit_code in (0, 1, 2, 3, 4, 77, 255):
    at_start(f"exits-{exit_code}", lambda code=exit_code: die(code))
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGHUP):
    at_start(f"{number.name.lower()}", lambda number=number: killed(number))
at_start("floods-lines", lambda: flood(b"x" * 1000 + b"\n"))
at_start("floods-without-end", lambda: flood(b"x" * 65536))
at_start("floods-empty-lines", lambda: flood(b"\n" * 65536))
at_start("floods-null-bytes", lambda: flood(b"\0" * 65536))
at_start("floods-stderr-silent", lambda: flood(b"y" * 1000 + b"\n", 2), timeout=1)
at_start("floods-stderr-without-end", lambda: flood(b"y" * 65536, 2), timeout=1)
at_start("drips", drip, timeout=1)

start_bytes("empty-line", b"\n")
start_bytes("banner", b"Listening on port 8080\n" + HELLO + b"\n")
start_bytes("not-json", b"{version: 1}\n")
start_bytes("python-dict", str(Speaker(Path()).hello).encode() + b"\n")
start_bytes("binary", bytes(range(256)) + b"\n")
start_bytes("bom", b"\xef\xbb\xbf" + HELLO + b"\n")
start_bytes("utf-16", HELLO.decode().encode("utf-16") + b"\n\0")
start_bytes("latin-1", HELLO.replace(b"hostile", b"h\xf6stile") + b"\n")
start_bytes("null", b"null\n")
start_bytes("array", b"[" + HELLO + b"]\n")
start_bytes("string", b'"hello"\n')
start_bytes("number", b"1\n")
start_bytes("nan-alone", b"NaN\n")
start_bytes("half-line-then-exit", HELLO[:40], lambda: die(0))
start_bytes("half-line-then-silent", HELLO[:40], timeout=1)
start_bytes("no-newline-then-exit", HELLO, lambda: die(0))
start_bytes("no-newline-then-silent", HELLO, timeout=1)
start_bytes("two-objects-a-line", HELLO + HELLO + b"\n")
start_bytes("pretty-printed", json.dumps(Speaker(Path()).hello, indent=1).encode() + b"\n")
start_bytes("carriage-return-only", HELLO + b"\r", timeout=1)
start_bytes("escape-sequences", b"\x1b[2J\x1b[31mhello\x1b[0m\x07\n")
for depth in (100, 400, 900, 950, 960, 970, 980, 990, 100_000):
    start_bytes(f"nested-{depth}", deep(depth) + b"\n")
    start_bytes(f"ops-nested-{depth}", HELLO.replace(b'["insert", "get", "exists"]', deep(depth)) + b"\n")
start_bytes("integer-of-5000-digits", HELLO.replace(b'"version": 1,', b'"version": ' + b"9" * 5000 + b",") + b"\n")
start_bytes("integer-of-4000-digits", HELLO.replace(b'"version": 1,', b'"version": ' + b"9" * 4000 + b",") + b"\n")
start_bytes("version-nan", HELLO.replace(b'"version": 1,', b'"version": NaN,') + b"\n")


@kind("never-speaks", 3, timeout=1)
def _(speaker: Speaker) -> None:
    speaker.serve = forever


@kind("dies-before-reading", 3)
def _(speaker: Speaker) -> None:
    speaker.serve = lambda: die(1)


@kind("speaks-stderr-then-dies", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, "Traceback (most recent call last):\n  File\nBoom: \x1b[31mred\u2028é\n\n".encode())
        die(1)

    speaker.on_start = instead


@kind("lacks-something", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, b"looking for java\njava is not on the path; install a JDK\n")
        die(4)

    speaker.on_start = instead


@kind("stderr-is-binary", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        os.write(2, bytes(range(256)) * 300)
        die(1)

    speaker.on_start = instead


@kind("closes-all-pipes", 3)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        forever()

    speaker.on_start = instead


@kind("dies-but-a-child-keeps-stdout", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        child_keeps_output()
        die(1)

    speaker.on_start = instead


@kind("dies-but-a-daemon-keeps-stdout", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def instead() -> None:
        child_keeps_output(own_session=True, seconds=2)
        die(1)

    speaker.on_start = instead


# What the start answer says.


def hello(name: str, change: Callable[[dict[str, Any]], Any], code: int = 3) -> None:
    def misbehave(speaker: Speaker) -> None:
        changed = change(speaker.hello)
        if changed is not None:
            speaker.hello = changed

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code)


def offer(name: str, value: dict[str, Any], code: int = 3) -> None:
    hello(name, lambda said: said["systems"][SYSTEM].update(value), code)


def systems(name: str, value: Any, code: int = 3) -> None:
    hello(name, lambda said: said.update(systems=value), code)


for name, value in {"2": 2, "0": 0, "string": "1", "true": True, "float": 1.0, "null": None, "list": [1]}.items():
    hello(f"version-{name}", lambda said, value=value: said.update(version=value))
hello("version-missing", lambda said: {"systems": said["systems"]})
hello("systems-missing", lambda said: {"version": 1})
hello("hello-empty", lambda said: {})
GOOD = {"ops": ["insert", "get"]}
systems("systems-empty", {})
systems("systems-list", [SYSTEM])
systems("systems-null", None)
systems("systems-string", SYSTEM)
systems("system-null", {SYSTEM: None})
systems("system-list", {SYSTEM: ["insert"]})
systems("system-empty", {SYSTEM: {}})
systems("system-unknown", {"redis": GOOD})
systems("system-name-empty", {"": GOOD})
systems("system-name-with-lines", {"a\nb\r\x1b[2J\u2028": GOOD})
systems("system-name-endless", {"x" * 1_000_000: GOOD})
systems("system-name-surrogate", {"\ud800": GOOD})
systems("system-not-built", {"pulsar-legacy": GOOD}, 2)
systems("systems-several", {SYSTEM: GOOD, "pulsar-legacy": GOOD}, 2)
systems("systems-several-with-lines", {"a\nb": GOOD, "\x1b[2J": GOOD, "\ud800": GOOD}, 2)
systems("systems-thousands", {f"system-{number}": GOOD for number in range(5_000)}, 2)

offer("ops-null", {"ops": None})
offer("ops-string", {"ops": "insert"})
offer("ops-object", {"ops": {"insert": True}})
offer("ops-numbers", {"ops": [1, 2]})
offer("ops-nested", {"ops": [["insert"]]})
offer("ops-unknown", {"ops": ["insert", "get", "frobnicate"]})
offer("ops-wrong-case", {"ops": ["Insert", "get"]})
offer("ops-of-another-system", {"ops": ["insert", "put"]})
offer("ops-empty", {"ops": []}, 2)
offer("ops-observe-only", {"ops": ["observe"], "introspection": ["bytes"]}, 2)
offer("ops-of-another-level-only", {"ops": ["advance", "expire", "evict"]}, 2)
offer("ops-of-a-level-not-built", {"ops": ["cycle", "metrics"]}, 2)
offer("config-null", {"config": None})
offer("config-string", {"config": "ttl_nanos"})
offer("config-unknown", {"config": ["ttl_seconds"]})
offer("config-object", {"config": {"ttl_nanos": 5}})
offer("config-variants", {"config": ["variants"]})
offer("fixed-list", {"fixed": ["ttl_nanos"]})
offer("fixed-null", {"fixed": None})
offer("fixed-unknown", {"fixed": {"ttl_seconds": 5}})
offer("fixed-string", {"fixed": {"ttl_nanos": "5"}})
offer("fixed-negative", {"fixed": {"ttl_nanos": -5}})
offer("fixed-nan", {"fixed": {"watermark": float("nan")}})
offer("fixed-infinite", {"fixed": {"watermark": float("inf")}})
offer("fixed-watermark-2", {"fixed": {"watermark": 2}})
offer("fixed-one-for-true", {"fixed": {"extend_recently_accessed": 1}})
offer("fixed-beyond-integers", {"fixed": {"max_size_bytes": 2**60}})
offer("variants-list", {"variants": ["requeue_budget"]})
offer("variants-unknown", {"variants": {"colour": "blue"}})
offer("variants-unknown-value", {"variants": {"requeue_budget": "blue"}})
offer("variants-value-list", {"variants": {"requeue_budget": ["shared"]}})
offer("introspection-string", {"introspection": "queue"})
offer("introspection-unknown", {"introspection": ["queue", "colour"]})
offer("introspection-numbers", {"introspection": [1]})
offer("payload-string", {"payload": "yes"})
offer("payload-one", {"payload": 1})
offer("leaks-null", {"leaks": None})
offer("leaks-string", {"leaks": "false"})
offer("order-slack-string", {"order_slack": "0"})
offer("order-slack-true", {"order_slack": True})
offer("order-slack-float", {"order_slack": 0.0})
offer("order-slack-negative", {"order_slack": -1})
offer("order-slack-1", {"order_slack": 1}, 2)
offer("limits-list", {"limits": []})
offer("limits-null", {"limits": None})
offer("limits-max-steps-0", {"limits": {"max_steps": 0}})
offer("limits-max-steps-negative", {"limits": {"max_steps": -5}})
offer("limits-max-steps-string", {"limits": {"max_steps": "100"}})
offer("limits-max-steps-true", {"limits": {"max_steps": True}})
offer("limits-max-steps-float", {"limits": {"max_steps": 10.5}})
offer("limits-max-size-negative", {"limits": {"max_size": -1}})
offer("limits-max-size-string", {"limits": {"max_size": "1k"}})
offer("limits-max-size-null", {"limits": {"max_size": None}})
offer("limits-null-positions-1", {"limits": {"null_positions": 1}})
offer("implementation-none-of-these", {"colour": "blue"}, 0)


def implementation(name: str, value: Any) -> None:
    hello(f"implementation-{name}", lambda said: said.update(implementation=value), 0)


implementation("list", ["hostile"])
implementation("markup", {"name": "[/bold][red]", "version": "[/]"})
implementation("with-lines", {"name": "a\nb\x1b[2J", "version": "\r\n"})
implementation("surrogate", {"name": "\ud800", "version": "\udfff"})
implementation("endless", {"name": "x" * 1_000_000})
implementation("numbers", {"name": 1, "version": [2]})


# In a run: the answer as a whole.


def answers(name: str, change: Callable[[dict[str, Any]], Any], code: int = 3, rule: str = "") -> None:
    """`change` makes the answer that is sent from the right one."""

    def misbehave(speaker: Speaker) -> None:
        right = speaker.answer
        speaker.answer = lambda request: change(right(request))

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code, rule)


answers("id-next", lambda right: {**right, "id": right["id"] + 1})
answers("id-before", lambda right: {**right, "id": right["id"] - 1})
answers("id-zero", lambda right: {**right, "id": 0})
answers("id-string", lambda right: {**right, "id": str(right["id"])})
answers("id-float", lambda right: {**right, "id": float(right["id"])})
answers("id-bool", lambda right: {**right, "id": bool(right["id"])})
answers("id-null", lambda right: {**right, "id": None})
answers("id-list", lambda right: {**right, "id": [right["id"]]})
answers("id-missing", lambda right: {"outcomes": right["outcomes"]})
answers("id-of-4000-digits", lambda right: {**right, "id": 10**4000})
answers("answer-null", lambda right: None)
answers("answer-list", lambda right: right["outcomes"])
answers("answer-empty", lambda right: {})
answers("answer-only-id", lambda right: {"id": right["id"]})
answers("answer-unknown-key", lambda right: {**right, "colour": "blue"})
answers("answer-unknown-key-with-lines", lambda right: {**right, "a\nb\x1b[2J": 1})
answers("answer-is-hello-again", lambda right: {"version": 1, "systems": {SYSTEM: GOOD}})
answers("outcomes-more", lambda right: {**right, "outcomes": [*right["outcomes"], {"inserted": True}]})
answers("outcomes-fewer", lambda right: {**right, "outcomes": right["outcomes"][:-1]})
answers("outcomes-none", lambda right: {**right, "outcomes": []})
answers("outcomes-twice", lambda right: {**right, "outcomes": right["outcomes"] * 2})
answers("outcomes-null", lambda right: {**right, "outcomes": None})
answers("outcomes-object", lambda right: {**right, "outcomes": dict(enumerate(right["outcomes"]))})
answers("outcomes-string", lambda right: {**right, "outcomes": json.dumps(right["outcomes"])})
answers("outcomes-in-a-list", lambda right: {**right, "outcomes": [right["outcomes"]]})
answers("outcomes-and-errored", lambda right: {**right, "errored": {"step": 0}})
answers("outcomes-and-skipped", lambda right: {**right, "skipped": {"reason": "no"}})
answers("skipped-null", lambda right: {"id": right["id"], "skipped": None})
answers("skipped-string", lambda right: {"id": right["id"], "skipped": "no time"})
answers("skipped-without-reason", lambda right: {"id": right["id"], "skipped": {}})
answers("skipped-reason-empty", lambda right: {"id": right["id"], "skipped": {"reason": " "}})
answers("skipped-reason-number", lambda right: {"id": right["id"], "skipped": {"reason": 5}})
answers("skipped-url-object", lambda right: {"id": right["id"], "skipped": {"reason": "no", "issue_url": {"a": 1}}})
answers("skipped-always", lambda right: {"id": right["id"], "skipped": {"reason": "no time"}}, 2)
answers("skipped-with-markup", lambda right: {"id": right["id"], "skipped": {"reason": "[/red]\n\ud800\x1b[2J"}}, 2)
answers("skipped-endlessly", lambda right: {"id": right["id"], "skipped": {"reason": "x" * 100_000}}, 2)
answers(
    "skipped-with-and-without-url",
    lambda right: {
        "id": right["id"],
        "skipped": {"reason": "no", "issue_url": None if right["id"] % 2 else f"https://example.org/{right['id']}"},
    },
    2,
)
answers("errored-null", lambda right: {"id": right["id"], "errored": None})
answers("errored-string", lambda right: {"id": right["id"], "errored": "boom"})
answers("errored-list", lambda right: {"id": right["id"], "errored": []})
for name, step in {"beyond": 10**6, "negative": -1, "string": "0", "true": True, "float": 0.0}.items():
    answers(f"errored-step-{name}", lambda right, step=step: {"id": right["id"], "errored": {"step": step}})


def errs(name: str, said: dict[str, Any]) -> None:
    answers(f"errored-{name}", lambda right: {"id": right["id"], "errored": said}, 1, THROW)


errs("always", {"step": 0, "message": "boom", "traceback": "at line 1"})
errs("empty", {})
errs("without-step", {"message": "boom"})
errs("message-object", {"step": 0, "message": {"a": [1]}})
errs("message-null", {"step": 0, "message": None})
errs("message-markup", {"step": 0, "message": "[/red] [bold"})
errs("message-surrogate", {"step": 0, "message": "\ud800 \udfff"})
errs("message-with-lines", {"step": 0, "message": "a\nb\r\n\x1b[2J\u2028c\0"})
errs("message-endless", {"step": 0, "message": "x" * 1_000_000})
errs("message-nested", {"step": 0, "message": json.loads(deep(200))})

# In a run: one outcome.


def outcome(name: str, op: str, value: Any, code: int = 3, rule: str = "") -> None:
    """Answer each step of `op` with that value."""

    def misbehave(speaker: Speaker) -> None:
        right = speaker.outcome
        speaker.outcome = lambda step: value if step["op"] == op else right(step)

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code, rule)


for name, said in {
    "null": None, "true": True, "one": 1, "string": "true", "list": [], "list-in": [{"inserted": True}],
    "empty": {}, "of-another-op": {"hit": True}, "unknown-key": {"inserted": True, "colour": "blue"},
    "key-with-lines": {"a\nb\x1b[2J": True}, "one-for-true": {"inserted": 1}, "zero-for-false": {"inserted": 0},
    "string-for-true": {"inserted": "true"}, "float-for-true": {"inserted": 1.0}, "null-for-true": {"inserted": None},
    "list-for-true": {"inserted": [True]}, "object-for-true": {"inserted": {"inserted": True}},
    "nan-for-true": {"inserted": float("nan")}, "infinite": {"inserted": float("-inf")},
    "beyond-integers": {"inserted": 10**30}, "integer-of-4000-digits": {"inserted": 10**4000},
    "long-string": {"inserted": "x" * 1_000_000}, "surrogate": {"inserted": "\ud800"},
    "error-unknown": {"error": "out-of-memory"}, "error-null": {"error": None}, "error-one": {"error": 1},
    "error-list": {"error": ["illegal-argument"]}, "error-false": {"error": False},
    "error-of-another-system": {"error": "illegal-state"}, "error-wrong-case": {"error": "Illegal-Argument"},
    "error-and-outcome": {"error": "illegal-argument", "inserted": False},
    "error-and-unknown-key": {"error": "illegal-argument", "stack": "at"},
}.items():  # fmt: skip
    outcome(f"insert-{name}", "insert", said)
outcome("get-tokens-not-declared", "get", {"hit": True, "tokens": [1]})
outcome("get-tokens-string", "get", {"hit": True, "tokens": "1"})
outcome("get-tokens-null-in-list", "get", {"hit": True, "tokens": [None]})
outcome("get-hits-everything", "get", {"hit": True}, 1)
outcome("get-hits-nothing", "get", {"hit": False}, 1)
outcome("get-refuses", "get", {"error": "illegal-argument", "message": ["free", "form"]}, 1)
outcome("insert-adds-always", "insert", {"inserted": True}, 1)
outcome("insert-refuses-always", "insert", {"error": "illegal-argument"}, 1)


@kind("usage-string-for-number", 3)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "usage"]
    right = speaker.outcome
    said = {"entries": "0", "bytes": 0}
    speaker.outcome = lambda step: said if step["op"] == "usage" else right(step)


@kind("usage-beyond-integers", 1)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "usage"]
    right = speaker.outcome
    said = {"entries": 0, "bytes": 10**400}
    speaker.outcome = lambda step: said if step["op"] == "usage" else right(step)


@kind("hits-of-half-a-position", 3)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "get_range"]
    right = speaker.outcome
    said = {"hits": [[1]]}
    speaker.outcome = lambda step: said if step["op"] == "get_range" else right(step)


@kind("observe-without-what-is-declared", 3)
def _(speaker: Speaker) -> None:
    speaker.offer.update(ops=["insert", "observe"], introspection=["bytes", "queue"])
    right = speaker.outcome
    said = {"bytes": 0}
    speaker.outcome = lambda step: said if step["op"] == "observe" else right(step)


@kind("observe-unknown-key", 3)
def _(speaker: Speaker) -> None:
    speaker.offer.update(ops=["insert", "observe"], introspection=[])
    right = speaker.outcome
    said = {"colour": 0}
    speaker.outcome = lambda step: said if step["op"] == "observe" else right(step)


# Leaks.


def leaks(name: str, said: dict[str, Any], code: int = 3, declared: bool = True) -> None:
    def misbehave(speaker: Speaker) -> None:
        speaker.offer["leaks"] = declared
        right = speaker.answer
        speaker.answer = lambda request: {**right(request), **said}

    KINDS[f"leaked-{name}"] = Kind(misbehave, code, "R-COUNT-7" if code == 1 else "")


leaks("missing", {})
leaks("not-declared", {"leaked": 0}, declared=False)
for name, said in {"null": None, "string": "0", "true": True, "float": 0.0, "negative": -1, "list": []}.items():
    leaks(name, {"leaked": said})
leaks("positive", {"leaked": 3}, 1)
leaks("none", {"leaked": 0}, 0)


# In a run: bytes.


def run_bytes(
    name: str, make: Callable[[bytes], bytes], then: Callable[[], None] = lambda: None, timeout: float = 10
) -> None:
    """`make` makes the bytes that are sent, line end included, from the right line without one."""

    def misbehave(speaker: Speaker) -> None:
        def on_run(request: dict[str, Any]) -> None:
            speaker.raw(make(json.dumps(speaker.answer(request)).encode()))
            then()

        speaker.on_run = on_run

    assert f"run-{name}" not in KINDS, name
    KINDS[f"run-{name}"] = Kind(misbehave, 3, timeout=timeout)


run_bytes("half-line-then-silent", lambda line: line[:9], forever, 1)
run_bytes("half-line-then-exit", lambda line: line[:9], lambda: die(0))
run_bytes("no-newline-then-silent", lambda line: line, forever, 1)
run_bytes("no-newline-then-exit", lambda line: line, lambda: die(0))
run_bytes("without-end", lambda line: b"", lambda: flood(b"x" * 65536))
run_bytes("floods-lines", lambda line: line + b"\n", lambda: flood(b"debug\n" * 1000))
run_bytes("floods-right-answers", lambda line: (line + b"\n") * 5_000)
run_bytes("twice", lambda line: line + b"\n" + line + b"\n")
run_bytes("empty-line-before", lambda line: b"\n" + line + b"\n")
run_bytes("empty-line-after", lambda line: line + b"\n\n")
run_bytes("debug-line-before", lambda line: b"inserting ...\n" + line + b"\n")
run_bytes("debug-line-after", lambda line: line + b"\nDEBUG done\n")
run_bytes("debug-on-the-same-line", lambda line: b"DEBUG " + line + b"\n")
run_bytes("bom", lambda line: b"\xef\xbb\xbf" + line + b"\n")
run_bytes("utf-16", lambda line: line.decode().encode("utf-16") + b"\n\0")
run_bytes("binary", lambda line: bytes(range(255, -1, -1)) + b"\n")
run_bytes("null-bytes", lambda line: b"\0" * 100 + line + b"\n")
run_bytes("not-utf-8", lambda line: line.replace(b"outcomes", b"\xff\xfe") + b"\n")
run_bytes("two-objects-a-line", lambda line: line + b" " + line + b"\n")
run_bytes("trailing-comma", lambda line: line[:-1] + b",}\n")
run_bytes("single-quotes", lambda line: line.replace(b'"', b"'") + b"\n")
run_bytes("integer-of-5000-digits", lambda line: b'{"id":' + b"9" * 5000 + b"}\n")
for depth in (100, 900, 950, 960, 970, 980, 990, 100_000):
    run_bytes(f"nested-{depth}", lambda line, depth=depth: deep(depth) + b"\n")
    run_bytes(
        f"outcomes-nested-{depth}",
        lambda line, depth=depth: line.partition(b'"outcomes"')[0] + b'"outcomes": ' + deep(depth) + b"}\n",
    )


@kind("run-answer-before-asked", 3)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        for number in range(3):
            speaker.write({"id": number, "outcomes": []})

    speaker.on_start = on_start


@kind("run-answers-one-late", 3)
def _(speaker: Speaker) -> None:
    late: list[Any] = [{"id": 0, "outcomes": []}]
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        late.append(right(request))
        return late.pop(0)

    speaker.answer = answer


# In a run: no answer.


def no_answer(
    name: str, instead: Callable[[], None], code: int, rule: str = "", *, after: int = 0, timeout: float = 10
) -> None:
    """No answer to any run after the first `after` of a process."""

    def misbehave(speaker: Speaker) -> None:
        def on_run(request: dict[str, Any]) -> None:
            if speaker.runs > after:
                instead()
            speaker.write(speaker.answer(request))

        speaker.on_run = on_run

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, code, rule, timeout)


no_answer("hangs-always", forever, 1, HANG, timeout=1)
no_answer("dies-always", lambda: die(1), 1, THROW)
no_answer("exits-0-always", lambda: die(0), 1, THROW)
no_answer("closes-stdout-always", close_output, 1, THROW)
no_answer("hangs-after-20", forever, 3, after=20, timeout=1)
no_answer("dies-after-20", lambda: die(1), 3, after=20)
no_answer("exits-0-after-20", lambda: die(0), 3, after=20)
no_answer("sigkill-after-20", lambda: killed(signal.SIGKILL), 3, after=20)
no_answer("closes-stdout-after-20", close_output, 3, after=20)
no_answer("floods-after-20", lambda: flood(b"x" * 999 + b"\n"), 3, after=20)
no_answer("floods-without-end-after-20", lambda: flood(b"x" * 65536), 3, after=20)
no_answer("garbage-after-20", lambda: speak(b"OutOfMemoryError\n"), 3, after=20)


def for_get(name: str, instead: Callable[[], None], rule: str, timeout: float = 10) -> None:
    """No answer where a run holds a `get`."""

    def misbehave(speaker: Speaker) -> None:
        right = speaker.outcome

        def outcome(step: dict[str, Any]) -> Any:
            if step["op"] == "get":
                instead()
            return right(step)

        speaker.outcome = outcome

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, 1, rule, timeout)


def hang_holding_output() -> None:
    child_keeps_output()
    forever()


def die_holding_output() -> None:
    child_keeps_output()
    die(1)


def flood_stderr_and_die() -> None:
    os.write(2, b"z" * 60_000 + b"\nthe end\n")
    die(1)


def close_input_and_hang() -> None:
    os.close(0)
    forever()


def deafen_and_hang() -> None:
    deafen()
    forever()


for_get("get-hangs", forever, HANG, 1)
for_get("get-spins", spin, HANG, 1)
for_get("get-is-slow", lambda: time.sleep(1.5), HANG, 1)
for_get("get-hangs-deaf", deafen_and_hang, HANG, 1)
for_get("get-hangs-flooding-stderr", lambda: flood(b"y" * 999 + b"\n", 2), HANG, 1)
for_get("get-hangs-with-a-child", hang_holding_output, HANG, 1)
for_get("get-closes-stdin-and-hangs", close_input_and_hang, HANG, 1)
for_get("get-stops-itself", lambda: killed(signal.SIGSTOP), HANG, 1)
for code_of_death in (0, 1, 3, 4, 139):
    for_get(f"get-exits-{code_of_death}", lambda code=code_of_death: die(code), THROW)
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV):
    for_get(f"get-{number.name.lower()}", lambda number=number: killed(number), THROW)
for_get("get-closes-stdout", close_output, THROW)
for_get("get-dies-and-a-child-keeps-stdout", die_holding_output, THROW, 1)
for_get("get-dies-with-a-long-log", flood_stderr_and_die, THROW)


def throws_when(name: str, when: Callable[[Speaker, dict[str, Any]], bool], instead: Misbehave | None, rule: str,
                timeout: float = 10) -> None:  # fmt: skip
    """`errored`, or what `instead` does, at the first step for which `when` holds."""

    def misbehave(speaker: Speaker) -> None:
        def answer(request: dict[str, Any]) -> Any:
            speaker.sizes = {}
            said = []
            for index, step in enumerate(request["steps"]):
                if when(speaker, step):
                    if instead is not None:
                        instead(speaker)
                    return {"id": request["id"], "errored": {"step": index, "message": "boom"}}
                said.append(speaker.outcome(step))
            return {"id": request["id"], "outcomes": said}

        speaker.answer = answer

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, 1, rule, timeout)


def duplicate(speaker: Speaker, step: dict[str, Any]) -> bool:
    return step["op"] == "insert" and json.dumps([step["cache"], step["pos"]]) in speaker.sizes


throws_when("get-errs", lambda speaker, step: step["op"] == "get", None, THROW)
throws_when("exists-errs", lambda speaker, step: step["op"] == "exists", None, THROW)
throws_when("insert-of-nothing-errs", lambda speaker, step: step.get("size") == 0, None, THROW)
throws_when("duplicate-errs", duplicate, None, THROW)
throws_when("third-entry-errs", lambda speaker, step: len(speaker.sizes) == 2, None, THROW)
throws_when("duplicate-hangs", duplicate, lambda speaker: forever(), HANG, 1)
throws_when("third-entry-hangs", lambda speaker, step: len(speaker.sizes) == 3, lambda speaker: forever(), HANG, 1)
throws_when("duplicate-dies", duplicate, lambda speaker: die(1), THROW)
throws_when("third-entry-dies", lambda speaker, step: len(speaker.sizes) == 3, lambda speaker: die(1), THROW)


@kind("declares-what-it-cannot", 1, THROW)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert", "get", "clear"]
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        for index, step in enumerate(request["steps"]):
            if step["op"] == "clear":
                return {"id": request["id"], "errored": {"step": index, "message": "unknown op clear"}}
        return right(request)

    speaker.answer = answer


@kind("reads-nothing-after-start", 1, HANG, 1)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        forever()

    speaker.on_start = on_start


@kind("dies-after-start", 1, THROW)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        die(0)

    speaker.on_start = on_start


@kind("closes-stdin-after-start", 1, THROW)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        os.close(0)
        time.sleep(0.3)
        die(0)

    speaker.on_start = on_start


# What does not repeat.


def not_again(name: str, instead: Callable[[Speaker, dict[str, Any]], Any], timeout: float = 10) -> None:
    """Misbehaves at the fifth run of the first process only."""

    def misbehave(speaker: Speaker) -> None:
        first = speaker.first_life()
        right = speaker.answer

        def answer(request: dict[str, Any]) -> Any:
            return instead(speaker, request) if first and speaker.runs == 5 else right(request)

        speaker.answer = answer

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, 3, timeout=timeout)


def erred(request: dict[str, Any], step: int = 0) -> Any:
    return {"id": request["id"], "errored": {"step": step, "message": "boom"}}


not_again("hangs-once", lambda speaker, request: forever(), 1)
not_again("dies-once", lambda speaker, request: die(1))
not_again("errs-once", lambda speaker, request: erred(request))


@kind("errs-every-seventh-run", 3)
def _(speaker: Speaker) -> None:
    right = speaker.answer
    speaker.answer = lambda request: right(request) if speaker.runs % 7 else erred(request)


def two_ways(name: str, first: Callable[[dict[str, Any]], Any], then: Callable[[dict[str, Any]], Any]) -> None:
    def misbehave(speaker: Speaker) -> None:
        way = first if speaker.first_life() else then
        speaker.answer = way

    KINDS[name] = Kind(misbehave, 3, timeout=1)


two_ways("hangs-then-dies", lambda request: forever(), lambda request: die(1))
two_ways("dies-then-hangs", lambda request: die(1), lambda request: forever())
two_ways("dies-then-errs", lambda request: die(1), erred)
two_ways("errs-with-then-without-step", erred, lambda request: {"id": request["id"], "errored": {}})
two_ways("dies-then-talks-nonsense", lambda request: die(1), lambda request: "nonsense")


@kind("starts-only-once", 3)
def _(speaker: Speaker) -> None:
    speaker.answer = lambda request: die(1)
    if not speaker.first_life():
        speaker.on_start = lambda: die(9)


@kind("starts-only-once-then-silent", 3, timeout=1)
def _(speaker: Speaker) -> None:
    speaker.answer = lambda request: die(1)
    if not speaker.first_life():
        speaker.on_start = forever


@kind("offers-nothing-the-second-time", 3)
def _(speaker: Speaker) -> None:
    speaker.answer = lambda request: die(1)
    if not speaker.first_life():
        speaker.hello = {"version": 1, "systems": {}}


# Odd, but right.


@kind("right", 0)
def _(speaker: Speaker) -> None:
    pass


@kind("slow-within-the-timeout", 0)
def _(speaker: Speaker) -> None:
    right = speaker.answer
    time.sleep(0.5)

    def answer(request: dict[str, Any]) -> Any:
        time.sleep(0.5 if speaker.runs == 3 else 0.002)
        return right(request)

    speaker.answer = answer


@kind("chatters-on-stderr", 0)
def _(speaker: Speaker) -> None:
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        os.write(2, b"chatter " * 500 + b"\n")
        return right(request)

    speaker.answer = answer


@kind("floods-stderr-beside-right-answers", 0)
def _(speaker: Speaker) -> None:
    threading.Thread(target=flood, args=(b"y" * 65536, 2), daemon=True).start()


@kind("carriage-returns", 0)
def _(speaker: Speaker) -> None:
    speaker.write = lambda value: speaker.raw(json.dumps(value).encode() + b"\r\n")


@kind("answers-more-than-a-pipe-holds", 0)
def _(speaker: Speaker) -> None:
    right = speaker.outcome

    def outcome(step: dict[str, Any]) -> Any:
        said = right(step)
        return {**said, "message": "x" * 200_000} if "error" in said else said

    speaker.outcome = outcome


@kind("writes-byte-by-byte", 0)
def _(speaker: Speaker) -> None:
    def raw(data: bytes) -> None:
        for at in range(len(data)):
            os.write(1, data[at : at + 1])

    speaker.raw = raw


@kind("ignores-stop-and-end-of-input", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = deafen_and_hang


@kind("spins-at-stop", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = spin


@kind("floods-at-stop", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = lambda: flood(b"bye\n" * 1000)


@kind("exits-7-at-stop", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = lambda: die(7)


@kind("leaves-a-child-at-stop", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = child_keeps_output


@kind("leaves-a-daemon-at-stop", 0)
def _(speaker: Speaker) -> None:
    speaker.on_end = lambda: child_keeps_output(own_session=True, seconds=1)


@kind("offers-only-advance", 0, level="queue")
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["advance"]
    refused = {"error": "illegal-argument"}
    speaker.outcome = lambda step: refused if step["nanos"] < 0 else {}


@kind("offers-only-insert", 0)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert"]


@kind("offers-only-get", 0)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["get"]


@kind("deaf-to-signals", 0)
def _(speaker: Speaker) -> None:
    deafen()


@kind("refuses-with-a-message", 0)
def _(speaker: Speaker) -> None:
    right = speaker.outcome

    def outcome(step: dict[str, Any]) -> Any:
        said = right(step)
        return {**said, "message": {"free": ["form"]}} if "error" in said else said

    speaker.outcome = outcome


@kind("skips-every-fifth-run", 0)
def _(speaker: Speaker) -> None:
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        return right(request) if speaker.runs % 5 else {"id": request["id"], "skipped": {"reason": "tired"}}

    speaker.answer = answer


@kind("takes-one-step-at-most", 0)
def _(speaker: Speaker) -> None:
    speaker.offer["limits"] = {"max_steps": 1}


@kind("takes-only-empty-entries", 0)
def _(speaker: Speaker) -> None:
    speaker.offer["limits"] = {"max_size": 0}


IN_FULL = {
    "right", "implementation-markup", "slow-within-the-timeout", "floods-stderr-beside-right-answers", "leaked-none",
    "skips-every-fifth-run", "takes-one-step-at-most", "takes-only-empty-entries", "offers-only-advance",
    "offers-only-insert", "offers-only-get", "answers-more-than-a-pipe-holds",
}  # fmt: skip
"""Of the kinds that are right, those that `conform` is run on; a full run takes long, `smoke` has to do for others."""


def main() -> None:
    speaker = Speaker(Path(sys.argv[2]))
    KINDS[sys.argv[1]].misbehave(speaker)
    speaker.serve()


if __name__ == "__main__":
    main()
