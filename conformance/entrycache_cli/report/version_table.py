"""The table of versions: which rules were checked on which subject in which version, and with what result.

`build_version_table` joins records (`version_records`), the rules of findings, and pinned jars to one column for each
artifact. `render_version_page` writes it as Markdown and `versions_json` as JSON. A record of a jar that is not pinned
is reported as stale.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_cli.report.version_records import ABSENT, Pinned, SubjectRecord
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.system import AbsentRelease
from entrycache_reference.rules import Rule

CONFORMS: Final = "conforms"
DIFFERS: Final = "differs"


@dataclass(frozen=True)
class Version:
    """One artifact of one subject, with all its judged steps and results."""

    subject: str
    system: str
    artifact: str
    sha256: str
    pinned: Pinned | None
    records: tuple[str, ...]
    seeds: tuple[int, ...]
    examples: int
    steps: int
    differences: int
    findings: tuple[str, ...]
    fired: Mapping[str, int]
    broken: Mapping[str, int]

    @property
    def verdict(self) -> str:
        """The verdict: differs, or conforms except for the findings that its declaration names."""
        if self.differences:
            return DIFFERS
        return f"{CONFORMS} but for {len(self.findings)} findings" if self.findings else CONFORMS


class RuleEntry(NamedTuple):
    """The entry of a rule and a version: judged steps in which the rule fired, differences, and findings against it."""

    fired: int
    differences: int
    findings: tuple[str, ...]


@dataclass(frozen=True)
class VersionTable:
    """The table of all versions; `stale` has a line for each record of a jar that is not the pinned one."""

    versions: tuple[Version, ...]
    absent: tuple[AbsentRelease, ...]
    cells: Mapping[str, tuple[RuleEntry, ...]]
    stale: tuple[str, ...]
    records: tuple[SubjectRecord, ...]


def rules_of_findings(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the rules that each finding breaks, by its id, from its case files.

    Raises:
        UsageError: a case file cannot be read.
    """
    findings: dict[str, tuple[str, ...]] = {}
    for first in sorted(folder.glob("*/case.json")):
        rules = (rule for case in sorted(first.parent.glob("*.json")) for rule in read_case(case, SYSTEMS).rules)
        findings[first.parent.name] = tuple(dict.fromkeys(rules))
    return findings


def build_version_table(
    records: Sequence[SubjectRecord],
    findings: Mapping[str, Sequence[str]],
    pinned: Callable[[str], Pinned | None],
    absent: Sequence[AbsentRelease] = ABSENT,
) -> VersionTable:
    """Join the records to a table with one column for each artifact."""
    grouped: dict[tuple[str, str], list[SubjectRecord]] = {}
    for judged in records:
        digest = judged.sha256 or next((one.sha256 for one in records if one.subject == judged.subject), "")
        grouped.setdefault((judged.subject, digest), []).append(judged)
    versions = tuple(
        _build_version(subject, digest, judged, pinned(subject))
        for (subject, digest), judged in sorted(grouped.items())
    )
    rules = {rule.value for judged in records for rule in SYSTEMS[judged.system].laws.rules}
    cells: dict[str, tuple[RuleEntry, ...]] = {
        rule.value: tuple(_rule_entry(rule.value, version, findings) for version in versions)
        for rule in Rule
        if rule.value in rules
    }
    stale = tuple(
        f"{version.subject}: {', '.join(version.records)} are of a jar with sha256 {version.sha256}, "
        f"but {version.pinned.sha256} is pinned; run them again"
        for version in versions
        if version.pinned is not None and version.sha256 not in {"", version.pinned.sha256}
    )
    known = {version.subject for version in versions}
    families = {subject.partition(":")[0] for subject in known}
    unrun = (one for one in absent if one.subject not in known and one.subject.partition(":")[0] in families)
    return VersionTable(versions, tuple(unrun), cells, stale, tuple(records))


def _build_version(subject: str, digest: str, judged: Sequence[SubjectRecord], pinned: Pinned | None) -> Version:
    named = next((one.artifact for one in judged if one.artifact), "")
    return Version(
        subject=subject,
        system=judged[0].system,
        artifact=named or (pinned.jar if pinned is not None else ""),
        sha256=digest,
        pinned=pinned,
        records=tuple(one.source for one in judged),
        seeds=tuple(sorted({one.seed for one in judged if one.seed is not None})),
        examples=sum(one.examples for one in judged),
        steps=sum(one.steps for one in judged),
        differences=sum(sum(one.broken.values()) for one in judged),
        findings=tuple(sorted({finding for one in judged for finding in one.findings})),
        fired=_sum([one.fired for one in judged]),
        broken=_sum([one.broken for one in judged]),
    )


