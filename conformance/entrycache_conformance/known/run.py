"""A conformance run that knows failures: every entry is replayed, and what the search finds is compared with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.known.check import PROBLEMS, Checked, State, check, same_answer
from entrycache_conformance.known.entry import Entry, write_known
from entrycache_conformance.known.running import Running, running
from entrycache_conformance.run import Notify, Options, Report, conform
from entrycache_conformance.subjects.narrowed import without
from entrycache_protocol.case import Case, to_json
from entrycache_protocol.failure import Failure, expected_json, got_json
from entrycache_protocol.subject import UnderTest
from entrycache_reference.rules import Rule

Found = tuple[Failure, tuple[Rule, ...], Path]
"""A failure as `conform` reports it: its rules, the likeliest first, and its case file."""

ROUNDS_MAX: Final = 6
"""How often a run goes on past known failures."""

NOT_EXPLAINED: Final = "not explained yet"
"""The reason of an entry that `--fix` has written."""


class KnownReport(NamedTuple):
    """A report without the failures that are known, what has become of each entry, and the hits of the search."""

    report: Report
    checked: tuple[Checked, ...]
    hits: tuple[tuple[Entry, Found], ...]

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
    hits: list[tuple[Entry, Found]] = []
    left_out: set[str] = set()
    merged: Report | None = None
    for _ in range(ROUNDS_MAX):
        narrowed = without(subject, frozenset(left_out)) if left_out else subject
        report = conform(narrowed, options, notify)
        merged = report if merged is None else _merged(merged, report)
        old = [(entry, found) for found in report.failures if (entry := _known_as(found, known)) is not None]
        if not old:
            break
        hits += old
        files = {found[2] for _, found in hits}
        merged = merged._replace(failures=[found for found in merged.failures if found[2] not in files])
        silent = {type(found[0].case.steps[found[0].difference.at]).name for _, found in old}
        rest = narrowed.declaration.ops - silent - {"observe"}
        if len(old) < len(report.failures) or not rest or "insert" in silent:
            break
        left_out |= silent
    assert merged is not None
    return KnownReport(_without_known(merged, hits, left_out, options), checked, tuple(hits))


def same_failure(found: Found, entry: Entry, case: Case) -> bool:
    """Whether a search has found what an entry says: its rule, its shrunk case, its answers."""
    failure, rules, _ = found
    return (
        rules[0].value == entry.rule
        and _played(failure.case) == _played(case)
        and expected_json(failure.case.system, failure.difference) == entry.expected
        and same_answer(got_json(failure.case.system, failure.difference), entry.got)
    )


def _played(case: Case) -> list[Any]:
    """What decides how a case runs, defaults filled in."""
    value = to_json(case)
    return [value["config"], value.get("variants"), value["steps"]]


def _known_as(found: Found, known: list[tuple[Entry, Case]]) -> Entry | None:
    return next((entry for entry, case in known if same_failure(found, entry, case)), None)


def _merged(first: Report, second: Report) -> Report:
    """Two rounds as one: the failures of both; a level is judged by the first round that it got through."""
    levels = {
        name: again if judged["verdict"] == "violates" else judged
        for (name, judged), again in zip(first.json["levels"].items(), second.json["levels"].values(), strict=True)
    }
    rules = {
        name: {"fired": count["fired"] + second.json["rules"][name]["fired"]}
        for name, count in first.json["rules"].items()
    }
    cells = {name: count + second.json["cells"][name] for name, count in first.json["cells"].items()}
    skipped = [*second.json["skipped"], *(one for one in first.json["skipped"] if one not in second.json["skipped"])]
    json = {**first.json, "levels": levels, "rules": rules, "cells": cells, "skipped": skipped}
    json["failures"] = [*first.json["failures"], *_of_histories(second)]
    return Report(json, [*first.failures, *second.failures], (*first.histories, *second.histories))


def _of_histories(report: Report) -> list[dict[str, Any]]:
    """The failures of histories: no known failure is one."""
    return [failure for failure in report.json["failures"] if "clients" in failure]


def _without_known(report: Report, hits: list[tuple[Entry, Found]], left_out: set[str], options: Options) -> Report:
    """The report as if the known failures were none; what could not be searched because of them is told."""
    files = {str(found[2]) for _, found in hits}
    failures = [found for found in report.failures if str(found[2]) not in files]
    json: dict[str, Any] = {**report.json, "failures": [*_shown(failures), *_of_histories(report)]}
    skipped = list(json["skipped"])
    for name in sorted(left_out):
        skipped.append({"what": f"operation {name}", "reason": "left out after it had met a known failure"})
    levels = {name: dict(judged) for name, judged in json["levels"].items()}
    for name, judged in levels.items():
        if judged["verdict"] == "violates" and not failures and name != LEVEL:
            judged["verdict"] = "conforms"
            skipped.append({"what": f"level {name}", "reason": "its search ended at a known failure"})
    verdicts = [judged["verdict"] for judged in levels.values()]
    whole = "conforms" if verdicts and all(verdict == "conforms" for verdict in verdicts) else "nothing-checked"
    json |= {"levels": levels, "skipped": skipped, "verdict": "violates" if "violates" in verdicts else whole}
    return Report(json, failures, report.histories)


def _shown(failures: list[Found]) -> list[dict[str, Any]]:
    return [
        {
            "rule": rules[0].value,
            "rules": [rule.value for rule in rules],
            "case": str(path),
            "step": failure.difference.at,
            "expected": expected_json(failure.case.system, failure.difference),
            "got": got_json(failure.case.system, failure.difference),
            "steps": len(failure.case.steps),
        }
        for failure, rules, path in failures
    ]


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
    for found in known.report.failures:
        if _known_as(found, true_now) is not None:
            continue
        entry = _new(found, subject, run)
        kept.append((None, entry))
        done.append(f"added {entry.rule} of {entry.subject}: write its reason")
    if done:
        write_known(path, kept)
    return done


def _new(found: Found, subject: UnderTest, run: Running) -> Entry:
    failure, rules, path = found
    case = path.read_text(encoding="utf-8")
    versions = (run.version or "*",)
    expected, got = (
        expected_json(failure.case.system, failure.difference),
        got_json(failure.case.system, failure.difference),
    )
    rule, system = rules[0].value, run.system
    return Entry(0, rule, system, subject.name, versions, case, expected, got, NOT_EXPLAINED, "")
