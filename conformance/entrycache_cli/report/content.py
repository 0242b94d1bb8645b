"""The failures of a run as people are told them: what several levels have found is one failure."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.metadata import distributions, version
from typing import Any, Final, NamedTuple

from entrycache_conformance.failure import Failure
from entrycache_conformance.report import SCHEMA, RunMetadata, RunReport
from entrycache_conformance.resolve import SubjectChoice
from entrycache_protocol.codec import format_json
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import TestedSubject

ADDRESS: Final = re.compile(r"\b0x[0-9a-f]+|(?<=@)[0-9a-f]+\b")
"""Where something lies in memory: of Go's frames, of Java's objects; another one in every process."""


class DistinctFailure(NamedTuple):
    """A failure, and the others that are the same one, as further levels have found it."""

    failure: Failure
    also: tuple[Failure, ...]


def deduplicate(failures: Iterable[Failure]) -> tuple[DistinctFailure, ...]:
    """The failures in their order, each with those after it that are the same."""
    groups: dict[Any, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(_identity(failure), []).append(failure)
    return tuple(DistinctFailure(group[0], tuple(group[1:])) for group in groups.values())


def _identity(failure: Failure) -> Any:
    """What makes two failures the same: the rules they break; of a crash how it was, and what it said."""
    if isinstance(failure.got, dict) and "failed" in failure.got:
        said = ADDRESS.sub("", failure.log or str(failure.got.get("message")))
        return failure.got["failed"], said, failure.schedules is None
    return failure.rules, failure.finding, failure.schedules is None, failure.earlier > 0


def other_places(told: DistinctFailure) -> str:
    """Where else it was found, with what replays it there; empty where nowhere."""
    places = [f"level {one.level or 'unknown'} ({one.case or 'no case file'})" for one in told.also]
    return f"the same failure was found at {', '.join(places)}" if places else ""


OWN_CASE = "the finding's own case: {}"
"""What is said of a failure that no search had to find."""

UNCONFIRMED = "not confirmed on a fresh process: {}"
"""What is said of a failure that could be met, and not met again."""

DEPENDS = "it depends on earlier runs: it fails after {} before it, which {} in the case file and above, and not alone"


def earlier_runs_note(runs: int) -> str:
    """What is told of a failure that needs the runs before it."""
    return DEPENDS.format(*(("the run", "stands") if runs == 1 else (f"the {runs} runs", "stand")))


def failure_text(told: DistinctFailure) -> str:
    """A failure as plain text: its table, what was expected and got, and how it is played again."""
    failure = told.failure
    lines = [] if failure.table is None else [failure.table.title]
    if failure.table is not None and failure.table.config:
        lines.append(f"config {failure.table.config}")
    for index, row in enumerate([] if failure.table is None else failure.table.rows):
        lines.append(f"{'>' if failure.table and index == failure.table.bad else ' '} {_row_text(row)}")
    lines += [f"expected: {format_json(failure.expected)}", f"got:      {format_json(failure.got)}"]
    lines += [failure.schedules.in_words] if failure.schedules is not None else []
    lines += [earlier_runs_note(failure.earlier)] if failure.earlier else []
    lines += [f"stderr: {line}" for line in failure.log.splitlines()]
    lines += [OWN_CASE.format(failure.finding)] if failure.finding else []
    lines += [UNCONFIRMED.format(failure.unconfirmed)] if failure.unconfirmed else []
    lines += [text for text in (other_places(told),) if text]
    lines += [f"case file: {failure.case}"] if failure.case else []
    lines += [f"replay it: {failure.replay}"] if failure.replay else []
    return "\n".join(lines)


def _row_text(row: tuple[str, ...]) -> str:
    """A row of a case: its step, its operation and what was expected; of a history: all."""
    cells = row[:3] if len(row) == CASE_COLUMNS else row
    return "  ".join(cell.replace("\n", "; ") for cell in cells)


CASE_COLUMNS = 7
"""A case has as many; the last ones tell the state."""


# --- made
# How a result was made, as every report tells it: of `conform`, `audit` and `prove`, and of a broken subject.

PROVENANCE_KEYS: Final = ("system", "source", "trace", "seed", "profile", "engine", "seconds")
"""Keys of a result, in the order in which they are told."""


class Provenance(NamedTuple):
    """What of it is told, and the versions that it rests on."""

    keys: Mapping[str, str]
    versions: Mapping[str, str]


def read_provenance(result: Mapping[str, Any]) -> Provenance:
    """How a result was made, as far as it says."""
    told = {name: str(result[name]) for name in PROVENANCE_KEYS if type(result.get(name)) in (str, int, float)}
    return Provenance(told, result.get("versions", {}))


def provenance_texts(made: Provenance, left_out: Iterable[str] = ()) -> list[str]:
    """The same, each as a name and a text."""
    return [f"{name} {text}" for part in made for name, text in part.items() if name not in left_out]


# --- about
# What a result tells of its run beside what was found: how it was made, and how each failure is played again.


def tool_versions(subject: TestedSubject | None = None) -> dict[str, str]:
    """The versions that a result names: ours, Python's, and the subject's where it tells it."""
    versions = {"entrycache": version("entrycache"), "python": platform.python_version()}
    said = None if subject is None else subject.declaration.implementation.get("version")
    return {**versions, "subject": said} if type(said) is str and said else versions


def tool_versions_with(*packages: str) -> dict[str, str]:
    """The same, with the versions of packages that the result rests on, where they are installed."""
    found = {each.metadata["Name"].lower(): each.version for each in distributions()}
    return {**tool_versions(), **{name: found[name] for name in packages if name in found}}


def run_metadata(subject: TestedSubject | None, profile: str, seed: int, bulk_seconds: float) -> RunMetadata:
    """How a run of `conform` is made."""
    versions = {"hypothesis": version("hypothesis"), **tool_versions(subject)}
    engine = f"search, then bulk for {bulk_seconds:g} s a level" if bulk_seconds else "search"
    return RunMetadata(seed, profile, engine, versions)


def add_metadata(report: RunReport, told: RunMetadata, choice: SubjectChoice) -> RunReport:
    """The report with that, and with the line that replays each failure."""
    failures = tuple(replace(failure, replay=replay_command(failure, choice)) for failure in report.failures)
    return replace(report, about=told, failures=failures)


def replay_command(failure: Failure, choice: SubjectChoice) -> str:
    """A line that can be pasted as it is; empty where there is no case file."""
    return f"entrycache replay {shlex.quote(failure.case)} {choice.typed()}" if failure.case else ""


def broken_result(
    choice: SubjectChoice, message: str, told: RunMetadata, subject: TestedSubject | None
) -> dict[str, Any]:
    """The result of a run in which the subject does not speak the protocol: nothing is said of rules.

    `subject`: what has been heard of it, where it has answered `start`.
    """
    name = choice.name or choice.command or "the subject"
    system = choice.system if subject is None else subject.declaration.system.name
    source = None if subject is None else subject.declaration.implementation.get("source")
    of = {"schema": SCHEMA, "subject": name, "source": source, "system": system}
    return {**of, "verdict": Verdict.NOTHING_CHECKED.value, "broken": message, **told.to_json()}
