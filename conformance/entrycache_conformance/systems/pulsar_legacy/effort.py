"""How much playing a case of `pulsar-legacy` may cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.config import Config


def effort(config: Config, steps: Sequence[Any]) -> int:
    """How many entries the reference copies at most: a read once for each position of its range, all else once.

    Entries are added by inserts and by reads, so no step meets more than these have named.
    """
    named = copied = 0
    for op in steps:
        times = max(1, op.last.entry - op.first.entry + 1) if isinstance(op, ops.Read) else 1
        named += times if isinstance(op, ops.Read | ops.Insert) else 0
        copied += times * (named + 1)
    return copied
