"""Seeded faults: deliberate errors that the suite has to find.

A `Fault` is an error in a reference. It names the rule that it breaks, says in a sentence what is wrong, and replaces
some functions of the reference; its `model` is the reference with that error. The faults of one reference stand in a
`FaultRegistry`. Each rule has one fault of its own, and some have others. They show that the law of a rule sees its
fault, and they explain failures: a subject that answers as a faulty model does has broken the rule of that fault.

Many faults are subjects too, under a public name such as `expire-at-the-cutoff`. `CASES_FOLDER` holds a short case for
each of these names, and `load_catalogue` reads them. A fault exists once: a name is either served by a faulty reference
(`reference/<system>/subjects.py`) or by a faulty fast cache (`fast/<system>.py`). The fast caches have only the faults
that no model can have, such as leaks, endless loops and sums that drift.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from entrycache_faults.model import Model, Place
from entrycache_protocol.case import Case, read_case
from entrycache_protocol.system import Systems
from entrycache_reference.rules import Rule

_Function = TypeVar("_Function", bound=Callable[..., Any])

CASES_FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True, eq=False)
class Fault:
    """An error in a reference: the rule that it breaks, a sentence, and the functions that it replaces.

    `is_other` marks a further fault of a rule that has one of its own. `module` is the name of the module that defines
    the fault. `variant` holds the values of a fault that is a variant of the reference.
    """

    rule: Rule
    note: str
    package: str
    replaced: Mapping[Place, object]
    is_other: bool = False
    module: str = ""
    variant: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The reference with this error."""
        return Model(self.package, self.replaced)


class FaultRegistry:
    """The seeded faults of one reference: first the own fault of each rule, then the others, in the order of rules."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._faults: list[Fault] = []

    def __iter__(self) -> Iterator[Fault]:
        order = {rule: at for at, rule in enumerate(Rule)}
        return iter(sorted(self._faults, key=lambda fault: (fault.is_other, order[fault.rule])))

    def register(
        self, rule: Rule, *places: Place, other: bool = False, further: Mapping[Place, object] | None = None
    ) -> Callable[[_Function], _Function]:
        """Register the decorated function in these places; the first paragraph of its docstring is the note.

        `other` says that the rule has a fault of its own already. `further` holds further replacements.
        """

        def enter(function: _Function) -> _Function:
            note = " ".join((function.__doc__ or "").split("\n\n")[0].split())
            replaced = {**dict.fromkeys(places, function), **(further or {})}
            module = function.__module__.rpartition(".")[2]
            self._faults.append(Fault(rule, note, self.package, replaced, other, module))
            return function

        return enter

    def register_constants(self, rule: Rule, note: str, **values: object) -> None:
        """Register other constants as a further fault of a rule; each place is written with `__` for its dot."""
        replaced: dict[Place, object] = {place.replace("__", "."): value for place, value in values.items()}
        self._faults.append(Fault(rule, note, self.package, replaced, is_other=True))

    def register_variant(self, note: str, *rules: Rule, **values: object) -> None:
        """Register a variant of the reference, once for each rule of the default behaviour that it breaks."""
        norm = import_module(f"{self.package}.step").step

        def step(state: Any, event: Any, config: Any) -> Any:
            variants = dataclasses.replace(config.variants, **values)
            return norm(state, event, dataclasses.replace(config, variants=variants))

        replaced: dict[Place, object] = {"step.step": step}
        self._faults += [Fault(rule, note, self.package, replaced, True, variant=values) for rule in rules]

    def find(self, function: Callable[..., Any]) -> Fault:
        """Return the fault that a function is registered as."""
        return next(fault for fault in self._faults if function in fault.replaced.values())

    def find_variant(self, rule: Rule, **values: object) -> Fault:
        """Return the fault of a rule that is a variant with exactly these values."""
        return next(fault for fault in self._faults if fault.rule is rule and fault.variant == values)

    @property
    def own(self) -> tuple[Fault, ...]:
        """One fault for each rule."""
        return tuple(fault for fault in self if not fault.is_other)

    @property
    def others(self) -> tuple[Fault, ...]:
        """The further faults of rules that have one of their own."""
        return tuple(fault for fault in self if fault.is_other)


def load_catalogue(systems: Systems) -> dict[str, Case]:
    """Read the case of each seeded fault that is a subject, by name: the shortest case that shows the fault."""
    return {path.stem: read_case(path, systems) for path in sorted(CASES_FOLDER.glob("*.json"))}
