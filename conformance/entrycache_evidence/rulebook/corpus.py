"""Runs on which the rules' own checks are tried: random ones, those of planted faults, and the tests of rules."""

from __future__ import annotations

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
from entrycache_conformance.subjects.reference import has_payload
from entrycache_conformance.systems import SYSTEMS, system_named
from entrycache_evidence.core.definitions import build_check
from entrycache_evidence.rulebook.heard import listening
from entrycache_evidence.systems import SHOWN
from entrycache_faults.catalogue import catalogue
from entrycache_faults.model import Model
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.system import AnySystem
from entrycache_reference.rules import Rule

SEED: Final = 430
CASES: Final = 150
STEPS: Final = 30


class Run(NamedTuple):
    """A sequence of events under a configuration."""

    system: AnySystem
    config: Any
    events: tuple[Any, ...]


class Heard(NamedTuple):
    """A run as the reference plays it: the state before each step, what the step gives, which steps call a function."""

    run: Run
    states: tuple[Any, ...]
    done: tuple[Any, ...]
    called: Mapping[CodeType, frozenset[int]]


Tests = dict[str, list[Callable[[], None]]]


@dataclass(frozen=True)
class Corpus:
    """The runs, and the tests of single rules as calls, by rule; what a call of these says is wrong, by rule."""

    runs: tuple[Run, ...]
    tests: Tests
    failed: tuple[tuple[str, str], ...] = ()

    @cached_property
    def heard(self) -> tuple[Heard, ...]:
        """Its runs as the reference plays them."""
        return tuple(map(heard, self.runs))


def corpus(tests_folder: Path, system: AnySystem | None = None) -> Corpus:
    """The same runs every time, of one system or of all."""
    asked = tuple(SYSTEMS.values()) if system is None else (system,)
    wanted = {rule.value for each in asked for rule in each.laws.rules}
    tests = {rule: calls for rule, calls in rule_tests(tests_folder).items() if rule in wanted}
    failed: list[tuple[str, str]] = []
    with listening() as played:
        for call, rule in {id(call): (call, rule) for rule, calls in tests.items() for call in calls}.values():
            try:
                call()
            except Exception as error:  # any error of a test is its answer
                failed.append((rule, f"its test {_name(call)} fails: {_said(error)}"))
    told = (Run(system_named(name), config, events) for name, config, events in played)
    planted = (Run(case.system, case.config, case.steps) for case in catalogue(SYSTEMS).values())
    of_cases = tuple(run for run in (*told, *planted) if run.system in asked)
    return Corpus((*of_cases, *(run for each in asked for run in runs_of(each))), tests, tuple(failed))


def heard(run: Run) -> Heard:
    """The run, played by the reference; it ends before a step that throws."""
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
    return Heard(run, tuple(states), tuple(done), {code: frozenset(steps) for code, steps in called.items()})


@contextmanager
def _traced(hear: Any) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(hear)
    try:
        yield
    finally:
        sys.settrace(before)


def system_of(rule: Rule) -> AnySystem:
    """The system that a rule is about."""
    return next(system for system in SYSTEMS.values() if rule in system.laws.rules)


def runs_of(system: AnySystem) -> Iterator[Run]:
    """Those that the system has of its own, else fixed random ones."""
    shown = SHOWN.get(system.name)
    own = () if shown is None else tuple(shown.runs())
    for config, events in own:
        yield Run(system, config, events)
    if not own:
        yield from random_runs(system)


def random_runs(system: AnySystem) -> Iterator[Run]:
    """Runs of the generator of cases."""
    source = random.Random(SEED)
    declaration = Declaration(system, frozenset(system.ops), payload=has_payload(system))
    menu = system.cases.menu(system.ops)
    for _ in range(CASES):
        case = make_case(source.randint, declaration, menu, None, STEPS).case  # laws are looked at when it is played
        yield Run(system, case.config, case.steps)


def rule_tests(folder: Path) -> Tests:
    """The marked tests below a folder, one call for each of their parameters."""
    found: Tests = {}
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
                            found.setdefault(rule, []).extend(calls)
    return found


def _calls(function: Callable[..., None], marks: list[Any]) -> list[Callable[[], None]]:
    axes = []
    for mark in marks:
        if mark.name == "parametrize":
            names = [mark.args[0]] if isinstance(mark.args[0], str) else list(mark.args[0])
            axes.append([dict(zip(names, [v] if len(names) == 1 else v, strict=True)) for v in mark.args[1]])
    merged = [{name: value for part in parts for name, value in part.items()} for parts in product(*axes)]
    return [partial(function, **arguments) for arguments in merged]


def _name(call: Callable[[], None]) -> str:
    """The name of a test, with its arguments."""
    assert isinstance(call, partial)
    arguments = ", ".join(f"{name}={value}" for name, value in call.keywords.items())
    return f"{call.func.__name__}{f'[{arguments}]' if arguments else ''}"


def _said(error: Exception) -> str:
    """An error in one line."""
    return shorten(f"{type(error).__name__}: {error}".rstrip(": "), 160, placeholder=" ..")


def first_break(
    run: Run, fired: dict[Rule, int], model: Model | None = None, of_rules: bool = False
) -> tuple[Rule, ...]:
    """The rules that the first bad step of a run breaks; that of liveness where a step throws.

    The steps are those of the reference, or of the model; `of_rules`: they are held to the laws of the rules alone, not
    to what is defined, nor to the frames.
    """
    system, played = run.system, model or run.system.model
    check = build_check(system)
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
