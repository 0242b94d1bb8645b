"""One conformance run: every level of a system, judged on what the subject declares."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.concurrent.run import conform_concurrent
from entrycache_conformance.failures import Failure
from entrycache_conformance.judge import Coverage, Definition
from entrycache_conformance.own_cases import OwnCase, Tried, try_own, unplayed
from entrycache_conformance.profiles import Profile
from entrycache_conformance.reach import met_too_seldom
from entrycache_conformance.report import LevelReport, RuleReport, RunReport, Skip
from entrycache_conformance.search import Search, bulk, search
from entrycache_conformance.shrink import TRY_SECONDS, hurried
from entrycache_conformance.subjects.broken import broken_reference
from entrycache_conformance.written import rules_met, written
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import NotAgain, OurError
from entrycache_protocol.failure import FailingCase
from entrycache_protocol.stopped import keeping
from entrycache_protocol.subject import Trouble, UnderTest
from entrycache_protocol.verdict import Verdict

OTHER_SEEDS: Final = 3
"""How many more searches look for an answer that a step without one hides."""


class Options(NamedTuple):
    """What a run was asked for. `bulk_seconds` 0: Hypothesis alone. `first`: cases to play before a level's search.

    `definition`: what each step of the reference is held to beside its laws, where the reference is the subject.
    """

    levels: tuple[str, ...]
    profile: Profile
    seed: int
    bulk_seconds: float
    failures: Path
    first: tuple[OwnCase, ...] = ()
    definition: Definition | None = None


class SelfCheckFailed(OurError):
    """The run did not catch a subject that is broken on purpose: nothing it says could be believed."""


Notify = Callable[[str, int, int], None]
"""Told the level, the examples judged so far and those wanted; 0: none is, what differs is being shortened."""


class Part(NamedTuple):
    """What one level adds to a run; `hung`: a case of it never ended."""

    level: LevelReport
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skip, ...] = ()
    hung: bool = False


def conform(subject: UnderTest, options: Options, notify: Notify = lambda level, done, wanted: None) -> RunReport:
    """Judge a subject at each level.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        SelfCheckFailed: our error.
        Stopped: with the report of the levels that were judged.
    """
    coverage = Coverage(definition=options.definition)
    parts: dict[str, Part] = {}
    with keeping(lambda: _so_far(subject, coverage, parts, options.levels)):
        return _conform(subject, options, coverage, parts, notify)


def _conform(
    subject: UnderTest, options: Options, coverage: Coverage, parts: dict[str, Part], notify: Notify
) -> RunReport:
    """The same; a level that was judged is entered into `parts`."""
    for level in options.levels:
        if level != LEVEL:
            hung = any(part.hung for part in parts.values())
            try:
                parts[level] = _judged(subject, level, options, coverage, notify, hung)
            except NotAgain as error:
                parts[level] = _not_again(_unasked(subject.declaration, level), level, error, parts)
    seldom = _hold_minimums(subject.declaration, parts, options, coverage)
    skipped = [skip for part in parts.values() for skip in part.skipped] + seldom
    skipped += unplayed(options.first, options.levels)
    if LEVEL in options.levels:
        try:
            parts[LEVEL] = _threaded(subject, options, coverage, notify)
        except NotAgain as error:
            parts[LEVEL] = _not_again(LevelReport(), LEVEL, error, parts)
        skipped += parts[LEVEL].skipped
    return _report(subject, coverage, parts, skipped)


def _not_again(unasked: LevelReport, level: str, error: NotAgain, parts: Mapping[str, Part]) -> Part:
    """A level for which the subject could not be started again; what earlier levels have found is told all the same.

    Raises:
        NotAgain: they have found nothing.
    """
    if not any(part.failures for part in parts.values()):
        raise error
    return Part(unasked, skipped=(Skip(f"level {level}", str(error)),))


def _threaded(subject: UnderTest, options: Options, coverage: Coverage, notify: Notify) -> Part:
    """The level of threads."""
    begun = time.monotonic()
    threaded = conform_concurrent(
        subject,
        options.profile.examples,
        options.seed,
        options.failures,
        lambda done, wanted: notify(LEVEL, done, wanted),
    )
    coverage.fired.update(threaded.fired)
    met = Coverage(fired=dict(threaded.fired))
    rules = rules_met(met, threaded.level.verdict, threaded.failures, options.profile)
    level = replace(threaded.level, rules=rules, seconds=since(begun))
    return Part(level, threaded.failures, threaded.skipped)


def _so_far(subject: UnderTest, coverage: Coverage, parts: Mapping[str, Part], levels: Sequence[str]) -> RunReport:
    """The report of a run whose other levels are not judged, so that it conforms in nothing as a whole."""
    unjudged = [level for level in levels if level not in parts]
    skipped = [skip for part in parts.values() for skip in part.skipped]
    skipped += [Skip(f"level {level}", "stopped before it was judged") for level in unjudged]
    whole = {**parts, **{level: Part(LevelReport()) for level in unjudged}}
    return _report(subject, coverage, whole, skipped)


def _report(subject: UnderTest, coverage: Coverage, parts: Mapping[str, Part], skipped: Sequence[Skip]) -> RunReport:
    declaration = subject.declaration
    masks = sorted(declaration.findings.items())
    skipped = [*skipped, *(Skip(what, f"masked by the finding {finding}") for what, finding in masks)]
    laws = declaration.system.laws
    return RunReport(
        subject=subject.name,
        source=declaration.implementation.get("source"),
        system=declaration.system.name,
        levels={level: part.level for level, part in parts.items()},
        rules={rule.value: coverage.fired.get(rule, 0) for rule in laws.rules},
        cells={cell: coverage.cells.get(cell, 0) for cell in laws.cells},
        failures=tuple(failure for part in parts.values() for failure in part.failures),
        skipped=tuple(skipped),
    )


def _judged(subject: UnderTest, level: str, options: Options, coverage: Coverage, notify: Notify, hung: bool) -> Part:
    """One level, where it can be asked; `hung`: a case of an earlier level never ended."""
    declaration = subject.declaration
    wanted = declaration.system.ops_up_to(level)
    unasked = _unasked(declaration, level)
    if hung:
        reason = "a run of an earlier level never ended, and this level plays its operations too"
        return Part(unasked, skipped=(Skip(f"level {level}", reason),))
    if not declaration.system.own_ops(level) & declaration.ops:
        return Part(unasked, skipped=(Skip(f"level {level}", "the subject declares no operation of this level"),))
    menu = declaration.system.cases.menu([name for name in wanted if name in declaration.ops], level)
    if not self_check(declaration, menu, options.seed):
        reason = (
            "the operations that the subject declares of this level are never asked without others, or tell nothing"
        )
        return Part(unasked, skipped=(Skip(f"level {level}", reason),))
    met = Coverage(definition=coverage.definition)
    begun = time.monotonic()
    own = try_own(subject, options.first, level)
    if own.failing:
        return _own_failures(subject, level, own, options, unasked, begun)
    found = _search(subject, level, menu, options, met, notify)
    coverage.add_all(met)
    judged = replace(unasked, examples=met.examples, steps=met.steps)
    reasons = Counter(run.reason for run in found.skipped)
    skipped = tuple(Skip(f"{level}: {count} runs", reason) for reason, count in sorted(reasons.items()))
    skipped += own.skipped
    if found.failure is None:
        verdict = Verdict.CONFORMS if judged.examples else Verdict.NOTHING_CHECKED
        rules = rules_met(met, verdict, (), options.profile)
        return Part(replace(judged, verdict=verdict, rules=rules, seconds=since(begun)), skipped=skipped)
    # What answers says more than silence, so it stands first.
    shown = (_behind(subject, menu, found.failure, options), found.failure)
    failures = tuple(written(subject, failing, options.failures, level) for failing in shown if failing is not None)
    hung = any(failing is not None and hangs(failing) for failing in shown)
    rules = rules_met(met, Verdict.VIOLATES, failures, options.profile)
    judged = replace(judged, verdict=Verdict.VIOLATES, rules=rules, seconds=since(begun))
    return Part(judged, failures, skipped, hung)


def _unasked(declaration: Declaration, level: str) -> LevelReport:
    """A level of which nothing was asked."""
    wanted = declaration.system.ops_up_to(level)
    return LevelReport(missing=tuple(name for name in wanted if name not in declaration.ops))


def _own_failures(
    subject: UnderTest, level: str, own: Tried, options: Options, unasked: LevelReport, begun: float
) -> Part:
    """A level at which cases of findings differ: what a search would find beside them is not looked for."""
    failures = tuple(
        replace(written(subject, failing, options.failures, level), finding=finding) for finding, failing in own.failing
    )
    rules = rules_met(Coverage(), Verdict.VIOLATES, failures, options.profile)
    steps = sum(len(failing.case.steps) for _, failing in own.failing)
    judged = replace(unasked, examples=len(failures), steps=steps, verdict=Verdict.VIOLATES, rules=rules)
    hung = any(hangs(failing) for _, failing in own.failing)
    return Part(replace(judged, seconds=since(begun)), failures, own.skipped, hung)


def since(begun: float) -> float:
    """The seconds since then, to the millisecond."""
    return round(time.monotonic() - begun, 3)


def hangs(failure: FailingCase) -> bool:
    """Whether the failing run never ended: finding that again would cost its time-outs again."""
    failed = failure.difference.failed
    return failed is not None and failed.trouble is Trouble.HANG


def self_check(declaration: Declaration, menu: Sequence[str], seed: int) -> bool:
    """Catch a reference that is broken on purpose, with the very operations of this run, or stop.

    Whether there was anything to catch: with some operations alone no answer can be wrong.

    Raises:
        SelfCheckFailed: it was not caught.
    """
    last = max(declaration.system.levels.index(declaration.system.ops[name].level) for name in menu)
    own = declaration.system.own_ops(declaration.system.levels[last])
    for name in dict.fromkeys(name for name in menu if name in own or own.isdisjoint(menu)):
        broken = broken_reference(declaration, name)
        if search(broken, menu, 300, seed, Coverage(), shrinks=False).failure is not None:
            return True
        if broken.lies:
            raise SelfCheckFailed("a subject that is broken on purpose was not caught; this run would prove nothing")
    return False


def _search(
    subject: UnderTest, level: str, menu: Sequence[str], options: Options, coverage: Coverage, notify: Notify
) -> Search:
    """A search first, smaller ones of themes, then, where asked for, seeded cases for that many seconds."""
    wanted = options.profile.examples

    def progress(count: int) -> None:
        notify(level, coverage.examples + count, wanted if count else 0)

    found = search(subject, menu, wanted, options.seed, coverage, progress)
    for theme, one_to in subject.declaration.system.cases.extra_themes.items():
        if found.failure is None:
            more = search(subject, menu, number_beside(wanted, one_to), options.seed, coverage, progress, theme)
            found = Search(more.failure, found.skipped + more.skipped)
    if found.failure is None and options.bulk_seconds > 0:
        end = time.monotonic() + options.bulk_seconds
        more = bulk(subject, menu, options.seed, coverage, lambda: time.monotonic() >= end, progress)
        found = Search(more.failure, found.skipped + more.skipped)
    return found


def number_beside(examples: int, one_to: int) -> int:
    """How many cases of a theme there are beside so many usual ones, one to so many."""
    return max(1, examples // one_to)


def _behind(subject: UnderTest, menu: Sequence[str], failure: FailingCase, options: Options) -> FailingCase | None:
    """A difference that a step without an answer hides: the level once more without that operation.

    Where that finds none that answers, other seeds are tried with all operations: this one may answer wrongly too.
    """
    if not failure.difference.is_silent or not failure.case.steps:
        return None
    silent = type(failure.case.steps[failure.difference.at]).name
    rest = [name for name in menu if name != silent]
    examples = options.profile.examples
    with hurried(subject, TRY_SECONDS) if hangs(failure) else nullcontext():
        behind = search(subject, rest, examples, options.seed, Coverage()).failure if rest else None
        if behind is not None and not behind.difference.is_silent:
            return behind
        for seed in range(options.seed + 1, options.seed + 1 + OTHER_SEEDS):
            found = search(subject, menu, examples, seed, Coverage(), shrinks=False).failure
            if found is not None and not found.difference.is_silent:
                return search(subject, menu, examples, seed, Coverage()).failure
    return None if behind is not None and hangs(behind) else behind


def _hold_minimums(
    declaration: Declaration, parts: dict[str, Part], options: Options, coverage: Coverage
) -> list[Skip]:
    """A clean run that met too little has checked nothing: the last level that conformed says so."""
    conforming = [level for level, part in parts.items() if part.level.verdict is Verdict.CONFORMS]
    if not conforming or any(part.level.verdict is Verdict.VIOLATES for part in parts.values()):
        return []
    level = conforming[-1]
    all_levels = tuple(parts) == declaration.system.levels
    few = met_too_seldom(declaration, level, options.profile, all_levels, coverage)
    if not few:
        return []
    judged = parts[level].level
    unmet = {
        rule: RuleReport(judged.rules[rule].fired, Verdict.NOTHING_CHECKED) for rule in few if rule in judged.rules
    }
    judged = replace(judged, verdict=Verdict.NOTHING_CHECKED, rules={**judged.rules, **unmet})
    parts[level] = parts[level]._replace(level=judged)
    return [Skip(f"level {level}", f"the run met too seldom: {', '.join(few)}")]
