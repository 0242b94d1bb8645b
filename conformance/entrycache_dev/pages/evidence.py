"""Render the site's page of evidence: what is verified, within which bounds, and what is not.

The page is rendered from its text in docs/ and the committed evidence.json, matrix.json and worlds.json. `python -m
entrycache_dev.pages.evidence [PROFILE]` produces all evidence and writes evidence.json.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from entrycache_dev.matrix.detectors import is_formal
from entrycache_evidence import run, systems
from entrycache_evidence.core import results

SOURCES: Final = (
    "entrycache_evidence/evidence.json",
    "entrycache_dev/matrix/matrix.json",
    "entrycache_evidence/worlds.json",
)
"""The files of conformance/ that the page is made of."""

REASONS: Final = Path(__file__).with_name("unproved.toml")
"""The file of reasons why some rules are not proved."""

STRONGEST_FIRST: Final = results.GRADES[::-1]

Lines = Sequence[dict[str, Any]]
"""The lines of one of the `SOURCES`."""


PAGE: Final = "docs/explanation/evidence.md"
"""The page in a checkout. A comment with one word stands where the site has a part."""

PARTS: Final = ("summary", "families", "unproved", "models", "counted", "refinements", "lemmas", "matrix")
_PLACE: Final = re.compile(r"<!-- (\w+) -->")


def render_page(
    text: str, rules: Sequence[str], evidence: Lines, refinements: Lines, changes: Lines, counted: Lines
) -> str:
    """Render the page from its text, the rules and lines of evidence.json, and those of matrix.json and worlds.json."""
    if sorted(_PLACE.findall(text)) != sorted(PARTS):
        raise ValueError(f"{PAGE} has places for {_PLACE.findall(text)}; expected one for each of {', '.join(PARTS)}")
    have = {grade: {line["rule"] for line in evidence if line["grade"] == grade} for grade in STRONGEST_FIRST}
    parts = {
        "summary": f"Of {len(rules)} rules {len(have['proved'])} are proved for any numbers, and "
        f"{len(set().union(*have.values()))} have formal evidence of some grade.",
        "families": _families(rules, have),
        "unproved": f"These are not proved:\n\n{_unproved(rules, have)}",
        "models": _models_table(evidence),
        "counted": _describe_counts(counted),
        "refinements": _refinements(refinements),
        "lemmas": _lemmas(evidence),
        "matrix": _matrix(changes),
    }
    return _PLACE.sub(lambda place: parts[place[1]], text)


def render_checkout(root: Path) -> str:
    """Render the page from the files of a checkout."""
    evidence, changes, counted = (json.loads((root / "conformance" / name).read_text("utf-8")) for name in SOURCES)
    lines = (evidence["rules"], evidence["evidence"], evidence["refinements"])
    return render_page((root / PAGE).read_text("utf-8"), *lines, changes["changes"], counted["worlds"])


def _families(rules: Sequence[str], have: dict[str, set[str]]) -> str:
    """Render the number of rules with each grade, by family, and the rules without one."""
    families: dict[str, list[str]] = {}
    for rule in rules:
        families.setdefault(rule.rpartition("-")[0], []).append(rule)
    rows = [
        [
            name,
            len(own),
            *(len(have[grade] & set(own)) or "" for grade in STRONGEST_FIRST),
            _rules_without_grade(own, have),
        ]
        for name, own in families.items()
    ]
    total = ["all", len(rules), *(len(have[grade]) for grade in STRONGEST_FIRST), ""]
    return _table(["family", "rules", *STRONGEST_FIRST, "only tested"], [*rows, total])


def _rules_without_grade(rules: Iterable[str], have: dict[str, set[str]]) -> str:
    """Return the rules without a grade."""
    return ", ".join(rule for rule in rules if not any(rule in graded for graded in have.values()))


def load_reasons(rules: Sequence[str]) -> dict[str, str]:
    """Return the reason why one of these rules is not proved, by the rule."""
    because = tomllib.loads(REASONS.read_text("utf-8"))["because"]
    reasons = {rule: one["reason"] for one in because for rule in one.get("rules", ())}
    families = {family: one["reason"] for one in because for family in one.get("families", ())}
    reasons.update({rule: families[family] for rule in rules if (family := rule.rpartition("-")[0]) in families})
    return reasons


def _unproved(rules: Sequence[str], have: dict[str, set[str]]) -> str:
    """Render the rules that are not proved, their next grade, and the reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    why = load_reasons(rules)
    for rule in (rule for rule in rules if rule not in have["proved"]):
        grade = next((grade for grade in STRONGEST_FIRST if rule in have[grade]), "tested")
        rows.setdefault((grade, why.get(rule, "no lemma")), []).append(rule)
    return _table(
        ["rules not proved", "best grade", "reason"],
        [[", ".join(held), grade, reason] for (grade, reason), held in rows.items()],
    )


