"""Replay of `pulsar-segmented`: step the reference over the calls of a trace, and compare each row with its answer.

`extract_offer`, `extract_lookup` and `extract_range` return the request that a row shows. `answer` steps the reference
over it, on a ring that is rebuilt from what earlier rows show of the entries and the segment concerned. So a difference
is reported at its own row, and the replay goes on behind it. The tables say which rule a difference violates.

A sum or an offset is wrong if neither it nor its change since the row before is what the reference answers. A value of
an entry is wrong if neither its INSERT nor the last row about it shows the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_segmented import Config, Mode, State, Step, initial, step
from entrycache_reference.pulsar_segmented.ops import Get, GetRange, Insert
from entrycache_reference.pulsar_segmented.outcomes import Hits
from entrycache_reference.pulsar_segmented.state import Entry, Place, Segment
from entrycache_reference.vocabulary import INTEGER_MAX, CacheName, Position
from entrycache_spark.common.system import ConfigObject
from entrycache_spark.replay.common import Facts as AnyFacts
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
from entrycache_spark.systems.pulsar_segmented import COLUMNS, KINDS, EffectiveValues, effective_values


class Ring(NamedTuple):
    """The settings at a row: the limit, and the values that follow from it."""

    limit_bytes: int | None = None
    of: EffectiveValues = EffectiveValues()

    @property
    def config(self) -> Config:
        """The settings of the reference; a default stands for an unknown value."""
        mode = Mode.REFERENCE if self.of.copies is False else Mode.COPY
        return Config(mode=mode) if self.limit_bytes is None else Config(self.limit_bytes, mode=mode)


Facts = AnyFacts[Ring]


def _after(config: ConfigObject | None, before: Ring) -> Ring:
    return Ring() if config is None else Ring(config["max_size_bytes"], effective_values(config))


# ---------- the rules of a row, and of its columns

LOOKUPS: Final = ("HIT", "MISS", "ASK", "METRICS")
OFFERS: Final = ("INSERT", "REJECT", "SKIP", "PASS_BEGIN")
TURN: Final = ("PASS_BEGIN", "PASS_END")

RULES_BY_OP: Final[Mapping[str, tuple[str, ...]]] = {
    "CONFIG": ("S-STATE-1",),
    "INSERT": (
        *("S-INSERT-1", "S-INSERT-2", "S-INSERT-3", "S-INSERT-4", "S-INSERT-5"),
        *("S-SEGMENT-1", "S-USAGE-1"),
    ),
    "REJECT": ("S-INSERT-5",),
    "SKIP": ("S-INSERT-5", "S-SEGMENT-4"),
    "PASS_BEGIN": ("S-RING-1", "S-INSERT-5", "S-SEGMENT-1", "S-SEGMENT-4"),
    "PASS_END": ("S-RING-1", "S-RING-2", "S-RING-3", "S-RING-4"),
    "EVICT": ("S-RING-1", "S-RING-4", "S-STATE-2", "S-USAGE-1"),
    **dict.fromkeys(("HIT", "MISS", "ASK"), ("S-GET-2",)),
    "METRICS": ("S-GET-2", "S-USAGE-1"),
    "SNAPSHOT": ("S-STATE-2",),
    "END": ("S-STATE-2", "S-USAGE-1"),
}
RULES_BY_CAUSE: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("REJECT", "DUPLICATE"): ("S-INSERT-1", "S-INSERT-2"),
    ("SKIP", "DISABLED"): ("S-INSERT-1", "S-INSERT-4"),
    ("SKIP", "FULL"): ("S-INSERT-3", "S-RING-1"),
    ("HIT", "GET"): ("S-GET-1",),
    ("MISS", "GET"): ("S-GET-1",),
    ("ASK", "LAST"): ("S-RANGE-1", "S-RANGE-2", "S-RANGE-3"),
}
"""The rules that apply to a row, by op, and by op and cause."""

RULES_OF_OFFSETS: Final[Mapping[str, str]] = {
    "REJECT": "S-INSERT-2",
    **dict.fromkeys(("SKIP", "PASS_BEGIN"), "S-SEGMENT-4"),
    **dict.fromkeys(("EVICT", "PASS_END"), "S-RING-4"),
    **dict.fromkeys(LOOKUPS, "S-GET-2"),
    **dict.fromkeys(("SNAPSHOT", "END"), "S-STATE-2"),
}
"""The rule that a wrong sum of offsets violates, by op; an INSERT has that of its mode."""

_PLACE_RULES: Final = dict.fromkeys(("cache", "ledger_id", "entry_id", "bound"), "S-STATE-2")
RULES_OF_VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "HIT": {"size_bytes": "S-USAGE-1", "key_hash": "S-GET-3"},
    "EVICT": {"size_bytes": "S-USAGE-1", **_PLACE_RULES},
    "SNAPSHOT": {"size_bytes": "S-USAGE-1", **_PLACE_RULES},
}
"""The rule that a value violates which is not that of the entry's INSERT, by op and column."""

