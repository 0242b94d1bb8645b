"""What a planted fault breaks of a run, found beside the run of the reference.

A step that calls nothing of what the fault replaces is the reference's own, and so is one that ends equal: neither is
judged again, because laws are functions of values. `first_break` plays all, takes ten times as long and finds the same.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from sys import modules
from types import FunctionType
from typing import Any

from entrycache_evidence.rulebook.corpus import Heard
from entrycache_faults.model import TABLE, Place
from entrycache_faults.planted import Fault
from entrycache_reference.rules import Rule


def breaks(told: Heard, fault: Fault) -> tuple[Rule, ...]:
    """The rules whose laws the first bad step breaks under this fault; that of liveness where a step throws."""
    system, config, events = told.run
    reached = _steps(told, fault)
    if not reached or not told.states:
        return ()
    state, step = fault.model.initial(config), fault.model.step
    as_told = state == told.states[0]
    for at, (before, right) in enumerate(zip(told.states, told.done, strict=True)):
        if as_told and at not in reached:
            continue
        state = before if as_told else state
        try:
            done = step(state, events[at], config)
        except Exception:
            return (system.laws.liveness[1],)
        if not (as_told and _is_equal(done, right)):
            wrong: tuple[Rule, ...] = system.laws.broken(config, state, events[at], done)
            if wrong:
                return wrong
        state, as_told = done.state, done.state == right.state
    return ()


def _is_equal(done: Any, right: Any) -> bool:
    """Whether two steps are equal; never where one has parts: each of these holds states that hold the parts before."""
    return not getattr(done, "parts", ()) and bool(done == right)


def _steps(told: Heard, fault: Fault) -> frozenset[int]:
    """The steps that call what the fault replaces: all, where that is a value or is called in ways of its own."""
    found: frozenset[int] = frozenset()
    for place in fault.replaced:
        there = _there(fault.package, place)
        while isinstance(there, partial):
            there = there.func
        if not isinstance(there, FunctionType):
            return frozenset(range(len(told.done)))
        found |= told.called.get(there.__code__, frozenset())
    return found


def _there(package: str, place: Place) -> Any:
    """What the reference has at a place of a fault."""
    module, _, name = (place if isinstance(place, str) else TABLE).rpartition(".")
    full = f"{package}.{module}"
    found = vars(modules.get(full) or import_module(full))[name]  # asked some hundred thousand times
    return found if isinstance(place, str) else found.get(place)
