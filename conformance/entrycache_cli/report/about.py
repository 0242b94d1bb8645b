"""What a result tells of its run beside what was found: how it was made, and how each failure is played again."""

from __future__ import annotations

import platform
import shlex
from dataclasses import replace
from importlib.metadata import distributions, version
from typing import Any

from entrycache_conformance.failures import Failure
from entrycache_conformance.report import SCHEMA, About, RunReport
from entrycache_conformance.subjects.resolve import Choice
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.verdict import Verdict


def versions_of(subject: UnderTest | None = None) -> dict[str, str]:
    """The versions that a result names: ours, Python's, and the subject's where it tells it."""
    versions = {"entrycache": version("entrycache"), "python": platform.python_version()}
    said = None if subject is None else subject.declaration.implementation.get("version")
    return {**versions, "subject": said} if type(said) is str and said else versions


def versions_with(*packages: str) -> dict[str, str]:
    """The same, with the versions of packages that the result rests on, where they are installed."""
    found = {each.metadata["Name"].lower(): each.version for each in distributions()}
    return {**versions_of(), **{name: found[name] for name in packages if name in found}}


def about(subject: UnderTest | None, profile: str, seed: int, bulk_seconds: float) -> About:
    """How a run of `conform` is made."""
    versions = {"hypothesis": version("hypothesis"), **versions_of(subject)}
    engine = f"search, then bulk for {bulk_seconds:g} s a level" if bulk_seconds else "search"
    return About(seed, profile, engine, versions)


def with_about(report: RunReport, told: About, choice: Choice) -> RunReport:
    """The report with that, and with the line that replays each failure."""
    failures = tuple(replace(failure, replay=replay_line(failure, choice)) for failure in report.failures)
    return replace(report, about=told, failures=failures)


def replay_line(failure: Failure, choice: Choice) -> str:
    """A line that can be pasted as it is; empty where there is no case file."""
    return f"entrycache replay {shlex.quote(failure.case)} {choice.typed()}" if failure.case else ""


def broken(choice: Choice, message: str, told: About, subject: UnderTest | None) -> dict[str, Any]:
    """The result of a run in which the subject does not speak the protocol: nothing is said of rules.

    `subject`: what has been heard of it, where it has answered `start`.
    """
    name = choice.name or choice.command or "the subject"
    system = choice.system if subject is None else subject.declaration.system.name
    source = None if subject is None else subject.declaration.implementation.get("source")
    of = {"schema": SCHEMA, "subject": name, "source": source, "system": system}
    return {**of, "verdict": Verdict.NOTHING_CHECKED.value, "broken": message, **told.to_json()}
