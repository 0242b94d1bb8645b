"""What `pulsar-segmented` says for explaining a difference: its looks, and the subject's ring as they tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.reference.pulsar_segmented import SEEDED_FAULTS
from entrycache_faults.seeded import Fault
from entrycache_protocol.system import Blame, Lane
from entrycache_reference.pulsar_segmented.ops import Observe
from entrycache_reference.pulsar_segmented.outcomes import Observed
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """One group."""
    return (tuple(SEEDED_FAULTS),)


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """`observe`, where a subject shows its segments and which one is current."""
    shows = "observe" in declaration.ops and {"segments", "current"} <= declaration.introspection
    return (Observe(),) if shows else ()


def own_step(
    pre: State, done: Step, op: Any, answer: Any, shown: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """The subject's state is the ring that it shows."""
    observed = shown.get(Observe())
    state = done.state if observed is None else own_state(observed, pre, done.state)
    return pre, done, done._replace(state=state, outcome=answer)


def own_state(observed: Observed, pre: State, reference: State) -> State:
    """The ring that a subject shows; sizes, payloads and starts, which it cannot, are those of the reference."""
    known: dict[Place, Entry] = {}
    for state in (pre, reference):
        known |= {entry.place: entry for segment in state.segments.values() for entry in segment.entries}
    segments = {
        index: Segment(
            tuple(known.get(Place(one.cache, one.pos), Entry(Place(one.cache, one.pos), 0, 0, None))
                  for one in segment.entries),
            segment.bytes,
        )
        for index, segment in enumerate(observed.segments)
    }  # fmt: skip
    return reference._replace(segments=segments, current=observed.current)


def is_about_difference(expected: Any, got: Any, row: Row) -> bool:
    """Whether a row is about an entry that two rings do not show alike."""
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return False
    one, other = ({entry for segment in ring.segments for entry in segment.entries} for ring in (expected, got))
    return (row.cache, (row.ledger_id, row.entry_id)) in {(entry.cache, entry.pos) for entry in one ^ other}


BLAME: Final = Blame(seeded_faults, state_queries, own_step, is_about_difference, frozenset(), Rule.S_RING_2)


def state_text(state: State) -> str:
    """The segments that were ever written, and which one is current."""
    lines = [
        f"{_segment_name(state, index)}: {' '.join(map(_entry_text, segment.entries)) or '(empty)'} "
        f"(offset {segment.offset} of {state.segment_bytes})"
        for index, segment in sorted(state.segments.items())
        if segment != Segment() or index == state.current
    ]
    return "\n".join(lines)


def lanes(state: State) -> tuple[Lane, ...]:
    """Each segment that was ever written, from its first entry on."""
    return tuple(
        Lane(_segment_name(state, index), tuple((_entry_text(entry), "entry") for entry in segment.entries))
        for index, segment in sorted(state.segments.items())
        if segment != Segment() or index == state.current
    )


def _segment_name(state: State, index: int) -> str:
    return f"segment {index}{'*' if index == state.current else ''}"


def _entry_text(entry: Entry) -> str:
    cache, pos = entry.place
    return f"{cache}:{pos.ledger}:{pos.entry}({entry.size_bytes}B)"
