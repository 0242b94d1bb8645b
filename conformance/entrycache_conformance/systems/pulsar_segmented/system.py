"""The system `pulsar-segmented`: its parts, put together."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import Final

from entrycache_conformance.systems.pulsar_segmented import answers, sides, smoke
from entrycache_conformance.systems.pulsar_segmented.adapter import FAST, OFFER, open_cache
from entrycache_conformance.systems.pulsar_segmented.blame import BLAME
from entrycache_conformance.systems.pulsar_segmented.limits import Limits, effort, unfit
from entrycache_conformance.systems.pulsar_segmented.plan import OF_VARIANTS, menu, plan
from entrycache_conformance.systems.pulsar_segmented.state_text import lanes, state_text
from entrycache_conformance.systems.pulsar_segmented.themes import Theme
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_faults.reference.pulsar_segmented import PLANTED
from entrycache_protocol.case import encode_outcome
from entrycache_protocol.system import Cases, Laws, Model, Own, Planted, System, Text, Wire, named, rules_of
from entrycache_reference.pulsar_segmented import NAME, Config, Variants, initial, laws, ops, outcomes, step
from entrycache_reference.pulsar_segmented.config import segments_of
from entrycache_reference.pulsar_segmented.ops import Op
from entrycache_reference.pulsar_segmented.outcomes import Outcome
from entrycache_reference.pulsar_segmented.state import State
from entrycache_reference.rules import Rule

SYSTEM: Final[System[Config, State, Op, Outcome]] = System(
    name=NAME,
    levels=ops.LEVELS,
    ops=named(ops.OPS),
    model=Model(Config, Variants, initial, step),
    laws=Laws(
        laws.broken,
        table=laws.LAWS,
        liveness=(Rule.S_LIVENESS_1, Rule.S_LIVENESS_1),
        rules=rules_of("S-"),
        of_variants=OF_VARIANTS,
        cells=sides.CELLS,
        count_cells=sides.count_cells,
    ),
    wire=Wire(
        answers.ANSWERS.read_outcome,
        encode_outcome,
        answers.ANSWERS.outcome_schema,
        answers.ANSWERS.declared_part,
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        introspection=frozenset(answers.ANSWERS.hidden),
        limits=Limits,
        computed=lambda config: {"segments": segments_of(config)},
    ),
    cases=Cases(
        menu,
        plan,
        themes={theme.value: theme for theme in Theme},
        extra_themes=MappingProxyType({Theme.GREAT: 20, Theme.ODD: 8}),
        distinguishing={"small-keys": 60, "default": 60},
        smoke=smoke.CASES,
        unvaried=frozenset({"variants"}),
        unfit=unfit,
        effort=effort,
    ),
    text=Text("ring", state_text, lanes),
    blame=BLAME,
    fast=FAST,
    faults={name: Own(OFFER, partial(open_cache, cache_type=kind)) for name, kind in FAULTS.items()},
    seeded_faults=Planted(PLANTED.own, PLANTED.others),
)
