"""The systems of which something is shown by proof, exhaustion or contract; a system need not be here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_evidence.explore.parts import AnyWorld, within
from entrycache_evidence.kafka_streams.crowds import crowds as kafka_crowds
from entrycache_evidence.kafka_streams.large import large as kafka_large
from entrycache_evidence.kafka_streams.refined import REFINED as KAFKA_STREAMS_REFINED
from entrycache_evidence.kafka_streams.runs import runs
from entrycache_evidence.kafka_streams.worlds import small as kafka_streams
from entrycache_evidence.pulsar_legacy import worlds as pulsar_legacy
from entrycache_evidence.pulsar_legacy.crowds import crowds as legacy_crowds
from entrycache_evidence.pulsar_legacy.large import large as legacy_large
from entrycache_evidence.pulsar_pip430.crowds import crowds as pulsar_crowds
from entrycache_evidence.pulsar_pip430.large import large as pulsar_large
from entrycache_evidence.pulsar_pip430.refined import REFINED as PULSAR_PIP430_REFINED
from entrycache_evidence.pulsar_pip430.worlds import small as pulsar_pip430
from entrycache_evidence.pulsar_segmented import reads
from entrycache_evidence.pulsar_segmented import worlds as pulsar_segmented
from entrycache_evidence.pulsar_segmented.crowds import crowds as segmented_crowds
from entrycache_evidence.pulsar_segmented.large import large as segmented_large
from entrycache_evidence.pulsar_segmented.refined import REFINED as PULSAR_SEGMENTED_REFINED
from entrycache_evidence.pulsar_segmented.runs import runs as segmented_runs
from entrycache_evidence.refine.evidence import Refines
from entrycache_reference.kafka_streams import NAME as KAFKA_STREAMS
from entrycache_reference.pulsar_legacy import NAME as PULSAR_LEGACY
from entrycache_reference.pulsar_pip430 import NAME as PULSAR_PIP430
from entrycache_reference.pulsar_segmented import NAME as PULSAR_SEGMENTED

Runs = Callable[[], Iterable[tuple[Any, tuple[Any, ...]]]]

PROFILES: Final = ("ci", "long", "nightly")
"""How far to go: some two minutes, some ten, and the largest worlds too."""


QUICK_STEPS: Final = 5
"""How far a fast cache is walked beside the reference in a pull request."""


class Shown(NamedTuple):
    """What is shown of one system.

    `ci`, `long` and `nightly` are the worlds that are exhausted in a pull request, in a long run and in a night; `runs`
    are those on which the rules' own checks are tried besides generated ones; `large` and `crowds` are judged because
    no small world holds the like.

    `lemmas`: modules with lemmas for z3; `contracts`: the module that asks CrossHair, and `second` the one with a model
    for TLC, if there is one. `refined`: where a fast cache is held to the reference state by state. `alone`: a model
    that is not of the reference; it says a line for each thing that is not as it has to be.
    """

    ci: tuple[AnyWorld, ...]
    long: tuple[AnyWorld, ...]
    nightly: tuple[AnyWorld, ...]
    runs: Runs = tuple
    lemmas: tuple[str, ...] = ()
    contracts: str | None = None
    second: str | None = None
    large: Runs = tuple
    crowds: Runs = tuple
    refined: tuple[Refines, ...] = ()
    alone: Callable[[], list[str]] = list

    def of(self, profile: str) -> tuple[AnyWorld, ...]:
        """Those of a profile."""
        return {"ci": self.ci, "long": self.long, "nightly": self.nightly}[profile]


SHOWN: Final[Mapping[str, Shown]] = {
    PULSAR_PIP430: Shown(
        pulsar_pip430.CI,
        pulsar_pip430.LONG,
        pulsar_pip430.NIGHTLY,
        lemmas=(
            "entrycache_evidence.pulsar_pip430.induction.table",
            "entrycache_evidence.pulsar_pip430.induction.queue",
            "entrycache_evidence.pulsar_pip430.induction.fold",
            "entrycache_evidence.pulsar_pip430.induction.one_round",
            "entrycache_evidence.pulsar_pip430.induction.reads",
            "entrycache_evidence.pulsar_pip430.induction.doubles",
            "entrycache_evidence.pulsar_pip430.induction.bounds",
            "entrycache_evidence.pulsar_pip430.induction.steps",
        ),
        contracts="entrycache_evidence.pulsar_pip430.contracts.evidence",
        second="entrycache_evidence.pulsar_pip430.tlc.second",
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
            "entrycache_evidence.kafka_streams.induction.sums",
            "entrycache_evidence.kafka_streams.induction.shares",
            "entrycache_evidence.kafka_streams.induction.sizes",
            "entrycache_evidence.kafka_streams.induction.loops",
            "entrycache_evidence.kafka_streams.induction.calls",
            "entrycache_evidence.kafka_streams.induction.steps",
        ),
        second="entrycache_evidence.kafka_streams.tlc.second",
        large=kafka_large,
        crowds=kafka_crowds,
        refined=KAFKA_STREAMS_REFINED,
    ),
    PULSAR_LEGACY: Shown(
        pulsar_legacy.CI,
        pulsar_legacy.LONG,
        pulsar_legacy.NIGHTLY,
        lemmas=(
            "entrycache_evidence.pulsar_legacy.induction.steps",
            "entrycache_evidence.pulsar_legacy.induction.shares",
        ),
        large=legacy_large,
        crowds=legacy_crowds,
    ),
    PULSAR_SEGMENTED: Shown(
        pulsar_segmented.CI,
        pulsar_segmented.LONG,
        pulsar_segmented.NIGHTLY,
        segmented_runs,
        lemmas=(
            "entrycache_evidence.pulsar_segmented.induction.steps",
            "entrycache_evidence.pulsar_segmented.induction.shares",
        ),
        large=segmented_large,
        crowds=segmented_crowds,
        refined=PULSAR_SEGMENTED_REFINED,
        alone=reads.failures,
    ),
}


def refinements(profile: str) -> tuple[Refines, ...]:
    """Where the fast caches are held to the reference in a profile, in a pull request within `QUICK_STEPS`."""
    every = [asked for shown in SHOWN.values() for asked in shown.refined]
    if profile != PROFILES[0]:
        return tuple(every)
    return tuple(asked._replace(world=within(asked.world, QUICK_STEPS)) for asked in every if asked.is_quick)
