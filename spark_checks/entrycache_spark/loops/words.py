"""What all loops speak in: null, and a note that a rule's window has to look."""

from __future__ import annotations

from typing import Any, Final

from entrycache_trace.compiled import Array, compiled

NULL: Final = -(1 << 63)
"""Null in a column of integers; no column of a trace may hold it but `key_hash`."""


def no_flags(rules: int) -> Array:
    """A table with a row a rule: how often something was met that the rule's window has to look at, and where first."""
    import numpy as np  # noqa: PLC0415 - of the extra `trace`

    return np.zeros((rules, 2), np.int64)


@compiled
def flag(flags: Any, rule: int, seq: int) -> None:
    """Note that a rule's window has to look at an event."""
    if flags[rule, 0] == 0:
        flags[rule, 1] = seq
    flags[rule, 0] += 1


@compiled
def differ(told: int, wanted: int) -> bool:
    """Whether two numbers are known to be two."""
    return told != NULL and wanted != NULL and told != wanted


@compiled
def apart(name: int, other: int) -> bool:
    """Whether two names are known to be two."""
    return name != 0 and other != 0 and name != other
