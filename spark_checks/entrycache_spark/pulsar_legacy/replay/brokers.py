"""Replay of `pulsar-legacy`: one broker after the other, one row after the other.

What is the same as in `pulsar-pip430` is replayed as there, under the rule that says it here (`SAME`); the bytes at the
beginning of an offer, reads, shares and time passes are replayed here, with the reference's own functions. Nothing is
taken from the rule files. Meant for small traces: above a number of entries it gives up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from entrycache_spark.asked import ask
from entrycache_spark.needs import Need
from entrycache_spark.pulsar_legacy.replay.moments import Moment, is_triggered, moments_of
from entrycache_spark.pulsar_legacy.replay.offers import Offers
from entrycache_spark.pulsar_legacy.replay.passes import Shares, Taken
from entrycache_spark.pulsar_legacy.replay.reads import Reads
from entrycache_spark.pulsar_legacy.replay.spoken import REMOVALS, rules_of
from entrycache_spark.pulsar_legacy.settings import by_object
from entrycache_spark.pulsar_pip430.columns import COLUMNS
from entrycache_spark.pulsar_pip430.replay.brokers import BrokerReplay, TooManySlots
from entrycache_spark.pulsar_pip430.replay.leavers import RULE_OF, Leavers, Named
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row
from entrycache_spark.replaying import Played, broker_by_broker
from entrycache_spark.verdict import RuleFinding, Violation
from entrycache_trace.files import Metadata, Part

SAME: Final[Mapping[str, str]] = {
    "R-STATE-1": "L-STATE-1",
    "R-STATE-6": "L-STATE-2",
    "R-STATE-2": "L-STATE-4",
    "R-STATE-4": "L-LIVENESS-1",
    "R-STATE-8": "L-LIVENESS-1",
    "R-INSERT-1": "L-INSERT-1",
    "R-INSERT-2": "L-INSERT-2",
    "R-READ-1": "L-READ-1",
    "R-TRIGGER-1": "L-TRIGGER-1",
    "R-TRIGGER-4": "L-TRIGGER-3",
    **{RULE_OF[cause]: rule for cause, rule in REMOVALS.items()},
}
GROUPS: Final = {"TIME": "L-EXPIRE-2", "SIZE": "L-EVICT-1", "GET": "L-READ-2"}


def replay(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, RuleFinding]:
    """What the rows of each broker say about the rules."""

    def play(name: str, rows: list[Row]) -> Played:
        broker = LegacyReplay(name, rows, metadata, max_live_slots)
        told = (
            (
                now.row,
                () if now.settings is None else now.settings.untold,
                rules_of(now.row, now.settings, broker.facts),
            )
            for now in broker.moments
        )
        asked = ask(name, told, rules)
        try:
            broker.run()
        except TooManySlots:
            return Played(asked, f"more than {max_live_slots} entries")
        return Played(asked, "", broker.missing(), broker.violations, broker.undecided)

    return broker_by_broker(COLUMNS, play, parts, metadata, rules, progress)


class LegacyReplay:
    """The replay of one broker."""

    def __init__(self, name: str, rows: list[Row], metadata: Metadata, max_live_slots: int) -> None:
        self._name = name
        self._rows = rows
        self._same = BrokerReplay(name, rows, metadata, max_live_slots, has_queue=False)
        self._by_object = by_object(metadata)
        self.facts: Facts = self._same.facts
        self.moments: list[Moment] = moments_of(name, rows, self.facts, metadata.sampled)
        self.violations: defaultdict[str, list[Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)

    def missing(self) -> list[str]:
        """Why a clean answer would claim too much."""
        begins = [] if self.facts.fresh or not self.facts.starts else ["it begins with entries cached before"]
        return self._same.missing() + [f"broker {self._name!r}: {why}" for why in begins]

    def run(self) -> None:
        """Go through the rows in order."""
        self._same.run()
        self._take_over()
        Taken(self.facts, self._tell, self._rows)
        self._refused()
        leavers = Leavers(self.facts, self._tell, self._rows, _group_of, GROUPS)
        reads = Reads(self.facts, self._tell, self._by_object)
        followers = (Offers(self.facts, self._tell), reads, Shares(self.facts, self._tell, self.moments))
        for now in self.moments:
            leavers.take(now.row)
            for follower in followers:
                follower.follow(now)
        reads.finish()

    def _take_over(self) -> None:
        """What the rows show of rules that are the same."""
        missed = {row["seq"] for row in self._rows if row["op"] == "MISS"} if self._by_object else set()
        for theirs, ours in SAME.items():
            for violation in self._same.violations.get(theirs, ()):
                if theirs != "R-READ-1" or violation.seq not in missed:
                    self.violations[ours].append(violation._replace(rule=ours))
            self.undecided[ours] += [line.replace(theirs, ours) for line in self._same.undecided.get(theirs, ())]

    def _refused(self) -> None:
        """L-STATE-3 and L-TRIGGER-6: sizes, amounts and ages that are refused, or lead to nothing."""
        for row in self._rows:
            op, cause, bound = row["op"], row["cause"], row["bound"]
            wrong = op == "INSERT" and row["size_bytes"] is not None and row["size_bytes"] < 0
            if op == "PASS_BEGIN" and row["origin"] == "CALL" and bound is not None:
                wrong = (cause == "SIZE" and bound <= 0) or (cause == "TIME" and bound > row["ts_ns"])
            if is_triggered(row, "PASS_BEGIN") and bound is not None and bound <= 0:
                self._tell("L-TRIGGER-6", row, "no pass", bound, [], True)
            if wrong:
                self._tell("L-STATE-3", row, "what is allowed", bound, [], True)

    def _tell(self, rule: str, row: Row, wanted: object, found: object, seqs: Iterable[int | None], sure: bool) -> None:
        """Take in a violation, or what would be one if it were sure."""
        seq = row["seq"]
        if sure:
            shown = tuple(known for known in seqs if known is not None) or (seq,)
            self.violations[rule].append(Violation(rule, self._name, seq, row["life"], str(wanted), str(found), shown))
        else:
            self.undecided[rule].append(f"{rule}: broker {self._name!r}, seq {seq}: {found}")


def _group_of(row: Row) -> Named | None:
    """What a pass takes of a cache, and what a lookup finds."""
    if None in (row["ledger_id"], row["entry_id"]):
        return None
    if row["op"] == "EVICT" and row["cause"] in ("TIME", "SIZE") and row["pass_id"] is not None:
        return row["cache"], row["cause"], None, row["pass_id"]
    if (row["op"], row["cause"]) == ("HIT", "GET") and row["call_id"] is not None:
        return row["cache"], "GET", None, row["call_id"]
    return None
