"""Cases of pulsar-segmented meet the thresholds of a ring: its ends, alignments, turns, and ranges over segments."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import check_effort, from_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError

SYSTEM = SYSTEMS["pulsar-segmented"]


def met(cases: int) -> Counter[str]:
    """How often cases of the default theme come to each threshold."""
    source, found = random.Random(174), Counter[str]()
    declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops))
    for _ in range(cases):
        case = make_case(source.randint, declaration, SYSTEM.cases.menu(SYSTEM.ops), Coverage(), 40).case
        state = SYSTEM.model.initial(case.config)
        for op in case.steps:
            done = SYSTEM.model.step(state, op, case.config)
            found[op.name] += 1
            if op.name == "insert":
                room = state.segment_bytes - state.segments[state.current].offset
                found["ends at the end of a segment"] += op.size == room
                found["ends one byte behind it"] += op.size == room + 1 <= state.segment_bytes
                found["ends one byte before it"] += op.size == room - 1
                found["as long as a segment"] += op.size == state.segment_bytes > 0
                found["one byte too long"] += op.size == state.segment_bytes + 1
                found["a multiple of 64"] += op.size > 0 and op.size % 64 == 0
                found["turns"] += done.state.current != state.current
                found["comes round"] += done.state.current < state.current
            elif op.name == "get_range":
                hits = getattr(done.outcome, "hits", ())
                homes = {
                    index
                    for index, segment in state.segments.items()
                    for entry in segment.entries
                    if entry.place.cache == op.cache and entry.place.pos in hits
                }
                found["a range over segments"] += len(homes) > 1
            state = done.state
    return found


def test_every_threshold_is_met_often() -> None:
    found = met(200)
    assert min(found.values()) >= 20, found


def test_a_case_with_more_segments_than_can_be_played_is_refused() -> None:
    steps = [{"op": "observe"}]
    value = {"system": SYSTEM.name, "config": {"segments": 10**12}, "steps": steps}
    with pytest.raises(UsageError, match="may copy 2000000000002 entries"):
        from_json(value, SYSTEMS)
    fine = from_json({**value, "config": {"segments": 2}}, SYSTEMS)
    check_effort(SYSTEM, fine.config, fine.steps)
