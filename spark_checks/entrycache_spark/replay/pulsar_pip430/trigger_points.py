"""The events of a replayed broker, its effective settings, and its entries as the reference holds them.

A `Moment` is one event with its neighbours; events that are missing cut a trace into islands. `settings_by_row` returns
the effective settings at each row. `ReferenceEntries` steps the reference for each life and reports the first value of
a row that differs. `Carriers` holds what is known of each life within the present island.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import decision, entries, ops, passes
from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, Settings, Variants
from entrycache_reference.pulsar_pip430.state import Cache, Entry, Slot, State, Step, initial
from entrycache_reference.vocabulary import CacheName, Position
from entrycache_spark.common.system import parse_config, unnamed_settings
from entrycache_spark.systems.pulsar_pip430 import IS_MANUAL, KINDS
from entrycache_trace.files import Metadata

Row = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """The facts that hold for all events of a broker."""

    name: str
    many: bool
    virtual: bool
    starts: bool
    gapped: bool
    fresh: bool
    complete: bool
    first_seq: int
    only_config: bool
    counts_failed: bool
    has_tickets: bool
    has_permits: bool
    names_reads: bool
    counts_inserts: bool


def facts_of(name: str, rows: list[Row], metadata: Metadata) -> Facts:
    """Return the facts of a broker's rows, in the order of `seq`."""
    starts = rows[0]["op"] == "CONFIG"
    gapped = metadata.sampled or rows[-1]["seq"] - rows[0]["seq"] + 1 != len(rows)
    opens = any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows)
    return Facts(
        name,
        metadata.many_threads,
        metadata.clock == "virtual",
        starts,
        gapped,
        starts and not opens,
        starts and rows[-1]["op"] == "END" and not gapped,
        rows[0]["seq"],
        sum(row["op"] == "CONFIG" for row in rows) == 1,
        str(metadata.variants.get("failed_read", "")).lower() == "counted",
        _has_tickets(rows),
        any(row["op"] == "PERMIT" for row in rows),
        all(row["read_id"] is not None for row in rows if row["op"] == "PERMIT"),
        any(row["op"] == "INSERT" and row["expected_reads"] is not None for row in rows),
    )


def _has_tickets(rows: list[Row]) -> bool:
    """Return whether the recorder gives the ticket of a request that waits no longer, as far as the rows show."""
    permits = [row for row in rows if row["op"] == "PERMIT"]
    first = next((at for at, row in enumerate(permits) if row["cause"] == "QUEUED"), len(permits))
    is_answered = any(row["cause"] in ("TAKEN", "REFUSED") for row in permits[first:])
    return not is_answered or any(row["ticket"] is not None for row in permits)


@dataclass(frozen=True)
class EffectiveValues:
    """The effective configuration, with thresholds computed by the reference; None for an unknown value."""

    seq: int
    untold: frozenset[str]
    grace_millis: int | None
    trigger_bytes: int | None
    target_bytes: int | None
    manual: bool | None
    ranks: bool | None
    ttl_nanos: int | None
    max_requeues: int | None
    extend_accessed: bool | None
    storage_bytes: int | None
    limit_bytes: int | None
    permits: int | None
    queue: int | None
    timeout_millis: int | None
    drops_late: bool


def settings_by_row(broker: str, rows: Iterable[Row]) -> list[EffectiveValues | None]:
    """Return the effective settings at each row; the grace period is that of the first CONFIG (R-CONFIG-4)."""
    settings: list[EffectiveValues | None] = []
    now: EffectiveValues | None = None
    grace: int | None = None
    configs = 0
    for row in rows:
        if row["op"] == "CONFIG":
            now = _effective_values(broker, row)
            grace = (None if now is None else now.grace_millis) if configs == 0 else grace
            now = None if now is None else replace(now, grace_millis=grace)
            configs += 1
        settings.append(now)
    return settings


