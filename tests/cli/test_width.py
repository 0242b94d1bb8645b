"""A terminal of 80 columns breaks no name, in any table."""

from __future__ import annotations

import json
import random
import re

import pytest
from rich.table import Table
from rich.text import Text

from entrycache_cli.report import terminal
from entrycache_cli.report.run_text import failure_table
from entrycache_conformance.failure import Table as CaseTable
from tests.support.command import run


@pytest.fixture(autouse=True)
def narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COLUMNS": "80", "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)


def words(out: str) -> set[str]:
    """Return the words of a text without escape sequences and without the lines of a table; check its width."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
    assert all(len(line) <= 80 for line in lines)
    return {word for line in lines for word in re.sub("[┃│]", " ", line).split()}


@pytest.mark.parametrize("seed", range(40))
def test_no_table_breaks_a_word(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Words of other lengths and tables of 1 to 9 columns: with lines, without lines, as a list."""
    source = random.Random(seed)
    numbers = iter(range(10_000))

    def cell() -> str:
        lengths = [source.choice((4, 8, 20, 40)) for _ in range(source.randint(1, 6))]
        return " ".join(str(next(numbers)).rjust(length, "n") for length in lengths)

    columns = [cell() for _ in range(source.randint(1, 9))]
    rows = [[cell() for _ in columns] for _ in range(3)]
    table = Table(*columns, title=cell())
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    terminal.make_console().print(table)
    expected = {word for text in (*columns, *(each for row in rows for each in row)) for word in text.split()}
    out = capsys.readouterr().out
    assert not expected - {word.rstrip(":") for word in words(out)}
    assert str(table.title or "") in " ".join(out.split())


def test_a_word_that_no_name_is_as_long_as_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("what", "value")
    table.add_row("bytes", "x" * 200)
    terminal.make_console().print(table)
    out = capsys.readouterr().out
    assert out.count("x") == 200
    assert "bytes" in words(out)


def test_the_names_of_subjects_and_faults_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "subjects", "--json")
    assert code == 0
    subjects = json.loads(out)["subjects"]
    for command in ("subjects", "faults"):
        _, out, _ = run(capsys, command)
        if command == "subjects":
            assert {one["name"] for one in subjects} <= words(out)
        assert "config-grace-follows-ttl" in words(out)


def test_the_steps_of_a_failure_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("step", "op", "queue before", "expected", "got", "rule", "queue after")
    answers = ('{"entries": 0, "bytes": 0}', '{"entries": 1, "bytes": 1}')
    row = ("1", "expire  older_than_nanos=0", "a(1,0) 1B", *answers, "R-EXPIRE-1", "a(1,0) 1B")
    terminal.make_console().print(failure_table(CaseTable("R-EXPIRE-1 is broken", columns, (row,), "", 0)))
    out = capsys.readouterr().out
    assert {"older_than_nanos=0", "R-EXPIRE-1", '{"entries":', "a(1,0)"} <= words(out)
    assert len(out.splitlines()) < 10


def test_a_long_text_of_a_case_is_cut_in_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    value = json.dumps("v" * 5_242_880)
    row = ("0", f'put  key="x"  value={value}  topic="t"', "{}", "{}", "")
    columns = ("step", "op", "expected", "got", "rule")
    terminal.make_console().print(failure_table(CaseTable("K-EVICT-4 is broken", columns, (row,), "", 0)))
    out = capsys.readouterr().out
    assert len(out) < 2_000
    assert "(5242880 characters)" in " ".join(re.sub("[┃│]", " ", out).split())
    assert 'topic="t"' in out
