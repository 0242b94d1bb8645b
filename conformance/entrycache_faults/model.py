"""Seeded faults, and models: the reference of a system as a value, with some of its functions replaced.

A `Model` copies the functions of the reference into modules of its own and replaces some of them at their `Place`. The
modules of the reference do not change. So models live side by side, and a fault that calls a function of the reference
calls the right one. Classes are shared: states and outcomes of a model are equal to those of the reference. A method
still calls the functions of the reference.

A faulty model may never end a step. `limit_calls` bounds the calls of a block: a count is the same everywhere.

A `Fault` is an error in a reference. It names the rule that it breaks, says in a sentence what is wrong, and replaces
some functions of the reference; its `model` is the reference with that error. The faults of one reference stand in a
`FaultRegistry`. Each rule has one fault of its own, and some have others. They show that the law of a rule sees its
fault, and they explain failures: a subject that answers as a faulty model does has broken the rule of that fault.

Many faults are subjects too, under a public name such as `expire-at-the-cutoff`. `CASES_FOLDER` holds a short case for
each of these names, and `load_catalogue` reads them. A fault exists once: a name is either served by a faulty reference
(`reference/<system>/subjects.py`) or by a faulty fast cache (`fast/<system>.py`). The fast caches have only the faults
that no model can have, such as leaks, endless loops and sums that drift.
"""

import builtins
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, TypeVar

from entrycache_protocol import case, system
from entrycache_reference.rules import Rule

Place = str | type[Any]
"""The place of a replaced function: `module.function`, or the type of an operation.

A function that the module defines is replaced wherever it is used. One that the module imports is replaced in this
module only, and so is a built-in function. The function of an operation is replaced only where steps are dispatched.
"""

STEP_TABLE: Final = "step.FUNCTIONS"
"""The place of the table from operations to functions, in every system."""


def _value_at(package: str, place: str) -> Any:
    """Return the reference's value at a place; a built-in function has a place in every module that calls it."""
    module, _, name = place.rpartition(".")
    names = vars(import_module(f"{package}.{module}"))
    return names[name] if name in names else vars(builtins)[name]


class Model:
    """The reference of a system with some functions replaced; without any it behaves as the reference."""

    def __init__(self, package: str, replaced: Mapping[Place, object] | None = None) -> None:
        self.package = package
        self._modules: dict[str, ModuleType] = {}
        self._functions: dict[FunctionType, Any] = {}
        self.replaced = replaced = replaced or {}
        for place, function in replaced.items():
            if isinstance(place, str):
                there = self._there(place)
                if isinstance(there, FunctionType) and there.__module__ == self._module_of(place):
                    self._functions[there] = function
        self._copied(import_module(f"{package}.step"))
        for place, function in replaced.items():
            if isinstance(place, str):
                self._copied(self._original(place))
                vars(self._modules[self._module_of(place)])[_attribute_name(place)] = function
            else:
                names = vars(self._modules[self._module_of(STEP_TABLE)])
                names[_attribute_name(STEP_TABLE)] = {**names[_attribute_name(STEP_TABLE)], place: function}

    def __getitem__(self, place: str) -> Any:
        """Return the model's value at a place."""
        copied = self._modules.get(self._module_of(place)) or self._copied(self._original(place))
        return vars(copied)[_attribute_name(place)]

    @property
    def initial(self) -> Callable[[Any], Any]:
        """The function from a configuration to the first state of a run."""
        initial: Callable[[Any], Any] = self["state.initial"]
        return initial

    @property
    def step(self) -> Callable[[Any, Any, Any], Any]:
        """The function from a state, an event and a configuration to a step."""
        step: Callable[[Any, Any, Any], Any] = self["step.step"]
        return step

    def unreplaced(self, place: str) -> Any:
        """Return the model's copy of the reference's function at a place: it calls what this model calls."""
        there = self._there(place)
        copy = FunctionType(there.__code__, vars(self._copied(self._original(place))), there.__name__)
        copy.__defaults__, copy.__kwdefaults__ = there.__defaults__, there.__kwdefaults__
        return copy

    def own(self, value: Any) -> Any:
        """Return the model's own version of a function or module of the reference, and any other value unchanged."""
        return self._of(value)

    def _module_of(self, place: str) -> str:
        return f"{self.package}.{place.rpartition('.')[0]}"

    def _original(self, place: str) -> ModuleType:
        return import_module(self._module_of(place))

    def _there(self, place: str) -> Any:
        return _value_at(self.package, place)

    def _is_own(self, name: str | None) -> bool:
        return name is not None and name.startswith(f"{self.package}.")

    def _copied(self, module: ModuleType) -> ModuleType:
        """Return the model's copy of a module of the reference."""
        name = module.__name__
        if name not in self._modules:
            copy = self._modules[name] = ModuleType(name, module.__doc__)
            vars(copy).update(vars(module))  # functions that are copied meanwhile must see the whole module
            own = _names_to_copy(module, tuple(vars(module)), f"{self.package}.")
            vars(copy).update({key: self._of(vars(module)[key]) for key in own})
        return self._modules[name]

    def _of(self, value: Any) -> Any:
        """Return the model's own version of a value: functions and modules are copied, within tables too."""
        if isinstance(value, FunctionType):
            return self._function(value) if self._is_own(value.__module__) else value
        if isinstance(value, ModuleType):
            return self._copied(value) if self._is_own(value.__name__) else value
        if isinstance(value, partial):
            return partial(self._of(value.func), *map(self._of, value.args), **self._of(value.keywords))
        if isinstance(value, tuple | list) and type(value).__init__ in {tuple.__init__, list.__init__}:
            parts = [self._of(part) for part in value]
            if all(part is own for part, own in zip(parts, value, strict=True)):
                return value
            return type(value)._make(parts) if hasattr(value, "_make") else type(value)(parts)
        if type(value) is dict:
            return {key: self._of(part) for key, part in value.items()}
        return value

    def _function(self, value: FunctionType) -> Any:
        if value not in self._functions:
            cells = tuple(CellType() for _ in value.__closure__ or ())
            names = vars(self._copied(import_module(value.__module__)))
            if value in self._functions:  # it was copied together with its module
                return self._functions[value]
            copy = FunctionType(value.__code__, names, value.__name__, value.__defaults__, cells)
            self._functions[value] = copy
            copy.__kwdefaults__ = value.__kwdefaults__
            copy.__dict__.update(self._of(value.__dict__))
            for cell, own in zip(cells, value.__closure__ or (), strict=True):
                cell.cell_contents = self._of(own.cell_contents)
        return self._functions[value]


