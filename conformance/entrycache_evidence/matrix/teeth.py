"""What the search of a run sees of the changed guards of a reference, seed by seed.

The seeded cases of a search follow from its seed alone, so those of a seed are made once, with the outcomes of the
reference, and every changed reference answers them in a process of its own, as a subject would. What Hypothesis would
find beside them is not counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.level import LEVEL
from entrycache_conformance.generate import Made
from entrycache_conformance.profiles import Profile
from entrycache_conformance.run import number_great
from entrycache_conformance.search import seeded
from entrycache_conformance.subjects.reference import reference
from entrycache_evidence.forked import each
from entrycache_evidence.matrix import apply
from entrycache_evidence.matrix.change import Change
from entrycache_evidence.matrix.child import Died, TooLong, in_child, within
from entrycache_evidence.matrix.run import package_of
from entrycache_protocol.case import Case, to_json
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


class Expected(NamedTuple):
    """A case and the reference's outcomes."""

    case: Case
    outcomes: tuple[Any, ...]


def guards(changes: Sequence[Change], system: AnySystem) -> list[Change]:
    """The changes of the guards of a system's reference."""
    package = package_of(system) + "."
    return [change for change in changes if change.kind in GUARDS and f"{change.module}.".startswith(package)]


def cases_of(system: AnySystem, profile: Profile, seed: int) -> list[Expected]:
    """The seeded cases of a run on the whole reference: of each level the first one, then of each the second."""
    levels = [_of_level(system, level, profile, seed) for level in system.levels if level != LEVEL]
    return [
        Expected(made.case, tuple(done.outcome for done in made.steps))
        for turn in zip_longest(*levels)
        for made in turn
        if made is not None
    ]


def _of_level(system: AnySystem, level: str, profile: Profile, seed: int) -> Iterator[Made]:
    declaration = reference(system).declaration
    menu = system.cases.menu([name for name in system.ops_up_to(level) if name in declaration.ops], level)
    yield from (one.made for one in seeded(declaration, menu, profile.examples, seed))
    if system.cases.great is not None:
        great = seeded(declaration, menu, number_great(profile.examples), seed, system.cases.great)
        yield from (one.made for one in great)


def seen_by(
    changes: Sequence[Change], cases: Sequence[Expected], at_import: frozenset[str],
    told: Callable[[int], None] = lambda _: None,
) -> list[bool]:  # fmt: skip
    """Whether a case shows each change: by an outcome, by an error, or since it never ends."""
    return each(lambda change: _forked(change, cases, at_import), changes, told)


def _forked(change: Change, cases: Sequence[Expected], at_import: frozenset[str]) -> bool:
    def differs() -> bool:
        try:
            again = apply.put(change, at_import)
            return _any_differs(cases, again)
        except (Exception, TooLong):
            return True

    try:
        return bool(in_child(differs))
    except Died:
        return True


def _any_differs(cases: Sequence[Expected], again: bool) -> bool:
    for case, outcomes in _anew(cases) if again else cases:
        shown = case.system.wire.write_outcome if again else _itself
        if within(SECONDS, partial(_differs, case, outcomes, shown)):
            return True
    return False


def _itself(outcome: Any) -> Any:
    return outcome


def _differs(case: Case, outcomes: Sequence[Any], shown: Callable[[Any], Any]) -> bool:
    state = case.system.model.initial(case.config)
    step, config = case.system.model.step, case.config
    for op, expected in zip(case.steps, outcomes, strict=True):
        done = step(state, op, config)
        if shown(done.outcome) != expected:
            return True
        state = done.state
    return False


def _anew(cases: Sequence[Expected]) -> Iterator[Expected]:
    """The same cases as the modules that were imported anew know them, with outcomes as they are written."""
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").from_json
    for case, outcomes in cases:
        yield Expected(read(to_json(case), systems), tuple(case.system.wire.write_outcome(one) for one in outcomes))
