"""What the suite has to know of a system: its vocabulary, its reference, its laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.kafka_streams import answers as stream_answers
from entrycache_conformance.systems.kafka_streams import smoke as stream_smoke
from entrycache_conformance.systems.kafka_streams import weights as stream_weights
from entrycache_conformance.systems.kafka_streams.blame import BLAME as STREAM_BLAME
from entrycache_conformance.systems.kafka_streams.fit import unfit as stream_unfit
from entrycache_conformance.systems.kafka_streams.plan import plan as stream_plan
from entrycache_conformance.systems.kafka_streams.state_text import state_text
from entrycache_conformance.systems.kafka_streams.themes import Theme as StreamTheme
from entrycache_conformance.systems.pulsar_pip430 import answers, observation, smoke, weights
from entrycache_conformance.systems.pulsar_pip430.blame import BLAME
from entrycache_conformance.systems.pulsar_pip430.cells import CELLS, count_cells
from entrycache_conformance.systems.pulsar_pip430.fit import unfit
from entrycache_conformance.systems.pulsar_pip430.plan import plan
from entrycache_conformance.systems.pulsar_pip430.queue_text import queue_text
from entrycache_conformance.systems.pulsar_pip430.themes import Theme
from entrycache_protocol.blame import Blame
from entrycache_protocol.errors import UsageError
from entrycache_protocol.plan import Plan
from entrycache_reference import kafka_streams, pulsar_pip430
from entrycache_reference.kafka_streams import laws as stream_laws
from entrycache_reference.kafka_streams import ops as stream_ops
from entrycache_reference.kafka_streams import outcomes as stream_outcomes
from entrycache_reference.pulsar_pip430 import laws, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Variants
from entrycache_reference.rules import Rule


class System(NamedTuple):
    """One cache system. Functions take and give the system's own state, events and outcomes.

    `refusal` is an answer that refuses. `read_outcome` reads what a subject answers to an operation, under its
    declaration; `declared_part` is what is compared of an outcome under its `introspection`; `shown` writes the
    outcomes of some types. `other_ops`: operations of the protocol that are not built. `liveness`: the rules that
    a step breaks which never ends, and one which throws. `rules` are those that runs count; those `of_variants`
    fire under another reading than the norm, or in cases that no subject is asked, only. `computed`: what stands
    in a written configuration for keys without a value; `unvaried`: keys that no case varies. `menu` and `plan`
    make cases, by a theme of `themes`; `smoke` holds one case an operation; `state_text` tells people a state,
    under the heading `state_name`; `unfit` says why a case cannot be asked of a subject; `blame` is
    what explaining a difference asks.
    """

    name: str
    levels: tuple[str, ...]
    ops: Mapping[str, type[Any]]
    refusal: Any
    read_outcome: Callable[[Any, Any, Any], Any]
    outcome_schema: Callable[[type[Any]], dict[str, Any]]
    shown: Mapping[type[Any], Callable[[Any], dict[str, Any]]]
    declared_part: Callable[[Any, frozenset[str]], Any]
    introspection: frozenset[str]
    other_ops: frozenset[str]
    config: type[Any]
    variants: type[Any]
    initial: Callable[[Any], Any]
    step: Callable[[Any, Any, Any], Any]
    check: Callable[[Any, Any, Any, Any, dict[Rule, int]], tuple[Rule, ...]]
    broken: Callable[[Any, Any, Any, Any], tuple[Rule, ...]]
    liveness: tuple[Rule, Rule]
    rules: tuple[Rule, ...]
    of_variants: frozenset[Rule]
    cells: tuple[str, ...]
    count_cells: Callable[[Any, dict[str, int]], None]
    computed: Callable[[Any], dict[str, Any]]
    unvaried: frozenset[str]
    menu: Callable[..., tuple[str, ...]]
    plan: Callable[..., Plan]
    themes: Mapping[str, Any]
    smoke: Mapping[str, list[dict[str, Any]]]
    state_name: str
    state_text: Callable[[Any], str]
    unfit: Callable[[Any, Any, Sequence[Any]], str]
    blame: Blame

    def own_ops(self, level: str) -> frozenset[str]:
        """The names of the operations that a level adds; `observe` belongs to every level and so to none."""
        return frozenset(name for name, op in self.ops.items() if op.level == level and name != "observe")

    def ops_up_to(self, level: str) -> tuple[str, ...]:
        """The names of the operations of a level and of every level above it in the protocol."""
        wanted = self.levels[: self.levels.index(level) + 1]
        return tuple(name for name, op in self.ops.items() if op.level in wanted)


SYSTEMS: Final[dict[str, System]] = {
    pulsar_pip430.NAME: System(
        name=pulsar_pip430.NAME,
        levels=ops.LEVELS,
        ops={op.name: op for op in ops.OPS},
        refusal=outcomes.Refused(outcomes.ErrorKind.ILLEGAL_ARGUMENT),
        read_outcome=answers.read_outcome,
        outcome_schema=answers.outcome_schema,
        shown={},
        declared_part=observation.declared_part,
        introspection=frozenset({"now", "bytes", "caches", "queue", "tombstones", "requeues"}),
        other_ops=weights.LEDGER_OPS,
        config=pulsar_pip430.Config,
        variants=Variants,
        initial=pulsar_pip430.initial,
        step=pulsar_pip430.step,
        check=laws.check,
        broken=laws.broken,
        liveness=(Rule.LIVENESS_1, Rule.LIVENESS_2),
        rules=tuple(rule for rule in Rule if rule.value.startswith("R-")),
        of_variants=weights.OF_VARIANTS,
        cells=CELLS,
        count_cells=count_cells,
        computed=lambda config: {"grace_millis": config.effective_grace_millis},
        unvaried=frozenset({"variants", "evict_by_mark_deleted"}),
        menu=weights.menu,
        plan=plan,
        themes={theme.value: theme for theme in Theme},
        smoke=smoke.CASES,
        state_name="queue",
        state_text=queue_text,
        unfit=unfit,
        blame=BLAME,
    ),
    kafka_streams.NAME: System(
        name=kafka_streams.NAME,
        levels=stream_ops.LEVELS,
        ops={op.name: op for op in stream_ops.OPS},
        refusal=stream_outcomes.Failed(stream_outcomes.ErrorKind.ILLEGAL_STATE),
        read_outcome=stream_answers.read_outcome,
        outcome_schema=stream_answers.outcome_schema,
        shown={stream_outcomes.Outcome: stream_answers.shown, dict: dict},
        declared_part=stream_answers.declared_part,
        introspection=stream_answers.OPTIONAL,
        other_ops=frozenset(),
        config=kafka_streams.Config,
        variants=kafka_streams.Variants,
        initial=kafka_streams.initial,
        step=kafka_streams.step,
        check=stream_laws.check,
        broken=stream_laws.broken,
        liveness=(Rule.K_LIVENESS_1, Rule.K_LIVENESS_2),
        rules=tuple(rule for rule in Rule if rule.value.startswith("K-")),
        of_variants=stream_weights.NOT_ASKED,
        cells=(),
        count_cells=lambda done, cells: None,
        computed=lambda config: {},
        unvaried=frozenset({"variants"}),
        menu=stream_weights.menu,
        plan=stream_plan,
        themes={theme.value: theme for theme in StreamTheme},
        smoke=stream_smoke.CASES,
        state_name="cache",
        state_text=state_text,
        unfit=stream_unfit,
        blame=STREAM_BLAME,
    ),
}
"""The systems that are built."""


def system_named(name: str) -> System:
    """The system of that name.

    Raises:
        UsageError: no such system; the line names those that there are.
    """
    if name not in SYSTEMS:
        raise UsageError(f"system {name!r} is not built; expected one of: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
