"""Replay of time and passes, of triggers and thresholds, of METRICS, and of the end of a trace.

`Clock` checks that time never goes back, `Frames` that each action of a pass stands between its begin and its end.
`Thresholds` compares the bytes with the trigger and the target at each INSERT and pass. `Counters` recomputes the
counters, and `FinalTotals` the entries and slots at the end. `LimiterReplay` follows the permits of reads in flight.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from entrycache_reference.pulsar_pip430 import config, ops, passes
from entrycache_reference.pulsar_pip430.cursors import NANOS_A_MILLISECOND
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_spark.replay.common import differ, read_counters
from entrycache_spark.replay.pulsar_pip430.trigger_points import (
    EffectiveValues,
    Facts,
    Moment,
    Reporter,
    Row,
    held_bytes,
    is_open,
)

TAKES: Final = ("EVICT", "REQUEUE", "TOMBSTONE")
KINDS: Final = ("EVICT", "TOMBSTONE")
"""The ops with a cause that is the kind of their pass."""


class Clock:
    """Time never goes back."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._report = report
        self._last: Row | None = None

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, last = now.row, self._last
        if last is not None and row["ts_ns"] < last["ts_ns"]:
            self._report("R-STATE-6", row, last["ts_ns"], row["ts_ns"], [last["seq"], row["seq"]], True)
        self._last = row


