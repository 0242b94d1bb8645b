"""The system `kafka-streams`: its parts, put together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams import answers, faults, promises, sides, smoke, weights
from entrycache_conformance.systems.kafka_streams.blame import BLAME
from entrycache_conformance.systems.kafka_streams.effort import effort
from entrycache_conformance.systems.kafka_streams.fast import FAST
from entrycache_conformance.systems.kafka_streams.fit import unfit
from entrycache_conformance.systems.kafka_streams.histories import Kind, is_sound, make_history
from entrycache_conformance.systems.kafka_streams.jvm import KAFKA_STREAMS
from entrycache_conformance.systems.kafka_streams.limits import Limits
from entrycache_conformance.systems.kafka_streams.plan import plan
from entrycache_conformance.systems.kafka_streams.state_text import lanes, state_text
from entrycache_conformance.systems.kafka_streams.themes import Theme
from entrycache_faults.reference.kafka_streams import PLANTED, THREADS
from entrycache_protocol.system import Cases, Histories, Laws, Model, Planted, System, Text, Wire, named, rules_of
from entrycache_reference.kafka_streams import NAME, Config, Variants, initial, laws, ops, outcomes, step, threads
from entrycache_reference.kafka_streams.ops import Op
from entrycache_reference.kafka_streams.state import State
from entrycache_reference.kafka_streams.threads import shared
from entrycache_reference.rules import Rule


def write_outcome(outcome: Any) -> dict[str, Any]:
    """An outcome in JSON; that of a subject is such an object already."""
    return answers.shown(outcome) if isinstance(outcome, outcomes.Outcome) else outcome


SYSTEM: Final[System[Config, State, Op, Any]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=named(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=(*laws.LAWS, *threads.LAWS),
        liveness=(Rule.K_LIVENESS_1, Rule.K_LIVENESS_2),
        rules=rules_of("K-"),
        of_variants=weights.NOT_ASKED,
        cells=sides.CELLS,
        count_cells=sides.count_cells,
    ),
    wire=Wire(
        answers.read_outcome,
        write_outcome,
        answers.outcome_schema,
        answers.declared_part,
        refusal=outcomes.Failed(outcomes.ErrorKind.ILLEGAL_STATE),
        introspection=answers.OPTIONAL,
        limits=Limits,
    ),
    cases=Cases(
        weights.menu,
        plan,
        themes={theme.value: theme for theme in Theme},
        extra_themes=MappingProxyType({Theme.GREAT: 20, Theme.ODD: 8, Theme.LONE: 5}),
        distinguishing={"small-keys": 60, "default": 60, "reentry": 60, "tiny-limits": 60},
        smoke=smoke.CASES,
        unvaried=frozenset({"variants"}),
        unfit=unfit,
        effort=effort,
    ),
    text=Text("cache", state_text, lanes),
    blame=BLAME,
    fast=FAST,
    faults=faults.FAULTS,
    seeded_faults=Planted((*PLANTED.own, *THREADS.own), PLANTED.others),
    jvm=KAFKA_STREAMS,
    histories=Histories(
        tuple(Kind),
        make_history,
        promises.judge,
        is_sound,
        promises.unasked,
        shared.Shared,
        ends=Rule.K_CONCURRENCY_1,
        throws=Rule.K_LIVENESS_2,
        rules=rules_of("K-CONCURRENCY-"),
        states_max=threads.STATES_MAX,
        faults=faults.OF_THREADS,
    ),
)
