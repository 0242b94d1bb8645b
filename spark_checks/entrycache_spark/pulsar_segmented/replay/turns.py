"""Replay of the turns of the ring, of its segments and of its frame."""

from __future__ import annotations

from collections.abc import Callable

from entrycache_spark.pulsar_segmented.replay.mirror import Moment
from entrycache_spark.pulsar_segmented.replay.told import TURN
from entrycache_spark.replaying import Row, differ

Tell = Callable[..., None]


class Turns:
    """S-RING, S-SEGMENT, S-CONFIG, S-STATE-1 and S-LIVENESS-1."""

    def __init__(self, tell: Tell, many: bool) -> None:
        self._tell = tell
        self._many = many

    def follow(self, now: Moment, whole: bool) -> None:
        """Take in one row."""
        self._frame(now, whole)
        row, ring = now.row, now.ring.of
        if row["op"] in TURN and ring.named is not None and differ(row["trigger_bytes"], ring.room_bytes):
            rule = "S-CONFIG-2" if ring.named else "S-CONFIG-1"
            self._tell(rule, row, f"room for {ring.room_bytes} bytes", sure=True)
        if whole:
            self._begins(now)
            self._turns(now)
            self._leaves(now)
            self._is_left(now)
            self._offsets(now)

    def _frame(self, now: Moment, whole: bool) -> None:
        """Time, calls, and what a turn does between its begin and its end."""
        row, op, before = now.row, now.row["op"], now.before
        if before is not None and row["ts_ns"] < before["ts_ns"]:
            self._tell(
                "S-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", [before["seq"], row["seq"]], sure=True
            )
        follows = before is not None and before["seq"] == row["seq"] - 1 and not self._many
        if follows and all(differ(row["call_id"], call) for call in (row["seq"], before and before["call_id"])):
            self._tell("S-LIVENESS-1", row, "the call of the row before, or one that begins here", sure=True)
        begun = now.marker["seq"] if whole and now.in_turn and now.marker is not None else None
        if op == "PASS_BEGIN":
            wrong = begun is not None or row["pass_id"] != row["seq"]
        elif op in ("PASS_END", "EVICT", "REQUEUE", "TOMBSTONE"):
            wrong = row["pass_id"] is None or (whole if begun is None else begun != row["pass_id"])
            wrong |= begun is not None and differ(row["cause"], "TURN")
        else:
            inside = before is not None and before["op"] in ("PASS_BEGIN", "EVICT", "REQUEUE", "TOMBSTONE")
            wrong = not self._many and op != "SNAPSHOT" and begun is not None and inside
        if wrong:
            self._tell("S-RING-1", row, f"turn {begun} under way", sure=True)

    def _begins(self, now: Moment) -> None:
        row = now.row
        if now.before is None and (row["bytes_after"] != 0 or differ(row["manager_bytes"], 0)):
            self._tell("S-STATE-1", row, "empty segments", sure=True)
        if row["op"] == "INSERT" and now.last.seq is None and now.turns == 0 and differ(row["bound"], 0):
            self._tell("S-STATE-1", row, "a start at byte 0", sure=True)
        if row["op"] == "INSERT" and now.is_first and now.turns > 0 and differ(row["bound"], 0):
            self._tell("S-RING-3", row, "a start at byte 0", seqs_of(now.turned, row))

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
                self._tell("S-RING-1", row, f"turn {now.turns}")
        follows = after is not None and after["seq"] == row["seq"] + 1
        if op == "PASS_END" and after is not None and follows:
            if after["op"] != "INSERT" or differ(after["call_id"], row["call_id"]):
                self._tell("S-RING-1", row, "an INSERT behind it")
        elif op == "INSERT" and now.before is not None and now.before["op"] == "PASS_END":
            wanted = None if now.turned is None else now.turned["size_bytes"]
            if differ(row["size_bytes"], wanted):
                self._tell("S-RING-1", row, f"the entry of {wanted} bytes")
        limit, room = now.ring.limit_bytes, now.ring.of.room_bytes
        if op == "SKIP" and row["cause"] == "FULL" and None not in (limit, room, row["size_bytes"]):
            assert limit is not None
            if limit > 0 and row["size_bytes"] <= room:
                self._tell("S-RING-1", row, "an INSERT")

    def _leaves(self, now: Moment) -> None:
        row, op, story = now.row, now.row["op"], now.story
        if op == "EVICT":
            again = row["life"] is not None and (story.begun is None or story.gone)
            oldest = now.oldest
            early = story.lot is not None and oldest is not None and story.lot not in oldest
            if again or early:
                self._tell("S-RING-4", row, f"an entry of turn {oldest}", seqs_of(story.begun, row))
        if op in ("EVICT", "PASS_END") and now.is_miswritten:
            self._tell("S-RING-4", row, f"offsets of {now.manager_shown} bytes less those of the segment")

    def _is_left(self, now: Moment) -> None:
        row, op, story, oldest = now.row, now.row["op"], now.story, now.oldest
        if op == "PASS_END" and now.lot.live > 0:
            self._tell("S-RING-2", row, "an EVICT of each entry of the segment", seqs_of(now.marker, row))
        if op == "HIT" and story.lot is not None and not story.gone and oldest is not None and story.lot <= min(oldest):
            self._tell("S-RING-2", row, "no HIT of what was cleared", seqs_of(story.begun, row))

    def _offsets(self, now: Moment) -> None:
        row, op = now.row, now.row["op"]
        if op == "INSERT" and now.is_miswritten and now.ring.of.copies is not None:
            rule = "S-SEGMENT-2" if now.ring.of.copies else "S-SEGMENT-3"
            self._tell(rule, row, f"offsets above {now.manager_shown} bytes")
        moved = op == "PASS_BEGIN" and (differ(row["bound"], 0) if now.is_first else now.is_astray)
        if moved or (op in ("PASS_BEGIN", "SKIP") and now.is_miswritten):
            self._tell("S-SEGMENT-4", row, f"an offset of {now.lot_bytes}", [now.last.seq, row["seq"]])


def seqs_of(before: Row | None, row: Row) -> list[int | None]:
    """The events that show it."""
    return [None if before is None else before["seq"], row["seq"]]
