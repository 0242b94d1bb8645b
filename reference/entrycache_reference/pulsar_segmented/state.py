"""The state of the ring, and the result of a step.

`State` holds the segments by index and the index of the current one. A `Segment` holds its entries and the offset up to
which it is written. `find_entry` looks for a place in all segments, the newest first.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from entrycache_reference.pulsar_segmented.config import Config, segment_bytes, segments_of
from entrycache_reference.pulsar_segmented.outcomes import Outcome
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import CacheName, Position


class Place(NamedTuple):
    """A position of one managed ledger: the key of an entry."""

    cache: CacheName
    pos: Position


class Entry(NamedTuple):
    """One cached entry. `start`: the byte of its segment at which it begins."""

    place: Place
    size_bytes: int
    start: int
    token: int | None


class Segment(NamedTuple):
    """One segment: its entries in the order of their inserts, and the byte up to which it is written."""

    entries: tuple[Entry, ...] = ()
    offset: int = 0


class State(NamedTuple):
    """The ring: its segments by index, never changed in place, and the index of the current one.

    `segment_bytes` is the capacity of each segment.
    """

    segments: Mapping[int, Segment]
    current: int
    segment_bytes: int


class Row(NamedTuple):
    """One event, with the rule that made it, and the columns of a trace that its recorder does not add.

    `token`: the payload of an insert or a hit. `segment`: the index of the segment that takes the entry, that it
    leaves, or that becomes current. `bound`: the byte of a segment at which the entry starts; in PASS_BEGIN the offset
    of the full segment. `trigger_bytes`: the capacity of a segment. `manager_bytes`: the sum of all offsets after the
    event.
    """

    rule: Rule
    op: str
    cause: str | None
    cache: str | None = None
    ledger_id: int | None = None
    entry_id: int | None = None
    size_bytes: int | None = None
    token: int | None = None
    segment: int | None = None
    bound: int | None = None
    trigger_bytes: int | None = None
    manager_bytes: int | None = None


class Step(NamedTuple):
    """The result of one step: the state after it, its outcome, and its rows in order."""

    state: State
    outcome: Outcome
    rows: tuple[Row, ...]


@rule(Rule.S_STATE_1)
def initial(config: Config) -> State:
    """Return the empty ring; its first segment is current."""
    number = segments_of(config)
    return State(dict.fromkeys(range(number), Segment()), 0, segment_bytes(config, number))


def newest_first(state: State) -> Iterator[Segment]:
    """Return the segments from the current one backwards."""
    number = len(state.segments)
    return (state.segments[(state.current - back) % number] for back in range(number))


def find_in_segment(segment: Segment, place: Place) -> Entry | None:
    """Return the entry of that place in one segment."""
    return next((entry for entry in segment.entries if entry.place == place), None)


@rule(Rule.S_GET_1)
def find_entry(state: State, place: Place) -> Entry | None:
    """Return the entry of that place in any segment, the newest segment first."""
    return next((entry for segment in newest_first(state) if (entry := find_in_segment(segment, place))), None)
