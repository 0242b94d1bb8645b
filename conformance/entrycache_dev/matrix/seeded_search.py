"""What a changed reference makes of cases, beside the reference as it is: of the steps only that may be other ones.

A step that no probe of the change notes, from a state that is the same, is the same step; so it is not played again.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import GeneratedCase, make_seeded_cases
from entrycache_conformance.levels import CONCURRENT_LEVEL, Profile
from entrycache_conformance.run import profile_case_count
from entrycache_dev.matrix import process
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.mutants import package_of
from entrycache_dev.matrix.probes import EVERYWHERE, Met, Probes, are_alike
from entrycache_dev.matrix.process import Died, TooLong, in_child, within
from entrycache_evidence.core.scheduler import map_in_processes
from entrycache_protocol.case import Case, case_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem

SECONDS: Final = 0.5
"""What a case may take of a changed reference's own time; the reference took 0.17 s at most at seed 0."""

SECONDS_AT_ONCE: Final = 60.0
"""What all cases that are asked together may take; where they take more, the change counts as not seen in them."""


class Beside(NamedTuple):
    """A case with the reference's own steps; `met`: the places noted of its first state, then those of each step."""

    case: Case
    first: Any
    steps: Sequence[Any]
    met: Sequence[int]


def beside(made: Iterable[GeneratedCase], probes: Probes) -> list[Beside]:
    """The cases with the places that are noted of their steps."""
    cases = list(made)
    with probes.listening() as met:
        return [_beside(one, met) for one in cases]


def _beside(made: GeneratedCase, met: Met) -> Beside:
    model, config = made.case.system.model, made.case.config
    met.clear()
    state = first = model.initial(config)
    found = [_sum(met)]
    for op, done in zip(made.case.steps, made.steps, strict=True):
        met.clear()
        again = model.step(state, op, config)
        assert (again.outcome, again.state) == (done.outcome, done.state)  # what is asked twice changes nothing
        found.append(_sum(met))
        state = done.state
    return Beside(made.case, first, made.steps, found)


def _sum(met: Met) -> int:
    places = EVERYWHERE
    for place in met:
        places |= place
    return places


def is_seen(cases: Iterable[Beside], place: int, again: bool) -> bool:
    """Whether an outcome of the change that is in this process shows it, or an error, or a case that never ends.

    `again`: the modules of the reference were imported anew for it.
    """
    return _is_so(_played_again(cases) if again else (partial(_outcomes_differ, one, place) for one in cases))


def is_told(cases: Iterable[Beside], place: int) -> bool:
    """Whether the rows of a step show the change that is in this process, or its parts."""
    return _is_so(partial(_rows_differ, one, place) for one in cases)


def _is_so(asked: Iterable[Callable[[], bool]]) -> bool:
    end = time.process_time() + SECONDS_AT_ONCE
    try:
        for work in asked:
            if within(SECONDS, work):
                return True
            if time.process_time() > end:
                return False
    except (Exception, TooLong):
        return True
    return False


def _outcomes_differ(one: Beside, place: int) -> bool:
    return any(done.outcome != known.outcome for done, known in _steps(one, place))


def _rows_differ(one: Beside, place: int) -> bool:
    return any(_told(done) != _told(known) for done, known in _steps(one, place))


def _told(done: Any) -> Any:
    return done.rows, getattr(done, "parts", ())


def _steps(one: Beside, place: int) -> Iterator[tuple[Any, Any]]:
    """The steps that may be other ones, each beside the reference's."""
    model, config = one.case.system.model, one.case.config
    known_state = one.first
    state = model.initial(config) if one.met[0] & place else known_state
    for op, known, met in zip(one.case.steps, one.steps, one.met[1:], strict=True):
        if not met & place and are_alike(state, known_state):
            state = known_state = known.state
            continue
        done = model.step(state, op, config)
        yield done, known
        state, known_state = done.state, known.state


