"""Runs on which the rules' own checks are tried: fixed random ones, the exhibits, and the tests of single rules."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.declaration import Declaration
from entrycache_conformance.generator import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.museum.catalogue import catalogue
from entrycache_conformance.rulebook.scenario import listening
from entrycache_conformance.system import SYSTEMS
from entrycache_reference.pulsar_pip430 import Config, initial, laws, step
from entrycache_reference.pulsar_pip430.ops import Op
from entrycache_reference.rules import Rule

SEED: Final = 430
CASES: Final = 400
STEPS: Final = 30

Run = tuple[Config, tuple[Op, ...]]
Tests = dict[str, list[Callable[[], None]]]


class Corpus(NamedTuple):
    """The runs, and the tests of single rules as calls, by rule."""

    runs: tuple[Run, ...]
    tests: Tests


def corpus(tests_folder: Path) -> Corpus:
    """The same runs every time."""
    tests = rule_tests(tests_folder)
    with listening() as heard:
        for call in {id(call): call for calls in tests.values() for call in calls}.values():
            call()
    exhibits: list[Run] = [(case.config, case.steps) for case in catalogue().values()]
    return Corpus((*heard, *exhibits, *_random_runs()), tests)


def _random_runs() -> Iterator[Run]:
    system = SYSTEMS["pulsar-pip430"]
    source = random.Random(SEED)
    declaration = Declaration(system, frozenset(system.ops), payload=True)
    menu = system.menu(system.ops)
    for _ in range(CASES):
        case = make_case(source.randint, declaration, menu, Coverage(), STEPS, stops=False).case
        yield case.config, case.steps


def rule_tests(folder: Path) -> Tests:
    """The marked tests of a folder, one call for each of their parameters."""
    found: Tests = {}
    for path in sorted(folder.glob("test_*.py")):
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


def first_break(config: Config, events: tuple[Op, ...], fired: dict[Rule, int]) -> tuple[Rule, ...]:
    """The rules whose laws the first bad step of a run breaks; R-LIVENESS-2 where a step throws."""
    state = initial(config)
    for event in events:
        try:
            done = step(state, event, config)
        except Exception:
            return (Rule.LIVENESS_2,)
        wrong = laws.check(config, state, event, done, fired)
        if wrong:
            return wrong
        state = done.state
    return ()
