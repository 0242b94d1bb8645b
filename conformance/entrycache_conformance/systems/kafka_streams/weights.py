"""How often each operation comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from entrycache_reference.kafka_streams.ops import OPS
from entrycache_reference.rules import Rule

WEIGHTS: Final[dict[str, int]] = {
    "put": 10,
    "put_all": 2,
    "put_if_absent": 3,
    "get": 4,
    "delete": 2,
    "range": 2,
    "reverse_range": 1,
    "all": 1,
    "reverse_all": 1,
    "listen": 6,
    "flush": 9,
    "evict": 6,
    "clear": 1,
    "close": 1,
    "resize": 5,
    "usage": 2,
    "metrics": 3,
    "store_put": 10,
    "store_get": 7,
    "store_delete": 7,
    "store_range": 1,
    "store_all": 4,
    "store_flush": 4,
    "store_inner": 2,
    "on_forward": 5,
    "share": 1,
}

OF_VARIANTS: Final = frozenset(
    {Rule.K_FLUSH_7, Rule.K_FLUSH_8, Rule.K_FLUSH_9, Rule.K_METRICS_4, Rule.K_STORE_9, Rule.K_STORE_10}
)
"""Rules that are about another reading than the norm."""

UNDER_THREADS: Final = frozenset(rule for rule in Rule if rule.value.startswith("K-CONCURRENCY-"))
"""Rules that histories are about, and no case of one thread."""

NOT_ASKED: Final = OF_VARIANTS | UNDER_THREADS | {Rule.K_RESIZE_2}
"""Rules that no case is about that every subject is asked: several namespaces pay in an order that is not specified."""

LEVEL_OF: Final = {op.name: op.level for op in OPS}


def menu(names: Iterable[str], level: str | None = None) -> tuple[str, ...]:
    """The operations, each as often as its weight says; those of level `store` thrice in its own cases."""
    wanted = frozenset(names)
    return tuple(
        name
        for name, weight in WEIGHTS.items()
        if name in wanted
        for _ in range(weight * (3 if LEVEL_OF[name] == level == "store" else 1))
    )
