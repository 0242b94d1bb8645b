"""The levels of a run: which are judged, which rules each can exercise, and how often it must.

A level is a group of operations; a run judges the levels that were requested, or those that the subject offers. Which
rules fire at a level is found by experiment: seeded cases on the reference alone. The same experiment, with what the
subject declares, says which rules and decision-table entries a run must reach before it may conform. A `Profile` sets
the number of examples and these minimums.

`run_self_check` searches a level of a reference that is broken on purpose: a run that misses it would prove nothing.
"""

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_conformance import generate, judge, report, search
from entrycache_conformance.systems.reference import has_payload, open_broken_reference, reference_subject
from entrycache_protocol.case import Case, case_from_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import InternalError, UsageError, Verdict
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

CONCURRENT_LEVEL: Final = "concurrent"
"""The level of histories of several threads."""


def offers_histories(declaration: Declaration) -> bool:
    """Return whether a subject takes histories."""
    has_histories = declaration.system.histories is not None and declaration.limits.takes_histories
    return has_histories and not declaration.is_narrowed


def select_levels(declaration: Declaration, levels: Sequence[str]) -> tuple[str, ...]:
    """Return the requested levels in the order of the system, or the levels that the subject offers if none is
    requested.

    Raises:
        UsageError: the system has no such level.
    """
    known = list_levels(declaration.system)
    unknown = [level for level in levels if level not in known]
    if unknown:
        raise UsageError(f"unknown level {unknown[0]!r}; expected one of: {', '.join(known)}")
    return tuple(level for level in known if level in levels) if levels else _default_levels(declaration)


def _default_levels(declaration: Declaration) -> tuple[str, ...]:
    """Return the levels with an operation that the subject declares, or all levels if there is none.

    An operation that a standalone level borrows from another one does not count for that.
    """
    system = declaration.system
    standalone = [level for level in system.standalone if system.own_ops(level) & declaration.ops]
    own = declaration.ops.difference(*(system.standalone[level] for level in standalone))
    levels = tuple(level for level in system.levels if system.own_ops(level) & own) or system.levels
    return (*levels, CONCURRENT_LEVEL) if offers_histories(declaration) else levels


def list_levels(system: AnySystem) -> tuple[str, ...]:
    """Return every level of a system."""
    return (*system.levels, CONCURRENT_LEVEL) if system.histories is not None else system.levels


class Profile(NamedTuple):
    """The examples of each level, and the least number of steps per rule and of visits per decision-table entry.

    `default_minimum` is the least number of runs that each default decides; 0: none.
    """

    examples: int
    rule_minimum: int
    cell_minimum: int
    default_minimum: int = 0


PROFILES: Final = {
    "dev": Profile(400, 20, 5),
    "ci": Profile(1_500, 200, 50, 3),
    "nightly": Profile(30_000, 2_000, 500, 60),
}


MAX_COST_FACTOR: Final = 25
"""The greatest cost of a case under the settings that a subject fixes, relative to its cost under the default ones."""


def check_cost(declaration: Declaration, name: str) -> None:
    """Check that cases under the fixed settings of the subject of this name end in time. The smoke cases are the
    measure.

    Raises:
        UsageError: a case would cost too much.
    """
    system = declaration.system
    smoke = [step for steps in system.cases.smoke.values() for step in steps]
    steps = case_from_json({"system": system.name, "steps": smoke}, {system.name: system}).steps if smoke else ()
    base, default = declaration.base_config(), system.model.config()

    def is_affordable(config: Any) -> bool:
        most = MAX_COST_FACTOR * system.cases.cost_bound(default, steps)
        return bool(system.cases.cost_bound(config, steps) <= most)

    numbers = [key for key in declaration.fixed if type(getattr(base, key)) is int]
    for key in numbers:
        given = getattr(base, key)
        less = given
        while less and not is_affordable(dataclasses.replace(base, **{key: less})):
            less //= 2
        if less and less < given:
            reason = f"{name} fixes {key} to {given}: a single case could take hours"
            raise UsageError(f"{reason}; expected a smaller value, such as {less}, or a setting that varies")


