"""Replay of `kafka-streams`: counters, the order of events, and the loop over the rows of each thread.

`Counters` recomputes the sum of all sizes and the counters of the thread and its namespaces. `Order` checks the rules
about adjacent rows, `Stores` those of caching stores. The loop hands each row to all checks and collects their
violations by rule.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from entrycache_spark.replay.common import (
    ReplayPlan,
    Row,
    ViolationCollector,
    differ,
    read_counters,
    read_texts,
    replay_each,
)
from entrycache_spark.replay.kafka_streams.entries import (
    DECIDING,
    LIMITS,
    STORE_OPS,
    Calls,
    Entries,
    Facts,
    Reporter,
    applicable_rules,
    as_followed,
    same,
    unrecorded_values,
)
from entrycache_spark.systems.kafka_streams import COLUMNS

THREAD_COUNTERS = ("puts", "gets", "evicts", "flushes")


class Counters:
    """The sum of all sizes, and the counters of the thread and of its namespaces."""

    def __init__(self, facts: Facts, report: Reporter, entries: Entries, calls: Calls) -> None:
        self._facts = facts
        self._report = report
        self._entries = entries
        self._calls = calls
        self._of_thread: Counter[str] = Counter()
        self._of_cache: defaultdict[str | None, Counter[str]] = defaultdict(Counter)
        self._vague: Counter[str | None] = Counter()
        self._unnamed: Counter[str | None] = Counter()
        self._written: set[str | None] = set()
        self._told_before: dict[str, int] = {}
        self._shrunk = False
        self._sum_before = 0

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        self._count(at, row)
        op, whole = row["op"], self._facts.whole[at]
        grown = self._entries.sum_bytes - self._sum_before
        self._sum_before = self._entries.sum_bytes
        by_row = None if at == 0 else self._facts.rows[at - 1]["bytes_after"] + grown
        if whole and row["bytes_after"] not in (by_row, self._entries.sum_bytes):
            self._report("K-METRICS-1", row, f"bytes_after {self._entries.sum_bytes}")
        if whole and op == "END":
            counters = read_counters(row)
            right = {"bytes": self._entries.sum_bytes, "entries": self._entries.live_in_all}
            if any(differ(counters.get(name), value) for name, value in right.items()):
                self._report("K-METRICS-1", row, right)
        if differ(row["manager_bytes"], row["bytes_after"]):
            if op == "END":
                self._report("K-METRICS-1", row, f"a running total of {row['bytes_after']}", sure=True)
            elif self._facts.ends_call(at):
                self._report("K-METRICS-1", row, f"a running total of {row['bytes_after']} between calls")
        if op == "METRICS" and row["cache"] is None:
            self._thread(row, whole)
        elif op == "METRICS" and whole and row["call_id"] == row["seq"]:
            self._namespace(row)

    def _count(self, at: int, row: Row) -> None:
        op, cache = row["op"], row["cache"]
        self._of_thread["lookups"] += op in ("HIT", "MISS")
        own = self._of_cache[cache]
        if op == "CACHE_CLOSE":
            own.clear()
            self._written.discard(cache)
        elif op == "PUT":
            self._of_thread["puts"] += 1
            self._written.add(cache)
            own["overwrites"] += self._entries.was_live
        elif op == "MISS":
            own["misses"] += 1
            own["sure_misses"] += cache in self._written
        elif op in ("HIT", "FLUSH"):
            own["hits"] += 1
        elif op == "EVICT":
            own["hits"] -= row["dirty"]
            self._of_thread["evicts"] += 1
        if op == "FAILED" or (op == "FLUSH" and row["cause"] is None):
            self._vague[cache] += 1
            self._unnamed[cache] += op == "FLUSH"
        self._of_thread["failed"] += op == "FAILED"
        self._shrunk |= op == "CONFIG" and self._facts.settings[at].shrank

    def _thread(self, row: Row, whole: bool) -> None:
        counters, mine = read_counters(row), self._of_thread
        wrong = any(name in counters and counters[name] < self._told_before.get(name, 0) for name in THREAD_COUNTERS)
        if whole and row["call_id"] == row["seq"]:
            wrong |= not mine["failed"] and counters.get("puts", mine["puts"]) < mine["puts"]
            evicts = counters.get("evicts")
            if evicts is not None:
                wrong |= not mine["failed"] and evicts < self._calls.sure_evicts
                wrong |= not self._shrunk and evicts > mine["evicts"]
            wrong |= counters.get("flushes", self._calls.flush_calls) < self._calls.flush_calls
            if counters.get("puts", 0) > mine["puts"] or counters.get("gets", 0) > mine["lookups"]:
                self._report("K-METRICS-2", row, dict(mine), sure=False)
        if wrong:
            self._report("K-METRICS-2", row, dict(mine))
        self._told_before |= {name: counters[name] for name in THREAD_COUNTERS if name in counters}

    def _namespace(self, row: Row) -> None:
        counters, mine = read_counters(row), self._of_cache[row["cache"]]
        hits, misses = counters.get("hits"), counters.get("misses")
        wrong = differ(counters.get("overwrites"), mine["overwrites"])
        if misses is not None:
            wrong |= not mine["sure_misses"] <= misses <= mine["misses"]
        if hits is not None:
            vague, unnamed = self._vague[row["cache"]], self._unnamed[row["cache"]]
            wrong |= hits < mine["hits"] - unnamed or (not vague and hits > mine["hits"])
            if not wrong and hits != mine["hits"]:
                self._report("K-METRICS-3", row, dict(mine), sure=False)
        if wrong:
            self._report("K-METRICS-3", row, dict(mine))


# ---------- the order of events


def falls(one: int | None, other: int | None) -> bool:
    """Return whether the second of two known numbers is the smaller one."""
    return one is not None and other is not None and other < one


class Order:
    """K-LIVENESS-1, and the parts of K-FLUSH-1, K-EVICT-3, K-CLOSE-1 and K-CLOSE-2 about adjacent rows."""

    def __init__(self, facts: Facts, report: Reporter, entries: Entries) -> None:
        self._facts = facts
        self._report = report
        self._entries = entries
        self._left_before = False

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        before = self._facts.rows[at - 1] if at else None
        if before is not None:
            self._frame(before, row)
        if self._facts.whole[at]:
            after = self._facts.next_to(at)
            if row["op"] == "FLUSH":
                self._handed(before, row, after)
            self._left(row, after)
        self._left_before = self._entries.leaves_here

    def _frame(self, before: Row, row: Row) -> None:
        if row["ts_ns"] < before["ts_ns"]:
            self._report("K-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", sure=True)
        follows = before["seq"] == row["seq"] - 1
        goes_on = not differ(row["call_id"], row["seq"]) or not differ(row["call_id"], before["call_id"])
        if follows and not goes_on and not self._facts.many:
            self._report("K-LIVENESS-1", row, f"call {before['call_id']}, or one that begins here", sure=True)

    def _handed(self, before: Row | None, row: Row, after: Row | None) -> None:
        same_call = same(before, row, "op", "cache", "call_id")
        if same_call and before is not None:
            if self._entries.is_evicted:
                self._report("K-EVICT-3", row, "the evicted entry first", [before["seq"], row["seq"]])
            elif not self._entries.leaves_here and not self._left_before and falls(before["life"], row["life"]):
                sure = self._entries.knows_order(row)
                self._report("K-FLUSH-1", row, "the order of the last writes", [before["seq"], row["seq"]], sure=sure)
        goes_on = after is None or same(after, row, "op", "cache", "call_id")
        if not goes_on and self._entries.spaces[row["cache"]].dirty:
            self._report("K-FLUSH-1", row, "every dirty entry handed over")

    def _left(self, row: Row, after: Row | None) -> None:
        if not self._entries.spaces[row["cache"]].nodes:
            return
        op, cause = row["op"], row["cause"]
        if op not in ("REMOVE", "CACHE_CLOSE") or after is None:
            return
        goes_on = same(after, row, "cache", "call_id")
        if op == "CACHE_CLOSE" or cause == "CLOSE":
            if not (goes_on and after["op"] in ("REMOVE", "CACHE_CLOSE")):
                self._report("K-CLOSE-2", row, "an empty namespace")
        elif cause == "CLEAR" and not (goes_on and after["op"] == "REMOVE" and after["cause"] == "CLEAR"):
            self._report("K-CLOSE-1", row, "an empty namespace")


# ---------- stores


@dataclass
class StoredKey:
    """The last rows of one key of a store, and whether the underlying store has it."""

    put: Row | None = None
    below: str | None = None
    forwarded: Row | None = None
    named: Row | None = None
    """The last VIEW_ENTRY that names the key."""


@dataclass
class StoreState:
    """One caching store: its last STORE_OPEN or STORE_CLOSE, its settings, and what it did since it opened."""

    row: Row
    settings: dict[str, int] = field(default_factory=dict)
    kind: str | None = None
    stream_time: int | None = None
    opened_seq: int = -1
    dropped_seq: int = -1
    names: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    """The last VIEW_ENTRY of each name, with its times."""
    keys: defaultdict[int | None, StoredKey] = field(default_factory=lambda: defaultdict(StoredKey))
    unrecorded: set[tuple[str, str]] = field(default_factory=set)
    """The ops with the values that some of their rows do not record."""


class HandedRow(NamedTuple):
    """A FLUSH or BELOW row that something must follow, with the store as it was then."""

    row: Row
    kind: str | None
    retention: int | None


@dataclass
class StoreCall:
    """The actions of one call on one store: its BELOW rows by life, and the repeated ones; how many FLUSH rows a life
    has; by seq failed flushes, an emptying, forwards, and rewritten keys."""

    taken: list[HandedRow] = field(default_factory=list)
    below: defaultdict[int | None, list[Row]] = field(default_factory=lambda: defaultdict(list))
    forward: defaultdict[int | None, list[int]] = field(default_factory=lambda: defaultdict(list))
    repeated: list[Row] = field(default_factory=list)
    handed: Counter[int | None] = field(default_factory=Counter)
    rewritten: dict[int | None, int] = field(default_factory=dict)
    failed: int = -1
    emptied: int | None = None
    last_time: int | None = None


def time_of(row: Row) -> int | None:
    """Return the time of a window or session: its end, or else its start."""
    time: int | None = row["window_start"] if row["window_end"] is None else row["window_end"]
    return time


def outlasts(time: int | None, retention: int | None, now: int | None) -> bool:
    """Return whether a window of this time is known not to have expired now."""
    return time is not None and retention is not None and now is not None and time > now - retention


def contradict(before: Row | None, row: Row, *names: str) -> bool:
    """Return whether two rows differ in one of these columns, where both are known."""
    return before is not None and any(
        None not in (before[name], row[name]) and before[name] != row[name] for name in names
    )


def is_of_another_kind(kind: str | None, row: Row) -> bool:
    """Return whether a row is about a window or session that a store of this kind cannot hold."""
    return (kind == "kv" and row["window_start"] is not None) or (
        kind in ("kv", "window") and row["window_end"] is not None
    )


def is_out_of_range(view: Row, row: Row, is_plain: bool) -> bool:
    """Return whether an entry lies outside the range of its view, as far as both are known."""
    bounds, times = read_texts(view), read_counters(view)
    first, last = bounds.get("from", bounds.get("key")), bounds.get("to", bounds.get("key"))
    value, time, start = row["value"], time_of(row), row["window_start"]
    if value is not None and (
        (first is not None and f'"{first}"' > value) or (last is not None and f'"{last}"' < value)
    ):
        return True
    if value is not None and not value.startswith(bounds.get("prefix", ""), 1):
        return True
    if is_plain:
        return False
    begin, end = times.get("time_from"), times.get("time_to")
    is_before = begin is not None and time is not None and begin > time
    return is_before or (end is not None and start is not None and end < start)


STORED_OPS: Final = ("PUT", "FLUSH", "FAILED", "DELETE", "REMOVE", "CACHE_CLOSE", *STORE_OPS)
"""The ops that the rules of stores read."""


class Stores:
    """The rules of caching stores; what calls handed over is judged at the end."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts = facts
        self._report = report
        self._stores: dict[str | None, StoreState] = {}
        self._calls: dict[tuple[str | None, int | None], StoreCall] = {}
        self._puts: dict[tuple[str | None, int], Row] = {}
        self._views: dict[tuple[str | None, int | None], Row] = {}
        self._has_views: set[str | None] = set()
        self._shown: dict[tuple[str | None, int | None], dict[int | None, int]] = {}
        self._last_entries: dict[tuple[str | None, int | None], Row] = {}
        self._has_old_values = any(row["op"] == "FORWARD" and row["old_hash"] is not None for row in facts.rows)
        self._has_stores = any(row["op"] in STORE_OPS for row in facts.rows)

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        if not self._has_stores:
            return
        op, cache = row["op"], row["cache"]
        if op == "STORE_OPEN":
            self._stores[cache] = StoreState(row, read_counters(row), row["store_kind"], opened_seq=row["seq"])
        elif op == "STORE_CLOSE" and cache in self._stores:
            self._stores[cache].row = row
        store = self._stores.get(cache)
        if store is not None and op in STORED_OPS:
            if self._facts.whole[at]:
                self._judge(row, store)
            self._apply(at, row, store)
            if op == "PUT" and row["life"] == row["seq"]:
                self._puts[cache, row["seq"]] = row
            elif op == "VIEW":
                self._views[cache, row["pass_id"]] = row
                self._has_views.add(cache)
        if at + 1 == len(self._facts.rows):
            self._end()

    def _report_unrecorded(self, row: Row, store: StoreState) -> None:
        """Report the rules that an event leaves open: it is the first of its op and store without some value."""
        op, is_open = row["op"], store.row["op"] == "STORE_OPEN"
        missing = unrecorded_values(row, store.kind, store.settings, is_open)
        missing = {name for name in missing if (op, name) not in store.unrecorded}
        store.unrecorded |= {(op, name) for name in missing}
        for deciding in DECIDING if missing else ():
            names = deciding.of_row(op, store.kind, missing)
            if names:
                self._report(deciding.rule, row, f"a {op} with {' and '.join(names)}", sure=False)

    def _judge(self, row: Row, store: StoreState) -> None:
        op, key = row["op"], store.keys[row["key_hash"]]
        self._report_unrecorded(row, store)
        if op not in ("BELOW", "FORWARD", "VIEW", "VIEW_ENTRY"):
            return
        is_open = store.row["op"] == "STORE_OPEN"
        if not is_open and differ(store.row["call_id"], row["call_id"]):
            self._report("K-CLOSE-3", row, "nothing of a closed store", [store.row["seq"], row["seq"]])
        time, retention, now = time_of(row), store.settings.get("retention"), store.stream_time
        is_windowed = store.kind not in ("kv", None)
        expired = is_windowed and None not in (time, retention, now) and not outlasts(time, retention, now)
        if op in ("BELOW", "FORWARD") and expired:
            self._report("K-WINDOW-6", row, f"nothing as old at stream time {store.stream_time}")
        is_written = row["life"] is not None and bool(self._call(row).below[row["life"]])
        if op == "FORWARD" and is_open and not expired and not is_written:
            self._report("K-STORE-2", row, "a BELOW of the same life and call before it")
        if op == "FORWARD" and store.settings.get("old_values") == 1 and key.forwarded is not None:
            self._chain(row, key.forwarded, store)
        if op in ("BELOW", "FORWARD") and row["life"] is not None and row["life"] > store.opened_seq:
            self._check_entry(row, store)
        if op == "VIEW_ENTRY":
            self._entry(row, key, store)

    def _check_entry(self, row: Row, store: StoreState) -> None:
        """Judge whether the entry that is written or forwarded is the one that its life began with."""
        put = self._puts.get((row["cache"], row["life"]))
        is_deletion = row["cause"] == "DELETE"
        differs = contradict(put, row, "key_hash", "window_start", "window_end")
        if put is not None and put["cause"] in ("VALUE", "DELETE") and row["cause"] in ("PUT", "VALUE", "DELETE"):
            differs |= (put["cause"] == "DELETE") != is_deletion
        deletes_a_value = is_deletion and row["value_hash"] is not None
        call = self._call(row)
        written = call.below[row["life"]]
        if row["op"] == "BELOW":
            call.repeated += [row] if written else []
            if differs and put is not None:
                self._report("K-STORE-2", row, "the entry that the PUT of its life shows", [put["seq"], row["seq"]])
            if is_of_another_kind(store.kind, row) or deletes_a_value:
                self._report("K-STORE-2", row, "an entry that the store can hold", [store.opened_seq, row["seq"]])
            return
        if store.settings.get("listens") == 0:
            self._report("K-STORE-4", row, "no FORWARD: nobody listens", [store.opened_seq, row["seq"]])
        if differs or deletes_a_value or (written and contradict(written[-1], row, "value_hash")):
            self._report(
                "K-STORE-4", row, "the entry that was written", [*(each["seq"] for each in written[-1:]), row["seq"]]
            )
        if store.settings.get("old_values") == 0 and row["old_hash"] is not None:
            self._report("K-OLD-2", row, "no old value: the store has none", [store.opened_seq, row["seq"]])

    def _chain(self, row: Row, before: Row, store: StoreState) -> None:
        if store.dropped_seq > before["seq"] or not self._has_old_values:
            return
        old, value = row["old_hash"], before["value_hash"]
        if before["cause"] == "DELETE" and old is not None:
            self._report("K-OLD-2", row, "no old value", [before["seq"], row["seq"]])
        if before["cause"] == "VALUE" and value is not None and old != value:
            self._report("K-OLD-2", row, f"the old value {value}", [before["seq"], row["seq"]])

    def _entry(self, row: Row, key: StoredKey, store: StoreState) -> None:
        """Judge an entry of a view."""
        view = row["pass_id"]
        if view is not None and view > store.opened_seq and is_of_another_kind(store.kind, row):
            self._report("K-WINDOW-2", row, f"an entry of a {store.kind} store", [store.opened_seq, row["seq"]])
        if store.kind is None:
            return
        rule = "K-VIEW-1" if store.kind == "kv" else "K-WINDOW-2"
        self._place_in_view(row, key, store, rule)
        put = key.put
        is_deleted = put is not None and put["cause"] == "DELETE" and store.dropped_seq < put["seq"]
        if put is not None and is_deleted and view is not None and put["seq"] < view:
            self._report(rule, row, "no entry: the last write was a deletion", [put["seq"], row["seq"]])
        of_view = (row["cache"], view)
        first_seqs = self._shown.setdefault(of_view, {})
        if row["key_hash"] in first_seqs:
            self._report(rule, row, "each entry once", [first_seqs[row["key_hash"]], row["seq"]])
        first_seqs.setdefault(row["key_hash"], row["seq"])
        before = self._last_entries.get(of_view)
        view_row = self._views.get(of_view)
        direction = row["cause"] or (None if view_row is None else view_row["cause"])
        if before is not None and self._is_misplaced(before, row, store, direction):
            order = "K-VIEW-1" if store.kind == "kv" else "K-WINDOW-1"
            self._report(order, row, "the order of the store", [before["seq"], row["seq"]])
        self._last_entries[of_view] = row

    def _place_in_view(self, row: Row, key: StoredKey, store: StoreState, rule: str) -> None:
        """Judge whether an entry belongs to its view, and has the name and the times that earlier rows give it."""
        view_row, is_plain = self._views.get((row["cache"], row["pass_id"])), store.kind == "kv"
        is_lost = view_row is None and row["pass_id"] is not None and row["cache"] in self._has_views
        if is_lost or contradict(view_row, row, "cause"):
            own = "K-VIEW-1" if is_plain else "K-WINDOW-1"
            self._report(
                own, row, "an entry of a view of this store", [*([view_row["seq"]] if view_row else []), row["seq"]]
            )
        if view_row is not None and is_out_of_range(view_row, row, is_plain):
            self._report(rule, row, "an entry of the range of the view", [view_row["seq"], row["seq"]])
        name = (row["value"], row["window_start"], row["window_end"])
        for other, names in (
            (key.put, ("window_start", "window_end")),
            (key.named, ("value",)),
            (store.names.get(name), ("key_hash",)),
        ):
            if other is not None and contradict(other, row, *names):
                self._report(rule, row, "the name that an earlier event gives it", [other["seq"], row["seq"]])
                break
        if row["value"] is not None:
            key.named = row
            if row["key_hash"] is not None:
                store.names[name] = row

    @staticmethod
    def _is_misplaced(before: Row, row: Row, store: StoreState, direction: str | None) -> bool:
        """Return whether an entry comes before the one that its view answered before."""
        interval = 1 if store.kind == "kv" else store.settings.get("segment_interval")
        times = [0 if store.kind == "kv" else time_of(each) for each in (before, row)]
        if direction not in ("FORWARD", "BACKWARD") or not interval or times[0] is None or times[1] is None:
            return False
        places = [(times[0] // interval, before["value"], times[0]), (times[1] // interval, row["value"], times[1])]
        if direction == "BACKWARD":
            places.reverse()
        (segment, key, time), (segment_after, key_after, time_after) = places
        if segment != segment_after:
            return segment > segment_after
        if key is None or key_after is None:
            return False
        return bool(key > key_after or (key == key_after and time > time_after))

    def _call(self, row: Row) -> StoreCall:
        return self._calls.setdefault((row["cache"], row["call_id"]), StoreCall())

    def _apply(self, at: int, row: Row, store: StoreState) -> None:
        op, cause, seq, key = row["op"], row["cause"], row["seq"], store.keys[row["key_hash"]]
        call = self._call(row)
        is_open = store.row["op"] == "STORE_OPEN"
        if op == "PUT":
            time = time_of(row)
            if time is not None:
                store.stream_time = max(time, time if store.stream_time is None else store.stream_time)
            key.put = row
            if row["dirty"]:
                call.rewritten[row["key_hash"]] = seq
        elif op == "FAILED":
            call.failed = seq
        elif op == "CACHE_CLOSE" or (op == "REMOVE" and cause == "CLEAR"):
            call.emptied = seq if call.emptied is None else call.emptied
        call.handed[row["life"]] += op in ("FLUSH", "FAILED")
        if op == "FAILED" or (op, cause) in (("REMOVE", "CLEAR"), ("DELETE", "CALL")):
            store.dropped_seq = seq
        if store.stream_time is not None:
            call.last_time = max(store.stream_time, store.stream_time if call.last_time is None else call.last_time)
        taken = HandedRow(row, store.kind, store.settings.get("retention"))
        must_follow = is_open and self._facts.whole[at] and row["life"] is not None
        if op == "FLUSH" and must_follow and key.put is not None and key.put["life"] == row["life"]:
            if key.put["cause"] == "VALUE" or (key.put["cause"] == "DELETE" and key.below == "PUT"):
                call.taken.append(taken)
        elif op == "BELOW":
            call.below[row["life"]].append(row)
            key.below = cause
            if must_follow and store.settings.get("listens") == 1:
                call.taken.append(taken)
        elif op == "FORWARD":
            call.forward[row["life"]].append(seq)
            key.forwarded = row

    def _end(self) -> None:
        """Judge what each call handed over, where no row of the call can be missing."""
        last_call = max((row["call_id"] for row in self._facts.rows if row["call_id"] is not None), default=None)
        for (_, call_id), call in self._calls.items() if not self._facts.gapped else ():
            if not self._facts.complete and (call_id is None or last_call is None or call_id >= last_call):
                continue
            last_forward = max((seqs[-1] for seqs in call.forward.values() if seqs), default=-1)
            emptied = call.emptied is not None and last_forward > call.emptied
            for row, kind, retention in call.taken:
                lasts = kind == "kv" or outlasts(time_of(row), retention, call.last_time)
                if lasts and call.failed < row["seq"] and not emptied:
                    self._unfinished(row, call)
            for row in call.repeated:
                if call.failed < row["life"] and call.handed[row["life"]] < 2:
                    first = call.below[row["life"]][0]
                    self._report("K-STORE-2", row, "one BELOW of the life", [first["seq"], row["seq"]])

    def _unfinished(self, row: Row, call: StoreCall) -> None:
        life = row["life"]
        if row["op"] == "FLUSH" and not call.below[life]:
            self._report("K-STORE-2", row, "a BELOW of the same life and call")
        forwarded = max(call.forward[life], default=-1) > row["seq"]
        if row["op"] == "BELOW" and not forwarded and call.rewritten.get(row["key_hash"], -1) < row["seq"]:
            self._report("K-STORE-4", row, "a FORWARD of the same life and call")


# ---------- threads


def _follow(facts: Facts, collector: ViolationCollector, max_live_slots: int) -> bool:
    """Replay the rows in order; return whether there were never more entries than replay is meant for."""
    as_followed(facts.rows)
    entries = Entries(facts, collector.report)
    calls = Calls(facts, collector.report, entries)
    checks: tuple[Order | Calls | Counters | Stores, ...] = (
        Order(facts, collector.report, entries),
        calls,
        Counters(facts, collector.report, entries, calls),
        Stores(facts, collector.report),
    )
    for at, row in enumerate(facts.rows):
        entries.follow(at, row)
        for check in checks:
            check.follow(at, row)
        if entries.live_in_all > max_live_slots:
            return False
    return True


replay = partial(replay_each, ReplayPlan(COLUMNS, LIMITS, applicable_rules, _follow))
"""Return the findings of each thread."""
