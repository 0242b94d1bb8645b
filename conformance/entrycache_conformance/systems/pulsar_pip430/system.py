"""The system `pulsar-pip430`: its outcomes in JSON, its smoke cases, and its record.

`SYSTEM` puts the parts of this folder together. A subject may declare that it shows the requeues of a slot; otherwise
they are not compared.
"""

import dataclasses
from types import MappingProxyType
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430 import coverage, explanation, fast_cache, generation, jars, workload
from entrycache_conformance.systems.pulsar_pip430.fast_cache import FAST
from entrycache_conformance.systems.pulsar_pip430.workload import (
    WORKLOADS,
    Limits,
    WorkloadProfile,
    cost_bound,
    unsupported_reason,
)
from entrycache_faults.reference.pulsar_pip430 import SEEDED_FAULTS, registry
from entrycache_protocol import case, codec, declaration, schema, system
from entrycache_reference.pulsar_pip430 import NAME, Config, initial, laws, ops, outcomes, state, step
from entrycache_reference.pulsar_pip430.config import Variants
from entrycache_reference.pulsar_pip430.ops import Observe, Op
from entrycache_reference.pulsar_pip430.outcomes import Observed, Outcome, Refused, SlotView
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import Position

REQUEUES: Final = "requeues"
"""The introspection of a subject that shows how often the entry of a slot was put back."""


def _read_slots(value: Any, introspection: frozenset[str]) -> tuple[SlotView, ...]:
    if type(value) is not list:
        raise codec.MalformedValue(f"expected an array, got {value!r}")
    slots = []
    for item in value:
        if type(item) is dict and REQUEUES not in introspection:
            item = {**item, REQUEUES: 0}
        slots.append(codec.decode_object(SlotView, item))
    return tuple(slots)


ANSWERS: Final = declaration.OutcomeReader(
    *(Refused, Observe, Observed),
    {"now": 0, "bytes": 0, "caches": {}, "queue": (), "tombstones": 0},
    {"queue": _read_slots},
)
"""The reader and writer of outcomes."""


def declared_part(outcome: Any, introspection: frozenset[str]) -> Any:
    """Return an outcome with everything emptied that the subject does not declare."""
    declared = ANSWERS.declared_part(outcome, introspection)
    if type(declared) is not Observed or REQUEUES in introspection:
        return declared
    return dataclasses.replace(declared, queue=tuple(dataclasses.replace(slot, requeues=0) for slot in declared.queue))


def follow_order(model: Any, slack: int) -> system.OrderedStep:
    """Return the steps of a model in the order that a subject with `order_slack` tells."""
    from entrycache_conformance.systems.pulsar_pip430 import order_slack  # noqa: PLC0415  # few subjects have any

    return order_slack.follow_order(model, slack)


def without_order(outcome: Any) -> Any:
    """Return an outcome without the order of the removal queue, and without its dead slots, which follow from it."""
    if type(outcome) is not Observed:
        return outcome
    queue = tuple(sorted(outcome.queue, key=lambda slot: (slot.cache, slot.pos)))
    return dataclasses.replace(outcome, queue=queue, tombstones=0)


SEEN_SCHEMA: Final = {
    "title": "Seen",
    "type": "array",
    "items": {
        "type": "array",
        "prefixItems": [schema.schema_of(str), schema.schema_of(Position), {"enum": list(codec.PASS_WORDS)}],
        "minItems": 3,
        "maxItems": 3,
    },
}
"""The schema of what passes did, which a subject with `order_slack` adds to its outcomes."""


def outcome_schema(op: type[Any]) -> dict[str, Any]:
    """Return the schema of what an operation answers."""
    described = ANSWERS.outcome_schema(op)
    described["anyOf"][0]["properties"]["seen"] = SEEN_SCHEMA
    if op is Observe:
        described["anyOf"][0]["properties"]["queue"]["items"]["required"].remove(REQUEUES)
    return described


INSERT: Final = frozenset({"insert"})

Steps = list[dict[str, Any]]

