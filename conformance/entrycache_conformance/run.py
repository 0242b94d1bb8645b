"""One conformance run: every level of a system, judged on what the subject declares."""

from __future__ import annotations

import dataclasses
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.concurrent.run import Threaded, conform_concurrent
from entrycache_conformance.concurrent.search import Found
from entrycache_conformance.explain import explain
from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.profiles import Profile
from entrycache_conformance.search import Search, bulk, search
from entrycache_conformance.shrink import TRY_SECONDS, hurried
from entrycache_conformance.subjects.broken import broken_reference
from entrycache_protocol.case import Case, write_case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import OurError
from entrycache_protocol.failure import Failure, expected_json, got_json
from entrycache_protocol.subject import Trouble, UnderTest
from entrycache_reference.rules import Rule

OTHER_SEEDS: Final = 3
"""How many more searches look for an answer that a step without one hides."""

SCOUT_CASES: Final = 1_500
"""Cases that tell what is reachable with a part of the operations or of the configuration."""


class Options(NamedTuple):
    """What a run was asked for. `bulk_seconds` 0: Hypothesis alone."""

    levels: tuple[str, ...]
    profile: Profile
    seed: int
    bulk_seconds: float
    failures: Path


class Report(NamedTuple):
    """What came out: the contract's JSON object, and the failures with all that a person wants to see."""

    json: dict[str, Any]
    failures: list[tuple[Failure, tuple[Rule, ...], Path]]
    histories: tuple[tuple[Found, Path], ...] = ()


class SelfCheckFailed(OurError):
    """The run did not catch a subject that is broken on purpose: nothing it says could be believed."""


Notify = Callable[[str, int, int], None]
"""Told the level, the examples judged so far and the examples wanted."""


def conform(subject: UnderTest, options: Options, notify: Notify = lambda level, done, wanted: None) -> Report:
    """Judge a subject at each level; see `Report`.

    Raises:
        BrokenSubject: the subject does not speak the protocol.
        SelfCheckFailed: our error.
    """
    declaration = subject.declaration
    coverage = Coverage()
    levels: dict[str, dict[str, Any]] = {}
    failures: list[tuple[Failure, tuple[Rule, ...], Path]] = []
    skipped: list[dict[str, str]] = []
    for level in options.levels:
        if level == LEVEL:
            continue
        levels[level] = {"examples": 0, "steps": 0, "verdict": "nothing-checked", "missing": []}
        judged = levels[level]
        wanted = declaration.system.ops_up_to(level)
        judged["missing"] = [name for name in wanted if name not in declaration.ops]
        if any(hangs(failure) for failure, _, _ in failures):
            reason = "a run of an earlier level never ended, and this level plays its operations too"
            skipped.append({"what": f"level {level}", "reason": reason})
            continue
        if not declaration.system.own_ops(level) & declaration.ops:
            skipped.append({"what": f"level {level}", "reason": "the subject declares no operation of this level"})
            continue
        menu = declaration.system.cases.menu([name for name in wanted if name in declaration.ops], level)
        self_check(declaration, menu, options.seed)
        found = _search(subject, level, menu, options, coverage, judged, notify)
        reasons = Counter(run.reason for run in found.skipped)
        skipped += [{"what": f"{level}: {count} runs", "reason": reason} for reason, count in sorted(reasons.items())]
        if found.failure is not None:
            judged["verdict"] = "violates"
            # What answers says more than silence, so it stands first.
            shown = (_behind(subject, menu, found.failure, options), found.failure)
            failures += [_written(subject, failure, options.failures) for failure in shown if failure is not None]
        elif judged["examples"]:
            judged["verdict"] = "conforms"
    _hold_minimums(declaration, levels, options, coverage, skipped)
    threaded = Threaded({}, [], [], ())
    if LEVEL in options.levels:
        histories = options.profile.examples
        threaded = conform_concurrent(
            subject, histories, options.seed, options.failures, lambda done, wanted: notify(LEVEL, done, wanted)
        )
        skipped += threaded.skipped
        coverage.fired.update(threaded.fired)
        levels |= threaded.levels
    skipped += [
        {"what": what, "reason": f"masked by the finding {finding}"}
        for what, finding in sorted(declaration.findings.items())
    ]
    json = _to_json(subject, levels, coverage, failures, skipped)
    json["failures"] += threaded.failures
    return Report(json, failures, threaded.found)


def hangs(failure: Failure) -> bool:
    """Whether the failing run never ended: finding that again would cost its time-outs again."""
    failed = failure.difference.failed
    return failed is not None and failed.trouble is Trouble.HANG


def self_check(declaration: Declaration, menu: Sequence[str], seed: int) -> None:
    """Catch a reference that is broken on purpose, with the very operations of this run, or stop.

    Raises:
        SelfCheckFailed: it was not caught.
    """
    last = max(declaration.system.levels.index(declaration.system.ops[name].level) for name in menu)
    own = declaration.system.own_ops(declaration.system.levels[last])
    broken = broken_reference(declaration, next(name for name in menu if name in own or own.isdisjoint(menu)))
    if search(broken, menu, 300, seed, Coverage(), shrinks=False).failure is None:
        raise SelfCheckFailed("a subject that is broken on purpose was not caught; this run would prove nothing")


