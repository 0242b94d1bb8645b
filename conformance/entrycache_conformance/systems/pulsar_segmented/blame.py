"""What `pulsar-segmented` says for explaining a difference: its looks, and the subject's ring as they tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.planted import Fault
from entrycache_faults.reference.pulsar_segmented import PLANTED
from entrycache_protocol.blame import Blame
from entrycache_reference.pulsar_segmented.ops import Observe
from entrycache_reference.pulsar_segmented.outcomes import Observed
from entrycache_reference.pulsar_segmented.state import Entry, Place, Row, Segment, State, Step
from entrycache_reference.rules import Rule


def faults() -> Sequence[Sequence[Fault]]:
    """One group."""
    return (tuple(PLANTED),)


def looks(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """`observe`, where a subject shows its segments and which one is current."""
    shows = "observe" in declaration.ops and {"segments", "current"} <= declaration.introspection
    return (Observe(),) if shows else ()


def told(
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


def is_about(expected: Any, got: Any, row: Row) -> bool:
    """Whether a row is about an entry that two rings do not show alike."""
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return False
    one, other = ({entry for segment in ring.segments for entry in segment.entries} for ring in (expected, got))
    return (row.cache, (row.ledger_id, row.entry_id)) in {(entry.cache, entry.pos) for entry in one ^ other}


BLAME: Final = Blame(faults, looks, told, is_about, frozenset(), Rule.S_RING_2)
