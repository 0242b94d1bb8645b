"""What the suite has to know of a system: its vocabulary, its reference, its laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_conformance.pulsar_pip430 import observation
from entrycache_reference import pulsar_pip430
from entrycache_reference.errors import UsageError
from entrycache_reference.pulsar_pip430 import laws, ops, outcomes
from entrycache_reference.pulsar_pip430.config import Variants
from entrycache_reference.rules import Rule


class System(NamedTuple):
    """One cache system. Functions take and give the system's own state, events and outcomes."""

    name: str
    levels: tuple[str, ...]
    ops: Mapping[str, type[Any]]
    outcomes: Mapping[type[Any], type[Any]]
    refused: type[Any]
    read_observed: Callable[[Any, frozenset[str]], Any]
    declared_part: Callable[[Any, frozenset[str]], Any]
    config: type[Any]
    variants: type[Any]
    initial: Callable[[Any], Any]
    step: Callable[[Any, Any, Any], Any]
    check: Callable[[Any, Any, Any, Any, dict[Rule, int]], tuple[Rule, ...]]
    broken: Callable[[Any, Any, Any, Any], tuple[Rule, ...]]
    answer_laws: frozenset[Rule]

    def own_ops(self, level: str) -> frozenset[str]:
        """The names of the operations that a level adds; `observe` belongs to every level and so to none."""
        return frozenset(name for name, op in self.ops.items() if op.level == level and name != "observe")

    def ops_up_to(self, level: str) -> tuple[str, ...]:
        """The names of the operations of a level and of every level above it in the protocol."""
        wanted = self.levels[: self.levels.index(level) + 1]
        return tuple(name for name, op in self.ops.items() if op.level in wanted)


SYSTEMS: Final[dict[str, System]] = {
    pulsar_pip430.NAME: System(
        pulsar_pip430.NAME,
        ops.LEVELS,
        {op.name: op for op in ops.OPS},
        laws.ANSWERS,
        outcomes.Refused,
        observation.read_observed,
        observation.declared_part,
        pulsar_pip430.Config,
        Variants,
        pulsar_pip430.initial,
        pulsar_pip430.step,
        laws.check,
        laws.broken,
        laws.ANSWER_LAWS,
    )
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
