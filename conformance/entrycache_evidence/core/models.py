"""Choose the model that checks play, and collect the runs of tests.

A seeded fault is a `Model`: the reference with some functions replaced. `FAULT_OF` has the fault of each rule. Most
checks take a model as an argument; contracts and the tests of single rules cannot, so `use_model` sets the model for a
block and `current_model` returns it. Tests of single rules report each run by `report_run`, and `record_runs` collects
these runs for the rulebook.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from entrycache_conformance.judge import Definition
from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.model import Fault, Model
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

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


# --- The definitions and frame conditions of a system, which check its steps in addition to the laws of its rules
#
# A *definition* computes a step a second time, in another way than the reference does. A *frame condition* lists the
# aspects of the state that an operation may change. Both stand in the folder of their system and are imported when they
# are needed. A run of the reference passes the definition to `checked_step`. The model checker and the rulebook call
# `build_check`, which checks the laws first, and the definition only if no law is broken.

DEFINED_IN: Final[Mapping[str, str]] = {
    "entrycache_reference.pulsar_pip430": "entrycache_evidence.pulsar_pip430.definitions",
    "entrycache_reference.pulsar_legacy": "entrycache_evidence.pulsar_legacy.definitions",
    "entrycache_reference.pulsar_segmented": "entrycache_evidence.pulsar_segmented.definitions",
    "entrycache_reference.kafka_streams": "entrycache_evidence.kafka_streams.definitions",
}
"""The module that defines the operations of a reference, by the package of the reference."""

Check = Callable[[Any, Any, Any, Any, dict[Rule, int]], tuple[Rule, ...]]
"""Return the broken rules of a step: configuration, state, operation, step, and the counts of rules that fired."""

MayChange = Mapping[Any, Any]
"""The aspects of the state that may change, each with the part of the state in which it may."""


def find_definition(system: AnySystem) -> Definition | None:
    """Return the definition of a system; None if the system has none."""
    module = _module(system)
    return None if module is None else module.check_definition


def find_may_change(system: AnySystem) -> Mapping[type[Any], MayChange]:
    """Return the changes that each operation may make; empty if the system declares nothing."""
    module = _module(system)
    return {} if module is None else module.MAY_CHANGE


def find_may_change_between_parts(system: AnySystem) -> Mapping[type[Any], MayChange]:
    """Return the changes that some operations may make between their parts."""
    module = _module(system)
    return {} if module is None else module.BETWEEN_PARTS


def build_check(system: AnySystem) -> Check:
    """Build the check of a step: it returns the rules whose laws are broken, else those that the definition names."""
    broken, definition = system.laws.broken, find_definition(system)

    def check(config: Any, pre: Any, event: Any, step: Any, fired: dict[Rule, int]) -> tuple[Rule, ...]:
        wrong: tuple[Rule, ...] = broken(config, pre, event, step, fired)
        return wrong if wrong or definition is None else definition(config, pre, event, step)

    return check


def _module(system: AnySystem) -> ModuleType | None:
    package, reference, *_ = next(iter(system.ops.values())).__module__.split(".")
    place = DEFINED_IN.get(f"{package}.{reference}")
    return None if place is None else import_module(place)
