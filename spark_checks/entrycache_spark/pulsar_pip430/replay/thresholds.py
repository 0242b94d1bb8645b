"""Replay of the settings of passes (R-CONFIG-1) and of when the manager runs which size pass (R-TRIGGER-*)."""

from __future__ import annotations

from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.ops import Expire
from entrycache_reference.pulsar_pip430.passes import cutoff
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Moment, Row, Tell, held_bytes


def _is_pass(row: Row | None, op: str, cause: str, *origins: str) -> bool:
    return row is not None and row["op"] == op and row["cause"] == cause and row["origin"] in origins


def _is_other(stated: tuple[int | None, ...], right: tuple[int | None, ...]) -> bool:
    """Whether one of some numbers is told otherwise."""
    return any(a is not None and b is not None and a != b for a, b in zip(stated, right, strict=True))


class Thresholds:
    """The bytes against the trigger and the target, INSERT by INSERT and pass by pass."""

    def __init__(self, facts: Facts, tell: Tell, last_relief_seq: int | None) -> None:
        self._facts = facts
        self._tell = tell
        self._last_relief_seq = last_relief_seq
        self._island = -1
        self._forget()

    def _forget(self) -> None:
        self._asked_seq: int | None = None
        self._relieved_seq: int | None = None
        self._open_pass: int | None = None
        self._came_in = 0
        self._came_at_end: int | None = None
        self._lag_at_begin = 0

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island = now.island
            self._forget()
            self._came_at_end = 0 if now.whole else None
        row = now.row
        if row["pass_id"] is not None or row["op"] in ("PASS_BEGIN", "PASS_END"):
            self._stated(now)
        if row["op"] == "INSERT":
            self._came_in += row["size_bytes"] or 0
            self._inserted(now)
        if _is_pass(row, "PASS_BEGIN", "SIZE", "TRIGGER", "CYCLE"):
            self._begun(now)
        if _is_pass(row, "PASS_END", "SIZE", "TRIGGER", "CYCLE"):
            self._left_over(now)
        if row["origin"] == "CYCLE" and row["cause"] == "TIME":
            self._timed(now)
        self._remember(now)

    def _remember(self, now: Moment) -> None:
        row = now.row
        trigger = None if now.settings is None else now.settings.trigger_bytes
        if row["op"] == "INSERT" and trigger is not None and held_bytes(row) > trigger:
            self._asked_seq = row["seq"]
        if _is_pass(row, "PASS_BEGIN", "SIZE", "TRIGGER"):
            self._relieved_seq = row["seq"]
        if row["op"] == "PASS_BEGIN":
            self._open_pass = row["seq"]
            self._lag_at_begin = max(row["bytes_after"] - held_bytes(row), 0)
        elif row["op"] == "PASS_END":
            self._open_pass = None
            self._came_at_end = self._came_in

    def _sure_of_settings(self) -> bool:
        return not self._facts.gapped and (self._facts.only_config or not self._facts.many)

    def _stated(self, now: Moment) -> None:
        """The settings and thresholds that a row of a pass states."""
        row, settings = now.row, now.settings
        if settings is None or row["op"] not in ("PASS_BEGIN", "PASS_END", "EVICT", "REQUEUE", "TOMBSTONE"):
            return
        seqs = [settings.seq, row["seq"]]
        stated = (row["max_requeues"], row["extend_accessed"])
        right: tuple[int | None, int | None] = (settings.max_requeues, settings.extend_accessed)
        if _is_other(stated, right):
            self._tell("R-CONFIG-1", row, right, stated, seqs, self._sure_of_settings())
        if row["cause"] == "SIZE" and row["op"] in ("PASS_BEGIN", "PASS_END"):
            stated, right = (row["trigger_bytes"], row["target_bytes"]), (settings.trigger_bytes, settings.target_bytes)
            if _is_other(stated, right):
                self._tell("R-TRIGGER-1", row, right, stated, seqs, self._sure_of_settings())

    def _limits(self, now: Moment) -> tuple[int | None, int | None]:
        """Trigger and target: those that the row states, or else those in force."""
        settings, row = now.settings, now.row
        trigger, target = (None, None) if settings is None else (settings.trigger_bytes, settings.target_bytes)
        return (
            trigger if row["trigger_bytes"] is None else row["trigger_bytes"],
            target if row["target_bytes"] is None else row["target_bytes"],
        )

    def _is_over(self, now: Moment) -> bool:
        """Above the trigger in force, and above the target."""
        settings = now.settings
        if settings is None or settings.trigger_bytes is None or settings.target_bytes is None:
            return False
        return held_bytes(now.row) > max(settings.trigger_bytes, settings.target_bytes)

    def _inserted(self, now: Moment) -> None:
        row, many = now.row, self._facts.many
        if now.manual is not False or not self._is_over(now):
            return
        if many:
            missing = self._last_relief_seq is None or self._last_relief_seq < row["seq"]
        else:
            missing = now.after is not None and not _is_pass(now.after, "PASS_BEGIN", "SIZE", "TRIGGER")
        if missing:
            sure = not many and not self._facts.gapped
            self._tell("R-TRIGGER-2", row, "a size pass", f"none at {held_bytes(row)} bytes", [row["seq"]], sure)

    def _begun(self, now: Moment) -> None:
        """A size pass of the manager: needed, and of the right amount."""
        row, many = now.row, self._facts.many
        held, (trigger, target) = held_bytes(row), self._limits(now)
        triggered = row["origin"] == "TRIGGER"
        sure = not self._facts.gapped or row["trigger_bytes"] is not None
        looked_at: int | None = held
        if many:  # what the pass has looked at, not what is there when it begins
            looked_at = None if target is None or row["bound"] is None else row["bound"] + target
        needless = trigger is not None and looked_at is not None and looked_at <= trigger
        amount = not many and target is not None and held > target and row["bound"] not in (None, held - target)
        before = None if now.before is None else now.before["op"]
        rule = "R-TRIGGER-6"
        wrong = needless or amount
        if now.manual is None:
            wrong = False
        elif triggered and now.manual:
            rule = "R-TRIGGER-5"
            unasked = self._asked_seq is None or (
                self._relieved_seq is not None and self._asked_seq < self._relieved_seq
            )
            needless = trigger is not None and held <= trigger
            wrong = needless or amount or (not many and now.whole and self._facts.fresh and unasked)
            if not many and row["call_id"] not in (None, row["seq"]):
                self._tell("R-TRIGGER-4", row, "a call of its own", row["call_id"], [], not self._facts.gapped)
        elif triggered:
            rule = "R-TRIGGER-2"
            wrong |= not many and before is not None and before not in ("INSERT", "REJECT", "SKIP")
            if not many and before in ("REJECT", "SKIP"):
                self._tell("R-TRIGGER-3", row, "no pass", f"a pass after {before}", [row["seq"]], True)
        if wrong:
            self._tell(rule, row, f"above {trigger}, to free what is above {target}", (held, row["bound"]), [], sure)
        nothing = target is not None and trigger is not None and trigger < held <= target
        if (row["bound"] is not None and row["bound"] <= 0) if many else nothing:
            sure = not self._facts.gapped or None not in (row["trigger_bytes"], row["target_bytes"])
            self._tell("R-TRIGGER-8", row, f"no pass at or under {target}", held, [row["seq"]], sure)

    def _left_over(self, now: Moment) -> None:
        """With several threads: no more above the target than what came in since the pass before."""
        row, target = now.row, self._limits(now)[1]
        triggered = row["origin"] == "TRIGGER"
        if not self._facts.many or self._open_pass is None or self._open_pass != row["pass_id"] or target is None:
            return
        if now.manual is None or (triggered and now.manual) or self._came_at_end is None:
            return
        numbered = row["tail_no"] is not None and row["head_no"] is not None
        some_left = row["tail_no"] > row["head_no"] if numbered else row["stamp_ns"] is not None
        most = target + self._came_in - self._came_at_end + self._lag_at_begin
        if some_left and row["bytes_after"] > most:
            rule = "R-TRIGGER-2" if triggered else "R-TRIGGER-6"
            self._tell(rule, row, f"at most {most} bytes left", row["bytes_after"], [row["pass_id"], row["seq"]], False)

    def _timed(self, now: Moment) -> None:
        """The time pass of the cycle: with the present time to live; a size pass after it where one is needed."""
        row, settings = now.row, now.settings
        if settings is None or now.manual is None:
            return
        if row["op"] == "PASS_BEGIN" and row["bound"] is not None and settings.ttl_nanos is not None:
            state = initial(Config(ttl_nanos=settings.ttl_nanos))
            wanted = cutoff(state._replace(now_nanos=row["ts_ns"]), Expire())
            if row["bound"] != wanted if self._facts.virtual else row["bound"] > wanted:
                self._tell("R-TRIGGER-6", row, wanted, row["bound"], [settings.seq], self._sure_of_settings())
        due = row["op"] == "PASS_END" and not self._facts.many and self._is_over(now)
        if due and now.after is not None and not _is_pass(now.after, "PASS_BEGIN", "SIZE", "CYCLE"):
            self._tell("R-TRIGGER-6", row, "a size pass", held_bytes(row), [row["seq"]], not self._facts.gapped)
