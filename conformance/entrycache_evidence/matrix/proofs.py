"""The detectors that reach only some functions: lemmas of z3, and the contracts of CrossHair on plain inputs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from itertools import islice
from types import FrameType
from typing import Any, Final

from entrycache_evidence.induction import lemma as lemmas
from entrycache_evidence.induction.evidence import LEMMAS
from entrycache_evidence.induction.lemma import unsatisfiable
from entrycache_evidence.systems import SHOWN
from entrycache_evidence.under import under
from entrycache_faults.model import Model
from entrycache_protocol.system import AnySystem

REFERENCE: Final = "/entrycache_reference/"


def called(work: Callable[[], Any]) -> frozenset[str]:
    """The functions of the reference that this work calls, as `module:name`."""
    found: set[str] = set()

    def heard(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and REFERENCE in file:
            found.add(f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname.replace('.<locals>', '')}")

    sys.setprofile(heard)
    try:
        work()
    finally:
        sys.setprofile(None)
    return frozenset(found)


def z3_lemma(number: int) -> str:
    """What is not proved any more of this lemma; empty: all of it is."""
    lemmas.norm.cache_clear()
    lemma = LEMMAS[number]
    norm = lemmas.norm(lemma.fault.model.package)
    for name, given, goal in lemma.obligations(lemma.table, norm):
        if _unproved(given, goal):
            return f"{lemma.rule.value}: {name}"
    return ""


def _unproved(given: Any, goal: Any) -> bool:
    z3 = importlib.import_module("z3")
    return unsatisfiable(z3.And(given, z3.Not(goal))) is not True


def reach_of_lemmas(package: str) -> dict[int, frozenset[str]]:
    """What the lemmas about a system call of the reference."""
    return {
        number: called(lemma.of_norm) for number, lemma in enumerate(LEMMAS) if lemma.fault.model.package == package
    }


def _contracts(system: AnySystem) -> tuple[Any, ...]:
    module = SHOWN[system.name].contracts
    return () if module is None else tuple(importlib.import_module(module).NIGHTLY)


def contracts(system: AnySystem, package: str, inputs: int) -> str:
    """The first rule that a contract names on one of its plain inputs."""
    with under(Model(package)):
        for contract in _contracts(system):
            check = contract.module.contract
            total = sum(1 for _ in contract.grid())
            for values in islice(contract.grid(), 0, None, max(1, total // inputs)):
                found = check(*values)
                if found:
                    return f"{found[0]} ({contract.name})"
    return ""


FEW: Final = 60
"""Inputs on which it is found out what contracts call."""


def reach_of_contracts(system: AnySystem, package: str) -> frozenset[str]:
    """What the contracts call of the reference."""
    return called(lambda: contracts(system, package, FEW))