def _played_again(cases: Iterable[Beside]) -> Iterator[Callable[[], bool]]:
    """The cases whole, for modules that were imported anew, as these read and write them."""
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").from_json
    for one in cases:
        outcomes = [one.case.system.wire.write_outcome(done.outcome) for done in one.steps]
        yield partial(_answers_differ, read(case_to_json(one.case), systems), outcomes)


def _answers_differ(case: Any, outcomes: Sequence[Any]) -> bool:
    model, write = case.system.model, case.system.wire.write_outcome
    state = model.initial(case.config)
    for op, expected in zip(case.steps, outcomes, strict=True):
        done = model.step(state, op, case.config)
        if write(done.outcome) != expected:
            return True
        state = done.state
    return False


# --- teeth
# What the search of a run sees of the changed guards of a reference, seed by seed.
#
# The seeded cases of a search follow from its seed alone, so they are made once, with the answers of the reference, and
# every changed reference answers them in a process of its own, as a subject would, until one answer differs. What
# Hypothesis would find beside them is not counted.

GUARDS: Final = frozenset(
    {
        *("comparison", "and, or", "negated condition", "condition dropped", "operand dropped", "operator"),
        *("constant", "function", "always the first", "always the second"),
    }
)
"""Kinds of changes that make a guard, a comparison or what is compared another one."""

GROWTH: Final = 2
"""Behind the first cases of a seed as many are asked together, then so many times as many, and again."""

ENOUGH: Final = 5
"""So many times the quick cases of a seed are asked where only something else may show a change."""

SECONDS_MOST: Final = 1_200
"""What a change may take of all cases of some seeds before it is killed, which counts as an error of a case."""

Told = Callable[[int], None]


def guards(changes: Sequence[Change], system: AnySystem) -> list[Change]:
    """The changes of the guards of a system's reference."""
    package = package_of(system) + "."
    return [change for change in changes if change.kind in GUARDS and f"{change.module}.".startswith(package)]


