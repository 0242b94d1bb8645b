"""What ends, and what need not: passes, lives, ages; each claim beside an error that refutes it."""

from __future__ import annotations

from typing import Any, Final

from entrycache_evidence.tlc.module import Module
from entrycache_evidence.tlc.second import Claim
from entrycache_evidence.tlc.text import texts
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_reference.rules import Rule

BUDGET: Final = 2
TTL: Final = 1
KEYS: Final = (("a", 0, 0), ("a", 0, 1))
COMMON: Final[dict[str, Any]] = {
    "Start": {"max": 1000, "watermark": (9, 10), "ttl": TTL, "requeues": BUDGET, "extend": True},
    "Eviction": "inline",
    "Offers": tuple({"key": key, "size": 1, "expected": (count,)} for key, count in zip(KEYS, (1, 0), strict=True)),
    "Need": 2,
}
"""Two entries, the first of which expects a read that never comes."""

TIME: Final = frozenset({"time"})
"""The kinds of pass where there are time passes only."""

NO_BUDGET: Final = ("Requeued(t, entry)", "[entry EXCEPT !.stamp = t.now, !.accessed = FALSE]")
"""A requeue that does not count."""


def liveness(holds: str, *changed: tuple[str, str], **given: Any) -> Module:
    """The module of what must happen, asked one property."""
    own = {"Kinds": frozenset({"time", "size"}), "Reads": frozenset(KEYS), "ReadsInPass": False}
    own |= {"Oldest": TTL + 1, "Most": BUDGET}
    return Module(
        NAME, "Liveness", (*texts({**COMMON, **own, **given}), *changed), ("SPECIFICATION Spec", f"PROPERTY {holds}")
    )


def ages(**given: Any) -> Module:
    """The module of ages."""
    own = {"Interval": 2, "Reads": frozenset(), "Slack": 0}
    config = ("INIT Init", "NEXT Next", "INVARIANT AgesAreBounded")
    return Module(NAME, "AgeBound", texts({**COMMON, **own, **given}), config)


CLAIMS: Final = (
    Claim(
        Rule.LIVENESS_1,
        "a pass ends, if nobody reads while it is under way",
        liveness("PassEnds"),
        "readers mark entries while a size pass walks",
        liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.LIVENESS_1,
        "a time pass ends, whoever reads while it is under way",
        liveness("PassEnds", Kinds=TIME, ReadsInPass=True),
        "it is a size pass",
        liveness("PassEnds", ReadsInPass=True),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_3,
        "an entry that is no longer read leaves, if time and time passes go on, though a read is expected",
        liveness("UnreadLeaves", Kinds=TIME),
        "a requeue uses up nothing",
        liveness("UnreadLeaves", NO_BUDGET, Kinds=TIME),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_1,
        "every entry leaves where nobody reads, if time and time passes go on",
        liveness("EveryoneLeaves", Reads=frozenset()),
        "an entry is read between any two passes",
        liveness("EveryoneLeaves"),
        goes_on=True,
    ),
    Claim(
        Rule.REQUEUE_6,
        f"no unread entry is older than (max_requeues + 1) * (ttl + interval of passes), for {BUDGET}, {TTL} and 2",
        ages(),
        "the bound is claimed one tick lower",
        ages(Slack=1),
    ),
    Claim(
        Rule.REQUEUE_5,
        f"that bound holds though size passes requeue too, for {BUDGET}, {TTL} and 2",
        ages(),
        "entries are read",
        ages(Reads=frozenset(KEYS)),
    ),
)
"""Under the fairness that the module states."""
