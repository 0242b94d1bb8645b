"""Known failures: a TOML file of failures that a run expects, each with its reason.

`KnownFailure` is one entry of the file. A run with known failures first replays every entry that is about its subject
(`check_entry`). An entry that passes, differs or matches nothing is a problem. Then the run searches as usual, and goes
on behind failures that have the shape of an entry's (`conform_with_known`). `fix_file` rewrites the file so that the
same run finds no problem.
"""

import dataclasses
import json
import tomllib
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from entrycache_conformance import explain, resolve
from entrycache_conformance.failure import Failure
from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.judge import judge_case
from entrycache_conformance.report import Exemption, RunReport
from entrycache_conformance.run import Notify, Options, conform, hide_rules
from entrycache_conformance.subjects.wrappers import NarrowedSubject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import codec, strict_json
from entrycache_protocol.case import Case, case_from_json, case_to_json, read_case
from entrycache_protocol.errors import UsageError, WriteError, describe_value, map_partial_result
from entrycache_protocol.files import read_text, write_text
from entrycache_protocol.subject import (
    FailingCase,
    FailureKind,
    SkippedRun,
    TestedSubject,
    answer_to_json,
    expected_to_json,
    require_supported,
)
from entrycache_reference.rules import Rule

TEXT_KEYS: Final = ("rule", "system", "subject", "reason", "issue")
KEYS: Final = ("rule", "system", "subject", "versions", "case", "expected", "got", "reason", "issue")
FILE_NAME: Final = "the known failures"
"""The name of the file in error messages."""

MAX_BYTES: Final = 1 << 20
"""The size limit of the file: a thousand entries, and what a TOML reader takes in about a second."""

TABLE_NAME: Final = "known"
"""The name of the array of tables: each entry stands below `[[known]]`."""


@dataclass(frozen=True)
class KnownFailure:
    """A known failure: in these versions this subject answers `got` where the rules say `expected`.

    `case` is the path of a case file, relative to the folder of the TOML file, or the case itself as JSON text.
    `number` counts the entries of the file from 1.
    """

    number: int
    rule: str
    system: str
    subject: str
    versions: tuple[str, ...]
    case: str
    expected: Any
    got: Any
    reason: str
    issue: str

    @property
    def label(self) -> str:
        """The name of the entry in reports."""
        return f"entry {self.number} ({self.rule}, {self.subject})"

    def read_case(self, folder: Path) -> Case:
        """Read the failing case; see `entrycache_protocol.case.read_case` for its errors."""
        if not self.case.lstrip().startswith("{"):
            return read_case(folder / self.case, SYSTEMS)
        return case_from_json(strict_json.parse_json_text(self.case, f"{self.label}: case"), SYSTEMS)


def read_known_failures(path: Path) -> tuple[KnownFailure, ...]:
    """Read the entries of a file.

    Raises:
        UsageError: the file cannot be read, is not TOML, or an entry lacks a key or has one too many.
    """
    text = read_text(path, FILE_NAME, MAX_BYTES)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a table 1,000 deep
        raise UsageError(f"{FILE_NAME} {path} are not TOML: {error}") from None
    unknown = sorted(values.keys() - {TABLE_NAME})
    if unknown:
        raise UsageError(f"{path}: unknown key {describe_value(unknown[0])}; each entry stands below [[{TABLE_NAME}]]")
    tables = values.get(TABLE_NAME, [])
    if type(tables) is not list or any(type(table) is not dict for table in tables):
        raise UsageError(f"{path}: {TABLE_NAME} is no array of tables; each entry stands below [[{TABLE_NAME}]]")
    return tuple(_read_entry(table, number, path) for number, table in enumerate(tables, 1))


def _read_entry(table: dict[str, Any], number: int, path: Path) -> KnownFailure:
    where = f"{path}: entry {number}"
    for name in KEYS:
        if name not in table:
            raise UsageError(f"{where} has no {name!r}; expected {', '.join(KEYS)}")
    unknown = sorted(table.keys() - set(KEYS))
    if unknown:
        raise UsageError(f"{where} has an unknown key {describe_value(unknown[0])}; expected {', '.join(KEYS)}")
    for name in TEXT_KEYS:
        if type(table[name]) is not str:
            raise UsageError(f"{where}: {name} is {describe_value(table[name])}; expected a string")
    versions = table["versions"]
    if type(versions) is not list or not versions or any(type(version) is not str for version in versions):
        raise UsageError(f"{where}: versions is {describe_value(versions)}; expected an array of strings")
    case = (
        table["case"]
        if type(table["case"]) is str
        else json.dumps(strict_json.check_json_value(table["case"], f"{where}: case"))
    )
    expected, got = (_read_outcome(table[name], f"{where}: {name}") for name in ("expected", "got"))
    texts = {name: table[name] for name in TEXT_KEYS}
    return KnownFailure(number=number, versions=tuple(versions), case=case, expected=expected, got=got, **texts)