class Frames:
    """The check that every action of a pass stands between its begin and its end."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts = facts
        self._report = report
        self._island = 0
        self._marker: Row | None = None
        self._kind: str | None = None

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self._island, self._marker, self._kind = now.island, None, None
        row, op = now.row, now.row["op"]
        open_pass = self._marker["seq"] if self._marker is not None and self._marker["op"] == "PASS_BEGIN" else None
        if op == "PASS_BEGIN":
            wrong = open_pass is not None or row["pass_id"] != row["seq"]
        elif op == "PASS_END" or op in TAKES:
            strange = self._marker is not None or now.whole
            wrong = row["pass_id"] is None or (strange if open_pass is None else open_pass != row["pass_id"])
        else:
            inside = now.before is not None and now.before["op"] in ("PASS_BEGIN", *TAKES)
            wrong = not self._facts.many and op != "SNAPSHOT" and open_pass is not None and inside
        if wrong:
            seqs = [row["seq"]] if open_pass is None else [open_pass, row["seq"]]
            self._report(
                "R-STATE-4", row, f"pass {open_pass} in progress", f"{op} of pass {row['pass_id']}", seqs, True
            )
        if open_pass is not None and open_pass == row["pass_id"] and op in ("PASS_END", *KINDS):
            self._kinds(row, self._marker or row)
        if op in ("PASS_BEGIN", *KINDS):
            self._kind = row["cause"] or self._kind
        if op in ("PASS_BEGIN", "PASS_END"):
            self._marker = row

    def _kinds(self, row: Row, begin: Row) -> None:
        """A pass is of one kind and origin."""
        wrong = differ(row["cause"], begin["cause"]) and differ(row["cause"], self._kind)
        if wrong or (row["op"] == "PASS_END" and differ(row["origin"], begin["origin"])):
            observed = (row["cause"], row["origin"])
            self._report(
                "R-STATE-4", row, (begin["cause"], begin["origin"]), observed, [begin["seq"], row["seq"]], True
            )


# ---------- thresholds


def _is_pass(row: Row | None, op: str, cause: str, *origins: str) -> bool:
    return row is not None and row["op"] == op and row["cause"] == cause and row["origin"] in origins


def _is_other(stated: tuple[int | None, ...], right: tuple[int | None, ...]) -> bool:
    """Return whether a known number differs from the expected one."""
    return any(a is not None and b is not None and a != b for a, b in zip(stated, right, strict=True))


class Thresholds:
    """The bytes against the trigger and the target, INSERT by INSERT and pass by pass."""

    def __init__(self, facts: Facts, report: Reporter, last_relief_seq: int | None) -> None:
        self._facts = facts
        self._report = report
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
        """Read one event."""
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
            self._check_pass_begin(now)
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
            self._report("R-CONFIG-1", row, right, stated, seqs, self._sure_of_settings())
        if row["cause"] == "SIZE" and row["op"] in ("PASS_BEGIN", "PASS_END"):
            stated, right = (row["trigger_bytes"], row["target_bytes"]), (settings.trigger_bytes, settings.target_bytes)
            if _is_other(stated, right):
                self._report("R-TRIGGER-1", row, right, stated, seqs, self._sure_of_settings())

    def _limits(self, now: Moment) -> tuple[int | None, int | None]:
        """Return trigger and target: those that the row states, or else the effective ones."""
        settings, row = now.settings, now.row
        trigger, target = (None, None) if settings is None else (settings.trigger_bytes, settings.target_bytes)
        return (
            trigger if row["trigger_bytes"] is None else row["trigger_bytes"],
            target if row["target_bytes"] is None else row["target_bytes"],
        )

    def _is_over(self, now: Moment) -> bool:
        """Return whether the bytes are above the effective trigger, and above the target."""
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
            self._report("R-TRIGGER-2", row, "a size pass", f"none at {held_bytes(row)} bytes", [row["seq"]], sure)

    def _check_pass_begin(self, now: Moment) -> None:
        """A size pass of the manager: needed, and of the right amount."""
        row, many = now.row, self._facts.many
        held, (trigger, target) = held_bytes(row), self._limits(now)
        triggered = row["origin"] == "TRIGGER"
        sure = not self._facts.gapped or row["trigger_bytes"] is not None
        looked_at: int | None = held
        if many:  # the bytes that the pass has read, not those when it begins
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
                self._report("R-TRIGGER-4", row, "a call of its own", row["call_id"], [], not self._facts.gapped)
        elif triggered:
            rule = "R-TRIGGER-2"
            wrong |= not many and before is not None and before not in ("INSERT", "REJECT", "SKIP")
            if not many and before in ("REJECT", "SKIP"):
                self._report("R-TRIGGER-3", row, "no pass", f"a pass after {before}", [row["seq"]], True)
        if wrong:
            self._report(rule, row, f"above {trigger}, to free down to {target}", (held, row["bound"]), [], sure)
        nothing = target is not None and trigger is not None and trigger < held <= target
        if (row["bound"] is not None and row["bound"] <= 0) if many else nothing:
            sure = not self._facts.gapped or None not in (row["trigger_bytes"], row["target_bytes"])
            self._report("R-TRIGGER-8", row, f"no pass at or under {target}", held, [row["seq"]], sure)

    def _left_over(self, now: Moment) -> None:
        """Check, with several threads, that no more is above the target than came in since the pass before."""
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
            self._report(
                rule, row, f"at most {most} bytes left", row["bytes_after"], [row["pass_id"], row["seq"]], False
            )

    def _timed(self, now: Moment) -> None:
        """The time pass of the cycle: with the present time to live; a size pass after it where one is needed."""
        row, settings = now.row, now.settings
        if settings is None or now.manual is None:
            return
        if row["op"] == "PASS_BEGIN" and row["bound"] is not None and settings.ttl_nanos is not None:
            state = initial(config.Config(ttl_nanos=settings.ttl_nanos))
            wanted = passes.cutoff_of(state._replace(now_nanos=row["ts_ns"]), ops.Expire())
            if row["bound"] != wanted if self._facts.virtual else row["bound"] > wanted:
                self._report("R-TRIGGER-6", row, wanted, row["bound"], [settings.seq], self._sure_of_settings())
        due = row["op"] == "PASS_END" and not self._facts.many and self._is_over(now)
        if due and now.after is not None and not _is_pass(now.after, "PASS_BEGIN", "SIZE", "CYCLE"):
            self._report("R-TRIGGER-6", row, "a size pass", held_bytes(row), [row["seq"]], not self._facts.gapped)


# ---------- counters

RULE_OF: Final = {
    "inserted_entries": "R-METRICS-3",
    "evicted_entries": "R-METRICS-4",
    "eviction_cycles": "R-METRICS-5",
    "hit_entries": "R-METRICS-6",
    "hit_bytes": "R-METRICS-6",
    "miss_entries": "R-METRICS-6",
    "miss_bytes": "R-METRICS-6",
}


class Counters:
    """The counters as the events move them."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts = facts
        self._report = report
        self._island = 0
        self._counts: Counter[str] = Counter()
        self._off: dict[str, int | None] = {}
        self._unsized: set[str] = set()

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self._island = now.island
            self._counts.clear()
            self._off.clear()
            self._unsized.clear()
        row, op, cause = now.row, now.row["op"], now.row["cause"]
        counts = self._counts
        counts["inserted_entries"] += op == "INSERT"
        counts["evicted_entries"] += op in ("EVICT", "REMOVE")
        if op == "PASS_BEGIN" and cause == "SIZE" and row["origin"] in ("TRIGGER", "CYCLE"):
            counts["eviction_cycles"] += (row["bound"] or 0) > 0
        if op in ("HIT", "MISS") and cause in ("READ", "REPLAY"):
            name = op.lower()
            storage_bytes = (None if now.settings is None else now.settings.storage_bytes) or 0
            counts[f"{name}_entries"] += 1
            size_bytes = row["size_bytes"]
            if size_bytes is None and (op == "HIT" or row["ask_id"] is not None or row["cursor"] is not None):
                self._unsized.add(f"{name}_bytes")
            counts[f"{name}_bytes"] += size_bytes if size_bytes is not None else storage_bytes * (op == "MISS")
        if op == "METRICS":
            self._check_counters(now)

    def _check_counters(self, now: Moment) -> None:
        row, counters = now.row, read_counters(now.row)
        whole = now.whole and self._facts.fresh
        sure = not self._facts.many
        priced = now.settings is not None and now.settings.storage_bytes is not None
        wrong: dict[str, str] = {}
        for name, rule in RULE_OF.items():
            value, counted, off = counters.get(name), self._counts[name], self._off.get(name)
            if (
                value is not None
                and name not in self._unsized
                and (priced or name != "miss_bytes")
                and (not whole or value != counted)
                and (whole if off is None else value - counted != off)
            ):
                wrong[rule] = name
            self._off[name] = None if value is None or name in self._unsized else value - counted
        for rule, name in wrong.items():
            self._report(rule, row, f"{name} {self._counts[name]}", counters.get(name), [row["seq"]], sure)
        if counters.get("bytes") not in (None, held_bytes(row)):
            self._report("R-METRICS-7", row, held_bytes(row), counters.get("bytes"), [row["seq"]], sure)


