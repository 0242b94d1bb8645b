"""Subjects that are odd, but right."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any

from .misdeeds import child_keeps_output, deafen, die, flood, spin
from .silence import deafen_and_hang
from .speaker import Speaker, kind


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


@kind("offers-only-advance", 2, level="queue")
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["advance"]
    refused = {"error": "illegal-argument"}
    speaker.outcome = lambda step: refused if step["nanos"] < 0 else {}


@kind("offers-only-insert", 2)
def _(speaker: Speaker) -> None:
    speaker.offer["ops"] = ["insert"]


@kind("offers-only-get", 2)
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


@kind("takes-one-step-at-most", 2)
def _(speaker: Speaker) -> None:
    speaker.offer["limits"] = {"max_steps": 1}


@kind("takes-only-empty-entries", 0)
def _(speaker: Speaker) -> None:
    speaker.offer["limits"] = {"max_size": 0}


IN_FULL = {
    "right", "implementation-markup", "slow-within-the-timeout", "floods-stderr-beside-right-answers", "leaked-none",
    "skips-every-fifth-run", "takes-one-step-at-most", "takes-only-empty-entries", "offers-only-advance",
    "offers-only-insert", "offers-only-get", "offers-only-exists", "answers-more-than-a-pipe-holds",
}  # fmt: skip
"""Of the kinds that are right, those that `conform` is run on; a full run takes long, `smoke` has to do for others."""
