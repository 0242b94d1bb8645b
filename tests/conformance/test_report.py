"""The shape of `conform --json` is a contract: its keys, their order, and the kinds of its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_cli.report.results import read_results
from entrycache_conformance.levels import Profile
from entrycache_conformance.report import RunReport
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.run import Options, conform
from entrycache_protocol import errors
from entrycache_protocol.errors import UsageError, Verdict

COUNTED: Final = {"examples": "int", "steps": "int", "verdict": "str", "missing": []}
CHECKED: Final = {"rules": {"fired": "int", "verdict": "str"}, "seconds": "float"}
LEVEL: Final = {**COUNTED, **CHECKED}
OF_THREADS: Final = {
    **{**COUNTED, "histories": "int", "threads": "int", "inconclusive": "int", "states_max": "int"},
    **CHECKED,
}
LANE: Final = {"name": "str", "boxes": [["str"]]}
TABLE: Final = {"title": "str", "columns": ["str"], "rows": [["str"]], "bad": "int"}
OF_CASES: Final = {"level": "str", "table": {**TABLE, "wrong": "int", "before": [LANE], "after": [LANE]}}
OF_HISTORIES: Final = {"level": "str", "table": TABLE}
FAILURE: Final = {
    "rule": "str",
    "rules": ["str"],
    "case": "str",
    "step": "int",
    "expected": {"entries": "int", "bytes": "int"},
    "got": {"entries": "int", "bytes": "int"},
    "steps": "int",
}
RUN: Final = {
    "schema": "int",
    "subject": "str",
    "source": "str",
    "system": "str",
    "verdict": "str",
    "levels": {"range": LEVEL},
    "rules": {"fired": "int"},
    "cells": "int",
    "failures": [],
    "skipped": [],
    "exceptions": [],
}


def shape(value: Any) -> Any:
    """Return the kinds of values in place of the values; of an array only the first."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def shape_of_run(said: dict[str, Any]) -> dict[str, Any]:
    """Return the shape of a run, with one rule and one decision-table entry for all."""
    said = dict(said)
    assert all(type(count) is int for count in said.pop("defaults", {}).values())
    (rule,) = {str(shape(report)): shape(report) for report in said["rules"].values()}.values()
    cells = {shape(count) for count in said["cells"].values()}
    levels = {name: {**level, "rules": one_for_all(level["rules"])} for name, level in shape(said)["levels"].items()}
    return {**shape(said), "levels": levels, "rules": rule, "cells": "".join(cells)}


def one_for_all(rules: dict[str, Any]) -> Any:
    """Return the shape that all values share."""
    values = [dict(value) for value in rules.values()]
    assert {value.pop("detectable", "bool") for value in values} == {"bool"}
    (common,) = {repr(value): value for value in values}.values()
    return common


def in_order(value: Any) -> str:
    """Return the value with its keys in order, which two equal mappings need not share."""
    return repr(value)


def run(name: str, level: str, examples: int, folder: Path, rule_minimum: int = 0) -> dict[str, Any]:
    subject = open_in_process(name, "kafka-streams" if level == "concurrent" else "pulsar-pip430")
    assert subject is not None
    report = conform(subject, Options((level,), Profile(examples, rule_minimum, 0), 0, 0.0, folder))
    assert RunReport.from_json(json.loads(json.dumps(report.to_json()))) == report
    return report.to_json()


def test_a_clean_run(tmp_path: Path) -> None:
    said = run("fast", "range", 60, tmp_path)
    assert in_order(shape_of_run(said)) == in_order(RUN)
    head = [said[name] for name in ("schema", "subject", "system", "verdict")]
    assert head == [1, "fast", "pulsar-pip430", "conforms"]
    assert said["levels"]["range"]["verdict"] == "conforms"
    assert said["levels"]["range"]["examples"] == 82, (
        "60, one great case to twenty, one odd case to five, one without a setting to eight"
    )


def test_a_violating_run(tmp_path: Path) -> None:
    said = run("expire-at-the-cutoff", "queue", 60, tmp_path)
    expected = {**RUN, "levels": {"queue": LEVEL}, "failures": [{**FAILURE, **OF_CASES}]}
    assert in_order(shape_of_run(said)) == in_order(expected)
    assert said["verdict"] == said["levels"]["queue"]["verdict"] == "violates"
    (failure,) = said["failures"]
    assert failure["rule"] == failure["rules"][0] == "R-EXPIRE-1"
    assert Path(failure["case"]).parent == tmp_path
    details = {name: failure[name] for name in ("step", "expected", "got", "steps")}
    assert details == {
        "step": 1,
        "expected": {"entries": 0, "bytes": 0},
        "got": {"entries": 1, "bytes": 1},
        "steps": 2,
    }


def test_a_run_of_histories(tmp_path: Path) -> None:
    said = run("fast", "concurrent", 21, tmp_path)
    expected = {**RUN, "levels": {"concurrent": OF_THREADS}}
    assert in_order(shape_of_run({**said, "skipped": []})) == in_order(expected)
    level = said["levels"]["concurrent"]
    assert level["examples"] == level["histories"] == 21
    assert (level["missing"], level["states_max"]) == ([], 20_000)


def test_a_violating_run_of_histories(tmp_path: Path) -> None:
    said = run("threads-count-lost", "concurrent", 140, tmp_path)
    assert said["verdict"] == said["levels"]["concurrent"]["verdict"] == "violates"
    (failure,) = said["failures"]
    kinds = shape({**failure, "got": None})
    expected = {**FAILURE, "expected": "NoneType", "got": "NoneType"}
    more = {"said": "str", "clients": "int", "tries": "int", "times": "int", "proved": "bool"}
    assert in_order(kinds) == in_order({**expected, **more, **OF_HISTORIES})
    assert failure["proved"] is True
    assert type(failure["got"]) is dict


def test_a_run_that_has_checked_nothing(tmp_path: Path) -> None:
    said = run("fast", "range", 3, tmp_path, rule_minimum=200)
    expected = {**RUN, "skipped": [{"what": "str", "reason": "str"}]}
    assert in_order(shape_of_run(said)) == in_order(expected)
    assert said["verdict"] == said["levels"]["range"]["verdict"] == "nothing-checked"


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([], Verdict.NOTHING_CHECKED),
        ([Verdict.CONFORMS, Verdict.CONFORMS], Verdict.CONFORMS),
        ([Verdict.CONFORMS, Verdict.NOTHING_CHECKED], Verdict.NOTHING_CHECKED),
        ([Verdict.NOTHING_CHECKED, Verdict.VIOLATES, Verdict.CONFORMS], Verdict.VIOLATES),
    ],
)
def test_the_verdict_of_several(parts: list[Verdict], whole: Verdict) -> None:
    assert errors.combine_verdicts(parts) is whole


@pytest.mark.parametrize("changes", [{"levels": 3}, {"levels": {"range": {}}}, {"failures": [{}]}, {"system": None}])
def test_a_result_of_conform_that_lacks_something_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    said = {"schema": 1, "subject": "fast", "system": "pulsar-pip430", "levels": {}, **changes}
    if said["system"] is None:
        del said["system"]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(UsageError, match=r"results\.json, line 1: "):
        read_results(file)
