"""A model of a reference that can be run on z3 terms, and laws that are asked of what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any

from entrycache_evidence.induction.lemma import Obligation
from entrycache_evidence.induction.symbolic import Assumed, paths
from entrycache_evidence.induction.terms import all_of, any_of, negated
from entrycache_faults.model import Model, Place

Ways = Iterable[tuple[Any, Any]]
"""Every way through something, with its condition."""


def on_terms(model: Model, replaced: Mapping[Place, object]) -> Model:
    """The model with these places replaced. What its planted fault calls of the reference has them replaced too."""
    norm = Model(model.package, replaced)
    own = {place: _moved(made, norm) for place, made in model.replaced.items()}
    return Model(model.package, {**replaced, **own})


def _moved(made: object, norm: Model) -> object:
    """A function of a planted fault, calling this model where it calls the reference."""
    if not isinstance(made, FunctionType):
        return made
    names: dict[str, Any] = {}
    names.update({name: _own(value, made, names, norm) for name, value in made.__globals__.items()})
    return _with(made, names)


def _own(value: Any, made: FunctionType, names: dict[str, Any], norm: Model) -> Any:
    """What a planted fault calls: this model's functions, and its own helpers, which do so too."""
    is_helper = isinstance(value, FunctionType) and value.__module__ == made.__module__
    return _with(value, names) if is_helper else norm.own(value)


def _with(made: FunctionType, names: dict[str, Any]) -> FunctionType:
    """A function with other globals."""
    moved = FunctionType(made.__code__, names, made.__name__, made.__defaults__, made.__closure__)
    moved.__kwdefaults__ = made.__kwdefaults__
    return moved


def held_to(name: str, given: Any, ways: Ways, asked: Callable[[Any], tuple[bool, bool]]) -> Iterator[Obligation]:
    """That a law holds on every way, if it is about any: `asked` says whether it is about one, and whether it holds."""
    about, wrong = [], []
    assumed = Assumed(given)
    for condition, way in ways:
        for further, (is_about, holds) in paths(lambda: asked(way), condition, assumed):  # noqa: B023
            met = all_of((condition, further))
            about += [met] if is_about else []
            wrong += [] if holds else [met]
    if about:
        yield Obligation(name, all_of((given, any_of(about))), negated(any_of(wrong)))
