"""The system `kafka-streams`: its smoke cases and its record.

`SYSTEM` puts the parts of this folder together.
"""

from types import MappingProxyType
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams import (
    explanation,
    fast_cache,
    generation,
    histories,
    jars,
    limits,
    wire,
    workload,
)
from entrycache_conformance.systems.kafka_streams.fast_cache import FAST
from entrycache_conformance.systems.kafka_streams.histories import Kind, is_sound, make_history
from entrycache_conformance.systems.kafka_streams.limits import Limits, cost_bound, unsupported_reason
from entrycache_conformance.systems.kafka_streams.workload import WorkloadProfile
from entrycache_faults.reference.kafka_streams import SEEDED_FAULTS, SEEDED_THREAD_FAULTS
from entrycache_protocol import system
from entrycache_reference.kafka_streams import (
    NAME,
    Config,
    Variants,
    initial,
    laws,
    ops,
    outcomes,
    state,
    step,
    threads,
)
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.threads import history
from entrycache_reference.rules import Rule

Steps = list[dict[str, Any]]

A: Final = {"ns": "a"}
S: Final = {"store": "s"}
BOTH: Final = {"from": None, "to": None}
CARRIED: Final = {"topic": "t", "headers": [["h", "1"]], "timestamp": 7}
PUTS: Final[Steps] = [
    {"op": "put", **A, "key": "y", "value": "2"},
    {"op": "put", **A, "key": "x", "value": "1", "dirty": True},
]
STORED: Final[Steps] = [
    {"op": "store_put", **S, "key": "x", "value": "1"},
    {"op": "store_put", **S, "key": "y", "value": "2"},
]
WINDOWS: Final[Steps] = [
    {"op": "store_open", **S, "kind": "window"},
    {"op": "window_put", **S, "key": "x", "start": 5, "value": "1"},
    {"op": "window_put", **S, "key": "y", "start": 7, "value": "2"},
]
SESSIONS: Final[Steps] = [
    {"op": "store_open", **S, "kind": "session"},
    {"op": "session_put", **S, "key": "x", "start": 1, "end": 5, "value": "1"},
    {"op": "session_put", **S, "key": "y", "start": 2, "end": 7, "value": "2"},
]
LISTENED: Final[Steps] = [*PUTS, {"op": "listen", **A, "on_flush": [{"op": "usage", **A}]}]
QUERIES: Final[Steps] = [{"op": "metrics", **A}, {"op": "metrics"}, {"op": "usage"}]

