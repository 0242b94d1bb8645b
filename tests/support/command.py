"""A command of `entrycache` in this process: what it says, and how it ends."""

from __future__ import annotations

import pytest

from entrycache_cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of a command, its stdout and its stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err