# ---------- final totals

CHANGES = ("INSERT", "REQUEUE", "EVICT", "REMOVE", "TOMBSTONE")


class FinalTotals:
    """The entries and slots at the end; and the manager's own bytes when the cache is quiescent."""

    def __init__(self, facts: Facts, report: Reporter, numbered: bool) -> None:
        self._facts = facts
        self._report = report
        self._numbered = numbered
        self._live = self._slots = self._shown = self._shown_live = 0
        self._shown_seq: int | None = None
        self._changed_seq: int | None = None
        self._island = 0
        self._off: int | None = None
        self._former: list[int | None] = []
        """The manager's own bytes in the two rows before."""

    def follow(self, now: Moment) -> None:
        """Read one event."""
        row, op = now.row, now.row["op"]
        opens = is_open(row)
        self._live += (op == "INSERT" or (opens and row["life"] is not None)) - (op in ("EVICT", "REMOVE"))
        leaves = op in ("EVICT", "TOMBSTONE") or (op == "REMOVE" and row["ticket"] is not None)
        self._slots += (op == "INSERT" or opens) - leaves
        if op in CHANGES:
            self._changed_seq = row["seq"]
        if op == "SNAPSHOT" and row["cause"] == "END":
            self._shown += 1
            self._shown_live += row["life"] is not None
            self._shown_seq = row["seq"] if self._shown_seq is None else self._shown_seq
        self._check_quiescent(now)
        if op == "END":
            self._end(row)

    def _check_quiescent(self, now: Moment) -> None:
        row, after = now.row, now.after
        if now.island != self._island:
            self._island, self._off = now.island, None
            self._former.clear()
        former, self._former = self._former, [*self._former[-1:], row["manager_bytes"]]
        if row["manager_bytes"] is None:
            return
        ends = (
            after is not None and None not in (row["call_id"], after["call_id"]) and after["call_id"] != row["call_id"]
        )
        off = row["manager_bytes"] - row["bytes_after"]
        wrong = off != 0 and not self._facts.many and self._strays(now, former)
        if row["op"] == "END" or (ends and not self._facts.many):
            wrong |= off not in (0, self._off)
            self._off = off
        if wrong:
            self._report("R-STATE-1", row, row["bytes_after"], row["manager_bytes"], [row["seq"]], True)

    def _strays(self, now: Moment, former: list[int | None]) -> bool:
        """Return whether the manager's bytes are neither the earlier sum, nor unchanged, nor off by the same amount."""
        row, before = now.row, now.before
        if before is None or before["manager_bytes"] is None:
            return False
        own, summed = row["manager_bytes"], before["bytes_after"]
        lags = own in (*former, summed)
        return not lags and bool(own - row["bytes_after"] != before["manager_bytes"] - summed)

    def _end(self, row: Row) -> None:
        counters = read_counters(row)
        if counters.get("bytes") not in (None, row["bytes_after"]):
            self._report("R-STATE-1", row, row["bytes_after"], counters["bytes"], [row["seq"]], True)
        if not self._facts.complete:
            return
        slots = self._slots if self._numbered else None
        wrong = counters.get("entries") not in (None, self._live)
        wrong |= slots is not None and counters.get("slots") not in (None, slots)
        is_quiescent = self._changed_seq is None or (
            self._shown_seq is not None and self._changed_seq < self._shown_seq
        )
        if self._shown and is_quiescent:
            wrong |= self._shown_live != self._live or (slots is not None and self._shown != slots)
        if wrong:
            observed = f"{counters}; a snapshot of {self._shown_live} and {self._shown}"
            self._report("R-STATE-2", row, f"{self._live} entries, {slots} slots", observed, [row["seq"]], True)