def cases_of(declaration: Declaration, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    """The seeded cases of a run: of each level the first one, then of each the second; at last those of themes."""
    levels = _levels(declaration)
    return _turns(
        chain(_usual(declaration, at, profile, seed), _themes(declaration, at, profile, seed)) for at in levels
    )


def theme_cases(declaration: Declaration, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    """Those of themes alone: of each level the first one of each theme, then the second."""
    return _turns(_themes(declaration, at, profile, seed) for at in _levels(declaration))


def _levels(declaration: Declaration) -> list[str]:
    return [level for level in declaration.system.levels if level != CONCURRENT_LEVEL]


def _turns(several: Iterable[Iterator[GeneratedCase]]) -> Iterator[GeneratedCase]:
    return (made for turn in zip_longest(*several) for made in turn if made is not None)


def _menu(declaration: Declaration, level: str) -> Sequence[str]:
    names = [name for name in declaration.system.ops_up_to(level) if name in declaration.ops]
    return declaration.system.cases.menu(names, level)


def _usual(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    return make_seeded_cases(declaration, _menu(declaration, level), profile.examples, seed)


def _themes(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    menu, beside_it = _menu(declaration, level), declaration.system.cases.extra_themes
    return _turns(
        make_seeded_cases(declaration, menu, profile_case_count(profile.examples, one_to), seed, theme)
        for theme, one_to in beside_it.items()
    )


class Look(NamedTuple):
    """How changes are looked at: of each seed the `quick` first cases, and the others where these show nothing."""

    declaration: Declaration
    profile: Profile
    at_import: frozenset[str]
    quick: int = 200


Missed = dict[str, tuple[int, ...]]
"""By the id of a change, the seeds at which it was asked about and not seen."""


def missed(changes: Sequence[Change], look: Look, seeds: Sequence[int], told: Told = lambda _: None) -> Missed:
    """The seeds at which no case shows a change: by an outcome, by an error, or since it never ends."""
    first = asked_beside(changes, look, {seed: islice(_cases(look, seed), look.quick) for seed in seeds})
    begun = unseen(changes, first, look, told)
    found: Missed = {change.id: () for change in changes}
    for seed in seeds:
        left = [change for change, silent in zip(changes, begun, strict=True) if seed in silent]
        for more in _others(look, seed) if left else ():
            silent = unseen(left, asked_beside(left, look, {seed: more}), look)
            left = [change for change, seeds_ in zip(left, silent, strict=True) if seeds_]
            if not left:
                break
        for change in left:
            found[change.id] += (seed,)
    return found


def _cases(look: Look, seed: int) -> Iterator[GeneratedCase]:
    return cases_of(look.declaration, look.profile, seed)


def _others(look: Look, seed: int) -> Iterator[list[GeneratedCase]]:
    """The cases behind the first ones, ever more at a time: most of what is left is shown soon."""
    rest = _rest(look, seed)
    size = look.quick
    while some := list(islice(rest, size)):
        yield some
        size *= GROWTH


def _rest(look: Look, seed: int) -> Iterator[GeneratedCase]:
    """The cases behind the first ones, usual ones and those of themes in turn."""
    levels = _levels(look.declaration)
    usual = _turns(_usual(look.declaration, level, look.profile, seed) for level in levels)
    return _turns((islice(usual, look.quick, None), theme_cases(look.declaration, look.profile, seed)))


class Asked(NamedTuple):
    """The cases of some seeds, with what probes note of their steps about the changes that are asked about."""

    probes: Probes
    cases: Mapping[int, Sequence[Beside]]


def asked_beside(changes: Sequence[Change], look: Look, cases: Mapping[int, Iterable[GeneratedCase]]) -> Asked:
    """These cases, to ask about these changes."""
    probes = Probes(package_of(look.declaration.system), changes)
    return Asked(probes, {seed: beside(made, probes) for seed, made in cases.items()})


def unseen(
    changes: Sequence[Change], asked: Asked, look: Look, told: Told = lambda _: None
) -> list[frozenset[int]]:  # fmt: skip
    """For each change the seeds of which no case shows it."""

    def silent(place: int, again: bool) -> frozenset[int]:
        return frozenset(seed for seed, of_seed in asked.cases.items() if not is_seen(of_seed, place, again))

    return [frozenset(found or ()) for found in _each(changes, asked.probes, look, silent, told)]


def first_cases(look: Look) -> list[GeneratedCase]:
    """Cases of one seed that are asked where only something else may show a change."""
    first = islice(_cases(look, 0), look.quick)
    return list(islice(chain(first, _rest(look, 0)), ENOUGH * look.quick))


def shown(changes: Sequence[Change], look: Look, cases: Sequence[GeneratedCase]) -> list[Change]:
    """The changes that an outcome of these cases shows."""
    return _those(changes, look, cases, is_seen)


def told_by_rows(changes: Sequence[Change], look: Look, cases: Sequence[GeneratedCase]) -> list[Change]:
    """The changes that rows show; they are told of the reference that is only changed, not imported anew."""
    return _those(changes, look, cases, lambda cases, place, again: not again and is_told(cases, place))


def _those(
    changes: Sequence[Change], look: Look, made: Sequence[GeneratedCase], is_so: Callable[[Sequence[Beside], int, bool], bool]
) -> list[Change]:  # fmt: skip
    if not changes:
        return []
    asked = asked_beside(changes, look, {0: made})
    found = _each(changes, asked.probes, look, partial(is_so, asked.cases[0]), lambda _: None)
    return [change for change, one in zip(changes, found, strict=True) if one is None or one]


def _each(
    changes: Sequence[Change], probes: Probes, look: Look, asked: Callable[[int, bool], Any], told: Told
) -> list[Any]:
    """What is found of each change in a process of its own; None where that, or the import of it, fails.

    It is asked with the place of the change, and whether the reference was imported anew for it.
    """

    def work(change: Change) -> Any:
        try:
            again = process.put(change, look.at_import)
        except Exception:
            return None
        return asked(probes.place(change), again)

    def one(change: Change) -> Any:
        try:
            return in_child(partial(work, change), SECONDS_MOST)
        except Died:
            return None

    return map_in_processes(one, changes, told)
