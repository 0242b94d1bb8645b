"""The system `pulsar-pip430`: its parts, put together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from entrycache_conformance.systems.pulsar_pip430 import answers, faults, smoke, weights
from entrycache_conformance.systems.pulsar_pip430.blame import BLAME
from entrycache_conformance.systems.pulsar_pip430.cells import CELLS, count_cells
from entrycache_conformance.systems.pulsar_pip430.effort import effort
from entrycache_conformance.systems.pulsar_pip430.fast import FAST
from entrycache_conformance.systems.pulsar_pip430.fit import unfit
from entrycache_conformance.systems.pulsar_pip430.jvm import PULSAR
from entrycache_conformance.systems.pulsar_pip430.limits import Limits
from entrycache_conformance.systems.pulsar_pip430.plan import plan
from entrycache_conformance.systems.pulsar_pip430.queue_text import cursor_lanes, cursors_text, lanes, queue_text
from entrycache_conformance.systems.pulsar_pip430.themes import Theme
from entrycache_faults.reference.pulsar_pip430 import PLANTED
from entrycache_faults.reference.pulsar_pip430.flips import flips
from entrycache_protocol.case import encode_outcome
from entrycache_protocol.system import Cases, Laws, Model, Planted, System, Text, Wire, named, rules_of
from entrycache_reference.pulsar_pip430 import NAME, Config, initial, laws, ops, outcomes, step
from entrycache_reference.pulsar_pip430.config import Variants
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.pulsar_pip430.outcomes import Outcome
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.rules import Rule

SYSTEM: Final[System[Config, State, Op, Outcome]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=named(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.LIVENESS_1, Rule.LIVENESS_2),
        rules=rules_of("R-"),
        of_variants=weights.OF_VARIANTS,
        cells=CELLS,
        count_cells=count_cells,
    ),
    wire=Wire(
        answers.ANSWERS.read_outcome,
        encode_outcome,
        answers.outcome_schema,
        answers.declared_part,
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset({"now", "bytes", "caches", "queue", "tombstones", "requeues"}),
        limits=Limits,
        computed=lambda config: {"grace_millis": config.effective_grace_millis},
        other_ops=weights.LEDGER_OPS,
    ),
    cases=Cases(
        weights.menu,
        plan,
        themes={theme.value: theme for theme in Theme},
        extra_themes=MappingProxyType({Theme.GREAT: 20, Theme.ODD: 8}),
        distinguishing={"small-keys": 60, "default": 60, "fills-and-holds": 60, "cursors-many": 200},
        smoke=smoke.CASES,
        unvaried=frozenset({"variants", "evict_by_mark_deleted"}),
        unfit=unfit,
        effort=effort,
        shows_at=dict.fromkeys(
            ("grace_millis", "evict_by_expected_reads", "evict_by_mark_deleted"), frozenset({"cursors", "ledger"})
        ),
    ),
    text=Text("queue", queue_text, lanes, {"cursors": Text("cursors", cursors_text, cursor_lanes)}),
    blame=BLAME,
    fast=FAST,
    faults=faults.FAULTS,
    seeded_faults=Planted(PLANTED.own, PLANTED.others, flips),
    jvm=PULSAR,
)
