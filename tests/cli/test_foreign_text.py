"""Foreign text stays text, on the terminal and in every file that is made of it."""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands import conform, exit_codes
from entrycache_cli.commands.replay import render_test
from entrycache_cli.report import terminal
from entrycache_cli.report.formats import FORMATS
from entrycache_cli.report.run_text import print_run
from entrycache_conformance.java.program import CLASS_NAME, render_java_test
from entrycache_conformance.known import EntryCheck, EntryState, KnownFailure, KnownReport
from entrycache_conformance.report import RunReport, Skip
from entrycache_protocol.errors import escape_unprintable
from entrycache_protocol.strict_json import seal_json
from tests.support import ROOT
from tests.support.command import run
from tests.support.nasty import NASTY
from tests.support.traces import plant

CLI = ROOT / "conformance" / "entrycache_cli"
PAST_IT = {"click.echo", "click.secho", "print", "Console", "TextColumn", "sys.stdout.write", "sys.stderr.write"}
ALLOWED = {"report/terminal.py": {"click.echo", "TextColumn"}}
"""The modules that print, with the functions that they use."""


def calls(text: str) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}


def test_nothing_is_printed_past_the_one_way_out() -> None:
    bypasses = {
        str(path.relative_to(CLI)): past
        for path in CLI.rglob("*.py")
        if (past := PAST_IT & calls(path.read_text("utf-8")))
    }
    assert bypasses == ALLOWED
    assert PAST_IT & calls("import click\nclick.echo('x')\nprint(1)") == {"click.echo", "print"}


@pytest.mark.parametrize("text", NASTY)
def test_what_is_printed_is_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(text, title=text)
    table.add_row(text)
    terminal.echo(text)
    terminal.make_console().print(text, soft_wrap=True)
    terminal.make_console().print(table)
    terminal.make_console().print(Text(text))
    exit_codes.print_error(text)
    out, err = capsys.readouterr()
    for line in (*out.split("\n"), *err.split("\n")):
        assert line.isprintable(), line
    assert out.count(terminal.escape(text)) >= 2
    assert err == f"entrycache: {escape_unprintable(text)}\n"


def test_on_a_terminal_too_colours_are_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = terminal.make_console()
    with out.capture() as captured:
        out.print(terminal.coloured_verdict("violates"), "[red]\x1b[31m")
    assert captured.get() == "\x1b[31mviolates\x1b[0m [red]\\x1b[31m\n"


def results(text: str) -> list[dict[str, Any]]:
    level = {"examples": 3, "steps": 9, "verdict": "conforms", "missing": []}
    run = {"schema": 1, "subject": text, "system": "kafka-streams", "levels": {"cache": level}, "rules": {}}
    proof = {"rule": text, "grade": text, "bounds": text, "refuted_mutant": text}
    return [
        run,
        {"schema": 1, "evidence": [proof]},
        {"schema": 1, "rules": {text: text}, "violations": 0, "engine": text},
        {"schema": 1, "skipped": [{"what": text, "reason": text}]},
    ]


@pytest.mark.parametrize("text", NASTY)
def test_a_report_shows_text_as_text(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(seal_json(result)) + "\n" for result in results(text)), "ascii")
    said = {form: run(capsys, "report", str(path), "--to", form) for form in ("terminal", *FORMATS)}
    assert {(code, err) for code, _, err in said.values()} == {(0, "")}
    for _, out, _ in said.values():
        assert all(line.isprintable() for line in out.split("\n"))
    names = [case.get("classname") for case in ElementTree.fromstring(said["junit"][1].encode()).iter("testcase")]
    name = escape_unprintable(text)
    assert names == [f"{name}, level cache", "proof", f"audit, {name}", name]
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(said["markdown"][1])
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 4 * 5 + 1 + 2  # the provenance of the audit; the name and the verdict of the run
    assert {child.type for cell in cells for child in cell.children or ()} <= {"text", "text_special"}
    assert [cell.content for cell in cells[4:5]] != []
    contents = ["".join(child.content for child in cell.children or ()) for cell in cells]
    assert contents[4] == escape_unprintable(text).strip()
    assert contents[22] == f"engine {escape_unprintable(text)}".rstrip()


@pytest.mark.parametrize("text", NASTY)
def test_a_test_of_pytest_runs_nothing_of_a_case(text: str) -> None:
    case = {
        "system": "pulsar-pip430", "config": {}, "note": text, "rules": [text],
        "steps": [{"op": "exists", "cache": text, "pos": [0, 0]}], "outcomes": [{"exists": text}],
    }  # fmt: skip
    module = ast.parse(render_test(case, "pytest", [text]))
    kinds = [type(node) for node in module.body]
    assert kinds == [ast.Expr, *[ast.Import] * 3, *[ast.Assign] * 7, ast.FunctionDef, ast.FunctionDef]
    names: dict[str, Any] = {}
    exec(compile(module, "test_case.py", "exec"), names)  # the effect of collecting it
    assert names["NOTE"] == text
    assert names["COMMAND"] == [text]
    assert names["RULES"] == [text]
    assert names["STEPS"] == case["steps"]
    assert names["OUTCOMES"] == case["outcomes"]


JAVAC = shutil.which("javac")


