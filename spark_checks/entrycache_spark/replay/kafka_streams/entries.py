"""The entries of a replayed stream thread, its limits, and the evictions that calls may make.

`Entries` follows the namespaces of a thread: once by writes and ends alone, once as the rows show the entries.
`KeyState` is what is known of one key. `Calls` judges the evictions of each call against the effective limit.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from entrycache_reference.kafka_streams import change, outcomes, state
from entrycache_spark.common.system import ConfigObject
from entrycache_spark.replay.common import Facts as AnyFacts
from entrycache_spark.replay.common import Row, Settings, differ
from entrycache_spark.systems.kafka_streams import KINDS

LEAVE_OPS: Final = ("EVICT", "DELETE", "REMOVE")
LOOKUPS: Final = ("HIT", "MISS", "CACHE_OPEN", "STORE_OPEN", "VIEW", "VIEW_ENTRY")
STORE_OPS: Final = ("STORE_OPEN", "STORE_CLOSE", "BELOW", "FORWARD", "VIEW", "VIEW_ENTRY")


class Limit(NamedTuple):
    """The effective limit at a row, and the limit before it."""

    now: int | None = None
    before: int | None = None

    @property
    def shrank(self) -> bool:
        """Return whether the limit became smaller."""
        return self.now is not None and self.before is not None and self.now < self.before


Facts = AnyFacts[Limit]


def _limit(config: ConfigObject | None, before: Limit) -> Limit:
    return Limit(None if config is None else config["max_size_bytes"], before.now)


LIMITS: Final = Settings(KINDS, Limit(), _limit)


def as_followed(rows: Iterable[Row]) -> None:
    """Give failed flushes the op FAILED, and treat rows with an unknown dirty flag as clean."""
    for row in rows:
        row["dirty"] = bool(row["dirty"])
        if _is_failed(row):
            row["op"] = "FAILED"


def _is_failed(row: Row) -> bool:
    return bool(row["op"] == "FLUSH" and row["cause"] == "FAILED")


def first_put_back(rows: Sequence[Row]) -> int | None:
    """Return the seq of the first PUT by which a listener that throws puts an evicted entry back."""
    for row, after in pairwise(rows):
        if row["op"] == "PUT" and after["op"] == "FAILED" and row["life"] == after["life"] is not None:
            return int(row["seq"])
    return None


class DecidingValues(NamedTuple):
    """Values that decide a rule, of the rows of some ops: in every store, in those of keys, or in those with times."""

    rule: str
    ops: tuple[str, ...]
    names: tuple[str, ...]
    timed: bool | None = None

    def of_row(self, op: str, kind: str | None, unrecorded: Collection[str]) -> list[str]:
        """Return those of these values that a row of a store does not record."""
        applies = self.timed is None or (kind is not None and self.timed is (kind != "kv"))
        return [name for name in self.names if name in unrecorded] if applies and op in self.ops else []


TIMES: Final = "window_start or window_end"
"""The times of a window or session."""

DECIDING: Final = (
    DecidingValues("K-STORE-2", ("STORE_OPEN",), ("store_kind", "value.retention")),
    DecidingValues("K-STORE-2", ("PUT", "BELOW"), ("key_hash", "life", "cause", TIMES)),
    DecidingValues("K-STORE-4", ("STORE_OPEN",), ("store_kind", "value.retention", "value.listens")),
    DecidingValues("K-STORE-4", ("PUT",), ("key_hash", "life", "cause", TIMES)),
    DecidingValues("K-STORE-4", ("BELOW", "FORWARD"), ("key_hash", "cause", TIMES, "value_hash")),
    DecidingValues("K-OLD-2", ("STORE_OPEN",), ("value.old_values",)),
    DecidingValues("K-OLD-2", ("FORWARD",), ("key_hash", "life", "cause", "value_hash")),
    DecidingValues("K-VIEW-1", ("STORE_OPEN",), ("store_kind",)),
    DecidingValues("K-VIEW-1", ("VIEW_ENTRY",), (TIMES,)),
    DecidingValues("K-VIEW-1", ("VIEW_ENTRY",), ("key_hash", "cause", "pass_id", "value"), timed=False),
    DecidingValues("K-VIEW-1", ("VIEW",), ("cause", "pass_id", "value"), timed=False),
    DecidingValues("K-VIEW-1", ("PUT",), ("key_hash", "cause"), timed=False),
    DecidingValues("K-WINDOW-1", ("STORE_OPEN",), ("store_kind", "value.segment_interval")),
    DecidingValues("K-WINDOW-1", ("VIEW_ENTRY",), ("cause", "pass_id", "value", TIMES), timed=True),
    DecidingValues("K-WINDOW-1", ("VIEW",), ("cause", "pass_id"), timed=True),
    DecidingValues("K-WINDOW-2", ("STORE_OPEN",), ("store_kind",)),
    DecidingValues("K-WINDOW-2", ("VIEW_ENTRY",), ("key_hash", "pass_id", "value", TIMES), timed=True),
    DecidingValues("K-WINDOW-2", ("VIEW",), ("pass_id", "value"), timed=True),
    DecidingValues("K-WINDOW-2", ("PUT",), ("key_hash", "cause", TIMES), timed=True),
    DecidingValues("K-WINDOW-6", ("STORE_OPEN",), ("store_kind", "value.retention")),
    DecidingValues("K-WINDOW-6", ("PUT", "BELOW", "FORWARD"), (TIMES,)),
)
"""The values of stores that decide rules."""


def unrecorded_values(row: Row, kind: str | None, settings: Mapping[str, int], is_open: bool) -> set[str]:
    """Return the values that a row of a store does not record, by the names of `DECIDING`."""
    is_timed = kind not in (None, "kv")
    if row["op"] == "STORE_OPEN":
        wanted = ("listens", "old_values", *(("retention", "segment_interval") if is_timed else ()))
        missing = {f"value.{name}" for name in wanted if name not in settings}
        return missing | ({"store_kind"} if kind is None else set())
    names = {name for name in ("key_hash", "life", "cause", "pass_id", "value") if row[name] is None}
    if row["cause"] in ("PUT", "VALUE") and row["value_hash"] is None:
        names.add("value_hash")
    is_timeless = row["window_start"] is None or (kind == "session" and row["window_end"] is None)
    return names | ({TIMES} if is_open and is_timed and is_timeless else set())


def same(row: Row | None, other: Row, *names: str) -> bool:
    """Return whether two rows agree in these columns, all of them known."""
    return row is not None and all(row[name] is not None and row[name] == other[name] for name in names)


def applicable_rules(row: Row, limit: Limit) -> Iterable[str]:
    """Return the rules that apply to one row."""
    op, cause, has_life = row["op"], row["cause"], row["life"] is not None
    yield "K-LIVENESS-1"
    if op == "METRICS":
        yield "K-METRICS-2" if row["cache"] is None else "K-METRICS-3"
    if op == "CONFIG" and limit.shrank:
        yield "K-RESIZE-2"
    if op in ("PUT", "END", *LEAVE_OPS):
        yield "K-METRICS-1"
    if op in ("PUT", "HIT", "MISS", "FLUSH", "CACHE_CLOSE", *LEAVE_OPS):
        yield from _of_entries(row, op, cause, has_life)
    if op in STORE_OPS:
        yield from _of_stores(row, op)


def _of_stores(row: Row, op: str) -> Iterable[str]:
    is_of_window = row["window_start"] is not None
    if op in ("STORE_OPEN", "BELOW", "FORWARD"):
        yield from ("K-STORE-2", "K-STORE-4")
    if op == "STORE_CLOSE":
        yield "K-CLOSE-3"
    if op in ("BELOW", "FORWARD") and is_of_window:
        yield "K-WINDOW-6"
    if op == "FORWARD" and row["old_hash"] is not None:
        yield "K-OLD-2"
    if op == "VIEW_ENTRY":
        yield from ("K-WINDOW-1", "K-WINDOW-2") if is_of_window else ("K-VIEW-1",)


def _of_entries(row: Row, op: str, cause: str | None, has_life: bool) -> Iterable[str]:
    yield from {"HIT": ("K-GET-1",), "MISS": ("K-GET-2",), "EVICT": ("K-EVICT-1",)}.get(op, ())
    if op == "FLUSH" and not _is_failed(row):
        yield "K-FLUSH-1"
    if op == "PUT":
        yield from ("K-PUT-1", "K-EVICT-4", "K-EVICT-5")
        if not row["dirty"]:
            yield "K-PUT-4"
    if op == "EVICT" and row["dirty"]:
        yield "K-EVICT-3"
    if has_life and op in ("HIT", *LEAVE_OPS):
        yield "K-FLUSH-3"
    if has_life and op in ("HIT", "FLUSH", *LEAVE_OPS):
        yield from ("K-SIZE-1", "K-FLUSH-2")
    if op == "DELETE" and cause == "FLUSH":
        yield "K-FLUSH-4"
    elif op == "DELETE" and has_life:
        yield "K-DELETE-1"
    if op == "REMOVE" and cause in ("CLEAR", "CLOSE"):
        yield {"CLEAR": "K-CLOSE-1", "CLOSE": "K-CLOSE-2"}[cause]
    if op == "CACHE_CLOSE":
        yield "K-CLOSE-2"


# ---------- entries

Key = tuple[str | None, int | None]
Reporter = Callable[..., None]

RULE_OF: Final = {"HIT": "K-GET-1", "EVICT": "K-EVICT-1", "DELETE": "K-DELETE-1", "CLEAR": "K-CLOSE-1"}


class LastShown(NamedTuple):
    """An entry as its key's last row showed it."""

    life: int | None = None
    size_bytes: int | None = None
    dirty: bool | None = None


