"""What a replayed rule of `kafka-streams` is shown: the rows of a thread, the limits in force, what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from entrycache_spark.kafka_streams.columns import KINDS
from entrycache_spark.settings import config_of, untold_of
from entrycache_spark.verdict import Violation
from entrycache_trace.files import Metadata

Row = dict[str, Any]

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


@dataclass(frozen=True)
class Facts:
    """The rows of one thread in the order of `seq`, and what holds for all of them."""

    name: str
    rows: list[Row]
    limits: list[Limit]
    whole: list[bool]
    """For each row: nothing is missing since an empty beginning."""
    many: bool
    starts: bool
    opened: bool
    gapped: bool
    unread: bool
    untold: list[tuple[str, ...]]
    """For each row: the settings that its CONFIG does not name."""

    def next_to(self, at: int) -> Row | None:
        """The row right behind, None where it is missing."""
        if at + 1 == len(self.rows) or self.rows[at + 1]["seq"] != self.rows[at]["seq"] + 1:
            return None
        return self.rows[at + 1]

    def ends_call(self, at: int) -> bool:
        """Whether another call begins right behind a row."""
        after = self.next_to(at)
        return after is not None and differ(after["call_id"], self.rows[at]["call_id"])

    @property
    def complete(self) -> bool:
        """Whether it begins, ends, and misses nothing."""
        return self.starts and not self.gapped and bool(self.rows[-1]["op"] == "END")

    def missing(self) -> list[str]:
        """Why a clean answer would claim too much."""
        found = []
        if self.gapped:
            found.append(f"broker {self.name!r}: events are missing")
        elif not self.starts:
            found.append(f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing")
        elif self.unread:
            found.append(f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known")
        elif self.rows[-1]["op"] != "END":
            found.append(f"broker {self.name!r}: the last event is not END, so the rest is missing")
        if self.opened:
            found.append(f"broker {self.name!r}: it begins with entries cached before")
        return found


def facts_of(name: str, rows: list[Row], metadata: Metadata) -> Facts:
    """The facts of a thread's rows."""
    starts = rows[0]["op"] == "CONFIG"
    opened = any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows)
    first = rows[0]["seq"]
    whole = [starts and not opened and not metadata.sampled and row["seq"] == first + at for at, row in enumerate(rows)]
    limits = []
    limit = Limit()
    untold: list[tuple[str, ...]] = []
    lacks: tuple[str, ...] = ()
    unread = False
    for row in rows:
        if row["op"] == "CONFIG":
            config = config_of(row["value"], KINDS, f"broker {name!r}, seq {row['seq']}")
            unread |= config is None
            lacks = () if config is None else tuple(untold_of(config, KINDS))
            limit = Limit(None if config is None else config["max_size_bytes"], limit.now)
        limits.append(limit)
        untold.append(lacks)
    gapped = metadata.sampled or rows[-1]["seq"] - first + 1 != len(rows)
    return Facts(name, rows, limits, whole, metadata.many_threads, starts, opened, gapped, unread, untold)


def as_followed(rows: Iterable[Row]) -> None:
    """Let what failed be an op of its own, and what is not told to be dirty be clean."""
    for row in rows:
        row["dirty"] = bool(row["dirty"])
        if _is_failed(row):
            row["op"] = "FAILED"


def _is_failed(row: Row) -> bool:
    return bool(row["op"] == "FLUSH" and row["cause"] == "FAILED")


def differ(one: object, other: object) -> bool:
    """Whether two known values differ."""
    return one is not None and other is not None and one != other


def same(row: Row | None, other: Row, *names: str) -> bool:
    """Whether two rows agree in these columns, all of them known."""
    return row is not None and all(row[name] is not None and row[name] == other[name] for name in names)


class Telling:
    """Takes in violations, and what would be one if it were sure."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.violations: defaultdict[str, list[Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)

    def tell(
        self,
        rule: str,
        row: Row,
        expected: object,
        seqs: Iterable[int | None] = (),
        sure: bool | None = None,
        life: int | None = None,
    ) -> None:
        """Report one; with several threads nothing is sure that does not say so."""
        if not (not self._facts.many if sure is None else sure):
            self.undecided[rule].append(f"{rule}: broker {self._facts.name!r}, seq {row['seq']}: not {expected}")
            return
        shown = tuple(seq for seq in seqs if seq is not None) or (row["seq"],)
        about = row["life"] if life is None else life
        observed = f"{row['op']} of life {row['life']}, {row['bytes_after']} bytes"
        self.violations[rule].append(
            Violation(rule, self._facts.name, row["seq"], about, str(expected), observed, shown)
        )


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