SMOKE_CASES: Final[dict[str, Steps]] = {
    "put": [
        *PUTS,
        {"op": "put", **A, "key": "x", "value": None, "topic": "t", "headers": [["h", "1"]], "dirty": True},
        *QUERIES,
    ],
    "put_all": [{"op": "put_all", **A, "entries": [{"key": "x", "value": "1"}, {"key": "y", "value": None}]}, *QUERIES],
    "put_if_absent": [*PUTS, {"op": "put_if_absent", **A, "key": "x", "value": "3"}, *QUERIES],
    "get": [*PUTS, {"op": "get", **A, "key": "y"}, {"op": "get", **A, "key": "z"}, {"op": "get", **A, "key": None}],
    "delete": [*PUTS, {"op": "delete", **A, "key": "x"}, {"op": "delete", **A, "key": "x"}, *QUERIES],
    "range": [*PUTS, {"op": "range", **A, "from": "x", "to": "y", "to_inclusive": False}, *QUERIES],
    "reverse_range": [*PUTS, {"op": "reverse_range", **A, "from": "x", "to": None}, *QUERIES],
    "all": [*PUTS, {"op": "all", **A}, *QUERIES],
    "reverse_all": [*PUTS, {"op": "reverse_all", **A}, *QUERIES],
    "listen": [{"op": "listen", **A, "on_flush": []}, *PUTS, {"op": "flush", **A}, *QUERIES],
    "flush": [*LISTENED, {"op": "flush", **A}, *QUERIES],
    "evict": [*LISTENED, {"op": "evict", **A}, {"op": "evict", **A}, {"op": "evict", **A}, *QUERIES],
    "clear": [*LISTENED, {"op": "clear", **A}, *QUERIES],
    "close": [*LISTENED, {"op": "close", **A}, *QUERIES],
    "resize": [*LISTENED, {"op": "resize", "max_size_bytes": 47}, *QUERIES],
    "usage": [*PUTS, {"op": "usage", **A}, {"op": "usage"}, {"op": "usage", "ns": "b"}],
    "metrics": [*PUTS, {"op": "get", **A, "key": "x"}, *QUERIES, {"op": "metrics", "ns": "b"}],
    "store_put": [*STORED, {"op": "store_put", **S, "key": "x", "value": None}, {"op": "store_all", **S}],
    "store_get": [*STORED, {"op": "store_get", **S, "key": "x"}, {"op": "store_get", **S, "key": "z"}],
    "store_delete": [*STORED, {"op": "store_delete", **S, "key": "x"}, {"op": "store_get", **S, "key": "x"}],
    "store_range": [*STORED, {"op": "store_range", **S, "from": "x", "to": "x"}, {"op": "store_range", **S, **BOTH}],
    "store_all": [*STORED, {"op": "store_flush", **S}, {"op": "store_all", **S}],
    "store_flush": [*STORED, {"op": "store_flush", **S}, {"op": "store_inner", **S}],
    "store_inner": [*STORED, {"op": "store_inner", **S}],
    "on_forward": [
        {"op": "on_forward", **S, "key": "x", "steps": [{"op": "store_get", **S, "key": "x"}]},
        *STORED,
        {"op": "store_flush", **S},
    ],
    "share": [{"op": "share", "total_bytes": 100, "threads": 2, "global_thread": True}],
    "store_open": [{"op": "store_open", **S}, *STORED, {"op": "store_open", **S}],
    "store_view": [
        *STORED,
        {"op": "store_view", **S, "from": "x"},
        {"op": "store_view", **S, "backward": True},
        {"op": "store_view", **S, "prefix": "y"},
        {"op": "store_view", **S, "isolation": "committed"},
    ],
    "store_put_if_absent": [*STORED, *({"op": "store_put_if_absent", **S, "key": key, "value": "3"} for key in "xz")],
    "store_put_all": [{"op": "store_put_all", **S, "entries": [["x", "1"], ["y", None]]}, {"op": "store_all", **S}],
    "store_count": [*STORED, {"op": "store_count", **S}, {"op": "store_flush", **S}, {"op": "store_count", **S}],
    "store_query": [*STORED, *({"op": "store_query", **S, "key": "x", "skip_cache": skips} for skips in (False, True))],
    "store_query_range": [*STORED, {"op": "store_flush", **S}, {"op": "store_query_range", **S, "from": "y"}],
    "store_clear": [*STORED, {"op": "store_clear", **S}, {"op": "store_get", **S, "key": "x"}],
    "fail_forward": [
        *STORED,
        {"op": "fail_forward", **S, "key": "y", "n": 1},
        *[{"op": "store_flush", **S}] * 2,
        {"op": "store_inner", **S},
    ],
    "store_close": [*STORED, {"op": "store_close", **S}, {"op": "store_get", **S, "key": "x"}],
    "view_open": [*STORED, {"op": "view_open", "view": "v", **S}, {"op": "view_next", "view": "v"}],
    "view_next": [
        *STORED,
        {"op": "view_open", "view": "v", **S, "backward": True},
        *[{"op": "view_next", "view": "v"}] * 4,
    ],
    "view_close": [{"op": "view_open", "view": "v", **S}, *[{"op": "view_close", "view": "v"}] * 2],
    "window_put": [
        *(*WINDOWS, {"op": "store_flush", **S}, {"op": "store_inner", **S}),
        *({"op": "store_close", **S}, {"op": "store_flush", **S}),
    ],
    "window_get": [*WINDOWS, *({"op": "window_get", **S, "key": "x", "start": start} for start in (5, 6))],
    "session_put": [*SESSIONS, {"op": "store_flush", **S}, {"op": "store_inner", **S}],
    "session_remove": [
        *SESSIONS,
        {"op": "session_remove", **S, "key": "x", "start": 1, "end": 5},
        {"op": "session_get", **S, "key": "x", "start": 1, "end": 5},
    ],
    "session_get": [*SESSIONS, *({"op": "session_get", **S, "key": "x", "start": at, "end": 5} for at in (1, 2))],
    "window_view": [
        *WINDOWS,
        {"op": "window_view", **S},
        {"op": "window_view", **S, "key": "x", "time_from": 0, "time_to": 5},
        {"op": "window_view", **S, "from": "x", "to": "y", "time_from": 0, "time_to": 9, "backward": True},
    ],
    "session_view": [
        *SESSIONS,
        {"op": "session_view", **S, "key": "x"},
        {"op": "session_view", **S, "from": "x", "to": "y", "earliest_end": 0, "latest_start": 9, "backward": True},
    ],
}
"""The smoke cases by the operation that they test."""


