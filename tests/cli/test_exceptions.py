"""Exceptions to a verdict are beside it, in every form."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from entrycache_cli.commands import conform
from entrycache_cli.report import content, formats
from entrycache_cli.report.run_text import print_run
from entrycache_conformance import resolve
from entrycache_conformance.judge import Coverage
from entrycache_conformance.report import (
    WITH_EXCEPTIONS,
    Exemption,
    LevelReport,
    RuleReport,
    RunMetadata,
    RunReport,
    Skip,
    build_report,
)
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.subjects.wrappers import NarrowedSubject
from entrycache_protocol.errors import Verdict
from tests.support import ROOT
from tests.support.command import run

ADAPTER: Final = ROOT / "conformance/entrycache_cli/templates/adapters/python/my_cache.py.txt"
LIMITS: Final = 'settings = ("max_size_bytes",)\n    limits = {"max_size": 100}\n    fixed = {"ttl_nanos": 7}'
METADATA: Final = RunMetadata(0, "dev", "search", {})
WORDS: Final = ("limits.max_size = 100", "ttl_nanos = 7")
"""The words that each form must have."""


@pytest.fixture
def limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the sample adapter with a limit and a fixed setting, as a module of the current folder."""
    text = ADAPTER.read_text("utf-8").replace('settings = ("max_size_bytes",)', LIMITS)
    (tmp_path / "limited_cache.py").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "limited_cache:MyCache"


@pytest.mark.long
def test_every_form_names_the_exceptions(limited: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", limited, "--level", "range", "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["given"]) == (0, "conforms", limited)
    assert {one["kind"] for one in result["exceptions"]} == {"limit", "fixed setting"}
    for name, form in formats.FORMATS.items():
        text = form([result])
        assert WITH_EXCEPTIONS in text, name
        assert name == "badge" or all(word in text.replace("\\", "") for word in WORDS), name
    assert json.loads(formats.render_badge([result]))["color"] == "yellowgreen"
    for options in ([], ["-q"]):
        code, out, _ = run(capsys, "conform", limited, "--level", "range", *options)
        assert (code, f"MyCache: {WITH_EXCEPTIONS}" in out, all(word in out for word in WORDS)) == (0, True, True), out
        assert f"given as {limited}" in out


