"""How many events each rule speaks about, as replay counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from entrycache_spark.pulsar_legacy.replay.moments import InForce, is_triggered
from entrycache_spark.pulsar_pip430.replay.carried import SHOWING
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row

REMOVALS: Final = {
    "RANGE": "L-INVALIDATE-1",
    "CLEAR": "L-INVALIDATE-2",
    "CURSOR": "L-INVALIDATE-3",
    "LEDGER": "L-INVALIDATE-4",
    "CLOSE": "L-INVALIDATE-5",
}


def rules_of(row: Row, settings: InForce | None, facts: Facts) -> Iterable[str]:
    """The rules that speak about one event."""
    op, cause, has_life = row["op"], row["cause"], row["life"] is not None
    yield "L-STATE-2"
    if has_life or op in ("PASS_BEGIN", "PASS_END"):
        yield "L-LIVENESS-1"
    if op in ("INSERT", "EVICT", "REMOVE"):
        yield "L-STATE-1"
    if op in ("INSERT", "PASS_BEGIN"):
        yield "L-STATE-3"
    if op == "END" or (has_life and op in SHOWING):
        yield "L-STATE-4"
    if op == "REMOVE" and cause in REMOVALS:
        yield REMOVALS[cause]
    if op == "CACHE_CLOSE":
        yield REMOVALS["CLOSE"]
    yield from _of_offers(row, settings, facts)
    yield from _of_lookups(row)
    yield from _of_passes(row, settings)


def _of_offers(row: Row, settings: InForce | None, facts: Facts) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    manual = settings is not None and bool(settings.manual)
    duplicate = (op, cause) == ("REJECT", "DUPLICATE")
    if op == "INSERT" or duplicate or (op, cause) == ("SNAPSHOT", "OPEN"):
        yield "L-INSERT-1"
    if op == "INSERT" or duplicate:
        yield "L-INSERT-5"
    if op == "INSERT":
        yield from ("L-INSERT-2", "L-INSERT-3")
        yield from ("L-TRIGGER-3",) if manual and not facts.many else ()
    if op in ("INSERT", "SKIP") and cause != "NOT_WANTED":
        yield "L-INSERT-4"
    if not manual and (op == "REJECT" or (op, cause) == ("SKIP", "FULL")):
        yield "L-TRIGGER-7"
    if not manual and (op == "INSERT" or is_triggered(row, "PASS_BEGIN")):
        yield "L-TRIGGER-2"


def _of_lookups(row: Row) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    if op in ("HIT", "MISS"):
        yield from {"GET": ("L-READ-1",), "READ": ("L-READ-4",)}.get(cause, ())
    if (op, cause) == ("HIT", "GET"):
        yield "L-READ-2"
    if op in ("MISS", "INSERT") and cause in ("READ", "FILL"):
        yield "L-READ-5"
    if (op, cause) == ("SKIP", "NOT_WANTED"):
        yield "L-READ-6"


def _of_passes(row: Row, settings: InForce | None) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    manual = settings is not None and bool(settings.manual)
    states = row["trigger_bytes"] is not None or row["target_bytes"] is not None
    if op in ("PASS_BEGIN", "PASS_END") and cause == "SIZE" and states:
        yield "L-TRIGGER-1"
    if op in ("PASS_END", "EVICT") and cause == "TIME":
        yield "L-EXPIRE-1"
    if op == "EVICT":
        yield from {"TIME": ("L-EXPIRE-2",), "SIZE": ("L-EVICT-1", "L-EVICT-2")}.get(cause, ())
    if op == "PASS_BEGIN" and cause == "SIZE":
        yield "L-EVICT-1"
        if row["cache"] is None:
            yield from ("L-EVICT-3", "L-EVICT-4", "L-EVICT-5")
    if is_triggered(row, "PASS_BEGIN"):
        yield "L-TRIGGER-6"
        if manual:
            yield from ("L-TRIGGER-4", "L-TRIGGER-5")