LEVEL_SCOUT_CASES: Final = 200
"""The number of seeded cases of each level, made with every operation up to it."""


class RuleLevel(NamedTuple):
    """The first level at which a rule fires, and the operations whose steps it fires in."""

    level: str
    ops: tuple[str, ...]


_RULE_LEVELS: dict[str, Mapping[str, RuleLevel]] = {}


def find_rule_levels(system: AnySystem) -> Mapping[str, RuleLevel]:
    """Return the first level of every rule that seeded cases exercise, and of the rules of threads.

    Other rules fire only under a variant or by rare chance.
    """
    if system.name not in _RULE_LEVELS:
        levels_by_rule = {}
        for level in system.levels:
            for rule, ops in _fired_ops(system, level).items():
                if rule.value not in levels_by_rule:
                    levels_by_rule[rule.value] = RuleLevel(level, tuple(name for name in system.ops if name in ops))
        for rule in () if system.histories is None else system.histories.rules:
            levels_by_rule.setdefault(rule.value, RuleLevel(CONCURRENT_LEVEL, ()))
        _RULE_LEVELS[system.name] = MappingProxyType(levels_by_rule)
    return _RULE_LEVELS[system.name]


_FIRED_OPS: dict[tuple[str, str], dict[Rule, set[str]]] = {}


def _fired_ops(system: AnySystem, level: str) -> dict[Rule, set[str]]:
    """Return the rules that fire in cases of a level, with the operations in whose steps they fire."""
    if (system.name, level) not in _FIRED_OPS:
        _FIRED_OPS[system.name, level] = _scout_fired_ops(system, level)
    return _FIRED_OPS[system.name, level]


def find_exercising_ops(system: AnySystem, levels: Iterable[str]) -> dict[str, set[str]]:
    """Return the rules that seeded cases of some levels exercise, with the operations in whose steps they fire."""
    ops_by_rule: dict[str, set[str]] = {}
    for level in levels:
        for rule, ops in _fired_ops(system, level).items() if level in system.levels else ():
            ops_by_rule.setdefault(rule.value, set()).update(ops)
    return ops_by_rule


def _scout_fired_ops(system: AnySystem, level: str) -> dict[Rule, set[str]]:
    declaration = reference_subject(system).declaration
    menu = system.cases.menu(list(system.ops_up_to(level)), level)
    source = random.Random(0)
    count_rules = system.laws.count_fired or system.laws.broken
    fired: dict[Rule, set[str]] = {}
    for _ in range(LEVEL_SCOUT_CASES):
        generated = generate.make_case(source.randint, declaration, menu, None)
        state = system.model.initial(generated.case.config)
        for op, done in zip(generated.case.steps, generated.steps, strict=True):
            counts: dict[Rule, int] = {}
            count_rules(generated.case.config, state, op, done, counts)
            state = done.state
            for rule, count in counts.items():
                if count:
                    fired.setdefault(rule, set()).add(type(op).name)
    return fired


def rules_up_to(system: AnySystem, level: str, rules: Sequence[Rule]) -> list[Rule]:
    """Return those of the rules that do not fire first at a level above this one.

    The levels are tried from below, and no further than the rules need: a level takes up to a second.
    """
    above, rest = set[Rule](), set(rules)
    for at, name in enumerate(system.levels):
        fired = rest & _fired_ops(system, name).keys() if rest else set[Rule]()
        rest -= fired
        above |= fired if at > system.levels.index(level) else set()
    return [rule for rule in rules if rule not in above]


