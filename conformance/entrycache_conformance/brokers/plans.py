"""What a recorded broker is set to, and what its clients do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Plan:
    """Settings of the broker's cache, and the work of the clients.

    Half of what is sent is read as it comes, by subscriptions that are there all the time, one of them Key_Shared; the
    other half of the deliveries goes to subscriptions that connect late and catch up.
    """

    what: str
    cache_mib: int = 8
    ttl_millis: int = 1_000
    interval_millis: int = 100
    entries_a_ledger: int = 50_000
    topics: int = 3
    messages: int = 50_000
    message_bytes: int = 1_024
    per_second: int = 4_000
    """0: as fast as they can."""
    batches: bool = False
    """A batch is one entry of the cache."""
    refused_percent: int = 0
    """So many messages are acknowledged negatively once, and come again."""
    unloads: bool = False
    deletes: bool = False
    patience_seconds: int = 90

    @property
    def seconds_most(self) -> int:
        """How long the clients may take."""
        return self.patience_seconds + (self.messages // self.per_second if self.per_second else 60) + 60


PLANS: Final = {
    "mixed": Plan(
        "a bit of all: tailing, Key_Shared, catching up, nacks, a topic unloaded, ledgers deleted, a cache of 2 MiB",
        cache_mib=2,
        entries_a_ledger=2_500,
        messages=24_000,
        per_second=3_000,
        refused_percent=3,
        unloads=True,
        deletes=True,
    ),
    "steady": Plan("tailing and catching up at 4,000 messages a second, a cache of 8 MiB"),
    "tiny": Plan(
        "batches and nacks, a cache of 1 MiB that is looked at every 10 ms",
        cache_mib=1,
        interval_millis=10,
        topics=4,
        messages=60_000,
        per_second=6_000,
        batches=True,
        refused_percent=5,
    ),
    "deletion": Plan(
        "a cache of 64 MiB that nothing leaves by a pass; topics unloaded, trimmed, deleted",
        cache_mib=64,
        ttl_millis=8_000,
        entries_a_ledger=5_000,
        messages=40_000,
        per_second=5_000,
        unloads=True,
        deletes=True,
    ),
    "full-rate": Plan("as fast as clients can, a cache of 8 MiB", messages=100_000, per_second=0),
}
"""By name; the first one is what is taken where none is named."""
