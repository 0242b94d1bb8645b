"""The system `pulsar-segmented`: outcomes in JSON, bounds and coverage, smoke cases, jars, and its record.

`SYSTEM` puts the parts of this folder together. Coverage counts how often an insert lands one byte below the room of a
segment, at it, or above it, and how often the ring turns.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from entrycache_conformance.systems.pulsar_segmented import explanation, fast_cache, generation
from entrycache_conformance.systems.reference import all_fault_subjects, fault_subjects
from entrycache_faults.fast.pulsar_segmented import FAULTS as CACHE_FAULTS
from entrycache_faults.reference.pulsar_segmented import SEEDED_FAULTS, ring
from entrycache_protocol.case import encode_outcome
from entrycache_protocol.declaration import Declaration, OutcomeReader
from entrycache_protocol.system import (
    Cases,
    Family,
    Laws,
    Model,
    SeededFaults,
    System,
    Text,
    Wire,
    index_ops,
    rules_with_prefix,
)
from entrycache_reference.pulsar_segmented import NAME, Config, Variants, initial, laws, ops, outcomes, step
from entrycache_reference.pulsar_segmented.config import segment_bytes, segments_of
from entrycache_reference.pulsar_segmented.ops import Observe, Op
from entrycache_reference.pulsar_segmented.outcomes import Observed, Outcome, Refused
from entrycache_reference.pulsar_segmented.ring import ALIGNMENT
from entrycache_reference.pulsar_segmented.state import State
from entrycache_reference.rules import Rule

ANSWERS: Final = OutcomeReader(Refused, Observe, Observed, {"segments": (), "current": 0})
"""The reader and writer of outcomes."""


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference visits at most: each step visits every segment and each of its entries."""
    return (1 + len(steps)) * (segments_of(config) + len(steps))


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return the reason why a subject cannot play a case; empty if it can."""
    longest = segment_bytes(config, segments_of(config))
    if declaration.limits.long_entries or all(getattr(step, "size", 0) <= longest for step in steps):
        return ""
    return f"its limits exclude an entry that is longer than a segment ({longest} bytes)"


SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}
THRESHOLDS: Final = ("ROOM", "LENGTH", "ALIGNMENT")
"""The thresholds: the room of the current segment, the bytes of a segment, and multiples of 64."""

COVERAGE_CELLS: Final = (
    *(f"{name}/{side}" for name in THRESHOLDS for side in SIDES.values()),
    "RING/TURNED",
    "RING/ROUND",
)
"""Every side, a turn of the ring, and one after its last segment."""


def count_cells(config: Config, state: State, op: Any, done: Any, cells: dict[str, int]) -> None:
    """Count the sides that an insert lands on, and the turns of the ring."""
    if not isinstance(op, ops.Insert) or op.size < 0 or not config.max_size_bytes:
        return
    room = state.segment_bytes - state.segments[state.current].offset
    into_alignment = (op.size + 1) % ALIGNMENT - 1 if op.size >= ALIGNMENT - 1 else None
    distances = (op.size - room, op.size - state.segment_bytes, into_alignment)
    reached = [f"{name}/{SIDES[far]}" for name, far in zip(THRESHOLDS, distances, strict=True) if far in SIDES]
    if done.state.current != state.current:
        reached.append("RING/TURNED")
        reached += ["RING/ROUND"] if done.state.current < state.current else []
    for cell in reached:
        cells[cell] = cells.get(cell, 0) + 1


Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 64},
]

SMOKE_CASES: Final[dict[str, Steps]] = {
    "insert": [
        *INSERTS,
        {"op": "insert", **A, "pos": [1, 0], "size": 3},
        {"op": "insert", **A, "pos": [1, 2], "size": -1},
        {"op": "insert", **A, "pos": [1, 2], "size": 1_000_000_000_000},
    ],
    "get": [*INSERTS, {"op": "get", **A, "pos": [1, 1]}, {"op": "get", "cache": "b", "pos": [1, 1]}],
    "get_range": [
        *INSERTS,
        {"op": "get_range", **A, "first": [1, 0], "last": [1, 1]},
        {"op": "get_range", **A, "first": [1, 0], "last": [1, 2]},
        {"op": "get_range", **A, "first": [1, 1], "last": [1, 0]},
        {"op": "get_range", **A, "first": [-1, -1], "last": [2, 0]},
    ],
    "usage": [*INSERTS, {"op": "usage"}],
    "observe": [*INSERTS, {"op": "observe"}],
}
"""One case per operation; it runs if all its operations are declared."""


FAULTS: Final = all_fault_subjects(
    fault_subjects(ring.SUBJECTS, fast_cache.DECLARATION),
    fast_cache.DECLARATION,
    fast_cache.open_cache,
    CACHE_FAULTS,
)
"""The seeded faults as subjects by name: those of the reference, and those of the fast cache."""

BOOKKEEPER: Final = Family(
    name="bookkeeper",
    title="BookKeeper",
    system="pulsar-segmented",
    coordinates="org.apache.bookkeeper:bookkeeper-server",
    main="entrycache.bookkeeper.ReadCacheDriver",
    modules=("protocol",),
    options=("-Dio.netty.leakDetection.level=disabled",),
)
"""The released jars: the read cache of Apache BookKeeper, whose design PIP-174 follows; `bookkeeper:VERSION`."""

SYSTEM: Final[System[Config, State, Op, Outcome]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=index_ops(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.S_LIVENESS_1, Rule.S_LIVENESS_1),
        rules=rules_with_prefix("S-"),
        of_variants=generation.VARIANT_RULES,
        cells=COVERAGE_CELLS,
        count_cells=count_cells,
        count_fired=laws.count_fired,
    ),
    wire=Wire(
        ANSWERS.read_outcome,
        encode_outcome,
        ANSWERS.outcome_schema,
        ANSWERS.declared_part,
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset(ANSWERS.hidden),
        limits=generation.Limits,
        computed=lambda config: {"segments": segments_of(config)},
    ),
    cases=Cases(
        generation.menu,
        generation.plan_case,
        workloads={profile.value: profile for profile in generation.WorkloadProfile},
        extra_workloads=MappingProxyType(
            {generation.WorkloadProfile.GREAT: 20, generation.WorkloadProfile.BOUNDARY: 5}
        ),
        distinguishing={"small-keys": 60, "default": 60},
        central=MappingProxyType({"all": (frozenset({"insert"}), frozenset({"get", "get_range"}))}),
        smoke=SMOKE_CASES,
        unvaried=frozenset({"variants"}),
        unsupported_reason=unsupported_reason,
        cost_bound=cost_bound,
    ),
    text=Text("ring", explanation.state_text, explanation.lanes),
    blame=explanation.BLAME,
    fast=fast_cache.FAST,
    faults=FAULTS,
    seeded_faults=SeededFaults(SEEDED_FAULTS.own, SEEDED_FAULTS.others),
    jvm=BOOKKEEPER,
)


__all__ = ["cost_bound", "unsupported_reason"]
