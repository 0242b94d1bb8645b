"""A false contract: it claims that no decision removes an entry."""

from __future__ import annotations

from entrycache_reference.pulsar_pip430 import decision
from entrycache_reference.pulsar_pip430.config import Settings
from entrycache_reference.pulsar_pip430.state import Entry


def contract(requeues: int, most: int) -> str:
    """Decide about an entry that expects a read.

    pre: requeues >= 0 and most >= 0
    post: __return__ == "REQUEUE_EXPECTED"
    """
    settings = Settings(1000, 0.9, 1, most, True)
    return decision.decide(Entry(1, 0, requeues, False, 1, None), False, settings).action.name