def _effective_values(broker: str, row: Row) -> EffectiveValues | None:
    """Return the settings of a CONFIG event, or None if it cannot be read."""
    values = parse_config(row["value"], KINDS, f"broker {broker!r}, seq {row['seq']}")
    if values is None:
        return None
    names = {*Settings._fields, "evict_by_expected_reads", "storage_entry_size"}
    known_names = {name for name in names if values[name] is not None}
    config = Config(**{name: values[name] for name in known_names})
    state = initial(config)
    grace = values.get("grace_millis", config.effective_grace_millis if "ttl_nanos" in known_names else None)
    limited = "max_size_bytes" in known_names
    return EffectiveValues(
        seq=row["seq"],
        untold=frozenset(unnamed_settings(values, KINDS)),
        grace_millis=grace if type(grace) is int else None,
        trigger_bytes=decision.trigger_bytes(state) if limited else None,
        target_bytes=decision.target_bytes(state) if limited and "watermark" in known_names else None,
        manual=IS_MANUAL.get(values["eviction"]),
        ranks=values["evict_by_expected_reads"],
        ttl_nanos=values["ttl_nanos"],
        max_requeues=values["max_requeues"],
        extend_accessed=values["extend_recently_accessed"],
        storage_bytes=values["storage_entry_size"],
        limit_bytes=values["max_size_bytes"],
        permits=values["max_reads_in_flight_bytes"],
        queue=values["acquire_queue"],
        timeout_millis=values["acquire_timeout_millis"],
        drops_late=values.get("invalidation") == "manual",
    )


@dataclass(frozen=True)
class Moment:
    """One event. `before` and `after` are its neighbours, None where events are missing between."""

    row: Row
    before: Row | None
    after: Row | None
    island: int
    whole: bool
    """Nothing is missing since the first event, and that is CONFIG."""
    settings: EffectiveValues | None

    @property
    def manual(self) -> bool | None:
        """Return whether passes wait for a call of their own, or None if that is not known."""
        return None if self.settings is None else self.settings.manual


Reporter = Callable[[str, Row, object, object, Iterable[int | None], bool], None]
"""Report a violation: its rule, the event, the expected and the observed value, the seqs, and whether it is sure."""


def differ(value: object, other: object) -> bool:
    """Return whether two values are both known and differ."""
    return value is not None and other is not None and value != other


def held_bytes(row: Row) -> int:
    """The manager's own bytes, or else the sum."""
    return int(row["bytes_after"] if row["manager_bytes"] is None else row["manager_bytes"])