def _read_outcome(value: Any, where: str) -> Any:
    """Read an outcome: an object in TOML or, because TOML has no null, JSON text."""
    if type(value) is str:
        try:
            return strict_json.parse_json(value)
        except ValueError as error:
            what = "expected an outcome, as JSON text or as a table"
            raise UsageError(f"{where} is {describe_value(value)}; {what} ({error})") from None
    return strict_json.check_json_value(value, where)


def write_known_failures(path: Path, kept: list[tuple[int | None, KnownFailure]]) -> None:
    """Rewrite a file with these entries, each with its number in the file so far, or None if it is new.

    Text that did not change stays byte for byte, comments included, and the same entries give the same bytes.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:  # it has rules of its own, in addition to those of the reader above
        raise UsageError(f"{FILE_NAME} {path} cannot be rewritten: {error}") from None
    tables = document.get(TABLE_NAME)
    if not isinstance(tables, AoT):
        tables = tomlkit.aot()
        kept = [(None, entry) for _, entry in kept]
    old = {number: entry for number, entry in kept if number is not None}
    for number in range(len(tables), 0, -1):
        if number in old:
            _correct_entry(tables[number - 1], old[number], _read_entry(tables[number - 1].unwrap(), number, path))
        else:
            del tables[number - 1]
    for entry in (entry for number, entry in kept if number is None):
        tables.append(_entry_table(entry))
    if kept:
        document[TABLE_NAME] = tables
    elif TABLE_NAME in document:
        del document[TABLE_NAME]
    written = tomlkit.dumps(document)
    if written != text:
        write_text(path, written)


def _correct_entry(table: tomlkit.items.Table, entry: KnownFailure, old: KnownFailure) -> None:
    for name in ("rule", "expected", "got"):
        if getattr(entry, name) != getattr(old, name):
            table[name] = _changed_items(entry)[name]


def _changed_items(entry: KnownFailure) -> dict[str, Any]:
    literal = {
        name: tomlkit.string(json.dumps(getattr(entry, name)), literal="'" not in json.dumps(getattr(entry, name)))
        for name in ("expected", "got")
    }
    return {**{name: getattr(entry, name) for name in TEXT_KEYS}, **literal}


def _entry_table(entry: KnownFailure) -> tomlkit.items.Table:
    items = _changed_items(entry)
    table = tomlkit.table()
    for name in KEYS:
        if name == "versions":
            table.add(name, list(entry.versions))
        elif name == "case":
            inline = entry.case.lstrip().startswith("{") and "'''" not in entry.case
            table.add(name, tomlkit.string(entry.case, literal=True, multiline=True) if inline else entry.case)
        else:
            table.add(name, items[name])
    table.add(tomlkit.nl())
    return table


class RunIdentity(NamedTuple):
    """The subject of a run under each of its names, its version ("" if it declares none), and the system."""

    names: frozenset[str]
    version: str
    system: str


def identify_run(subject: TestedSubject) -> RunIdentity:
    """Return the identity of the subject under test."""
    implementation = subject.declaration.implementation
    said = str(implementation.get("version") or "")
    name, _, after = subject.name.partition(":")
    names = {subject.name, str(implementation.get("name") or subject.name)}
    if after and after == said:
        names.add(name)
    return RunIdentity(frozenset(names), said, subject.declaration.system.name)


def is_about(entry: KnownFailure, run: RunIdentity) -> bool:
    """Return whether an entry is about this run's subject in this version."""
    return entry.system == run.system and entry.subject in run.names and _covers_version(entry, run.version)


def is_about_another(entry: KnownFailure) -> bool:
    """Return whether an entry is about another subject that this suite can run by its name."""
    if entry.system not in SYSTEMS:
        return False
    if resolve.is_own_subject(entry.subject):
        return _covers_version(entry, version("entrycache"))
    name, _, release = entry.subject.partition(":")
    jvm = SYSTEMS[entry.system].jvm
    if jvm is None or name != jvm.called:
        return False
    return any(_covers_version(entry, one) for one in release_versions(jvm.name) if release in {"", one})


