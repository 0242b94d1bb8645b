"""The contract of one decision about a head: any entry, any settings."""

from typing import Optional

from entrycache_evidence.pulsar_pip430.contracts.fixtures import function_under_contract
from entrycache_reference.pulsar_pip430 import config, state

RULES = (
    "R-EVICT-1",
    "R-EVICT-2",
    "R-EVICT-3",
    "R-REQUEUE-1",
    "R-REQUEUE-2",
    "R-REQUEUE-3",
    "R-REQUEUE-6",
    "R-REQUEUE-7",
    "R-REQUEUE-8",
)
BOUNDS = {"contract": "one decision: any stamp, count, requeues, max_requeues; all integers unbounded"}


def contract(
    gone: bool,
    halt: bool,
    accessed: bool,
    extend: bool,
    count: Optional[int],  # noqa: UP045 - read at run time
    requeues: int,
    most: int,
) -> tuple[str, ...]:
    """Name the rules that the decision breaks.

    pre: requeues >= 0 and most >= 0
    post: __return__ == ()
    """
    entry = None if gone else state.Entry(1, 0, requeues, accessed, count, None)
    action = function_under_contract("decision.decide")(
        entry, halt, config.Settings(1000, 0.9, 1, most, extend)
    ).action.name
    wrong = []
    if gone:
        return () if action == "MISSING" else ("R-EVICT-1",)
    if halt:
        return () if action == "STOP" else ("R-EVICT-2",)
    awaited = count is not None and count > 0
    left = most - requeues
    if action == "REQUEUE_ACCESSED" and not extend:
        wrong.append("R-REQUEUE-7")
    if action == "REQUEUE_EXPECTED" and not awaited:
        wrong.append("R-REQUEUE-8")
    if action == "REQUEUE_EXPECTED" and left <= 0:
        wrong.append("R-REQUEUE-6")
    if accessed and extend:
        if action != "REQUEUE_ACCESSED":
            wrong.append("R-REQUEUE-1")
    elif not awaited:
        if action != "REMOVE":
            wrong.append("R-EVICT-3")
    elif left > 0:
        if action != "REQUEUE_EXPECTED":
            wrong.append("R-REQUEUE-2")
    elif action != "REMOVE":
        wrong.append("R-REQUEUE-3")
    return tuple(wrong)
