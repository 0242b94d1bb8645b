"""The evidence of z3: every lemma, with its fault refuted."""

from __future__ import annotations

from collections.abc import Sequence

from entrycache_conformance.proofs.evidence import Evidence
from entrycache_conformance.proofs.induction import queue, sums, table
from entrycache_conformance.proofs.induction.lemma import Lemma, problems
from entrycache_reference.pulsar_pip430.decision import DECISION


def induct(lemmas: Sequence[Lemma] = (*table.LEMMAS, *queue.LEMMAS, *sums.LEMMAS)) -> tuple[list[Evidence], list[str]]:
    """Prove the lemmas; the evidence for each that was proved, and what failed."""
    evidence: list[Evidence] = []
    failures: list[str] = []
    for lemma in lemmas:
        found = problems(lemma)
        failures += found
        if not found:
            count = len(lemma.obligations(DECISION))
            unit = "obligation" if count == 1 else "obligations"
            evidence.append(Evidence(lemma.rule, "proved", f"{lemma.claim}; {count} {unit}", lemma.fault.note))
    return evidence, failures
