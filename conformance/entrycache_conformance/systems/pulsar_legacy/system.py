"""The system `pulsar-legacy`: its outcomes in JSON, its smoke cases, and its record.

`SYSTEM` puts the parts of this folder together. The system has no fast cache of ours.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from entrycache_conformance.systems import pulsar
from entrycache_conformance.systems.pulsar_legacy import explanation, generation, jars
from entrycache_conformance.systems.reference import fault_subjects
from entrycache_faults.reference.pulsar_legacy import SEEDED_FAULTS, passes
from entrycache_protocol import case, system
from entrycache_protocol.declaration import Declaration, OutcomeReader
from entrycache_reference.pulsar_legacy import NAME, Config, Variants, initial, laws, ops, state, step
from entrycache_reference.pulsar_legacy.ops import Observe, Observed, Op, Outcome, Refused
from entrycache_reference.rules import Rule

ANSWERS: Final = OutcomeReader(Refused, Observe, Observed, {"now": 0, "bytes": 0, "caches": {}})
"""The reader and writer of outcomes."""


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference copies at most: a read once per position of its range, all else once.

    Inserts and reads add entries, so no step meets more entries than these have named.
    """
    named = copied = 0
    for op in steps:
        times = max(1, op.last.entry - op.first.entry + 1) if isinstance(op, ops.Read) else 1
        named += times if isinstance(op, ops.Read | ops.Insert) else 0
        copied += times * (named + 1)
    return copied


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return an empty reason: every subject can play every case."""
    return ""


Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0},
    {"op": "insert", **A, "pos": [2, 0], "size": 4},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 7},
]

SMOKE_CASES: Final[dict[str, Steps]] = {
    "insert": [
        *INSERTS,
        {"op": "insert", **A, "pos": [1, 0], "size": 3},
        {"op": "insert", **A, "pos": [1, 2], "size": -1},
    ],
    "get": [*INSERTS, {"op": "get", **A, "pos": [1, 1]}, {"op": "get", **A, "pos": [9, 9]}],
    "get_range": [
        *INSERTS,
        {"op": "get_range", **A, "first": [-1, -1], "last": [1, 1]},
        {"op": "get_range", **A, "first": [1, 1], "last": [1, 0]},
    ],
    "exists": [*INSERTS, {"op": "exists", **A, "pos": [1, 0]}, {"op": "exists", "cache": "none", "pos": [1, 0]}],
    "remove_range": [
        *INSERTS,
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": False},
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": True},
    ],
    "clear": [*INSERTS, {"op": "clear", **A}, {"op": "clear", **A}],
    "invalidate_before": [*INSERTS, {"op": "invalidate_before", **A, "pos": [1, 1]}],
    "invalidate_ledger": [
        *INSERTS,
        {"op": "invalidate_ledger", **A, "ledger": 2},
        {"op": "invalidate_ledger", **A, "ledger": -1},
    ],
    "remove_cache": [*INSERTS, {"op": "remove_cache", **A}, {"op": "usage"}, {"op": "remove_cache", "cache": "none"}],
    "usage": [*INSERTS, {"op": "usage"}, {"op": "usage", **A}, {"op": "usage", "cache": "none"}],
    "observe": [*INSERTS, {"op": "observe"}],
    "advance": [*INSERTS, {"op": "advance", "nanos": 5}, {"op": "advance", "nanos": -1}],
    "expire": [
        *INSERTS,
        {"op": "advance", "nanos": 1_000_000_000},
        {"op": "expire", **A},
        {"op": "expire", "cache": "b", "older_than_nanos": 1_000_000_001},
        {"op": "expire", "cache": "b", "older_than_nanos": 1_000_000_000},
        {"op": "expire", **A, "older_than_nanos": -1},
    ],
    "evict": [*INSERTS, {"op": "evict", "bytes": 11}, {"op": "evict", "bytes": 1}, {"op": "evict", "bytes": 0}],
    "evict_cache": [
        *INSERTS,
        {"op": "evict_cache", **A, "bytes": 11},
        {"op": "evict_cache", "cache": "none", "bytes": 1},
        {"op": "evict_cache", **A, "bytes": 0},
    ],
    "run_scheduled": [*INSERTS, {"op": "run_scheduled"}],
    "read": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 0], "last": [1, 1]},
        {"op": "read", **A, "first": [1, 1], "last": [1, 3]},
        {"op": "read", **A, "first": [1, 1], "last": [1, 0]},
        {"op": "read", **A, "first": [1, 0], "last": [2, 0]},
    ],
    "read_one": [*INSERTS, {"op": "read_one", **A, "pos": [1, 0]}, {"op": "read_one", **A, "pos": [1, 7]}],
}
"""One case per operation; it runs if all its operations are declared."""


OFFER: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["now", "bytes", "caches"],
    "payload": True,
}
"""The offer of each subject with a seeded fault: all that the reference has."""


SYSTEM: Final[system.System[Config, state.State, Op, Outcome]] = system.System(
    name=NAME,
    levels=ops.LEVELS,
    ops=system.index_ops(ops.OPS),
    model=system.Model(Config, Variants, initial, step),
    laws=system.Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.L_LIVENESS_1, Rule.L_LIVENESS_2),
        rules=system.rules_with_prefix("L-"),
        of_variants=frozenset({Rule.L_READ_7}),
        count_fired=laws.count_fired,
    ),
    wire=system.Wire(
        ANSWERS.read_outcome,
        case.encode_outcome,
        ANSWERS.outcome_schema,
        ANSWERS.declared_part,
        refusal=ops.Refused(ops.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset({"now", "bytes", "caches"}),
        limits=pulsar.Limits,
    ),
    cases=system.Cases(
        generation.menu,
        generation.plan_case,
        workloads={profile.value: profile for profile in generation.WorkloadProfile},
        distinguishing={"small-keys": 60, "default": 60, "many-caches": 120},
        central=MappingProxyType(
            {"all": (frozenset({"insert"}), frozenset({"get", "get_range", "exists", "read", "read_one"}))}
        ),
        smoke=SMOKE_CASES,
        unvaried=frozenset({"variants"}),
        unsupported_reason=unsupported_reason,
        cost_bound=cost_bound,
        extra_workloads=MappingProxyType({generation.WorkloadProfile.BOUNDARY: 5}),
    ),
    text=system.Text("caches", explanation.state_text, explanation.lanes),
    blame=explanation.BLAME,
    faults=fault_subjects(passes.SUBJECTS, OFFER),
    seeded_faults=system.SeededFaults(SEEDED_FAULTS.own, SEEDED_FAULTS.others),
    jvm=jars.PULSAR_LEGACY,
)
