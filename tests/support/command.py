"""A command of `entrycache` in this process: what it says, and how it ends."""

from __future__ import annotations

import click
import pytest

from entrycache_cli.commands import MOVED
from entrycache_cli.main import main
from entrycache_dev import commands as contributors


def package_of(command: str) -> str:
    """Return the package whose `python -m` runs a command: benchmarks are not in the wheel."""
    return "entrycache_dev" if command in MOVED else "entrycache_cli"


def main_of(command: str) -> click.Command:
    """Return the command line that runs a command."""
    return contributors.main if command in MOVED else main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of a command, its stdout and its stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main_of(arguments[0] if arguments else "")(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err