# ---------- permits


class LimiterReplay:
    """The permits that are out, and the requests that wait, each with its place."""

    def __init__(self, facts: Facts, report: Reporter, variants: Mapping[str, bool]) -> None:
        self._facts, self._report, self._variants = facts, report, variants
        self._known = facts.starts and not facts.gapped
        self._out = self._next_ticket = self._next_place = self.waiting = 0
        self._queue: dict[int, Row] = {}
        self._before: Moment | None = None
        self._same: Counter[tuple[int | None, int]] = Counter()
        self._of_read: Counter[int] = Counter()

    def follow_read(self, now: Moment) -> None:
        """Check that a row of a read comes while permits are out for it, and that a failed read has none."""
        row, settings = now.row, now.settings
        has_names = self._facts.has_permits and self._facts.names_reads
        if settings is None or not has_names or row["read_id"] is None:
            return
        if (settings.permits or 0) <= 0 or (settings.limit_bytes or 0) <= 0:
            return
        out, sure = self._of_read[row["read_id"]], self._known and not self._facts.many
        observed = f"{row['op']}, {out} are out"
        if row["op"] in ("HIT", "ASK") and out <= 0:
            self._report("R-LIMIT-1", row, "permits before", observed, [row["seq"]], sure)
        is_delivery = row["op"] == "READ_DONE" and row["cause"] == "DELIVERED"
        if (is_delivery and out <= 0) or (row["op"] == "READ_END" and row["cause"] == "FAILED" and out > 0):
            self._report("R-LIMIT-5", row, "permits until the end", observed, [row["seq"]], sure)

    def _check_columns(self, row: Row) -> None:
        """Check that a row has the columns of its cause, and is about the request that was queued."""
        cause, ticket, seqs = row["cause"], row["ticket"], [row["seq"]]
        is_new = cause in ("QUEUED", "REFUSED") and differ(row["bound"], row["permits"])
        if (cause not in (None, "QUEUED") and row["tail_no"] is not None) or is_new:
            self._report("R-LIMIT-4", row, "a request, and a place if it waits", cause, seqs, True)
        if ticket is not None and cause in ("QUEUED", "GIVEN"):
            self._report("R-LIMIT-5", row, "no ticket", cause, seqs, True)
        queued = self._queue.get(ticket) if cause in ("TAKEN", "REFUSED") else None
        if queued is not None and (
            differ(row["bound"], queued["permits"]) or differ(row["read_id"], queued["read_id"])
        ):
            self._flag("R-LIMIT-5", row, f"{queued['permits']} permits")

    def _match(self, row: Row) -> None:
        """Check that permits that come back were granted in one piece."""
        read = row["read_id"] if self._facts.names_reads else None
        sign = {"TAKEN": 1, "GIVEN": -1}.get(row["cause"], 0)
        if sign < 0 and self._same[read, row["permits"]] <= 0:
            self._flag("R-LIMIT-7", row, "permits that are out")
        self._same[read, row["permits"]] += sign
        if row["read_id"] is not None:
            self._of_read[row["read_id"]] += sign * (row["permits"] or 0)

    def follow(self, now: Moment) -> None:
        """Read one PERMIT."""
        row = now.row
        self._check_columns(row)
        self._match(row)
        if self._before is not None and differ(self._before.row["call_id"], row["call_id"]):
            self._check_rest(self._before)
        if row["permits"] is not None and now.settings is not None:
            self._check_limit(row, now.settings)
            self._check_cause(row, now.settings)
        self._count(row)
        self._before = now

    def _check_cause(self, row: Row, settings: EffectiveValues) -> None:
        if row["cause"] == "TAKEN":
            self._taken(row, settings)
        elif row["cause"] == "QUEUED":
            self._queued(row, settings)
        elif row["cause"] == "REFUSED":
            self._refused(row, settings)

    def _flag(self, rule: str, row: Row, wanted: object, sure: bool = True) -> None:
        self._report(rule, row, wanted, f"{row['cause']} {row['permits']}", [row["seq"]], sure and self._known)

    def _count(self, row: Row) -> None:
        sign = {"TAKEN": 1, "GIVEN": -1}.get(row["cause"], 0)
        self._out += sign * (row["permits"] or 0)
        if row["cause"] == "QUEUED":
            self.waiting += 1
            if row["tail_no"] is not None:
                self._queue[row["tail_no"]] = row
                self._next_place = max(self._next_place, row["tail_no"] + 1)
        elif row["ticket"] is not None:
            self.waiting -= 1
            self._next_ticket = max(self._next_ticket, row["ticket"] + 1)

    def _fits(self, permits: int, limit: int) -> bool:
        return self._out == 0 if permits > limit else permits <= limit - self._out

    def _check_limit(self, row: Row, settings: EffectiveValues) -> None:
        limit, permits = settings.permits, row["permits"]
        if limit is None:
            return
        too_many = row["cause"] == "TAKEN" and self._out + permits > limit
        too_few = row["cause"] == "GIVEN" and self._out < permits
        if too_many or too_few or (permits < 0 and row["cause"] in ("TAKEN", "GIVEN")):
            self._flag("R-LIMIT-7", row, f"{self._out} are out of {limit}")

    def _taken(self, row: Row, settings: EffectiveValues) -> None:
        ticket, limit = row["ticket"], settings.permits
        if limit is None:
            return
        if ticket is None and self.waiting > 0 and not self._variants["overtakes"]:
            self._flag("R-LIMIT-2", row, "QUEUED", self._facts.has_tickets)
        if row["bound"] is not None and row["permits"] != min(row["bound"], limit):
            self._flag("R-LIMIT-3", row, min(row["bound"], limit))
        if ticket is not None and (ticket != self._next_ticket or ticket not in self._queue):
            self._flag("R-LIMIT-5", row, f"ticket {self._next_ticket}")

    def _queued(self, row: Row, settings: EffectiveValues) -> None:
        fits = settings.permits is not None and self._fits(row["permits"], settings.permits)
        if fits and (self.waiting == 0 or self._variants["overtakes"]):
            self._flag("R-LIMIT-2", row, "TAKEN")
        full = settings.queue is not None and self.waiting >= settings.queue
        is_misplaced = differ(row["tail_no"], self._next_place)
        if settings.queue is not None and (full or is_misplaced):
            sure = is_misplaced or self._facts.has_tickets
            self._flag("R-LIMIT-4", row, "REFUSED" if full else self._next_place, sure)

    def _refused(self, row: Row, settings: EffectiveValues) -> None:
        ticket, timeout = row["ticket"], settings.timeout_millis
        if ticket is None:
            if settings.queue is not None and self.waiting < settings.queue:
                self._flag("R-LIMIT-4", row, "QUEUED", self._facts.has_tickets)
            return
        if timeout is None:
            return
        since = self._queue.get(ticket)
        passed = None if since is None else row["ts_ns"] // NANOS_A_MILLISECOND - since["ts_ns"] // NANOS_A_MILLISECOND
        is_early = passed is not None and passed < timeout - (not self._facts.virtual)
        if ticket != self._next_ticket or timeout == 0 or is_early:
            self._flag("R-LIMIT-6", row, f"ticket {self._next_ticket} after {timeout} ms")

    def _check_rest(self, now: Moment) -> None:
        """Check that a call has not left the head waiting although it fits."""
        row, head = now.row, self._queue.get(self._next_ticket)
        limit = None if now.settings is None else now.settings.permits
        if head is None or row["cause"] == "QUEUED" or None in (limit, head["permits"]):
            return
        assert limit is not None
        if not self._fits(head["permits"], limit):
            return
        if row["cause"] == "REFUSED":
            if row["ticket"] is not None and not self._variants["leaves_waiting"]:
                self._flag("R-LIMIT-6", row, "the head is served", not self._facts.many)
        elif row["cause"] == "GIVEN" or row["ticket"] is not None:
            self._flag("R-LIMIT-5", row, "the head is served", self._facts.has_tickets and not self._facts.many)

    def finish(self) -> None:
        """Check the last call."""
        if self._before is not None and self._before.row["call_id"] is not None:
            self._check_rest(self._before)