class Handed(NamedTuple):
    """The last time that a key was handed over, or evicted."""

    life: int | None
    call_id: int | None
    seq: int
    dirty: bool = True
    is_named: bool = True

    def is_of(self, row: Row) -> bool:
        """Return whether it was the same life, and in the same call."""
        return row["life"] is not None and self.life == row["life"] and self.call_id == row["call_id"]


@dataclass
class KeyState:
    """The known state of one key."""

    put: Row | None = None
    last_shown: LastShown = field(default_factory=LastShown)
    flushed: Handed | None = None
    evicted: Handed | None = None
    leaves: dict[int, Handed] = field(default_factory=dict)
    """The eviction that is the key's next event behind a FLUSH."""


class Entries:
    """The namespaces of a thread. `told`: by writes and ends alone; `used`: as the rows show them, for recency."""

    def __init__(self, facts: Facts, report: Reporter) -> None:
        self._facts = facts
        self._report = report
        self.spaces: defaultdict[str | None, state.Space] = defaultdict(state.Space)
        self.used: defaultdict[str | None, state.Space] = defaultdict(state.Space)
        self.key_states: defaultdict[Key, KeyState] = defaultdict(KeyState)
        self.live_in_all = 0
        self.sum_bytes = 0
        self.was_live = False
        self.is_evicted = False
        self.leaves_here = False
        self.was_handed = False
        self.flushed_seq: int | None = None
        self._put_back = first_put_back(facts.rows)
        self._look_ahead()
        self._lost()

    def knows_order(self, row: Row) -> bool:
        """Return whether the order of use and of writes is certain: one thread, and no entry was put back before."""
        return not self._facts.many and (self._put_back is None or row["seq"] < self._put_back)

    def _look_ahead(self) -> None:
        coming: dict[Key, Row] = {}
        for row in reversed(self._facts.rows):
            if row["op"] in STORE_OPS:
                continue
            key = (row["cache"], row["key_hash"])
            after = coming.get(key)
            if row["op"] == "FLUSH" and after is not None and after["op"] == "EVICT":
                self.key_states[key].leaves[row["seq"]] = Handed(
                    after["life"], after["call_id"], after["seq"], after["dirty"]
                )
            coming[key] = row

    def _lost(self) -> None:
        """Report dirty evictions without a FLUSH of the same life and call."""
        rows = self._facts.rows
        flushed = {(row["life"], row["call_id"]) for row in rows if row["op"] == "FLUSH"}
        evicted = {(row["life"], row["call_id"]): row for row in rows if row["op"] == "EVICT" and row["dirty"]}
        last_call = max((row["call_id"] for row in rows if row["call_id"] is not None), default=None)
        for named, row in evicted.items():
            if named not in flushed:
                before_last = row["call_id"] is not None and last_call is not None and row["call_id"] < last_call
                sure = not self._facts.gapped and (self._facts.complete or before_last)
                self._report("K-EVICT-3", row, "a FLUSH of the same life and call", sure=sure)

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        op, life, cache = row["op"], row["life"], row["cache"]
        key_state = self.key_states[(cache, row["key_hash"])]
        node = self.spaces[cache].nodes.get(str(row["key_hash"]))
        self.was_live = node is not None
        evictions = (key_state.evicted, key_state.leaves.get(row["seq"])) if op == "FLUSH" else ()
        own = [each for each in evictions if each is not None and each.is_of(row)]
        self.leaves_here = bool(own)
        self.is_evicted = any(each.dirty for each in own)
        self.flushed_seq = None
        if key_state.flushed is not None and life is not None and key_state.flushed.life == life:
            self.flushed_seq = key_state.flushed.seq
        self.was_handed = key_state.flushed is not None and key_state.flushed.is_of(row)
        if op == "PUT" and life != row["seq"]:
            self._report("K-PUT-1", row, f"life {row['seq']}", sure=True)
        if self._facts.whole[at]:
            self._judge(row, key_state, node)
        self._apply(row, key_state, node)

    def _judge(self, row: Row, key_state: KeyState, node: state.Node | None) -> None:
        op, life = row["op"], row["life"]
        if op in ("HIT", *LEAVE_OPS):
            self._check_life(row, key_state, node)
        if op == "MISS" and node is not None and key_state.last_shown.life is not None:
            self._report("K-GET-2", row, f"a HIT of life {node.write}", [node.write, row["seq"]], life=node.write)
        if op == "PUT" and not row["dirty"] and node is not None and node.is_dirty and key_state.last_shown.dirty:
            self._report("K-PUT-4", row, "no clean PUT over a dirty entry", [node.write, row["seq"]])
        if op == "FLUSH" and (node is None or life != node.write) and not self.leaves_here:
            self._report("K-FLUSH-1", row, "an entry that is cached, or evicted by this call")
        dropped = op == "DELETE" and row["cause"] == "FLUSH"
        if dropped and (not self.was_handed or self._strange(row, key_state, node)):
            self._report("K-FLUSH-4", row, "a DELETE only of an entry that was handed over in this call, and is cached")
        used, key = self.used[row["cache"]], str(row["key_hash"])
        if op == "EVICT" and key in used.nodes and used.recent[-1] != key:
            self._report("K-EVICT-1", row, "the least recently used entry", sure=self.knows_order(row))
        self._flags(row, key_state, node)
        if op in ("HIT", "FLUSH", "FAILED", *LEAVE_OPS) and key_state.put is not None and life == key_state.put["seq"]:
            size = row["size_bytes"]
            if differ(size, key_state.put["size_bytes"] or 0) and differ(size, key_state.last_shown.size_bytes):
                self._report("K-SIZE-1", row, f"size_bytes {key_state.put['size_bytes']}", [life, row["seq"]])

    @staticmethod
    def _strange(row: Row, key_state: KeyState, node: state.Node | None) -> bool:
        """Return whether a row is known to be about another life than the cached one."""
        return row["life"] is None or (
            row["life"] != key_state.last_shown.life and row["life"] != (None if node is None else node.write)
        )

    def _check_life(self, row: Row, key_state: KeyState, node: state.Node | None) -> None:
        op, cause = row["op"], row["cause"]
        if not self._strange(row, key_state, node):
            return
        if op == "REMOVE":
            rule = {"CLEAR": "K-CLOSE-1", "CLOSE": "K-CLOSE-2"}.get(cause)
        elif op == "DELETE" and (cause == "FLUSH" or row["life"] is None):
            rule = None
        else:
            rule = RULE_OF[op]
        if rule is not None:
            self._report(rule, row, "nothing cached" if node is None else f"life {node.write}")

    def _flags(self, row: Row, key_state: KeyState, node: state.Node | None) -> None:
        op, life, last_shown = row["op"], row["life"], key_state.last_shown
        if node is None or life != node.write or last_shown.dirty is None or op not in ("HIT", "FLUSH", *LEAVE_OPS):
            return
        if op != "FLUSH" and not row["dirty"] and node.is_dirty and last_shown.dirty:
            self._report("K-FLUSH-3", row, "a dirty entry, or its FLUSH before", [node.write, row["seq"]])
        if node.is_dirty or last_shown.dirty:
            return
        just = op == "EVICT" and self.was_handed
        if op == "FLUSH" or (row["dirty"] and not just):
            flushed = key_state.flushed
            sure = not self._facts.many and (flushed is None or flushed.is_named)
            self._report("K-FLUSH-2", row, "a clean entry", [node.write, row["seq"]], sure=sure)

    def _apply(self, row: Row, key_state: KeyState, node: state.Node | None) -> None:
        op, cache, key = row["op"], row["cache"], str(row["key_hash"])
        space, used = self.spaces[cache], self.used[cache]
        if op == "PUT":
            new_node = state.Node(None, row["dirty"], row["size_bytes"] or 0, outcomes.Context(), row["seq"])
            self._grow(new_node.size_bytes - (0 if node is None else node.size_bytes), 1 if node is None else 0)
            # A clean write over a dirty entry, which the reference refuses, leaves it clean.
            left = space if node is None or row["dirty"] else change.remove_key(space, key)
            self.spaces[cache] = change.write_key(left, key, new_node)
            self.used[cache] = change.write_key(used, key, new_node)
            key_state.put = row
            key_state.last_shown = LastShown(row["life"], row["size_bytes"], row["dirty"])
        elif op == "HIT":
            there = (
                used
                if key in used.nodes
                else change.write_key(used, key, state.Node(None, False, 0, outcomes.Context(), row["seq"]))
            )
            self.used[cache] = change.look_up_key(there, key)
            size = key_state.last_shown.size_bytes if row["size_bytes"] is None else row["size_bytes"]
            key_state.last_shown = LastShown(row["life"], size, row["dirty"])
        elif op in ("MISS", *LEAVE_OPS):
            self.used[cache] = change.remove_key(used, key)
            key_state.last_shown = key_state.last_shown._replace(life=None)
            if op in LEAVE_OPS and node is not None:
                self._grow(-node.size_bytes, -1)
                self.spaces[cache] = change.remove_key(space, key)
            if op == "EVICT":
                key_state.evicted = Handed(row["life"], row["call_id"], row["seq"], row["dirty"])
        elif op == "FAILED" and key_state.flushed is not None:
            key_state.last_shown = key_state.last_shown._replace(dirty=True)
        elif op == "FLUSH":
            named = row["cause"] is not None
            key_state.flushed = Handed(row["life"], row["call_id"], row["seq"], is_named=named)
            key_state.last_shown = key_state.last_shown._replace(dirty=False)
            if node is not None and key_state.put is not None:
                self._mark(cache, key, node, bool(key_state.put["dirty"]) and row["life"] != node.write)

    def _mark(self, cache: str | None, key: str, node: state.Node, is_dirty: bool) -> None:
        space = self.spaces[cache]
        others = change.without_key(space.dirty, key)
        marked = {**space.nodes, key: node._replace(is_dirty=is_dirty)}
        self.spaces[cache] = space._replace(nodes=marked, dirty=(*others, key) if is_dirty else others)

    def _grow(self, size_bytes: int, entries: int) -> None:
        self.sum_bytes += size_bytes
        self.live_in_all += entries


