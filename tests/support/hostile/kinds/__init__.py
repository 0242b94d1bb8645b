"""Subjects that misbehave, by kind. Only the standard library.

Each speaks the protocol and answers a small part of the level `range` rightly, except for its one
misbehaviour. `KINDS` says, beside it, how a run of the suite has to end.
"""

from __future__ import annotations

import sys
from pathlib import Path

# each of these registers its kinds
from . import answers, at_start, hello, leaks, outcomes, repeats, run_bytes, silence, strange, unusual  # noqa: F401
from .speaker import KINDS, Speaker
from .strange import AFTER_OTHERS, IN_LONG, SELDOM
from .unusual import IN_FULL

__all__ = ["AFTER_OTHERS", "IN_FULL", "IN_LONG", "KINDS", "SELDOM", "main"]


def main() -> None:
    """`KIND SCRATCH`: be that subject."""
    speaker = Speaker(Path(sys.argv[2]))
    KINDS[sys.argv[1]].misbehave(speaker)
    speaker.serve()
