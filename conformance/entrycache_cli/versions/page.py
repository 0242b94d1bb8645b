"""The table of versions as a page and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from entrycache_cli.versions.records import Judged
from entrycache_cli.versions.table import Cell, Version, Versions
from entrycache_conformance.systems import SYSTEMS

HEAD: Final = """# Rules, subjects, versions

Written by `entrycache versions` from the records in `docs/campaigns`; `--json` says the same.

A *step* is judged: its outcome was compared with the reference's. *Conforms* is "no difference in so many steps", not a
proof. A *finding* is a difference that was met, shortened and written up, and that a variant or a limit stands for so
that campaigns go on past it. A *seed* decides every case of a record.

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

A number is of steps in which the rule decided or its law's guard held, counted where the laws were looked at (in a
campaign in one case of {one_in}). A name is that of a finding against the rule; *differs*: a difference without one;
*not met*: no step shows it.

"""

FIRST: Final = next(iter(SYSTEMS))
"""The records of this system lie in the folder itself, those of another in one of its name."""

NOT_MET: Final = "not met"


def page(table: Versions, one_in: int) -> str:
    """The text of the page."""
    parts = [HEAD, *(_version_line(version) for version in table.versions), NOT_RUN]
    parts += [
        f"| {absent.subject} | {f'`{absent.coordinates}`' if absent.coordinates else 'none'} | {absent.reason} |\n"
        for absent in table.absent
    ]
    parts += [RECORDS, *_records(table.records), RULES.format(one_in=one_in)]
    parts.append("| rule | " + " | ".join(column(version, table.versions) for version in table.versions) + " |\n")
    parts.append("|---" * (1 + len(table.versions)) + "|\n")
    for rule, cells in table.cells.items():
        parts.append(f"| {rule} | " + " | ".join(_cell(cell) for cell in cells) + " |\n")
    return "".join(parts)


def column(version: Version, versions: Sequence[Version]) -> str:
    """The head of a column: the subject, and where it stands with several artifacts, which."""
    alone = sum(other.subject == version.subject for other in versions) == 1
    return version.subject if alone else f"{version.subject} ({version.sha256[:8]})"


def _version_line(version: Version) -> str:
    pinned = version.pinned
    lock = f"{pinned.jars} jars, lock sha256 `{pinned.lock_sha256}`" if pinned is not None else ""
    found = ", ".join(f"[{finding}](../findings/{finding})" for finding in version.findings)
    result = f"{version.verdict}: {found}" if found else version.verdict
    cells = (
        version.subject,
        version.artifact,
        f"`{version.sha256}`" if version.sha256 else "",
        lock,
        str(len(version.records)),
        spans(version.seeds),
        str(version.examples),
        str(version.steps),
        f"{version.differences} differences; {result}" if version.differences else result,
    )
    return "| " + " | ".join(cells) + " |\n"


def _records(records: Sequence[Judged]) -> list[str]:
    lines = []
    for source in sorted({one.source for one in records}):
        own = [one for one in records if one.source == source]
        seed = "" if own[0].seed is None else str(own[0].seed)
        steps = str(sum(one.steps for one in own))
        names = ", ".join(one.subject for one in own)
        folder = "../campaigns" if own[0].system == FIRST else f"../campaigns/{own[0].system}"
        cells = (f"[{source}]({folder}/{source})", seed, str(own[0].examples), steps, names, own[0].how)
        lines.append("| " + " | ".join(cells) + " |\n")
    return lines


def spans(numbers: Sequence[int]) -> str:
    """Numbers in ascending order, neighbours as one span."""
    shown: list[list[int]] = []
    for number in numbers:
        if shown and number == shown[-1][1] + 1:
            shown[-1][1] = number
        else:
            shown.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in shown)


def _cell(cell: Cell) -> str:
    parts = [f"[{finding}](../findings/{finding})" for finding in cell.findings]
    if cell.differences:
        parts.append("differs")
    parts.append(str(cell.fired) if cell.fired else NOT_MET)
    return ", ".join(parts)


def to_json(table: Versions) -> dict[str, Any]:
    """The object that `--json` prints."""
    return {
        "schema": 1,
        "versions": [_version_json(version) for version in table.versions],
        "not_run": [absent._asdict() for absent in table.absent],
        "rules": {
            rule: {
                column(version, table.versions): {
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
