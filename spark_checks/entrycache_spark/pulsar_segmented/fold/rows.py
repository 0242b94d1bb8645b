"""The columns of a batch, as the loops read them."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_spark.loops.arrays import Names
from entrycache_spark.pulsar_segmented.fold.words import CAUSES, OPS
from entrycache_trace.compiled import Array


class Rows(NamedTuple):
    """The arrays of a batch; `settings`: which row of the batch's table of settings is in force."""

    seq: Array
    ts_ns: Array
    op: Array
    cause: Array
    cache: Array
    ledger_id: Array
    entry_id: Array
    key_hash: Array
    life: Array
    size_bytes: Array
    pass_id: Array
    call_id: Array
    bound: Array
    trigger_bytes: Array
    bytes_after: Array
    manager_bytes: Array
    tail_no: Array
    ticket: Array
    settings: Array


def vocabulary() -> dict[str, Names]:
    """Names as a broker begins with them."""
    return {"op": Names(OPS), "cause": Names(CAUSES), "cache": Names()}
