"""The content that all reports share: distinct failures, provenance of a result, and metadata of a run.

Several levels of a run can find the same failure. `deduplicate` groups them, and `failure_text` renders one as plain
text. `run_metadata` collects seed, profile and versions of a run, `add_metadata` puts them into its report together
with the command that replays each failure, and `read_provenance` reads them back from a result for every format.
"""

import hashlib
import json
import os
import platform
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.failure import Failure
from entrycache_conformance.judge import LAWS_ONE_IN, MAX_PLAYED
from entrycache_conformance.report import SCHEMA, Exemption, RunMetadata, RunReport
from entrycache_conformance.resolve import SubjectChoice
from entrycache_protocol import codec, errors
from entrycache_protocol.subject import TestedSubject

ADDRESS: Final = re.compile(r"\b0x[0-9a-f]+|(?<=@)[0-9a-f]+\b")
"""A memory address in a message of Go or Java, which differs in every process."""


class DistinctFailure(NamedTuple):
    """A failure, with the same failure as further levels have found it."""

    failure: Failure
    also: tuple[Failure, ...]


def deduplicate(failures: Iterable[Failure]) -> tuple[DistinctFailure, ...]:
    """Group equal failures; keep the order of the first of each."""
    groups: dict[Any, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(_identity(failure), []).append(failure)
    return tuple(DistinctFailure(group[0], tuple(group[1:])) for group in groups.values())


def _identity(failure: Failure) -> Any:
    """Return the key of equal failures: the broken rules, or the kind and message of a crash."""
    if isinstance(failure.got, dict) and "failed" in failure.got:
        message = ADDRESS.sub("", failure.log or str(failure.got.get("message")))
        return failure.got["failed"], message, failure.schedules is None
    return failure.rules, failure.finding, failure.schedules is None, failure.earlier > 0


def other_places(distinct: DistinctFailure) -> str:
    """Return the other levels that found the failure, with their case files; return "" if there are none."""
    places = [f"level {one.level or 'unknown'} ({one.case or 'no case file'})" for one in distinct.also]
    return f"the same failure was found at {', '.join(places)}" if places else ""


OWN_CASE = "the finding's own case: {}"
"""The note of a failure that the case of a finding shows, without a search."""

UNCONFIRMED = "not confirmed on a fresh process: {}"
"""The note of a failure that could not be confirmed on a fresh process."""

LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
"""A link of Markdown in the text of a rule."""


class RuleText(NamedTuple):
    """The text of a rule: its sentence, its intent, and its source as texts with their addresses."""

    sentence: str
    intent: str
    source: tuple[tuple[str, str], ...]

    @property
    def plain(self) -> str:
        """The sentence and the source as lines of plain text, with the addresses."""
        addresses = dict.fromkeys(address for _, address in self.source if address)
        return "\n".join([self.sentence, f"source: {''.join(text for text, _ in self.source)}", *addresses])


@cache
def _rule_texts() -> dict[str, RuleText]:
    from entrycache_evidence.core import rule_registry  # noqa: PLC0415 - only reports with rules need it

    return {
        text.id: RuleText(
            LINK.sub(r"\1", f"{text.level}: {text.text}"),
            LINK.sub(r"\1", text.intent),
            tuple(rule_registry.link_source(LINK.sub(r"\1", text.source))),
        )
        for text in rule_registry.load_texts()
    }


def find_rule_text(rule: str) -> RuleText | None:
    """Return the text of a rule, or None if there is no such rule."""
    return _rule_texts().get(rule)


@cache
def find_example(rule: str) -> dict[str, Any] | None:
    """Return the example of a rule as its file holds it, or None if there is no such rule."""
    from entrycache_evidence.rulebook import examples  # noqa: PLC0415 - only reports with rules need it

    path = examples.locate_examples() / f"{rule}.json"
    if find_rule_text(rule) is None or not path.is_file():
        return None
    example: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return example


DEPENDS = "it depends on earlier runs: it fails after {} before it, which {} in the case file and above, and not alone"


def earlier_runs_note(runs: int) -> str:
    """Return the note of a failure that needs earlier runs."""
    return DEPENDS.format(*(("the run", "stands") if runs == 1 else (f"the {runs} runs", "stand")))


def failure_text(distinct: DistinctFailure) -> str:
    """Return a failure as plain text: its table, expected and actual answer, and how to replay it."""
    failure = distinct.failure
    lines = [] if failure.table is None else [failure.table.title]
    if failure.table is not None and failure.table.config:
        lines.append(f"config {failure.table.config}")
    for index, row in enumerate([] if failure.table is None else failure.table.rows):
        lines.append(f"{'>' if failure.table and index == failure.table.bad else ' '} {_row_text(row)}")
    lines += [f"expected: {codec.format_json(failure.expected)}", f"got:      {codec.format_json(failure.got)}"]
    lines += [failure.schedules.in_words] if failure.schedules is not None else []
    lines += [earlier_runs_note(failure.earlier)] if failure.earlier else []
    lines += [f"stderr: {line}" for line in failure.log.splitlines()]
    lines += [OWN_CASE.format(failure.finding)] if failure.finding else []
    lines += [UNCONFIRMED.format(failure.unconfirmed)] if failure.unconfirmed else []
    lines += [text for text in (failure.hint, other_places(distinct)) if text]
    lines += [f"case file: {failure.case}"] if failure.case else []
    lines += [f"replay it: {failure.replay}"] if failure.replay else []
    return "\n".join(lines)


def _row_text(row: tuple[str, ...]) -> str:
    """Return a row in one line: step, operation and expected outcome of a case, or all cells of a history."""
    cells = row[:3] if len(row) == CASE_COLUMNS else row
    return "  ".join(cell.replace("\n", "; ") for cell in cells)


CASE_COLUMNS = 7
"""The number of columns of a case's table; the last ones show the state."""


PROVENANCE_KEYS: Final = ("system", "given", "source", "trace", "seed", "profile", "backend", "engine", "seconds")
"""Keys of a result that describe how it was made, in the order of reports."""


class Provenance(NamedTuple):
    """The description of how a result was made, and the versions that it depends on."""

    keys: Mapping[str, str]
    versions: Mapping[str, str]


def read_provenance(result: Mapping[str, Any]) -> Provenance:
    """Return how a result was made, as far as it says so."""
    names = (name for name in PROVENANCE_KEYS if name != "engine" or "backend" not in result)  # of an audit one value
    keys = {name: str(result[name]) for name in names if type(result.get(name)) in (str, int, float)}
    return Provenance(keys, result.get("versions", {}))


def provenance_texts(provenance: Provenance, left_out: Iterable[str] = ()) -> list[str]:
    """Return the provenance as texts of a name and a value."""
    return [f"{name} {text}" for part in provenance for name, text in part.items() if name not in left_out]


def tool_versions(subject: TestedSubject | None = None) -> dict[str, str]:
    """Return the versions of entrycache, of Python, and of the subject if it declares one."""
    versions = {"entrycache": version("entrycache"), "python": platform.python_version()}
    subject_version = None if subject is None else subject.declaration.implementation.get("version")
    return {**versions, "subject": subject_version} if type(subject_version) is str and subject_version else versions


def tool_versions_with(*packages: str) -> dict[str, str]:
    """Return the versions of entrycache, of Python, and of the named packages that are installed."""
    installed = {each.metadata["Name"].lower(): each.version for each in distributions()}
    return {**tool_versions(), **{name: installed[name] for name in packages if name in installed}}


def run_metadata(subject: TestedSubject | None, profile: str, seed: int, bulk_seconds: float) -> RunMetadata:
    """Return seed, profile, search and versions of a run of `conform`."""
    versions = {"hypothesis": version("hypothesis"), **tool_versions(subject)}
    counted = f"rules counted at one step in {LAWS_ONE_IN}"
    search = f"search, then bulk for {bulk_seconds:g} s a level ({counted})" if bulk_seconds else "search"
    return RunMetadata(seed, profile, search, versions)


def add_metadata(
    report: RunReport, metadata: RunMetadata, choice: SubjectChoice, lifted: Sequence[str] = ()
) -> RunReport:
    """Return the report with its metadata and the command that replays each failure.

    `lifted` holds the findings whose waivers the run lifted.

    It also gets the name or the command as the user gave it, and a class path as an exception.
    """
    failures = tuple(replace(failure, replay=replay_command(failure, choice, lifted)) for failure in report.failures)
    replaced = tuple(
        Exemption("class path", Path(entry).name, f"its classes come first: SHA-256 {_hash_classes(Path(entry))}")
        for entry in (choice.classpath or "").split(os.pathsep)
        if entry
    )
    exceptions = replaced + report.exceptions
    given = errors.shorten(errors.escape_unprintable(choice.name or choice.command or ""), MAX_GIVEN_LENGTH)
    return replace(report, about=metadata, failures=failures, exceptions=exceptions, given=given)


MAX_GIVEN_LENGTH: Final = 200
"""The most characters of a command that a report names as its subject."""


def given_text(report: RunReport) -> str:
    """Return the name by which the user gave the subject, if it calls itself otherwise."""
    return f" (given as {report.given})" if report.given not in {"", report.subject} else ""


def _hash_classes(path: Path) -> str:
    """Return the hash of a jar, or of all class files of a folder with their names."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    whole = hashlib.sha256()
    for file in sorted(path.rglob("*.class")):
        whole.update(f"{file.relative_to(path).as_posix()} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def exception_lines(exceptions: Iterable[Exemption]) -> list[str]:
    """Return what the verdict does not cover, one line each; what was skipped is not among it."""
    return [f"{one.kind}: {one.what} ({one.reason})" for one in exceptions]


def undetectable_text(report: RunReport) -> str:
    """Return the rules of a run without violations whose seeded faults no answer shows; "" if there are none."""
    rules = report.undetectable_rules if report.verdict is errors.Verdict.CONFORMS else ()
    why = f"their seeded faults change no answer in the runs that were tried, at most {MAX_PLAYED} a rule"
    return f"not checked: {', '.join(rules)} ({why})" if rules else ""


def replay_command(failure: Failure, choice: SubjectChoice, lifted: Sequence[str] = ()) -> str:
    """Return the command that replays a failure, ready to paste; return "" if there is no case file.

    It lifts the same waivers as the run: with a limit the subject refuses a case that is beyond it.
    """
    options = "".join(f" --unmask {shlex.quote(finding)}" for finding in lifted)
    return f"entrycache replay {shlex.quote(failure.case)} {choice.typed()}{options}" if failure.case else ""


def broken_result(
    choice: SubjectChoice, message: str, metadata: RunMetadata, subject: TestedSubject | None
) -> dict[str, Any]:
    """Return the result of a run whose subject does not speak the protocol, which says nothing of rules.

    `subject` is what is known of the subject, if it has answered `start`.
    """
    name = choice.name or choice.command or "the subject"
    system = choice.system if subject is None else subject.declaration.system.name
    source = None if subject is None else subject.declaration.implementation.get("source")
    of = {"schema": SCHEMA, "subject": name, "source": source, "system": system}
    return {**of, "verdict": errors.Verdict.NOTHING_CHECKED.value, "broken": message, **metadata.to_json()}
