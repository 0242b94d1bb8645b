"""JUnit XML: a test case for each rule and level, with the table and the replay command in its failure."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from entrycache_cli.report.formats import render_markdown
from entrycache_cli.report.junit import render_junit
from tests.support.command import run
from tests.support.runs import failure, result

SUBJECT = "mine"
TWICE = [failure("R-EXPIRE-1", "x", "queue", "a.json"), failure("R-EXPIRE-1", "x", "reads", "b.json")]


def suites(results: list[dict[str, Any]]) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render_junit(results))
    return {str(suite.get("name")): suite for suite in root}


def case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    (only,) = (one for one in suite if one.get("name") == name)
    return only


def test_a_test_case_is_a_rule_at_a_level() -> None:
    suite = suites([result(SUBJECT, TWICE)])["mine, level queue"]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        **{"tests": "3", "failures": "1"},
        **{"errors": "0", "skipped": "1"},
    }
    assert len(case(suite, "R-STATE-1")) == 0
    assert case(suite, "R-EVICT-2")[0].tag == "skipped"
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties["seed"] == "7"
    assert properties["version of subject"] == SUBJECT


def test_a_failure_is_reported_once_in_full() -> None:
    by_name = suites([result(SUBJECT, TWICE)])
    whole = case(by_name["mine, level queue"], "R-EXPIRE-1")[0]
    assert whole.get("message") == 'R-EXPIRE-1: expected {"entries": 0}, got {"entries": "x"}'
    for part in ("expire  cache=x", "config ttl_nanos=x", "expected: ", "got:      ", "level reads (b.json)"):
        assert part in str(whole.text)
    assert str(whole.text).endswith("replay it: entrycache replay a.json x")
    again = case(by_name["mine, level reads"], "R-EXPIRE-1")[0]
    assert again.get("message") == "the failure of R-EXPIRE-1 at level queue"
    assert "case file" not in str(again.text)


def test_a_failure_carries_the_sentence_and_the_source_of_its_rule() -> None:
    audit = {"schema": 1, "rules": {"R-EXPIRE-1": "violates", "R-EVICT-8": "nothing-checked"}, "violations": 1}
    by_name = suites([result(SUBJECT, TWICE), audit])
    texts = [str(case(suite, "R-EXPIRE-1")[0].text) for suite in by_name.values()]
    assert len(texts) == 3
    for text in texts:
        sentence, source, address = text.splitlines()[:3]
        assert sentence.startswith("R-EXPIRE-1 MUST: A time pass MUST remove or requeue only entries")
        assert source.startswith("source: RangeCacheRemovalQueue.")
        assert address.startswith("https://github.com/apache/pulsar/blob/v4.2.4/managed-ledger/")
    assert case(by_name["audit, spark"], "R-EVICT-8")[0].text is None


def test_times_stand_where_the_stream_holds_them() -> None:
    value = result(SUBJECT, [])
    assert "time=" not in render_junit([value])
    value["levels"]["queue"]["seconds"] = 1.25
    assert suites([value])["mine, level queue"].get("time") == "1.250"


def test_audits_and_proofs_say_how_they_were_made() -> None:
    provenance = {"subject": "kafka", "engine": "local", "versions": {"duckdb": "2"}}
    audit = {"schema": 1, "rules": {"R-EVICT-8": "conforms"}, "violations": 0, "trace": "t", **provenance}
    proof = {"schema": 1, "evidence": [], "skipped": [], "profile": "long", **provenance}
    (suite,) = suites([audit]).values()
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {"subject": "kafka", "trace": "t", "engine": "local", "version of duckdb": "2"}
    text = render_markdown([audit, proof])
    assert "trace t, engine local, duckdb 2" in text
    assert "profile long, engine local, duckdb 2" in text


def test_markdown_reports_each_failure_once_in_full() -> None:
    text = render_markdown([result(SUBJECT, TWICE, seconds=1.25)])
    assert "seed 7, profile dev, engine search, seconds 1.25" in text
    assert text.count("### R-EXPIRE-1, level queue") == 1
    assert "level reads (b.json)" in text
    for part in (
        "    > 1  expire  cache=x",
        "    expected: ",
        "    got:      ",
        "    replay it: entrycache replay a.json x",
    ):
        assert part in text


def test_one_run_writes_its_result_and_its_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {form: tmp_path / "deep" / f"out.{form}" for form in ("junit", "html")}
    options = [part for form, file in files.items() for part in (f"--{form}", str(file))]
    base = ["conform", "expire-at-the-cutoff", "--level", "queue", "--failures", str(tmp_path)]
    code, out, _ = run(capsys, *base, "--json", *options)
    assert code == 1
    stream = tmp_path / "results.json"
    stream.write_text(out)
    for form, file in files.items():
        assert run(capsys, "report", str(stream), "--to", form)[1] == file.read_text("utf-8")
    (failure,) = json.loads(out)["failures"]
    assert run(capsys, *shlex.split(failure["replay"])[1:])[0] == 1
    assert json.loads(out)["versions"].keys() >= {"entrycache", "python", "subject"}
    assert {json.loads(out)[name] for name in ("seed", "profile", "engine")} == {0, "dev", "search"}


def test_a_broken_subject_is_an_error_in_every_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.xml"
    command = shlex.join([sys.executable, "-I", "-S", "-c", "print('no protocol')"])
    code, out, err = run(capsys, "conform", "--command", command, "--json", "--junit", str(file))
    assert (code, len(err.splitlines())) == (3, 1)
    value = json.loads(out)
    assert value["broken"] in err
    assert (value["seed"], value["verdict"]) == (0, "nothing-checked")
    (error,) = ElementTree.parse(file).iter("error")
    assert error.get("message") == value["broken"]


MUTE = """
import json, sys
offer = {"ops": ["usage"], "config": []}
who = {"name": "mute", "version": "7.7", "source": "<b>here</b>"}
for line in sys.stdin:
    start = json.loads(line)["cmd"] == "start"
    told = {"version": 1, "implementation": who, "systems": {"pulsar-pip430": offer}}
    print(json.dumps(told) if start else "?", flush=True)
