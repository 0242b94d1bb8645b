"""Check that text, code, tests, examples and seeded faults of the rules agree.

`check_rules` runs all checks in several processes and returns a list of `Problem`s: missing links, rules that never
fire, examples that show nothing, and seeded faults that no law or test detects.
`check_rule` does this for one rule. `write_rules` writes the generated files.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Final

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import checkout, models, scheduler
from entrycache_evidence.core.numbers import check_numbers
from entrycache_evidence.core.rule_registry import Problem, load_links, load_texts
from entrycache_evidence.rulebook import examples
from entrycache_evidence.rulebook.corpus import Corpus, Run, broken_by_fault, build_corpus, recorded_break, system_of
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_faults.model import Fault
from entrycache_protocol import codec, errors
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

EXCEPTION: Final = re.compile(
    r"^\| (?P<rule>[A-Z]-[A-Z]+-\d+) \| (?P<others>[A-Z]-[^|]+?) \| (?P<reason>[^|]+?) \|$", re.MULTILINE
)
EXCEPTIONS_MAX: Final = 10
STEPS_SHOWN_CHARACTERS: Final = 300
BREAKS: Final = "the reference breaks its law"
"""The beginning of the line of a broken law. Seeded faults of such a reference say nothing, and may not end."""


def check_rules(progress: Callable[[int, int], None] = lambda _done, _parts: None) -> list[Problem]:
    """Return everything that disagrees, without a change of any file.

    `progress` receives the numbers of finished and of all parts.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    root = _checkout("--check")
    runs = build_corpus(root / "tests" / "reference")
    assert runs.recordings, "no run"  # played here, so that no child has to
    first: list[Callable[[], list[Problem]]] = [
        _links,
        examples.check_strays,
        _vocabulary,
        check_numbers,
        partial(_tests, runs),
        *(partial(_fires, runs, system) for system in SYSTEMS.values()),
    ]
    count = len(first) + len(Rule) + len(models.RULE_FAULTS) + 1
    first_problems = [problem for each_of in _all(first, lambda done: progress(done, count)) for problem in each_of]
    broken = _broken_systems(first_problems)
    whole = [rule for rule in Rule if system_of(rule).name not in broken]
    rest: list[Callable[[], list[Problem]]] = [
        *(partial(examples.check_example, rule) for rule in whole),
        *_mutants(runs, _exceptions(root), whole),
        partial(_flips, runs, whole),
    ]
    more = _all(rest, lambda done: progress(len(first) + done, count))
    return [
        *first_problems,
        *map(_untested_problem, sorted(broken)),
        *(problem for problems in more for problem in problems),
    ]


def _all(parts: list[Callable[[], list[Problem]]], progress: Callable[[int], None]) -> list[list[Problem]]:
    return scheduler.map_in_processes(lambda part: part(), parts, progress)


def _broken_systems(problems: list[Problem]) -> set[str]:
    """Return the systems whose reference breaks a law."""
    return {system_of(Rule(problem.rule)).name for problem in problems if problem.what.startswith(BREAKS)}


def _untested_problem(system: str) -> Problem:
    return Problem(system, "its examples and seeded faults were not tried, because its reference breaks a law")


