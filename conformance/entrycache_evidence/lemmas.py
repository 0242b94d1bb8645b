"""Obtain the grade *proved*: all lemmas of all systems, each with its seeded fault refuted.

The module imports z3, so `prove` imports it only if z3 is installed.
"""

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Final

from entrycache_evidence.core import results, scheduler
from entrycache_evidence.induction.lemma import Lemma, prove_lemma
from entrycache_evidence.systems import SYSTEM_EVIDENCE


def list_lemmas(systems: Collection[str] = SYSTEM_EVIDENCE.keys()) -> tuple[Lemma, ...]:
    """Return the lemmas of these systems, system by system."""
    modules = [module for name, entry in SYSTEM_EVIDENCE.items() if name in systems for module in entry.lemmas]
    return tuple(lemma for module in modules for lemma in import_module(module).LEMMAS)


LEMMAS: Final = list_lemmas()
"""All lemmas, system by system."""


def prove_lemmas(lemmas: Sequence[Lemma] = LEMMAS) -> scheduler.Work[results.Result]:
    """Prove the lemmas; return the evidence of each proved one, and the failures."""
    evidence: list[results.Evidence] = []
    failures: list[str] = []
    answers = yield scheduler.Batch("z3", prove_lemma, lemmas)
    for lemma, (count, problems) in zip(lemmas, answers, strict=True):
        failures += problems
        if not problems:
            unit = "obligation" if count == 1 else "obligations"
            claim = f"{lemma.claim}; {count} {unit}"
            evidence.append(results.Evidence(lemma.rule, "proved", claim, lemma.fault.note, lemma.covers))
    return evidence, failures
