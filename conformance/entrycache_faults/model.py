"""A model: the reference of a system as a value, with some of its functions replaced.

The functions of the reference are made anew, around names of their own; the modules of the reference stay as they
are. So models live side by side, and a fault that calls a function of the reference calls the right one. Classes are
shared: states and outcomes of a model are equal to those of the reference. A method calls what it always called.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, Final

Place = str | type[Any]
"""Where a function is replaced: `module.function`, or an operation, by its type.

A function that the module defines is replaced wherever it is used, one that it has from elsewhere in this module
only, and that of an operation only where steps are dispatched. A built-in function is one from elsewhere.
"""

STEP_TABLE: Final = "step.FUNCTIONS"
"""The place of the table from operations to functions, in every system."""


class Model:
    """The reference of a system with these functions replaced; without any it does what the reference does."""

    def __init__(self, package: str, replaced: Mapping[Place, object] | None = None) -> None:
        self.package = package
        self._modules: dict[str, ModuleType] = {}
        self._functions: dict[FunctionType, Any] = {}
        self.replaced = replaced = replaced or {}
        for place, made in replaced.items():
            if isinstance(place, str):
                there = self._there(place)
                if isinstance(there, FunctionType) and there.__module__ == self._module_of(place):
                    self._functions[there] = made
        self._copied(import_module(f"{package}.step"))
        for place, made in replaced.items():
            if isinstance(place, str):
                self._copied(self._original(place))
                vars(self._modules[self._module_of(place)])[_attribute_name(place)] = made
            else:
                names = vars(self._modules[self._module_of(STEP_TABLE)])
                names[_attribute_name(STEP_TABLE)] = {**names[_attribute_name(STEP_TABLE)], place: made}

    def __getitem__(self, place: str) -> Any:
        """What the model has at a place."""
        copied = self._modules.get(self._module_of(place)) or self._copied(self._original(place))
        return vars(copied)[_attribute_name(place)]

    @property
    def initial(self) -> Callable[[Any], Any]:
        """The state that a run begins with, by its configuration."""
        found: Callable[[Any], Any] = self["state.initial"]
        return found

    @property
    def step(self) -> Callable[[Any, Any, Any], Any]:
        """What one event makes of a state."""
        found: Callable[[Any, Any, Any], Any] = self["step.step"]
        return found

    def own(self, value: Any) -> Any:
        """The model's own version of a function or module of the reference; of anything else, that itself."""
        return self._of(value)

    def _module_of(self, place: str) -> str:
        return f"{self.package}.{place.rpartition('.')[0]}"

    def _original(self, place: str) -> ModuleType:
        return import_module(self._module_of(place))

    def _there(self, place: str) -> Any:
        """What the reference has at a place; a built-in function stands in every module that calls it."""
        names = vars(self._original(place))
        return (
            names[_attribute_name(place)] if _attribute_name(place) in names else vars(builtins)[_attribute_name(place)]
        )

    def _is_own(self, name: str | None) -> bool:
        return name is not None and name.startswith(f"{self.package}.")

    def _copied(self, module: ModuleType) -> ModuleType:
        """The model's copy of a module of the reference."""
        name = module.__name__
        if name not in self._modules:
            copy = self._modules[name] = ModuleType(name, module.__doc__)
            vars(copy).update(vars(module))  # so that functions that are made on the way see the whole module
            vars(copy).update({key: self._of(value) for key, value in vars(module).items()})
        return self._modules[name]

    def _of(self, value: Any) -> Any:
        """The model's own version of a value: functions and modules made anew, also within tables."""
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
            if value in self._functions:  # made while its module was copied
                return self._functions[value]
            made = FunctionType(value.__code__, names, value.__name__, value.__defaults__, cells)
            self._functions[value] = made
            made.__kwdefaults__ = value.__kwdefaults__
            made.__dict__.update(self._of(value.__dict__))
            for cell, own in zip(cells, value.__closure__ or (), strict=True):
                cell.cell_contents = self._of(own.cell_contents)
        return self._functions[value]


def _attribute_name(place: str) -> str:
    return place.rpartition(".")[2]


# --- bounded
# A bound on what a faulty model may do in one step: some come to no end.


class CallLimitExceeded(Exception):
    """A block made more calls than it was given."""


@contextmanager
def limit_calls(most: int) -> Iterator[None]:
    """At most so many calls and returns of functions inside this block, then NoEnd; a count, so the same everywhere.

    Under a profiler there is no bound: Python has room for one. What a garbage collector calls meanwhile is never what
    is stopped: Python would drop the exception there, and the bound with it.
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
