"""What a run obtains for a rule and of a fast cache, how good it is, and who hears how far it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_evidence.core.checkout import locate_docs_file, read_docs_json, write_docs_file
from entrycache_reference.rules import Rule

GRADES: Final = ("modelled", "confirmed", "exhausted", "proved")
"""From the weakest to the strongest; a part of the command obtains each."""


class Evidence(NamedTuple):
    """One thing that was shown about a rule, within which bounds, and a planted error that the same check refutes."""

    rule: Rule
    grade: str
    bounds: str
    refuted_mutant: str


Result = tuple[list[Evidence], list[str]]
"""What was shown, and what failed."""

Progress = Callable[[str, int, int], None]
"""Hears what is under way, how much of it is done, and how much there is."""


def no_progress(what: str, done: int, of: int) -> None:
    """Nobody wants to hear it."""


class Refinement(NamedTuple):
    """One world along which the fast cache of a system refines the reference, and the fault that it tells apart."""

    system: str
    bounds: str
    refuted_mutant: str


class Proof(NamedTuple):
    """All that one run obtained; `failures` are lines for a person, `skipped` pairs of a part and a reason.

    `left_out` are the parts that its profile does not ask for; `refinements` is about the fast caches.
    """

    evidence: list[Evidence]
    failures: list[str]
    skipped: list[tuple[str, str]]
    left_out: tuple[str, ...] = ()
    refinements: Sequence[Refinement] = ()


# --- evidence
# How what was obtained compares with what was obtained before, and the file that holds it.

EVIDENCE_FILE: Final = "evidence.json"
PARTS: Final = {"proved": "z3", "exhausted": "explorer", "confirmed": "crosshair", "modelled": "tlc"}
"""Which part of the command obtains a grade."""

OBLIGATIONS: Final = re.compile(r"; (\d+) obligations?$")
"""How the line of a lemma ends."""


def locate_evidence() -> Path | None:
    """The committed evidence, in a source checkout."""
    return locate_docs_file(EVIDENCE_FILE)


def compare(proof: Proof) -> list[str]:
    """The failures, and a line for each rule for which less was obtained than is committed: a grade, or obligations.

    What a skipped part obtained is not missed, nor what one that was left out did. Without a committed file there is
    nothing to compare with.
    """
    held = read_docs_json(locate_evidence())
    if held is None:
        return list(proof.failures)
    committed = held["evidence"]
    absent = {part for part, _ in proof.skipped} | set(proof.left_out)
    before = _strongest([(item["rule"], item["grade"]) for item in committed if PARTS[item["grade"]] not in absent])
    now = _strongest([(item.rule.value, item.grade) for item in proof.evidence])
    weaker = [
        f"{rule}: {now.get(rule, 'nothing')} now, {grade} in {EVIDENCE_FILE}"
        for rule, grade in sorted(before.items())
        if rule not in now or GRADES.index(now[rule]) < GRADES.index(grade)
    ]
    proved = _obligations([(item.rule.value, item.bounds) for item in proof.evidence if item.grade == "proved"])
    fewer = [
        f"{rule}: {proved[rule]} obligations now, {number} in {EVIDENCE_FILE}"
        for rule, number in sorted(
            _obligations([(one["rule"], one["bounds"]) for one in committed if one["grade"] == "proved"]).items()
        )
        if proved.get(rule, number) < number
    ]
    return [*proof.failures, *weaker, *fewer]


def _obligations(lines: list[tuple[str, str]]) -> Counter[str]:
    """How many obligations all lemmas of a rule have, as their lines say: a base or a step that is left out shows."""
    found: Counter[str] = Counter()
    for rule, bounds in lines:
        said = OBLIGATIONS.search(bounds)
        found[rule] += int(said[1]) if said else 0
    return found


def _strongest(found: list[tuple[str, str]]) -> dict[str, str]:
    best: dict[str, str] = {}
    for rule, grade in found:
        if rule not in best or GRADES.index(grade) > GRADES.index(best[rule]):
            best[rule] = grade
    return best


def dump_evidence(proof: Proof) -> str:
    """The text of the evidence file: a line of evidence a line, in the order of the rules, the strongest first.

    Then a line for each refinement.
    """
    order = list(Rule)
    ranked = sorted(proof.evidence, key=lambda item: (order.index(item.rule), -GRADES.index(item.grade)))
    lines = [
        json.dumps(
            {
                "rule": item.rule.value,
                "grade": item.grade,
                "bounds": item.bounds,
                "refuted_mutant": item.refuted_mutant,
            }
        )
        for item in ranked
    ]
    walked = [json.dumps(refinement._asdict()) for refinement in proof.refinements]
    shown = {"evidence": lines, "refinements": walked}
    lists = [f' "{name}": [\n  ' + ",\n  ".join(found) + "\n ]" for name, found in shown.items()]
    return '{\n "schema": 1,\n' + ",\n".join(lists) + "\n}\n"


def write_evidence(proof: Proof) -> None:
    """Write docs/evidence.json of this checkout.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    write_docs_file(EVIDENCE_FILE, locate_evidence(), dump_evidence(proof))
