"""Explanation and drawing of the failures of `pulsar-segmented`.

`BLAME` gives `explain.py` the seeded faults, the state query (`observe`), and the subject's ring as that query shows
it. The functions at the end show the ring as text and as boxes, one segment per line, entries in the order of their
inserts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_segmented import SEEDED_FAULTS
from entrycache_protocol.system import Blame, Lane
from entrycache_reference.pulsar_segmented import ops, outcomes
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """Return the seeded faults, in one group."""
    return (tuple(SEEDED_FAULTS),)


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """Return `observe` if the subject shows its segments and the current one."""
    shows = "observe" in declaration.ops and {"segments", "current"} <= declaration.introspection
    return (ops.Observe(),) if shows else ()


def own_step(
    pre: State, done: Step, op: Any, answer: Any, views: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """Return the reference's step, and the same with the subject's answer and ring."""
    observed = views.get(ops.Observe())
    state = done.state if observed is None else own_state(observed, pre, done.state)
    return pre, done, done._replace(state=state, outcome=answer)


def own_state(observed: outcomes.Observed, pre: State, reference: State) -> State:
    """Return the ring that a subject shows; sizes, payloads and starts come from the reference."""
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
    """Return whether a row is about an entry that two rings show differently."""
    if not (isinstance(expected, outcomes.Observed) and isinstance(got, outcomes.Observed)):
        return False
    one, other = ({entry for segment in ring.segments for entry in segment.entries} for ring in (expected, got))
    return (row.cache, (row.ledger_id, row.entry_id)) in {(entry.cache, entry.pos) for entry in one ^ other}


BLAME: Final = Blame(seeded_faults, state_queries, own_step, is_about_difference, frozenset(), Rule.S_RING_2)


def state_text(state: State) -> str:
    """Return the segments that were ever written, with a mark at the current one."""
    lines = [
        f"{_segment_name(state, index)}: {' '.join(map(_entry_text, segment.entries)) or '(empty)'} "
        f"(offset {segment.offset} of {state.segment_bytes})"
        for index, segment in sorted(state.segments.items())
        if segment != Segment() or index == state.current
    ]
    return "\n".join(lines)


def lanes(state: State) -> tuple[Lane, ...]:
    """Return each segment that was ever written, from its first entry on."""
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
