"""How many events each rule speaks about, as replay counts them."""

from __future__ import annotations

from collections.abc import Iterable

from entrycache_spark.pulsar_pip430.replay.carried import SHOWING
from entrycache_spark.pulsar_pip430.replay.leavers import RULE_OF as REMOVALS
from entrycache_spark.pulsar_pip430.replay.moments import Facts, InForce, Row

DEQUEUES = ("EVICT", "REQUEUE", "TOMBSTONE")


def rules_of(row: Row, settings: InForce | None, facts: Facts) -> Iterable[str]:
    """The rules that speak about one event."""
    op, cause = row["op"], row["cause"]
    yield "R-STATE-6"
    if row["life"] is not None:
        yield "R-STATE-8"
    if op in ("INSERT", "EVICT", "REMOVE"):
        yield "R-STATE-1"
    if op in ("PASS_BEGIN", "PASS_END", *DEQUEUES):
        yield "R-STATE-4"
        if row["max_requeues"] is not None or row["extend_accessed"] is not None:
            yield "R-CONFIG-1"
    if op in DEQUEUES:
        yield "R-EVICT-8"
    if op == "EVICT":
        yield "R-REQUEUE-3"
    if op == "REQUEUE":
        yield "R-REQUEUE-4"
        yield from {"ACCESSED": ("R-REQUEUE-1",), "EXPECTED_READS": ("R-REQUEUE-6", "R-REQUEUE-8")}.get(cause, ())
    if op == "PASS_END":
        yield from {"TIME": ("R-EXPIRE-1", "R-EXPIRE-2"), "SIZE": ("R-EVICT-4", "R-EVICT-5")}.get(cause, ())
    yield from _of_thresholds(row, settings, facts)
    yield from _of_levels(row, settings, facts)


def _of_thresholds(row: Row, settings: InForce | None, facts: Facts) -> Iterable[str]:
    op, cause, origin = row["op"], row["cause"], row["origin"]
    manual = settings is not None and bool(settings.manual)
    states = row["trigger_bytes"] is not None or row["target_bytes"] is not None
    if op in ("PASS_BEGIN", "PASS_END") and cause == "SIZE" and states:
        yield "R-TRIGGER-1"
    triggered = op == "PASS_BEGIN" and cause == "SIZE" and origin == "TRIGGER"
    if (op == "INSERT" or triggered) and not manual:
        yield "R-TRIGGER-2"
    if op in ("REJECT", "SKIP") and not manual and not facts.many:
        yield "R-TRIGGER-3"
    if op == "INSERT" and manual and not facts.many:
        yield "R-TRIGGER-4"
    if triggered and manual:
        yield "R-TRIGGER-5"
    if op == "PASS_BEGIN" and origin == "CYCLE":
        yield "R-TRIGGER-6"
    if triggered or (op == "PASS_BEGIN" and cause == "SIZE" and origin == "CYCLE"):
        yield "R-TRIGGER-8"


def _of_levels(row: Row, settings: InForce | None, facts: Facts) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    if op == "METRICS":
        yield from (f"R-METRICS-{number}" for number in range(3, 8))
    if op in ("HIT", "MISS"):
        yield from {"GET": ("R-READ-1",), "READ": ("R-READ-7",), "REPLAY": ("R-READ-10",)}.get(cause, ())
    if op == "INSERT" or (op, cause) in (("REJECT", "DUPLICATE"), ("SNAPSHOT", "OPEN")):
        yield "R-INSERT-1"
    yield from _of_lives(row, facts)
    if op == "INSERT":
        yield "R-INSERT-2"
        if cause == "FILL":
            yield "R-READ-9"
            if row["cursor"] is not None and settings is not None and settings.ranks:
                yield "R-CURSOR-7"
    if (
        settings is not None
        and settings.ranks is not None
        and ((op == "INSERT" and cause == "ADD" and not facts.virtual) or (op == "SKIP" and cause == "NOT_WANTED"))
    ):
        yield from ("R-CURSOR-6", "R-CURSOR-11") if settings.ranks else ("R-CURSOR-12",)


def _of_lives(row: Row, facts: Facts) -> Iterable[str]:
    op, cause, life = row["op"], row["cause"], row["life"]
    sums_up = op == "PASS_END" and (row["tail_no"] is not None or row["head_no"] is not None)
    if op == "END" or sums_up or (life is not None and op in SHOWING):
        yield "R-STATE-2"
    if life is not None and op in SHOWING and row["accessed"] is not None:
        yield "R-READ-2"
    if life is not None and op in ("INSERT", *SHOWING) and row["requeues"] is not None:
        yield "R-REQUEUE-5"
    if life is not None and op in ("READ_DONE", "EXPECT", "EVICT", "REMOVE", "SNAPSHOT"):
        yield "R-COUNT-3"
        if op == "READ_DONE":
            yield "R-COUNT-1"
        if op == "EXPECT" and not facts.many:
            yield "R-COUNT-2"
    if op == "REMOVE" and cause in REMOVALS:
        yield REMOVALS[cause]
    if op == "CACHE_CLOSE":
        yield REMOVALS["CLOSE"]
