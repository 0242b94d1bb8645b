"""Build the runs on which the checks of the rules are tried, and play seeded faults on them.

A `Corpus` holds random runs, the cases of seeded faults, and the runs of the tests of single rules. `play_reference`
records a run with the steps that call each function. `broken_by_fault` then replays only the steps that a fault can
change: laws are functions of values, so an equal step needs no second check. `first_break` plays every step, takes ten
times as long and gives the same result. `recorded_break` checks the steps of the reference without playing them again.
"""

import importlib.util
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from textwrap import shorten
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import make_case
from entrycache_conformance.systems import SYSTEMS, reference, system_named
from entrycache_evidence.core import models
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_faults.model import Fault, Model, load_catalogue
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

SEED: Final = 430
CASES: Final = 150
FEW_CASES: Final = 40
STEPS: Final = 30


class Run(NamedTuple):
    """A sequence of events under a configuration."""

    system: AnySystem
    config: Any
    events: tuple[Any, ...]


class ReferenceRun(NamedTuple):
    """A run of the reference: the state before each step, the steps, and the steps that call each function."""

    run: Run
    states: tuple[Any, ...]
    done: tuple[Any, ...]
    called: Mapping[CodeType, frozenset[int]]


Tests = dict[str, list[Callable[[], None]]]


@dataclass(frozen=True)
class Corpus:
    """The runs, the tests of each rule as calls, and the failures of those calls by rule."""

    runs: tuple[Run, ...]
    tests: Tests
    failed: tuple[tuple[str, str], ...] = ()

    @cached_property
    def recordings(self) -> tuple[ReferenceRun, ...]:
        """The runs as the reference plays them."""
        return tuple(map(play_reference, self.runs))


def build_corpus(tests_folder: Path, system: AnySystem | None = None, few: bool = False) -> Corpus:
    """Build the same runs every time, of one system or of all; with `few`, only some random ones besides the cases."""
    systems = tuple(SYSTEMS.values()) if system is None else (system,)
    wanted = {rule.value for each in systems for rule in each.laws.rules}
    folders = [folder for each in systems if (folder := tests_folder / each.name.replace("-", "_")).is_dir()]
    tests = {
        rule: calls
        for folder in (folders if len(folders) == len(systems) else [tests_folder])
        for rule, calls in rule_tests(folder).items()
        if rule in wanted
    }
    failed: list[tuple[str, str]] = []
    with models.record_runs() as played:
        for call, rule in {id(call): (call, rule) for rule, calls in tests.items() for call in calls}.values():
            try:
                call()
            except Exception as error:  # any error of a test is its answer
                failed.append((rule, f"its test {_name_of_call(call)} fails: {_describe_error(error)}"))
    recorded = (Run(system_named(name), config, events) for name, config, events in played)
    catalogue_runs = (Run(case.system, case.config, case.steps) for case in load_catalogue(SYSTEMS).values())
    of_cases = tuple(run for run in (*recorded, *catalogue_runs) if run.system in systems)
    random_runs = (run for each in systems for run in (generate_runs(each, FEW_CASES) if few else list_runs(each)))
    return Corpus((*of_cases, *random_runs), tests, tuple(failed))


def play_reference(run: Run) -> ReferenceRun:
    """Play the run on the reference; it ends before a step that throws."""
    model = run.system.model
    called: dict[CodeType, set[int]] = {}
    states: list[Any] = []
    done: list[Any] = []

    def hear(frame: FrameType, _event: str, _argument: object) -> None:
        called.setdefault(frame.f_code, set()).add(len(done))

    with _traced(hear):
        state = model.initial(run.config)
        for event in run.events:
            try:
                step = model.step(state, event, run.config)
            except Exception:
                break
            states.append(state)
            done.append(step)
            state = step.state
    return ReferenceRun(run, tuple(states), tuple(done), {code: frozenset(steps) for code, steps in called.items()})


