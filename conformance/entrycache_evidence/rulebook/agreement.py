"""Whether text, code, tests, mutants and the generated page agree."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence import vocabulary
from entrycache_evidence.forked import each
from entrycache_evidence.planted import OWN, flips
from entrycache_evidence.rulebook.corpus import Corpus, corpus, first_break, system_of
from entrycache_evidence.rulebook.example import write_answers
from entrycache_evidence.rulebook.example_check import check_example, check_examples
from entrycache_evidence.rulebook.page import page_of, render_rules_md
from entrycache_evidence.rulebook.problem import Problem
from entrycache_evidence.rulebook.registry import checkout, links, texts
from entrycache_evidence.systems import SHOWN
from entrycache_evidence.under import under
from entrycache_faults.planted import Fault
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_protocol.output import write_text
from entrycache_reference.rules import Rule

EXCEPTION: Final = re.compile(
    r"^\| (?P<rule>[A-Z]-[A-Z]+-\d+) \| (?P<others>[A-Z]-[^|]+?) \| (?P<reason>[^|]+?) \|$", re.MULTILINE
)
EXCEPTIONS_MAX: Final = 10


def check_rules() -> list[Problem]:
    """Everything that does not agree; nothing is written.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    root = _checkout("--check")
    runs = corpus(root / "tests" / "reference")
    return [
        *_links(),
        *check_examples(),
        *_page(root),
        *_vocabulary(),
        *_fires(runs),
        *_mutants(runs, _exceptions(root)),
        *_flips(runs),
    ]


def check_rule(rule: Rule) -> list[Problem]:
    """What does not agree about one rule: its links, its example, its planted faults, and whether it fires.

    The page and the planted faults of other rules are not looked at, so that it is quick.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    root = _checkout("--check")
    runs = corpus(root / "tests" / "reference", system_of(rule))
    exceptions = _exceptions(root)
    about = [problem for problem in (*_links(), *_fires(runs)) if problem.rule == rule.value]
    tried = [problem for fault in OWN if fault.rule is rule for problem in _fault(fault, runs, exceptions)]
    return [*about, *check_example(rule), *tried, *_flips(runs, rule)]


def write_rules() -> None:
    """Write the answers of the examples, `docs/rules.md` and the schemas of `spec` anew.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    root = _checkout("--write")
    write_answers()
    write_text(page_of(root), render_rules_md())
    for name in SHOWN:
        vocabulary.write(SYSTEMS[name])


def _checkout(option: str) -> Path:
    root = checkout()
    if root is None:
        raise MissingPrerequisite(f"rules {option} needs a source checkout: the package holds no tests")
    return root


def _links() -> list[Problem]:
    problems = []
    known = {rule.value for rule in Rule}
    book = links()
    for text in texts():
        if text.id not in known:
            problems.append(Problem(text.id, "the enum Rule does not have it"))
        if text.level == "MUST":
            found = book[text.id]
            wanted = [
                ("function", found.functions),
                ("law or test", found.laws + found.tests),
                ("mutant", found.mutants),
            ]
            problems += [Problem(text.id, f"has no {what}") for what, names in wanted if not names]
    problems += [Problem(rule, "no file of `spec` has it") for rule in sorted(known - book.keys())]
    twice = [rule for rule, times in Counter(text.id for text in texts()).items() if times > 1]
    return problems + [Problem(rule, "has two headings in `spec`") for rule in twice]


def _page(root: Path) -> list[Problem]:
    page = page_of(root)
    if page.is_file() and page.read_text(encoding="utf-8") == render_rules_md():
        return []
    return [Problem("docs/rules.md", "is not current; `entrycache rules --write`, part of `make docs`, writes it")]


def _vocabulary() -> list[Problem]:
    found = {name: vocabulary.differs(SYSTEMS[name]) for name in SHOWN}
    return [Problem(f"spec/{name}", differs) for name, differs in found.items() if differs]


def _fires(runs: Corpus) -> list[Problem]:
    fired: dict[Rule, int] = {}
    problems = [
        Problem(rule.value, f"the reference breaks its law in {run.events}")
        for run in runs.runs
        for rule in first_break(run, fired)
    ]
    musts = {text.id for text in texts() if text.level == "MUST"}
    return problems + [
        Problem(rule.value, "never fires in a run")
        for rule in Rule
        if rule.value in musts and not fired.get(rule) and rule.value not in runs.tests
    ]


def _exceptions(root: Path) -> dict[str, set[str]]:
    listed = EXCEPTION.findall((root / "spec" / "coverage.md").read_text(encoding="utf-8"))
    return {rule: {other.strip() for other in others.split(",")} for rule, others, _ in listed}


def _mutants(runs: Corpus, exceptions: dict[str, set[str]]) -> list[Problem]:
    problems = []
    if len(exceptions) > EXCEPTIONS_MAX:
        problems.append(Problem("spec/coverage.md", f"lists {len(exceptions)} exceptions, at most {EXCEPTIONS_MAX}"))
    tried = each(lambda fault: _fault(fault, runs, exceptions), OWN)
    return problems + [problem for found in tried for problem in found]


def _fault(fault: Fault, runs: Corpus, exceptions: dict[str, set[str]]) -> list[Problem]:
    own = fault.rule.value
    breaks = _breaks(fault, runs)
    also = {rule for rules in breaks for rule in rules} - {own} - exceptions.get(own, set())
    problems = [Problem(own, f"the law of {other} sees its mutant too: {fault.note}") for other in sorted(also)]
    if not any(own in rules for rules in breaks) and not _fails_a_test(fault, runs):
        problems.insert(0, Problem(own, f"neither its law nor a test of it sees its mutant: {fault.note}"))
    return problems


def _flips(runs: Corpus, rule: Rule | None = None) -> list[Problem]:
    return [
        Problem(fault.rule.value, f"no law sees the table with {fault.note}")
        for fault in flips()
        if rule in {None, fault.rule} and not _breaks(fault, runs, stop=True)
    ]


def _breaks(fault: Fault, runs: Corpus, stop: bool = False) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for run in runs.runs:
        broken = first_break(run, {}, fault.model, True) if fault.rule in run.system.laws.rules else ()
        if broken:
            found.add(tuple(rule.value for rule in broken))
            if stop:
                break
    return found


def _fails_a_test(fault: Fault, runs: Corpus) -> bool:
    with under(fault.model):
        for call in runs.tests.get(fault.rule.value, []):
            try:
                call()
            except Exception:
                return True
    return False
