"""Passes stand one after the other, each between its begin and its end."""

from __future__ import annotations

from entrycache_spark.loops.words import NULL
from entrycache_trace.compiled import compiled


@compiled
def is_out_of_pass(begins: bool, belongs: bool, within: bool, pass_id: int, seq: int, open_pass: int) -> bool:
    """Whether an event that begins a pass, or belongs to one, or stands behind what does, breaks into the open one."""
    if begins:
        return open_pass != NULL or pass_id != seq
    if belongs:
        return pass_id == NULL or open_pass != pass_id
    return within and open_pass != NULL
