"""Replay of passes: what a time pass may take (L-EXPIRE-1), in which order, and who gives how much (L-EVICT-*)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from entrycache_reference.pulsar_legacy.passes import is_old
from entrycache_reference.pulsar_legacy.policy import givers, share
from entrycache_reference.pulsar_legacy.state import Cache, State
from entrycache_reference.vocabulary import CacheName
from entrycache_spark.pulsar_legacy.replay.moments import Moment, ascends, known
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row, Tell

MOVES: Final = ("INSERT", "EVICT", "REMOVE")
ORDER: Final = {"TIME": "L-EXPIRE-2", "SIZE": "L-EVICT-1"}


@dataclass
class Pass:
    """The rows of a pass, in their order."""

    rows: list[Row] = field(default_factory=list)

    def begun(self, name: str) -> int | str | None:
        """What its begin says in a column."""
        told = [row[name] for row in self.rows if row["op"] == "PASS_BEGIN" and row[name] is not None]
        return max(told, default=None)


class Taken:
    """What each pass takes, beside what its begin says."""

    def __init__(self, facts: Facts, tell: Tell, rows: list[Row]) -> None:
        self._tell = tell
        passes: defaultdict[int, Pass] = defaultdict(Pass)
        for row in rows:
            if row["pass_id"] is not None and row["op"] in ("PASS_BEGIN", "EVICT", "PASS_END"):
                passes[row["pass_id"]].rows.append(row)
        for own in passes.values():
            self._timed(own)
            self._order(own)

    def _timed(self, own: Pass) -> None:
        cutoff, cache = own.begun("bound"), own.begun("cache")
        for row in own.rows:
            stamp, bound = row["stamp_ns"], row["bound"]
            ends = row["op"] == "PASS_END"
            wrong = ends and known(row["cache"], cache) and row["cache"] != cache
            wrong |= ends and known(bound, cutoff) and bound != cutoff
            if row["cause"] == "SIZE" and wrong:
                self._tell("L-EVICT-1", row, (cutoff, cache), (bound, row["cache"]), [row["pass_id"], row["seq"]], True)
            if row["cause"] != "TIME":
                continue
            if row["op"] == "EVICT":
                wrong = isinstance(cutoff, int) and stamp is not None and not is_old(stamp, cutoff)
                wrong |= known(row["cache"], cache) and row["cache"] != cache
            elif row["op"] == "PASS_END":
                last = cutoff if bound is None else bound
                wrong |= isinstance(last, int) and stamp is not None and is_old(stamp, last)
            if wrong:
                self._tell(
                    "L-EXPIRE-1", row, (cutoff, cache), (stamp, row["cache"]), [row["pass_id"], row["seq"]], True
                )

    def _order(self, own: Pass) -> None:
        last: dict[object, Row] = {}
        for row in own.rows:
            if row["op"] != "EVICT":
                continue
            before = last.get(row["cache"])
            last[row["cache"]] = row
            if before is not None and row["cause"] in ORDER and not ascends(row, before):
                self._tell(ORDER[row["cause"]], row, "ascending positions", row["entry_id"], [before["seq"]], True)


class Given(NamedTuple):
    """What a cache gave in a pass."""

    rows: list[Row]

    @property
    def sizes(self) -> list[int]:
        """In the order in which it gave."""
        return [row["size_bytes"] or 0 for row in self.rows]


class Shares:
    """The bytes and entries of each cache; what a size pass asks of each, by the reference's own functions."""

    def __init__(self, facts: Facts, tell: Tell, moments: list[Moment]) -> None:
        self._tell = tell
        self._one = not facts.many
        self._bytes: Counter[str] = Counter()
        self._live: Counter[str] = Counter()
        self._given: defaultdict[tuple[int, str], list[Row]] = defaultdict(list)
        self._ends: dict[int, Row] = {}
        self._unknown_at: dict[int, int] = {}
        unknown = 0
        for now in moments:
            row = now.row
            unknown += row["op"] in MOVES and not known(row["size_bytes"], row["cache"])
            if row["op"] == "EVICT" and known(row["pass_id"], row["cache"]):
                self._given[row["pass_id"], row["cache"]].append(row)
            if row["op"] == "PASS_END" and row["cause"] == "SIZE" and row["pass_id"] is not None and now.whole:
                self._ends[row["pass_id"]] = row
                self._unknown_at[row["pass_id"]] = unknown

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row = now.row
        if row["op"] in MOVES and row["cache"] is not None:
            sign = 1 if row["op"] == "INSERT" else -1
            self._bytes[row["cache"]] += sign * (row["size_bytes"] or 0)
            self._live[row["cache"]] += sign
        begins = (row["op"], row["cause"]) == ("PASS_BEGIN", "SIZE") and row["pass_id"] == row["seq"] and now.whole
        if begins and row["bound"] is not None and self._unknown_at.get(row["seq"]) == 0:
            self._judge(row, self._ends[row["seq"]])

    def _judge(self, begin: Row, end: Row) -> None:
        held = {CacheName(name): Cache({}, self._bytes[name]) for name, live in self._live.items() if live > 0}
        if any(cache.size_bytes < 0 for cache in held.values()):
            return
        total = sum(cache.size_bytes for cache in held.values())
        taken = givers(State(0, held, total))
        if begin["cache"] is not None:
            asked = {begin["cache"]: begin["bound"]}
        else:
            taken_bytes = sum(held[name].size_bytes for name in taken)
            asked = {name: share(begin["bound"], held[name].size_bytes, taken_bytes) for name in taken}
        left = {cache.size_bytes for name, cache in held.items() if name not in taken}
        last = held[taken[-1]].size_bytes if taken else None
        tied = last is not None and max(left, default=None) == last
        alone = begin["cache"] is not None or len(taken) == 1
        gave_now = {name for pass_id, name in self._given if pass_id == begin["seq"]}
        for name in sorted({*self._bytes, *gave_now}):
            gave = Given(self._given.get((begin["seq"], name), []))
            own = tied and name in held and held[CacheName(name)].size_bytes == last
            self._one_cache(begin, end, name, asked.get(CacheName(name), 0), gave, alone, own)

    def _one_cache(self, begin: Row, end: Row, name: str, asked: int, gave: Given, alone: bool, tied: bool) -> None:
        of_one, rows, gave_bytes = begin["cache"] is not None, gave.rows, sum(gave.sizes)
        too_little = gave_bytes < asked and self._live[name] > len(rows)
        too_much = bool(rows) and gave_bytes - gave.sizes[-1] >= asked
        none = not rows and self._live[name] > 0
        seqs = [begin["seq"]]
        if asked > 0 and alone and too_little and (of_one or not none):
            self._tell("L-EVICT-1", {**end, "life": None}, asked, gave_bytes, [*seqs, end["seq"]], self._one)
        if rows and (too_much if asked > 0 and alone else False):
            self._tell("L-EVICT-2", {**rows[-1], "life": None}, asked, gave_bytes, seqs, self._one)
        if rows and of_one and asked <= 0:
            self._tell("L-EVICT-2", {**rows[0], "life": None}, "nothing", gave_bytes, seqs, self._one)
        rule = "L-EVICT-4" if tied else "L-EVICT-3"
        if not of_one and rows and asked <= 0:
            self._tell(rule, {**rows[0], "life": None}, "nothing", gave_bytes, seqs, self._one)
        if not of_one and asked > 0 and none:
            self._tell(rule, {**end, "life": None}, "something", 0, seqs, self._one)
        if rows and asked > 0 and not alone and (too_little or too_much):
            self._tell("L-EVICT-5", {**rows[-1], "life": None}, asked, gave_bytes, seqs, self._one)