A: Final = {"cache": "a"}
S: Final = {**A, "cursor": "s"}
T: Final = {**A, "cursor": "t"}
INSERTS: Final[Steps] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0, "expected_reads": 2},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 7, "expected_reads": None},
]
CURSORS: Final[Steps] = [
    {"op": "cursor_add", **S, "pos": [1, 0]},
    {"op": "cursor_add", **T, "pos": [1, 5]},
]
APPENDS: Final[Steps] = [
    {"op": "append", **A, "pos": [1, 0], "size": 10},
    {"op": "append", **A, "pos": [1, 1], "size": 7},
]
OPENED: Final[Steps] = [*APPENDS, {"op": "cursor_open", **S, "pos": [1, 0]}]

FETCHES: Final[Steps] = [
    {"op": "fetch", "read": "f", "first": [1, 1], "last": [1, 3]},
    {"op": "fetch", "read": "g", "first": [1, 2], "last": [1, 5]},
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
    "usage": [*INSERTS, {"op": "usage"}, {"op": "usage", **A}, {"op": "usage", "cache": "none"}],
    "observe": [*INSERTS, {"op": "observe"}],
    "advance": [*INSERTS, {"op": "advance", "nanos": 5}, {"op": "advance", "nanos": -1}],
    "expire": [
        *INSERTS,
        {"op": "advance", "nanos": 2_000_000_000},
        {"op": "expire"},
        {"op": "expire", "older_than_nanos": 0},
        {"op": "expire", "older_than_nanos": -1},
    ],
    "evict": [*INSERTS, {"op": "evict", "bytes": 11}, {"op": "evict", "bytes": 1}, {"op": "evict", "bytes": 0}],
    "mark_read": [*INSERTS, {"op": "mark_read", **A, "pos": [1, 1]}, {"op": "mark_read", **A, "pos": [1, 0]}],
    "expect_read": [*INSERTS, {"op": "expect_read", **A, "pos": [1, 1]}, {"op": "expect_read", **A, "pos": [5, 5]}],
    "cycle": [*INSERTS, {"op": "cycle"}, {"op": "advance", "nanos": 2_000_000_000}, {"op": "cycle"}],
    "run_scheduled": [*INSERTS, {"op": "run_scheduled"}],
    "configure": [
        *INSERTS,
        {"op": "configure", "ttl_nanos": 5, "watermark": 0.5},
        {"op": "advance", "nanos": 6},
        {"op": "expire"},
        {"op": "configure", "max_requeues": -1},
    ],
    "invalidate_before": [*INSERTS, {"op": "invalidate_before", **A, "pos": [1, 1]}],
    "invalidate_ledger": [
        *INSERTS,
        {"op": "invalidate_ledger", **A, "ledger": 2},
        {"op": "invalidate_ledger", **A, "ledger": 1},
    ],
    "remove_cache": [*INSERTS, {"op": "remove_cache", **A}, {"op": "usage"}, {"op": "remove_cache", "cache": "none"}],
    "metrics": [*INSERTS, {"op": "evict", "bytes": 1}, {"op": "metrics"}],
    "read": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 1], "last": [1, 3], "expected_reads": 2},
        {"op": "read", **A, "first": [1, 0], "last": [1, 3], "expected_reads": 0},
        {"op": "read", **A, "first": [1, 1], "last": [1, 0], "expected_reads": 1},
    ],
    "read_one": [*INSERTS, {"op": "read_one", **A, "pos": [1, 0]}, {"op": "read_one", **A, "pos": [1, 7]}],
    "release": [
        *INSERTS,
        {"op": "read", **A, "first": [1, 0], "last": [1, 2], "expected_reads": 1, "hold": "h"},
        {"op": "release", "hold": "h"},
        {"op": "release", "hold": "h"},
    ],
    "cursor_add": [*CURSORS, {"op": "cursor_add", **S, "pos": [1, 7]}, {"op": "cursors", **A}],
    "cursor_move": [*CURSORS, {"op": "cursor_move", **S, "pos": [1, 6]}, {"op": "slowest", **A}],
    "cursor_remove": [*CURSORS, {"op": "cursor_remove", **S}, {"op": "cursor_remove", **S}],
    "cursor_rank": [*CURSORS, {"op": "cursor_rank", **T}, {"op": "cursor_rank", **A, "cursor": "none"}],
    "slowest": [{"op": "slowest", **A}, *CURSORS, {"op": "slowest", **A}],
    "cursors": [{"op": "cursors", **A}, *CURSORS, {"op": "cursors", **A}],
    "should_cache": [
        {"op": "should_cache", **A},
        {"op": "advance", "nanos": 2_000_000_000},
        {"op": "should_cache", **A},
        *CURSORS,
        {"op": "should_cache", **A},
    ],
    "append": [
        *APPENDS,
        {"op": "append", **A, "pos": [2, 0], "size": 1},
        {"op": "append", **A, "pos": [9, 9], "size": 1},
    ],
    "cursor_open": [*OPENED, {"op": "cursor_open", **T, "pos": [1, 1], "durable": False}, {"op": "cursors", **A}],
    "cursor_read": [
        *OPENED,
        {"op": "cursor_read", **S, "max_entries": 1},
        {"op": "cursor_read", **S, "max_entries": 5, "hold": "h"},
        {"op": "cursor_read", **S, "max_entries": 0},
    ],
    "cursor_seek": [*OPENED, {"op": "cursor_seek", **S, "pos": [1, 1]}, {"op": "cursor_state", **S}],
    "cursor_reset": [*OPENED, {"op": "cursor_reset", **S, "pos": [1, 1]}, {"op": "cursor_state", **S}],
    "mark_delete": [*OPENED, {"op": "mark_delete", **S, "pos": [1, 0]}, {"op": "cursor_state", **S}],
    "ack": [*OPENED, {"op": "ack", **S, "pos": [1, 1]}, {"op": "cursor_read", **S, "max_entries": 5}],
    "activate": [*OPENED, {"op": "deactivate", **S}, {"op": "activate", **S}, {"op": "cursors", **A}],
    "deactivate": [*OPENED, {"op": "deactivate", **S}, {"op": "cursors", **A}],
    "cursor_close": [*OPENED, {"op": "cursor_close", **S}, {"op": "cursor_state", **S}],
    "replay_add": [
        *OPENED,
        {"op": "cursor_read", **S, "max_entries": 2, "hold": "h"},
        {"op": "replay_add", "hold": "h", "pos": [1, 0], "dispatcher": "key_shared"},
        {"op": "replay_add", "hold": "h", "pos": [1, 0], "dispatcher": "shared"},
    ],
    "replay_read": [*OPENED, {"op": "replay_read", **S, "positions": [[1, 1], [1, 0]]}],
    "delete_ledger": [
        *APPENDS,
        {"op": "append", **A, "pos": [2, 0], "size": 1},
        {"op": "delete_ledger", **A, "ledger": 1},
        {"op": "delete_ledger", **A, "ledger": 2},
    ],
    "check_backlogs": [*OPENED, {"op": "check_backlogs", **A}],
    "run_invalidations": [
        *OPENED,
        {"op": "deactivate", **S},
        {"op": "run_invalidations", **A},
        {"op": "run_invalidations", "cache": "b"},
    ],
    "cursor_state": [*OPENED, {"op": "cursor_state", **S}, {"op": "cursor_state", **T}],
    "acquire": [{"op": "acquire", "id": "r", "permits": 1}],
    "give_back": [{"op": "acquire", "id": "r", "permits": 1}, {"op": "give_back", "id": "r"}],
    "limiter": [{"op": "limiter"}],
    "fetch": [*FETCHES, {"op": "fetch", "read": "g", "first": [1, 4], "last": [1, 2]}],
    "read_begin": [*OPENED, {"op": "read_begin", **S, "read": "f", "max_entries": 2}],
    "replay_begin": [*OPENED, {"op": "replay_begin", **S, "read": "f", "positions": [[1, 1]]}],
    "storage_answer": [
        *FETCHES,
        {"op": "storage_answer", "ask": 0, "answer": 2},
        {"op": "storage_answer", "ask": 1, "answer": "fail"},
        {"op": "storage_answer", "ask": 1, "answer": "all"},
    ],
}
"""One case per operation; it runs if all its operations are declared."""


