"""The planted faults of the references of all systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.model import Model
from entrycache_faults.seeded import Fault

OWN: Final[tuple[Fault, ...]] = tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.own)
"""One a rule."""

OTHERS: Final[tuple[Fault, ...]] = tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.others)
"""Other ways to break some."""

FAULT_OF: Final = {fault.rule: fault for fault in OWN}
"""That of each rule that has one."""


def flips() -> tuple[Fault, ...]:
    """Those that are derived from decision tables."""
    return tuple(fault for system in SYSTEMS.values() for fault in system.seeded_faults.flips())


# --- under
# The model that those checks play whose arguments are not ours to add to: contracts, and the tests of single rules.

_models: list[Model] = []


@contextmanager
def use_model(model: Model) -> Iterator[None]:
    """Such checks play this model until the end of the block."""
    _models.append(model)
    try:
        yield
    finally:
        _models.remove(model)


def current_model() -> Model | None:
    """The model of this moment; None: the reference itself."""
    return _models[-1] if _models else None


# --- heard
# Runs that tests of single rules play: they can be listened to.

RecordedRun = tuple[str, Any, tuple[Any, ...]]
"""A system's name, a configuration, operations."""

_listeners: list[list[RecordedRun]] = []


@contextmanager
def record_runs() -> Iterator[list[RecordedRun]]:
    """The runs that are played until the end of the block."""
    heard: list[RecordedRun] = []
    _listeners.append(heard)
    try:
        yield heard
    finally:
        _listeners.remove(heard)


def report_run(system: str, config: Any, events: tuple[Any, ...]) -> None:
    """Tell whoever listens that this run is played."""
    for heard in _listeners:
        heard.append((system, config, events))
