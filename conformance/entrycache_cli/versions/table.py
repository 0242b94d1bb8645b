"""Rules x subjects x versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_cli.versions.records import Judged
from entrycache_cli.versions.releases import ABSENT, Pinned
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.family import Absent
from entrycache_reference.rules import Rule

CONFORMS: Final = "conforms"
DIFFERS: Final = "differs"


@dataclass(frozen=True)
class Version:
    """One artifact of one subject, and what was judged of it."""

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
        """Differs, or conforms but for the findings that its declaration names."""
        if self.differences:
            return DIFFERS
        return f"{CONFORMS} but for {len(self.findings)} findings" if self.findings else CONFORMS


class Cell(NamedTuple):
    """A rule and a version: the judged steps in which it fired, and what is known against it."""

    fired: int
    differences: int
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Versions:
    """The table. `stale`: records of a jar that is not the pinned one, a line each."""

    versions: tuple[Version, ...]
    absent: tuple[Absent, ...]
    cells: Mapping[str, tuple[Cell, ...]]
    stale: tuple[str, ...]
    records: tuple[Judged, ...]


def rules_of_findings(folder: Path) -> dict[str, tuple[str, ...]]:
    """The rules that each finding breaks, by its id, from its case files; a finding without a case has none.

    Raises:
        UsageError: a case file cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    for first in sorted(folder.glob("*/case.json")):
        rules = (rule for case in sorted(first.parent.glob("*.json")) for rule in read_case(case, SYSTEMS).rules)
        found[first.parent.name] = tuple(dict.fromkeys(rules))
    return found


def versions_of(
    records: Sequence[Judged],
    findings: Mapping[str, Sequence[str]],
    pinned: Callable[[str], Pinned | None],
    absent: Sequence[Absent] = ABSENT,
) -> Versions:
    """Put together what the records say, an artifact a column."""
    grouped: dict[tuple[str, str], list[Judged]] = {}
    for judged in records:
        digest = judged.sha256 or next((one.sha256 for one in records if one.subject == judged.subject), "")
        grouped.setdefault((judged.subject, digest), []).append(judged)
    versions = tuple(
        _version(subject, digest, judged, pinned(subject)) for (subject, digest), judged in sorted(grouped.items())
    )
    rules = {rule.value for judged in records for rule in SYSTEMS[judged.system].laws.rules}
    cells: dict[str, tuple[Cell, ...]] = {
        rule.value: tuple(_cell(rule.value, version, findings) for version in versions)
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
    return Versions(versions, tuple(unrun), cells, stale, tuple(records))


def _version(subject: str, digest: str, judged: Sequence[Judged], pinned: Pinned | None) -> Version:
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


def _cell(rule: str, version: Version, findings: Mapping[str, Sequence[str]]) -> Cell:
    against = tuple(finding for finding in version.findings if rule in findings.get(finding, ()))
    return Cell(version.fired.get(rule, 0), version.broken.get(rule, 0), against)
