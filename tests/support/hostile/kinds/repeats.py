"""Misbehaviour that does not repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .misdeeds import die, forever
from .speaker import KINDS, Kind, Speaker, kind


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


def declares_otherwise(name: str, offer: dict[str, Any]) -> None:
    """From its second process on."""

    def misbehave(speaker: Speaker) -> None:
        speaker.answer = lambda request: die(1)
        if not speaker.first_life():
            speaker.offer.update(offer)

    assert name not in KINDS, name
    KINDS[name] = Kind(misbehave, 3)


declares_otherwise("declares-less-the-second-time", {"ops": ["insert", "get"]})
declares_otherwise("declares-a-setting-the-second-time", {"config": ["ttl_nanos"]})
