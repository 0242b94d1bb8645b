"""Mistakes in a class or in a subclass of a state machine: each gets a line that says what to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, errors, settings
from hypothesis.stateful import initialize, rule

from entrycache import Skip, Subject, state_machine, strategies
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


class Throwing(Names):
    """A cache whose lookups throw an error that has a cause."""

    def get(self, ns: str, key: str) -> Any:
        try:
            return {}["x"]
        except KeyError as error:
            raise RuntimeError("no index") from error


class Property(Names):
    """A cache whose lookup is an object that can be called."""

    get: Any = staticmethod(lambda ns, key: {"hit": False, "value": None})


class Without(Names):
    """A cache that takes the inherited lookup back."""

    get: Any = None


class Closed(Names):
    """A cache that cannot be opened here."""

    def __init__(self, config: Any) -> None:
        raise Skip("the port is taken")


def run(machine: Any) -> None:
    """Run the test of a machine."""
    machine.TestCase.settings = settings(QUICK, phases=machine.TestCase.settings.phases)
    machine.TestCase("runTest").debug()


@pytest.mark.long
def test_a_cache_that_keeps_something_from_run_to_run_is_explained(tmp_path: Path) -> None:
    with pytest.raises(errors.Flaky) as raised:
        run(state_machine(Once, failures=tmp_path))
    (line,) = [note for note in raised.value.__notes__ if note.startswith("entrycache:")]
    assert "A new instance must begin empty" in line


def test_an_answer_of_a_wrong_shape_names_its_step() -> None:
    machine = state_machine(Wrong)()
    machine._open(machine._setup.cases.base_config())
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
        (lambda: state_machine(Property), r"Property\.get is a staticmethod; expected a method that is defined by def"),
        (lambda: state_machine(Names, config=[1]), "config: got an instance of list; expected settings"),  # type: ignore[arg-type]
        (
            lambda: state_machine(Names, config={"max_size_bytes": 9}),
            "does not take the setting 'max_size_bytes'; it takes: none",
        ),
        (lambda: state_machine(Names, command="true"), "state_machine got a subject and a command"),
        (lambda: state_machine(command=["true"]), "command: got an instance of list; expected one text"),  # type: ignore[arg-type]
        (lambda: state_machine(Names, failures=None), "failures: got None; expected a folder"),  # type: ignore[arg-type]
        (lambda: state_machine(Names).play("a.json"), "got an instance of str; expected a case"),  # type: ignore[arg-type]
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


def draw(strategy: Any) -> Callable[[Any], None]:
    """Return an act of a machine that draws from a strategy in a rule of a subclass."""

    def act(machine: Any) -> None:
        run(type("Drawing", (type(machine),), {"r": rule(drawn=strategy)(lambda self, drawn: None)}))

    return act


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda it: it.perform(), "got 0 operations; expected one operation with its arguments"),
        (lambda it: it.perform(get={}, put={}), "got 2 operations; expected one"),
        (lambda it: it.perform(get="x"), "get: got 'x'; expected one operation"),
        (lambda it: it.perform(get=[]), r"get: got \[\]; expected one operation"),
        (lambda it: it.perform(gett={}), "gett: unknown op 'gett'"),
        (lambda it: it.perform(get={"ns": "a"}), "get: op get: the key 'key' is missing"),
        (lambda it: it.perform(get={"ns": "a", "key": b"x"}), "get: Object of type bytes is not JSON serializable"),
        (lambda it: it.perform(usage={}), "Names does not offer usage; it offers: get, put"),
        (lambda it: it.begin({"max_size": 1}), r"NamesMachine\.begin: config: unknown key 'max_size'"),
        (draw(strategies.positions()), "get of kafka-streams has no argument 'pos'; it has: ns, key"),
        (draw(strategies.arguments("put")), "put of kafka-streams has no argument ''; it has: ns, key"),
    ],
)
def test_a_mistake_in_a_rule_of_a_users_own_is_named(act: Callable[[Any], None], message: str) -> None:
    machine = state_machine(Names)()
    machine.begin(config={})
    with pytest.raises(UsageError, match=message):
        act(machine)


def test_a_wrong_operation_is_no_step(tmp_path: Path) -> None:
    machine = state_machine(Names, failures=tmp_path)()
    machine.begin(config={})
    with pytest.raises(UsageError, match="does not offer evict"):
        machine.perform(evict={"ns": "a"})
    assert machine.case.steps == ()
    machine.teardown()
    assert not any(tmp_path.iterdir())


def test_an_inherited_operation_can_be_taken_back() -> None:
    assert state_machine(Without)._setup.subject.declaration.ops == {"put"}


def test_an_error_of_the_class_shows_its_own_lines_alone(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as raised:
        run(state_machine(Throwing, failures=tmp_path))
    text = "\n".join(map(str, raised.value.__notes__))
    assert text.count("RuntimeError: no index") == 2  # in the answer, and in the traceback
    assert "KeyError: 'x'" in text
    assert "entrycache_conformance" not in text
    assert "entrycache_protocol" not in text


@pytest.mark.long
def test_what_is_not_checked_says_why() -> None:
    with pytest.raises(errors.Unsatisfiable) as raised:
        run(state_machine(Closed))
    assert "entrycache: it skipped every step; " in raised.value.__notes__[-1]
    assert raised.value.__notes__[-1].endswith(" times: the port is taken")
    machine = state_machine(Names)
    machine.TestCase.settings = settings(QUICK, max_examples=1, stateful_step_count=1)
    with pytest.raises(AssertionError, match="nothing was checked of Names: no example had a step; raise max_examples"):
        machine.TestCase("runTest").debug()


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
        pytest.param(
            ("pytest", "-q", "-n", "2", "--hypothesis-seed=1", "test_fast.py"), "2 passed", marks=pytest.mark.long
        ),
        (("unittest", "test_fast"), "Ran 2 tests"),
    ],
)
def test_workers_a_seed_and_unittest_run_the_tests(arguments: tuple[str, ...], printed: str, tmp_path: Path) -> None:
    (tmp_path / "test_fast.py").write_text(FILE, "utf-8")
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed in done.stdout + done.stderr
