"""What the search of a run sees of the changed guards of a reference, seed by seed.

The seeded cases of a search follow from its seed alone, so they are made once, with the steps of the reference, and
every changed reference answers them in a process of its own, as a subject would. What Hypothesis would find beside
them is not counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.generate import Made
from entrycache_conformance.profiles import Profile
from entrycache_conformance.run import number_great
from entrycache_conformance.search import seeded
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
    yield from (one.made for one in seeded(declaration, menu, profile.examples, seed))
    if cases.great is not None:
        great = seeded(declaration, menu, number_great(profile.examples), seed, cases.great)
        yield from (one.made for one in great)


class Look(NamedTuple):
    """How changes are looked at: with the `quick` first cases of a seed, and with all where these show nothing."""

    declaration: Declaration
    profile: Profile
    seeds: Sequence[int]
    at_import: frozenset[str]
    quick: int = 200
    patience: int = 2
    """A change that so many whole seeds in a row do not see is not asked about at the others."""


Missed = dict[str, tuple[int, ...]]
"""By the id of a change, the seeds at which it was asked about and not seen."""


def missed(changes: Sequence[Change], look: Look, told: Told = lambda _: None) -> Missed:
    """The seeds at which no case shows a change: by an outcome, by an error, or since it never ends.

    A change that `patience` whole seeds do not see is not asked about at the others.
    """
    first, others = look.seeds[: look.patience], look.seeds[look.patience :]
    begun = unseen(changes, _first_cases(look, first), look.at_import, told)
    easy = [change for change, seeds in zip(changes, begun, strict=True) if not seeds]
    left = dict(zip(changes, begun, strict=True))
    left |= dict(zip(easy, unseen(easy, _first_cases(look, others), look.at_import), strict=True))
    found: Missed = {change.id: () for change in changes}
    for seed in look.seeds:
        asked = [change for change in changes if _is_asked(change, seed, left, found, look)]
        rest = {seed: list(cases_of(look.declaration, look.profile, seed))} if asked else {}
        for change, silent in zip(asked, unseen(asked, rest, look.at_import), strict=True):
            found[change.id] += tuple(silent)
    return found


def _is_asked(change: Change, seed: int, left: Mapping[Change, frozenset[int]], found: Missed, look: Look) -> bool:
    """Whether all cases of a seed are asked: of an easy change where the first ones of that seed do not show it."""
    first = look.seeds[: look.patience]
    if not left[change] & frozenset(first):
        return seed in left[change]
    return seed in first or not is_given_up(found[change.id], look)


def is_given_up(seeds: tuple[int, ...], look: Look) -> bool:
    """Whether none of the seeds that were asked first sees it."""
    return seeds[: look.patience] == tuple(look.seeds[: look.patience])


def _first_cases(look: Look, seeds: Sequence[int]) -> dict[int, list[Made]]:
    return {seed: list(islice(cases_of(look.declaration, look.profile, seed), look.quick)) for seed in seeds}


def unseen(
    changes: Sequence[Change], cases: Mapping[int, Sequence[Made]], at_import: frozenset[str],
    told: Told = lambda _: None,
) -> list[frozenset[int]]:  # fmt: skip
    """For each change the seeds of which no case shows it."""
    return each(lambda change: _forked(change, cases, at_import), changes, told)


def _forked(change: Change, cases: Mapping[int, Sequence[Made]], at_import: frozenset[str]) -> frozenset[int]:
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


def _is_seen(cases: Sequence[Made], again: bool) -> bool:
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


def _as_they_are_known(cases: Sequence[Made], again: bool) -> Iterator[tuple[Case, list[Any], Callable[[Any], Any]]]:
    """The cases with their outcomes; for modules that were imported `again`, as these read and write them."""
    if not again:
        yield from ((made.case, [done.outcome for done in made.steps], _itself) for made in cases)
        return
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").from_json
    for made in cases:
        write = made.case.system.wire.write_outcome
        known = read(to_json(made.case), systems)
        yield known, [write(done.outcome) for done in made.steps], known.system.wire.write_outcome


def _itself(outcome: Any) -> Any:
    return outcome


class Silent(NamedTuple):
    """Why outcomes do not show a change: only rows do, or only outcomes under a variant; empty: neither was found."""

    rows: bool = False
    variant: str = ""


def why_silent(changes: Sequence[Change], look: Look, variants: Mapping[str, Declaration]) -> list[Silent]:
    """What shows a change that no outcome shows: the rows of the same steps, or outcomes under a variant."""
    of_norm = list(islice(cases_of(look.declaration, look.profile, look.seeds[0]), 5 * look.quick))
    of_variants = {
        name: list(islice(cases_of(each_, look.profile, 0), 5 * look.quick)) for name, each_ in variants.items()
    }

    def why(change: Change) -> Silent:
        def asked() -> Silent:
            again = apply.put(change, look.at_import)
            if not again and any(map(_rows_differ, of_norm)):
                return Silent(rows=True)
            named = (name for name, cases in of_variants.items() if _is_seen(cases, again))
            return Silent(variant=next(named, ""))

        return Silent(*in_child(asked))

    return each(why, changes)


def _rows_differ(made: Made) -> bool:
    state = made.case.system.model.initial(made.case.config)
    for op, expected in zip(made.case.steps, made.steps, strict=True):
        done = made.case.system.model.step(state, op, made.case.config)
        if (done.rows, getattr(done, "parts", ())) != (expected.rows, getattr(expected, "parts", ())):
            return True
        state = done.state
    return False