def check_rule(rule: Rule) -> list[Problem]:
    """Return the disagreements about one rule: its links, its example, its seeded faults, and whether it fires.

    The faults of other rules and most random runs are left out, so that the check is quick. What seems to be wrong then
    is judged again on all runs of the rule's system.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    root = _checkout("--check")
    return _check_rule(rule, root, few=True) and _check_rule(rule, root, few=False)


def _check_rule(rule: Rule, root: Path, few: bool) -> list[Problem]:
    runs = build_corpus(root / "tests" / "reference", system_of(rule), few)
    exceptions = _exceptions(root)
    problems = [*_links(), *_tests(runs), *_fires(runs, system_of(rule))]
    about = [problem for problem in problems if problem.rule == rule.value]
    if broken := _broken_systems(problems):
        return [*about, *map(_untested_problem, sorted(broken))]
    fault_problems = [
        problem for fault in models.RULE_FAULTS if fault.rule is rule for problem in _fault(fault, runs, exceptions)
    ]
    return [*about, *examples.check_example(rule), *fault_problems, *_flips(runs, [rule])]


def write_rules() -> None:
    """Write the answers of the examples and the schemas of `spec`.

    Raises:
        MissingPrerequisite: this is not a source checkout.
    """
    _checkout("--write")
    examples.write_answers()
    for name in SYSTEM_EVIDENCE:
        checkout.write_spec_files(SYSTEMS[name])


def _checkout(option: str) -> Path:
    root = checkout.locate_checkout()
    if root is None:
        raise errors.MissingPrerequisite(f"rules {option} needs a source checkout: the package holds no tests")
    return root


def _links() -> list[Problem]:
    problems = []
    known = {rule.value for rule in Rule}
    book = load_links()
    for text in load_texts():
        if text.id not in known:
            problems.append(Problem(text.id, "the enum Rule does not have it"))
        if text.level == "MUST":
            links = book[text.id]
            wanted = [
                ("function", links.functions),
                ("law or test", links.laws + links.tests),
                ("seeded fault", links.mutants),
            ]
            problems += [Problem(text.id, f"has no {what}") for what, names in wanted if not names]
    problems += [Problem(rule, "no file of `spec` has it") for rule in sorted(known - book.keys())]
    twice = [rule for rule, times in Counter(text.id for text in load_texts()).items() if times > 1]
    return problems + [Problem(rule, "has two headings in `spec`") for rule in twice]


def _vocabulary() -> list[Problem]:
    differences = {name: checkout.find_vocabulary_difference(SYSTEMS[name]) for name in SYSTEM_EVIDENCE}
    return [Problem(f"spec/{name}", differs) for name, differs in differences.items() if differs]


def _tests(runs: Corpus) -> list[Problem]:
    return [Problem(rule, what) for rule, what in runs.failed]


def _fires(runs: Corpus, system: AnySystem | None = None) -> list[Problem]:
    fired: dict[Rule, int] = {}
    broken: dict[Rule, list[Run]] = {}
    for recorded in (each for each in runs.recordings if system is None or each.run.system is system):
        for rule in recorded_break(recorded, fired):
            broken.setdefault(rule, []).append(recorded.run)
    problems = [Problem(rule.value, _breaks_in(breaking_runs)) for rule, breaking_runs in broken.items()]
    musts = {text.id for text in load_texts() if text.level == "MUST"}
    return problems + [
        Problem(rule.value, "never fires in a run")
        for rule in Rule
        if (system is None or rule in system.laws.rules)
        and rule.value in musts
        and not fired.get(rule)
        and rule.value not in runs.tests
    ]


def _breaks_in(runs: list[Run]) -> str:
    """Describe a broken law in one line: the number of runs, and the shortest one."""
    least = min(runs, key=lambda run: len(run.events))
    steps = shorten(
        json.dumps([codec.encode_op(event) for event in least.events]), STEPS_SHOWN_CHARACTERS, placeholder=" .."
    )
    return f"{BREAKS} in {len(runs)} runs; the shortest has {len(least.events)} steps: {steps}"


def _exceptions(root: Path) -> dict[str, set[str]]:
    entries = EXCEPTION.findall((root / "spec" / "coverage.md").read_text(encoding="utf-8"))
    return {rule: {other.strip() for other in others.split(",")} for rule, others, _ in entries}


def _mutants(
    runs: Corpus, exceptions: dict[str, set[str]], rules: Sequence[Rule] = tuple(Rule)
) -> Iterator[Callable[[], list[Problem]]]:
    """Yield a check for each seeded fault of these rules."""
    if len(exceptions) > EXCEPTIONS_MAX:
        many = Problem("spec/coverage.md", f"lists {len(exceptions)} exceptions, at most {EXCEPTIONS_MAX}")
        yield lambda: [many]
    yield from (partial(_fault, fault, runs, exceptions) for fault in models.RULE_FAULTS if fault.rule in rules)


def _fault(fault: Fault, runs: Corpus, exceptions: dict[str, set[str]]) -> list[Problem]:
    own = fault.rule.value
    breaks = _rules_broken_by(fault, runs)
    also = {rule for rules in breaks for rule in rules} - {own} - exceptions.get(own, set())
    problems = [
        Problem(own, f"the law of {other} detects its seeded fault too: {fault.note}") for other in sorted(also)
    ]
    if not any(own in rules for rules in breaks) and not _fails_a_test(fault, runs):
        problems.insert(0, Problem(own, f"neither its law nor a test of it detects its seeded fault: {fault.note}"))
    return problems


def _flips(runs: Corpus, rules: Sequence[Rule] = tuple(Rule)) -> list[Problem]:
    return [
        Problem(fault.rule.value, f"no law detects the table with {fault.note}")
        for fault in models.derive_flips()
        if fault.rule in rules and not _rules_broken_by(fault, runs, stop=True)
    ]


def _rules_broken_by(fault: Fault, runs: Corpus, stop: bool = False) -> set[tuple[str, ...]]:
    rule_groups: set[tuple[str, ...]] = set()
    for recorded in runs.recordings:
        broken = broken_by_fault(recorded, fault) if fault.rule in recorded.run.system.laws.rules else ()
        if broken:
            rule_groups.add(tuple(rule.value for rule in broken))
            if stop:
                break
    return rule_groups


def _fails_a_test(fault: Fault, runs: Corpus) -> bool:
    with models.use_model(fault.model):
        for call in runs.tests.get(fault.rule.value, []):
            try:
                call()
            except Exception:
                return True
    return False