VALUES: Final = ("size_bytes", "key_hash", *_PLACE_RULES)
"""The columns of an entry's values, which never change."""


def rule_of_mode(ring: Ring) -> str | None:
    """Return the rule of the bytes that an added entry takes."""
    return None if ring.of.copies is None else "S-SEGMENT-2" if ring.of.copies else "S-SEGMENT-3"


def rule_of_room(ring: Ring) -> str | None:
    """Return the rule of the bytes of a segment."""
    return None if ring.of.named is None else "S-CONFIG-2" if ring.of.named else "S-CONFIG-1"


def applicable_rules(row: Row, ring: Ring) -> Iterable[str]:
    """Return the rules that apply to one row."""
    op = row["op"]
    yield "S-LIVENESS-1"
    yield from RULES_BY_OP.get(op, ())
    yield from RULES_BY_CAUSE.get((op, row["cause"]), ())
    if op == "HIT" and row["life"] is not None:
        yield from ("S-RING-2",) if row["key_hash"] is None else ("S-RING-2", "S-GET-3")
    by_settings = rule_of_room(ring) if op in TURN else rule_of_mode(ring) if op == "INSERT" else None
    yield from () if by_settings is None else (by_settings,)


# ---------- records of what the rows show


@dataclass
class Life:
    """One life of an entry: its INSERT, the turn of its segment, and its values as its last rows show them."""

    insert: Row | None = None
    turn: int | None = None
    has_left: bool = False
    last_values: dict[str, Any] = field(default_factory=dict)


@dataclass
class Filling:
    """The entries and bytes of a segment between two of its turns.

    `live`: the entries by their lives. `dropped`: those that have left since the last turn ended. `offset`: the bytes
    by the reference. `shown_bytes`: the bytes by the rows.
    """

    live: dict[int, Place] = field(default_factory=dict)
    dropped: list[Place] = field(default_factory=list)
    offset: int = 0
    shown_bytes: int = 0
    is_unknown: bool = False


# ---------- requests, and the answers of the reference


def place_of(row: Row) -> Place:
    """Return the position of a row."""
    return Place(row["cache"], Position(row["ledger_id"], row["entry_id"]))


def is_placed(row: Row) -> bool:
    """Return whether a row names a position."""
    return None not in (row["cache"], row["ledger_id"], row["entry_id"])


def extract_offer(row: Row) -> Insert:
    """Return the offer that an INSERT, REJECT, SKIP or PASS_BEGIN shows."""
    place = place_of(row)
    return Insert(place.cache, place.pos, row["size_bytes"] or 0)


def extract_lookup(row: Row) -> Get:
    """Return the lookup that a HIT or MISS shows."""
    place = place_of(row)
    return Get(place.cache, place.pos)


def extract_range(row: Row, before: Row | None) -> GetRange | None:
    """Return the range whose bounds these rows show, or None if they show none of the entries of one cache."""
    if before is None or not (is_event(before, "ASK", "FIRST") and is_event(row, "ASK", "LAST")):
        return None
    if not (is_placed(before) and is_placed(row)) or before["cache"] != row["cache"] or before["entry_id"] < 0:
        return None
    return GetRange(CacheName(row["cache"]), place_of(before).pos, place_of(row).pos)


DEFAULTS: Final = Config()


def answer(
    request: Insert | Get | GetRange, places: Iterable[Place] = (), start: int = 0, room: int | None = None,
    config: Config = DEFAULTS,
) -> Step:  # fmt: skip
    """Step the reference over a request, with a segment written up to a byte and an older one of these entries."""
    segments = {0: Segment((), start), 1: Segment(tuple(Entry(place, 0, 0, None) for place in places))}
    return step(State(segments, 0, INTEGER_MAX if room is None else room), request, config)