@pytest.mark.long
@pytest.mark.skipif(JAVAC is None, reason="javac is not there")
def test_a_java_test_holds_text_in_comments_and_literals_only(tmp_path: Path) -> None:
    """Check that each comment ends where it should: without it the files are equal."""
    codes = set()
    for text in NASTY:
        case = {"system": "pulsar-pip430", "config": {}, "note": text, "rules": [text], "steps": [], "outcomes": []}
        written = render_java_test(case)
        codes.add(re.sub(r"/\*.*?\*/", "", re.sub(r"\\u+002a", "*", written), flags=re.DOTALL))
    assert len(codes) == 1
    step = {"op": "insert", "cache": "\n".join(NASTY), "pos": [0, 0], "size": 1}
    case = {"system": "pulsar-pip430", "config": {}, "steps": [step], "outcomes": [{"inserted": True}]}
    source = tmp_path / f"{CLASS_NAME}.java"
    source.write_text(render_java_test(case), "utf-8")
    argv = [str(JAVAC), "-proc:none", "-encoding", "UTF-8", "-d", str(tmp_path), str(source)]
    said = subprocess.run(argv, capture_output=True, text=True, check=False).stderr
    missing = re.compile(r"package .* does not exist|cannot find symbol|static import only")
    wrong = [line for line in said.splitlines() if "error:" in line and not missing.search(line)]
    assert wrong == [], "without the class path nothing but that is wrong"
    assert "error:" in said


FIELDS = [("rules", ["[/red]\x1b[31m"]), ("rules", "K"), ("note", 7), ("outcomes", {}), ("got", 1)]


@pytest.mark.parametrize(("name", "value"), FIELDS)
def test_a_case_with_a_field_of_another_kind_is_refused(
    name: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "case.json"
    for whole in ({"steps": []}, {"clients": [[]]}):
        path.write_text(json.dumps({"system": "pulsar-pip430", **whole, name: value}), "utf-8")
        code, out, err = run(capsys, "replay", str(path), "fast")
        if name in {"outcomes", "got"} and "clients" in whole:
            continue
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert f"the {name} of the " in err
        assert err.rstrip("\n").isprintable()


NAMES = [text for text in NASTY if "\x00" not in text and "\ud800" not in text]
"""Names that a file may have."""


@pytest.mark.parametrize("text", NAMES)
def test_the_name_and_the_note_of_a_case_are_text(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{text.replace('/', '-')}.json"
    step = {"op": "insert", "cache": text, "pos": [0, 0], "size": 1}
    path.write_text(json.dumps({"system": "pulsar-pip430", "steps": [step], "note": text}), "utf-8")
    for subject, expected in (("fast", 0), ("insert-refuses-nothing", 2)):
        code, out, err = run(capsys, "replay", str(path), subject)
        assert code == expected
        assert all(line.isprintable() for line in (out + err).split("\n"))
        assert expected or out.startswith(f"{escape_unprintable(str(path))}: "), "a name is in one line"


def test_known_failures_and_refusals_are_reported_in_a_line_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "two\nentrycache: all conforms"
    entry = KnownFailure(1, text, text, text, (text,), text, {}, {}, text, text)
    report = RunReport("s", None, "pulsar-pip430", {}, {}, {}, (), (Skip("level range", text),))
    known = KnownReport(
        report,
        tuple(EntryCheck(entry, state, text, text, {}, {}) for state in (EntryState.FAILS, EntryState.PASSES)),
        (),
    )
    assert conform.print_problems(known, None, 0) == 1
    assert conform.print_problems(known, [text], 0) == 0
    (fails,) = conform.known_lines(known)
    print_run(report, "seed 0")
    out, err = capsys.readouterr()
    assert [line.split("(")[0] for line in err.splitlines()] == [
        "entrycache: entry 1 ",
        "entrycache: two\\nentrycache: all conforms",
    ]
    assert fails.isprintable()
    assert "\n  level range: two\\nentrycache: all conforms\n" in out


@pytest.mark.long
def test_the_names_in_a_trace_are_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (honest,) = plant.honest(tmp_path / "honest", 300, 1).values()
    plant.wrong_tickets(honest, random.Random(1))
    rows = [row for text in NAMES for row in plant.renamed(honest, text)]
    trace = plant.write(tmp_path / "trace", rows, source=NAMES[0])
    local = ("--backend", "local", "--out", str(tmp_path / "out"))
    inspection, audit = run(capsys, "trace", "inspect", str(trace)), run(capsys, "audit", str(trace), *local)
    assert (inspection[0], inspection[2]) == (0, "")
    assert all(terminal.escape(text).split("\n")[0].split(" ")[0] in inspection[1] for text in NAMES)
    assert (audit[0], audit[2]) == (1, "")
    for line in (*inspection[1].split("\n"), *audit[1].split("\n")):
        assert line.isprintable(), line
    assert f"source: {escape_unprintable(NAMES[0])}" in inspection[1]
    assert f"R-EVICT-8: broker {escape_unprintable(min(NAMES))}" in audit[1]


def test_the_rows_around_a_violation_are_shown_and_it_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (honest,) = plant.honest(tmp_path / "honest", 300, 1).values()
    plant.wrong_tickets(honest, random.Random(1))
    trace = plant.write(tmp_path / "trace", honest)
    local = ("--backend", "local", "--out", str(tmp_path / "out"))
    out = run(capsys, "audit", str(trace), *local)[1]
    title = re.search(r"R-EVICT-8: the rows around seq (\d+) of broker", out)
    assert title is not None
    seq = int(title[1])
    rows = re.findall(r"^│ (.) +│ +(\d+) +│ (op=|ts_ns=)", out[title.end() :], re.M)[:7]
    assert [int(number) for _, number, _ in rows] == list(range(seq - 3, seq + 4))
    assert [number for mark, number, _ in rows if mark == ">"] == [str(seq)]
