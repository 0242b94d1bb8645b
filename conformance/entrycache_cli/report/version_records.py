"""Records for the table of versions: results of campaigns and conformance runs, and the releases that are pinned.

`read_records` reads a folder of JSON files. Each file is the record of a campaign or an object of `conform --json`, and
gives one `SubjectRecord` per subject. `find_pinned` looks up the jar and the lock of a release, and `ABSENT` lists the
releases that cannot be run.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.java.releases import FAMILIES, find_release
from entrycache_conformance.report import REPORT_SHAPE, RunReport
from entrycache_conformance.subjects import processes, wrappers
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, files, strict_json
from entrycache_protocol.system import AbsentRelease


@dataclass(frozen=True)
class SubjectRecord:
    """The content of one record about one subject.

    `fired` counts steps in which a rule decided or a law's guard held. `broken` counts differences by rule; a campaign
    names no rule, so its differences stand under "". `findings` are known differences that a variant or limit of the
    subject stands for. `seed` is None if the record has none. `how` says what was compared.
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


def read_records(folder: Path) -> tuple[SubjectRecord, ...]:
    """Read the JSON files of a folder, in the order of their names.

    Raises:
        UsageError: the folder does not exist, has no records, or a file is not a record.
    """
    if not folder.is_dir():
        raise errors.UsageError(f"{folder}: no such folder; expected the records of campaigns and conform --json")
    records: list[SubjectRecord] = []
    for path in sorted(folder.glob("*.json")):
        try:
            value = strict_json.parse_json(files.read_text(path, "the record"))
        except ValueError as error:
            raise errors.UsageError(f"{path}: cannot be read as JSON ({error})") from None
        records += read_record(value, path.name, str(path))
    if not records:
        raise errors.UsageError(
            f"{folder}: no records; entrycache campaign SUBJECTS --out {folder}/NAME.json writes one"
        )
    return tuple(records)


def read_record(value: Any, source: str, where: str) -> list[SubjectRecord]:
    """Read one object; return a record for each of its subjects.

    Raises:
        UsageError: it is neither the record of a campaign nor that of `conform --json`.
    """
    if type(value) is not dict or not strict_json.is_same_json(value.get("schema"), 1):
        raise errors.UsageError(f"{where}: no record of schema 1")
    if "theme" in value:
        strict_json.check_shape(value, CAMPAIGN_SHAPE, f"{where}: {INCOMPLETE}")
        return [_campaign_record(value, subject, source) for subject in value["subjects"]]
    if "levels" in value:
        strict_json.check_shape(value, RUN_SHAPE, f"{where}: {INCOMPLETE}")
        return [_conform_record(value, source)]
    raise errors.UsageError(f"{where}: neither the record of a campaign nor that of conform --json")


INCOMPLETE: Final = "the record lacks something, or has it otherwise"

_SYSTEM_SHAPE: Final = {"enum": list(SYSTEMS)}
_SUBJECT_SHAPE: Final = strict_json.object_shape(
    {
        "name": strict_json.TEXT,
        "artifact": {**strict_json.mapping_shape(strict_json.TEXT), "required": ["sha256"], "minProperties": 2},
        "steps": strict_json.COUNT,
        "runs": {
            **strict_json.list_shape(
                strict_json.object_shape({"steps": strict_json.COUNT, "differences": strict_json.COUNT})
            ),
            "minItems": 1,
        },
        "rules": strict_json.mapping_shape(strict_json.COUNT),
        "findings": strict_json.mapping_shape(strict_json.TEXT),
    },
    *("steps", "runs", "rules", "findings"),
)
CAMPAIGN_SHAPE: Final = strict_json.object_shape(
    {
        "system": _SYSTEM_SHAPE,
        "theme": strict_json.TEXT,
        "judged": strict_json.TEXT,
        "seed": {"type": "integer"},
        "cases": strict_json.COUNT,
        "subjects": strict_json.list_shape(_SUBJECT_SHAPE),
        "differences": strict_json.list_shape(strict_json.object_shape({"subject": strict_json.TEXT})),
        "laws": strict_json.object_shape({"rules": strict_json.mapping_shape(strict_json.COUNT)}),
    },
    "laws",
) | {"anyOf": [{"required": ["laws"]}, {"properties": {"subjects": {"items": {"required": ["runs"]}}}}]}
"""The shape of a campaign's record; if each subject has runs, the runs hold the rules."""

RUN_SHAPE: Final = {"allOf": [REPORT_SHAPE, {"properties": {"system": _SYSTEM_SHAPE}}]}
"""The shape of an object of `conform --json`."""


def _campaign_record(value: Mapping[str, Any], subject: Mapping[str, Any], source: str) -> SubjectRecord:
    artifact = subject["artifact"]
    named = next(str(part) for key, part in artifact.items() if key != "sha256")
    runs = subject.get("runs", ())  # each run belongs to one subject; laws.rules is then a sum over subjects
    differences = sum(difference["subject"] == subject["name"] for difference in value["differences"])
    differences += sum(run["differences"] for run in runs)
    return SubjectRecord(
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
        tuple(
            sorted(
                {
                    one
                    for named in subject.get("findings", {}).values()
                    for one in named.split(wrappers.FINDING_SEPARATOR)
                }
            )
        ),
        f"{value['theme']}: {value['judged']}",
    )


def _conform_record(value: Mapping[str, Any], source: str) -> SubjectRecord:
    report = RunReport.from_json(value)
    return SubjectRecord(
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


MAVEN_SECONDS: Final = 120


class Pinned(NamedTuple):
    """The jar of a release that a driver runs, and the lock file of its whole class path."""

    jar: str
    sha256: str
    lock_sha256: str
    jars: int


ABSENT: Final = tuple(absent for family in FAMILIES.values() for absent in family.absent)
"""Releases that are not run, with the reasons."""


def find_pinned(subject: str) -> Pinned | None:
    """Return the pinned jar and lock of a released subject; return None for any other subject."""
    release = find_release(subject)
    if release is None:
        return None
    text = release.lock.read_bytes()
    lines = [line.split() for line in text.decode().splitlines() if line.strip()]
    digest = next(digest for digest, jar in lines if jar == release.tested_jar)
    return Pinned(release.tested_jar, digest, hashlib.sha256(text).hexdigest(), len(lines))


def resolves_in_maven(release: AbsentRelease) -> bool:
    """Return whether a release can be downloaded today; one without coordinates never was a release.

    Raises:
        MissingPrerequisite: Maven or its network is missing.
    """
    if not release.coordinates:
        return False
    maven = shutil.which("mvn")
    if maven is None:
        raise errors.MissingPrerequisite(
            "mvn is missing; --resolve asks Maven which of the releases that are not run are there"
        )
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
    with files.scratch_folder() as folder:
        argv = [maven, "-q", "-B", "-U", goal, "-Dtransitive=false", f"-Dartifact={release.coordinates}"]
        done = processes.run_program(argv, folder, timeout_seconds=MAVEN_SECONDS)
    if done.returncode == 0:
        return True
    if "Could not find artifact" in done.stdout or "was not found in" in done.stdout:
        return False
    raise errors.MissingPrerequisite(f"Maven cannot tell whether {release.coordinates} resolves; is there a network?")