@pytest.mark.long
def test_one_line_names_what_was_skipped_and_the_class_prints_to_stderr(
    limited: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (tmp_path / "limited_cache.py").read_text("utf-8").replace("import Refuse,", "import Refuse, Skip,")
    text = text.replace(
        "    def clear(self, cache):\n",
        "    def clear(self, cache):\n        print('MyCache: conforms')\n"
        "        if len(self.caches.get(cache, ())) > 3:\n"
        "            raise Skip('too many to clear')\n",
    )
    (tmp_path / "skipping_cache.py").write_text(text.replace('limits = {"max_size": 100}', ""), "utf-8")
    code, out, err = run(capsys, "conform", "skipping_cache:MyCache", "--level", "range", "-q")
    assert (code, len(out.splitlines())) == (0, 1)
    assert "skipped range: " in out and "(too many to clear)" in out
    assert "MyCache: conforms" in err.splitlines()


@pytest.mark.long
def test_the_plugin_names_the_exceptions(limited: str, tmp_path: Path) -> None:
    options = [f"--entrycache-subject={limited}", "--entrycache-levels=range"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert all(word in done.stdout for word in WORDS), done.stdout


def test_without_exceptions_a_subject_conforms(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "conform", "fast", "--level", "range", "--json")
    result = json.loads(out)
    assert (code, result["exceptions"]) == (0, [])
    assert json.loads(formats.render_badge([result]))["color"] == "brightgreen"
    assert "<title>entrycache: conforms</title>" in formats.FORMATS["html"]([result])


def test_a_class_path_is_an_exception_with_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / "classes"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "B.class").write_bytes(b"one")
    report = RunReport("s", None, "pulsar-pip430", {"range": LevelReport(verdict=Verdict.CONFORMS)}, {}, {}, (), ())
    choice = resolve.SubjectChoice("pulsar:4.2.4", classpath=str(folder))
    (first,) = content.add_metadata(report, RunMetadata(0, "dev", "search", {}), choice).exceptions
    (folder / "a" / "B.class").write_bytes(b"other")
    (second,) = content.add_metadata(report, RunMetadata(0, "dev", "search", {}), choice).exceptions
    assert (first.kind, first.what) == ("class path", "classes")
    assert first.reason != second.reason


def test_a_waived_finding_stands_once_in_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    limits = dataclasses.replace(subject.declaration.limits, tail_ties=False)
    waived = dataclasses.replace(subject.declaration, limits=limits, findings={"limits.tail_ties": "some-finding"})
    report = build_report(NarrowedSubject(subject, waived), Coverage(), {}, [Skip("level reads", "something else")])
    assert [skip.what for skip in report.skipped] == ["level reads", "limits.tail_ties"]
    print_run(report)
    out = capsys.readouterr().out
    assert (out.count("some-finding"), "skipped: 1" in out, "level reads: something else" in out) == (1, True, True)
    assert formats.render_markdown([report.to_json()]).replace("\\", "").count("some-finding") == 1


def test_every_form_names_the_requested_rules() -> None:
    level = LevelReport(400, 9_000, Verdict.CONFORMS, rules={"R-READ-1": RuleReport(5, Verdict.CONFORMS)})
    rules = Exemption("rules", "R-READ-1", "only these rules count")
    report = RunReport("s", None, "pulsar-pip430", {"range": level}, {}, {}, (), (), METADATA, (rules,))
    for name, form in formats.FORMATS.items():
        text = form([report.to_json()])
        assert WITH_EXCEPTIONS in text, name
        assert name == "badge" or "only these rules count" in text.replace("\\", ""), name


def test_a_name_that_a_program_gives_itself_stands_beside_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Any program may call itself `pulsar:4.2.4`."""
    level = LevelReport(400, 9_000, Verdict.CONFORMS, rules={"R-READ-1": RuleReport(5, Verdict.CONFORMS)})
    named = RunReport("pulsar:4.2.4", None, "pulsar-pip430", {"range": level}, {}, {}, (), ())
    report = content.add_metadata(named, METADATA, resolve.SubjectChoice(None, command="node cache.mjs"))
    print_run(report)
    conform.print_briefly(report)
    out = capsys.readouterr().out
    assert "pulsar:4.2.4 (given as node cache.mjs) beside the reference" in out
    assert "pulsar:4.2.4: conforms (range conforms) (given as node cache.mjs)" in out
    for name, form in formats.FORMATS.items():
        assert name == "badge" or "node cache.mjs" in form([report.to_json()]), name


def test_a_report_on_the_terminal_names_the_exceptions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    level = LevelReport(400, 9_000, Verdict.CONFORMS, rules={"R-READ-1": RuleReport(5, Verdict.CONFORMS)})
    limit, skip = Exemption("limit", "limits.max_size = 100", "declared"), Skip("range", "2 runs (too large)")
    report = RunReport("mine", None, "pulsar-pip430", {"range": level}, {}, {}, (), (skip,), METADATA, (limit,))
    report = dataclasses.replace(report, given="mine:Cache")
    (tmp_path / "result.json").write_text(json.dumps(report.to_json()), "utf-8")
    code, out, _ = run(capsys, "report", str(tmp_path / "result.json"), "--to", "terminal")
    assert (code, f"mine (given as mine:Cache): {WITH_EXCEPTIONS}" in out) == (0, True), out
    assert "except limit: limits.max_size = 100 (declared)" in out
    assert "range: 2 runs (too large)" in out


def test_each_text_names_the_rules_that_no_answer_could_have_shown_broken(capsys: pytest.CaptureFixture[str]) -> None:
    hidden, decided = RuleReport(753, Verdict.NOTHING_CHECKED, False), RuleReport(60, Verdict.CONFORMS)
    low = LevelReport(400, 9_000, Verdict.CONFORMS, rules={"R-READ-1": decided, "R-READ-2": hidden})
    high = LevelReport(
        400, 9_000, Verdict.CONFORMS, rules={"R-READ-1": hidden, "R-READ-2": hidden, "R-LEDGER-12": hidden}
    )
    report = RunReport("s", None, "pulsar-pip430", {"range": low, "ledger": high}, {}, {}, (), (), METADATA)
    assert report.undetectable_rules == ("R-LEDGER-12", "R-READ-2")
    print_run(report)
    conform.print_briefly(report)
    texts = [*capsys.readouterr().out.split("skipped: 0"), formats.render_markdown([report.to_json()])]
    assert [text.count("not checked: R-LEDGER-12, R-READ-2 (") for text in texts] == [1, 1, 1]
