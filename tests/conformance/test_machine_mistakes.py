"""Mistakes in a class or in a subclass of a state machine: each gets a line that says what to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, errors, settings
from hypothesis.stateful import initialize

from entrycache import Subject, state_machine
from entrycache_protocol.errors import BrokenSubject, UsageError

QUICK = settings(max_examples=30, database=None, deadline=None, suppress_health_check=list(HealthCheck))


class Names(Subject):
    """A cache of record names without an order."""

    system, settings, limits = "kafka-streams", (), {"dirty": False}

    def __init__(self, config: Any) -> None:
        self.entries: dict[Any, Any] = {}

    def put(self, ns: str, key: str, value: str | None, **rest: Any) -> None:
        self.entries[ns, key] = value

    def get(self, ns: str, key: str) -> Any:
        return {"hit": (ns, key) in self.entries, "value": self.entries.get((ns, key))}


class Once(Names):
    """A cache that answers wrong once in the life of its class."""

    lookups: ClassVar[list[str]] = []

    def get(self, ns: str, key: str) -> Any:
        self.lookups.append(key)
        return super().get(ns, key) if len(self.lookups) != 9 else {"hit": True, "value": "9"}


class Wrong(Names):
    """A cache whose second lookup answers a number."""

    count = 0

    def get(self, ns: str, key: str) -> Any:
        self.count += 1
        return 7 if self.count > 1 else super().get(ns, key)


class Waiting(Names):
    """A cache with a coroutine."""

    async def get(self, ns: str, key: str) -> Any:
        return {}


class Yielding(Names):
    """A cache with a generator."""

    def get(self, ns: str, key: str) -> Any:
        yield {}


def run(machine: Any) -> None:
    """Run the test of a machine."""
    machine.TestCase.settings = settings(QUICK, phases=machine.TestCase.settings.phases)
    machine.TestCase("runTest").debug()


def test_a_cache_that_keeps_something_from_run_to_run_is_explained(tmp_path: Path) -> None:
    with pytest.raises(errors.Flaky) as raised:
        run(state_machine(Once, failures=tmp_path))
    (line,) = [note for note in raised.value.__notes__ if note.startswith("entrycache:")]
    assert "A new instance must begin empty" in line


def test_an_answer_of_a_wrong_shape_names_its_step() -> None:
    machine = state_machine(Wrong)()
    machine._open(machine.setup.cases.base_config())
    for _ in range(2):
        machine.perform(put={"ns": "a", "key": "x", "value": "1"})
    machine.perform(get={"ns": "a", "key": "x"})
    with pytest.raises(BrokenSubject, match=r"the outcome of step 3 \(get\): expected an object, got 7"):
        machine.perform(get={"ns": "a", "key": "x"})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: state_machine(Names({})), "got an instance of Names; expected a class"),  # type: ignore[arg-type]
        (lambda: state_machine(Names, config={"sise": 1}), "state_machine: config: unknown key 'sise'"),
        (lambda: state_machine(Waiting), r"Waiting\.get is async or a generator"),
        (lambda: state_machine(Yielding), r"Yielding\.get is async or a generator"),
    ],
)
def test_a_mistake_in_the_arguments_is_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_a_begin_that_hides_the_initialisation_is_named() -> None:
    class Plain(state_machine(Names)):  # type: ignore[misc]
        def begin(self, config: Any) -> None:
            super().begin(config)

    with pytest.raises(UsageError, match=r"Plain has no drawn settings; decorate its `begin` by @initialize"):
        run(Plain)


def test_an_operation_before_the_run_is_named() -> None:
    class Early(state_machine(Names)):  # type: ignore[misc]
        @initialize()
        def fill(self) -> None:
            self.perform(put={"ns": "a", "key": "x", "value": "1"})

    with pytest.raises(UsageError, match="Early performs an operation before its run has begun"):
        run(Early)


FILE = """
from hypothesis import settings
from entrycache import state_machine

TestRange = state_machine("fast", "pulsar-pip430", "range").TestCase
TestQueue = state_machine("fast", "pulsar-pip430", "queue").TestCase
TestRange.settings = TestQueue.settings = settings(max_examples=1, database=None)
"""


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("pytest", "-q", "-n", "2", "--hypothesis-seed=1", "test_fast.py"), "2 passed"),
        (("unittest", "test_fast"), "Ran 2 tests"),
    ],
)
def test_workers_a_seed_and_unittest_run_the_tests(arguments: tuple[str, ...], printed: str, tmp_path: Path) -> None:
    (tmp_path / "test_fast.py").write_text(FILE, "utf-8")
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed in done.stdout + done.stderr
