"""All kinds of files by name, and many broken ones of a kind."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.support.files.kinds import KINDS, try_broken_file
from tests.support.files.runs import Ended, wrong
from tests.support.files.traces import EVENT_LINES, tried_trace

NAMES: Final = (*(kind.name for kind in (*KINDS, EVENT_LINES)), "trace")


def tried_kind(name: str, seed: str, folder: Path) -> tuple[Path, Ended]:
    """Let a command read the broken file or trace of a seed."""
    if name == "trace":
        return tried_trace(seed, folder)
    return try_broken_file(next(kind for kind in (*KINDS, EVENT_LINES) if kind.name == name), seed, folder)


def faults(name: str, seeds: Iterable[str], folder: Path) -> list[str]:
    """Return a line for each seed whose file did not end as documented, with the command that repeats it."""
    messages = []
    for seed in seeds:
        path, end = tried_kind(name, seed, folder)
        why = wrong(end, path)
        if why:
            messages.append(f"{why}: python -m tests.support.files {name} {seed}: {end.err[-500:]}")
        shutil.rmtree(folder, ignore_errors=True)
    return messages