# ---------- calls


class Calls:
    """K-EVICT-4, K-EVICT-5 and K-RESIZE-2, call by call."""

    def __init__(self, facts: Facts, report: Reporter, entries: Entries) -> None:
        self._facts = facts
        self._report = report
        self._entries = entries
        self._changed_call: int | None = None
        self._opened_call: int | None = None
        self._opened_as: str | None = None
        self._put_cache: str | None = None
        self._failed_call: int | None = None
        self._unnamed_call: int | None = None
        self._opened_seq: int | None = None
        self._handed_seq: int | None = None
        self._other_seq: int | None = None
        self.sure_evicts = 0
        self.flush_calls = 0

    def follow(self, at: int, row: Row) -> None:
        """Read one event."""
        op, call_id, limit = row["op"], row["call_id"], self._facts.settings[at]
        before = self._facts.rows[at - 1] if at else None
        if op not in LOOKUPS and (call_id is None or self._changed_call != call_id):
            self._opened_call = call_id
            self._opened_seq = row["seq"]
            self._opened_as = "PUT" if op == "PUT" else "SHRINK" if op == "CONFIG" and limit.shrank else "OTHER"
            self._put_cache = row["cache"] if op == "PUT" else self._put_cache
            self.flush_calls += op == "FLUSH" and not self._entries.leaves_here
        if op not in LOOKUPS:
            self._changed_call = call_id
        if op == "FAILED":
            self._failed_call = call_id
        if op == "FLUSH" and row["cause"] is None:
            self._unnamed_call = call_id
        own = call_id is not None and self._opened_call == call_id
        overflows = own and self._opened_as == "PUT" and op == "EVICT" and self._is_unheard(before, row)
        self.sure_evicts += overflows
        if self._facts.whole[at] and limit.now is not None and own:
            if overflows:
                self._overflow(row, limit.now)
            if self._facts.ends_call(at) and row["bytes_after"] > limit.now and self._failed_call != call_id:
                self._left_over(row, limit.now)
        if op in ("FLUSH", "FAILED"):
            self._handed_seq = row["seq"]
        else:
            self._other_seq = row["seq"]

    def _is_unheard(self, before: Row | None, row: Row) -> bool:
        """Return whether no listener can have requested this eviction."""
        if self._handed_seq is None or self._handed_seq < row["call_id"]:
            return True
        at = self._opened_seq
        if before is None or before["op"] != "FLUSH" or at is None:
            return False
        return self._other_seq == at and self._entries.flushed_seq == at + 1

    def _overflow(self, row: Row, limit_bytes: int) -> None:
        if row["cache"] != self._put_cache:
            self._report("K-EVICT-4", row, f"an eviction from {self._put_cache}", [row["call_id"], row["seq"]])
        if row["size_bytes"] is not None and row["bytes_after"] + row["size_bytes"] <= limit_bytes:
            self._report("K-EVICT-5", row, f"no EVICT at or under {limit_bytes} bytes", [row["call_id"], row["seq"]])

    def _left_over(self, row: Row, limit_bytes: int) -> None:
        if self._opened_as == "SHRINK":
            self._report("K-RESIZE-2", row, f"at most {limit_bytes} bytes", [row["call_id"], row["seq"]])
        if self._opened_as == "PUT" and self._entries.spaces[self._put_cache].nodes:
            sure = not self._facts.many and self._unnamed_call != row["call_id"]
            self._report("K-EVICT-4", row, f"at most {limit_bytes} bytes", [row["call_id"], row["seq"]], sure=sure)
