"""What is in force at a row, and the rules that speak about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from entrycache_spark.parts import ConfigObject
from entrycache_spark.pulsar_segmented.settings import KINDS, InForce, in_force
from entrycache_spark.replaying import Facts as AnyFacts
from entrycache_spark.replaying import Row, Settings

LOOKS: Final = ("HIT", "MISS", "ASK", "METRICS")


class Ring(NamedTuple):
    """The settings at a row: the limit, and what follows from it."""

    limit_bytes: int | None = None
    of: InForce = InForce()


Facts = AnyFacts[Ring]


def _after(config: ConfigObject | None, before: Ring) -> Ring:
    return Ring() if config is None else Ring(config["max_size_bytes"], in_force(config))


SETTINGS: Final = Settings(KINDS, Ring(), _after)


def unlike(one: object, other: object) -> bool:
    """Whether a known value differs from another one, or nothing is known of that."""
    return one != other or other is None


def spoken(row: Row, ring: Ring) -> Iterable[str]:
    """The rules that speak about one row."""
    op, cause = row["op"], row["cause"]
    yield "S-LIVENESS-1"
    yield from SPOKEN.get(op, ())
    yield from SPOKEN_BY_CAUSE.get((op, cause), ())
    if op == "HIT" and row["life"] is not None:
        yield from ("S-RING-2",) if row["key_hash"] is None else ("S-RING-2", "S-GET-3")
    if op in TURN and ring.of.named is not None:
        yield "S-CONFIG-2" if ring.of.named else "S-CONFIG-1"
    if op == "INSERT" and ring.of.copies is not None:
        yield "S-SEGMENT-2" if ring.of.copies else "S-SEGMENT-3"


TURN: Final = ("PASS_BEGIN", "PASS_END")

SPOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "CONFIG": ("S-STATE-1",),
    "INSERT": (
        *("S-INSERT-1", "S-INSERT-2", "S-INSERT-3", "S-INSERT-4", "S-INSERT-5"),
        *("S-SEGMENT-1", "S-USAGE-1"),
    ),
    "REJECT": ("S-INSERT-5",),
    "SKIP": ("S-INSERT-5", "S-SEGMENT-4"),
    "PASS_BEGIN": ("S-RING-1", "S-INSERT-5", "S-SEGMENT-1", "S-SEGMENT-4"),
    "PASS_END": ("S-RING-1", "S-RING-2", "S-RING-3", "S-RING-4"),
    "EVICT": ("S-RING-1", "S-RING-4", "S-STATE-2", "S-USAGE-1"),
    "HIT": ("S-GET-2",),
    "MISS": ("S-GET-2",),
    "ASK": ("S-GET-2",),
    "METRICS": ("S-GET-2", "S-USAGE-1"),
    "SNAPSHOT": ("S-STATE-2",),
    "END": ("S-STATE-2", "S-USAGE-1"),
}
SPOKEN_BY_CAUSE: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("REJECT", "DUPLICATE"): ("S-INSERT-1", "S-INSERT-2"),
    ("SKIP", "DISABLED"): ("S-INSERT-1", "S-INSERT-4"),
    ("SKIP", "FULL"): ("S-INSERT-3", "S-RING-1"),
    ("HIT", "GET"): ("S-GET-1",),
    ("MISS", "GET"): ("S-GET-1",),
    ("ASK", "LAST"): ("S-RANGE-1", "S-RANGE-2", "S-RANGE-3"),
}
"""By op, and by op and cause."""
