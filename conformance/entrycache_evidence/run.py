"""Obtain all evidence that a profile asks for, in one run.

`prove` builds the parts of the run: contracts, lemmas, stress runs, bounded models, refinements and the second models.
It runs them together by the scheduler and returns a `Proof`. A part whose tool is missing is skipped and reported. A
run that is stopped returns what its finished parts obtained.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from rich.console import Console

from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.core import checkout, results, scheduler
from entrycache_evidence.core.numbers import check_numbers
from entrycache_evidence.core.stress import (
    ITEM_COUNT,
    ITEM_COUNT_IN_CI,
    MIXED_CASES,
    MIXED_CASES_IN_CI,
    PLAIN_CASES,
    SCALED_CASES_IN_CI,
    find_broken_law,
    generate_cases,
    generate_mixed_cases,
    generate_scaled_cases,
)
from entrycache_evidence.core.stress import SCALED_CASES as SCALED
from entrycache_evidence.model_checker import evidence as model_evidence
from entrycache_evidence.model_checker.refinement import refine_all
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE, list_refinements
from entrycache_evidence.tlc import evidence, runner
from entrycache_protocol.errors import MissingPrerequisite, UsageError, keep_partial_result, missing_extra
from entrycache_protocol.system import AnySystem

EXTRA: Final = "prove"
PACKAGES: Final = {"z3": "z3-solver", "crosshair": "crosshair-tool"}
"""The parts of this command that need a package, and its name."""
TLC: Final = "tlc"
"""The part that needs Java, and Maven for its jar."""
WITH_TLC: Final = ("long", "nightly")
"""The profiles that run TLC, which takes minutes."""


Part = tuple[Sequence[results.Evidence | results.Refinement], list[str]]
"""The results of a part, and its failures."""

Z3: Final = "z3"
"""The part of many small items; it begins last and fills idle cores."""

STOPPED: Final = "stopped before it was over"


@contextmanager
def _progress() -> Iterator[results.Progress]:
    """Show one line of progress on a terminal."""
    if not sys.stderr.isatty():
        yield results.no_progress
        return
    with Console(stderr=True).status("proofs") as status:
        yield lambda what, done, of: status.update(f"{what}: {done} of {of}")


def prove(profile: str, systems: Collection[str] = SYSTEM_EVIDENCE.keys()) -> results.Proof:
    """Obtain the evidence that one of the `PROFILES` asks for, about these systems.

    Raises:
        MissingPrerequisite: neither of the packages is there.
        UsageError: no such profile.
        Stopped: with the results of the finished parts; the others are skipped.
    """
    if profile not in PROFILES:
        raise UsageError(f"no profile {profile!r}; expected one of {', '.join(PROFILES)}")
    absent = [part for part in PACKAGES if importlib.util.find_spec(part) is None]
    if len(absent) == len(PACKAGES):
        raise missing_extra("prove", "z3-solver", EXTRA)
    skipped = [(part, str(missing_extra(part, PACKAGES[part], EXTRA))) for part in absent]
    left_out = () if profile in WITH_TLC else (TLC,)
    if not left_out:
        try:
            runner.find_tools()
        except MissingPrerequisite as error:
            absent.append(TLC)
            skipped.append((TLC, str(error)))
    over: dict[str, Part] = {}
    with _progress() as progress:
        parts = dict(_parts(profile, (*absent, *left_out), systems))
        order = sorted(parts, key=lambda what: what == Z3)

        def partial_result() -> results.Proof:
            return _proof(over, [*skipped, *((what, STOPPED) for what in parts if what not in over)], left_out)

        with keep_partial_result(partial_result):
            scheduler.run_together(
                [parts[what] for what in order],
                lambda at, part: over.update({order[at]: part}),
                progress,
                lambda at, error: over.update({order[at]: ([], [f"{order[at]}: a process ended early: {error}"])}),
            )
    return _proof({what: over[what] for what in parts}, skipped, left_out)


def _proof(over: Mapping[str, Part], skipped: list[tuple[str, str]], left_out: tuple[str, ...]) -> results.Proof:
    entry = [item for items, _ in over.values() for item in items]
    return results.Proof(
        [item for item in entry if isinstance(item, results.Evidence)],
        [line for _, failures in over.values() for line in failures],
        skipped,
        left_out,
        [item for item in entry if isinstance(item, results.Refinement)],
    )


def _parts(
    profile: str, absent: Sequence[str], systems: Collection[str] = SYSTEM_EVIDENCE.keys()
) -> Iterator[tuple[str, scheduler.Work[Part]]]:
    """Yield the parts of the run, each with its name and its work."""
    is_ci = profile == PROFILES[0]
    scaled, large, mixed = (
        (SCALED_CASES_IN_CI, ITEM_COUNT_IN_CI, MIXED_CASES_IN_CI) if is_ci else (SCALED, ITEM_COUNT, MIXED_CASES)
    )
    about = {name: entry for name, entry in SYSTEM_EVIDENCE.items() if name in systems}
    for name, entry in about.items():
        if entry.contracts is not None and "crosshair" not in absent:
            contracts = importlib.import_module(entry.contracts)
            selected = {"ci": contracts.CI, "long": contracts.LONG, "nightly": contracts.NIGHTLY}[profile]
            yield f"the contracts of {name}", contracts.confirm(contracts.plan(selected))
    if Z3 not in absent:
        yield Z3, prove_lemmas(list_lemmas(about))
    for name, entry in about.items():
        yield f"the vocabulary of {name}", scheduler.single_call("vocabulary", partial(_check_vocabulary, name))
        yield f"the numbers of {name}", scheduler.single_call("numbers", partial(_check_numbers, name))
        stress: dict[str, Runs] = {
            **RUNS,
            LARGE_STATES: partial(_generate_runs_from_large_states, large=large),
            SCALED_CASES: partial(generate_scaled_cases, number=scaled),
            "mixed cases": partial(generate_mixed_cases, number=mixed),
        }
        for what, runs in stress.items():
            yield f"the {what} of {name}", scheduler.single_call(what, partial(_check_runs, name, what, runs))
        yield f"the other models of {name}", scheduler.single_call("other models", partial(_check_other_models, name))
        yield (
            f"the bounded models of {name}",
            model_evidence.exhaust(entry.models_of(profile), whole=profile != PROFILES[0]),
        )
    yield "refinement", refine_all(list_refinements(profile, about))
    for name, entry in about.items():
        if entry.second is not None and TLC not in absent:
            second = importlib.import_module(entry.second).SECOND
            yield f"the second model of {name}", evidence.obtain_models(second)


def list_lemmas(systems: Collection[str] = SYSTEM_EVIDENCE.keys()) -> tuple[Any, ...]:
    """Return the lemmas of these systems, system by system; their modules import z3."""
    modules = [module for name, entry in SYSTEM_EVIDENCE.items() if name in systems for module in entry.lemmas]
    return tuple(lemma for module in modules for lemma in importlib.import_module(module).LEMMAS)


def prove_lemmas(lemmas: Sequence[Any]) -> scheduler.Work[results.Result]:
    """Prove the lemmas, each with its seeded fault refuted; return the evidence of each, and the failures."""
    evidence: list[results.Evidence] = []
    failures: list[str] = []
    prove_lemma = importlib.import_module("entrycache_evidence.induction.lemma").prove_lemma
    answers = yield scheduler.Batch("z3", prove_lemma, lemmas)
    for lemma, (count, problems) in zip(lemmas, answers, strict=True):
        failures += problems
        if not problems:
            unit = "obligation" if count == 1 else "obligations"
            claim = f"{lemma.claim}; {count} {unit}"
            evidence.append(results.Evidence(lemma.rule, "proved", claim, lemma.fault.note, lemma.covers))
    return evidence, failures


def _check_vocabulary(name: str) -> Part:
    """Compare the vocabulary with the specification; a difference is a failure, and nothing here is evidence."""
    differs = checkout.find_vocabulary_difference(SYSTEMS[name])
    return [], [f"{name}: {differs}"] if differs else []


def _check_numbers(name: str) -> Part:
    """Check that each number of a reference belongs to a rule; a failure is a bound that no proof or model reaches."""
    return [], [f"{problem.rule}: {problem.what}" for problem in check_numbers(name.replace("-", "_"))]


def _check_other_models(name: str) -> Part:
    """Check a model that is not of the reference; an unexpected result is a failure, and nothing here is evidence."""
    return [], [f"{name}: {line}" for line in SYSTEM_EVIDENCE[name].alone()]


Runs = Callable[[AnySystem], Iterable[tuple[Any, Iterable[Any]]]]


def _generate_plain_cases(system: AnySystem) -> Iterator[tuple[Any, Iterable[Any]]]:
    """Generate cases as for a subject."""
    return ((generated.case.config, generated.case.steps) for _, generated in generate_cases(system, PLAIN_CASES, None))


def _generate_runs_from_large_states(system: AnySystem, large: int = ITEM_COUNT) -> Iterable[tuple[Any, Iterable[Any]]]:
    return SYSTEM_EVIDENCE[system.name].large_states(large)


RUNS: Final[Mapping[str, Runs]] = {
    "large runs": lambda system: SYSTEM_EVIDENCE[system.name].large_runs(),
    "crowded runs": lambda system: SYSTEM_EVIDENCE[system.name].crowded_runs(),
    "generated cases": _generate_plain_cases,
    "mixed cases": generate_mixed_cases,
}
"""The stress runs, in which laws, definitions and frames are checked at each step."""
SCALED_CASES: Final = "scaled cases"
LARGE_STATES: Final = "runs from large states"
"""The names of the stress runs whose number or size depends on the profile."""


def _check_runs(name: str, what: str, runs: Runs) -> Part:
    """Check a kind of stress runs; a broken law is a failure, and a few runs are no evidence."""
    broken = find_broken_law(SYSTEMS[name], runs(SYSTEMS[name]))
    return [], [f"{name}, {what}: {broken}"] if broken else []
