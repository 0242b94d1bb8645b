"""Reports are pure functions of the result stream; an undecided rule is never shown as passed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from rich.table import Table

from entrycache_cli.report.formats import FORMATS
from entrycache_cli.report.results import read_results, summary_table, verdict_table
from entrycache_cli.report.terminal import make_console
from entrycache_dev.demo import Demo
from entrycache_dev.demo import main as demo_main
from entrycache_protocol.errors import UsageError
from entrycache_protocol.strict_json import seal_json
from entrycache_reference.rules import Rule
from tests.support.command import run
from tests.support.runs import failure, result


def conformed(verdict: str) -> dict[str, Any]:
    level = {"examples": 3, "steps": 9, "verdict": verdict, "missing": []}
    return {"schema": 1, "subject": "[red] & <odd>", "system": "pulsar-pip430", "levels": {"range": level}, "rules": {}}


AUDITED = {"schema": 1, "rules": {"R-EVICT-8": "violates", "R-STATE-1": "inconclusive"}, "violations": 1}
CLEAN = {"schema": 1, "rules": {"R-STATE-1": "conforms"}, "violations": 0}
PROVED = {
    "schema": 1,
    "evidence": [{"rule": "R-LIVENESS-1", "grade": "proved", "bounds": "1 + [accessed]", "refuted_mutant": "none"}],
}
SKIPPED = {"schema": 1, "skipped": [{"what": "conform pulsar:4.2.4", "reason": "mvn is missing"}]}
ALL = [conformed("conforms"), conformed("nothing-checked"), AUDITED, PROVED, SKIPPED]


def printed(table: Table) -> str:
    out = make_console()
    with out.capture() as captured:
        out.print(table)
    return captured.get()


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_is_the_same_for_the_same_results(form: str) -> None:
    assert FORMATS[form](ALL) == FORMATS[form](ALL)


def test_junit_counts_violations_as_failures_and_the_undecided_as_skipped() -> None:
    suite = ElementTree.fromstring(FORMATS["junit"](ALL))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "6",
        "failures": "1",
        "skipped": "3",
    }


def test_text_in_brackets_is_text() -> None:
    text = printed(verdict_table(ALL))
    assert "1 + [accessed]" in text
    assert "[red] & <odd>" in text


def test_the_summary_counts_rules_and_hides_no_verdict() -> None:
    broken = {"schema": 1, "subject": "mine", "broken": "it answers garbage"}
    text = printed(summary_table([*ALL, broken]))
    assert all(word in text for word in ("violates", "1 inconclusive", "proved", "skipped", "R-EVICT-8", "garbage"))
    assert "R-STATE-1" not in text


def test_the_end_of_the_demo_has_at_most_40_lines_of_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All releases, a part that fails, and a tool that many parts lack."""
    for name, value in {"COLUMNS": "80", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    rules = {rule.value: "conforms" for rule in Rule}
    segmented = {rule: verdict for rule, verdict in rules.items() if rule.startswith("S-")}
    level = {"examples": 470, "steps": 9_000, "verdict": "conforms", "missing": []}
    waived = [{"what": f"limits.{number}", "reason": "waived by a finding"} for number in range(9)]
    levels = dict.fromkeys(("range", "queue", "manager", "reads", "cursors"), level)
    run = {**conformed("conforms"), "levels": levels, "rules": {}, "skipped": waived}
    audit = {"schema": 1, "rules": segmented, "violations": 0, "system": "pulsar-segmented", "engine": "replay"}
    proof = {"grade": "proved", "bounds": "1", "refuted_mutant": "none"}
    proofs = [{**proof, "rule": rule} for rule in rules]
    lacking = [{"what": f"conform pulsar:{number}", "reason": "mvn is missing"} for number in range(9)]
    stream = [
        *({**run, "subject": f"kafka-streams:{number}.3.1"} for number in range(20)),
        *([audit] * 12),
        {**run, "levels": {"range": {**level, "verdict": "violates"}}, "subject": "mine"},
        {"schema": 1, "evidence": proofs},
        {"schema": 1, "skipped": lacking},
    ]
    demo = Demo()
    demo.results = stream
    monkeypatch.setattr("entrycache_dev.demo.Demo", lambda: demo)
    monkeypatch.setattr("entrycache_dev.demo.request_parts", lambda *_: None)
    with pytest.raises(SystemExit):
        demo_main(["--out", str(tmp_path / "out")])
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert len(lines) <= 40
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    assert "R-EVICT-8" not in out
    for words in ("violates", "conform pulsar:0 and 8 more", "more parts", "kafka-streams:0.3.1", "9 exceptions"):
        assert words in out
    assert read_results(tmp_path / "out" / "results.jsonl") == stream
    assert "R-EVICT-8" in (tmp_path / "out" / "results.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([conformed("conforms")], "conforms"),
        ([conformed("conforms"), conformed("nothing-checked")], "not all checked"),
        ([conformed("conforms"), AUDITED], "violates"),
    ],
)
def test_a_badge_is_green_only_where_all_was_checked(results: list[dict[str, Any]], message: str) -> None:
    sealed = [seal_json(result) for result in results]
    assert json.loads(FORMATS["badge"](sealed))["message"] == message


