"""The system `pulsar-legacy`: its parts, put together."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from entrycache_conformance.systems.pulsar_legacy import answers, smoke
from entrycache_conformance.systems.pulsar_legacy.blame import BLAME
from entrycache_conformance.systems.pulsar_legacy.effort import effort
from entrycache_conformance.systems.pulsar_legacy.faults import FAULTS
from entrycache_conformance.systems.pulsar_legacy.fit import unfit
from entrycache_conformance.systems.pulsar_legacy.jvm import PULSAR_LEGACY
from entrycache_conformance.systems.pulsar_legacy.plan import plan
from entrycache_conformance.systems.pulsar_legacy.state_text import lanes, state_text
from entrycache_conformance.systems.pulsar_legacy.weights import Theme, menu
from entrycache_faults.reference.pulsar_legacy import PLANTED
from entrycache_protocol.case import encode_outcome
from entrycache_protocol.limits import Limits
from entrycache_protocol.system import Cases, Laws, Model, Planted, System, Text, Wire, named, rules_of
from entrycache_reference.pulsar_legacy import NAME, Config, Variants, initial, laws, ops, outcomes, step
from entrycache_reference.pulsar_legacy.ops import Op
from entrycache_reference.pulsar_legacy.outcomes import Outcome
from entrycache_reference.pulsar_legacy.state import State
from entrycache_reference.rules import Rule

SYSTEM: Final[System[Config, State, Op, Outcome]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=named(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.L_LIVENESS_1, Rule.L_LIVENESS_2),
        rules=rules_of("L-"),
        of_variants=frozenset({Rule.L_READ_7}),
    ),
    wire=Wire(
        answers.ANSWERS.read_outcome,
        encode_outcome,
        answers.ANSWERS.outcome_schema,
        answers.ANSWERS.declared_part,
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset({"now", "bytes", "caches"}),
        limits=Limits,
    ),
    cases=Cases(
        menu,
        plan,
        themes={theme.value: theme for theme in Theme},
        distinguishing={"small-keys": 60, "default": 60, "many-caches": 120},
        smoke=smoke.CASES,
        unvaried=frozenset({"variants"}),
        unfit=unfit,
        effort=effort,
        extra_themes=MappingProxyType({Theme.ODD: 8}),
    ),
    text=Text("caches", state_text, lanes),
    blame=BLAME,
    faults=FAULTS,
    seeded_faults=Planted(PLANTED.own, PLANTED.others),
    jvm=PULSAR_LEGACY,
)