"""


def test_a_broken_subject_says_how_the_run_was_made_in_every_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, files = tmp_path / "mute.py", {form: tmp_path / form for form in ("junit", "html")}
    program.write_text(MUTE)
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    options = [part for form, file in files.items() for part in (f"--{form}", str(file))]
    code, out, _ = run(capsys, "conform", "--command", command, "--seed", "7", "--bulk", "1.5", "--json", *options)
    value = json.loads(out)
    assert (code, value["seed"], value["profile"], value["versions"]["subject"]) == (3, 7, "dev", "7.7")
    assert (value["system"], value["source"]) == ("pulsar-pip430", "<b>here</b>")
    assert value["engine"] == "search, then bulk for 1.5 s a level (rules counted at one step in 16)"
    properties = {one.get("name"): one.get("value") for one in ElementTree.parse(files["junit"]).iter("property")}
    assert properties.keys() >= {"subject", "system", "source", "seed", "profile", "engine", "version of subject"}
    assert (properties["seed"], properties["version of subject"]) == ("7", "7.7")
    stream = tmp_path / "results.json"
    stream.write_text(out)
    markdown = run(capsys, "report", str(stream), "--to", "markdown")[1]
    assert (
        "seed 7, profile dev, engine search, then bulk for 1.5 s a level (rules counted at one step in 16), "
        in markdown
    )
    page = files["html"].read_text("utf-8")
    for text in (markdown, page):
        assert "<b>here" not in text
    assert "subject 7.7" in markdown
    assert '"version of subject","7.7"' in page
    assert (
        '"seed","7","profile","dev","engine","search, then bulk for 1.5 s a level (rules counted at one step in 16)"'
        in page
    )
    assert run(capsys, "report", str(stream), "--to", "html")[1] == page


@pytest.mark.long
def test_a_subject_that_ends_on_a_case_without_steps_is_in_each_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "dies.py"
    start = {"version": 1, "systems": {"pulsar-pip430": {"ops": ["usage"]}}, "implementation": {"name": "<b>dies</b>"}}
    program.write_text(
        f"import sys\ninput()\nprint({json.dumps(json.dumps(start))}, flush=True)\ninput()\nsys.exit(9)\n"
    )
    files = ["--junit", str(tmp_path / "junit"), "--html", str(tmp_path / "html")]
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    code, out, err = run(
        capsys, "conform", "--command", command, "--level", "range", "--failures", str(tmp_path / "cases"), *files
    )
    assert (code, "R-LIVENESS-2 is broken before any step" in out) == (1, True), out + err
    assert "the process ended" in " ".join(out.replace("│", " ").split())
    junit = (tmp_path / "junit").read_text("utf-8")
    assert "R-LIVENESS-2" in junit
    assert "(none: a run with this configuration is enough)" in junit
    page = (tmp_path / "html").read_text("utf-8")
    assert "R-LIVENESS-2" in page
    assert "<b>dies</b>" not in page
