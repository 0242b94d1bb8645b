"""A planted fault of a reference, and the list that decorated functions are entered in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from entrycache_faults.model import Model, Place
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.system import Systems
from entrycache_reference.rules import Rule

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Fault:
    """An error in the reference: the rule that it breaks, a sentence, and what stands in place of what.

    `is_other`: its rule has a fault of its own already; this is one more way to break it. `theme`: what it is about, by
    the name of the module that it is planted in.
    """

    rule: Rule
    note: str
    package: str
    replaced: Mapping[Place, object]
    is_other: bool = False
    theme: str = ""

    @cached_property
    def model(self) -> Model:
        """The reference with this error."""
        return Model(self.package, self.replaced)


class FaultRegistry:
    """The planted faults of one reference: one a rule, then others, each in the order of rules."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._planted: list[Fault] = []

    def __iter__(self) -> Iterator[Fault]:
        order = {rule: at for at, rule in enumerate(Rule)}
        return iter(sorted(self._planted, key=lambda fault: (fault.is_other, order[fault.rule])))

    def register(
        self, rule: Rule, *places: Place, other: bool = False, beside: Mapping[Place, object] | None = None
    ) -> Callable[[_Function], _Function]:
        """Enter the decorated function in these places; its docstring, up to a blank line, is the sentence.

        `other`: the rule has a fault of its own already; `beside`: what else the fault replaces.
        """

        def enter(function: _Function) -> _Function:
            note = " ".join((function.__doc__ or "").split("\n\n")[0].split())
            replaced = {**dict.fromkeys(places, function), **(beside or {})}
            theme = function.__module__.rpartition(".")[2]
            self._planted.append(Fault(rule, note, self.package, replaced, other, theme))
            return function

        return enter

    def register_constants(self, rule: Rule, note: str, **values: object) -> None:
        """Enter one more way to break a rule: other constants, by their place with `__` for a dot."""
        replaced: dict[Place, object] = {place.replace("__", "."): value for place, value in values.items()}
        self._planted.append(Fault(rule, note, self.package, replaced, is_other=True))

    def register_variant(self, note: str, *rules: Rule, **values: object) -> None:
        """Enter a variant of the reference, once for each rule of the norm that it breaks."""
        norm = import_module(f"{self.package}.step").step

        def step(state: Any, event: Any, config: Any) -> Any:
            variants = dataclasses.replace(config.variants, **values)
            return norm(state, event, dataclasses.replace(config, variants=variants))

        self._planted += [Fault(rule, note, self.package, {"step.step": step}, is_other=True) for rule in rules]

    @property
    def own(self) -> tuple[Fault, ...]:
        """One a rule."""
        return tuple(fault for fault in self if not fault.is_other)

    @property
    def others(self) -> tuple[Fault, ...]:
        """Other ways to break a rule."""
        return tuple(fault for fault in self if fault.is_other)


# --- catalogue
# The case files of the planted faults that are subjects: of our fast caches, and of a reference that has none.

CASES_FOLDER = Path(__file__).parent / "cases"


def load_catalogue(systems: Systems) -> dict[str, Case]:
    """The planted faults by name, each with the shortest case that shows it."""
    return {path.stem: read_case(path, systems) for path in sorted(CASES_FOLDER.glob("*.json"))}
