"""Hold the results of a proof run, and compare them with the committed ones.

`Evidence` is a result about one rule, `Refinement` one about a fast cache, and `Proof` all results of a run.
`evidence.json` holds the committed results. `compare` returns a line for each rule that has a lower grade, fewer
obligations or fewer states of a claim than there, so that a loss of evidence fails a build; `write_evidence` writes the
file.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_evidence.core.checkout import locate_baseline, read_baseline, write_baseline
from entrycache_reference.rules import Rule

GRADES: Final = ("modelled", "confirmed", "exhausted", "proved")
"""The grades of evidence from the weakest to the strongest; one part of the command obtains each."""


class Evidence(NamedTuple):
    """A result about a rule: its bounds, and a seeded fault that the same check refutes.

    `covers` says of which states a proof speaks, in a few words; it is empty for other grades.
    """

    rule: Rule
    grade: str
    bounds: str
    refuted_mutant: str
    covers: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the result as the files and `prove --json` hold it."""
        held = {**self._asdict(), "rule": self.rule.value}
        return held if self.covers else {name: text for name, text in held.items() if name != "covers"}


Result = tuple[list[Evidence], list[str]]
"""The evidence that a part obtained, and its failures."""

Progress = Callable[[str, int, int], None]
"""A callback for progress: it receives the current activity, the number of finished items and their total."""


def no_progress(what: str, done: int, of: int) -> None:
    """Ignore the progress."""


class Refinement(NamedTuple):
    """A bounded model in which a fast cache refines the reference, and the fault that the same walk detects."""

    system: str
    bounds: str
    refuted_mutant: str


class Proof(NamedTuple):
    """All results of one run.

    `failures` are lines for a person, `skipped` are pairs of a part and a reason. `left_out` are the parts that the
    profile does not ask for; `refinements` are about the fast caches.
    """

    evidence: list[Evidence]
    failures: list[str]
    skipped: list[tuple[str, str]]
    left_out: tuple[str, ...] = ()
    refinements: Sequence[Refinement] = ()


# --- The committed evidence

EVIDENCE_FILE: Final = "evidence.json"
PARTS: Final = {"proved": "z3", "exhausted": "explorer", "confirmed": "crosshair", "modelled": "tlc"}
"""The part of the command that obtains each grade."""

OBLIGATIONS: Final = re.compile(r"; (\d+) obligations?$")
"""The end of the line of a lemma."""

CLAIM: Final = re.compile(r"(TLC: .*); (\d+) states$")
"""The line of a claim that TLC has checked: the claim, and the number of states."""


def locate_evidence() -> Path | None:
    """Return the path of the committed evidence, or None outside of a checkout."""
    return locate_baseline(EVIDENCE_FILE)


ALL_RULES: Final = frozenset(rule.value for rule in Rule)


def compare(proof: Proof, rules: Collection[str] = ALL_RULES) -> list[str]:
    """Return the failures, and a line for each of these rules with a lower grade or less behind it than committed.

    Fewer obligations of a lemma are less, and so are fewer states of a claim of TLC.
    A skipped or left-out part counts as unchanged. Without a committed file there is nothing to compare with.
    """
    held = read_baseline(locate_evidence())
    if held is None:
        return list(proof.failures)
    committed = [item for item in held["evidence"] if item["rule"] in rules]
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
    states = _states_of_claims([item.bounds for item in proof.evidence])
    cut = [
        f"{claim}: {states[claim]} states now, {number} in {EVIDENCE_FILE}"
        for claim, number in sorted(_states_of_claims([item["bounds"] for item in committed]).items())
        if states.get(claim, number) < number
    ]
    return [*proof.failures, *weaker, *fewer, *cut]


def _states_of_claims(lines: list[str]) -> dict[str, int]:
    """Return the number of states of each claim that TLC has checked, so that a constraint that cuts states shows."""
    return {said[1]: int(said[2]) for line in lines if (said := CLAIM.match(line))}


def _obligations(lines: list[tuple[str, str]]) -> Counter[str]:
    """Count the obligations of all lemmas of a rule, so that a missing base or step shows."""
    counts: Counter[str] = Counter()
    for rule, bounds in lines:
        said = OBLIGATIONS.search(bounds)
        counts[rule] += int(said[1]) if said else 0
    return counts


def _strongest(graded_rules: list[tuple[str, str]]) -> dict[str, str]:
    best: dict[str, str] = {}
    for rule, grade in graded_rules:
        if rule not in best or GRADES.index(grade) > GRADES.index(best[rule]):
            best[rule] = grade
    return best


def dump_evidence(proof: Proof) -> str:
    """Render the evidence file: one line for each piece of evidence, by rule, the strongest first.

    The lines of the refinements follow, and the rules of the run. A newer rule is only tested until the next run.
    """
    order = list(Rule)
    ranked = sorted(proof.evidence, key=lambda item: (order.index(item.rule), -GRADES.index(item.grade)))
    lines = [json.dumps(item.as_json()) for item in ranked]
    walked = [json.dumps(refinement._asdict()) for refinement in proof.refinements]
    sections = {"evidence": lines, "refinements": walked, "rules": [json.dumps(rule.value) for rule in Rule]}
    lists = [f' "{name}": [\n  ' + ",\n  ".join(items) + "\n ]" for name, items in sections.items()]
    return '{\n "schema": 1,\n' + ",\n".join(lists) + "\n}\n"


def write_evidence(proof: Proof) -> None:
    """Write `evidence.json` of this checkout.

    Raises:
        FileNotFoundError: this is not a source checkout.
    """
    write_baseline(EVIDENCE_FILE, locate_evidence(), dump_evidence(proof))
