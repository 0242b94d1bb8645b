"""Play the seeded cases of a search on a changed reference, and compare the answers.

The cases of a search follow from its seed, so they are made once with the reference's answers. Every changed reference
answers them in a process of its own, as a subject would, until an answer differs. A step that no probe of the change
notes, from an equal state, is the same step and is not played again. The
last quarter of the cases of a search is left out.
"""

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import GeneratedCase, make_seeded_cases
from entrycache_conformance.levels import CONCURRENT_LEVEL, Profile
from entrycache_conformance.search import profile_case_count
from entrycache_dev.matrix import mutants, process
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.probes import EVERYWHERE, Places, Probes, are_identical
from entrycache_dev.matrix.process import ProcessDied, TimeOver, run_in_child, run_within
from entrycache_evidence.core.scheduler import map_in_processes
from entrycache_protocol.case import Case, case_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem

SECONDS: Final = 0.5
"""The time of a case on a changed reference; the reference took 0.17 s at most at seed 0."""

SECONDS_AT_ONCE: Final = 60.0
"""The time of all cases that are asked together; a change that takes longer counts as not seen."""


class RecordedCase(NamedTuple):
    """A case with the reference's steps; `places` are the places of its first state, then of each step."""

    case: Case
    first: Any
    steps: Sequence[Any]
    places: Sequence[int]


def record_cases(generated: Iterable[GeneratedCase], probes: Probes) -> list[RecordedCase]:
    """Play the cases on the reference and note the places of their steps."""
    cases = list(generated)
    with probes.listening() as places:
        return [_record_case(one, places) for one in cases]


def _record_case(generated: GeneratedCase, places: Places) -> RecordedCase:
    model, config = generated.case.system.model, generated.case.config
    places.clear()
    state = first = model.initial(config)
    sums = [_sum(places)]
    for op, done in zip(generated.case.steps, generated.steps, strict=True):
        places.clear()
        again = model.step(state, op, config)
        assert (again.outcome, again.state) == (done.outcome, done.state)  # the same step twice has the same result
        sums.append(_sum(places))
        state = done.state
    return RecordedCase(generated.case, first, generated.steps, sums)


def _sum(visited: Places) -> int:
    places = EVERYWHERE
    for place in visited:
        places |= place
    return places


def is_in_outcomes(cases: Iterable[RecordedCase], place: int, again: bool) -> bool:
    """Return whether an outcome, an error or an endless case shows the change in this process.

    `again` means that the modules of the reference were imported again.
    """
    return _is_any_true(
        _compare_reimported(cases) if again else (partial(_outcomes_differ, one, place) for one in cases)
    )


def is_in_rows(cases: Iterable[RecordedCase], place: int) -> bool:
    """Return whether the rows or the parts of a step show the change in this process."""
    return _is_any_true(partial(_rows_differ, one, place) for one in cases)


def _is_any_true(questions: Iterable[Callable[[], bool]]) -> bool:
    end = time.process_time() + SECONDS_AT_ONCE
    try:
        for work in questions:
            if run_within(SECONDS, work):
                return True
            if time.process_time() > end:
                return False
    except (Exception, TimeOver):
        return True
    return False


def _outcomes_differ(one: RecordedCase, place: int) -> bool:
    return any(done.outcome != known.outcome for done, known in _steps(one, place))


def _rows_differ(one: RecordedCase, place: int) -> bool:
    return any(_trace_of(done) != _trace_of(known) for done, known in _steps(one, place))


def _trace_of(done: Any) -> Any:
    return done.rows, getattr(done, "parts", ())


def _steps(one: RecordedCase, place: int) -> Iterator[tuple[Any, Any]]:
    """Yield the steps that may differ, each with the reference's step."""
    model, config = one.case.system.model, one.case.config
    known_state = one.first
    state = model.initial(config) if one.places[0] & place else known_state
    for op, known, places in zip(one.case.steps, one.steps, one.places[1:], strict=True):
        if not places & place and are_identical(state, known_state):
            state = known_state = known.state
            continue
        done = model.step(state, op, config)
        yield done, known
        state, known_state = done.state, known.state


