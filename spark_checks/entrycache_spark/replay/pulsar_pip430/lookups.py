"""Replay of positions, lookups and fills, of cursors, and the rules that apply to a row.

`Lookups` holds the entry at each position, so that it knows what a lookup must find. `Cursors` holds the cursors of all
caches and the ranks that inserts take from them. `ReadsInFlight` holds the asks and reads that are open, and
`triggers` the permits. `rules_of` returns the rules that one event exercises.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from entrycache_reference.pulsar_pip430.change import EMPTY_CACHE
from entrycache_reference.pulsar_pip430.cursors import NANOS_A_MILLISECOND, is_in_grace, rank_of
from entrycache_reference.vocabulary import CursorName, Position
from entrycache_spark.replay.pulsar_pip430 import trigger_points, triggers
from entrycache_spark.replay.pulsar_pip430.removals import RULE_OF as REMOVALS

Place = tuple[Any, Any, Any]


class Change(NamedTuple):
    """The last event that put an entry at a position or took it away."""

    seq: int
    is_in: bool
    life: int | None


class Lookups:
    """The entry at each position, and the call that missed the position last."""

    def __init__(self, facts: trigger_points.Facts, report: trigger_points.Reporter) -> None:
        self._facts = facts
        self._report = report
        self._island = 0
        self._changes: dict[Place, Change] = {}
        self._missed: dict[Place, trigger_points.Row] = {}
        self._fills: dict[int, trigger_points.Row] = {}

    def follow(self, now: trigger_points.Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self._island = now.island
            self._changes.clear()
            self._missed.clear()
        row, op = now.row, now.row["op"]
        self._in_call(row)
        if row["entry_id"] is None:
            return
        place = (row["cache"], row["ledger_id"], row["entry_id"])
        change = self._changes.get(place)
        is_in = change.is_in if change is not None else False if now.whole else None
        if op in ("HIT", "MISS"):
            self._looked_up(row, change, is_in)
        elif op == "REJECT" and row["cause"] == "DUPLICATE" and is_in is False:
            self._report(
                "R-INSERT-1", row, "INSERT", "REJECT of an entry that is not cached", [row["seq"]], not self._facts.many
            )
        elif op == "INSERT":
            if is_in:
                self._report("R-INSERT-2", row, "REJECT", "INSERT", [row["seq"]], not self._facts.many)
            if row["cause"] == "FILL":
                self._filled(row, self._missed.get(place))
        if op == "MISS":
            self._missed[place] = row
        if op == "INSERT" or (trigger_points.is_open(row) and row["life"] is not None):
            self._changes[place] = Change(row["seq"], True, row["life"])
        elif op in ("EVICT", "REMOVE"):
            self._changes[place] = Change(row["seq"], False, row["life"])

    def _looked_up(self, row: trigger_points.Row, change: Change | None, is_in: bool | None) -> None:
        rule = {"GET": "R-READ-1", "READ": "R-READ-7", "REPLAY": "R-READ-10"}.get(row["cause"])
        if rule is None or is_in is None:
            return
        other = change is not None and row["life"] is not None and row["life"] != change.life
        if (is_in and row["ask_id"] is None) if row["op"] == "MISS" else (not is_in or other):
            seqs = [None if change is None else change.seq, row["seq"]]
            self._report(rule, row, "a cached entry", f"{row['op']} of life {row['life']}", seqs, not self._facts.many)

    def _filled(self, row: trigger_points.Row, missed: trigger_points.Row | None) -> None:
        many, call_id = self._facts.many, row["call_id"]
        uncounted = row["expected_reads"] is None or row["expected_reads"] < 1
        call_is_complete = call_id is not None and call_id >= self._facts.first_seq and not self._facts.gapped
        missed_call = None if missed is None else missed["call_id"]
        foreign = call_is_complete and (not many if missed_call is None else missed_call != call_id)
        if uncounted or foreign:
            self._report("R-READ-9", row, "a MISS in the same call", row["expected_reads"], [], not many or uncounted)
        if missed is not None and missed["cause"] == "REPLAY" and missed["call_id"] == call_id is not None:
            self._report("R-READ-10", row, "no fill", "a fill", [missed["seq"], row["seq"]], not many)

    def _in_call(self, row: trigger_points.Row) -> None:
        """The reads of one call that name no cursor: lookups first, then fills, ascending, of one count."""
        fill = row["op"] == "INSERT" and row["cause"] == "FILL"
        lookup = row["op"] in ("HIT", "MISS") and row["cause"] == "READ"
        if row["call_id"] is None or row["cursor"] is not None or not (fill or lookup):
            return
        last, sure = self._fills.get(row["call_id"]), not self._facts.many
        if last is not None and lookup and last["unasked_seq"] is not None:
            self._report("R-READ-7", row, "lookups before fills", row["op"], [last["unasked_seq"], row["seq"]], sure)
        elif last is not None and fill and _goes_astray(row, last):
            self._report("R-READ-9", row, "ascending, one count", row["entry_id"], [last["seq"], row["seq"]], sure)
        if fill:
            names = ("expected_reads", "ledger_id", "entry_id")
            known = {} if last is None else {name: last[name] for name in names if row[name] is None}
            earlier = None if last is None else last["unasked_seq"]
            unasked = row["seq"] if row["ask_id"] is None else earlier
            self._fills[row["call_id"]] = {**row, **known, "unasked_seq": unasked}


def _goes_astray(row: trigger_points.Row, last: trigger_points.Row) -> bool:
    """Return whether a fill does not follow the one before it in a read."""
    return _differ(row, last, "expected_reads") or _differ(row, last, "ledger_id") or _falls_back(row, last)


def _differ(row: trigger_points.Row, last: trigger_points.Row, name: str) -> bool:
    return None not in (row[name], last[name]) and row[name] != last[name]


def _falls_back(row: trigger_points.Row, last: trigger_points.Row) -> bool:
    """Return whether an entry of the same ledger does not lie behind the last one."""
    known = None not in (row["ledger_id"], row["entry_id"], last["entry_id"]) and row["ledger_id"] == last["ledger_id"]
    return known and bool(row["entry_id"] <= last["entry_id"])


# ---------- cursors


@dataclass
class CacheCursors:
    """The cursors of one cache, and when its grace period started."""

    members: dict[CursorName, Position | None] = field(default_factory=dict)
    opened_ns: int | None = None
    grace_ns: int | None = None
    restart_ns: int | None = None
    turns: list[tuple[int, dict[CursorName, Position | None]]] = field(default_factory=list)
    """The members behind each of their events, kept of a trace of several threads."""


class Cursors:
    """The cursors of all caches."""

    def __init__(
        self,
        facts: trigger_points.Facts,
        report: trigger_points.Reporter,
        asking: frozenset[Any],
        managed: frozenset[Any],
    ) -> None:
        self._facts = facts
        self._report = report
        self._asking = asking
        self._managed = managed
        self._of: dict[Any, CacheCursors] = {}

    def follow(self, now: trigger_points.Moment) -> None:
        """Read one event."""
        row, op = now.row, now.row["op"]
        cursors = self._of.setdefault(row["cache"], CacheCursors())
        if op == "CACHE_OPEN":
            if cursors.opened_ns is None:
                cursors.opened_ns = row["ts_ns"]
                self._restart(cursors, row["ts_ns"])
            cursors.restart_ns = _later(cursors.restart_ns, row["ts_ns"])
        elif row["cursor"] is not None and op in ("CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE"):
            self._turned(row, cursors)
        elif now.settings is not None and op == "INSERT" and row["cause"] == "FILL" and row["cursor"] is not None:
            wanted = rank_of(self._members_at_request(row, cursors), row["cursor"])
            if now.settings.ranks and row["expected_reads"] != wanted:
                sure = self._facts.fresh and not self._facts.gapped and not self._facts.many
                self._report("R-CURSOR-7", row, wanted, row["expected_reads"], [row["seq"]], sure)
        elif op == "REMOVE" and row["cause"] == "CURSOR":
            self._dropped(now, cursors)
        elif op == "INSERT" and row["cause"] == "ADD":
            if row["cache"] in self._asking or not self._facts.virtual:
                self._added(now, cursors, True)
            self._counted(now, cursors)
        elif asks(now.row, now.before):
            self._added(now, cursors, False)

    def _dropped(self, now: trigger_points.Moment, cursors: CacheCursors) -> None:
        """Check that a managed ledger drops only what lies below its slowest cursor."""
        row, places = now.row, [place for place in cursors.members.values() if place is not None]
        if row["cache"] not in self._managed or not drops_at_once(now.settings) or not places:
            return
        if None not in (row["ledger_id"], row["entry_id"]) and Position(row["ledger_id"], row["entry_id"]) >= min(
            places
        ):
            sure = self._facts.fresh and not self._facts.gapped and not self._facts.many
            self._report("R-LEDGER-14", row, f"below {min(places)}", "REMOVE", [row["seq"]], sure)

    def _counted(self, now: trigger_points.Moment, cursors: CacheCursors) -> None:
        """Check that an appended entry is counted for each active cursor."""
        row, members = now.row, len(cursors.members)
        ranks = now.settings is not None and now.settings.ranks
        if row["cache"] in self._managed and ranks and trigger_points.differ(row["expected_reads"], members):
            sure = self._facts.fresh and not self._facts.gapped and not self._facts.many
            self._report("R-LEDGER-1", row, members, row["expected_reads"], [row["seq"]], sure)

    def _members_at_request(
        self, row: trigger_points.Row, cursors: CacheCursors
    ) -> Mapping[CursorName, Position | None]:
        """Return the members when the read asked for the count: with several threads when its call begins."""
        call_id = row["call_id"]
        if not self._facts.many or call_id is None or call_id >= row["seq"]:
            return cursors.members
        at = bisect_right(cursors.turns, call_id, key=lambda turn: turn[0])
        return cursors.turns[at - 1][1] if at else {}

    def _turned(self, row: trigger_points.Row, cursors: CacheCursors) -> None:
        op, name = row["op"], row["cursor"]
        known = None not in (row["ledger_id"], row["entry_id"])
        pos = Position(row["ledger_id"], row["entry_id"]) if known else None
        if op == "CURSOR_ADD":
            cursors.members[name] = pos
            cursors.restart_ns = _later(cursors.restart_ns, row["ts_ns"])
        elif op == "CURSOR_MOVE" and name in cursors.members:
            cursors.members[name] = pos
        elif op == "CURSOR_REMOVE" and name in cursors.members:
            del cursors.members[name]
            self._restart(cursors, row["ts_ns"])
        if self._facts.many:
            cursors.turns.append((row["seq"], dict(cursors.members)))

    def _restart(self, cursors: CacheCursors, ts_ns: int) -> None:
        cursors.grace_ns = _later(cursors.grace_ns, ts_ns)
        cursors.restart_ns = _later(cursors.restart_ns, ts_ns)

    def _added(self, now: trigger_points.Moment, cursors: CacheCursors, cached: bool) -> None:
        """Let the reference say whether the entry was wanted."""
        row, settings = now.row, now.settings
        if settings is None or settings.ranks is None:
            return
        known = self._facts.fresh and not self._facts.gapped and not self._facts.many
        members, seqs = len(cursors.members), [row["seq"]]
        if not settings.ranks:
            if cached != (members > 0):
                self._report("R-CURSOR-12", row, members > 0, cached, seqs, known)
            return
        grace = settings.grace_millis
        if grace is None:
            return
        by_grace, by_restart, by_open = (
            None if start is None else is_in_grace(EMPTY_CACHE._replace(grace_start_nanos=start), row["ts_ns"], grace)
            for start in (cursors.grace_ns, cursors.restart_ns, cursors.opened_ns)
        )
        sure = known and (self._facts.virtual or members > 0 or not self._near(row, cursors, grace))
        if cached and members == 0 and by_grace is False:
            self._report("R-CURSOR-6" if by_restart else "R-CURSOR-11", row, "SKIP", "INSERT", seqs, sure)
        elif not cached and (members > 0 or (by_grace and by_open)):
            self._report("R-CURSOR-11", row, "INSERT", "SKIP", seqs, sure)
        elif not cached and by_grace and by_open is False:
            self._report("R-CURSOR-6", row, "INSERT", "SKIP", seqs, sure)

    def _near(self, row: trigger_points.Row, cursors: CacheCursors, grace: int) -> bool:
        """Return whether the end of the grace period is within a millisecond."""
        if cursors.grace_ns is None:
            return True
        passed = row["ts_ns"] // NANOS_A_MILLISECOND - cursors.grace_ns // NANOS_A_MILLISECOND
        return bool(abs(passed - grace) <= 1)


def _later(known: int | None, ts_ns: int) -> int:
    return ts_ns if known is None else max(known, ts_ns)


def asks(row: trigger_points.Row, before: trigger_points.Row | None) -> bool:
    """Return whether the row is an added entry that was not wanted: the first event of its call, but for CACHE_OPEN."""
    if row["op"] != "SKIP" or row["cause"] != "NOT_WANTED" or row["call_id"] is None:
        return False
    opened = before is not None and before["op"] == "CACHE_OPEN" and before["call_id"] == row["call_id"]
    return bool(row["seq"] == row["call_id"] or (opened and row["seq"] == row["call_id"] + 1))


# ---------- reads in flight


@dataclass
class OpenAsk:
    """One ask: its row, its answer, and the fills that it brought so far."""

    row: trigger_points.Row
    answer: trigger_points.Row | None = None
    is_joinable: bool = True
    fills: list[trigger_points.Row] = field(default_factory=list)

    def covers(self, row: trigger_points.Row, last: int) -> bool:
        """Return whether a row names an entry from the first of the ask to this one, in its ledger."""
        return bool(row["ledger_id"] == self.row["ledger_id"] and self.row["entry_id"] <= row["entry_id"] <= last)


class ReadsInFlight:
    """The asks and the reads of a broker."""

    def __init__(
        self, facts: trigger_points.Facts, report: trigger_points.Reporter, variants: Mapping[str, bool]
    ) -> None:
        self._facts, self._report, self._variants = facts, report, variants
        self._known = facts.starts and not facts.gapped
        self._asks: dict[int, OpenAsk] = {}
        self._delivered: dict[Place, int] = {}
        self._reads: dict[int, trigger_points.Row] = {}
        self._failed: dict[int, int] = {}
        self._begun: dict[int, list[trigger_points.Row]] = {}
        self._ended: dict[int, int] = {}
        self._unanswered = 0
        self._limiter = triggers.LimiterReplay(facts, report, variants)

    def follow(self, now: trigger_points.Moment) -> None:
        """Read one event."""
        row, op = now.row, now.row["op"]
        is_request = op == "PERMIT" and row["cause"] in ("TAKEN", "QUEUED", "REFUSED")
        if row["read_id"] is not None and (is_request or op in ("READ_BEGIN", "READ_END", "ASK", "HIT")):
            self._follow_read(row)
        self._limiter.follow_read(now)
        if op == "PERMIT":
            self._limiter.follow(now)
        elif op == "READ_BEGIN" and row["read_id"] is not None:
            self._reads[row["read_id"]] = row
        elif op == "READ_END":
            self._reads.pop(row["read_id"], None)
            if row["cause"] == "FAILED" and row["read_id"] is not None and not self._facts.counts_failed:
                self._failed.setdefault(row["read_id"], row["seq"])
        elif op == "READ_DONE" and row["cause"] == "DELIVERED" and row["entry_id"] is not None:
            self._deliver(row)
        self._unanswered += (op == "ASK") - (op == "ANSWER")
        if row["ask_id"] is None or row["entry_id"] is None:
            return
        if op == "ASK" and row["last_entry_id"] is not None:
            self._ask(row, now)
        elif op == "ANSWER" and row["last_entry_id"] is not None:
            self._answer(row)
        elif op == "INSERT" and row["cause"] == "FILL":
            self._fill(row)

    def _differs_from_begin(self, row: trigger_points.Row, *names: str) -> bool:
        """Return whether a row names another cursor or cache than the begin of its read."""
        begins = self._begun.get(row["read_id"], ())
        known = {name: [one[name] for one in begins if one[name] is not None] for name in names}
        return any(values and trigger_points.differ(row[name], max(values)) for name, values in known.items())

    def _follow_read(self, row: trigger_points.Row) -> None:
        """Check that a row lies between the begin and the end of its read, in its cache and for its cursor."""
        number, is_begin = row["read_id"], row["op"] == "READ_BEGIN"
        has_begun, ended_seq = number in self._begun, self._ended.get(number)
        if has_begun is is_begin or ended_seq is not None or self._differs_from_begin(row, "cursor", "cache"):
            sure = self._known and (not self._facts.many or (has_begun and not is_begin and ended_seq is None))
            seqs = [ended_seq, row["seq"]]
            self._report("R-INFLIGHT-13", row, "a row of an open read", row["op"], seqs, sure)
        if is_begin:
            self._begun.setdefault(number, []).append(row)
        elif row["op"] == "READ_END":
            self._ended[number] = row["seq"]

    def _ask(self, row: trigger_points.Row, now: trigger_points.Moment) -> None:
        is_open = now.settings is not None and (now.settings.limit_bytes or 0) > 0
        over = [
            ask.row["seq"]
            for ask in self._asks.values()
            if ask.is_joinable
            and (ask.row["cache"], ask.row["ledger_id"]) == (row["cache"], row["ledger_id"])
            and ask.row["entry_id"] <= row["last_entry_id"]
            and row["entry_id"] <= ask.row["last_entry_id"]
        ]
        if over and is_open:
            sure = self._known and not self._facts.many
            self._report("R-INFLIGHT-2", row, "a wait", "an ask", [max(over), row["seq"]], sure)
        self._asks[row["ask_id"]] = OpenAsk(row, is_joinable=is_open)

    def _answer(self, row: trigger_points.Row) -> None:
        ask, cause = self._asks.get(row["ask_id"]), row["cause"]
        is_short = cause == "SHORT"
        if (
            ask is None
            or ask.answer is not None
            or any(trigger_points.differ(row[name], ask.row[name]) for name in ("cache", "ledger_id", "entry_id"))
            or (is_short and not row["entry_id"] <= row["last_entry_id"] < ask.row["last_entry_id"])
            or (cause is None and row["last_entry_id"] > ask.row["last_entry_id"])
            or (cause is not None and not is_short and row["last_entry_id"] != ask.row["last_entry_id"])
        ):
            self._report("R-INFLIGHT-1", row, "the answer to an open ask", "ANSWER", [row["seq"]], self._known)
        for other in self._asks.values() if cause == "FAIL" else ():
            if (other.row["cache"], other.row["ledger_id"]) == (row["cache"], row["ledger_id"]):
                other.is_joinable = False
        if ask is not None:
            ask.answer, ask.is_joinable = row if ask.answer is None else ask.answer, False

    def _given(self, row: trigger_points.Row) -> bool:
        """Return whether an answer brought the entry of a row."""
        ask = self._asks.get(row["ask_id"])
        if ask is None or ask.answer is None or ask.answer["cause"] not in ("ALL", "SHORT"):
            return False
        return ask.covers(row, ask.answer["last_entry_id"])

    def _fill(self, row: trigger_points.Row) -> None:
        ask = self._asks.get(row["ask_id"])
        is_other = ask is not None and any(
            trigger_points.differ(row[name], ask.row[name]) for name in ("cache", "cursor")
        )
        if not self._given(row) or is_other:
            sure = self._known and not self._facts.many
            self._report("R-INFLIGHT-3", row, "an entry that the answer brought", "a fill", [row["seq"]], sure)
        if ask is None:
            return
        counts = [fill["expected_reads"] for fill in ask.fills if fill["expected_reads"] is not None]
        is_behind = any(row["entry_id"] <= fill["entry_id"] for fill in ask.fills)
        if (counts and trigger_points.differ(row["expected_reads"], min(counts))) or is_behind:
            seqs = [ask.row["seq"], row["seq"]]
            self._report("R-LEDGER-6", row, "one count, ascending", row["expected_reads"], seqs, self._known)
        ask.fills.append(row)

    def _deliver(self, row: trigger_points.Row) -> None:
        key = (row["read_id"], row["ledger_id"], row["entry_id"])
        ask, ended_seq = self._asks.get(row["ask_id"]), self._ended.get(key[0])
        answer = None if ask is None else ask.answer
        if row["read_id"] is not None and (
            row["read_id"] not in self._begun
            or self._differs_from_begin(row, "cache")
            or (not self._facts.many and None not in (ended_seq, row["ask_id"]) and ended_seq < row["ask_id"])
            or (not self._facts.many and answer is not None and row["read_id"] > answer["seq"])
        ):
            sure = self._known and not self._facts.many
            self._report("R-INFLIGHT-4", row, "a read that waits for the ask", "READ_DONE", [row["seq"]], sure)
        if key[0] in self._failed:
            self._report("R-INFLIGHT-9", row, "no delivery", "READ_DONE", [self._failed[key[0]], row["seq"]], True)
        again = row["read_id"] is not None and key in self._delivered and not self._variants["counts_failed"]
        if again or (row["ask_id"] is not None and not self._given(row)):
            seqs = [self._delivered.get(key), row["seq"]]
            self._report("R-INFLIGHT-4", row, "one delivery of what was brought", "READ_DONE", seqs, self._known)
        self._delivered[key] = row["seq"]

    def finish(self) -> None:
        """Check that no read is left that nothing will end."""
        self._limiter.finish()
        if self._facts.complete and not self._unanswered and not self._limiter.waiting:
            for row in self._reads.values():
                self._report("R-INFLIGHT-13", row, "READ_END", "none", [row["seq"]], True)


# ---------- applicable rules

DEQUEUES = ("EVICT", "REQUEUE", "TOMBSTONE")


def rules_of(
    row: trigger_points.Row, settings: trigger_points.EffectiveValues | None, facts: trigger_points.Facts
) -> Iterable[str]:
    """Return the rules that apply to one event."""
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
    yield from _of_reads_in_flight(row, settings)
    if op == "READ_END" and cause == "FAILED" and not facts.counts_failed:
        yield "R-INFLIGHT-9"
    if op == "READ_END" and facts.virtual:
        yield "R-INFLIGHT-10"
    yield from _of_thresholds(row, settings, facts)
    yield from _of_levels(row, settings, facts)


def drops_at_once(settings: trigger_points.EffectiveValues | None) -> bool:
    """Return whether cursors make entries leave, and no call has to come first."""
    return settings is not None and settings.ranks is False and not settings.drops_late


def _of_reads_in_flight(row: trigger_points.Row, settings: trigger_points.EffectiveValues | None) -> Iterable[str]:
    op, cause = row["op"], row["cause"]
    yield from {"ANSWER": ("R-INFLIGHT-1",), "ASK": ("R-INFLIGHT-2",), "READ_BEGIN": ("R-INFLIGHT-13",)}.get(op, ())
    if op in ("INSERT", "MISS") and row["ask_id"] is not None:
        yield "R-INFLIGHT-3"
    if op == "INSERT" and cause == "FILL" and row["ask_id"] is not None:
        yield "R-LEDGER-6"
    if op == "LEDGER_DELETE" or (op == "REMOVE" and cause == "LEDGER"):
        yield "R-LEDGER-17"
    if op == "READ_DONE" and cause == "DELIVERED" and (row["read_id"] is not None or row["ask_id"] is not None):
        yield "R-INFLIGHT-4"
    if op == "READ_BEGIN" and settings is not None and settings.ranks:
        yield "R-LEDGER-1"
    if op == "REMOVE" and cause == "CURSOR" and drops_at_once(settings):
        yield "R-LEDGER-14"
    if op == "PERMIT":
        yield from _PERMIT_RULES.get(cause, ())
        if row["read_id"] is not None:
            yield "R-LIMIT-1"
        if cause == "TAKEN" and row["bound"] is not None:
            yield "R-LIMIT-3"


_PERMIT_RULES = {
    "TAKEN": ("R-LIMIT-2", "R-LIMIT-5", "R-LIMIT-7"),
    "QUEUED": ("R-LIMIT-2", "R-LIMIT-4"),
    "REFUSED": ("R-LIMIT-4", "R-LIMIT-6"),
    "GIVEN": ("R-LIMIT-5", "R-LIMIT-7"),
}
"""The rules that a PERMIT exercises by its cause."""


def _of_thresholds(
    row: trigger_points.Row, settings: trigger_points.EffectiveValues | None, facts: trigger_points.Facts
) -> Iterable[str]:
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


def _of_levels(
    row: trigger_points.Row, settings: trigger_points.EffectiveValues | None, facts: trigger_points.Facts
) -> Iterable[str]:
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


def _of_lives(row: trigger_points.Row, facts: trigger_points.Facts) -> Iterable[str]:
    op, cause, life = row["op"], row["cause"], row["life"]
    sums_up = op == "PASS_END" and (row["tail_no"] is not None or row["head_no"] is not None)
    if op == "END" or sums_up or (life is not None and op in trigger_points.SHOWING):
        yield "R-STATE-2"
    if life is not None and op in trigger_points.SHOWING and row["accessed"] is not None:
        yield "R-READ-2"
    if life is not None and op in ("INSERT", *trigger_points.SHOWING) and row["requeues"] is not None:
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