class Turn(NamedTuple):
    """A turn of the reference: the bytes by which its rows move the offsets, its EVICT rows, and the next start."""

    begin_bytes: int
    end_bytes: int
    evicts: int
    start: int


def answer_turn(filling: Filling) -> Turn:
    """Step the reference over an offer for which a full segment makes this one current."""
    entries = tuple(Entry(place, 0, 0, None) for place in (*filling.dropped, *filling.live.values()))
    segments = {0: Segment((), INTEGER_MAX), 1: Segment(entries, filling.offset)}
    request = Insert(CacheName(""), Position(0, 0), 1)
    begin, *evicts, end, added = step(State(segments, 0, INTEGER_MAX), request, DEFAULTS).rows
    before, after = begin.manager_bytes or 0, end.manager_bytes or 0
    return Turn(before - filling.offset - INTEGER_MAX, after - before, len(evicts), added.bound or 0)


def bytes_taken(row: Row, ring: Ring) -> int | None:
    """Return the bytes by which an INSERT moves the offsets; None: size or mode is not known."""
    if row["size_bytes"] is None or row["size_bytes"] < 0 or ring.of.copies is None:
        return None
    added = answer(extract_offer(row), config=ring._replace(limit_bytes=None).config).rows[0]
    return added.manager_bytes if added.op == "INSERT" else None


class Moment(NamedTuple):
    """A row with its neighbours, its settings, its entry and its segment."""

    row: Row
    before: Row | None
    after: Row | None
    ring: Ring
    life: Life
    filling: Filling
    offset: int
    moved: int | None
    grown: int
    turned: Turn | None