def write_outcome(outcome: Any) -> dict[str, Any]:
    """Return an outcome in JSON; a subject's outcome is such an object already."""
    return wire.outcome_json(outcome) if isinstance(outcome, outcomes.Outcome) else outcome


SYSTEM: Final[system.System[Config, state.State, Op, Any]] = system.System(
    name=NAME,
    levels=ops.LEVELS,
    ops=system.index_ops(ops.OPS),
    model=system.Model(
        Config,
        Variants,
        initial,
        step,
        explanation.follow_answer,
        frozenset({"view_open", "view_next", "view_close", "window_view", "session_view"}),
        explanation.allowed_answers,
    ),
    laws=system.Laws(
        laws.broken,
        table=(*laws.LAWS, *threads.LAWS),
        liveness=(Rule.K_LIVENESS_1, Rule.K_LIVENESS_2),
        rules=system.rules_with_prefix("K-"),
        of_variants=workload.RULES_NOT_REQUIRED,
        cells=limits.COVERAGE_CELLS,
        count_cells=limits.count_cells,
        count_fired=laws.count_fired,
    ),
    wire=system.Wire(
        wire.read_outcome,
        write_outcome,
        wire.outcome_schema,
        wire.declared_part,
        refusal=outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE),
        introspection=wire.OPTIONAL_KEYS,
        limits=Limits,
    ),
    cases=system.Cases(
        workload.menu,
        generation.plan_case,
        workloads={profile.value: profile for profile in WorkloadProfile},
        extra_workloads=MappingProxyType(
            {WorkloadProfile.GREAT: 20, WorkloadProfile.BOUNDARY: 8, WorkloadProfile.LONE: 5}
        ),
        distinguishing={"small-keys": 60, "default": 60, "reentry": 60, "tiny-limits": 60},
        central=MappingProxyType(
            {
                "cache": (frozenset({"put", "put_all", "put_if_absent"}), frozenset({"get", "range", "all"})),
                "store": (frozenset({"store_put"}), frozenset({"store_get", "store_range", "store_all"})),
                "views": (
                    frozenset({"store_put", "store_put_all", "store_put_if_absent"}),
                    frozenset({"store_view", "store_query", "store_query_range", "store_put_if_absent"}),
                ),
                "windows": (
                    frozenset({"window_put", "session_put"}),
                    frozenset({"window_get", "session_get", "window_view", "session_view"}),
                ),
            }
        ),
        smoke=SMOKE_CASES,
        unvaried=frozenset({"variants"}),
        unsupported_reason=unsupported_reason,
        cost_bound=cost_bound,
    ),
    text=system.Text("cache", explanation.state_text, explanation.lanes),
    blame=explanation.BLAME,
    fast=FAST,
    faults=fast_cache.FAULTS,
    seeded_faults=system.SeededFaults((*SEEDED_FAULTS.own, *SEEDED_THREAD_FAULTS.own), SEEDED_FAULTS.others),
    jvm=jars.KAFKA_STREAMS,
    histories=system.Histories(
        tuple(Kind),
        make_history,
        histories.judge_history,
        is_sound,
        histories.unasked_rules,
        history.SharedReference,
        ends=Rule.K_CONCURRENCY_1,
        throws=Rule.K_LIVENESS_2,
        rules=system.rules_with_prefix("K-CONCURRENCY-"),
        states_max=threads.STATES_MAX,
        faults=fast_cache.THREAD_FAULT_OPENERS,
    ),
)
