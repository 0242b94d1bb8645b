"""Replay of lookups and reads (L-READ-*), and of what is offered at positions (L-INSERT-5)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from entrycache_reference.pulsar_legacy.config import STORED_BYTES
from entrycache_spark.pulsar_legacy.replay.moments import Moment, ascends, is_offer, known
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row, Tell


@dataclass
class Call:
    """The lookups and offers of a call, in their order."""

    moments: list[Moment] = field(default_factory=list)

    def of(self, *kind: str) -> list[Moment]:
        """Those of an op and a cause."""
        return [now for now in self.moments if (now.row["op"], now.row["cause"]) == kind]


class Reads:
    """Each event at its position, and each call when all of it is known."""

    def __init__(self, facts: Facts, tell: Tell, by_object: bool) -> None:
        self._facts = facts
        self._tell = tell
        self._one = not facts.many
        self._by_object = by_object
        self._calls: defaultdict[int, Call] = defaultdict(Call)

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        row, op, cause = now.row, now.row["op"], now.row["cause"]
        if (op, cause) == ("REJECT", "DUPLICATE"):
            self._rejected(now)
        if op == "HIT" and cause == "READ" and row["entry_id"] is not None and now.held.is_in is not None:
            changed = now.held.changed
            other = changed is not None and row["life"] is not None and row["life"] != changed["life"]
            if not now.held.is_in or other:
                self._tell("L-READ-4", row, "what is cached", row["life"], [], self._one)
        looks = op in ("HIT", "MISS") and cause in ("GET", "READ")
        if row["call_id"] is not None and (looks or is_offer(row) or (op, cause) == ("SKIP", "NOT_WANTED")):
            self._calls[row["call_id"]].moments.append(now)

    def _rejected(self, now: Moment) -> None:
        row, changed = now.row, now.held.changed
        own = changed is not None and known(row["call_id"], row["entry_id"]) and changed["seq"] >= row["call_id"]
        if own and changed is not None and now.held.is_in is False:
            self._tell("L-INSERT-5", row, "INSERT", "REJECT", [changed["seq"], row["seq"]], self._one)

    def finish(self) -> None:
        """Judge the calls."""
        for call in self._calls.values():
            self._in_order(call)
            singles = call.of("SKIP", "NOT_WANTED")
            misses = call.of("MISS", "READ")
            if singles:
                self._single(call, misses, singles)
            else:
                self._ranged(call, misses)

    def _in_order(self, call: Call) -> None:
        """Each lookup beside the one before it in the same call."""
        last: dict[str, Row] = {}
        for now in call.moments:
            row, cause = now.row, now.row["cause"]
            if row["op"] not in ("HIT", "MISS"):
                continue
            before = last.get(cause)
            last[cause] = row
            if before is None:
                continue
            other = known(row["cache"], before["cache"]) and row["cache"] != before["cache"]
            if (row["op"], cause) == ("HIT", "GET") and (other or not ascends(row, before)):
                self._tell("L-READ-2", row, "ascending positions", row["entry_id"], [before["seq"]], self._one)
            if cause == "READ" and (other or not _follows(row, before)):
                self._tell("L-READ-4", row, "the next position", row["entry_id"], [before["seq"]], self._one)

    def _single(self, call: Call, misses: list[Moment], singles: list[Moment]) -> None:
        for now in call.moments:
            missed = now in misses and now.held.is_in and now.row["entry_id"] is not None and not self._by_object
            apart = now in singles and (len(misses) != 1 or self._astray(now.row, misses[0].row, 0))
            if is_offer(now.row) or missed or apart:
                self._tell("L-READ-6", now.row, "one MISS, no offer", now.row["op"], [], self._one)
        self._mixed(call, misses)

    def _mixed(self, call: Call, misses: list[Moment]) -> None:
        for now in misses if call.of("HIT", "READ") else ():
            self._tell("L-READ-4", now.row, "all from one place", "MISS", [], self._one)

    def _ranged(self, call: Call, misses: list[Moment]) -> None:
        self._mixed(call, misses)
        held = [now for now in misses if now.held.is_in and now.row["entry_id"] is not None]
        looked = [now for now in call.moments if now.row["op"] in ("HIT", "MISS") and now.row["cause"] == "READ"]
        if misses and len(held) == len(misses) and looked[0] is misses[0]:
            self._tell("L-READ-4", misses[0].row, "HIT: all of it is cached", "MISS", [], self._one)
        offers = [now.row for now in call.moments if is_offer(now.row)]
        for number, row in enumerate(offers):
            fill = (row["op"], row["cause"]) == ("INSERT", "FILL")
            if (fill and not misses) or (misses and self._astray(row, misses[0].row, number)):
                self._tell("L-READ-5", row, "a fill of a miss", row["entry_id"], [], self._one)
        if misses and len(offers) != len(misses):
            sure = self._one and self._facts.complete
            last = call.moments[-1].row
            self._tell("L-READ-5", last, f"{len(misses)} offers", len(offers), [], sure)

    def _astray(self, row: Row, first: Row, number: int) -> bool:
        """Whether an offer is not the one of this number that a read makes which first missed there."""
        wrong = row["op"] == "INSERT" and row["cause"] not in (None, "FILL")
        wrong |= row["size_bytes"] not in (None, STORED_BYTES)
        for name, more in (("cache", None), ("ledger_id", 0), ("entry_id", number)):
            if known(row[name], first[name]):
                wrong |= row[name] != (first[name] if more is None else first[name] + more)
        return bool(wrong)


def _follows(row: Row, before: Row) -> bool:
    """Whether a position is the next one of the same ledger, as far as both are told."""
    if known(row["ledger_id"], before["ledger_id"]) and row["ledger_id"] != before["ledger_id"]:
        return False
    return not known(row["entry_id"], before["entry_id"]) or bool(row["entry_id"] == before["entry_id"] + 1)