def _describe_counts(counted: Lines) -> str:
    """Describe the committed counts: their number, the largest model, and the models without counts."""
    largest = max(counted, key=lambda line: line["states"])
    held = {(line["world"], line["within"]) for line in counted}
    every = [
        scope
        for each in systems.SYSTEM_EVIDENCE.values()
        for profile in systems.PROFILES
        for scope in each.models_of(profile)
    ]
    bare = {
        scope.name: "its end" if scope.depth is None else f"{scope.depth} steps"
        for scope in every
        if (scope.name, scope.depth) not in held
    }
    left = "; ".join(f"{name} (to {reach})" for name, reach in bare.items())
    long = {
        (scope.name, scope.depth)
        for each in systems.SYSTEM_EVIDENCE.values()
        for scope in each.models_of(systems.PROFILES[1])
    }
    quick = [scope for each in systems.SYSTEM_EVIDENCE.values() for scope in each.models_of(systems.PROFILES[0])]
    nearer = sum((scope.name, scope.depth) not in long for scope in quick)
    return (
        f"The counts of {len(counted)} models are committed, and `prove` fails if a count differs. The largest is "
        f"{largest['world']} ({largest['states']} states, {largest['transitions']} transitions). These models of a "
        f"nightly run were not explored to their bounds and have no counts: {left or 'none'}. This page describes the "
        f"long run. A pull request explores {nearer} of its {len(quick)} models with fewer steps, and walks fast "
        f"caches within {systems.QUICK_STEPS} steps only."
    )


def _models_table(evidence: Lines) -> str:
    """Render the largest model of each rule once, with the number of rules."""
    rules: dict[str, int] = {}
    for line in evidence:
        if line["grade"] == "exhausted":
            scope = line["bounds"].partition("; checked ")[0].partition("; also: ")[0]
            rules[scope] = rules.get(scope, 0) + 1
    rows = [[*_split_name(scope), count] for scope, count in rules.items()]
    return _table(["bounded model", "its scope, steps and states", "rules"], rows)


def _refinements(refinements: Lines) -> str:
    rows = [[line["system"], *_split_name(line["bounds"]), line["refuted_mutant"]] for line in refinements]
    return _table(["system", "bounded model", "its scope, steps and states", "the seeded fault"], rows)


def _split_name(scope: str) -> tuple[str, str]:
    """Split a description into the name of a model and the rest."""
    name, _, rest = scope.partition(": ")
    return name, rest


def _lemmas(evidence: Lines) -> str:
    """Render the proved and confirmed claims: what they cover, and their rules."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for line in evidence:
        if line["grade"] in ("proved", "confirmed"):
            groups.setdefault((line["grade"], line.get("covers", ""), line["bounds"]), []).append(line["rule"])
    rows = [[*claim, ", ".join(rules)] for claim, rules in sorted(groups.items(), reverse=True)]
    return _table(["grade", "covers", "claim", "shown for"], rows)


def _matrix(changes: Lines) -> str:
    real = [change for change in changes if not change.get("equivalent")]
    formal = sum(is_formal(change["seen"]) for change in real)
    unseen = sum(not change["seen"] for change in real)
    return (
        f"Of {len(changes)} changes {len(changes) - len(real)} change nothing. Formal detectors detect {formal} of the "
        f"other {len(real)} ({100 * formal / len(real):.1f} %); a second implementation or committed answers detect "
        f"{len(real) - formal - unseen} more. {unseen} changes pass everything."
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    right = {"rules", *STRONGEST_FIRST}
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---:' if name in right else '---' for name in head)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


# --- The command


def main() -> int:
    """Write the evidence; return 1, and write nothing, if something failed."""
    proof = run.prove(sys.argv[1] if len(sys.argv) > 1 else "long")
    for line in [*proof.failures, *(f"skipped: {part}: {reason}" for part, reason in proof.skipped)]:
        print(line, file=sys.stderr)
    if proof.failures or proof.skipped:
        return 1
    results.write_evidence(proof)
    return 0


if __name__ == "__main__":
    sys.exit(main())