def levels_of_rules(system: AnySystem, rules: Iterable[str]) -> tuple[str, ...]:
    """Return the levels of a system at which one of these rules can fire; a standalone level meets its own rules only.

    Raises:
        UsageError: one of them is no rule of the system, or no run meets it.
    """
    known, by_rule = {rule.value for rule in system.laws.rules}, find_rule_levels(system)
    first = []
    for rule in rules:
        if rule not in known:
            raise UsageError(f"{system.name} has no rule {rule!r}; conform --list names them")
        if rule not in by_rule:
            raise UsageError(
                f"no run under the default behaviour exercises {rule}: it is a rule of a variant; give other rules"
            )
        first.append(by_rule[rule].level)
    at = [system.levels.index(level) for level in first if level != CONCURRENT_LEVEL]
    threads = (CONCURRENT_LEVEL,) if CONCURRENT_LEVEL in first else ()
    above = system.levels[min(at) :] if at else ()
    return (*(level for level in above if level not in system.standalone or level in first), *threads)


REACH_SCOUT_CASES: Final = 500
"""The number of seeded cases that show what a part of the operations or of the configuration can reach."""


def find_reachable(
    declaration: Declaration, level: str, profile: Profile, all_levels: bool = True
) -> tuple[list[Rule], list[str]]:
    """Return the rules and decision-table entries that a run at this level can reach with what the subject declares.

    If the subject declares every operation and setting, fixes nothing and follows no variant, these are all of them,
    provided that all levels are played; without payloads, all but those that never fire there. Otherwise seeded cases
    on the reference alone decide. A rule that fires there less than six times (an entry: twelve times) as often as the
    profile's minimum is left to chance.
    """
    system = declaration.system
    if all_levels and level == system.levels[-1] and _offers_everything(declaration):
        reachable = [rule for rule in system.laws.rules if rule not in system.laws.of_variants]
        if has_payload(system) and not declaration.payload:
            fired = _scout_coverage(declaration, level).fired
            reachable = [rule for rule in reachable if fired.get(rule, 0)]
        return reachable, list(system.laws.cells)
    scouted = _scout_coverage(declaration, level)
    share = REACH_SCOUT_CASES / profile.examples
    rule_often, cell_often = 6 * profile.rule_minimum * share, 12 * profile.cell_minimum * share
    rules = [rule for rule in system.laws.rules if scouted.fired.get(rule, 0) >= rule_often]
    return rules, [cell for cell in system.laws.cells if scouted.cells.get(cell, 0) >= cell_often]


def _offers_everything(declaration: Declaration) -> bool:
    system = declaration.system
    settings = [
        field.name for field in dataclasses.fields(system.model.config) if field.name not in system.cases.unvaried
    ]
    is_default = declaration.variants in {None, system.model.variants()} and not declaration.limits.hides_rules
    return (
        is_default
        and not declaration.is_narrowed
        and system.ops.keys() <= declaration.ops
        and all(declaration.varies(key) for key in settings)
    )


def _scout_coverage(declaration: Declaration, level: str) -> judge.Coverage:
    """Return the coverage of seeded cases of this level on the reference alone."""
    system = declaration.system
    source = random.Random(0)
    coverage = judge.Coverage()
    menu = system.cases.menu(declaration.ops_up_to(level), level)
    for _ in range(REACH_SCOUT_CASES):
        generate.make_case(source.randint, declaration, menu, coverage, law_sample=judge.NO_STEP)
    return coverage


def find_rare(
    declaration: Declaration, level: str, profile: Profile, all_levels: bool, coverage: judge.Coverage
) -> list[str]:
    """Return the rules and decision-table entries that a run reached less often than it must.

    If nothing must be reached, the run was too short to check anything.
    """
    rules, cells = find_reachable(declaration, level, profile, all_levels)
    few = [rule.value for rule in rules if coverage.fired.get(rule, 0) < profile.rule_minimum]
    few += [cell for cell in cells if coverage.cells.get(cell, 0) < profile.cell_minimum]
    return few if rules else ["any rule: so short a run checks nothing"]


DEFAULT_SCOUT_CASES: Final = 150
"""The number of seeded cases that show which defaults decide often enough."""