SYSTEM: Final[system.System[Config, state.State, Op, Outcome]] = system.System(
    name=NAME,
    levels=ops.LEVELS,
    ops=system.index_ops(ops.OPS),
    model=system.Model(Config, Variants, initial, step, ordered=follow_order, unordered=without_order),
    laws=system.Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.LIVENESS_1, Rule.LIVENESS_2),
        rules=system.rules_with_prefix("R-"),
        of_variants=workload.VARIANT_RULES,
        cells=coverage.COVERAGE_CELLS,
        count_cells=coverage.count_cells,
        count_fired=laws.count_fired,
    ),
    wire=system.Wire(
        ANSWERS.read_outcome,
        case.encode_outcome,
        outcome_schema,
        declared_part,
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset({"now", "bytes", "caches", "queue", "tombstones", "requeues"}),
        limits=Limits,
        computed=lambda config: {"grace_millis": config.effective_grace_millis},
    ),
    cases=system.Cases(
        workload.menu,
        generation.plan_case,
        workloads={profile.value: profile for profile, traits in WORKLOADS.items() if not traits.levels},
        level_workloads={
            profile.value: system.LevelWorkload(profile, traits.levels)
            for profile, traits in WORKLOADS.items()
            if traits.levels
        },
        extra_workloads=MappingProxyType({WorkloadProfile.GREAT: 20, WorkloadProfile.BOUNDARY: 5}),
        distinguishing={"small-keys": 60, "default": 60, "fills-and-holds": 60, "cursors-many": 200},
        central=MappingProxyType(
            {
                "range": (INSERT, frozenset({"get", "get_range", "exists"})),
                "queue": (INSERT, frozenset({"evict", "expire"})),
                "manager": (INSERT,),
                "reads": (INSERT, frozenset({"read", "read_one"})),
                "cursors": (
                    frozenset({"cursor_add"}),
                    frozenset({"slowest", "cursor_rank", "cursors", "should_cache"}),
                ),
                "ledger": (frozenset({"append"}), frozenset({"cursor_read", "replay_read"})),
                "limits": (frozenset({"acquire"}), frozenset({"give_back"})),
                "pending": (frozenset({"fetch"}), frozenset({"storage_answer"})),
                "inflight": (
                    frozenset({"append"}),
                    frozenset({"read_begin", "replay_begin"}),
                    frozenset({"storage_answer"}),
                ),
            }
        ),
        smoke=SMOKE_CASES,
        unvaried=frozenset({"variants"}),
        unsupported_reason=unsupported_reason,
        cost_bound=cost_bound,
        visible_levels=dict.fromkeys(
            ("grace_millis", "evict_by_expected_reads", "evict_by_mark_deleted"),
            frozenset({"cursors", "ledger", "inflight", "limits"}),
        ),
    ),
    text=system.Text(
        "queue",
        explanation.queue_text,
        explanation.lanes,
        {
            "cursors": system.Text("cursors", explanation.cursors_text, explanation.cursor_lanes),
            "pending": system.Text("asks", explanation.asks_text),
            "inflight": system.Text("asks", explanation.asks_text),
            "limits": system.Text("permits", explanation.permits_text),
        },
    ),
    blame=explanation.BLAME,
    fast=FAST,
    faults=fast_cache.FAULTS,
    seeded_faults=system.SeededFaults(SEEDED_FAULTS.own, SEEDED_FAULTS.others, registry.decision_flips),
    jvm=jars.PULSAR,
    standalone=MappingProxyType({"limits": frozenset({"advance"}), "pending": frozenset({"storage_answer"})}),
)
