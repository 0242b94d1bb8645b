"""Replay of `pulsar-segmented`: entries, turns, and the loop over the rows of each broker.

`Entries` judges inserts, lookups and sums row by row, where no event is missing. `Turns` judges the turn of the ring,
the offsets of segments and the settings. Both compare a row with the ring that the earlier rows built.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from entrycache_reference.pulsar_segmented.lookup import is_range
from entrycache_reference.vocabulary import Position
from entrycache_spark.replay.common import ReplayPlan, Row, ViolationCollector, differ, read_counters, replay_each
from entrycache_spark.replay.pulsar_segmented.mirror import (
    LOOKUP_OPS,
    SETTINGS,
    TURN,
    Facts,
    Mirror,
    Moment,
    applicable_rules,
    is_displaced,
    place_of,
    unlike,
)
from entrycache_spark.systems.pulsar_segmented import COLUMNS

Reporter = Callable[..., None]


def _is(row: Row | None, op: str, cause: str) -> bool:
    return row is not None and row["op"] == op and row["cause"] == cause


class Entries:
    """S-INSERT, S-GET, S-RANGE, S-USAGE-1, S-STATE-2: row by row, where nothing is missing."""

    def __init__(self, report: Reporter, mirror: Mirror) -> None:
        self._report = report
        self._mirror = mirror
        self._first: Row | None = None
        self._last: Row | None = None
        self._shown: Row | None = None
        self._life_shown: int | None = None
        self._n_shown = 0

    def follow(self, now: Moment, whole: bool) -> None:
        """Read one row."""
        row = now.row
        self._by_itself(now)
        self._n_shown += row["op"] == "SNAPSHOT"
        if whole:
            self._inserted(now)
            self._looked_up(now)
            self._summed(now)
            self._shown_again(now)
        if _is(row, "ASK", "FIRST"):
            self._first = row
        elif _is(row, "ASK", "LAST"):
            self._last = row
        elif row["op"] == "SNAPSHOT":
            self._shown = row
            self._life_shown = self._life_shown if row["life"] is None else row["life"]

    def _by_itself(self, now: Moment) -> None:
        """Check the conditions that need no other row."""
        row, op, limit, room = now.row, now.row["op"], now.ring.limit_bytes, now.ring.of.room_bytes
        size, bound = row["size_bytes"], row["bound"]
        if op in ("INSERT", "REJECT", "SKIP", "PASS_BEGIN") and size is not None and size < 0:
            self._report("S-INSERT-5", row, "a refusal", sure=True)
        if op == "INSERT" and limit == 0:
            self._report("S-INSERT-4", row, "SKIP", sure=True)
        if size is None or room is None or limit is None:
            return
        if op == "INSERT" and limit > 0 and size > room:
            self._report("S-INSERT-3", row, "SKIP", sure=True)
        elif op == "INSERT" and limit > 0 and bound is not None and bound + size > room:
            self._report("S-SEGMENT-1", row, f"an end at or before byte {room}", sure=True)
        elif op == "PASS_BEGIN" and bound is not None and bound + size <= room:
            self._report("S-SEGMENT-1", row, "no turn", sure=True)

    def _inserted(self, now: Moment) -> None:
        row, op = now.row, now.row["op"]
        is_known = None not in place_of(row)
        if op == "INSERT":
            own = differ(row["life"], row["seq"])
            is_of_other_turn = all(differ(row["tail_no"], turn) for turn in (now.turn_now, now.turns))
            if own or is_of_other_turn:
                self._report("S-INSERT-1", row, f"a life of turn {now.turn_now}", sure=own or None)
            if not now.is_first and now.is_astray:
                self._report("S-INSERT-1", row, f"a start at byte {now.generation_bytes}", [now.last.seq, row["seq"]])
            if is_known and now.held.is_in:
                self._report("S-INSERT-2", row, "REJECT", [now.held.changed_seq, row["seq"]])
        limit = now.ring.limit_bytes
        if _is(row, "SKIP", "DISABLED") and limit is not None and limit > 0:
            self._report("S-INSERT-1", row, "INSERT")
        if _is(row, "REJECT", "DUPLICATE") and is_known and not now.held.is_in:
            self._report("S-INSERT-1", row, "INSERT", [now.held.changed_seq, row["seq"]])
        if op == "REJECT" and now.is_miswritten:
            self._report("S-INSERT-2", row, f"offsets of {now.manager_shown} bytes")

    def _looked_up(self, now: Moment) -> None:
        row, op, held = now.row, now.row["op"], now.held
        if op in ("HIT", "MISS") and None not in place_of(row):
            life = held.shown_life if row["cause"] == "GET" else held.life
            other = not held.is_in or differ(row["life"], life)
            wrong = held.is_in if op == "MISS" else other
            rule = {"GET": "S-GET-1", "READ": "S-RANGE-2" if op == "HIT" else None}.get(row["cause"])
            if wrong and rule is not None:
                self._report(rule, row, f"life {life}" if held.is_in else "nothing", [held.changed_seq, row["seq"]])
        if op in LOOKUP_OPS and now.is_miswritten:
            self._report("S-GET-2", row, f"offsets of {now.manager_shown} bytes")
        before = now.before
        in_look = before is not None and before["op"] in LOOKUP_OPS and before["call_id"] == row["call_id"] is not None
        if op in ("INSERT", "PASS_BEGIN", "EVICT") and in_look:
            self._report("S-GET-2", row, "no change in the call of a lookup")
        if _is(row, "HIT", "READ"):
            self._answered(now)
        elif _is(row, "ASK", "LAST"):
            self._check_unanswered(now)

    def _answered(self, now: Moment) -> None:
        """An entry of a range: the next one, and more behind it up to the last."""
        row, first, last, before = now.row, self._first, self._last, now.before
        if first is None:
            return
        seqs = [first["seq"], row["seq"]]
        wanted = None
        if before is not None and before["op"] in ("ASK", "HIT"):
            is_begin = before["op"] == "ASK"
            wanted = first["entry_id"] if is_begin else None if before["entry_id"] is None else before["entry_id"] + 1
        if any(differ(row[name], first[name]) for name in ("cache", "ledger_id")) or differ(row["entry_id"], wanted):
            self._report("S-RANGE-1", row, f"entry {wanted}", seqs)
        if last is None or last["seq"] < first["seq"]:
            return
        over, reversed_ = differ(first["ledger_id"], last["ledger_id"]), False
        if None not in (first["entry_id"], last["entry_id"]):
            reversed_ = first["entry_id"] > last["entry_id"]
        if over or reversed_:
            self._report("S-RANGE-3", row, "no HIT: this is no range", seqs)
        ends = now.after is not None and now.after["seq"] == row["seq"] + 1 and not _is(now.after, "HIT", "READ")
        is_one = first["ledger_id"] is not None and first["ledger_id"] == last["ledger_id"]
        if ends and is_one and differ(row["entry_id"], last["entry_id"]):
            self._report("S-RANGE-2", row, f"HIT rows up to entry {last['entry_id']}", seqs)

    def _check_unanswered(self, now: Moment) -> None:
        """A range that is not answered: some position of it is not cached."""
        row, first, after = now.row, now.before, now.after
        if first is None or not _is(first, "ASK", "FIRST") or None in (*place_of(row), *place_of(first)):
            return
        known = after is not None and after["seq"] == row["seq"] + 1
        ends = [Position(each["ledger_id"], each["entry_id"]) for each in (first, row)]
        if (
            not known
            or _is(after, "HIT", "READ")
            or first["cache"] != row["cache"]
            or not is_range(*ends)
            or ends[0].entry < 0
        ):
            return
        cached = self._mirror.cached(row["cache"], row["ledger_id"], ends[0].entry, ends[1].entry)
        if len(cached) == ends[1].entry - ends[0].entry + 1:
            self._report("S-RANGE-1", row, f"{len(cached)} HIT rows", [first["seq"], row["seq"]])

    def _summed(self, now: Moment) -> None:
        row, op, insert_row = now.row, now.row["op"], now.life_state.insert_row
        if now.before is not None and row["bytes_after"] not in (now.by_row, now.by_sum):
            self._report("S-USAGE-1", row, f"bytes_after {now.by_sum}", [now.before["seq"], row["seq"]])
        if op in ("METRICS", "END"):
            counters: dict[str, Any] = read_counters(row)
            if differ(counters.get("bytes"), now.by_sum) or differ(counters.get("entries"), now.live):
                self._report("S-USAGE-1", row, f"{now.live} entries, {now.by_sum} bytes")
        if op in ("HIT", "EVICT", "SNAPSHOT") and insert_row is not None:
            size = row["size_bytes"]
            if differ(size, insert_row["size_bytes"]) and unlike(size, now.life_state.size_bytes):
                self._report(
                    "S-USAGE-1",
                    row,
                    f"size_bytes {insert_row['size_bytes']}",
                    [insert_row["seq"], row["seq"]],
                    sure=True,
                )
        if op == "HIT" and insert_row is not None:
            key = row["key_hash"]
            if differ(key, insert_row["key_hash"]) and unlike(key, now.life_state.key_hash):
                self._report(
                    "S-GET-3", row, f"payload {insert_row['key_hash']}", [insert_row["seq"], row["seq"]], sure=True
                )

    def _shown_again(self, now: Moment) -> None:
        row, op, life_state = now.row, now.row["op"], now.life_state
        insert_row, is_snapshot = life_state.insert_row, op == "SNAPSHOT"
        if (is_snapshot or op == "EVICT") and insert_row is not None:
            is_of_other_turn = differ(row["tail_no" if is_snapshot else "ticket"], life_state.generation)
            moved = differ(row["bound"], insert_row["bound"]) and unlike(row["bound"], life_state.bound)
            if is_of_other_turn or moved or is_displaced(row, life_state):
                self._report("S-STATE-2", row, "the values of its INSERT", [insert_row["seq"], row["seq"]], sure=True)
        if is_snapshot and row["life"] is not None:
            again = self._life_shown is not None and row["life"] <= self._life_shown
            if insert_row is None or life_state.gone or again:
                seqs = [None if self._shown is None else self._shown["seq"], row["seq"]]
                self._report("S-STATE-2", row, f"a cached entry behind life {self._life_shown}", seqs, sure=True)
        wrong = (is_snapshot or op == "END") and now.is_miswritten
        if op == "END":
            segments = now.ring.of.segments
            used = None if segments is None else max(1, min(now.turns + 1, segments))
            wrong |= differ(read_counters(row).get("slots"), used) or self._n_shown not in (0, now.live)
        if wrong:
            self._report("S-STATE-2", row, f"{now.live} entries, offsets of {now.manager_shown} bytes")


# ---------- turns


class Turns:
    """S-RING, S-SEGMENT, S-CONFIG, S-STATE-1 and S-LIVENESS-1."""

    def __init__(self, report: Reporter, many: bool) -> None:
        self._report = report
        self._many = many

    def follow(self, now: Moment, whole: bool) -> None:
        """Read one row."""
        self._frame(now, whole)
        row, ring = now.row, now.ring.of
        if row["op"] in TURN and ring.named is not None and differ(row["trigger_bytes"], ring.room_bytes):
            rule = "S-CONFIG-2" if ring.named else "S-CONFIG-1"
            self._report(rule, row, f"room for {ring.room_bytes} bytes", sure=True)
        if whole:
            self._begins(now)
            self._turns(now)
            self._leaves(now)
            self._is_left(now)
            self._offsets(now)

    def _frame(self, now: Moment, whole: bool) -> None:
        """Time, calls, and the rows of a turn between its begin and its end."""
        row, op, before = now.row, now.row["op"], now.before
        if before is not None and row["ts_ns"] < before["ts_ns"]:
            self._report(
                "S-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", [before["seq"], row["seq"]], sure=True
            )
        follows = before is not None and before["seq"] == row["seq"] - 1 and not self._many
        if follows and all(differ(row["call_id"], call) for call in (row["seq"], before and before["call_id"])):
            self._report("S-LIVENESS-1", row, "the call of the row before, or one that begins here", sure=True)
        open_turn = now.marker["seq"] if whole and now.in_turn and now.marker is not None else None
        if op == "PASS_BEGIN":
            wrong = open_turn is not None or row["pass_id"] != row["seq"]
        elif op in ("PASS_END", "EVICT", "REQUEUE", "TOMBSTONE"):
            wrong = row["pass_id"] is None or (whole if open_turn is None else open_turn != row["pass_id"])
            wrong |= open_turn is not None and differ(row["cause"], "TURN")
        else:
            inside = before is not None and before["op"] in ("PASS_BEGIN", "EVICT", "REQUEUE", "TOMBSTONE")
            wrong = not self._many and op != "SNAPSHOT" and open_turn is not None and inside
        if wrong:
            self._report("S-RING-1", row, f"turn {open_turn} in progress", sure=True)

    def _begins(self, now: Moment) -> None:
        row = now.row
        if now.before is None and (row["bytes_after"] != 0 or differ(row["manager_bytes"], 0)):
            self._report("S-STATE-1", row, "empty segments", sure=True)
        if row["op"] == "INSERT" and now.last.seq is None and now.turns == 0 and differ(row["bound"], 0):
            self._report("S-STATE-1", row, "a start at byte 0", sure=True)
        if row["op"] == "INSERT" and now.is_first and now.turns > 0 and differ(row["bound"], 0):
            self._report("S-RING-3", row, "a start at byte 0", seqs_of(now.turned, row))

    def _turns(self, now: Moment) -> None:
        """The number of a turn, its segment, and the INSERT behind it."""
        row, op, after, segments = now.row, now.row["op"], now.after, now.ring.of.segments
        tail_no, ticket = row["tail_no"], row["ticket"]
        if op in TURN:
            by_row = now.turn_before + 1 if op == "PASS_BEGIN" else now.turn_now
            wrong = differ(tail_no, now.turns) and differ(tail_no, by_row)
            if ticket is not None:
                right = set() if segments is None else {now.turns - segments}
                right |= set() if segments is None or tail_no is None else {tail_no - segments}
                wrong |= ticket < 0 or (segments is not None and ticket not in right)
            if wrong:
                self._report("S-RING-1", row, f"turn {now.turns}")
        follows = after is not None and after["seq"] == row["seq"] + 1
        if op == "PASS_END" and after is not None and follows:
            if after["op"] != "INSERT" or differ(after["call_id"], row["call_id"]):
                self._report("S-RING-1", row, "an INSERT behind it")
        elif op == "INSERT" and now.before is not None and now.before["op"] == "PASS_END":
            wanted = None if now.turned is None else now.turned["size_bytes"]
            if differ(row["size_bytes"], wanted):
                self._report("S-RING-1", row, f"the entry of {wanted} bytes")
        limit, room = now.ring.limit_bytes, now.ring.of.room_bytes
        if op == "SKIP" and row["cause"] == "FULL" and None not in (limit, room, row["size_bytes"]):
            assert limit is not None
            if limit > 0 and row["size_bytes"] <= room:
                self._report("S-RING-1", row, "an INSERT")

    def _leaves(self, now: Moment) -> None:
        row, op, life_state = now.row, now.row["op"], now.life_state
        if op == "EVICT":
            again = row["life"] is not None and (life_state.insert_row is None or life_state.gone)
            oldest = now.oldest
            early = life_state.generation is not None and oldest is not None and life_state.generation not in oldest
            if again or early:
                self._report("S-RING-4", row, f"an entry of turn {oldest}", seqs_of(life_state.insert_row, row))
        if op in ("EVICT", "PASS_END") and now.is_miswritten:
            self._report("S-RING-4", row, f"offsets of {now.manager_shown} bytes less those of the segment")

    def _is_left(self, now: Moment) -> None:
        row, op, life_state, oldest = now.row, now.row["op"], now.life_state, now.oldest
        if op == "PASS_END" and now.generation.live > 0:
            self._report("S-RING-2", row, "an EVICT of each entry of the segment", seqs_of(now.marker, row))
        if (
            op == "HIT"
            and life_state.generation is not None
            and not life_state.gone
            and oldest is not None
            and life_state.generation <= min(oldest)
        ):
            self._report("S-RING-2", row, "no HIT of a cleared entry", seqs_of(life_state.insert_row, row))

    def _offsets(self, now: Moment) -> None:
        row, op = now.row, now.row["op"]
        if op == "INSERT" and now.is_miswritten and now.ring.of.copies is not None:
            rule = "S-SEGMENT-2" if now.ring.of.copies else "S-SEGMENT-3"
            self._report(rule, row, f"offsets above {now.manager_shown} bytes")
        moved = op == "PASS_BEGIN" and (differ(row["bound"], 0) if now.is_first else now.is_astray)
        if moved or (op in ("PASS_BEGIN", "SKIP") and now.is_miswritten):
            self._report("S-SEGMENT-4", row, f"an offset of {now.generation_bytes}", [now.last.seq, row["seq"]])


def seqs_of(before: Row | None, row: Row) -> list[int | None]:
    """The events that show it."""
    return [None if before is None else before["seq"], row["seq"]]


# ---------- rings


def _follow(facts: Facts, collector: ViolationCollector, max_live_slots: int) -> bool:
    """Replay the rows in order; return whether there were never more entries than replay is meant for."""
    mirror = Mirror(facts)
    checks = (Turns(collector.report, facts.many), Entries(collector.report, mirror))
    for at, whole in enumerate(facts.whole):
        now = mirror.take(at)
        for check in checks:
            check.follow(now, whole)
        if mirror.live > max_live_slots:
            return False
    return True


replay: Final = partial(replay_each, ReplayPlan(COLUMNS, SETTINGS, applicable_rules, _follow))
"""Return the findings of each broker."""
