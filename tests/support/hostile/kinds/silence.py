"""Runs without an answer."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from .misdeeds import child_keeps_output, close_output, deafen, die, flood, forever, killed, speak, spin
from .speaker import HANG, KINDS, THROW, Kind, Misbehave, Speaker, kind


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
throws_when("duplicate-hangs", duplicate, lambda speaker: forever(), HANG, 2)
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