def _covers_version(entry: KnownFailure, said: str) -> bool:
    """Return whether the entry's `versions`, which may hold * and ?, match a version."""
    return any(fnmatchcase(said, pattern) for pattern in entry.versions)


class EntryState(Enum):
    """The state of a known failure in a run."""

    FAILS = "fails as known"
    PASSES = "passes"
    DIFFERS = "differs"
    MATCHES_NOTHING = "matches nothing"
    ANOTHER = "another subject"


PROBLEMS = frozenset({EntryState.PASSES, EntryState.DIFFERS, EntryState.MATCHES_NOTHING})
"""The states that fail a run."""


class EntryCheck(NamedTuple):
    """A known failure, its state and the reason, and what a new entry would say, as far as that is known.

    An entry that fails as known has the `shape` of its failure, and all `rules` that the failure may break.
    """

    entry: KnownFailure
    state: EntryState
    detail: str
    rule: str
    expected: Any
    got: Any
    shape: explain.Shape | None = None
    rules: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The entry's state as one line of text."""
        return f"{self.entry.label} {self.state.value}{': ' if self.detail else ''}{self.detail}"


def check_entry(entry: KnownFailure, folder: Path, subject: TestedSubject, run: RunIdentity) -> EntryCheck:
    """Replay one entry, if it is about this run."""
    if not is_about(entry, run):
        if is_about_another(entry):
            return _unchanged(entry, EntryState.ANOTHER, "")
        here = f"{' or '.join(sorted(run.names))} {run.version} ({run.system})"
        versions = ", ".join(entry.versions)
        detail = f"it is about {entry.subject} {versions} ({entry.system}), and this is {here}; correct or remove it"
        return _unchanged(entry, EntryState.MATCHES_NOTHING, detail)
    if entry.rule not in {rule.value for rule in Rule}:
        return _unchanged(entry, EntryState.MATCHES_NOTHING, "there is no such rule; correct or remove it")
    try:
        case = entry.read_case(folder)
        for played in (*case.earlier, case):
            require_supported(played, _without_limits(subject))
    except UsageError as error:
        return _unchanged(entry, EntryState.MATCHES_NOTHING, f"its case cannot be played: {error}")
    steps, answer, difference = judge_case(subject, case)
    if isinstance(answer, SkippedRun):
        return _unchanged(entry, EntryState.MATCHES_NOTHING, f"the subject declined its case: {answer.reason}")
    if difference is None:
        return _unchanged(entry, EntryState.PASSES, "its case does as the rules say; remove the entry")
    got, expected = answer_to_json(case.system, difference), expected_to_json(case.system, difference)
    rules = [rule.value for rule in explain.explain_difference(subject, case, steps, difference)]
    wrong = []
    if not is_same_answer(got, entry.got):
        wrong.append(f"the answer is {codec.format_json(got)}, the entry says {codec.format_json(entry.got)}")
    if not strict_json.is_same_json(expected, entry.expected):
        wrong.append(f"the rules say {codec.format_json(expected)}, the entry says {codec.format_json(entry.expected)}")
    if entry.rule not in rules:
        wrong.append(f"it breaks {', '.join(rules)}, the entry says {entry.rule}")
    rule = entry.rule if entry.rule in rules else rules[0]
    if wrong:
        return EntryCheck(entry, EntryState.DIFFERS, "; ".join(wrong), rule, expected, got)
    shape = explain.shape_of(subject, FailingCase(case, steps, difference))
    return EntryCheck(entry, EntryState.FAILS, "", rule, expected, got, shape, tuple(rules))


def _without_limits(subject: TestedSubject) -> TestedSubject:
    """Return the subject without the limits that keep searches away from known failures."""
    return NarrowedSubject(subject, dataclasses.replace(subject.declaration, limits=None))


def is_same_answer(one: Any, other: Any) -> bool:
    """Return whether two answers are the same. For failed runs only the kind of failure and the type of error count."""
    if type(one) is dict and type(other) is dict and "failed" in one and "failed" in other:
        types = [explain.error_type(str(answer.get("message", ""))) for answer in (one, other)]
        is_error = one["failed"] == FailureKind.ERRORED.value
        return bool(one["failed"] == other["failed"] and not (is_error and all(types) and types[0] != types[1]))
    return strict_json.is_same_json(one, other)


def _unchanged(entry: KnownFailure, state: EntryState, detail: str) -> EntryCheck:
    return EntryCheck(entry, state, detail, entry.rule, entry.expected, entry.got)


NOT_EXPLAINED: Final = "not explained yet"
"""The reason that `--fix` writes into a new entry."""


