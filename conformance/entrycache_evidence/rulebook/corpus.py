"""Runs on which the rules' own checks are tried: fixed random ones, the exhibits, and the tests of single rules."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_evidence.rulebook import kafka as streams
from entrycache_evidence.rulebook.scenario import listening
from entrycache_faults.catalogue import catalogue
from entrycache_faults.model import Model
from entrycache_protocol.declaration import Declaration
from entrycache_reference import kafka_streams
from entrycache_reference.kafka_streams import laws as stream_laws
from entrycache_reference.pulsar_pip430 import initial, laws, step
from entrycache_reference.rules import Rule

SEED: Final = 430
CASES: Final = 400
STEPS: Final = 30


class Checked(NamedTuple):
    """A system's reference and laws; `throws` is what a step breaks that throws, `prefix` begins its rules' ids."""

    initial: Callable[[Any], Any]
    step: Callable[[Any, Any, Any], Any]
    check: Callable[[Any, Any, Any, Any, dict[Rule, int]], tuple[Rule, ...]]
    throws: Rule
    prefix: str

    def owns(self, rule: Rule) -> bool:
        """Whether that is a rule of this system."""
        return rule.value.startswith(self.prefix)


PULSAR: Final = Checked(initial, step, laws.check, Rule.LIVENESS_2, "R-")
KAFKA: Final = Checked(kafka_streams.initial, kafka_streams.step, stream_laws.check, Rule.K_LIVENESS_2, "K-")


class Run(NamedTuple):
    """A sequence of events under a configuration."""

    system: Checked
    config: Any
    events: tuple[Any, ...]


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
    shown = [case for case in catalogue(SYSTEMS).values() if case.system.name == "pulsar-pip430"]
    exhibits = [Run(PULSAR, case.config, case.steps) for case in shown]
    told = [Run(PULSAR, config, events) for config, events in heard]
    return Corpus((*told, *exhibits, *_random_runs(), *stream_runs()), tests)


def _random_runs() -> Iterator[Run]:
    system = SYSTEMS["pulsar-pip430"]
    source = random.Random(SEED)
    declaration = Declaration(system, frozenset(system.ops), payload=True)
    menu = system.cases.menu(system.ops)
    for _ in range(CASES):
        case = make_case(source.randint, declaration, menu, Coverage(), STEPS, stops=False).case
        yield Run(PULSAR, case.config, case.steps)


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


def stream_runs() -> Iterator[Run]:
    """Fixed random runs of `kafka-streams`, and a few that chance does not find."""
    for config, events in streams.runs():
        yield Run(KAFKA, config, events)


def first_break(run: Run, fired: dict[Rule, int], model: Model | None = None) -> tuple[Rule, ...]:
    """The rules whose laws the first bad step of a run breaks; that of liveness where a step throws.

    The steps are those of the reference, or of the model.
    """
    system, played = run.system, model or run.system
    state = played.initial(run.config)
    for event in run.events:
        try:
            done = played.step(state, event, run.config)
        except Exception:
            return (system.throws,)
        wrong = system.check(run.config, state, event, done, fired)
        if wrong:
            return wrong
        state = done.state
    return ()
