"""The replay of one `pulsar-legacy` broker: `Replay` compares each row with the answer of the reference."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_legacy import ops
from entrycache_reference.pulsar_legacy.state import Entry, State
from entrycache_reference.pulsar_legacy.step import step
from entrycache_reference.vocabulary import CacheName, Position
from entrycache_spark.common import results, rule_files
from entrycache_spark.replay.common import (
    ReplayPlan,
    Row,
    Settings,
    ViolationCollector,
    differ,
    is_event,
    read_counters,
    replay_each,
    seqs_of,
)
from entrycache_spark.replay.pulsar_legacy import calls
from entrycache_spark.systems.pulsar_legacy import KINDS, by_object
from entrycache_spark.systems.pulsar_pip430 import COLUMNS
from entrycache_trace.files import Metadata, Part

LATE_NANOS: Final = 1_000_000_000
"""A thread may be held up between reading the clock and its event, though hardly for so long."""

# ---------- records of what the rows show


@dataclass
class Life:
    """One life of an entry, since events were missing, with its values as its last rows show them.

    `begin`: its first row, if that begins it. `stamp`: the stamp that it was given. `snapshot`: the last one.
    """

    begin: Row | None = None
    stamp: int | None = None
    snapshot: Row | None = None
    last_values: dict[str, Any] = field(default_factory=dict)


class Moment(NamedTuple):
    """A row with its neighbours, and its settings.

    `before`, `after`: None where events are missing. `starts`: nothing is missing since CONFIG. `whole`: and nothing
    was cached before.
    """

    row: Row
    before: Row | None
    after: Row | None
    starts: bool
    whole: bool
    manager: calls.Manager


class Replay:
    """The replay of the rows of one broker, and the records of what they show."""

    def __init__(self, metadata: Metadata, facts: calls.Facts, collector: ViolationCollector) -> None:
        self._facts, self._report = facts, collector.report
        self._one, self._unbroken = not facts.many, not facts.many and not facts.gapped
        self._virtual, self._sampled = metadata.clock == "virtual", metadata.sampled
        self._single = calls.OBJECTS if by_object(metadata) else calls.DEFAULTS
        self._only_config = sum(row["op"] == "CONFIG" for row in facts.rows) == 1
        self._rows = calls.CallRows(facts)
        self._named: set[tuple[str, int, bool]] = set()
        self._known_lives: dict[int, Row | None] = {}
        """The lives that rows have named, with the row of their end."""
        opening = [row for row in facts.rows if is_event(row, "SNAPSHOT", "OPEN")]
        self._sum_bytes, self._opened_bytes = sum(row["size_bytes"] or 0 for row in opening), 0
        self._live_entries = self._shown_entries = 0
        self._has_shown = self._has_changed = False
        self._bytes: Counter[str] = Counter()
        self._live: Counter[str] = Counter()
        self._cached: defaultdict[Any, dict[int, Row]] = defaultdict(dict)
        """The entries of each cache: the row that began each life."""
        self._cached_misses: set[int] = set()
        self._has_gap = False
        self._taken: dict[tuple[int, Any], Row] = {}
        """The last EVICT of each pass in each cache."""
        self._start_over()

    def _start_over(self) -> None:
        """Forget what is not known any more once events are missing."""
        self._marker: Row | None = None
        self._kind: str | None = None
        self._lives: dict[int, Life] = {}
        self._changes: dict[calls.Place, Row] = {}
        self._former: list[int | None] = []
        self._off_bytes: int | None = None
        self._requested: Row | None = None
        self._scheduling: list[tuple[Row, int]] = []

    def follow(self, at: int) -> int:
        """Compare a row with the answer of the reference, and return the number of entries that are cached then."""
        facts, row = self._facts, self._facts.rows[at]
        before = facts.rows[at - 1] if at else None
        if before is not None and row["ts_ns"] < before["ts_ns"]:
            self._name("L-STATE-2", row, f"ts_ns at or after {before['ts_ns']}", seqs_of(before, row), True)
        if before is not None and (self._sampled or before["seq"] + 1 != row["seq"]):
            self._has_gap = True
            self._start_over()
            before = None
        starts = facts.starts and not self._has_gap
        after = None if self._sampled else facts.next_to(at)
        now = Moment(row, before, after, starts, starts and not facts.opened, facts.settings[at])
        self._check_frame(now)
        self._check_sums(now)
        self._check_manager_bytes(now)
        self._check_life(row)
        self._check_values(row)
        self._check_cached(now)
        if calls.is_offer(row):
            self._check_offer(now)
        elif row["op"] in (*calls.BOUNDS, "EVICT"):
            self._check_pass(now)
        self._record(now)
        self._check_leftovers(row)
        if row["call_id"] in self._rows.calls and self._rows.calls[row["call_id"]][-1] is row:
            self._check_call(self._rows.calls[row["call_id"]])
        return self._live_entries

    def _name(
        self, rule: str | None, row: Row, expected: object, seqs: Iterable[int | None] = (), sure: bool | None = None
    ) -> None:
        """Report a violation, once for a row and a rule."""
        certain = self._one if sure is None else sure
        if rule is not None and (rule, row["seq"], certain) not in self._named:
            self._named.add((rule, row["seq"], certain))
            self._report(rule, row, expected, seqs, certain)

    # ---------- passes, sums and lives

    def _check_frame(self, now: Moment) -> None:
        """Check that the rows of a pass stand between its begin and its end, and are of one kind and origin."""
        row, op, marker = now.row, now.row["op"], self._marker
        begin = marker if marker is not None and marker["op"] == "PASS_BEGIN" else None
        if op == "PASS_BEGIN":
            wrong = begin is not None or row["pass_id"] != row["seq"]
        elif op in ("PASS_END", "EVICT"):
            is_known = marker is not None or now.starts
            wrong = row["pass_id"] is None or (is_known if begin is None else begin["seq"] != row["pass_id"])
        else:
            inside = now.before is not None and now.before["op"] in ("PASS_BEGIN", "EVICT")
            wrong = self._one and op != "SNAPSHOT" and begin is not None and inside
        if begin is not None and op in ("PASS_END", "EVICT") and begin["seq"] == row["pass_id"]:
            wrong |= differ(row["cause"], begin["cause"]) and differ(row["cause"], self._kind)
            wrong |= op == "PASS_END" and differ(row["origin"], begin["origin"])
        if wrong:
            self._name("L-LIVENESS-1", row, "a row of the pass in progress", seqs_of(begin, row), True)
        if op in ("PASS_BEGIN", "EVICT"):
            self._kind = row["cause"] or self._kind
        if op in calls.BOUNDS:
            self._marker = row

    def _check_sums(self, now: Moment) -> None:
        """Check the sum of sizes."""
        row, op, before, size_bytes = now.row, now.row["op"], now.before, now.row["size_bytes"]
        if before is None and not now.starts:
            self._sum_bytes = row["bytes_after"]
            return
        grown = (size_bytes or 0) * {"INSERT": 1, "EVICT": -1, "REMOVE": -1}.get(op, 0)
        opens = is_event(row, "SNAPSHOT", "OPEN")
        self._sum_bytes += grown
        self._opened_bytes += (size_bytes or 0) * opens
        sums = {self._sum_bytes} if before is None else {self._sum_bytes, before["bytes_after"] + grown}
        if now.starts and (opens or (before is None and op in ("CONFIG", "SNAPSHOT"))):
            sums.add(self._opened_bytes)
        if row["bytes_after"] not in sums and not (op in calls.MOVES and size_bytes is None):
            self._name("L-STATE-1", row, f"bytes_after {self._sum_bytes}", seqs_of(before, row), True)

    def _check_manager_bytes(self, now: Moment) -> None:
        """Check the manager's own bytes, which are the sum when a call has ended, and otherwise may lag behind it."""
        row, before, own, former = now.row, now.before, now.row["manager_bytes"], self._former
        self._former = [*former[-1:], own]
        counters = read_counters(row) if row["op"] == "END" else {}
        wrong = differ(counters.get("bytes"), row["bytes_after"])
        if own is not None:
            off = own - row["bytes_after"]
            if off and self._one and before is not None and before["manager_bytes"] is not None:
                lags = own in (*former, before["bytes_after"])
                wrong |= not lags and off != before["manager_bytes"] - before["bytes_after"]
            ends = now.after is not None and differ(now.after["call_id"], row["call_id"])
            if row["op"] == "END" or (ends and self._one):
                wrong |= off not in (0, self._off_bytes)
                self._off_bytes = off
        if wrong:
            self._name("L-STATE-1", row, f"manager_bytes {row['bytes_after']}", sure=True)
        if row["op"] == "END" and self._facts.complete:
            is_shown = self._has_shown and not self._has_changed and self._shown_entries != self._live_entries
            if differ(counters.get("entries"), self._live_entries) or is_shown:
                self._name("L-STATE-4", row, f"{self._live_entries} entries", sure=True)

    def _check_life(self, row: Row) -> None:
        """Check that a life begins with an INSERT, ends once, and leaves with the size that it came with."""
        op, life, seq = row["op"], row["life"], row["seq"]
        if op == "INSERT" and differ(life, seq):
            self._name("L-LIVENESS-1", row, f"life {seq}", sure=True)
        if life is None:
            return
        begins = self._rows.begins.get(life, ())
        if life not in self._known_lives:
            self._known_lives[life] = None
            is_unborn = not begins and self._facts.starts and not self._facts.gapped
            if is_unborn or seq < life or (begins and seq < begins[0]["seq"]):
                self._name("L-LIVENESS-1", row, "an INSERT that begins this life", sure=True)
        end = self._known_lives[life]
        if end is not None:
            sure = self._one or op != "HIT"
            self._name("L-LIVENESS-1", row, "no event after its removal", seqs_of(end, row), sure)
        if op in calls.LEAVES:
            size_bytes = max((own["size_bytes"] for own in begins if own["size_bytes"] is not None), default=None)
            if differ(row["size_bytes"], size_bytes):
                self._name("L-STATE-1", row, f"size_bytes {size_bytes}", seqs_of(*begins[:1], row), True)
            self._known_lives[life] = end or row

    def _check_values(self, row: Row) -> None:
        """Check the values of an entry, which are those that it came with."""
        op, life = row["op"], row["life"]
        if life is None or op not in calls.SHOWS:
            return
        begins, ends, stamp = calls.begins_life(row), is_event(row, "SNAPSHOT", "END"), row["stamp_ns"]
        if op == "INSERT":
            stamp = row["ts_ns"] if row["new_stamp_ns"] is None and self._virtual else row["new_stamp_ns"]
        own = self._lives.setdefault(life, Life(row if begins else None))
        last, seqs = own.last_values, seqs_of(own.begin, row)
        if own.begin is not None and not begins:
            others = () if op in calls.LEAVES else ("size_bytes", "tail_no") if op == "SNAPSHOT" else ("size_bytes",)
            for name in (*calls.PLACE, *others):
                if differ(row[name], own.begin[name]) and row[name] != last.get(name):
                    self._name("L-STATE-4", row, f"{name} {own.begin[name]}", seqs, True)
            if differ(stamp, own.stamp) and stamp != last.get("stamp_ns"):
                self._name("L-INSERT-1", row, f"stamp {own.stamp}", seqs, True)
            if ends and own.snapshot is not None:
                self._name("L-STATE-4", row, "one row for each entry", seqs_of(own.snapshot, row), True)
        values = {**{name: row[name] for name in (*calls.PLACE, "size_bytes")}, "stamp_ns": stamp}
        last.update((name, value) for name, value in values.items() if value is not None)
        own.stamp = stamp if begins else own.stamp
        own.snapshot = row if ends else own.snapshot
        own.begin = None if op in calls.LEAVES else own.begin

    # ---------- offers and lookups at their positions

    def _check_cached(self, now: Moment) -> None:
        """Step the reference over an offer or a lookup, with what is cached at its position."""
        row, op, cause = now.row, now.row["op"], now.row["cause"]
        if op not in ("INSERT", "HIT", "MISS") and not is_event(row, "REJECT", "DUPLICATE"):
            return
        change = None if row["entry_id"] is None else self._changes.get(calls.place_of(row))
        is_known = row["entry_id"] is not None and (change is not None or now.starts)
        is_cached = change is not None and change["op"] not in calls.LEAVES
        entries = {calls.place_of(row).pos: calls.ENTRY} if is_cached else None
        seqs = seqs_of(change, row) if is_known else []
        if op in ("INSERT", "REJECT"):
            wanted = calls.answer(replace(calls.extract_offer(row), size=0), entries, now_nanos=row["ts_ns"]).rows[0]
            if op == "INSERT":
                self._check_stamp(row, wanted.ts_ns if wanted.new_stamp_ns is None else wanted.new_stamp_ns)
            if is_known and wanted.op != op:
                self._name("L-INSERT-2" if op == "INSERT" else "L-INSERT-1", row, wanted.op, seqs)
                if op == "REJECT" and change is not None and row["call_id"] is not None:
                    self._name("L-INSERT-5" if change["seq"] >= row["call_id"] else None, row, "INSERT", seqs)
        elif is_known and cause in ("GET", "READ"):
            if is_cached and is_event(row, "MISS", "READ"):
                self._cached_misses.add(row["seq"])
            config = calls.DEFAULTS if op == "HIT" else self._single
            wanted = calls.answer(calls.extract_lookup(row), entries, config=config).rows[0]
            is_other = op == "HIT" and row["life"] is not None and change is not None and row["life"] != change["life"]
            if (wanted.op != op or is_other) and (cause == "GET" or op == "HIT"):
                self._name("L-READ-1" if cause == "GET" else "L-READ-4", row, wanted.op, seqs)

    def _check_stamp(self, row: Row, present_nanos: int) -> None:
        """Check that an entry is stamped with the present, and is not accessed or requeued."""
        stamp = present_nanos if row["new_stamp_ns"] is None else row["new_stamp_ns"]
        sure = stamp > present_nanos or (self._virtual and stamp != present_nanos)
        sure |= bool(row["accessed"]) or row["requeues"] not in (None, 0)
        if sure or present_nanos - stamp > LATE_NANOS:
            self._name("L-INSERT-1", row, f"stamp {present_nanos}", sure=sure)

    def _check_offer(self, now: Moment) -> None:
        """Step the reference over an offer, with the bytes at its beginning: those before the pass of its own call."""
        row, op, manager, offer = now.row, now.row["op"], now.manager, calls.extract_offer(now.row)
        if op == "INSERT" and not calls.answer(offer).rows:
            self._name("L-STATE-3", row, "a size of 0 or more", sure=True)
        has_own_pass = calls.is_requested(now.before, "PASS_END") and calls.is_in_call(now.before, row)
        shown_by = self._requested if has_own_pass else now.before
        if shown_by is None or not manager.has_limit:
            return
        seqs = seqs_of(shown_by, row)
        wanted = calls.answer(replace(offer, size=max(0, offer.size)), None, calls.bytes_of(shown_by), manager.config)
        if op == "INSERT" and wanted.rows[-1].op == "SKIP":
            self._name("L-INSERT-3", row, "SKIP FULL", seqs, self._unbroken)
        elif is_event(row, "SKIP", "FULL") and wanted.rows[-1].op == "INSERT":
            self._name("L-INSERT-4", row, "INSERT", seqs, self._unbroken)
        if manager.target_bytes is None:
            return
        if wanted.state.scheduled_bytes is not None:
            self._scheduling.append((row, wanted.state.scheduled_bytes))
        elif manager.manual is False and not has_own_pass and wanted.rows[0].op == "PASS_BEGIN":
            rule = "L-TRIGGER-2" if op == "INSERT" else "L-TRIGGER-7"
            self._name(rule, row, "a size pass before it", seqs, self._unbroken)

    # ---------- passes

    def _check_pass(self, now: Moment) -> None:
        """Check a row of a pass by itself, and with the begin of its pass."""
        row, op, cause, manager = now.row, now.row["op"], now.row["cause"], now.manager
        request = calls.extract_pass(row)
        if op == "PASS_BEGIN" and request is not None and not calls.answer(request).rows:
            rule = {"CALL": "L-STATE-3", "TRIGGER": "L-TRIGGER-6" if cause == "SIZE" else None}.get(row["origin"])
            self._name(rule, row, "no pass", sure=True)
        is_other = any(differ(row[name], getattr(manager, name)) for name in calls.THRESHOLDS)
        if op in calls.BOUNDS and cause == "SIZE" and is_other:
            sure = not self._facts.gapped and (self._only_config or self._one)
            self._name("L-TRIGGER-1", row, manager[2:4], sure=sure)
        if row["pass_id"] is not None and op != "PASS_BEGIN":
            self._check_with_begin(row)
        if calls.is_requested(row, "PASS_BEGIN"):
            self._check_requested(now)
            self._requested, self._scheduling = row, []
        elif calls.is_requested(row, "PASS_END") and manager.manual is False and now.after is not None:
            is_for = calls.is_offer(now.after) and calls.is_in_call(row, now.after)
            self._name(None if is_for else "L-TRIGGER-2", row, "the offer that requested it")
        is_own = is_event(row, "PASS_BEGIN", "SIZE") and row["pass_id"] == row["seq"] in self._rows.ends
        if is_own and now.whole and row["bound"] is not None:
            self._check_shares(row, self._rows.ends[row["seq"]])

    def _check_with_begin(self, row: Row) -> None:
        """Check an EVICT or PASS_END with its PASS_BEGIN, and that an EVICT lies behind the one before it."""
        op, cause, stamp, before = row["op"], row["cause"], row["stamp_ns"], None
        cutoff, cache = (self._rows.begin_values[row["pass_id"]].get(name) for name in ("bound", "cache"))
        if op == "EVICT":
            before = self._taken.get((row["pass_id"], row["cache"]))
            self._taken[row["pass_id"], row["cache"]] = row
        wrong = differ(row["cache"], cache) and not (op == "EVICT" and cause == "SIZE")
        if op == "PASS_END":
            wrong |= differ(row["bound"], cutoff)
            cutoff = cutoff if row["bound"] is None else row["bound"]
        if cause == "TIME" and stamp is not None and cutoff is not None:
            entries = {calls.FIRST: Entry(0, stamp, None)}
            expired = calls.answer(ops.Expire(CacheName(""), 0), entries, now_nanos=cutoff).rows
            wrong |= (len(expired) > len(calls.BOUNDS)) is (op == "PASS_END")
        if wrong:
            rule = {"TIME": "L-EXPIRE-1", "SIZE": "L-EVICT-1"}.get(cause)
            self._name(rule, row, f"cutoff or amount {cutoff} in {cache}", [row["pass_id"], row["seq"]], True)
        if before is not None and not calls.ascends(row, before):
            self._name(calls.ORDER.get(cause), row, "ascending positions", seqs_of(before, row), True)

    def _check_requested(self, now: Moment) -> None:
        """Check the begin of a size pass that an insert requested: one that runs at once, or a scheduled one."""
        row, manager = now.row, now.manager
        if manager.manual:
            if differ(row["call_id"], row["seq"]) and self._one:
                self._name("L-TRIGGER-3", row, "a call of its own", sure=self._unbroken)
            self._check_scheduled(row if now.whole else None)
        elif manager.manual is False:
            limits = [getattr(manager, name) if row[name] is None else row[name] for name in calls.THRESHOLDS]
            sures = [self._unbroken or (self._one and row[name] is not None) for name in calls.THRESHOLDS]
            if limits[0] is not None and calls.bytes_of(row) <= limits[0]:
                self._name("L-TRIGGER-2", row, f"no pass at or under {limits[0]}", sure=sures[0])
            if limits[1] is not None and differ(row["bound"], calls.bytes_of(row) - limits[1]):
                self._name("L-TRIGGER-1", row, f"to free {calls.bytes_of(row) - limits[1]}", sure=sures[1])

    def _check_scheduled(self, row: Row | None) -> None:
        """Step the reference over a scheduled pass: it has the amount of the first insert that requested one.

        An insert with nothing to free may have scheduled a pass that does nothing, so nothing is certain behind it.
        """
        passes = [
            (offer, step(State(0, {}, 0, amount), ops.RunScheduled(), calls.DEFAULTS))
            for offer, amount in self._scheduling
        ]
        scheduled = [(offer, result.rows[0].bound) for offer, result in passes if result.rows]
        sure = self._one and len(scheduled) == len(passes)
        if row is not None and not scheduled:
            self._name("L-TRIGGER-5", row, "no pass", sure=sure)
        elif row is not None and differ(row["bound"], scheduled[0][1]):
            rule = "L-TRIGGER-4" if row["bound"] == scheduled[-1][1] else "L-TRIGGER-5"
            self._name(rule, row, f"to free {scheduled[0][1]}", seqs_of(scheduled[0][0], row), sure)

    def _check_shares(self, begin: Row, end: Row) -> None:
        """Step the reference over a size pass, with the bytes of each cache, and compare what each of them gave."""
        filled = {name: self._bytes[name] for name, entries in self._live.items() if entries > 0}
        if any(size_bytes < 0 for size_bytes in filled.values()):
            return
        shares, givers = calls.answer_shares(begin["bound"], filled)
        if begin["cache"] is not None:
            shares, givers = {begin["cache"]: begin["bound"]}, (begin["cache"],)
        others = [size_bytes for name, size_bytes in filled.items() if name not in givers]
        tied_bytes = filled[givers[-1]] if givers and others and filled.get(givers[-1]) == max(others) else None
        rows = [row for row in self._rows.passes[begin["seq"]] if row["op"] == "EVICT" and row["cache"] is not None]
        for name in sorted({*self._bytes, *(row["cache"] for row in rows)}):
            evicted = [row for row in rows if row["cache"] == name]
            share_bytes, seqs = shares.get(name, 0), seqs_of(begin, end)
            is_tied = tied_bytes is not None and filled.get(name) == tied_bytes
            of_choice = None if begin["cache"] is not None else "L-EVICT-4" if is_tied else "L-EVICT-3"
            rule, at = self._rule_of_share(name, share_bytes, evicted, of_choice, len(givers) == 1)
            row = (evicted or [end])[at] if rule != "L-EVICT-1" else end
            self._name(rule, {**row, "life": None}, f"{share_bytes} bytes from {name}", seqs)

    def _rule_of_share(
        self, name: str, share_bytes: int, evicted: Sequence[Row], of_choice: str | None, is_alone: bool
    ) -> tuple[str | None, int]:
        """Return the rule that a cache violates, and the number of the row; `of_choice`: if it should (not) give."""
        live, gives = self._live[name], share_bytes > 0
        if of_choice is not None and gives is not bool(evicted):
            return of_choice if evicted or live > 0 else None, 0
        more = calls.count_evictions(name, share_bytes, evicted, live - len(evicted)) - len(evicted)
        if not more:
            return None, 0
        if not is_alone:
            return "L-EVICT-5", -1
        return ("L-EVICT-1" if more > 0 else "L-EVICT-2"), -1 if gives else 0

    # ---------- calls

    def _check_leftovers(self, row: Row) -> None:
        """Step the reference over a call at its last row, with the entries that were cached before it and still are."""
        key = calls.removal_of(row)
        rows = [] if key is None else self._rows.removals[key]
        if not rows or rows[-1] is not row:
            return
        request, left = calls.extract_removal(rows), list[int]()
        layers: list[dict[Position, int]] = [{}]
        for life, begin in self._cached[row["cache"]].items():
            pos = calls.place_of(begin).pos
            layers += [{}] if pos in layers[-1] else []
            layers[-1].update({pos: life} if begin["seq"] < rows[0]["seq"] else {})
        for layer in layers:
            entries = dict.fromkeys(layer, calls.ENTRY)
            if isinstance(request, ops.EvictCache):  # the entries up to the highest one are those that free a byte
                entries[max(calls.place_of(own).pos for own in rows)] = Entry(1, 0, None)
            places = [(own.ledger_id, own.entry_id) for own in calls.answer(request, entries).rows]
            left += [layer[pos] for pos in map(Position._make, places) if pos in layer]
        if len(left) > len(rows) > 1 if isinstance(request, ops.GetRange) else left:
            rule, about = calls.RULES_OF_LEFTOVERS[row["cause"]], {**row, "life": min(left)}
            self._name(rule, about, f"none of {len(left)} left", sure=self._unbroken)

    def _check_call(self, rows: Sequence[Row]) -> None:
        """Check the lookups and offers of a call once all of them are known."""
        lookups = [row for row in rows if row["op"] in ("HIT", "MISS")]
        for cause, rule in (("GET", "L-READ-2"), ("READ", "L-READ-4")):
            for before, row in pairwise([row for row in lookups if row["cause"] == cause]):
                is_next = calls.follows(row, before) if cause == "READ" else calls.ascends(row, before)
                if not is_event(row, "MISS", "GET") and (not is_next or differ(row["cache"], before["cache"])):
                    sure = self._one if cause == "GET" else self._unbroken
                    self._name(rule, row, "the next position", seqs_of(before, row), sure)
        misses = [row for row in rows if is_event(row, "MISS", "READ")]
        offers = [row for row in rows if calls.is_offer(row)]
        singles = [row for row in rows if is_event(row, "SKIP", "NOT_WANTED")]
        for row in misses if any(is_event(row, "HIT", "READ") for row in lookups) else ():
            self._name("L-READ-4", row, "all of it from one place")
        if singles:
            self._check_single(misses, offers, singles)
            return
        for row in () if misses else offers:
            self._name("L-READ-5" if is_event(row, "INSERT", "FILL") else None, row, "no fill", sure=self._unbroken)
        if misses:
            first = next(row for row in lookups if row["cause"] == "READ")
            self._check_range(first, misses, offers, rows[-1])

    def _check_single(self, misses: Sequence[Row], offers: Sequence[Row], singles: Sequence[Row]) -> None:
        """Step the reference over a read of one position from storage."""
        for row in offers:
            self._name("L-READ-6", row, "no offer", sure=self._unbroken)
        for row in misses:
            entries = {calls.place_of(row).pos: calls.ENTRY} if row["seq"] in self._cached_misses else None
            if calls.answer(ops.ReadOne(*calls.place_of(row)), entries, config=self._single).rows[0].op != "MISS":
                self._name("L-READ-6", row, "HIT", sure=self._unbroken)
        for row in singles:
            first = misses[0] if misses else row
            wanted = calls.answer(calls.extract_read(first, 1), None).rows[-1]
            if len(misses) != 1 or calls.is_astray(row, wanted, first):
                self._name("L-READ-6", row, "one MISS before it, there", sure=self._unbroken)

    def _check_range(self, first: Row, misses: Sequence[Row], offers: Sequence[Row], last: Row) -> None:
        """Step the reference over a read of a range from storage, with what is cached of it."""
        request = calls.extract_read(misses[0], len(misses))
        cached = [at for at, row in enumerate(misses) if row["seq"] in self._cached_misses]
        entries = {Position(request.first.ledger, request.first.entry + at): calls.ENTRY for at in cached}
        if first is misses[0] and calls.answer(request, entries).rows[0].op == "HIT":
            self._name("L-READ-4", first, "HIT: all of it is cached", sure=self._unbroken)
        read = calls.answer(calls.extract_read(misses[0], max(len(misses), len(offers))))
        for row, fill in zip(offers, (own for own in read.rows if own.op == "INSERT"), strict=False):
            is_other = row["op"] == "INSERT" and differ(row["cause"], fill.cause)
            if is_other or calls.is_astray(row, fill, misses[0]):
                self._name("L-READ-5", row, f"a fill of entry {fill.entry_id}", sure=self._unbroken)
        if len(offers) != len(misses):
            sure = self._one and self._facts.complete
            self._name("L-READ-5", last, f"{len(misses)} offers", sure=sure)

    # ---------- the state behind a row

    def _record(self, now: Moment) -> None:
        """Record the entries and bytes that later rows are compared with."""
        row, op, life, cache = now.row, now.row["op"], now.row["life"], now.row["cache"]
        begins = op == "INSERT" or (calls.begins_life(row) and life is not None)
        sign = int(begins) - (op in calls.LEAVES)
        self._live_entries += sign
        self._has_changed |= self._has_shown and op in calls.MOVES
        if is_event(row, "SNAPSHOT", "END"):
            self._has_shown = True
            self._shown_entries += life is not None
        if sign and row["entry_id"] is not None:
            self._changes[calls.place_of(row)] = row
        if op in calls.MOVES and cache is not None:
            self._bytes[cache] += sign * (row["size_bytes"] or 0)
            self._live[cache] += sign
        if life is None or not sign:
            return
        if not begins:
            for begin in self._rows.begins[life]:
                self._cached[begin["cache"]].pop(life, None)
        elif calls.is_placed(row) and len(self._rows.begins[life]) == 1 and self._known_lives[life] is None:
            self._cached[cache][life] = row


def _follow(metadata: Metadata, facts: calls.Facts, collector: ViolationCollector, max_live_slots: int) -> bool:
    """Replay the rows in order; return whether there were never more entries than replay is meant for."""
    broker = Replay(metadata, facts, collector)
    return all(broker.follow(at) <= max_live_slots for at in range(len(facts.rows)))


def replay(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[rule_files.Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, results.RuleFinding]:
    """Return the findings of each broker."""
    settings = Settings(KINDS, calls.Manager(), calls.manager_after)
    rules_of = partial(calls.applicable_rules, metadata.many_threads)
    plan = ReplayPlan(COLUMNS, settings, rules_of, partial(_follow, metadata))
    return replay_each(plan, parts, metadata, rules, max_live_slots, progress)