class Replay:
    """The replay of the rows of one broker, and the records of what they show."""

    def __init__(self, facts: Facts, collector: ViolationCollector) -> None:
        self._live = 0
        self._facts, self._report = facts, collector.report
        self._named: set[tuple[str, bool]] = set()
        self._lives: dict[int, Life] = {}
        self._cached: dict[Place, Life] = {}
        self._changed: dict[Place, int] = {}
        self._fillings: dict[int | None, Filling] = {}
        self._turns = self._turn = self._turn_before = 0
        self._begin: Row | None = None
        self._marker: Row | None = None
        self._last_seq: int | None = None
        self._start = initial(DEFAULTS).segments[0].offset
        self._starts: tuple[int | None, ...] = ()
        self._manager_bytes = self._written_bytes = self._sum_bytes = 0
        self._has_unknown_write = False
        self._first: Row | None = None
        self._last: Row | None = None
        self._snapshot: Row | None = None
        self._snapshot_life: int | None = None
        self._snapshot_rows = 0

    def follow(self, at: int) -> int:
        """Compare a row with the answer of the reference, and return the number of entries that are cached then."""
        facts, row, whole = self._facts, self._facts.rows[at], self._facts.whole[at]
        before = facts.rows[at - 1] if at else None
        self._named = set()
        self._check_frame(row, before, whole)
        self._check_offer(row, facts.settings[at], whole)
        now = self._advance(row, before, facts.next_to(at), facts.settings[at])
        if whole:
            self._check_sums(now)
            self._check_values(now)
            self._check_cached(now)
            self._check_range(now)
            self._check_start(now)
            self._check_turn(now)
            self._check_segment(now)
            self._check_state(now)
        self._record(now)
        return self._live

    def _name(
        self, rule: str | None, row: Row, expected: object, seqs: Iterable[int | None] = (), sure: bool | None = None
    ) -> None:
        """Report a violation, once for a row and a rule."""
        certain = not self._facts.many if sure is None else sure
        if rule is not None and (rule, certain) not in self._named:
            self._named.add((rule, certain))
            self._report(rule, row, expected, seqs, certain)

    def _compare(
        self, rule: str | None, row: Row, column: str, value: object, *others: object,
        seqs: Iterable[int | None] = (), sure: bool | None = None,
    ) -> None:  # fmt: skip
        """Report a known value that is neither the expected one nor one of the others; None: nothing is expected."""
        if row[column] is not None and value is not None and row[column] not in (value, *others):
            self._name(rule, row, f"{column} {value}", seqs, sure)

    # ---------- a row by itself

    def _check_frame(self, row: Row, before: Row | None, whole: bool) -> None:
        """Check time, calls, and the rows of a turn between its begin and its end."""
        op, many, seqs = row["op"], self._facts.many, seqs_of(before, row)
        if before is not None and row["ts_ns"] < before["ts_ns"]:
            self._name("S-LIVENESS-1", row, f"ts_ns at or after {before['ts_ns']}", seqs, sure=True)
        if before is not None and before["seq"] == row["seq"] - 1 and not many:
            self._compare("S-LIVENESS-1", row, "call_id", before["call_id"], row["seq"], seqs=seqs, sure=True)
        marker = self._marker if whole and self._marker is not None and self._marker["op"] == "PASS_BEGIN" else None
        begin = None if marker is None else marker["seq"]
        if op == "PASS_BEGIN":
            wrong = begin is not None or row["pass_id"] != row["seq"]
        elif op in ("PASS_END", "EVICT", "REQUEUE", "TOMBSTONE"):
            wrong = row["pass_id"] is None or (whole if begin is None else begin != row["pass_id"])
            wrong |= begin is not None and differ(row["cause"], "TURN")
        else:
            inside = before is not None and before["op"] in ("PASS_BEGIN", "EVICT", "REQUEUE", "TOMBSTONE")
            wrong = not many and op != "SNAPSHOT" and begin is not None and inside
        if wrong:
            self._name("S-RING-1", row, f"turn {begin} in progress", sure=True)

    def _check_offer(self, row: Row, ring: Ring, whole: bool) -> None:
        """Offer the entry of a row to a ring without entries, whose segment is written as far as the row shows."""
        op, limit, room = row["op"], ring.limit_bytes, ring.of.room_bytes
        if op in TURN:
            self._compare(rule_of_room(ring), row, "trigger_bytes", room, sure=True)
        if op not in OFFERS:
            return
        is_known = None not in (row["size_bytes"], room, limit)
        start = row["bound"] if op in ("INSERT", "PASS_BEGIN") and is_known else 0
        wanted = next(iter(answer(extract_offer(row), (), start or 0, room, ring.config).rows), None)
        if wanted is None:
            self._name("S-INSERT-5", row, "a refusal", sure=True)
        elif op == "INSERT" and wanted.op != op:
            rule = "S-SEGMENT-1" if wanted.op == "PASS_BEGIN" else wanted.rule.value
            self._name(rule, row, f"{wanted.op} {wanted.cause}", sure=True)
        elif op == "PASS_BEGIN" and wanted.op == "INSERT" and is_known and start is not None:
            self._name("S-SEGMENT-1", row, "no turn", sure=True)
        elif whole and is_event(row, "SKIP", "FULL") and wanted.op == "INSERT" and is_known:
            self._name("S-RING-1", row, "INSERT")
        elif whole and is_event(row, "SKIP", "DISABLED") and wanted.cause != "DISABLED" and limit is not None:
            self._name("S-INSERT-1", row, "INSERT")

    # ---------- a row after those before it

    def _advance(self, row: Row, before: Row | None, after: Row | None, ring: Ring) -> Moment:
        """Move turns, sums and the offset of a segment as a row shows them, and return the row with its state."""
        op = row["op"]
        own = row["seq"] if op == "INSERT" else row["life"]
        life = Life() if own is None else self._lives.setdefault(own, Life())
        self._turn_before = self._turn
        if op == "PASS_BEGIN":
            self._turns += 1
            self._turn = self._turns if row["tail_no"] is None else row["tail_no"]
        filling = self._fillings.setdefault(turn := self._turn_of(row, ring, life), Filling())
        offset, grown = filling.offset, 0
        moved = bytes_taken(row, ring) if op == "INSERT" else 0
        turned = answer_turn(filling) if op in TURN else None
        if turned is not None:
            moved = turned.begin_bytes if op == "PASS_BEGIN" else turned.end_bytes
        if op == "INSERT":
            grown = row["size_bytes"] or 0
            filling.live[row["seq"]] = place_of(row)
            filling.offset += moved or 0
            filling.is_unknown |= moved is None
            self._live += 1
        elif op == "EVICT" and life.insert is not None and not life.has_left:
            grown = -(life.insert["size_bytes"] or 0)
            filling.dropped.append(filling.live.pop(life.insert["seq"]))
            self._live -= 1
        if op in OFFERS:
            filling.shown_bytes += 0 if row["manager_bytes"] is None else row["manager_bytes"] - self._manager_bytes
        self._written_bytes += moved or 0
        self._sum_bytes += grown
        if op == "PASS_END" and (turn is None or filling.is_unknown):
            moved = None
        return Moment(row, before, after, ring, life, filling, offset, moved, grown, turned)

    def _turn_of(self, row: Row, ring: Ring, life: Life) -> int | None:
        """Return the turn by which the segment of a row became current."""
        op, segments = row["op"], ring.of.segments
        if op == "INSERT":
            return self._turn if row["tail_no"] is None else int(row["tail_no"])
        if op == "EVICT":
            return life.turn
        if op == "PASS_END":
            return None if segments is None else self._turn - segments
        return self._turn_before if op in OFFERS else None

    def _check_sums(self, now: Moment) -> None:
        """Check the sum of sizes, the sum of offsets, and the counters."""
        row, op, before, total = now.row, now.row["op"], now.before, self._manager_bytes
        if before is None:
            self._compare("S-STATE-1", row, "bytes_after", 0, sure=True)
            self._compare("S-STATE-1", row, "manager_bytes", 0, sure=True)
        else:
            by_row = before["bytes_after"] + now.grown
            self._compare("S-USAGE-1", row, "bytes_after", self._sum_bytes, by_row, seqs=seqs_of(before, row))
        if now.moved is not None and not self._has_unknown_write:
            rule = rule_of_mode(now.ring) if op == "INSERT" else RULES_OF_OFFSETS.get(op)
            by_rows = total - now.filling.shown_bytes if op == "PASS_END" else None
            self._compare(rule, row, "manager_bytes", total + now.moved, self._written_bytes, by_rows)
        if op in ("METRICS", "END"):
            counters = read_counters(row)
            if differ(counters.get("bytes"), self._sum_bytes) or differ(counters.get("entries"), self._live):
                self._name("S-USAGE-1", row, f"{self._live} entries, {self._sum_bytes} bytes")

    def _check_values(self, now: Moment) -> None:
        """Check the values of an entry, which are those of its INSERT."""
        row, op, life = now.row, now.row["op"], now.life
        if life.insert is None:
            return
        seqs = seqs_of(life.insert, row)
        for column, rule in RULES_OF_VALUES.get(op, {}).items():
            self._compare(rule, row, column, life.insert[column], life.last_values.get(column), seqs=seqs, sure=True)
        turn = {"EVICT": "ticket", "SNAPSHOT": "tail_no"}.get(op)
        if turn is not None:
            self._compare("S-STATE-2", row, turn, life.turn, seqs=seqs, sure=True)

    def _check_cached(self, now: Moment) -> None:
        """Step the reference over an offer or a lookup, with what is cached at its position."""
        row, op, cause, place = now.row, now.row["op"], now.row["cause"], place_of(now.row)
        is_in_lookup = (
            now.before is not None and now.before["op"] in LOOKUPS and now.before["call_id"] == row["call_id"]
        )
        if op in ("INSERT", "PASS_BEGIN", "EVICT") and is_in_lookup and row["call_id"] is not None:
            self._name("S-GET-2", row, "no change in the call of a lookup")
        if op == "INSERT":
            own = differ(row["life"], row["seq"])
            if own or row["tail_no"] not in (None, self._turn, self._turns):
                self._name("S-INSERT-1", row, f"a life of turn {self._turn}", sure=own or None)
        if not is_placed(row):
            return
        life = self._cached.get(place)
        places, seqs = () if life is None else (place,), [self._changed.get(place), row["seq"]]
        if op == "INSERT" or is_event(row, "REJECT", "DUPLICATE"):
            wanted = answer(replace(extract_offer(row), size=0), places).rows[0]
            if wanted.op != op:
                self._name("S-INSERT-2" if op == "INSERT" else "S-INSERT-1", row, wanted.op, seqs)
        elif op in ("HIT", "MISS"):
            wanted = answer(extract_lookup(row), places).rows[0]
            own_life = None if life is None or life.insert is None else life.insert["life" if cause == "GET" else "seq"]
            rule = "S-GET-1" if cause == "GET" else "S-RANGE-2" if is_event(row, "HIT", "READ") else None
            if wanted.op != op or (op == "HIT" and differ(row["life"], own_life)):
                self._name(rule, row, f"{wanted.op} of life {own_life}", seqs)

    def _check_range(self, now: Moment) -> None:
        """Step the reference over a range, and check that its answer ascends and is whole."""
        row, first, last, before, after = now.row, self._first, self._last, now.before, now.after
        request = extract_range(row, before)
        ends = after is not None and not is_event(after, "HIT", "READ")
        if ends and request is not None and self._is_cached(request):
            self._name("S-RANGE-1", row, "HIT rows of all its entries", seqs_of(before, row))
        if first is None or not is_event(row, "HIT", "READ"):
            return
        seqs, wanted = seqs_of(first, row), None
        if before is not None and before["op"] in ("ASK", "HIT"):
            begins = before["op"] == "ASK"
            wanted = first["entry_id"] if begins else None if before["entry_id"] is None else before["entry_id"] + 1
        for column, value in (("cache", first["cache"]), ("ledger_id", first["ledger_id"]), ("entry_id", wanted)):
            self._compare("S-RANGE-1", row, column, value, seqs=seqs)
        if last is None or last["seq"] < first["seq"]:
            return
        is_reversed = None not in (first["entry_id"], last["entry_id"]) and first["entry_id"] > last["entry_id"]
        if is_reversed or differ(first["ledger_id"], last["ledger_id"]):
            self._name("S-RANGE-3", row, "no HIT: this is no range", seqs)
        if ends and first["ledger_id"] == last["ledger_id"] is not None:
            self._compare("S-RANGE-2", row, "entry_id", last["entry_id"], seqs=seqs)

    def _is_cached(self, request: GetRange) -> bool:
        """Return whether the reference answers a range, with the entries of it that are cached."""
        ledger, first, last = request.first.ledger, request.first.entry, request.last.entry
        if last - first >= len(self._cached):
            return False
        places = (Place(request.cache, Position(ledger, entry)) for entry in range(first, last + 1))
        return answer(request, (place for place in places if place in self._cached)).outcome != Hits(())

    def _check_start(self, now: Moment) -> None:
        """Check the byte at which an entry starts, or up to which a segment without room is written."""
        row, op, begin, seqs = now.row, now.row["op"], self._begin, [self._last_seq, now.row["seq"]]
        is_first = self._last_seq is None or (begin is not None and self._last_seq < begin["seq"])
        starts = (self._start,) if is_first else (now.offset, *self._starts)
        if not is_first and now.filling.is_unknown and set(self._starts) == {None}:
            return
        if op == "PASS_BEGIN":
            self._compare("S-SEGMENT-4", row, "bound", *starts, seqs=seqs)
        elif op == "INSERT" and not is_first:
            self._compare("S-INSERT-1", row, "bound", *starts, seqs=seqs)
        elif op == "INSERT" and self._turns:
            self._compare("S-RING-3", row, "bound", *starts, seqs=seqs_of(begin, row))
        elif op == "INSERT" and self._last_seq is None:
            self._compare("S-STATE-1", row, "bound", *starts, sure=True)

    def _check_turn(self, now: Moment) -> None:
        """Check the number of a turn, its segment, and the offer that it was for."""
        row, op, before, after, segments = now.row, now.row["op"], now.before, now.after, now.ring.of.segments
        if op == "INSERT" and before is not None and before["op"] == "PASS_END" and self._begin is not None:
            self._compare("S-RING-1", row, "size_bytes", self._begin["size_bytes"])
        if op not in TURN:
            return
        self._compare("S-RING-1", row, "tail_no", self._turns, self._turn_before + 1 if op == TURN[0] else self._turn)
        if segments is not None:
            by_row = None if row["tail_no"] is None else row["tail_no"] - segments
            self._compare("S-RING-1", row, "ticket", self._turns - segments, by_row)
        if row["ticket"] is not None and row["ticket"] < 0:
            self._name("S-RING-1", row, "a turn from 0 on")
        is_followed = after is None or (after["op"] == "INSERT" and not differ(after["call_id"], row["call_id"]))
        if op == "PASS_END" and not is_followed:
            self._name("S-RING-1", row, "an INSERT behind it")
        evicts = 0 if op == "PASS_BEGIN" or now.turned is None else now.turned.evicts - len(now.filling.dropped)
        if evicts:
            rule = "S-RING-2" if evicts > 0 else "S-RING-4"
            self._name(rule, row, "an EVICT of each entry of the segment", seqs_of(self._marker, row))

    def _check_segment(self, now: Moment) -> None:
        """Check that an entry leaves with its segment, in that segment's turn."""
        row, op, life, segments = now.row, now.row["op"], now.life, now.ring.of.segments
        seqs, oldest = seqs_of(life.insert, row), self._turn if segments is None else self._turn - segments
        is_of_turn = segments is None or life.turn in (None, oldest, self._turns - segments)
        is_known = row["life"] is None or (life.insert is not None and not life.has_left)
        if op == "EVICT" and not (is_of_turn and is_known):
            self._name("S-RING-4", row, f"an entry of turn {oldest}", seqs)
        if op != "HIT" or segments is None or life.turn is None or life.has_left:
            return
        if life.turn <= min(oldest, self._turns - segments):
            self._name("S-RING-2", row, "no HIT of a cleared entry", seqs)

    def _check_state(self, now: Moment) -> None:
        """Check the snapshot, and the numbers of END."""
        row, life, segments = now.row, now.life, now.ring.of.segments
        if row["op"] == "SNAPSHOT" and row["life"] is not None:
            again = self._snapshot_life is not None and row["life"] <= self._snapshot_life
            if again or life.insert is None or life.has_left:
                seqs = seqs_of(self._snapshot, row)
                self._name("S-STATE-2", row, f"a cached entry behind life {self._snapshot_life}", seqs, sure=True)
        elif row["op"] == "END":
            used = None if segments is None else max(1, min(self._turns + 1, segments))
            if differ(read_counters(row).get("slots"), used) or self._snapshot_rows not in (0, self._live):
                self._name("S-STATE-2", row, f"{self._live} entries in {used} segments")

    def _record(self, now: Moment) -> None:
        """Record the values that later rows are compared with."""
        row, op, life, place = now.row, now.row["op"], now.life, place_of(now.row)
        if op == "INSERT":
            life.insert, life.turn = row, self._turn_of(row, now.ring, life)
            self._cached[place] = life
            growth = None if row["manager_bytes"] is None else row["manager_bytes"] - self._manager_bytes
            ends = (None if None in (row["bound"], taken) else row["bound"] + taken for taken in (now.moved, growth))
            self._last_seq, self._starts = row["seq"], tuple(ends)
        elif op == "EVICT":
            life.has_left = True
            self._cached.pop(place, None)
        if op in ("INSERT", "EVICT"):
            self._changed[place] = row["seq"]
        life.last_values |= {column: row[column] for column in VALUES if row[column] is not None}
        if op in TURN:
            self._marker = row
        if op == "PASS_END" and now.turned is not None:
            self._start = now.turned.start
            now.filling.dropped.clear()
        if op == "PASS_BEGIN":
            self._begin = row
        elif is_event(row, "ASK", "FIRST"):
            self._first = row
        elif is_event(row, "ASK", "LAST"):
            self._last = row
        elif op == "SNAPSHOT":
            self._snapshot = row
            self._snapshot_rows += 1
            self._snapshot_life = self._snapshot_life if row["life"] is None else row["life"]
        if row["manager_bytes"] is not None:
            self._manager_bytes, self._has_unknown_write = row["manager_bytes"], False
        elif op in ("INSERT", "PASS_END") and now.ring.of.copies is None:
            self._has_unknown_write = True


def _follow(facts: Facts, collector: ViolationCollector, max_live_slots: int) -> bool:
    """Replay the rows in order; return whether there were never more entries than replay is meant for."""
    broker = Replay(facts, collector)
    return all(broker.follow(at) <= max_live_slots for at in range(len(facts.rows)))


replay: Final = partial(replay_each, ReplayPlan(COLUMNS, Settings(KINDS, Ring(), _after), applicable_rules, _follow))
"""Return the findings of each broker."""