@contextmanager
def _traced(hear: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(hear)
    try:
        yield
    finally:
        sys.settrace(before)


def system_of(rule: Rule) -> AnySystem:
    """Return the system of a rule."""
    return next(system for system in SYSTEMS.values() if rule in system.laws.rules)


def list_runs(system: AnySystem) -> Iterator[Run]:
    """Yield the runs that the system lists itself, or random ones of a fixed seed."""
    evidence = SYSTEM_EVIDENCE.get(system.name)
    own = () if evidence is None else tuple(evidence.runs())
    for config, events in own:
        yield Run(system, config, events)
    if not own:
        yield from generate_runs(system)


def generate_runs(system: AnySystem, cases: int | None = None) -> Iterator[Run]:
    """Yield random runs of the case generator."""
    source = random.Random(SEED)
    declaration = Declaration(system, frozenset(system.ops), payload=reference.has_payload(system))
    menu = system.cases.menu(system.ops)
    for _ in range(CASES if cases is None else cases):
        case = make_case(source.randint, declaration, menu, None, STEPS).case  # laws are checked when it is played
        yield Run(system, case.config, case.steps)


def rule_tests(folder: Path) -> Tests:
    """Load the marked tests below a folder, one call for each of their parameters."""
    tests: Tests = {}
    for path in sorted(folder.rglob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"rule_tests_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if name.startswith("test_"):
                marks = getattr(function, "pytestmark", [])
                calls = _calls(function, marks)
                for mark in marks:
                    if mark.name == "rule":
                        for rule in mark.args:
                            tests.setdefault(rule, []).extend(calls)
    return tests


def _calls(function: Callable[..., None], marks: list[Any]) -> list[Callable[[], None]]:
    axes = []
    for mark in marks:
        if mark.name == "parametrize":
            names = [mark.args[0]] if isinstance(mark.args[0], str) else list(mark.args[0])
            axes.append([dict(zip(names, [v] if len(names) == 1 else v, strict=True)) for v in mark.args[1]])
    merged = [{name: value for part in parts for name, value in part.items()} for parts in product(*axes)]
    return [partial(function, **arguments) for arguments in merged]


def _name_of_call(call: Callable[[], None]) -> str:
    """Return the name of a test, with its arguments."""
    assert isinstance(call, partial)
    arguments = ", ".join(f"{name}={value}" for name, value in call.keywords.items())
    return f"{call.func.__name__}{f'[{arguments}]' if arguments else ''}"


def _describe_error(error: Exception) -> str:
    """Render an error in one line."""
    return shorten(f"{type(error).__name__}: {error}".rstrip(": "), 160, placeholder=" ..")


def first_break(
    run: Run, fired: dict[Rule, int], model: Model | None = None, of_rules: bool = False
) -> tuple[Rule, ...]:
    """Return the rules that the first bad step of a run breaks, or the liveness rule if a step throws.

    The steps are those of the reference or of the model; with `of_rules` only the laws are checked, not definitions and
    frames.
    """
    system, played = run.system, model or run.system.model
    check = models.build_check(system)
    state = played.initial(run.config)
    for event in run.events:
        try:
            done = played.step(state, event, run.config)
        except Exception:
            return (system.laws.liveness[1],)
        if of_rules:
            wrong = system.laws.broken(run.config, state, event, done)
        else:
            wrong = check(run.config, state, event, done, fired)
        if wrong:
            return wrong
        state = done.state
    return ()


def recorded_break(recorded: ReferenceRun, fired: dict[Rule, int]) -> tuple[Rule, ...]:
    """Return the rules that the first bad step of the reference breaks, as `first_break` does."""
    system, config, events = recorded.run
    check = models.build_check(system)
    for pre, event, done in zip(recorded.states, events, recorded.done, strict=False):
        wrong = check(config, pre, event, done, fired)
        if wrong:
            return wrong
    return () if len(recorded.done) == len(events) else (system.laws.liveness[1],)


# --- Seeded faults on recorded runs


def broken_by_fault(recorded: ReferenceRun, fault: Fault) -> tuple[Rule, ...]:
    """Return the rules that the first bad step breaks under this fault, or the liveness rule if a step throws."""
    system, config, events = recorded.run
    reached = _steps_reached(recorded, fault)
    if not reached or not recorded.states:
        return ()
    state, step = fault.model.initial(config), fault.model.step
    is_as_recorded = state == recorded.states[0]
    for at, (before, right) in enumerate(zip(recorded.states, recorded.done, strict=True)):
        if is_as_recorded and at not in reached:
            continue
        state = before if is_as_recorded else state
        try:
            done = step(state, events[at], config)
        except Exception:
            return (system.laws.liveness[1],)
        if not (is_as_recorded and _is_equal(done, right)):
            wrong: tuple[Rule, ...] = system.laws.broken(config, state, events[at], done)
            if wrong:
                return wrong
        state, is_as_recorded = done.state, done.state == right.state
    return ()


def _is_equal(done: Any, right: Any) -> bool:
    """Return whether two steps are equal; steps with parts never count as equal, since comparing them is expensive."""
    return not getattr(done, "parts", ()) and bool(done == right)


def _steps_reached(recorded: ReferenceRun, fault: Fault) -> frozenset[int]:
    """Return the steps that call what the fault replaces; all of them if it replaces a value."""
    if fault.codes is None:
        return frozenset(range(len(recorded.done)))
    return frozenset[int]().union(*(recorded.called.get(code, ()) for code in fault.codes))
