"""One run for all workers of pytest-xdist: the first that needs it makes it, the others wait and read it."""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from entrycache_conformance.known.run import KnownReport

Answer = KnownReport | Exception
"""What a run gives all tests: its report, or why there is none."""


def place_of(config: pytest.Config) -> Path | None:
    """The folder that the workers of this session share; None where there is one process only."""
    if not hasattr(config, "workerinput"):
        return None
    return Path(config.getoption("basetemp")).parent


def once(place: Path | None, make: Callable[[], Answer]) -> Answer:
    """What `make` gives, in one of the processes that share this folder; the others read what it has left there."""
    if place is None:
        return make()
    kept = place / "entrycache-run"
    with (place / "entrycache-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            found: Answer = pickle.loads(kept.read_bytes())  # this session has written it
            return found
        answer = make()
        kept.write_bytes(pickle.dumps(_told(answer)))
        return answer


def _told(answer: Answer) -> Answer:
    """The answer without the failing cases, which stand in files."""
    if isinstance(answer, Exception):
        return answer
    report = replace(answer.report, failures=tuple(replace(each, found=None) for each in answer.report.failures))
    return KnownReport(report, answer.checked, ())