def _sum(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


def _rule_entry(rule: str, version: Version, findings: Mapping[str, Sequence[str]]) -> RuleEntry:
    against = tuple(finding for finding in version.findings if rule in findings.get(finding, ()))
    return RuleEntry(version.fired.get(rule, 0), version.broken.get(rule, 0), against)


HEAD: Final = """# Rules, subjects, versions

`entrycache versions` writes this page from the records in `docs/campaigns`; `--json` prints the same data.

A *step* is judged if its outcome was compared with the reference's. *Conforms* means "no difference in that many
steps"; it is no proof. A *finding* is a known difference with a shrunk case and a page of its own. A variant or a limit
stands for it, so that campaigns continue past it. A *seed* decides every case of a record.

## Versions

| subject | artifact | sha256 | pinned class path | records | seeds | cases | judged steps | result |
|---|---|---|---|---|---|---|---|---|
"""

NOT_RUN: Final = """
## Not run

| subject | artifact | reason |
|---|---|---|
"""

RECORDS: Final = """
## Records

| record | seed | cases | judged steps | subjects | what is judged |
|---|---|---|---|---|---|
"""

RULES: Final = """
## Rules

A number counts the steps in which the rule decided or its law's guard held, in the cases whose laws were checked (in a
campaign one case of {one_in}). A name is that of a finding against the rule. *Differs* is a difference without a
finding. *Not met*: no step shows the rule.

"""

FIRST_SYSTEM: Final = next(iter(SYSTEMS))
"""The system whose records lie in the folder itself; records of others lie in a folder of their name."""

NOT_MET: Final = "not met"


def render_version_page(table: VersionTable, one_in: int) -> str:
    """Return the page in Markdown."""
    parts = [HEAD, *(_version_line(version) for version in table.versions), NOT_RUN]
    parts += [
        f"| {absent.subject} | {f'`{absent.coordinates}`' if absent.coordinates else 'none'} | {absent.reason} |\n"
        for absent in table.absent
    ]
    parts += [RECORDS, *_record_lines(table.records), RULES.format(one_in=one_in)]
    parts.append("| rule | " + " | ".join(column_title(version, table.versions) for version in table.versions) + " |\n")
    parts.append("|---" * (1 + len(table.versions)) + "|\n")
    for rule, cells in table.cells.items():
        parts.append(f"| {rule} | " + " | ".join(_entry_text(cell) for cell in cells) + " |\n")
    return "".join(parts)


def column_title(version: Version, versions: Sequence[Version]) -> str:
    """Return the title of a column: the subject, and its hash if it has several artifacts."""
    alone = sum(other.subject == version.subject for other in versions) == 1
    return version.subject if alone else f"{version.subject} ({version.sha256[:8]})"


def _version_line(version: Version) -> str:
    pinned = version.pinned
    lock = f"{pinned.jars} jars, lock sha256 `{pinned.lock_sha256}`" if pinned is not None else ""
    findings = ", ".join(f"[{finding}](../findings/{finding})" for finding in version.findings)
    result = f"{version.verdict}: {findings}" if findings else version.verdict
    cells = (
        version.subject,
        version.artifact,
        f"`{version.sha256}`" if version.sha256 else "",
        lock,
        str(len(version.records)),
        number_spans(version.seeds),
        str(version.examples),
        str(version.steps),
        f"{version.differences} differences; {result}" if version.differences else result,
    )
    return "| " + " | ".join(cells) + " |\n"


def _record_lines(records: Sequence[SubjectRecord]) -> list[str]:
    lines = []
    for source in sorted({one.source for one in records}):
        own = [one for one in records if one.source == source]
        seed = "" if own[0].seed is None else str(own[0].seed)
        steps = str(sum(one.steps for one in own))
        names = ", ".join(one.subject for one in own)
        folder = "../campaigns" if own[0].system == FIRST_SYSTEM else f"../campaigns/{own[0].system}"
        cells = (f"[{source}]({folder}/{source})", seed, str(own[0].examples), steps, names, own[0].how)
        lines.append("| " + " | ".join(cells) + " |\n")
    return lines


def number_spans(numbers: Sequence[int]) -> str:
    """Return numbers in ascending order, with neighbours joined to spans."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _entry_text(cell: RuleEntry) -> str:
    parts = [f"[{finding}](../findings/{finding})" for finding in cell.findings]
    if cell.differences:
        parts.append("differs")
    parts.append(str(cell.fired) if cell.fired else NOT_MET)
    return ", ".join(parts)


def versions_json(table: VersionTable) -> dict[str, Any]:
    """Return the object that `--json` prints."""
    return {
        "schema": 1,
        "versions": [_version_json(version) for version in table.versions],
        "not_run": [absent._asdict() for absent in table.absent],
        "rules": {
            rule: {
                column_title(version, table.versions): {
                    "fired": cell.fired,
                    "differences": cell.differences,
                    "findings": list(cell.findings),
                }
                for version, cell in zip(table.versions, cells, strict=True)
            }
            for rule, cells in table.cells.items()
        },
        "records": [
            {"record": one.source, "subject": one.subject, "seed": one.seed, "steps": one.steps, "judged": one.how}
            for one in table.records
        ],
        "stale": list(table.stale),
    }


def _version_json(version: Version) -> dict[str, Any]:
    return {
        "subject": version.subject,
        "system": version.system,
        "artifact": version.artifact,
        "sha256": version.sha256,
        "lock_sha256": version.pinned.lock_sha256 if version.pinned is not None else None,
        "records": list(version.records),
        "seeds": list(version.seeds),
        "cases": version.examples,
        "steps": version.steps,
        "differences": version.differences,
        "findings": list(version.findings),
        "result": version.verdict,
    }
