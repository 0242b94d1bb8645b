"""What a system says for explaining a difference between a subject and its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from entrycache_reference.rules import Rule


class Blame(NamedTuple):
    """The parts of a system that explaining a difference asks.

    `faults` are planted in the reference, each with its `rule` and its `model`; a later group is asked only where
    nothing in an earlier one answers as the subject did. `state_queries`, from a declaration and steps: operations that show
    a state and change none, as far as the subject offers them. `own_step`, from the state before a step, the reference's
    step, the operation, the subject's answer, what its looks showed afterwards and its declaration: the state before,
    the reference's step and the subject's own, as laws are asked about them. `is_about`, from two outcomes that differ
    and a row: whether that is where they differ. `general`: laws that almost any difference breaks. `leak`: the rule of
    what was not given back.
    """

    faults: Callable[[], Sequence[Sequence[Any]]]
    state_queries: Callable[[Any, Sequence[Any]], Sequence[Any]]
    own_step: Callable[[Any, Any, Any, Any, Mapping[Any, Any], Any], tuple[Any, Any, Any]]
    is_about: Callable[[Any, Any, Any], bool]
    general: frozenset[Rule]
    leak: Rule
