"""Holding a class of an author to the rules, in a test of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entrycache_protocol.author import Subject


def check(
    subject: type[Subject],
    levels: Sequence[str] | None = None,
    examples: int = 400,
    *,
    seed: int = 0,
    failures: str | Path | None = None,
) -> None:
    """Judge a class beside the reference, in this process.

    `levels`: None, all of which it offers an operation. `examples`: cases a level. With `failures`, a folder, the
    failing case is written there, for `entrycache replay`. There is no time-out: `entrycache conform` has one.

    Raises:
        AssertionError: it breaks a rule, or so little was met that nothing was checked; the text says which rule,
            and shows the shortest sequence with what was expected and got.
        EntrycacheError: the class is no subject; one line says why.
    """
    __tracebackhide__ = True
    from entrycache_conformance.check import check as run_check  # noqa: PLC0415 -- the runner knows the protocol

    run_check(subject, levels, examples, seed, None if failures is None else Path(failures))