LEVEL: Final = {"examples": 3, "steps": 9, "missing": []}
BROKEN: Final = {**LEVEL, "verdict": "violates"}
WRONG_LEVEL: Final = {**LEVEL, "verdict": "conforms", "rules": {"R-READ-1": {"fired": 1, "verdict": "violates"}}}


def level_of(**changes: Any) -> dict[str, Any]:
    """Return a level that conforms, with these keys changed."""
    return {**LEVEL, "verdict": "conforms", **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"verdict": "conforms", "levels": {"range": BROKEN}},
            "its verdict is 'conforms', and that of its levels is viol",
        ),
        ({"verdict": "violates"}, "its verdict is 'violates', and that of its levels is conforms"),
        ({"verdict": "nothing-checked"}, "its verdict is 'nothing-checked', and that of its levels is conforms"),
        ({"verdict": "conforms", "levels": {}}, "that of its levels is nothing-checked"),
        ({"verdict": 3}, "its verdict is 3"),
        ({"levels": {"range": WRONG_LEVEL}}, "its level range is conforms, and there R-READ-1 is violates"),
        ({"levels": {"range": level_of(examples=0)}}, "its level range conforms after 0 examples and 9 steps"),
        ({"levels": {"range": level_of(steps=0)}}, "its level range conforms after 3 examples and 0 steps"),
        ({"levels": {"range": level_of(rules={})}}, "its level range conforms, and no rule of it does"),
        (
            {"levels": {"range": level_of(rules={"R-READ-1": {"fired": 9, "verdict": "nothing-checked"}})}},
            "its level range conforms, and no rule of it does",
        ),
        (
            {"levels": {"range": level_of(rules={"R-READ-1": {"fired": 0, "verdict": "conforms"}})}},
            "its level range says that R-READ-1 conforms, and that nothing could have shown it broken",
        ),
        (
            {
                "levels": {
                    "range": level_of(rules={"R-READ-1": {"fired": 9, "verdict": "conforms", "detectable": False}})
                }
            },
            "its level range says that R-READ-1 conforms, and that nothing could have shown it broken",
        ),
    ],
)
def test_a_verdict_that_contradicts_its_parts_is_refused_with_its_line(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    good = {**conformed("conforms"), "verdict": "conforms"}
    path.write_text("".join(json.dumps(one) + "\n" for one in (good, {**good, **changes})), "utf-8")
    for form in ("terminal", *FORMATS):
        code, out, err = run(capsys, "report", str(path), "--to", form)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert f"{path}, line 2: " in err
        assert message in err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"system": "kafka-streams"}, "kafka-streams has no level 'range'"),
        ({"system": "pulsar-pip999"}, "its system is 'pulsar-pip999', and there is none of that name"),
        ({"levels": {"lookups": level_of()}}, "pulsar-pip430 has no level 'lookups'"),
        ({"levels": {"range": level_of(missing=["peek"])}}, "pulsar-pip430 has no operation 'peek'"),
        ({"rules": {"K-GET-1": {"fired": 1}}}, "pulsar-pip430 has no rule 'K-GET-1'"),
        (
            {"levels": {"range": level_of(rules={"S-GET-1": {"fired": 9, "verdict": "conforms"}})}},
            "pulsar-pip430 has no rule 'S-GET-1'",
        ),
        (
            {
                "levels": {"range": level_of(rules={"R-READ-1": {"fired": 9, "verdict": "conforms"}})},
                "rules": {"R-READ-1": {"fired": 8}},
            },
            "its levels count 9 steps of R-READ-1, and the whole run 8",
        ),
        ({"levels": {"range": level_of(examples=500)}}, "its level range conforms after 500 examples and 9 steps"),
        (
            {"levels": {"range": {**BROKEN, "rules": {"R-READ-1": {"fired": 9, "verdict": "conforms"}}}}},
            "its level range is violates, and no rule of it is",
        ),
    ],
)
def test_a_run_with_parts_of_another_system_or_wrong_counts_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({**conformed("conforms"), **changes}), "utf-8")
    with pytest.raises(UsageError, match="line 1: ") as caught:
        read_results(path)
    assert message in str(caught.value)