def find_undecided_defaults(
    declaration: Declaration, level: str, profile: Profile, decided: Mapping[str, int]
) -> list[str]:
    """Return the settings whose default decided fewer runs than it must, of those that decide often enough by design.

    A default that decides six times less often than that in cases of the reference is left to chance.
    """
    if not profile.default_minimum or not generate.omittable_settings(declaration):
        return []
    menu = declaration.system.cases.menu(declaration.ops_up_to(level), level)
    source, scouted = random.Random(0), judge.Coverage()
    sample = judge.NO_STEP._replace(counts_all=False)
    for _ in range(DEFAULT_SCOUT_CASES):
        recorded = generate.record_case(source, declaration, menu, generate.OMITTED_SETTINGS, None, sample)
        scouted.add_all(recorded.coverage)
    share = DEFAULT_SCOUT_CASES / search.profile_case_count(profile.examples, search.OMITTING_ONE_TO)
    often = 6 * profile.default_minimum * share
    reachable = [name for name in generate.omittable_settings(declaration) if scouted.defaults.get(name, 0) >= often]
    return [name for name in reachable if decided.get(name, 0) < profile.default_minimum]


def check_minimums(
    declaration: Declaration, parts: dict[str, report.LevelResult], profile: Profile, coverage: judge.Coverage
) -> list[report.Skip]:
    """Turn the last conforming level into `nothing-checked` if a clean run exercised some rules too rarely."""
    conforming = [level for level, part in parts.items() if part.level.verdict is Verdict.CONFORMS]
    if not conforming or any(part.level.verdict is Verdict.VIOLATES for part in parts.values()):
        return []
    level = conforming[-1]
    all_levels = tuple(parts) == declaration.system.levels
    few = find_rare(declaration, level, profile, all_levels, coverage)
    few += [f"default of {name}" for name in find_undecided_defaults(declaration, level, profile, coverage.defaults)]
    if not few:
        return []
    judged = parts[level].level
    unmet = {
        rule: report.RuleReport(judged.rules[rule].fired, Verdict.NOTHING_CHECKED)
        for rule in few
        if rule in judged.rules
    }
    judged = dataclasses.replace(judged, verdict=Verdict.NOTHING_CHECKED, rules={**judged.rules, **unmet})
    parts[level] = parts[level]._replace(level=judged)
    return [report.Skip(f"level {level}", f"the run met too seldom: {', '.join(few)}")]


MIN_STEPS_PER_EXAMPLE: Final = 5
"""The least number of judged steps of a level for each example of its profile, whatever limits a subject declares."""


def find_shortfall(declaration: Declaration, level: str, profile: Profile, covered: judge.Coverage) -> str:
    """Return the reason why a level without failures checked too little to conform; empty if it checked enough."""
    missing = missing_central_ops(declaration, level)
    if missing:
        return f"the subject offers none of its central operations {', '.join(sorted(missing))}"
    if covered.examples < profile.examples:
        return f"{covered.examples} of {profile.examples} runs were judged to their end"
    least = MIN_STEPS_PER_EXAMPLE * profile.examples
    if covered.steps < least:
        return f"{covered.steps} steps were judged, fewer than {least}"
    if level in declaration.system.cases.central and not _is_anything_stored(declaration, level, covered):
        return NOTHING_FOUND
    return _find_refused(declaration, level, covered)


def missing_central_ops(declaration: Declaration, level: str) -> frozenset[str]:
    """Return the first group of central operations of a level of which the subject offers none."""
    groups = declaration.system.cases.central.get(level, ())
    return next((group for group in groups if not group & declaration.ops), frozenset())


