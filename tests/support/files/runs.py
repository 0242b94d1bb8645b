"""One broken file and one command that reads it: its end, and what is wrong with that."""

from __future__ import annotations

import contextlib
import io
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.support.command import main_of

CPU_SECONDS_MOST: Final = 10.0
LINE_MOST: Final = 2_100


class Ended(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str
    cpu_seconds: float
    taken: bool = False
    """Return whether it read a file that no command may read."""


def ended(argv: list[str], command: Any = None) -> Ended:
    """Run a command of `entrycache` in this process."""
    out, err = io.StringIO(), io.StringIO()
    start = time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            (command or main_of(argv[0]))(argv)
            code = 0
        except SystemExit as end:
            code = int(end.code or 0) if not isinstance(end.code, str) else 99
    return Ended(code, out.getvalue(), err.getvalue(), time.process_time() - start)


def wrong(end: Ended, path: Path) -> str:
    """Return what is wrong with the end of a command; return "" if it is as documented."""
    lines = end.err.splitlines()
    said = [line for line in lines if line.startswith("entrycache: ")]
    if "Traceback" in end.out + end.err:
        return "a traceback"
    if end.code not in {0, 1, 2}:
        return f"exit {end.code}"
    if end.taken:
        return f"it was read, with exit {end.code}, and could only be refused"
    if end.cpu_seconds > CPU_SECONDS_MOST:
        return f"{end.cpu_seconds:.1f} CPU seconds"
    if any(not line.isprintable() for text in (end.out, end.err) for line in text.split("\n")):
        return "something that is not printable"
    if end.code == 2 and (len(lines) != 1 or len(said) != 1):
        return f"{len(lines)} lines on stderr"
    if end.code == 2 and len(lines[0]) > LINE_MOST:
        return f"a line of {len(lines[0])} signs"
    if end.code == 2 and not names(lines[0], path):
        return "a line that does not name the file"
    return ""


def names(line: str, path: Path) -> bool:
    """Return whether a line names the place: in the file, or in what was made of it."""
    return path.stem in line or re.search(r"nothing was checked|entry \d+|no trace check of that id", line) is not None


Run = Callable[[Path], list[Ended]]
