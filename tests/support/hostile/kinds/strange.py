"""Adapters as people really write them: buffered, forked, daemonized, with state that stays, with odd declarations."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from .hello import offer
from .misdeeds import child_keeps_output, deafen, die, forever
from .run_bytes import run_bytes
from .speaker import HANG, KINDS, THROW, Kind, Speaker, kind

IN_LONG = {"answers-only-empty-runs", "skips-what-has-a-get", "answers-only-one-step", "exits-after-each-answer"}
"""Of those that do not get far, the ones that still cost a whole run; they stand here for the long one."""

SELDOM = {"wrong-once", "wrong-once-late"}
"""Those whose case does not fail when it is replayed."""

AFTER_OTHERS = {"wrong-every-third-run", "remembers-earlier-runs"}
"""Those whose case holds the runs that it needs before it."""

# --- what is not flushed, and what comes at the wrong time


@kind("flushes-nothing", 3, timeout=1)
def _(speaker: Speaker) -> None:
    speaker.raw = sys.stdout.buffer.write


@kind("flushes-only-at-start", 1, HANG, timeout=1)
def _(speaker: Speaker) -> None:
    flushed = speaker.raw

    def on_run(request: dict[str, Any]) -> None:
        speaker.raw = sys.stdout.buffer.write
        speaker.write(speaker.answer(request))

    speaker.raw = flushed
    speaker.on_run = on_run


@kind("reads-all-of-its-input-first", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def serve() -> None:
        sys.stdin.buffer.read()
        speaker.write(speaker.hello)

    speaker.serve = serve


@kind("answers-on-stderr", 3, timeout=1)
def _(speaker: Speaker) -> None:
    speaker.raw = partial(os.write, 2)


@kind("answers-in-pairs-swapped", 3, timeout=1)
def _(speaker: Speaker) -> None:
    held: list[Any] = []

    def on_run(request: dict[str, Any]) -> None:
        held.append(speaker.answer(request))
        if speaker.runs == 1 or len(held) == 2:
            for answer in reversed(held):
                speaker.write(answer)
            held.clear()

    speaker.on_run = on_run


@kind("says-hello-twice", 3)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        speaker.write(speaker.hello)
        speaker.write(speaker.hello)

    speaker.on_start = on_start


@kind("echoes-its-requests", 3)
def _(speaker: Speaker) -> None:
    speaker.on_run = speaker.write


@kind("exits-after-each-answer", 3)
def _(speaker: Speaker) -> None:
    right = speaker.answer

    def on_run(request: dict[str, Any]) -> None:
        speaker.write(right(request))
        if speaker.runs > 3:
            die(0)

    speaker.on_run = on_run


@kind("answers-in-two-halves", 0)
def _(speaker: Speaker) -> None:
    def raw(data: bytes) -> None:
        os.write(1, data[:7])
        time.sleep(0.02)
        os.write(1, data[7:])

    speaker.raw = raw


# --- bytes that are nearly JSON, and JSON that is only odd

run_bytes("id-with-a-leading-zero", lambda line: line.replace(b'"id": ', b'"id": 0') + b"\n")
run_bytes("id-as-a-power", lambda line: line.replace(b",", b"e0,", 1) + b"\n")
run_bytes("raw-surrogate", lambda line: line[:-1] + b', "\xed\xa0\x80": 1}\n')
run_bytes("overlong-utf-8", lambda line: line[:-1] + b', "\xc0\xaf": 1}\n')
run_bytes("form-feed-before", lambda line: b"\x0c" + line + b"\n")
run_bytes("http", lambda line: b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + line + b"\n")
run_bytes("comment-after", lambda line: line + b" // done\n")
run_bytes("hexadecimal-id", lambda line: line.replace(b'"id": ', b'"id": 0x') + b"\n")
run_bytes("true-in-capitals", lambda line: line.replace(b"true", b"True").replace(b"false", b"False") + b"\n")


def written(name: str, write: Callable[[Any], bytes]) -> None:
    """Right answers, in JSON that few would write."""

    def misbehave(speaker: Speaker) -> None:
        speaker.write = lambda value: speaker.raw(write(value))

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, 0)


written(
    "writes-spaces-and-tabs", lambda value: b" \t" + json.dumps(value, indent=0).replace("\n", " ").encode() + b"\t \n"
)
written("writes-escaped-keys", lambda value: json.dumps(value).replace('"id"', '"\\u0069\\u0064"').encode() + b"\n")
written("writes-keys-in-another-order", lambda value: json.dumps(dict(reversed(value.items()))).encode() + b"\n")


# --- processes


@kind("serves-from-a-child", 0)
def _(speaker: Speaker) -> None:
    if os.fork():
        os._exit(0)


@kind("serves-from-a-child-in-its-own-session", 0)
def _(speaker: Speaker) -> None:
    if os.fork():
        os._exit(0)
    os.setsid()


@kind("starts-fifty-deaf-children", 0)
def _(speaker: Speaker) -> None:
    deafen()
    for _ in range(50):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)


@kind("leaves-a-child-in-its-own-group", 0)
def _(speaker: Speaker) -> None:
    def on_end() -> None:
        if os.fork() == 0:
            os.setpgid(0, 0)
            time.sleep(20)
            os._exit(0)
        time.sleep(0.1)

    speaker.on_end = on_end


def with_a_daemon_child(then: Callable[[], None]) -> Callable[[], None]:
    """A child in a session of its own, whose parent lives: it can be found."""

    def instead() -> None:
        if os.fork() == 0:
            os.setsid()
            time.sleep(20)
            os._exit(0)
        then()

    return instead


@kind("get-hangs-with-a-daemon", 1, HANG, 1)
def _(speaker: Speaker) -> None:
    right = speaker.outcome
    hang = with_a_daemon_child(forever)

    def outcome(step: dict[str, Any]) -> Any:
        if step["op"] == "get":
            hang()
        return right(step)

    speaker.outcome = outcome


def begins_with_a_daemon(speaker: Speaker) -> None:
    """A child in a session of its own, without the pipes, from before the first answer on."""

    def on_start() -> None:
        if os.fork() == 0:
            os.setsid()
            os.closerange(0, 3)
            time.sleep(20)
            os._exit(0)
        speaker.write(speaker.hello)

    speaker.on_start = on_start


@kind("begins-with-a-daemon", 0)
def _(speaker: Speaker) -> None:
    begins_with_a_daemon(speaker)


@kind("begins-a-daemon-in-a-run-and-dies", 1, THROW)
def _(speaker: Speaker) -> None:
    def answer(request: dict[str, Any]) -> Any:
        child_keeps_output(own_session=True)
        die(1)

    speaker.answer = answer


@kind("begins-with-a-daemon-and-dies", 1, THROW)
def _(speaker: Speaker) -> None:
    begins_with_a_daemon(speaker)
    speaker.answer = lambda request: die(1)


@kind("start-hangs-with-a-shell-that-has-jobs", 3, timeout=1)
def _(speaker: Speaker) -> None:
    def on_start() -> None:
        subprocess.run(["/bin/sh", "-c", f"set -m; sleep 21 & : {speaker.scratch}; wait"], check=False)

    speaker.on_start = on_start


@kind("closes-its-stderr", 0)
def _(speaker: Speaker) -> None:
    os.close(2)


@kind("leaves-zombies", 0)
def _(speaker: Speaker) -> None:
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        if speaker.runs < 20 and os.fork() == 0:
            os._exit(0)
        return right(request)

    speaker.answer = answer


@kind("runs-out-of-memory", 1, THROW)
def _(speaker: Speaker) -> None:
    right = speaker.outcome

    def outcome(step: dict[str, Any]) -> Any:
        if step["op"] == "get":
            resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))
            return bytearray(2_000_000_000) and {}
        return right(step)

    speaker.outcome = outcome


@kind("exits-in-an-atexit-that-hangs", 1, HANG, 1)
def _(speaker: Speaker) -> None:
    import atexit

    atexit.register(forever)
    speaker.answer = lambda request: sys.exit(1)


# --- answers that depend on more than the question


def misses_where(speaker: Speaker, chosen: Callable[[], bool]) -> None:
    """Turn round what a look finds, where that is so."""
    right = speaker.outcome

    def outcome(step: dict[str, Any]) -> Any:
        said = right(step)
        return {"hit": not said["hit"]} if "hit" in said and chosen() else said

    speaker.outcome = outcome


@kind("wrong-once", 1)
def _(speaker: Speaker) -> None:
    misses_where(speaker, lambda: speaker.runs > 5 and speaker.first_life())


@kind("wrong-once-late", 1)
def _(speaker: Speaker) -> None:
    """So late that Hypothesis meets it."""
    misses_where(speaker, lambda: speaker.runs > 310 and speaker.first_life())


@kind("wrong-every-third-run", 1)
def _(speaker: Speaker) -> None:
    misses_where(speaker, lambda: speaker.runs % 3 == 0)


@kind("remembers-earlier-runs", 1)
def _(speaker: Speaker) -> None:
    speaker.outcomes = lambda request: [speaker.outcome(step) for step in request["steps"]]


@kind("dies-once-late", 3)
def _(speaker: Speaker) -> None:
    """So late that Hypothesis meets it."""
    right = speaker.answer

    def answer(request: dict[str, Any]) -> Any:
        if speaker.runs > 310 and speaker.first_life():
            die(1)
        return right(request)

    speaker.answer = answer


# --- what is not checked


def skips(name: str, when: Callable[[dict[str, Any]], bool]) -> None:
    def misbehave(speaker: Speaker) -> None:
        right = speaker.answer
        skipped = {"reason": "not today"}
        speaker.answer = lambda request: {"id": request["id"], "skipped": skipped} if when(request) else right(request)

    KINDS[name] = Kind(misbehave, 2)


skips("answers-only-empty-runs", lambda request: bool(request["steps"]))
skips("skips-what-has-a-get", lambda request: any(step["op"] == "get" for step in request["steps"]))
skips("answers-only-one-step", lambda request: len(request["steps"]) > 1)
offer("offers-what-another-level-needs", {"ops": ["insert", "get", "release"]}, 0)
offer("offers-only-get-range", {"ops": ["get_range"]}, 2)
offer("offers-only-exists", {"ops": ["exists"]}, 2)


@kind("refuses-everything", 1)
def _(speaker: Speaker) -> None:
    speaker.outcome = lambda step: {"error": "illegal-argument"}


# --- declarations

offer("ops-told-twice", {"ops": ["insert", "insert", "get", "exists"]}, 0)
offer("ops-a-hundred-thousand", {"ops": [f"op-{number}" for number in range(100_000)]})
offer("limits-max-size-beyond-integers", {"limits": {"max_size": 2**80}}, 0)
offer("limits-max-steps-beyond-integers", {"limits": {"max_steps": 10**30}}, 0)
offer("limits-threads", {"limits": {"threads": 4}}, 0)
offer("limits-of-markup", {"limits": {"[/red]\x1b[2J": 1}}, 0)
offer("findings-of-nothing", {"findings": {"limits.max_size": 5}})
offer("config-and-fixed", {"config": ["ttl_nanos"], "fixed": {"ttl_nanos": 5}}, 0)
offer("fixed-beyond-int64", {"fixed": {"max_size_bytes": 2**63}})


# --- attacks on the runner


def ends_the_runner(name: str, number: signal.Signals, code: int) -> None:
    def misbehave(speaker: Speaker) -> None:
        def on_run(request: dict[str, Any]) -> None:
            os.kill(os.getppid(), number)
            forever()

        speaker.on_run = on_run

    KINDS[name] = Kind(misbehave, code)


ends_the_runner("terminates-the-runner", signal.SIGTERM, 143)
ends_the_runner("interrupts-the-runner", signal.SIGINT, 130)
ends_the_runner("hangs-the-runner-up", signal.SIGHUP, 129)


@kind("puts-a-file-where-failures-go", 2)
def _(speaker: Speaker) -> None:
    speaker.outcome = lambda step: {"error": "illegal-argument"}
    with contextlib.suppress(OSError):
        (speaker.scratch / "failures").write_text("here")
