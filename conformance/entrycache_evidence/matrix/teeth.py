"""What the search of a run sees of the changed guards of a reference, seed by seed.

The seeded cases of a search follow from its seed alone, so they are made once, with the answers of the reference, and
every changed reference answers them in a process of its own, as a subject would, until one answer differs. What
Hypothesis would find beside them is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from entrycache_evidence.matrix.child import Died, in_child
from entrycache_evidence.matrix.played import Beside, beside, is_seen, is_told
from entrycache_evidence.matrix.probes import Probes
from entrycache_evidence.matrix.tried import package_of
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem

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


def cases_of(declaration: Declaration, profile: Profile, seed: int) -> Iterator[Made]:
    """The seeded cases of a run: of each level the first one, then of each the second; at last those of themes."""
    levels = _levels(declaration)
    return _turns(
        chain(_usual(declaration, at, profile, seed), _themes(declaration, at, profile, seed)) for at in levels
    )


def theme_cases(declaration: Declaration, profile: Profile, seed: int) -> Iterator[Made]:
    """Those of themes alone: of each level the first one of each theme, then the second."""
    return _turns(_themes(declaration, at, profile, seed) for at in _levels(declaration))


def _levels(declaration: Declaration) -> list[str]:
    return [level for level in declaration.system.levels if level != LEVEL]


def _turns(several: Iterable[Iterator[Made]]) -> Iterator[Made]:
    return (made for turn in zip_longest(*several) for made in turn if made is not None)


def _menu(declaration: Declaration, level: str) -> Sequence[str]:
    names = [name for name in declaration.system.ops_up_to(level) if name in declaration.ops]
    return declaration.system.cases.menu(names, level)


def _usual(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[Made]:
    return seeded_cases(declaration, _menu(declaration, level), profile.examples, seed)


def _themes(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[Made]:
    menu, beside_it = _menu(declaration, level), declaration.system.cases.extra_themes
    return _turns(
        seeded_cases(declaration, menu, number_beside(profile.examples, one_to), seed, theme)
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


def _cases(look: Look, seed: int) -> Iterator[Made]:
    return cases_of(look.declaration, look.profile, seed)


def _others(look: Look, seed: int) -> Iterator[list[Made]]:
    """The cases behind the first ones, ever more at a time: most of what is left is shown soon."""
    rest = _rest(look, seed)
    size = look.quick
    while some := list(islice(rest, size)):
        yield some
        size *= GROWTH


def _rest(look: Look, seed: int) -> Iterator[Made]:
    """The cases behind the first ones, usual ones and those of themes in turn."""
    levels = _levels(look.declaration)
    usual = _turns(_usual(look.declaration, level, look.profile, seed) for level in levels)
    return _turns((islice(usual, look.quick, None), theme_cases(look.declaration, look.profile, seed)))


class Asked(NamedTuple):
    """The cases of some seeds, with what probes note of their steps about the changes that are asked about."""

    probes: Probes
    cases: Mapping[int, Sequence[Beside]]


def asked_beside(changes: Sequence[Change], look: Look, cases: Mapping[int, Iterable[Made]]) -> Asked:
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


def first_cases(look: Look) -> list[Made]:
    """Cases of one seed that are asked where only something else may show a change."""
    first = islice(_cases(look, 0), look.quick)
    return list(islice(chain(first, _rest(look, 0)), ENOUGH * look.quick))


def shown(changes: Sequence[Change], look: Look, cases: Sequence[Made]) -> list[Change]:
    """The changes that an outcome of these cases shows."""
    return _those(changes, look, cases, is_seen)


def told_by_rows(changes: Sequence[Change], look: Look, cases: Sequence[Made]) -> list[Change]:
    """The changes that rows show; they are told of the reference that is only changed, not imported anew."""
    return _those(changes, look, cases, lambda cases, place, again: not again and is_told(cases, place))


def _those(
    changes: Sequence[Change], look: Look, made: Sequence[Made], is_so: Callable[[Sequence[Beside], int, bool], bool]
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
            again = apply.put(change, look.at_import)
        except Exception:
            return None
        return asked(probes.place(change), again)

    def one(change: Change) -> Any:
        try:
            return in_child(partial(work, change), SECONDS_MOST)
        except Died:
            return None

    return each(one, changes, told)