def _search(
    subject: UnderTest,
    level: str,
    menu: Sequence[str],
    options: Options,
    coverage: Coverage,
    judged: dict[str, Any],
    notify: Notify,
) -> Search:
    """A search first, then, where asked for, seeded cases for that many seconds."""
    before = (coverage.examples, coverage.steps)
    wanted = options.profile.examples

    def progress(count: int) -> None:
        notify(level, coverage.examples - before[0] + count, wanted)

    found = search(subject, menu, wanted, options.seed, coverage, progress)
    if found.failure is None and options.bulk_seconds > 0:
        end = time.monotonic() + options.bulk_seconds
        more = bulk(subject, menu, options.seed, coverage, lambda: time.monotonic() >= end, progress)
        found = Search(more.failure, found.skipped + more.skipped)
    judged["examples"] = coverage.examples - before[0]
    judged["steps"] = coverage.steps - before[1]
    return found


def _behind(subject: UnderTest, menu: Sequence[str], failure: Failure, options: Options) -> Failure | None:
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


def _written(subject: UnderTest, failure: Failure, folder: Path) -> tuple[Failure, tuple[Rule, ...], Path]:
    """A failure with its rules, and the case file that replays it."""
    rules = explain(subject, failure.case, failure.steps, failure.difference)
    difference = failure.difference
    got: tuple[Any, ...] = ()
    if difference.got is not None:
        right = [failure.case.system.wire.write_outcome(done.outcome) for done in failure.steps[: difference.at]]
        got = (*right, failure.case.system.wire.write_outcome(difference.got))
    case: Case = dataclasses.replace(
        failure.case,
        outcomes=tuple(failure.case.system.wire.write_outcome(done.outcome) for done in failure.steps),
        got=got,
        rules=tuple(rule.value for rule in rules),
        note=difference.failed.message if difference.failed is not None else "",
    )
    return failure, rules, write_case(case, folder, rules[0].value.lower())


def _hold_minimums(
    declaration: Declaration,
    levels: dict[str, dict[str, Any]],
    options: Options,
    coverage: Coverage,
    skipped: list[dict[str, str]],
) -> None:
    """A clean run that met too little has checked nothing: the last level that conformed says so."""
    conforming = [level for level, judged in levels.items() if judged["verdict"] == "conforms"]
    if not conforming or any(judged["verdict"] == "violates" for judged in levels.values()):
        return
    level = conforming[-1]
    all_levels = tuple(name for name in options.levels if name != LEVEL) == declaration.system.levels
    rules, cells = reachable(declaration, level, options.profile, all_levels)
    few = [rule.value for rule in rules if coverage.fired.get(rule, 0) < options.profile.rule_minimum]
    few += [cell for cell in cells if coverage.cells.get(cell, 0) < options.profile.cell_minimum]
    if not rules:
        few = ["any rule: so short a run checks nothing"]
    if few:
        levels[level]["verdict"] = "nothing-checked"
        reason = f"the run met too seldom: {', '.join(few)}"
        skipped.append({"what": f"level {level}", "reason": reason})


def reachable(
    declaration: Declaration, level: str, profile: Profile, all_levels: bool = True
) -> tuple[list[Rule], list[str]]:
    """The rules and cells that a run at this level can meet with what the subject declares.

    With every operation and setting declared, nothing fixed and no variant that is all of them, where all levels
    are played. Else a scout tells: seeded cases of the same generator on the reference alone. What it meets less
    than six times (a cell: twelve times) as often as the profile's least is left to chance and not asked for: the
    cases of Hypothesis are less even than seeded ones.
    """
    system = declaration.system
    names = [name for name in system.ops_up_to(level) if name in declaration.ops]
    settings = [
        field.name for field in dataclasses.fields(system.model.config) if field.name not in system.cases.unvaried
    ]
    norm = declaration.variants in {None, system.model.variants()} and not declaration.limits.keeps_rules_out
    everything = norm and len(names) == len(system.ops) and all(declaration.varies(key) for key in settings)
    if everything and all_levels and level == system.levels[-1]:
        asked = [rule for rule in system.laws.rules if rule not in system.laws.of_variants]
        return asked, list(system.laws.cells)
    source = random.Random(0)
    scouted = Coverage()
    menu = system.cases.menu(names, level)
    for _ in range(SCOUT_CASES):
        make_case(source.randint, declaration, menu, scouted)
    share = SCOUT_CASES / profile.examples
    rule_often, cell_often = 6 * profile.rule_minimum * share, 12 * profile.cell_minimum * share
    rules = [rule for rule in system.laws.rules if scouted.fired.get(rule, 0) >= rule_often]
    return rules, [cell for cell in system.laws.cells if scouted.cells.get(cell, 0) >= cell_often]


def _to_json(
    subject: UnderTest,
    levels: dict[str, dict[str, Any]],
    coverage: Coverage,
    failures: list[tuple[Failure, tuple[Rule, ...], Path]],
    skipped: list[dict[str, str]],
) -> dict[str, Any]:
    """The object that `--json` prints; its shape is a contract."""
    verdicts = [judged["verdict"] for judged in levels.values()]
    whole = "conforms" if verdicts and all(verdict == "conforms" for verdict in verdicts) else "nothing-checked"
    return {
        "schema": 1,
        "subject": subject.name,
        "source": subject.declaration.implementation.get("source"),
        "system": subject.declaration.system.name,
        "verdict": "violates" if "violates" in verdicts else whole,
        "levels": levels,
        "rules": {rule.value: {"fired": coverage.fired.get(rule, 0)} for rule in subject.declaration.system.laws.rules},
        "cells": {cell: coverage.cells.get(cell, 0) for cell in subject.declaration.system.laws.cells},
        "failures": [
            {
                "rule": rules[0].value,
                "rules": [rule.value for rule in rules],
                "case": str(path),
                "step": failure.difference.at,
                "expected": expected_json(failure.case.system, failure.difference),
                "got": got_json(failure.case.system, failure.difference),
                "steps": len(failure.case.steps),
            }
            for failure, rules, path in failures
        ],
        "skipped": skipped,
    }
