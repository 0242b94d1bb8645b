"""The table of versions repeats its records and reports records of another jar."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.versions import check_resolves
from entrycache_cli.main import main
from entrycache_cli.report.version_records import (
    ABSENT,
    Pinned,
    SubjectRecord,
    find_pinned,
    read_record,
    read_records,
    resolves_in_maven,
)
from entrycache_cli.report.version_table import (
    build_version_table,
    number_spans,
    render_version_page,
    rules_of_findings,
)
from entrycache_conformance.java.releases import example_release, releases
from entrycache_protocol.errors import UsageError
from entrycache_protocol.system import AbsentRelease
from entrycache_reference.rules import Rule

LOCK = Pinned("managed-ledger-4.2.4.jar", "aa" * 32, "cc" * 32, 20)


def campaign(seed: int = 3, sha256: str = "aa" * 32, **changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "system": "pulsar-pip430",
        "theme": "default",
        "seed": seed,
        "cases": 10,
        "steps_a_case": 600,
        "cpu_seconds": 1.5,
        "judged": "every outcome",
        "judged_steps": 12_000,
        "subjects": [
            {"name": "fast", "artifact": {"package": "entrycache_fast", "sha256": "bb" * 32}, "steps": 6_000,
             "variants": {}, "limits": {}, "findings": {}},
            {"name": "pulsar:4.2.4", "artifact": {"jar": "managed-ledger-4.2.4.jar", "sha256": sha256}, "steps": 6_000,
             "variants": {}, "limits": {"tail_ties": False}, "findings": {"limits.tail_ties": "rank-of-ties"}},
        ],
        "laws": {"cases": 1, "steps": 600, "rules": {"R-EVICT-1": 7, "R-CURSOR-7": 2}, "cells": {}},
        "differences": [],
        **changes,
    }  # fmt: skip


def conform(**changes: Any) -> dict[str, Any]:
    levels = {
        name: {"examples": examples, "steps": 10 * examples, "verdict": "violates", "missing": []}
        for name, examples in (("range", 5), ("queue", 4))
    }
    failure = {"rule": "R-EXPIRE-1", "rules": ["R-EXPIRE-1"], "case": "x.json", "step": 1, "steps": 2}
    return {
        "schema": 1,
        "subject": "other",
        "system": "pulsar-pip430",
        "verdict": "violates",
        "levels": levels,
        "rules": {"R-EVICT-1": {"fired": 9}, "R-READ-1": {"fired": 0}},
        "failures": [{**failure, "expected": {}, "got": {}}] * 2,
        **changes,
    }


def judged(*values: dict[str, Any]) -> list[SubjectRecord]:
    return [one for number, value in enumerate(values) for one in read_record(value, f"{number}.json", "here")]


def only(subject: str) -> Pinned | None:
    return LOCK if subject == "pulsar:4.2.4" else None


FINDINGS = {"rank-of-ties": ("R-CURSOR-7",)}


def test_records_of_one_artifact_are_added() -> None:
    table = build_version_table(judged(campaign(3), campaign(4)), FINDINGS, only, ())
    assert [version.subject for version in table.versions] == ["fast", "pulsar:4.2.4"]
    jar = table.versions[1]
    assert (jar.steps, jar.examples, jar.seeds, jar.records) == (12_000, 20, (3, 4), ("0.json", "1.json"))
    assert (jar.sha256, jar.pinned, jar.verdict) == ("aa" * 32, LOCK, "conforms but for 1 findings")
    assert table.versions[0].verdict == "conforms"
    assert table.cells["R-EVICT-1"] == ((14, 0, ()), (14, 0, ()))
    assert table.cells["R-CURSOR-7"][1] == (4, 0, ("rank-of-ties",))
    assert table.cells["R-READ-1"] == ((0, 0, ()), (0, 0, ()))
    assert set(table.cells) == {rule.value for rule in Rule if rule.value.startswith("R-")}
    assert table.stale == ()


def test_a_record_of_several_runs_a_subject() -> None:
    artifact = {"jar": "managed-ledger-4.2.4.jar", "sha256": "aa" * 32}
    runs = [{"steps": 5, "differences": 0}, {"steps": 6, "differences": 2}]
    value = campaign(subjects=[{"name": "pulsar:4.2.4", "artifact": artifact, "runs": runs}])
    (version,) = build_version_table(judged(value), FINDINGS, only, ()).versions
    assert (version.steps, version.differences, version.verdict) == (11, 2, "differs")
    assert version.fired == {}


def test_each_record_is_a_line() -> None:
    page = render_version_page(build_version_table(judged(campaign(3), conform()), FINDINGS, only, ()), 50)
    assert "| [0.json](../campaigns/0.json) | 3 | 10 | 12000 | fast, pulsar:4.2.4 | default: every outcome |" in page
    assert "| [1.json](../campaigns/1.json) |  | 9 | 90 | other | conform: every outcome" in page


def test_differences_are_no_conformance() -> None:
    broken = campaign(differences=[{"subject": "fast", "op": "get"}])
    table = build_version_table(judged(broken, conform()), FINDINGS, only, ())
    assert [version.verdict for version in table.versions][:2] == ["differs", "differs"]
    fast, other, _ = table.versions
    assert (fast.differences, other.differences) == (1, 2)
    assert table.cells["R-EXPIRE-1"][1] == (0, 2, ())
    page = render_version_page(table, 50)
    assert "| R-EXPIRE-1 | not met | differs, not met | not met |" in page
    assert "| 1 differences; differs |" in page


def test_a_record_of_another_jar_is_reported() -> None:
    table = build_version_table(judged(campaign(), campaign(5, "dd" * 32)), FINDINGS, only, ())
    assert [version.subject for version in table.versions] == ["fast", "pulsar:4.2.4", "pulsar:4.2.4"]
    (line,) = table.stale
    assert line.startswith("pulsar:4.2.4: 1.json are of a jar with sha256 dddd")
    assert "pulsar:4.2.4 (dddddddd)" in render_version_page(table, 50)


def test_what_is_not_run_is_a_row_with_its_reason() -> None:
    absent = (
        AbsentRelease("pulsar:4.1.0", "a:b:4.1.0", False, "does not resolve"),
        AbsentRelease("fast", "x", True, "y"),
    )
    table = build_version_table(judged(campaign()), FINDINGS, only, absent)
    assert table.absent == absent[:1]
    assert "| pulsar:4.1.0 | `a:b:4.1.0` | does not resolve |" in render_version_page(table, 50)
    assert any("4.1" in release.subject for release in ABSENT)


def test_a_version_that_never_was_released_is_refused_without_asking_maven() -> None:
    never = next(release for release in ABSENT if not release.coordinates)
    assert resolves_in_maven(never) is never.resolves is False
    said = render_version_page(build_version_table(judged(campaign()), FINDINGS, only, (never,)), 50)
    assert "| pulsar:PIP-174 | none | its system, pulsar-segmented, was proposed and never merged" in said


def test_the_pinned_releases_are_those_of_the_drivers() -> None:
    for release in releases("pulsar"):
        lock = find_pinned(release.subject)
        assert lock is not None
        assert lock.jar == f"managed-ledger-{release.version}.jar"
        assert lock.jars > 10
    assert find_pinned("pulsar:4.1.0") is None
    assert find_pinned("fast") is None
    assert {release.subject for release in ABSENT}.isdisjoint(release.subject for release in releases("pulsar"))


def test_findings_name_their_rules(tmp_path: Path) -> None:
    (tmp_path / "rank-of-ties").mkdir()
    case = {"system": "pulsar-pip430", "config": {}, "steps": [], "rules": ["R-CURSOR-7"]}
    (tmp_path / "rank-of-ties" / "case.json").write_text(json.dumps(case))
    (tmp_path / "no-case").mkdir()
    assert rules_of_findings(tmp_path) == {"rank-of-ties": ("R-CURSOR-7",)}


def test_spans() -> None:
    assert number_spans(()) == ""
    assert number_spans((1,)) == "1"
    assert number_spans((1, 2, 3, 7, 9, 10)) == "1-3, 7, 9-10"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "no record of schema 1"),
        ({"schema": 2}, "no record of schema 1"),
        ({"schema": 1}, "neither the record of a campaign"),
        (campaign(subjects=[{"name": "x"}]), "the record lacks something"),
        (conform(levels=3), "the record lacks something"),
    ],
)
def test_a_file_that_is_no_record_is_reported(value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_record(value, "x.json", "here/x.json")


def called(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(args=["versions", *argv])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results"
    folders = ["--results", str(results), "--findings", str(tmp_path)]
    assert called(*folders) == 2
    assert "no such folder" in capsys.readouterr().err
    results.mkdir()
    assert called(*folders) == 2
    assert "no records" in capsys.readouterr().err
    right = find_pinned(example_release("pulsar").subject)
    assert right is not None
    (results / "a.json").write_text(json.dumps(campaign(sha256=right.sha256)))
    pages = [tmp_path / "one.md", tmp_path / "two.md"]
    for path in pages:
        assert called(*folders, "--write", str(path), "--json") == 0
        value = json.loads(capsys.readouterr().out)
        assert value["rules"]["R-EVICT-1"]["fast"] == {"fired": 7, "differences": 0, "findings": []}
        assert [release["subject"] for release in value["not_run"]] == [release.subject for release in ABSENT]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    (results / "b.json").write_text(json.dumps(campaign(sha256="00" * 32)))
    assert called(*folders) == 1
    assert "is pinned; run them again" in capsys.readouterr().err
    (results / "c.json").write_text("{")
    assert called(*folders) == 2
    assert "cannot be read as JSON" in capsys.readouterr().err
    assert called(*folders[2:], "--results", str(results / "a.json")) == 2


def test_resolve_reports_a_release_that_is_registered_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_resolves(ABSENT, lambda release: release.resolves) == 0
    assert check_resolves(ABSENT, lambda release: True) == 1
    assert "managed-ledger:4.1.0 is listed otherwise" in capsys.readouterr().err


def test_resolve_needs_maven(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "entrycache_cli", "versions", "--resolve"]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 4
    assert "mvn is missing" in done.stderr


@pytest.mark.parametrize(
    ("written", "records"),
    [
        ("versions.md", "campaigns"),
        ("versions-kafka-streams.md", "campaigns/kafka-streams"),
        ("versions-pulsar-legacy.md", "campaigns/pulsar-legacy"),
    ],
)
def test_the_committed_page_is_that_of_the_committed_records(written: str, records: str) -> None:
    table = build_version_table(
        read_records(Path("docs") / records), rules_of_findings(Path("docs/findings")), find_pinned
    )
    text = (Path("docs/reference") / written).read_text(encoding="utf-8")
    again = f"entrycache versions --results docs/{records} --write docs/{written}"
    assert text == render_version_page(table, 50), again
    assert table.stale == ()