def is_open(row: Row) -> bool:
    """Return whether the row begins a life in the opening snapshot."""
    return bool(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN")


# ---------- entries

NO_ENTRY: Final = Entry(0, 0, 0, False, None, None)
"""An entry without any known value: never requeued, not accessed, without a count."""

READ_BY: Final = {
    "size_bytes": "R-STATE-1",
    "expected_reads": "R-REQUEUE-8",
    "requeues": "R-REQUEUE-6",
    "accessed": "R-REQUEUE-1",
    "stamp_ns": "R-EXPIRE-1",
}
"""The columns that show an entry, each with the first rule that is decided from it."""

_BEGINS: Final = ("INSERT", "SNAPSHOT")
_CACHE: Final = CacheName("the only cache")
_POS: Final = Position(0, 0)


class Difference(NamedTuple):
    """One value of a row that differs from the value that the reference holds after the rows before it."""

    rule: str
    seq: int
    column: str
    held: object
    observed: object

    def __str__(self) -> str:
        return f"seq {self.seq}: {self.column} is {self.observed}, the reference holds {self.held}"


@dataclass
class ReferenceEntry:
    """The entry of one life; compared with the rows of one island only, and until the first difference."""

    entry: Entry = NO_ENTRY
    island: int | None = None


class ReferenceEntries:
    """The entries of one broker by life. `compare` False: rows of several threads, whose order shows nothing."""

    def __init__(self, split: bool, compare: bool) -> None:
        self.config = Config(variants=Variants(RequeueBudget.SPLIT if split else RequeueBudget.SHARED))
        self._held: dict[int, ReferenceEntry] = {}
        self._compare = compare

    def entry(self, life: int | None) -> Entry:
        """Return the entry that the reference holds for a life."""
        held = None if life is None else self._held.get(life)
        return NO_ENTRY if held is None else held.entry

    def after_requeue(self, row: Row) -> Entry:
        """The entry as the reference puts it at the tail."""
        action = decision.Action.REQUEUE_ACCESSED if row["cause"] == "ACCESSED" else decision.Action.REQUEUE_EXPECTED
        return passes.requeue_entry(self.entry(row["life"]), _stamp(row), action, self.config)

    def follow(self, row: Row, island: int) -> list[Difference]:
        """Apply one row, and return the values in which it differs from the reference."""
        op, life = row["op"], row["life"]
        if life is None or op == "TOMBSTONE":
            return []
        held = self._held.setdefault(life, ReferenceEntry())
        before = held.entry
        held.entry = after = self._applied(row, before)
        if op == "INSERT" or (op == "SNAPSHOT" and row["cause"] == "OPEN"):
            whole = all(row[name] is not None for name in _needed(op))
            held.island = island if whole and self._compare else None
        if held.island != island:
            return []
        differences = _differences(row, after if op in _BEGINS else before, after)
        if differences or op in ("EVICT", "REMOVE"):
            held.island = None
        return differences

    def _applied(self, row: Row, entry: Entry) -> Entry:
        op = row["op"]
        if op == "INSERT":
            event = ops.Insert(_CACHE, _POS, row["size_bytes"] or 0, row["expected_reads"])
            return entries.new_entry(initial(self.config)._replace(now_nanos=_stamp(row)), event, self.config)
        if op == "SNAPSHOT" and row["cause"] == "OPEN":
            size_bytes, stamp, used = (row[name] or 0 for name in ("size_bytes", "stamp_ns", "requeues"))
            return Entry(size_bytes, stamp, used, bool(row["accessed"]), row["expected_reads"], None)
        if op == "HIT":
            return entries.mark_accessed(entry)
        if op == "REQUEUE":
            return self.after_requeue(row)
        if op == "READ_DONE":
            return self._counted(entry, lambda state: entries.mark_read(state, ops.MarkRead(_CACHE, _POS), self.config))
        if op == "EXPECT":
            return self._counted(
                entry, lambda state: entries.expect_read(state, ops.ExpectRead(_CACHE, _POS), self.config)
            )
        return entry

    def _counted(self, entry: Entry, step: Callable[[State], Step]) -> Entry:
        """The entry after a step of a state that holds nothing else."""
        alone = initial(self.config)._replace(
            caches={_CACHE: Cache({_POS: entry}, entry.size_bytes)},
            queue=(Slot(_CACHE, _POS),),
            size_bytes=entry.size_bytes,
        )
        return step(alone).state.caches[_CACHE].entries[_POS]


def _needed(op: str) -> tuple[str, ...]:
    return ("size_bytes",) if op == "INSERT" else ("size_bytes", "stamp_ns", "requeues", "accessed")


def _stamp(row: Row) -> int:
    """The stamp that the event gives."""
    return int(row["ts_ns"] if row["new_stamp_ns"] is None else row["new_stamp_ns"])


def _differences(row: Row, before: Entry, after: Entry) -> list[Difference]:
    """A row shows the mark and the stamp from before its event, the counts from after it."""
    held = {
        "size_bytes": after.size_bytes,
        "expected_reads": after.expected_reads,
        "requeues": after.requeues,
        "accessed": before.accessed,
        "stamp_ns": before.stamp_nanos,
    }
    return [
        Difference(rule, row["seq"], column, held[column], row[column])
        for column, rule in READ_BY.items()
        if row[column] is not None and row[column] != held[column]
    ]


# ---------- the state of a life

SHOWING: Final = ("HIT", "READ_DONE", "EXPECT", "REQUEUE", "EVICT", "REMOVE", "SNAPSHOT")
PLACE: Final = ("cache", "ledger_id", "entry_id")
PAST_MOST_NS: Final = 1_000_000_000
"""A thread may be held up between reading the clock and its event, though hardly for so long."""


@dataclass
class Carried:
    """The state of one life after its rows of one island; None for an unknown value."""

    place: tuple[Any, ...]
    size_bytes: int | None
    given_seq: int
    given_by: str
    stamp_ns: int | None
    slot_no: int | None
    marked: bool | None
    first_off: int | None
    off: int | None
    steps: int = 0
    hit_seq: int | None = None
    shown_seq: int | None = None
    last: dict[str, Any] = field(default_factory=dict)
    """For each column, the value that the last event with this column showed or gave."""


class Carriers:
    """All lives that began in the present island; `begins`: the time at which each pass began."""

    def __init__(self, facts: Facts, report: Reporter, split: bool, begins: Mapping[int, int]) -> None:
        self._facts = facts
        self._report = report
        self._split = split
        self._island = 0
        self._lives: dict[int, Carried | None] = {}
        self._ended_ns: int | None = None
        self._begun_ns = begins

    def follow(self, now: Moment) -> None:
        """Read one event."""
        if now.island != self._island:
            self._island = now.island
            self._lives.clear()
        row, op, life = now.row, now.row["op"], now.row["life"]
        if op == "INSERT":
            self._inserted(row)
        elif op == "REQUEUE" and row["new_stamp_ns"] is not None:
            self._requeued(row)
        elif op == "PASS_END":
            self._ended_ns = row["ts_ns"] if self._ended_ns is None else max(self._ended_ns, row["ts_ns"])
        if life is None or (op not in SHOWING and op != "INSERT"):
            return
        begins = op == "INSERT" or is_open(row)
        if life not in self._lives:
            self._lives[life] = self._begin_life(row) if begins else None
            return
        carried = self._lives[life]
        if carried is None:
            return
        carried.steps += op == "REQUEUE" and not (self._split and row["cause"] == "ACCESSED")
        if not begins:
            self._compare(row, carried)
        self._change(row, carried, begins)
        if op in ("EVICT", "REMOVE"):
            self._lives[life] = None

    def _given_stamp(self, row: Row) -> int | None:
        if row["op"] == "SNAPSHOT":
            return None if row["stamp_ns"] is None else int(row["stamp_ns"])
        stamp = row["ts_ns"] if row["new_stamp_ns"] is None and self._facts.virtual else row["new_stamp_ns"]
        return None if stamp is None else int(stamp)

    def _begin_life(self, row: Row) -> Carried:
        off = row["requeues"]
        carried = Carried(
            place=tuple(row[name] for name in PLACE),
            size_bytes=row["size_bytes"],
            given_seq=row["seq"],
            given_by=row["op"],
            stamp_ns=self._given_stamp(row),
            slot_no=row["tail_no"],
            marked=row["accessed"] if row["op"] == "SNAPSHOT" else False,
            first_off=off or 0 if row["op"] == "INSERT" else off,
            off=off,
        )
        self._remember(row, carried)
        return carried

    def _change(self, row: Row, carried: Carried, begins: bool) -> None:
        op = row["op"]
        if begins or op == "REQUEUE":
            carried.given_seq, carried.given_by = row["seq"], op
            carried.stamp_ns, carried.slot_no = self._given_stamp(row), row["tail_no"]
            carried.marked = row["accessed"] if op == "SNAPSHOT" else False
        if op == "HIT":
            carried.hit_seq, carried.marked = row["seq"], True
        if op == "SNAPSHOT" and row["cause"] == "END":
            carried.shown_seq = row["seq"]
        self._remember(row, carried)
        if row["requeues"] is not None:
            carried.off = row["requeues"] - carried.steps

    def _remember(self, row: Row, carried: Carried) -> None:
        op = row["op"]
        gives = op in ("INSERT", "REQUEUE") or is_open(row)
        after = {name: row[name] for name in (*PLACE, "size_bytes")}
        after["stamp_ns"] = self._given_stamp(row) if gives else row["stamp_ns"]
        after["accessed"] = True if op == "HIT" else False if op in ("INSERT", "REQUEUE") else row["accessed"]
        carried.last.update((name, value) for name, value in after.items() if value is not None)

    @staticmethod
    def _is_new_difference(row: Row, carried: Carried, name: str, held: object) -> bool:
        """Return whether a value differs from the stored one and from the one before; each error is reported once."""
        return _differ(row[name], held) and row[name] != carried.last.get(name)

    def _compare(self, row: Row, carried: Carried) -> None:
        """Compare a row with the stored values from before its event, and with the requeue count from after it."""
        op = row["op"]
        seqs = [carried.given_seq, row["seq"]]
        place = tuple(row[name] for name in PLACE)
        if any(
            self._is_new_difference(row, carried, name, first) for name, first in zip(PLACE, carried.place, strict=True)
        ):
            self._report("R-STATE-2", row, carried.place, place, [row["life"], row["seq"]], True)
        if op not in ("EVICT", "REMOVE") and self._is_new_difference(row, carried, "size_bytes", carried.size_bytes):
            self._report("R-STATE-2", row, carried.size_bytes, row["size_bytes"], [row["life"], row["seq"]], True)
        if op == "SNAPSHOT":
            if _differ(row["tail_no"], carried.slot_no):
                self._report("R-STATE-2", row, f"slot {carried.slot_no}", row["tail_no"], seqs, True)
            if row["cause"] == "END" and carried.shown_seq is not None:
                self._report("R-STATE-2", row, "one row a slot", "a second row", [carried.shown_seq, row["seq"]], True)
        if self._is_new_difference(row, carried, "stamp_ns", carried.stamp_ns):
            rule = "R-REQUEUE-4" if carried.given_by == "REQUEUE" else "R-INSERT-1"
            self._report(rule, row, f"stamp {carried.stamp_ns}", row["stamp_ns"], seqs, True)
        if self._is_new_difference(row, carried, "accessed", carried.marked):
            self._report("R-READ-2", row, carried.marked, row["accessed"], [*seqs, carried.hit_seq], True)
        off = None if row["requeues"] is None else row["requeues"] - carried.steps
        if _differ(off, carried.off) and off != carried.first_off:
            self._report("R-REQUEUE-5", row, (carried.off or 0) + carried.steps, row["requeues"], seqs, True)

    def _is_strange(self, row: Row) -> bool:
        """Return whether a new stamp is not of the present."""
        stamp, ts = row["new_stamp_ns"], row["ts_ns"]
        return stamp is not None and bool(stamp > ts or (self._facts.virtual and stamp != ts))

    def _inserted(self, row: Row) -> None:
        stamp, ts = row["new_stamp_ns"], row["ts_ns"]
        sure = self._is_strange(row) or bool(row["accessed"]) or row["requeues"] not in (None, 0)
        if sure or (stamp is not None and ts - stamp > PAST_MOST_NS):
            observed = (row["accessed"], row["requeues"], stamp)
            self._report("R-INSERT-1", row, (False, 0, ts), observed, [row["seq"]], sure or self._facts.virtual)

    def _requeued(self, row: Row) -> None:
        stamp, before, ended = row["new_stamp_ns"], row["stamp_ns"], self._ended_ns
        pass_begin_ns = None if row["pass_id"] is None else self._begun_ns.get(row["pass_id"])
        kept = None not in (before, pass_begin_ns) and stamp <= before < pass_begin_ns
        if self._is_strange(row) or kept or (ended is not None and stamp < ended):
            seqs = [row["pass_id"], row["seq"]]
            self._report("R-REQUEUE-4", row, f"a stamp from {ended} to {row['ts_ns']}", stamp, seqs, True)


def _differ(value: object, held: object) -> bool:
    return value is not None and held is not None and value != held
