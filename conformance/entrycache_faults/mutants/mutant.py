"""A mutant of the reference, and how it is applied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

from entrycache_faults import wrong
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.rules import Rule

Patches = tuple[tuple[ModuleType, str, object], ...]
"""Attributes of modules, and what they are replaced by."""


class Mutant(NamedTuple):
    """An error in the reference: what is replaced while it is applied."""

    rule: Rule
    note: str
    patches: Patches


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """The reference with this error, until the end of the block."""
    before = [(module, name, getattr(module, name)) for module, name, _ in mutant.patches]
    try:
        for module, name, value in mutant.patches:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def of_op(function: wrong.Function, *types: type[ops.Op]) -> Patches:
    """Another function for these operations."""
    table = {**wrong.step_module.FUNCTIONS, **dict.fromkeys(types, function)}
    return ((wrong.step_module, "FUNCTIONS", table),)


def of_module(module: ModuleType, name: str, function: object) -> Patches:
    """Another function of that name in a module."""
    return ((module, name, function),)
