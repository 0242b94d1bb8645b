"""A mirror of a replayed ring: the state of a row's position, life, segment and bytes by the rows before it.

The reference turns sizes into offsets. A segment generation is the entries of one segment between two of its turns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from entrycache_reference.pulsar_segmented.config import Config, Mode
from entrycache_reference.pulsar_segmented.ring import advance
from entrycache_spark.common.system import ConfigObject
from entrycache_spark.replay.common import Facts as AnyFacts
from entrycache_spark.replay.common import Row, Settings, differ
from entrycache_spark.systems.pulsar_segmented import KINDS, EffectiveValues, effective_values

LOOKUP_OPS: Final = ("HIT", "MISS", "ASK", "METRICS")


class Ring(NamedTuple):
    """The settings at a row: the limit, and the values that follow from it."""

    limit_bytes: int | None = None
    of: EffectiveValues = EffectiveValues()


Facts = AnyFacts[Ring]


def _after(config: ConfigObject | None, before: Ring) -> Ring:
    return Ring() if config is None else Ring(config["max_size_bytes"], effective_values(config))


SETTINGS: Final = Settings(KINDS, Ring(), _after)


def unlike(one: object, other: object) -> bool:
    """Return whether a known value differs from another one, or nothing is known of that."""
    return one != other or other is None


def applicable_rules(row: Row, ring: Ring) -> Iterable[str]:
    """Return the rules that apply to one row."""
    op, cause = row["op"], row["cause"]
    yield "S-LIVENESS-1"
    yield from RULES_BY_OP.get(op, ())
    yield from RULES_BY_CAUSE.get((op, cause), ())
    if op == "HIT" and row["life"] is not None:
        yield from ("S-RING-2",) if row["key_hash"] is None else ("S-RING-2", "S-GET-3")
    if op in TURN and ring.of.named is not None:
        yield "S-CONFIG-2" if ring.of.named else "S-CONFIG-1"
    if op == "INSERT" and ring.of.copies is not None:
        yield "S-SEGMENT-2" if ring.of.copies else "S-SEGMENT-3"


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
    "HIT": ("S-GET-2",),
    "MISS": ("S-GET-2",),
    "ASK": ("S-GET-2",),
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
"""By op, and by op and cause."""


# ---------- mirror

Place = tuple[str | None, int | None, int | None]

PLACE = ("cache", "ledger_id", "entry_id")


def place_of(row: Row) -> Place:
    """The position of a row."""
    return row["cache"], row["ledger_id"], row["entry_id"]


@dataclass
class LifeState:
    """One life: its INSERT and its segment generation, whether it has left, and the values of its last row."""

    insert_row: Row | None = None
    generation: int | None = None
    gone: bool = False
    last: Row | None = None
    size_bytes: int | None = None
    key_hash: int | None = None
    bound: int | None = None


@dataclass
class PositionState:
    """The state of a position; `life`: its last INSERT, `shown_life`: the life that the INSERT shows."""

    is_in: bool = False
    life: int | None = None
    shown_life: int | None = None
    changed_seq: int | None = None


@dataclass
class Generation:
    """A segment generation: its entries, the bytes they took by the rules, and those that the offsets show.

    `is_unknown`: the settings do not say how many bytes some entry took.
    """

    live: int = 0
    wrote_bytes: int = 0
    shown_bytes: int = 0
    is_unknown: bool = False


@dataclass
class Last:
    """The last INSERT, and the start of the next entry by the rules and by the offsets."""

    seq: int | None = None
    by_rule: int | None = None
    by_shown: int | None = None


@dataclass
class Moment:
    """One row with the state before it."""

    row: Row
    before: Row | None
    after: Row | None
    ring: Ring
    life_state: LifeState
    held: PositionState
    last: Last
    turns: int
    turn_before: int
    turn_now: int
    marker: Row | None
    turned: Row | None
    is_first: bool
    manager_shown: int
    generation: Generation
    by_row: int | None
    by_sum: int
    live: int
    is_miswritten: bool
    generation_bytes: int

    @property
    def in_turn(self) -> bool:
        """Return whether a turn is in progress."""
        return self.marker is not None and self.marker["op"] == "PASS_BEGIN"

    @property
    def oldest(self) -> tuple[int, int] | None:
        """The turn of the segment whose turn it is: as the rows number it, and as they are counted."""
        segments = self.ring.of.segments
        return None if segments is None else (self.turn_now - segments, self.turns - segments)

    @property
    def is_astray(self) -> bool:
        """Return whether an entry starts, or a segment ends, where neither rule nor rows say so."""
        bound = self.row["bound"]
        return bound is not None and all(
            unlike(bound, start) for start in (self.generation_bytes, self.last.by_rule, self.last.by_shown)
        )


@dataclass
class Mirror:
    """The ring after the rows so far."""

    facts: Facts
    life_states: dict[int, LifeState] = field(default_factory=dict)
    places: dict[Place, PositionState] = field(default_factory=dict)
    generations: dict[int | None, Generation] = field(default_factory=dict)
    last: Last = field(default_factory=Last)
    turns: int = 0
    turn_now: int = 0
    turn_seq: int | None = None
    marker: Row | None = None
    turned: Row | None = None
    manager_shown: int = 0
    written_bytes: int = 0
    sum_bytes: int = 0
    live: int = 0

    def take(self, at: int) -> Moment:
        """Read the next row, and return it with the state before it."""
        row, ring = self.facts.rows[at], self.facts.settings[at]
        op, own = row["op"], row["seq"] if row["op"] == "INSERT" else row["life"]
        before = self.facts.rows[at - 1] if at else None
        life_state = LifeState() if own is None else self.life_states.setdefault(own, LifeState())
        state_before, held = (
            LifeState(**vars(life_state)),
            PositionState(**vars(self.places.setdefault(place_of(row), PositionState()))),
        )
        turn_before, last, marker, turned = self.turn_now, self.last, self.marker, self.turned
        is_first = last.seq is None or (self.turn_seq is not None and last.seq < self.turn_seq)
        if op == "PASS_BEGIN":
            self.turns += 1
            self.turn_now = self.turns if row["tail_no"] is None else row["tail_no"]
        number = self._generation_number(row, ring, life_state, turn_before)
        generation = self.generations.setdefault(number, Generation())
        generation_bytes, took = generation.wrote_bytes, _advance(row, ring)
        growth = None if row["manager_bytes"] is None else row["manager_bytes"] - self.manager_shown
        gone = life_state.insert_row if op == "EVICT" and not life_state.gone else None
        grown = (row["size_bytes"] or 0) if op == "INSERT" else 0 if gone is None else -(gone["size_bytes"] or 0)
        entered = 1 if op == "INSERT" else 0 if gone is None else -1
        self.sum_bytes += grown
        self.live += entered
        generation.live += entered
        generation.wrote_bytes += took or 0
        if op in ("INSERT", "PASS_BEGIN", "SKIP", "REJECT"):
            generation.shown_bytes += growth or 0
        generation.is_unknown |= op == "INSERT" and took is None
        wrote = took if op == "INSERT" else -generation_bytes if op == "PASS_END" else 0
        self.written_bytes += wrote or 0
        if op == "PASS_END" and (number is None or generation.is_unknown):
            wrote = None
        moment = Moment(
            row=row,
            before=before,
            after=self.facts.rows[at + 1] if at + 1 < len(self.facts.rows) else None,
            ring=ring,
            life_state=state_before,
            held=held,
            last=last,
            turns=self.turns,
            turn_before=turn_before,
            turn_now=self.turn_now,
            marker=marker,
            turned=turned,
            is_first=is_first,
            manager_shown=self.manager_shown,
            generation=generation,
            by_row=None if before is None else before["bytes_after"] + grown,
            by_sum=self.sum_bytes,
            live=self.live,
            is_miswritten=self._is_miswritten(row, wrote, generation),
            generation_bytes=generation_bytes,
        )
        self._remember(row, life_state, took, growth, moment)
        return moment

    def _generation_number(self, row: Row, ring: Ring, life_state: LifeState, turn_before: int) -> int | None:
        op = row["op"]
        if op == "INSERT":
            return self.turn_now if row["tail_no"] is None else int(row["tail_no"])
        if op == "EVICT":
            return life_state.generation
        if op == "PASS_END":
            return None if ring.of.segments is None else self.turn_now - ring.of.segments
        return turn_before if op in ("PASS_BEGIN", "SKIP", "REJECT") else None

    def _is_miswritten(self, row: Row, wrote: int | None, generation: Generation) -> bool:
        """Return whether the sum of offsets follows neither from the row before, nor from all rows since the start."""
        if row["manager_bytes"] is None or wrote is None:
            return False
        right = {self.manager_shown + wrote, self.written_bytes}
        if row["op"] == "PASS_END":
            right.add(self.manager_shown - generation.shown_bytes)
        return row["manager_bytes"] not in right

    def _remember(
        self, row: Row, life_state: LifeState, took: int | None, shown_bytes: int | None, now: Moment
    ) -> None:
        """Store the values that later rows are checked against."""
        op, held = row["op"], self.places[place_of(row)]
        if op == "INSERT":
            life_state.insert_row = row
            life_state.generation = self.turn_now if row["tail_no"] is None else row["tail_no"]
            held.life, held.shown_life = row["seq"], row["life"]
            bound = row["bound"]
            self.last = Last(row["seq"], _sum(bound, took), _sum(bound, shown_bytes))
        elif op == "EVICT":
            life_state.gone = True
        if op in ("INSERT", "EVICT"):
            held.is_in, held.changed_seq = op == "INSERT", row["seq"]
        life_state.last = row
        for name in ("size_bytes", "key_hash", "bound"):
            if row[name] is not None:
                setattr(life_state, name, row[name])
        if op in TURN:
            self.marker = row
        if op == "PASS_BEGIN":
            self.turned, self.turn_seq = row, row["seq"]
        if row["manager_bytes"] is not None:
            self.manager_shown = row["manager_bytes"]

    def cached(self, cache: str | None, ledger_id: int | None, first: int, last: int) -> list[int]:
        """The positions of a range that are cached."""
        return sorted(
            place[2]
            for place, held in self.places.items()
            if held.is_in and place[:2] == (cache, ledger_id) and place[2] is not None and first <= place[2] <= last
        )


def _advance(row: Row, ring: Ring) -> int | None:
    """The bytes that an entry takes, as the reference computes them."""
    size, copies = row["size_bytes"], ring.of.copies
    if row["op"] != "INSERT" or size is None or size < 0 or copies is None:
        return None
    return advance(size, Config(mode=Mode.COPY if copies else Mode.REFERENCE))


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def is_displaced(row: Row, life_state: LifeState) -> bool:
    """Return whether a row of a life shows another position than its INSERT and than the row before."""
    insert_row, last = life_state.insert_row, life_state.last
    if insert_row is None or last is None:
        return False
    return any(differ(row[name], insert_row[name]) and unlike(row[name], last[name]) for name in PLACE)
