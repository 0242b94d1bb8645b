"""List the evidence about each system: its bounded models, lemmas, contracts, stress runs and refinements.

`SYSTEM_EVIDENCE` maps the name of a system to its `SystemEvidence` record. Modules that need z3, CrossHair or Java are
named by strings and imported only when `prove` needs them. A system without proofs need not be listed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_evidence.kafka_streams import bounded_models as kafka_streams
from entrycache_evidence.kafka_streams.large_states import generate_runs_from_large_states as kafka_large_states
from entrycache_evidence.kafka_streams.refinement import REFINED as KAFKA_STREAMS_REFINED
from entrycache_evidence.kafka_streams.runs import generate_runs
from entrycache_evidence.kafka_streams.stress import generate_crowded_runs as kafka_crowded_runs
from entrycache_evidence.kafka_streams.stress import generate_large_runs as kafka_large_runs
from entrycache_evidence.model_checker import checker, refinement
from entrycache_evidence.pulsar_legacy import bounded_models as pulsar_legacy
from entrycache_evidence.pulsar_legacy.stress import generate_crowded_runs as legacy_crowded_runs
from entrycache_evidence.pulsar_legacy.stress import generate_large_runs as legacy_large_runs
from entrycache_evidence.pulsar_legacy.stress import generate_runs_from_large_states as legacy_large_states
from entrycache_evidence.pulsar_pip430 import bounded_models as pulsar_pip430
from entrycache_evidence.pulsar_pip430.large_states import generate_runs_from_large_states as pulsar_large_states
from entrycache_evidence.pulsar_pip430.refinement import REFINED as PULSAR_PIP430_REFINED
from entrycache_evidence.pulsar_pip430.stress import generate_crowded_runs as pulsar_crowded_runs
from entrycache_evidence.pulsar_pip430.stress import generate_large_runs as pulsar_large_runs
from entrycache_evidence.pulsar_segmented import bounded_models as pulsar_segmented
from entrycache_evidence.pulsar_segmented import interleavings
from entrycache_evidence.pulsar_segmented.bounded_models import REFINED as PULSAR_SEGMENTED_REFINED
from entrycache_evidence.pulsar_segmented.stress import generate_crowded_runs as segmented_crowded_runs
from entrycache_evidence.pulsar_segmented.stress import generate_large_runs as segmented_large_runs
from entrycache_evidence.pulsar_segmented.stress import generate_runs as segmented_runs
from entrycache_evidence.pulsar_segmented.stress import generate_runs_from_large_states as segmented_large_states
from entrycache_reference.kafka_streams import NAME as KAFKA_STREAMS
from entrycache_reference.pulsar_legacy import NAME as PULSAR_LEGACY
from entrycache_reference.pulsar_pip430 import NAME as PULSAR_PIP430
from entrycache_reference.pulsar_segmented import NAME as PULSAR_SEGMENTED

Runs = Callable[[], Iterable[tuple[Any, tuple[Any, ...]]]]

PROFILES: Final = ("ci", "long", "nightly")
"""The profiles: some two minutes, some ten, and the largest models too."""


QUICK_STEPS: Final = 5
"""The number of steps for which a fast cache is compared with the reference in a pull request."""


class SystemEvidence(NamedTuple):
    """The evidence about one system.

    `ci`, `long` and `nightly` are the bounded models of a pull request, a long run and a night. `runs` are runs that
    try the rules besides generated ones. `large_runs`, `crowded_runs` and `large_states` are stress runs; the last ones
    begin in states with as many items of each collection as requested. `lemmas` names modules with lemmas for z3,
    `contracts` the module with contracts for CrossHair, and `second` the one with a model for TLC. `refined` are the
    refinements of a fast cache. `alone` checks a model that is not of the reference, and returns a line for each
    unexpected result.
    """

    ci: tuple[checker.AnyBoundedModel, ...]
    long: tuple[checker.AnyBoundedModel, ...]
    nightly: tuple[checker.AnyBoundedModel, ...]
    runs: Runs = tuple
    lemmas: tuple[str, ...] = ()
    contracts: str | None = None
    second: str | None = None
    large_runs: Runs = tuple
    crowded_runs: Runs = tuple
    large_states: Callable[[int], Iterable[tuple[Any, tuple[Any, ...]]]] = lambda large: ()
    refined: tuple[refinement.RefinementTask, ...] = ()
    alone: Callable[[], list[str]] = list

    def models_of(self, profile: str) -> tuple[checker.AnyBoundedModel, ...]:
        """Return the bounded models of a profile."""
        return {"ci": self.ci, "long": self.long, "nightly": self.nightly}[profile]


SYSTEM_EVIDENCE: Final[Mapping[str, SystemEvidence]] = {
    PULSAR_PIP430: SystemEvidence(
        pulsar_pip430.CI,
        pulsar_pip430.LONG,
        pulsar_pip430.NIGHTLY,
        lemmas=(
            "entrycache_evidence.pulsar_pip430.induction.decision",
            "entrycache_evidence.pulsar_pip430.induction.pass_lemmas",
            "entrycache_evidence.pulsar_pip430.induction.reads",
            "entrycache_evidence.pulsar_pip430.induction.ledger_loops",
            "entrycache_evidence.pulsar_pip430.induction.pending_loops",
            "entrycache_evidence.pulsar_pip430.induction.thresholds",
            "entrycache_evidence.pulsar_pip430.induction.steps",
        ),
        contracts="entrycache_evidence.pulsar_pip430.contracts.evidence",
        second="entrycache_evidence.pulsar_pip430.tla_model",
        large_runs=pulsar_large_runs,
        crowded_runs=pulsar_crowded_runs,
        large_states=pulsar_large_states,
        refined=PULSAR_PIP430_REFINED,
    ),
    KAFKA_STREAMS: SystemEvidence(
        kafka_streams.CI,
        kafka_streams.LONG,
        kafka_streams.NIGHTLY,
        generate_runs,
        lemmas=(
            "entrycache_evidence.kafka_streams.size_lemmas",
            "entrycache_evidence.kafka_streams.loop_lemmas",
            "entrycache_evidence.kafka_streams.step_lemmas",
        ),
        second="entrycache_evidence.kafka_streams.tla_model",
        large_runs=kafka_large_runs,
        crowded_runs=kafka_crowded_runs,
        large_states=kafka_large_states,
        refined=KAFKA_STREAMS_REFINED,
    ),
    PULSAR_LEGACY: SystemEvidence(
        pulsar_legacy.CI,
        pulsar_legacy.LONG,
        pulsar_legacy.NIGHTLY,
        lemmas=("entrycache_evidence.pulsar_legacy.lemmas",),
        large_runs=legacy_large_runs,
        crowded_runs=legacy_crowded_runs,
        large_states=legacy_large_states,
    ),
    PULSAR_SEGMENTED: SystemEvidence(
        pulsar_segmented.CI,
        pulsar_segmented.LONG,
        pulsar_segmented.NIGHTLY,
        segmented_runs,
        lemmas=("entrycache_evidence.pulsar_segmented.lemmas",),
        large_runs=segmented_large_runs,
        crowded_runs=segmented_crowded_runs,
        large_states=segmented_large_states,
        refined=PULSAR_SEGMENTED_REFINED,
        alone=interleavings.list_failures,
    ),
}


def list_refinements(
    profile: str, systems: Collection[str] = SYSTEM_EVIDENCE.keys()
) -> tuple[refinement.RefinementTask, ...]:
    """Return the refinements of a profile; those of a pull request are limited to `QUICK_STEPS`."""
    every = [task for name, evidence in SYSTEM_EVIDENCE.items() if name in systems for task in evidence.refined]
    if profile != PROFILES[0]:
        return tuple(every)
    return tuple(task._replace(scope=checker.limit_depth(task.scope, QUICK_STEPS)) for task in every if task.is_quick)
