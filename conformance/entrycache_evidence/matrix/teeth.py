"""What the search of a run sees of the changed guards of a reference, seed by seed.

The seeded cases of a search follow from its seed alone, so they are made once, with the answers of the reference, and
every changed reference answers them in a process of its own, as a subject would, until one answer differs. What
Hypothesis would find beside them is not counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.generate import Made
from entrycache_conformance.profiles import Profile
from entrycache_conformance.run import number_beside
from entrycache_conformance.search import seeded_cases
from entrycache_evidence.forked import each
from entrycache_evidence.matrix import apply
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.child import Died, TooLong, in_child, within
from entrycache_evidence.matrix.tried import package_of
from entrycache_protocol.case import Case, to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem

GUARDS: Final = frozenset(
    {
        *("comparison", "and, or", "negated condition", "condition dropped", "operand dropped", "operator"),
        *("constant", "function", "always the first", "always the second"),
    }
)
"""Kinds of changes that make a guard, a comparison or what is compared another one."""

SECONDS: Final = 2.0
"""What a case may take of a changed reference's own time; the reference takes a hundredth at most."""

GROWTH: Final = 4
"""Behind the first cases of a seed the next so many times as many are asked together."""

Told = Callable[[int], None]


def guards(changes: Sequence[Change], system: AnySystem) -> list[Change]:
    """The changes of the guards of a system's reference."""
    package = package_of(system) + "."
    return [change for change in changes if change.kind in GUARDS and f"{change.module}.".startswith(package)]


def cases_of(declaration: Declaration, profile: Profile, seed: int) -> Iterator[Made]:
    """The seeded cases of a run: of each level the first one, then of each the second."""
    levels = [level for level in declaration.system.levels if level != LEVEL]
    turns = zip_longest(*(_of_level(declaration, level, profile, seed) for level in levels))
    return (made for turn in turns for made in turn if made is not None)


def _of_level(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[Made]:
    cases = declaration.system.cases
    menu = cases.menu([name for name in declaration.system.ops_up_to(level) if name in declaration.ops], level)
    yield from seeded_cases(declaration, menu, profile.examples, seed)
    for theme, one_to in cases.beside.items():
        yield from seeded_cases(declaration, menu, number_beside(profile.examples, one_to), seed, theme)


class Look(NamedTuple):
    """How changes are looked at: of each seed the `quick` first cases, and the others where these show nothing."""

    declaration: Declaration
    profile: Profile
    at_import: frozenset[str]
    quick: int = 200


class Answered(NamedTuple):
    """A case with what the reference answers."""

    case: Case
    outcomes: list[Any]


Missed = dict[str, tuple[int, ...]]
"""By the id of a change, the seeds at which it was asked about and not seen."""


def missed(changes: Sequence[Change], look: Look, seeds: Sequence[int], told: Told = lambda _: None) -> Missed:
    """The seeds at which no case shows a change: by an outcome, by an error, or since it never ends."""
    first = {seed: list(map(_answered, islice(_cases(look, seed), look.quick))) for seed in seeds}
    begun = unseen(changes, first, look.at_import, told)
    found: Missed = {change.id: () for change in changes}
    for seed in seeds:
        left = [change for change, silent in zip(changes, begun, strict=True) if seed in silent]
        for more in _others(look, seed) if left else ():
            silent = unseen(left, {seed: more}, look.at_import)
            left = [change for change, seeds_ in zip(left, silent, strict=True) if seeds_]
            if not left:
                break
        for change in left:
            found[change.id] += (seed,)
    return found


def _cases(look: Look, seed: int) -> Iterator[Made]:
    return cases_of(look.declaration, look.profile, seed)


def _others(look: Look, seed: int) -> Iterator[list[Answered]]:
    """The cases behind the first ones, ever more at a time: most of what is left is shown soon."""
    rest = islice(_cases(look, seed), look.quick, None)
    size = GROWTH * look.quick
    while some := list(map(_answered, islice(rest, size))):
        yield some
        size *= GROWTH


def _answered(made: Made) -> Answered:
    return Answered(made.case, [done.outcome for done in made.steps])


def unseen(
    changes: Sequence[Change], cases: Mapping[int, Sequence[Answered]], at_import: frozenset[str],
    told: Told = lambda _: None,
) -> list[frozenset[int]]:  # fmt: skip
    """For each change the seeds of which no case shows it."""
    for change in changes:
        apply.changed_code(change)
    return each(lambda change: _forked(change, cases, at_import), changes, told)


def _forked(change: Change, cases: Mapping[int, Sequence[Answered]], at_import: frozenset[str]) -> frozenset[int]:
    def silent() -> frozenset[int]:
        try:
            again = apply.put(change, at_import)
        except Exception:
            return frozenset()
        return frozenset(seed for seed, of_seed in cases.items() if not _is_seen(of_seed, again))

    try:
        return frozenset(in_child(silent))
    except Died:
        return frozenset()


def _is_seen(cases: Sequence[Answered], again: bool) -> bool:
    try:
        return any(within(SECONDS, partial(_differs, *one)) for one in _as_they_are_known(cases, again))
    except (Exception, TooLong):
        return True


def _differs(case: Case, outcomes: Sequence[Any], shown: Callable[[Any], Any]) -> bool:
    state = case.system.model.initial(case.config)
    step, config = case.system.model.step, case.config
    for op, expected in zip(case.steps, outcomes, strict=True):
        done = step(state, op, config)
        if shown(done.outcome) != expected:
            return True
        state = done.state
    return False


def _as_they_are_known(
    cases: Sequence[Answered], again: bool
) -> Iterator[tuple[Case, list[Any], Callable[[Any], Any]]]:
    """The cases with their outcomes; for modules that were imported `again`, as these read and write them."""
    if not again:
        yield from ((one.case, one.outcomes, _itself) for one in cases)
        return
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").from_json
    for one in cases:
        write = one.case.system.wire.write_outcome
        known = read(to_json(one.case), systems)
        yield known, list(map(write, one.outcomes)), known.system.wire.write_outcome


def _itself(outcome: Any) -> Any:
    return outcome


class Silent(NamedTuple):
    """Why outcomes do not show a change: only those under a variant do, or only rows; empty: neither was found."""

    variant: str = ""
    rows: bool = False


def why_silent(changes: Sequence[Change], look: Look, variants: Mapping[str, Declaration]) -> list[Silent]:
    """What shows a change that no outcome shows: outcomes under a variant, or the rows of the same steps."""
    number = 5 * look.quick
    made = {name: list(islice(cases_of(one, look.profile, 0), number)) for name, one in variants.items()}
    of_variants = {name: list(map(_answered, cases)) for name, cases in made.items()}
    of_all = [*islice(_cases(look, 0), number), *chain.from_iterable(made.values())]

    def why(change: Change) -> Silent:
        def asked() -> Silent:
            again = apply.put(change, look.at_import)
            named = next((name for name, cases in of_variants.items() if _is_seen(cases, again)), "")
            return Silent(named, not named and not again and any(map(_is_told, of_all)))

        return Silent(*in_child(asked))

    return each(why, changes)


def _is_told(made: Made) -> bool:
    try:
        return bool(within(SECONDS, partial(_rows_differ, made)))
    except (Exception, TooLong):
        return True


def _rows_differ(made: Made) -> bool:
    state = made.case.system.model.initial(made.case.config)
    for op, expected in zip(made.case.steps, made.steps, strict=True):
        done = made.case.system.model.step(state, op, made.case.config)
        if (done.rows, getattr(done, "parts", ())) != (expected.rows, getattr(expected, "parts", ())):
            return True
        state = done.state
    return False
