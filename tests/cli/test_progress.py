"""A command shows its progress on a terminal and leaves nothing of it behind."""

from __future__ import annotations

import itertools
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from entrycache_cli.commands import conform
from entrycache_cli.report.run_text import failure_table
from entrycache_conformance.failure import Table
from entrycache_conformance.shrink import CONFIRMING, SHRINKING


def on_a_terminal(folder: Path, *arguments: str) -> tuple[str, str]:
    """Run a command; return its output, and its output on a terminal."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "entrycache_cli", *arguments]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True) as run:
        os.close(theirs)
        screen = b""
        while True:
            try:
                screen += os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        assert run.stdout is not None
        return run.stdout.read(), screen.decode("utf-8")


@pytest.mark.long
def test_the_bar_names_level_and_shortening_and_is_taken_away(tmp_path: Path) -> None:
    out, screen = on_a_terminal(tmp_path, "conform", "expire-at-the-cutoff", "--level", "queue")
    assert "R-EXPIRE-1 is broken" in out
    assert "expire-at-the-cutoff, level queue" in screen
    assert SHRINKING in screen
    assert CONFIRMING in screen
    assert screen.rstrip().endswith("\x1b[2K")


@pytest.mark.long
@pytest.mark.parametrize("form", ["--quiet", "--json"])
def test_off_a_terminal_lines_tell_how_far_a_failure_is(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(conform, "PROGRESS_SECONDS", 0.0)
    arguments = ["expire-at-the-cutoff", "--level", "queue", "--failures", str(tmp_path), form]
    with pytest.raises(SystemExit) as ended:
        conform.command.main(arguments, standalone_mode=False)
    lines = capsys.readouterr().err.splitlines()
    assert ended.value.code == 1
    for activity in (f"{SHRINKING}: try ", f"{CONFIRMING}: try 1, 0 of about 60 s"):
        assert any(line.startswith(f"expire-at-the-cutoff, level queue: {activity}") for line in lines), lines


def test_off_a_terminal_lines_tell_how_far_a_slow_search_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(step=10)
    monkeypatch.setattr(conform.time, "monotonic", lambda: next(clock))
    lines = conform._ProgressLines("slow")
    for done in range(8):
        lines.notify("range", done, 250)
    for _ in range(3):
        lines.notify("range", 251, 250)
    lines.notify("range", 8, 0, "shrinking")
    assert capsys.readouterr().err.splitlines() == [
        "slow, level range: 2 of 250 runs",
        "slow, level range: 5 of 250 runs",
        "slow, level range: 251 runs, until each rule has fired enough",
        "slow, level range: shrinking",
    ]


@pytest.mark.long
def test_a_level_that_conforms_is_not_said_to_be_shortened(tmp_path: Path) -> None:
    _, screen = on_a_terminal(tmp_path, "conform", "fast", "--level", "range")
    assert "fast, level range" in screen
    assert SHRINKING not in screen


def test_a_narrow_terminal_is_spared_what_was_before_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("title", ("step", "queue before", "queue after"), (("0", "(empty)", "a(1,0)"),), bad=0, wrong=2)
    for width, left_out in ((80, True), (160, False)):
        Console(width=width).print(failure_table(table))
        out = capsys.readouterr().out
        assert ("queue before" not in out, "(empty)" not in out) == (left_out, left_out)
        assert "a(1,0)" in out