def _compare_reimported(cases: Iterable[RecordedCase]) -> Iterator[Callable[[], bool]]:
    """Yield a comparison of each whole case, for modules that were imported again."""
    systems = importlib.import_module("entrycache_conformance.systems").SYSTEMS
    read = importlib.import_module("entrycache_protocol.case").case_from_json
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


# --- The seeds of a search

GUARDS: Final = frozenset(
    {
        *("comparison", "and, or", "negated condition", "condition dropped", "operand dropped", "operator"),
        *("constant", "function", "always the first", "always the second"),
    }
)
"""Kinds of changes that alter a guard, a comparison or a compared value."""

GROWTH: Final = 2
"""The growth of the blocks of cases behind the first ones of a seed."""

ENOUGH: Final = 5
"""The number of cases, in units of the quick ones, if only something else may show a change."""

SECONDS_MOST: Final = 1_200
"""The time of a change over all cases before it is killed, which counts as an error."""

Progress = Callable[[int], None]


def select_guards(changes: Sequence[Change], system: AnySystem) -> list[Change]:
    """Return the changes of the guards of a system's reference."""
    package = mutants.package_of(system) + "."
    return [change for change in changes if change.kind in GUARDS and f"{change.module}.".startswith(package)]


def cases_of(declaration: Declaration, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    """Yield the seeded cases of a run, level by level in turn, and those of workload profiles at last."""
    levels = _levels(declaration)
    return _alternate(
        chain(_usual_cases(declaration, at, profile, seed), _profile_cases(declaration, at, profile, seed))
        for at in levels
    )


def profile_cases(declaration: Declaration, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    """Yield the cases of workload profiles alone, level by level in turn."""
    return _alternate(_profile_cases(declaration, at, profile, seed) for at in _levels(declaration))


def _levels(declaration: Declaration) -> list[str]:
    return [level for level in declaration.system.levels if level != CONCURRENT_LEVEL]


def _alternate(several: Iterable[Iterator[GeneratedCase]]) -> Iterator[GeneratedCase]:
    return (generated for turn in zip_longest(*several) for generated in turn if generated is not None)


def _menu(declaration: Declaration, level: str) -> Sequence[str]:
    names = declaration.ops_up_to(level)
    return declaration.system.cases.menu(names, level)


def asked_count(examples: int) -> int:
    """Return how many of the cases of a search are asked: three quarters. A search plays more, and sees no less."""
    return examples * 3 // 4


def _usual_cases(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    return make_seeded_cases(declaration, _menu(declaration, level), asked_count(profile.examples), seed)


def _profile_cases(declaration: Declaration, level: str, profile: Profile, seed: int) -> Iterator[GeneratedCase]:
    menu, extra_workloads = _menu(declaration, level), declaration.system.cases.extra_workloads
    return _alternate(
        make_seeded_cases(declaration, menu, asked_count(profile_case_count(profile.examples, one_to)), seed, workload)
        for workload, one_to in extra_workloads.items()
    )


class SearchSettings(NamedTuple):
    """The settings of a search: the first `quick` cases of each seed, and the others if these show nothing."""

    declaration: Declaration
    profile: Profile
    at_import: frozenset[str]
    quick: int = 200


Missed = dict[str, tuple[int, ...]]
"""The seeds that did not show a change, by its id."""


def find_missed_seeds(
    changes: Sequence[Change], search: SearchSettings, seeds: Sequence[int], report: Progress = lambda _: None
) -> Missed:
    """Return the seeds at which no case shows a change."""
    first = prepare_cases(changes, search, {seed: islice(_cases(search, seed), search.quick) for seed in seeds})
    first_misses = find_unseen_seeds(changes, first, search, report)
    missed: Missed = {change.id: () for change in changes}
    for seed in seeds:
        left = [change for change, silent in zip(changes, first_misses, strict=True) if seed in silent]
        for more in _later_blocks(search, seed) if left else ():
            silent = find_unseen_seeds(left, prepare_cases(left, search, {seed: more}), search)
            left = [change for change, seeds_ in zip(left, silent, strict=True) if seeds_]
            if not left:
                break
        for change in left:
            missed[change.id] += (seed,)
    return missed


def _cases(search: SearchSettings, seed: int) -> Iterator[GeneratedCase]:
    return cases_of(search.declaration, search.profile, seed)


def _later_blocks(search: SearchSettings, seed: int) -> Iterator[list[GeneratedCase]]:
    """Yield the cases behind the first ones in growing blocks, since most changes show early."""
    rest = _later_cases(search, seed)
    size = search.quick
    while some := list(islice(rest, size)):
        yield some
        size *= GROWTH


def _later_cases(search: SearchSettings, seed: int) -> Iterator[GeneratedCase]:
    """Yield the cases behind the first ones, usual ones and those of workload profiles in turn."""
    levels = _levels(search.declaration)
    usual = _alternate(_usual_cases(search.declaration, level, search.profile, seed) for level in levels)
    return _alternate((islice(usual, search.quick, None), profile_cases(search.declaration, search.profile, seed)))


class PreparedCases(NamedTuple):
    """The cases of some seeds, with the places that probes noted about the changes."""

    probes: Probes
    cases: Mapping[int, Sequence[RecordedCase]]


def prepare_cases(
    changes: Sequence[Change], search: SearchSettings, cases: Mapping[int, Iterable[GeneratedCase]]
) -> PreparedCases:
    """Prepare these cases for these changes."""
    probes = Probes(mutants.package_of(search.declaration.system), changes)
    return PreparedCases(probes, {seed: record_cases(generated, probes) for seed, generated in cases.items()})


def find_unseen_seeds(
    changes: Sequence[Change], prepared: PreparedCases, search: SearchSettings, report: Progress = lambda _: None
) -> list[frozenset[int]]:  # fmt: skip
    """Return for each change the seeds whose cases do not show it."""

    def silent(place: int, again: bool) -> frozenset[int]:
        return frozenset(seed for seed, of_seed in prepared.cases.items() if not is_in_outcomes(of_seed, place, again))

    return [frozenset(seeds or ()) for seeds in _ask_each(changes, prepared.probes, search, silent, report)]


def first_cases(search: SearchSettings) -> list[GeneratedCase]:
    """Return the cases of one seed that are asked if only something else may show a change."""
    first = islice(_cases(search, 0), search.quick)
    return list(islice(chain(first, _later_cases(search, 0)), ENOUGH * search.quick))


def shown_by_outcomes(
    changes: Sequence[Change], search: SearchSettings, cases: Sequence[GeneratedCase]
) -> list[Change]:
    """Return the changes that an outcome of these cases shows."""
    return _select_changes(changes, search, cases, is_in_outcomes)


def shown_by_rows(changes: Sequence[Change], search: SearchSettings, cases: Sequence[GeneratedCase]) -> list[Change]:
    """Return the changes that rows show, of those that need no new import."""
    return _select_changes(changes, search, cases, lambda cases, place, again: not again and is_in_rows(cases, place))


def _select_changes(
    changes: Sequence[Change], search: SearchSettings, cases: Sequence[GeneratedCase],
    is_so: Callable[[Sequence[RecordedCase], int, bool], bool],
) -> list[Change]:  # fmt: skip
    if not changes:
        return []
    prepared = prepare_cases(changes, search, {0: cases})
    answers = _ask_each(changes, prepared.probes, search, partial(is_so, prepared.cases[0]), lambda _: None)
    return [change for change, one in zip(changes, answers, strict=True) if one is None or one]


def _ask_each(
    changes: Sequence[Change],
    probes: Probes,
    search: SearchSettings,
    question: Callable[[int, bool], Any],
    report: Progress,
) -> list[Any]:
    """Ask about each change in a process of its own; None if the process or the import fails.

    `question` receives the place of the change, and whether the reference was imported again.
    """

    def work(change: Change) -> Any:
        try:
            again = process.apply_change(change, search.at_import)
        except Exception:
            return None
        return question(probes.place(change), again)

    def one(change: Change) -> Any:
        try:
            return run_in_child(partial(work, change), SECONDS_MOST)
        except ProcessDied:
            return None

    return map_in_processes(one, changes, report)
