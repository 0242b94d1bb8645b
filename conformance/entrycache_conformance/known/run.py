"""A conformance run that knows failures: every entry is replayed, and what the search finds is compared with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.failures import Failure
from entrycache_conformance.known.check import PROBLEMS, Checked, State, check, same_answer
from entrycache_conformance.known.entry import Entry, write_known
from entrycache_conformance.known.running import Running, running
from entrycache_conformance.report import LevelReport, RunReport, Skip
from entrycache_conformance.run import Notify, Options, conform
from entrycache_conformance.subjects.narrowed import without
from entrycache_protocol.case import Case, to_json
from entrycache_protocol.errors import Unwritten
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.subject import UnderTest
from entrycache_protocol.verdict import Verdict

ROUNDS_MAX: Final = 6
"""How often a run goes on past known failures."""

NOT_EXPLAINED: Final = "not explained yet"
"""The reason of an entry that `--fix` has written."""


class KnownReport(NamedTuple):
    """A report without the failures that are known, what has become of each entry, and the hits of the search."""

    report: RunReport
    checked: tuple[Checked, ...]
    hits: tuple[tuple[Entry, Failure], ...]

    @property
    def problems(self) -> list[str]:
        """A line for each entry that fails the run."""
        return [one.line for one in self.checked if one.state in PROBLEMS]


def conform_knowing(
    subject: UnderTest, options: Options, entries: tuple[Entry, ...], folder: Path, notify: Notify
) -> KnownReport:
    """Replay the entries, then search; past a known failure the search goes on without the operation that failed."""
    run = running(subject)
    checked = tuple(check(entry, folder, subject, run) for entry in entries)
    known = [(one.entry, one.entry.read_case(folder)) for one in checked if one.state is State.FAILS]
    hits: list[tuple[Entry, Failure]] = []
    left_out: set[str] = set()
    merged: RunReport | None = None
    for _ in range(ROUNDS_MAX):
        narrowed = without(subject, frozenset(left_out)) if left_out else subject
        report = conform(narrowed, options, notify)
        merged = report if merged is None else both(merged, report)
        old = [(entry, failure) for failure in report.failures if (entry := _known_as(failure, known)) is not None]
        if not old:
            break
        hits += old
        files = {failure.case for _, failure in hits}
        merged = replace(merged, failures=tuple(one for one in merged.failures if one.case not in files))
        silent = {type(case.steps[failure.step]).name for _, failure in old if (case := case_of(failure)) is not None}
        rest = narrowed.declaration.ops - silent - {"observe"}
        if len(old) < len(_of_cases(report)) or not rest or "insert" in silent:
            break
        left_out |= silent
    assert merged is not None
    return KnownReport(_past_known(merged, left_out), checked, tuple(hits))


def case_of(failure: Failure) -> Case | None:
    """The case of a failure; None of one of several threads, which no entry is about."""
    return failure.found.case if isinstance(failure.found, FailingCase) else None


def same_failure(failure: Failure, entry: Entry, case: Case) -> bool:
    """Whether a search has found what an entry says: its rule, its shrunk case, its answers."""
    found = case_of(failure)
    return (
        found is not None
        and failure.rules[0] == entry.rule
        and _played(found) == _played(case)
        and failure.expected == entry.expected
        and same_answer(failure.got, entry.got)
    )


def _played(case: Case) -> list[Any]:
    """What decides how a case runs, defaults filled in."""
    value = to_json(case)
    return [value["config"], value.get("variants"), value["steps"], value.get("earlier")]


def _known_as(failure: Failure, known: list[tuple[Entry, Case]]) -> Entry | None:
    return next((entry for entry, case in known if same_failure(failure, entry, case)), None)


def _of_cases(report: RunReport) -> tuple[Failure, ...]:
    """The failures of cases; no known failure is one of histories."""
    return tuple(failure for failure in report.failures if case_of(failure) is not None)


def both(first: RunReport, second: RunReport) -> RunReport:
    """Two rounds as one: the failures of both; a level is judged by the first round that it got through."""
    levels = {
        name: second.levels[name] if judged.verdict is Verdict.VIOLATES else judged
        for name, judged in first.levels.items()
    }
    failures = (*first.failures, *second.failures)
    return replace(
        first,
        levels=levels,
        rules={name: count + second.rules[name] for name, count in first.rules.items()},
        cells={name: count + second.cells[name] for name, count in first.cells.items()},
        failures=tuple(sorted(failures, key=lambda failure: case_of(failure) is None)),
        skipped=(*second.skipped, *(one for one in first.skipped if one not in second.skipped)),
    )


def _past_known(report: RunReport, left_out: set[str]) -> RunReport:
    """The report as if the known failures were none; what could not be searched because of them is told."""
    skipped = list(report.skipped)
    for name in sorted(left_out):
        skipped.append(Skip(f"operation {name}", "left out after it had met a known failure"))
    levels: dict[str, LevelReport] = {}
    for name, judged in report.levels.items():
        levels[name] = judged
        if judged.verdict is Verdict.VIOLATES and not _of_cases(report) and name != LEVEL:
            rules = {rule: told.past_known() for rule, told in judged.rules.items()}
            levels[name] = replace(judged, verdict=Verdict.CONFORMS, rules=rules)
            skipped.append(Skip(f"level {name}", "its search ended at a known failure"))
    return replace(report, levels=levels, skipped=tuple(skipped))


def fix_file(path: Path, subject: UnderTest, known: KnownReport) -> list[str]:
    """Rewrite the file so that the same run would find nothing wrong with it; what was done, a line each.

    An entry that passes or matches nothing goes, one that differs says what is true now, a new failure is added.
    """
    kept: list[tuple[int | None, Entry]] = []
    corrected: list[Entry] = []
    done: list[str] = []
    for one in known.checked:
        if one.state in {State.PASSES, State.MATCHES_NOTHING}:
            done.append(f"removed {one.entry.label}: it {one.state.value}")
            continue
        entry = replace(one.entry, rule=one.rule, expected=one.expected, got=one.got)
        if one.state is State.DIFFERS:
            done.append(f"corrected {one.entry.label}")
            corrected.append(entry)
        kept.append((one.entry.number, entry))
    run = running(subject)
    true_now = [(entry, entry.read_case(path.parent)) for entry in corrected]
    for failure in _of_cases(known.report):
        if _known_as(failure, true_now) is not None:
            continue
        entry = _new(failure, subject, run)
        kept.append((None, entry))
        done.append(f"added {entry.rule} of {entry.subject}: write its reason")
    if done:
        write_known(path, kept)
    return done


def _new(failure: Failure, subject: UnderTest, run: Running) -> Entry:
    if failure.unwritten:
        raise Unwritten(failure.unwritten)
    case = Path(failure.case).read_text(encoding="utf-8")
    versions = (run.version or "*",)
    rule, system = failure.rules[0], run.system
    return Entry(0, rule, system, subject.name, versions, case, failure.expected, failure.got, NOT_EXPLAINED, "")
