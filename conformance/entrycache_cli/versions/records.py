"""Results on disk: records of `entrycache campaign` and objects of `entrycache conform --json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from entrycache_conformance.report import SHAPE, RunReport
from entrycache_conformance.subjects.narrowed import SEVERAL
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_text
from entrycache_protocol.shape import COUNT, TEXT, each, hold, many, record
from entrycache_protocol.strict_json import parse, same_json


@dataclass(frozen=True)
class Judged:
    """What one record says of one subject.

    `fired`: steps in which a rule decided or a law's guard held, as far as they were counted. `broken`: differences by
    rule; those of a campaign, whose record names none, stand under "". `findings`: known differences that a variant or
    a limit of the subject stands for. `seed` None: the record does not say. `how`: what was compared with what.
    """

    source: str
    subject: str
    system: str
    artifact: str
    sha256: str
    seed: int | None
    examples: int
    steps: int
    fired: Mapping[str, int]
    broken: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    how: str = "conform: every outcome of every step is compared with the reference's, every law is looked at"


def read_records(folder: Path) -> tuple[Judged, ...]:
    """Everything that the JSON files of a folder say, in the order of their names.

    Raises:
        UsageError: no such folder, no record in it, or a file that is none.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; expected the records of campaigns and conform --json")
    found: list[Judged] = []
    for path in sorted(folder.glob("*.json")):
        try:
            value = parse(read_text(path, "the record"))
        except ValueError as error:
            raise UsageError(f"{path}: cannot be read as JSON ({error})") from None
        found += read_record(value, path.name, str(path))
    if not found:
        raise UsageError(f"{folder}: no records; entrycache campaign SUBJECTS --out {folder}/NAME.json writes one")
    return tuple(found)


def read_record(value: Any, source: str, where: str) -> list[Judged]:
    """What one object says, a line a subject.

    Raises:
        UsageError: it is neither a campaign's record nor that of `conform --json`.
    """
    if type(value) is not dict or not same_json(value.get("schema"), 1):
        raise UsageError(f"{where}: no record of schema 1")
    if "theme" in value:
        hold(value, CAMPAIGN, f"{where}: {LACKS}")
        return [_of_campaign(value, subject, source) for subject in value["subjects"]]
    if "levels" in value:
        hold(value, RUN, f"{where}: {LACKS}")
        return [_of_conform(value, source)]
    raise UsageError(f"{where}: neither the record of a campaign nor that of conform --json")


LACKS: Final = "the record lacks something, or has it otherwise"

_SYSTEM: Final = {"enum": list(SYSTEMS)}
_SUBJECT: Final = record(
    {
        "name": TEXT,
        "artifact": {**each(TEXT), "required": ["sha256"], "minProperties": 2},
        "steps": COUNT,
        "runs": {**many(record({"steps": COUNT, "differences": COUNT})), "minItems": 1},
        "rules": each(COUNT),
        "findings": each(TEXT),
    },
    *("steps", "runs", "rules", "findings"),
)
CAMPAIGN: Final = record(
    {
        "system": _SYSTEM,
        "theme": TEXT,
        "judged": TEXT,
        "seed": {"type": "integer"},
        "cases": COUNT,
        "subjects": many(_SUBJECT),
        "differences": many(record({"subject": TEXT})),
        "laws": record({"rules": each(COUNT)}),
    },
    "laws",
) | {"anyOf": [{"required": ["laws"]}, {"properties": {"subjects": {"items": {"required": ["runs"]}}}}]}
"""What is read of a campaign's record, as JSON Schema; where each subject has runs, these have the rules."""

RUN: Final = {"allOf": [SHAPE, {"properties": {"system": _SYSTEM}}]}
"""The same of `conform --json`."""


def _of_campaign(value: Mapping[str, Any], subject: Mapping[str, Any], source: str) -> Judged:
    artifact = subject["artifact"]
    named = next(str(part) for key, part in artifact.items() if key != "sha256")
    runs = subject.get("runs", ())  # each of them its subject's own; then laws.rules is a sum over subjects
    differences = sum(difference["subject"] == subject["name"] for difference in value["differences"])
    differences += sum(run["differences"] for run in runs)
    return Judged(
        source,
        subject["name"],
        value["system"],
        named,
        artifact["sha256"],
        value["seed"],
        value["cases"],
        subject["steps"] if "steps" in subject else sum(run["steps"] for run in runs),
        dict(subject.get("rules", {}) if runs else value["laws"]["rules"]),
        {"": differences} if differences else {},
        tuple(sorted({one for named in subject.get("findings", {}).values() for one in named.split(SEVERAL)})),
        f"{value['theme']}: {value['judged']}",
    )


def _of_conform(value: Mapping[str, Any], source: str) -> Judged:
    report = RunReport.from_json(value)
    return Judged(
        source,
        report.subject,
        report.system,
        "",
        "",
        value.get("seed"),
        sum(level.examples for level in report.levels.values()),
        sum(level.steps for level in report.levels.values()),
        {rule: count for rule, count in report.rules.items() if count},
        Counter(failure.rules[0] for failure in report.failures),
    )