def _find_refused(declaration: Declaration, level: str, covered: judge.Coverage) -> str:
    """Return the reason if each step of a group of central operations was refused in the runs that are remembered.

    So it is where the operation that they need is not offered.
    """
    refusal = type(declaration.system.wire.refusal)
    runs = [run for runs in covered.played.values() for run in runs]
    answered = {
        op.name
        for case, steps in runs
        for op, done in zip(case.steps, steps, strict=True)
        if type(done.outcome) is not refusal
    }
    for group in declaration.system.cases.central.get(level, ()):
        if not group & answered:
            return f"every step of its central operations {', '.join(sorted(group & declaration.ops))} was refused"
    return ""


def _is_anything_stored(declaration: Declaration, level: str, covered: judge.Coverage) -> bool:
    """Return whether a compared lookup, up to this level, had two different answers in the runs that are remembered."""
    levels = declaration.system.levels
    lookups = compared_lookups(declaration, levels[: levels.index(level) + 1])
    answers: dict[str, Any] = {}
    runs = (run for runs in covered.played.values() for run in runs)
    return any(has_two_answers(lookups, case, steps, answers) for case, steps in runs)


def compared_lookups(declaration: Declaration, levels: Iterable[str]) -> frozenset[str]:
    """Return the central lookups of these levels whose answers are compared.

    The first group of central operations of a level writes; the others ask.
    """
    central = declaration.system.cases.central
    groups = (group for level in levels for group in central.get(level, ())[1:])
    return frozenset[str]().union(*groups) - declaration.uncompared_ops()


def has_two_answers(lookups: frozenset[str], case: Case, steps: Sequence[Any], answers: dict[str, Any]) -> bool:
    """Return whether one of the lookups answers a step of the run otherwise than its first answer in `answers`.

    In a cache that can hold nothing, each lookup has the same answer in every step. Refusals do not count.
    """
    refusal = type(case.system.wire.refusal)
    for op, done in zip(case.steps, steps, strict=True):
        is_counted = op.name in lookups and type(done.outcome) is not refusal
        if is_counted and answers.setdefault(op.name, done.outcome) != done.outcome:
            return True
    return False


def find_uncompared(declaration: Declaration) -> str:
    """Return the reason why equal answers to these operations say nothing; empty if a level has its central ones."""
    central = declaration.system.cases.central
    if not central or any(not missing_central_ops(declaration, level) for level in central):
        return ""
    wanted = sorted(missing_central_ops(declaration, next(iter(central))))
    return f"both subjects offer {', '.join(sorted(declaration.ops))}, which decide nothing without {', '.join(wanted)}"


NOTHING_FOUND: Final = "no lookup that is compared had two different answers: nothing that was stored was ever found"
"""The reason why a run in which no compared lookup found anything shows nothing."""


SELF_CHECK_EXAMPLES: Final = 300
"""The number of cases in which a broken reference must be caught."""


class SelfCheckFailed(InternalError):
    """The error of a run that missed a subject that is broken on purpose: nothing it reports would be credible."""


def run_self_check(declaration: Declaration, menu: Sequence[str], seed: int) -> bool:
    """Check that the search catches a reference that is broken on purpose, with the operations of this run.

    Return whether there was anything to catch: some operations alone allow no wrong answer, and a wrong answer may not
    show without the central ones of the level, or if its lookups find nothing of what they store.

    Raises:
        SelfCheckFailed: the search did not catch it.
    """
    last = max(declaration.system.levels.index(declaration.system.ops[name].level) for name in menu)
    level = declaration.system.levels[last]
    own, is_partial = declaration.system.own_ops(level), bool(missing_central_ops(declaration, level))
    covered = judge.Coverage()
    for name in dict.fromkeys(name for name in menu if name in own or own.isdisjoint(menu)):
        broken = open_broken_reference(declaration, name)
        if search.find_failure(broken, menu, SELF_CHECK_EXAMPLES, seed, covered).failure is not None:
            return True
        is_partial |= level in declaration.system.cases.central and not _is_anything_stored(declaration, level, covered)
        if broken.lies and not is_partial:
            raise SelfCheckFailed("a subject that is broken on purpose was not caught; this run would prove nothing")
    return False
