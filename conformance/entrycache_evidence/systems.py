"""List the evidence about each system: its bounded models, lemmas, contracts, stress runs and refinements.

`SHOWN` maps the name of a system to its `Shown` record. Modules that need z3, CrossHair or Java are named by strings
and imported only when `prove` needs them. A system without proofs need not be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_evidence.kafka_streams import bounded_models as kafka_streams
from entrycache_evidence.kafka_streams.refinement import REFINED as KAFKA_STREAMS_REFINED
from entrycache_evidence.kafka_streams.runs import runs
from entrycache_evidence.kafka_streams.stress import crowds as kafka_crowds
from entrycache_evidence.kafka_streams.stress import large as kafka_large
from entrycache_evidence.model_checker.checker import AnyBoundedModel, limit
from entrycache_evidence.model_checker.refinement import Refines
from entrycache_evidence.pulsar_legacy import bounded_models as pulsar_legacy
from entrycache_evidence.pulsar_legacy.stress import crowds as legacy_crowds
from entrycache_evidence.pulsar_legacy.stress import large as legacy_large
from entrycache_evidence.pulsar_pip430 import bounded_models as pulsar_pip430
from entrycache_evidence.pulsar_pip430.refinement import REFINED as PULSAR_PIP430_REFINED
from entrycache_evidence.pulsar_pip430.stress import crowds as pulsar_crowds
from entrycache_evidence.pulsar_pip430.stress import large as pulsar_large
from entrycache_evidence.pulsar_segmented import bounded_models as pulsar_segmented
from entrycache_evidence.pulsar_segmented import interleavings
from entrycache_evidence.pulsar_segmented.refinement import REFINED as PULSAR_SEGMENTED_REFINED
from entrycache_evidence.pulsar_segmented.stress import crowds as segmented_crowds
from entrycache_evidence.pulsar_segmented.stress import large as segmented_large
from entrycache_evidence.pulsar_segmented.stress import runs as segmented_runs
from entrycache_reference.kafka_streams import NAME as KAFKA_STREAMS
from entrycache_reference.pulsar_legacy import NAME as PULSAR_LEGACY
from entrycache_reference.pulsar_pip430 import NAME as PULSAR_PIP430
from entrycache_reference.pulsar_segmented import NAME as PULSAR_SEGMENTED

Runs = Callable[[], Iterable[tuple[Any, tuple[Any, ...]]]]

PROFILES: Final = ("ci", "long", "nightly")
"""The profiles: some two minutes, some ten, and the largest models too."""


QUICK_STEPS: Final = 5
"""The number of steps that a fast cache is walked beside the reference in a pull request."""


class Shown(NamedTuple):
    """The evidence about one system.

    `ci`, `long` and `nightly` are the bounded models of a pull request, a long run and a night. `runs` are runs that
    try the rules besides generated ones; `large` and `crowds` are stress runs. `lemmas` names modules with lemmas for
    z3, `contracts` the module that asks CrossHair, and `second` the one with a model for TLC. `refined` are the
    refinements of a fast cache. `alone` checks a model that is not of the reference, and returns a line for each
    unexpected result.
    """

    ci: tuple[AnyBoundedModel, ...]
    long: tuple[AnyBoundedModel, ...]
    nightly: tuple[AnyBoundedModel, ...]
    runs: Runs = tuple
    lemmas: tuple[str, ...] = ()
    contracts: str | None = None
    second: str | None = None
    large: Runs = tuple
    crowds: Runs = tuple
    refined: tuple[Refines, ...] = ()
    alone: Callable[[], list[str]] = list

    def of(self, profile: str) -> tuple[AnyBoundedModel, ...]:
        """Return the bounded models of a profile."""
        return {"ci": self.ci, "long": self.long, "nightly": self.nightly}[profile]


SHOWN: Final[Mapping[str, Shown]] = {
    PULSAR_PIP430: Shown(
        pulsar_pip430.CI,
        pulsar_pip430.LONG,
        pulsar_pip430.NIGHTLY,
        lemmas=(
            "entrycache_evidence.pulsar_pip430.induction.decision",
            "entrycache_evidence.pulsar_pip430.induction.queue",
            "entrycache_evidence.pulsar_pip430.induction.pass_lemmas",
            "entrycache_evidence.pulsar_pip430.induction.reads",
            "entrycache_evidence.pulsar_pip430.induction.thresholds",
            "entrycache_evidence.pulsar_pip430.induction.steps",
        ),
        contracts="entrycache_evidence.pulsar_pip430.contracts.evidence",
        second="entrycache_evidence.pulsar_pip430.tla_model",
        large=pulsar_large,
        crowds=pulsar_crowds,
        refined=PULSAR_PIP430_REFINED,
    ),
    KAFKA_STREAMS: Shown(
        kafka_streams.CI,
        kafka_streams.LONG,
        kafka_streams.NIGHTLY,
        runs,
        lemmas=(
            "entrycache_evidence.kafka_streams.size_lemmas",
            "entrycache_evidence.kafka_streams.loop_lemmas",
            "entrycache_evidence.kafka_streams.step_lemmas",
        ),
        second="entrycache_evidence.kafka_streams.tla_model",
        large=kafka_large,
        crowds=kafka_crowds,
        refined=KAFKA_STREAMS_REFINED,
    ),
    PULSAR_LEGACY: Shown(
        pulsar_legacy.CI,
        pulsar_legacy.LONG,
        pulsar_legacy.NIGHTLY,
        lemmas=("entrycache_evidence.pulsar_legacy.lemmas",),
        large=legacy_large,
        crowds=legacy_crowds,
    ),
    PULSAR_SEGMENTED: Shown(
        pulsar_segmented.CI,
        pulsar_segmented.LONG,
        pulsar_segmented.NIGHTLY,
        segmented_runs,
        lemmas=("entrycache_evidence.pulsar_segmented.lemmas",),
        large=segmented_large,
        crowds=segmented_crowds,
        refined=PULSAR_SEGMENTED_REFINED,
        alone=interleavings.failures,
    ),
}


def refinements(profile: str) -> tuple[Refines, ...]:
    """Return the refinements of a profile; those of a pull request are limited to `QUICK_STEPS`."""
    every = [asked for shown in SHOWN.values() for asked in shown.refined]
    if profile != PROFILES[0]:
        return tuple(every)
    return tuple(asked._replace(world=limit(asked.world, QUICK_STEPS)) for asked in every if asked.is_quick)
