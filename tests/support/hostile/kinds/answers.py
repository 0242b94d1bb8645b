"""Answers to a run that are wrong as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .hello import GOOD
from .misdeeds import deep
from .speaker import KINDS, SYSTEM, THROW, Kind, Speaker


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
