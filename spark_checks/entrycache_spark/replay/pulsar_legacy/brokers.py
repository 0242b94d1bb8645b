"""Replay of `pulsar-legacy`: passes, shares, and the loop over the rows of each broker.

Rules that `pulsar-pip430` has too are replayed there, and reported under the id of this system (`SAME`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from entrycache_reference.pulsar_legacy.passes import choose_givers, compute_share, is_old
from entrycache_reference.pulsar_legacy.state import Cache, State
from entrycache_reference.vocabulary import CacheName
from entrycache_spark.common import results, rule_files
from entrycache_spark.replay.common import BrokerFindings, count_applicable_rows, replay_brokers
from entrycache_spark.replay.pulsar_legacy import trigger_points
from entrycache_spark.replay.pulsar_pip430 import brokers, removals
from entrycache_spark.replay.pulsar_pip430.trigger_points import Facts, Reporter, Row
from entrycache_spark.systems import pulsar_legacy, pulsar_pip430
from entrycache_trace.files import Metadata, Part

MOVES: Final = ("INSERT", "EVICT", "REMOVE")
ORDER: Final = {"TIME": "L-EXPIRE-2", "SIZE": "L-EVICT-1"}


@dataclass
class Pass:
    """The rows of a pass, in their order."""

    rows: list[Row] = field(default_factory=list)

    def begin_value(self, name: str) -> int | str | None:
        """Return the value of a column in its PASS_BEGIN, or None if that records none."""
        values = [row[name] for row in self.rows if row["op"] == "PASS_BEGIN" and row[name] is not None]
        return max(values, default=None)


class PassRemovals:
    """The removals of each pass, compared with the values of its PASS_BEGIN."""

    def __init__(self, facts: Facts, report: Reporter, rows: list[Row]) -> None:
        self._report = report
        passes: defaultdict[int, Pass] = defaultdict(Pass)
        for row in rows:
            if row["pass_id"] is not None and row["op"] in ("PASS_BEGIN", "EVICT", "PASS_END"):
                passes[row["pass_id"]].rows.append(row)
        for own in passes.values():
            self._timed(own)
            self._order(own)

    def _timed(self, own: Pass) -> None:
        cutoff, cache = own.begin_value("bound"), own.begin_value("cache")
        for row in own.rows:
            stamp, bound = row["stamp_ns"], row["bound"]
            ends = row["op"] == "PASS_END"
            wrong = ends and trigger_points.known(row["cache"], cache) and row["cache"] != cache
            wrong |= ends and trigger_points.known(bound, cutoff) and bound != cutoff
            if row["cause"] == "SIZE" and wrong:
                self._report(
                    "L-EVICT-1", row, (cutoff, cache), (bound, row["cache"]), [row["pass_id"], row["seq"]], True
                )
            if row["cause"] != "TIME":
                continue
            if row["op"] == "EVICT":
                wrong = isinstance(cutoff, int) and stamp is not None and not is_old(stamp, cutoff)
                wrong |= trigger_points.known(row["cache"], cache) and row["cache"] != cache
            elif row["op"] == "PASS_END":
                last = cutoff if bound is None else bound
                wrong |= isinstance(last, int) and stamp is not None and is_old(stamp, last)
            if wrong:
                self._report(
                    "L-EXPIRE-1", row, (cutoff, cache), (stamp, row["cache"]), [row["pass_id"], row["seq"]], True
                )

    def _order(self, own: Pass) -> None:
        last: dict[object, Row] = {}
        for row in own.rows:
            if row["op"] != "EVICT":
                continue
            before = last.get(row["cache"])
            last[row["cache"]] = row
            if before is not None and row["cause"] in ORDER and not trigger_points.ascends(row, before):
                self._report(ORDER[row["cause"]], row, "ascending positions", row["entry_id"], [before["seq"]], True)


class PassEvictions(NamedTuple):
    """The entries that a pass removed from one cache."""

    rows: list[Row]

    @property
    def sizes(self) -> list[int]:
        """The sizes, in the order of the removals."""
        return [row["size_bytes"] or 0 for row in self.rows]


class Shares:
    """The bytes and entries of each cache, and the share of each in a size pass, computed by the reference."""

    def __init__(self, facts: Facts, report: Reporter, events: list[trigger_points.Moment]) -> None:
        self._report = report
        self._one = not facts.many
        self._bytes: Counter[str] = Counter()
        self._live: Counter[str] = Counter()
        self._given: defaultdict[tuple[int, str], list[Row]] = defaultdict(list)
        self._ends: dict[int, Row] = {}
        self._unknown_at: dict[int, int] = {}
        unknown = 0
        for now in events:
            row = now.row
            unknown += row["op"] in MOVES and not trigger_points.known(row["size_bytes"], row["cache"])
            if row["op"] == "EVICT" and trigger_points.known(row["pass_id"], row["cache"]):
                self._given[row["pass_id"], row["cache"]].append(row)
            if row["op"] == "PASS_END" and row["cause"] == "SIZE" and row["pass_id"] is not None and now.whole:
                self._ends[row["pass_id"]] = row
                self._unknown_at[row["pass_id"]] = unknown

    def follow(self, now: trigger_points.Moment) -> None:
        """Read one event."""
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
        taken = choose_givers(State(0, held, total))
        if begin["cache"] is not None:
            share_bytes = {begin["cache"]: begin["bound"]}
        else:
            taken_bytes = sum(held[name].size_bytes for name in taken)
            share_bytes = {name: compute_share(begin["bound"], held[name].size_bytes, taken_bytes) for name in taken}
        left = {cache.size_bytes for name, cache in held.items() if name not in taken}
        last = held[taken[-1]].size_bytes if taken else None
        tied = last is not None and max(left, default=None) == last
        alone = begin["cache"] is not None or len(taken) == 1
        gave_now = {name for pass_id, name in self._given if pass_id == begin["seq"]}
        for name in sorted({*self._bytes, *gave_now}):
            gave = PassEvictions(self._given.get((begin["seq"], name), []))
            own = tied and name in held and held[CacheName(name)].size_bytes == last
            self._one_cache(begin, end, name, share_bytes.get(CacheName(name), 0), gave, alone, own)

    def _one_cache(
        self, begin: Row, end: Row, name: str, share_bytes: int, gave: PassEvictions, alone: bool, tied: bool
    ) -> None:
        of_one, rows, gave_bytes = begin["cache"] is not None, gave.rows, sum(gave.sizes)
        too_little = gave_bytes < share_bytes and self._live[name] > len(rows)
        too_much = bool(rows) and gave_bytes - gave.sizes[-1] >= share_bytes
        none = not rows and self._live[name] > 0
        seqs = [begin["seq"]]
        if share_bytes > 0 and alone and too_little and (of_one or not none):
            self._report("L-EVICT-1", {**end, "life": None}, share_bytes, gave_bytes, [*seqs, end["seq"]], self._one)
        if rows and (too_much if share_bytes > 0 and alone else False):
            self._report("L-EVICT-2", {**rows[-1], "life": None}, share_bytes, gave_bytes, seqs, self._one)
        if rows and of_one and share_bytes <= 0:
            self._report("L-EVICT-2", {**rows[0], "life": None}, "nothing", gave_bytes, seqs, self._one)
        rule = "L-EVICT-4" if tied else "L-EVICT-3"
        if not of_one and rows and share_bytes <= 0:
            self._report(rule, {**rows[0], "life": None}, "nothing", gave_bytes, seqs, self._one)
        if not of_one and share_bytes > 0 and none:
            self._report(rule, {**end, "life": None}, "something", 0, seqs, self._one)
        if rows and share_bytes > 0 and not alone and (too_little or too_much):
            self._report("L-EVICT-5", {**rows[-1], "life": None}, share_bytes, gave_bytes, seqs, self._one)


# ---------- brokers

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
    **{removals.RULE_OF[cause]: rule for cause, rule in trigger_points.REMOVALS.items()},
}
GROUPS: Final = {"TIME": "L-EXPIRE-2", "SIZE": "L-EVICT-1", "GET": "L-READ-2"}


def replay(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[rule_files.Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, results.RuleFinding]:
    """Return the findings of each broker."""

    def play(name: str, rows: list[Row]) -> BrokerFindings:
        broker = LegacyReplay(name, rows, metadata, max_live_slots)
        rows_with_rules = (
            (
                now.row,
                () if now.settings is None else now.settings.untold,
                trigger_points.rules_of(now.row, now.settings, broker.facts),
            )
            for now in broker.events
        )
        applicable = count_applicable_rows(name, rows_with_rules, rules)
        try:
            broker.run()
        except brokers.TooManySlots:
            return BrokerFindings(applicable, f"more than {max_live_slots} entries")
        return BrokerFindings(applicable, "", broker.missing(), broker.violations, broker.undecided)

    return replay_brokers(pulsar_pip430.COLUMNS, play, parts, metadata, rules, progress)


class LegacyReplay:
    """The replay of one broker."""

    def __init__(self, name: str, rows: list[Row], metadata: Metadata, max_live_slots: int) -> None:
        self._name = name
        self._rows = rows
        self._same = brokers.BrokerReplay(name, rows, metadata, max_live_slots, has_queue=False)
        self._by_object = pulsar_legacy.by_object(metadata)
        self.facts: Facts = self._same.facts
        self.events: list[trigger_points.Moment] = trigger_points.read_events(name, rows, self.facts, metadata.sampled)
        self.violations: defaultdict[str, list[results.Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)

    def missing(self) -> list[str]:
        """Return the reasons why a clean answer would claim too much."""
        begins = [] if self.facts.fresh or not self.facts.starts else ["it begins with entries cached before"]
        return self._same.missing() + [f"broker {self._name!r}: {why}" for why in begins]

    def run(self) -> None:
        """Replay the rows in order."""
        self._same.run()
        self._take_over()
        PassRemovals(self.facts, self._report, self._rows)
        self._refused()
        removal_checks = removals.RemovalChecks(self.facts, self._report, self._rows, _group_of, GROUPS)
        reads = trigger_points.Reads(self.facts, self._report, self._by_object)
        checks = (trigger_points.Offers(self.facts, self._report), reads, Shares(self.facts, self._report, self.events))
        for now in self.events:
            removal_checks.take(now.row)
            for check in checks:
                check.follow(now)
        reads.finish()

    def _take_over(self) -> None:
        """Take over the findings of the rules that `SAME` maps to rules of this system."""
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
            if trigger_points.is_triggered(row, "PASS_BEGIN") and bound is not None and bound <= 0:
                self._report("L-TRIGGER-6", row, "no pass", bound, [], True)
            if wrong:
                self._report("L-STATE-3", row, "an allowed value", bound, [], True)

    def _report(
        self, rule: str, row: Row, wanted: object, observed: object, seqs: Iterable[int | None], sure: bool
    ) -> None:
        """Report a violation, or store it as undecided if it is not sure."""
        seq = row["seq"]
        if sure:
            witnesses = tuple(known for known in seqs if known is not None) or (seq,)
            self.violations[rule].append(
                results.Violation(rule, self._name, seq, row["life"], str(wanted), str(observed), witnesses)
            )
        else:
            self.undecided[rule].append(f"{rule}: broker {self._name!r}, seq {seq}: {observed}")


def _group_of(row: Row) -> removals.Named | None:
    """Return the group of a removal by a pass, or of a hit of a lookup; return None for other rows."""
    if None in (row["ledger_id"], row["entry_id"]):
        return None
    if row["op"] == "EVICT" and row["cause"] in ("TIME", "SIZE") and row["pass_id"] is not None:
        return row["cache"], row["cause"], None, row["pass_id"]
    if (row["op"], row["cause"]) == ("HIT", "GET") and row["call_id"] is not None:
        return row["cache"], "GET", None, row["call_id"]
    return None
