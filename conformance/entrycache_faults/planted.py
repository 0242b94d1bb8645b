"""A planted fault of a reference, and the list that decorated functions are entered in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from entrycache_faults.model import Model, Place
from entrycache_reference.rules import Rule

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Fault:
    """An error in the reference: the rule that it breaks, a sentence, and what stands in place of what.

    `is_other`: its rule has a fault of its own already; this is one more way to break it.
    """

    rule: Rule
    note: str
    package: str
    replaced: Mapping[Place, object]
    is_other: bool = False

    @cached_property
    def model(self) -> Model:
        """The reference with this error."""
        return Model(self.package, self.replaced)


class Faults:
    """The planted faults of one reference, in the order of their definition."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.planted: list[Fault] = []

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.planted)

    def plant(self, rule: Rule, *places: Place, other: bool = False) -> Callable[[_Function], _Function]:
        """Enter the decorated function: it stands in these places, and its docstring is the sentence."""

        def enter(function: _Function) -> _Function:
            note = " ".join((function.__doc__ or "").split())
            self.planted.append(Fault(rule, note, self.package, dict.fromkeys(places, function), other))
            return function

        return enter

    @property
    def own(self) -> tuple[Fault, ...]:
        """One a rule."""
        return tuple(fault for fault in self if not fault.is_other)

    @property
    def others(self) -> tuple[Fault, ...]:
        """Other ways to break a rule."""
        return tuple(fault for fault in self if fault.is_other)