def _attribute_name(place: str) -> str:
    return place.rpartition(".")[2]


@cache
def _names_to_copy(module: ModuleType, names: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    """Return the names of a module whose values a model copies; every model shares the others, such as constants."""
    return tuple(name for name in names if _leads_to_code(vars(module)[name], prefix))


def _leads_to_code(value: Any, prefix: str) -> bool:
    """Return whether a value is, or holds, a function or module of this package."""
    if isinstance(value, FunctionType | ModuleType):
        name = value.__module__ if isinstance(value, FunctionType) else value.__name__
        return name is not None and name.startswith(prefix)
    if isinstance(value, partial):
        return True
    parts = value.values() if type(value) is dict else value if isinstance(value, tuple | list) else ()
    return any(_leads_to_code(part, prefix) for part in parts)


class CallLimitExceeded(Exception):
    """A block made more calls than it was allowed."""


@contextmanager
def limit_calls(most: int) -> Iterator[None]:
    """Allow at most so many calls and returns of functions in this block, then raise `CallLimitExceeded`.

    Under a profiler there is no bound, because Python has room for only one. The bound never stops a call of the
    garbage collector: Python would drop the exception there, and the bound with it.
    """
    left = most

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0 and event == "call" and str(frame.f_globals.get("__name__")).startswith("entrycache_"):
            raise CallLimitExceeded(f"more than {most} calls")

    if sys.getprofile() is not None:
        yield
        return
    sys.setprofile(counted)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def record_calls() -> Iterator[set[CodeType] | None]:
    """Record the code of each function that this block calls; None under a profiler, as with `limit_calls`."""
    codes: set[CodeType] = set()

    def record(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    if sys.getprofile() is not None:
        yield None
        return
    sys.setprofile(record)
    try:
        yield codes
    finally:
        sys.setprofile(None)


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

    @cached_property
    def codes(self) -> frozenset[CodeType] | None:
        """The code of the functions of the reference that this error replaces.

        It is None if the error replaces a constant, a class or a built-in function: that acts in every step.
        """
        table = _value_at(self.package, STEP_TABLE)
        values = [_value_at(self.package, at) if isinstance(at, str) else table.get(at) for at in self.replaced]
        functions = [value.func if isinstance(value, partial) else value for value in values]
        if not all(isinstance(function, FunctionType) for function in functions):
            return None
        return frozenset(function.__code__ for function in functions)

    def is_reached(self, codes: Set[CodeType]) -> bool:
        """Return whether a step of the reference that runs this code may come to this error."""
        return self.codes is None or not self.codes.isdisjoint(codes)


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


def load_catalogue(systems: system.Systems) -> dict[str, case.Case]:
    """Read the case of each seeded fault that is a subject, by name: the shortest case that shows the fault."""
    return {path.stem: case.read_case(path, systems) for path in sorted(CASES_FOLDER.glob("*.json"))}
