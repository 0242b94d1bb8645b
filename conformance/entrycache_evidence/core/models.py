"""Choose the model that checks play, and collect the runs of tests.

A seeded fault is a `Model`: the reference with some functions replaced. `FAULT_OF` has the fault of each rule. Most
checks take a model as an argument; contracts and the tests of single rules cannot, so `use_model` sets the model for a
block and `current_model` returns it. Tests of single rules report each run by `report_run`, and `record_runs` collects
these runs for the rulebook.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.model import Fault, Model

RULE_FAULTS: Final[tuple[Fault, ...]] = tuple(
    fault for system in SYSTEMS.values() for fault in system.seeded_faults.own
)
"""The seeded fault of each rule."""

OTHER_FAULTS: Final[tuple[Fault, ...]] = tuple(
    fault for system in SYSTEMS.values() for fault in system.seeded_faults.others
)
"""Further seeded faults, which break a rule in another way."""

FAULT_OF: Final = {fault.rule: fault for fault in RULE_FAULTS}
"""The seeded fault of each rule, by the rule."""


def derive_flips() -> tuple[Fault, ...]:
    """Return the seeded faults that are derived from decision tables."""
    return tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.flips())


# --- The model under test

_models: list[Model] = []


@contextmanager
def use_model(model: Model) -> Iterator[None]:
    """Let these checks play a model until the end of the block."""
    _models.append(model)
    try:
        yield
    finally:
        _models.remove(model)


def current_model() -> Model | None:
    """Return the model under test, or None for the reference itself."""
    return _models[-1] if _models else None


# --- Recorded runs

RecordedRun = tuple[str, Any, tuple[Any, ...]]
"""The name of a system, a configuration and the operations of a run."""

_listeners: list[list[RecordedRun]] = []


@contextmanager
def record_runs() -> Iterator[list[RecordedRun]]:
    """Collect the runs that are played until the end of the block."""
    runs: list[RecordedRun] = []
    _listeners.append(runs)
    try:
        yield runs
    finally:
        _listeners.remove(runs)


def report_run(system: str, config: Any, events: tuple[Any, ...]) -> None:
    """Add a run to the list of every active recorder."""
    for listener in _listeners:
        listener.append((system, config, events))
