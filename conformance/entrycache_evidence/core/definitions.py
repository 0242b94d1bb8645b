"""Find the definitions and frame conditions of a system, which check its steps in addition to the laws of its rules.

A *definition* computes a step a second time, in another way than the reference does. A *frame condition* lists the
aspects of the state that an operation may change. Both stand in the folder of their system and are imported when they
are needed. A run of the reference passes the definition to `checked_step`. The model checker and the rulebook call
`build_check`, which checks the laws first, and the definition only if no law is broken.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from entrycache_conformance.judge import Definition
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

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