class KnownReport(NamedTuple):
    """A run with known failures: its report, and the entries with how often the search met each."""

    report: RunReport
    checked: tuple[EntryCheck, ...]
    counts: tuple[int, ...]

    @property
    def problems(self) -> list[str]:
        """The entries that fail the run, one line each."""
        return [one.line for one in self.checked if one.state in PROBLEMS]


def conform_with_known(
    subject: TestedSubject, options: Options, entries: tuple[KnownFailure, ...], folder: Path, notify: Notify
) -> KnownReport:
    """Replay the entries, then search. The search goes on behind failures that have the shape of an entry that fails.

    Every rule that such a failure may break counts as `nothing-checked`, since it does not hold in general.

    Raises:
        Interrupted: with the report of the levels that were judged, and with the known failures as its exceptions.
    """
    run = identify_run(subject)
    checked = tuple(check_entry(entry, folder, subject, run) for entry in entries)
    shapes = explain.KnownShapes([one.shape for one in checked if one.shape is not None])
    broken = {rule for one in checked for rule in one.rules}
    exceptions = tuple(
        Exemption("known failure", one.rule, " ".join(filter(None, (one.entry.reason, one.entry.issue))))
        for one in checked
        if one.state is EntryState.FAILS
    )

    def except_known(report: RunReport) -> RunReport:
        levels = {name: hide_rules(level, broken) for name, level in report.levels.items()}
        return replace(report, levels=levels, exceptions=report.exceptions + exceptions)

    with map_partial_result(except_known):
        report = except_known(conform(subject, options._replace(known=shapes), notify))
    counts = iter(shapes.counts)
    per_entry = tuple(0 if one.shape is None else next(counts) for one in checked)
    return KnownReport(report, checked, per_entry)


def is_same_failure(failure: Failure, entry: KnownFailure, case: Case) -> bool:
    """Return whether a failure is the one of an entry: its rule, its shrunk case, its answers."""
    own_case = failure.failing_case
    return (
        own_case is not None
        and failure.rules[0] == entry.rule
        and _case_essentials(own_case) == _case_essentials(case)
        and failure.expected == entry.expected
        and is_same_answer(failure.got, entry.got)
    )


def _case_essentials(case: Case) -> list[Any]:
    """Return the parts of a case that decide how it runs, with defaults filled in."""
    value = case_to_json(case)
    return [value["config"], value.get("variants"), value["steps"], value.get("earlier")]


def _find_entry(failure: Failure, known: list[tuple[KnownFailure, Case]]) -> KnownFailure | None:
    return next((entry for entry, case in known if is_same_failure(failure, entry, case)), None)


def _case_failures(report: RunReport) -> tuple[Failure, ...]:
    """Return the failures of cases. No known failure is one of a history."""
    return tuple(failure for failure in report.failures if failure.failing_case is not None)


def fix_file(path: Path, subject: TestedSubject, known: KnownReport) -> list[str]:
    """Rewrite the file so that the same run finds no problem, and return one line for each change.

    An entry that passes or matches nothing is removed. An entry that differs is corrected. A new failure is added.
    """
    kept: list[tuple[int | None, KnownFailure]] = []
    corrected: list[KnownFailure] = []
    done: list[str] = []
    for one in known.checked:
        if one.state in {EntryState.PASSES, EntryState.MATCHES_NOTHING}:
            done.append(f"removed {one.entry.label}: it {one.state.value}")
            continue
        entry = replace(one.entry, rule=one.rule, expected=one.expected, got=one.got)
        if one.state is EntryState.DIFFERS:
            done.append(f"corrected {one.entry.label}")
            corrected.append(entry)
        kept.append((one.entry.number, entry))
    run = identify_run(subject)
    true_now = [(entry, entry.read_case(path.parent)) for entry in corrected]
    for failure in _case_failures(known.report):
        if _find_entry(failure, true_now) is not None:
            continue
        entry = _new_entry(failure, subject, run)
        kept.append((None, entry))
        done.append(f"added {entry.rule} of {entry.subject}: write its reason")
    if done:
        write_known_failures(path, kept)
    return done


def _new_entry(failure: Failure, subject: TestedSubject, run: RunIdentity) -> KnownFailure:
    if failure.unwritten:
        raise WriteError(failure.unwritten)
    case = Path(failure.case).read_text(encoding="utf-8")
    versions = (run.version or "*",)
    rule, system = failure.rules[0], run.system
    return KnownFailure(0, rule, system, subject.name, versions, case, failure.expected, failure.got, NOT_EXPLAINED, "")
