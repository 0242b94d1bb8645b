"""The rule of a step where nothing else says more: that of its last row, or of its operation."""

from __future__ import annotations

from typing import Final

from entrycache_conformance.systems.kafka_streams.probe import Probed
from entrycache_reference.rules import Rule

OP_RULES: Final = {
    "put": Rule.K_PUT_1,
    "put_all": Rule.K_PUT_6,
    "put_if_absent": Rule.K_PUT_7,
    "get": Rule.K_GET_1,
    "delete": Rule.K_DELETE_1,
    "range": Rule.K_RANGE_1,
    "reverse_range": Rule.K_RANGE_3,
    "all": Rule.K_RANGE_2,
    "reverse_all": Rule.K_RANGE_3,
    "listen": Rule.K_LISTEN_5,
    "flush": Rule.K_FLUSH_1,
    "evict": Rule.K_EVICT_2,
    "clear": Rule.K_CLOSE_1,
    "close": Rule.K_CLOSE_2,
    "resize": Rule.K_RESIZE_1,
    "usage": Rule.K_METRICS_1,
    "metrics": Rule.K_METRICS_2,
    "store_put": Rule.K_STORE_1,
    "store_get": Rule.K_STORE_1,
    "store_delete": Rule.K_STORE_7,
    "store_range": Rule.K_STORE_8,
    "store_all": Rule.K_STORE_8,
    "store_flush": Rule.K_STORE_2,
    "store_inner": Rule.K_STORE_2,
    "on_forward": Rule.K_STORE_5,
    "share": Rule.K_SHARE_1,
}
"""The rule of an operation where nothing says more."""

ITERATIONS: Final = frozenset({"range", "reverse_range", "all", "reverse_all"})
"""Operations that look up what they show."""

VIEWS: Final = frozenset({"store_range", "store_all"})
"""Operations that show cache and store below as one."""


def rule_of_step(probed: Probed) -> Rule:
    """The rule of the step at fault: of its last row, where that is not one of the lookups that any step may make."""
    rows = probed.steps[probed.at].rows
    name = type(probed.case.steps[probed.at]).name
    if name in ITERATIONS and probed.difference.at != probed.at:
        return Rule.K_RANGE_2
    return OP_RULES[name] if not rows or rows[-1].rule is Rule.K_GET_1 or name in VIEWS else rows[-1].rule