def test_an_audit_with_rules_of_another_system_or_a_wrong_sum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    audited = {**AUDITED, "system": "pulsar-pip430", "violation_counts": {"a": {"R-EVICT-8": 1}}}
    path.write_text(json.dumps(audited), "utf-8")
    assert len(read_results(path)) == 1
    for changes, message in (
        ({"system": "kafka-streams"}, "kafka-streams has no rule 'R-EVICT-8'"),
        ({"system": "x"}, "its system is 'x'"),
        ({"violations": 2}, "its counts by broker and rule have another sum"),
    ):
        path.write_text(json.dumps({**audited, **changes}), "utf-8")
        with pytest.raises(UsageError, match=message):
            read_results(path)


def test_an_edited_result_is_refused_by_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    sealed = [seal_json({**one, "seconds": 1.5}) for one in ALL]
    path.write_text("".join(json.dumps({**one, "seconds": 2.5}) + "\n" for one in sealed), "utf-8")
    assert len(read_results(path)) == len(ALL)
    for one in sealed:
        path.write_text(json.dumps({**one, "subject": "pulsar:5.0.1"}), "utf-8")
        with pytest.raises(UsageError, match="its digest is not that of its content"):
            read_results(path)


def test_a_result_without_a_digest_gets_no_green_badge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    for one, words in (
        (conformed("conforms"), "conforms, with exceptions"),
        (CLEAN, "conforms, with exceptions"),
        (PROVED, "conforms, with exceptions"),
        (seal_json(conformed("conforms")), "conforms"),
        (seal_json(CLEAN), "conforms"),
    ):
        path.write_text(json.dumps(one), "utf-8")
        code, out, _ = run(capsys, "report", str(path), "--to", "badge")
        assert (code, json.loads(out)["message"]) == (0, words)


def test_a_proof_whose_verdict_contradicts_its_problems_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    for verdict, problems, refused in (("conforms", [], False), ("conforms", ["x"], True), ("violates", [], True)):
        path.write_text(json.dumps({**PROVED, "verdict": verdict, "problems": problems}), "utf-8")
        with pytest.raises(UsageError, match="line 1: its verdict is") if refused else nullcontext():
            read_results(path)


def test_a_verdict_that_contradicts_failures_or_violations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    run_result = result("x", [failure("R-READ-1", "x", "range")])
    run_result["levels"] = {**run_result["levels"], "range": conformed("conforms")["levels"]["range"]}
    audited = {"schema": 1, "rules": {"R-EVICT-8": "conforms"}, "violations": 0}
    edited = [
        run_result,
        {**audited, "violations": 3},
        {**audited, "violation_counts": {"a": {"R-EVICT-8": 3}}},
    ]
    for one in edited:
        path.write_text(json.dumps(one), "utf-8")
        with pytest.raises(UsageError, match="line 1: it"):
            read_results(path)
    path.write_text(json.dumps({**audited, "violation_counts": {"a": {"R-EVICT-8": 0}}}), "utf-8")
    assert len(read_results(path)) == 1


@pytest.mark.parametrize(
    "text",
    ["", "no json\n", "{}\n", "[1]\n", *(f'{{"schema":{one},"skipped":[]}}\n' for one in ("true", "1.0", "2"))],
)
def test_a_file_without_results_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError):
        read_results(path)
