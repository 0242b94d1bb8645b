"""What a replayed rule of `kafka-streams` is shown: the rows of a thread, and the limits in force."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from entrycache_spark.kafka_streams.columns import KINDS
from entrycache_spark.parts import ConfigObject
from entrycache_spark.replaying import Facts as AnyFacts
from entrycache_spark.replaying import Row, Settings

ENDS: Final = ("EVICT", "DELETE", "REMOVE")
LOOKUPS: Final = ("HIT", "MISS", "CACHE_OPEN")


class Limit(NamedTuple):
    """The limit in force at a row, and the one before that."""

    now: int | None = None
    before: int | None = None

    @property
    def shrank(self) -> bool:
        """Whether the limit became smaller."""
        return self.now is not None and self.before is not None and self.now < self.before


Facts = AnyFacts[Limit]


def _limit(config: ConfigObject | None, before: Limit) -> Limit:
    return Limit(None if config is None else config["max_size_bytes"], before.now)


LIMITS: Final = Settings(KINDS, Limit(), _limit)


def as_followed(rows: Iterable[Row]) -> None:
    """Let what failed be an op of its own, and what is not told to be dirty be clean."""
    for row in rows:
        row["dirty"] = bool(row["dirty"])
        if _is_failed(row):
            row["op"] = "FAILED"


def _is_failed(row: Row) -> bool:
    return bool(row["op"] == "FLUSH" and row["cause"] == "FAILED")


def same(row: Row | None, other: Row, *names: str) -> bool:
    """Whether two rows agree in these columns, all of them known."""
    return row is not None and all(row[name] is not None and row[name] == other[name] for name in names)


def spoken(row: Row, limit: Limit) -> Iterable[str]:
    """The rules that speak about one row."""
    op, cause, has_life = row["op"], row["cause"], row["life"] is not None
    yield "K-LIVENESS-1"
    if op == "METRICS":
        yield "K-METRICS-2" if row["cache"] is None else "K-METRICS-3"
    if op == "CONFIG" and limit.shrank:
        yield "K-RESIZE-2"
    if op in ("PUT", "END", *ENDS):
        yield "K-METRICS-1"
    if op in ("PUT", "HIT", "MISS", "FLUSH", "CACHE_CLOSE", *ENDS):
        yield from _of_entries(row, op, cause, has_life)


def _of_entries(row: Row, op: str, cause: str | None, has_life: bool) -> Iterable[str]:
    yield from {"HIT": ("K-GET-1",), "MISS": ("K-GET-2",), "EVICT": ("K-EVICT-1",)}.get(op, ())
    if op == "FLUSH" and not _is_failed(row):
        yield "K-FLUSH-1"
    if op == "PUT":
        yield from ("K-PUT-1", "K-EVICT-4", "K-EVICT-5")
        if not row["dirty"]:
            yield "K-PUT-4"
    if op == "EVICT" and row["dirty"]:
        yield "K-EVICT-3"
    if has_life and op in ("HIT", *ENDS):
        yield "K-FLUSH-3"
    if has_life and op in ("HIT", "FLUSH", *ENDS):
        yield from ("K-SIZE-1", "K-FLUSH-2")
    if op == "DELETE" and cause == "FLUSH":
        yield "K-FLUSH-4"
    elif op == "DELETE" and has_life:
        yield "K-DELETE-1"
    if op == "REMOVE" and cause in ("CLEAR", "CLOSE"):
        yield {"CLEAR": "K-CLOSE-1", "CLOSE": "K-CLOSE-2"}[cause]
    if op == "CACHE_CLOSE":
        yield "K-CLOSE-2"
