"""Whole runs on the subjects of a campaign: they are sent ahead, and answers are compared as they come."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_conformance.subjects.child import Child
from entrycache_protocol.case import Case
from entrycache_protocol.in_process import InProcess
from entrycache_protocol.subject import Played


class Run(NamedTuple):
    """One run on its way: the case, its request as text, and what the reference says, typed and as JSON."""

    case: Case
    line: str
    expected: tuple[Any, ...]
    expected_json: list[Any]


def send(subject: Child | InProcess, run: Run) -> None:
    """Start a run; a subject of this process plays it when its answer is asked for."""
    if isinstance(subject, Child):
        subject.send(run.line)


def same(subject: Child | InProcess, run: Run) -> bool:
    """Whether the subject's answer to the oldest run that was sent is the reference's: typed, or as JSON.

    Raises:
        BrokenSubject: a child ended, was silent, or answered no JSON.
    """
    if isinstance(subject, Child):
        answer = subject.receive()
        return alike(run.expected_json, answer.get("outcomes")) and not answer.get("leaked")
    played = subject.play([run.case])[0]
    return isinstance(played, Played) and played.outcomes == run.expected and not played.leaked


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
