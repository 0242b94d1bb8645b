"""The fast caches answer as the reference and hold the same state, held to it by state machines of Hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from entrycache import state_machine
from entrycache_conformance.state_machine import AnswerDiffers
from entrycache_evidence.kafka_streams import refinement as kafka
from entrycache_evidence.pulsar_pip430 import refinement as pip430
from entrycache_evidence.pulsar_segmented import bounded_models as segmented

Adapter = Callable[[Any], Any]

REFINEMENTS: dict[str, tuple[ModuleType, Adapter]] = {
    "pulsar-pip430": (pip430, lambda instance: instance.adapter),
    "kafka-streams": (kafka, lambda step: step.__self__),
    "pulsar-segmented": (segmented, lambda adapter: adapter),
}
"""The abstraction of each fast cache, and the way to the adapter of an instance."""

QUICK = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=(Phase.generate,))


def machine_of(system: str, level: str) -> Any:
    """Return the machine of a fast cache, whose invariant also compares the states."""
    refinement, adapter_of = REFINEMENTS[system]

    class Refined(state_machine("fast", system, level)):  # type: ignore[misc]
        """The machine of a fast cache."""

        @invariant()
        def the_states_are_equal(self) -> None:
            wanted = refinement.comparable_state(self.reference_state)
            assert refinement.abstract_state(adapter_of(self.subject)) == wanted

    return Refined


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "level", "examples"),
    [
        ("pulsar-pip430", "range", 10),
        ("pulsar-pip430", "queue", 15),
        ("pulsar-pip430", "manager", 15),
        ("pulsar-pip430", "reads", 20),
        ("pulsar-pip430", "cursors", 40),
        ("kafka-streams", "cache", 40),
        ("kafka-streams", "store", 40),
        ("kafka-streams", "views", 40),
        ("pulsar-segmented", "all", 60),
    ],
)
def test_equal(system: str, level: str, examples: int) -> None:
    run_state_machine_as_test(machine_of(system, level), settings=settings(QUICK, max_examples=examples))


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "level", "fault"),
    [
        ("pulsar-pip430", "queue", "expire-at-the-cutoff"),
        ("kafka-streams", "cache", "streams-clear-keeps-bytes"),
        ("pulsar-segmented", "all", "segmented-usage-keeps-growing"),
    ],
)
def test_a_fault_is_caught(system: str, level: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(AnswerDiffers):
        machine = seed(0)(state_machine(fault, system, level, failures=tmp_path))
        run_state_machine_as_test(machine, settings=settings(QUICK, max_examples=300))
