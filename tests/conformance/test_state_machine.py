"""State machines find, shrink, report and replay what a cache does wrong, by the public ways of Hypothesis."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, reproduce_failure, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.stateful import initialize, invariant, rule, run_state_machine_as_test

from entrycache import Refuse, Skip, Subject, load_case, state_machine, strategies
from entrycache_conformance.judge import LawBroken
from entrycache_conformance.state_machine import AnswerDiffers, CacheMachine
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.errors import UsageError
from entrycache_reference.pulsar_pip430 import passes
from entrycache_reference.vocabulary import ABSENT

QUICK = settings(
    max_examples=100,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
    report_multiple_bugs=False,
)
ONCE = settings(QUICK, max_examples=3, stateful_step_count=20, phases=(Phase.generate,))


class Sizes(Subject):
    """A cache that holds sizes, in the order of inserts; it may leave out the last position of a range."""

    system = "pulsar-pip430"
    settings = ()
    last_too = True

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.sizes: dict[tuple[str, tuple[int, int]], int] = {}

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> dict[str, bool]:
        if size < 0:
            raise Refuse
        is_new = (cache, pos) not in self.sizes
        self.sizes.setdefault((cache, pos), size)
        return {"inserted": is_new}

    def get(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
        return {"hit": (cache, pos) in self.sizes}

    def get_range(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> dict[str, Any]:
        cached = sorted(pos for name, pos in self.sizes if name == cache)
        return {"hits": [pos for pos in cached if first <= pos < last or (self.last_too and first <= pos == last)]}


class Short(Sizes):
    """The cache whose ranges lack their last position."""

    last_too = False


def run(machine: type[CacheMachine], options: settings = QUICK) -> str:
    """Run a machine and return the report of its failure; empty if it has none."""
    try:
        run_state_machine_as_test(machine, settings=options)
    except AnswerDiffers as error:
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    return ""


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of case files."""
    return tmp_path_factory.mktemp("failures")


@pytest.fixture(scope="module")
def short(failures: Path) -> type[CacheMachine]:
    """Return the machine of a cache that fails."""
    return seed(1)(state_machine(Short, failures=failures))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> DirectoryBasedExampleDatabase:
    """Return the database of the failure's run."""
    return DirectoryBasedExampleDatabase(tmp_path_factory.mktemp("examples"))


@pytest.fixture(scope="module")
def report(short: type[CacheMachine], examples: DirectoryBasedExampleDatabase) -> str:
    """Return the report of its failure."""
    return run(short, settings(QUICK, database=examples, print_blob=True))


def test_a_failure_shows_the_steps_the_rule_and_a_case_that_plays_again(
    report: str, short: type[CacheMachine], failures: Path
) -> None:
    steps = re.findall(r"^ *(state.*)", report, re.M)
    assert steps[:2] == ["state = ShortMachine()", "state.begin(config={})"]
    assert [line.partition("=")[0] for line in steps[2:]] == [
        "state.perform(insert",
        "state.perform(get_range",
        "state.teardown()",
    ]
    assert "Short breaks R-READ-3 at step 1" in report
    assert "what the rule says: entrycache rules R-READ-3" in report
    (path,) = failures.glob("*.json")
    assert f"case file: {path}" in report
    with pytest.raises(AnswerDiffers, match=r"(?s)step 1 \(get_range\): expected .*breaks R-READ-3"):
        short.play(load_case(path))
    state_machine(Sizes).play(load_case(path))


def test_steps_that_hypothesis_leaves_are_dropped_from_our_table(tmp_path: Path) -> None:
    machine = state_machine(Short, failures=tmp_path)()
    machine.begin(config={})
    for entry in range(3):
        machine.perform(insert={"cache": "a", "pos": (1, entry), "size": 1})
    with pytest.raises(AnswerDiffers):
        machine.perform(get_range={"cache": "a", "first": (1, 0), "last": (1, 1)})
    text = repr(machine._failure_text())
    assert "Short breaks R-READ-3 at step 1" in text
    assert "left out: 2 steps that this failure does not need" in text
    (path,) = tmp_path.glob("*.json")
    assert len(load_case(path).steps) == 2


def test_the_printed_steps_are_a_program(report: str, short: type[CacheMachine]) -> None:
    lines = re.findall(r"^ *(state[ .].*)", report, re.M)
    with pytest.raises(AnswerDiffers, match="get_range"):
        exec("\n".join(lines), {"ShortMachine": short})


def test_the_database_repeats_a_failure_first(
    report: str, short: type[CacheMachine], examples: DirectoryBasedExampleDatabase
) -> None:
    assert report
    options = settings(QUICK, database=examples, phases=(Phase.reuse,))
    assert "Short breaks R-READ-3" in run(short, options)
    case: Any = short.TestCase
    case.settings = options
    result = unittest.TestResult()
    case("runTest").run(result)
    assert [text for _, text in result.failures if "Short breaks R-READ-3" in text]


def test_a_blob_reproduces_a_failure(report: str, short: type[CacheMachine]) -> None:
    version, blob = re.findall(r"@reproduce_failure\('([\d.]+)', b'(.*)'\)", report)[0]
    assert "get_range" in run(reproduce_failure(version, blob.encode())(type("Again", (short,), {})))


def test_a_seed_makes_the_same_cases(tmp_path: Path) -> None:
    def cases() -> list[Any]:
        kept: list[Any] = []

        class Keeping(state_machine("reference", "pulsar-pip430", "range")):  # type: ignore[misc]
            def teardown(self) -> None:
                super().teardown()
                kept.append(self.case)

        run(seed(5)(Keeping), ONCE)
        return kept

    assert cases() == cases()


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_reference_agrees_with_itself_at_every_level(system: str) -> None:
    for level in SYSTEMS[system].levels:
        assert run(state_machine("reference", system, level), ONCE) == ""


def test_settings_that_are_given_stay() -> None:
    machine = state_machine("reference", "pulsar-pip430", "cursors", {"max_size_bytes": 50, "eviction": "manual"})

    class Asking(machine):  # type: ignore[misc, valid-type]
        @invariant()
        def the_limit_stays(self) -> None:
            assert self.case.config.max_size_bytes == 50
            changed = [op.max_size_bytes for op in self.case.steps if op.name == "configure"]
            assert set(changed) <= {ABSENT}

    run_state_machine_as_test(Asking, settings=settings(ONCE, max_examples=10))
    with pytest.raises(Exception, match="max_size_bytes"):
        state_machine("reference", "pulsar-pip430", "queue", {"max_size_bytes": "much"})


@pytest.mark.long
def test_the_laws_of_the_reference_are_an_invariant_that_shows_only_if_it_fails(
    report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = state_machine("reference", "pulsar-pip430", "queue")
    assert "the_laws_hold" in [each.function.__name__ for each in machine().invariants]
    assert "the_laws_hold" not in report
    monkeypatch.setattr(passes, "has_to_halt", lambda kind, bound, entry: False)
    with pytest.raises(LawBroken, match="the reference breaks R-") as raised:
        run_state_machine_as_test(seed(0)(machine), settings=settings(QUICK, max_examples=300))
    lines = re.findall(r"^ *(state[ .].*)", "\n".join(raised.value.__notes__), re.M)
    assert lines.count("state.the_laws_hold()") == 1
    with pytest.raises(LawBroken):
        exec("\n".join(lines), {"ReferenceMachine": machine})


class Throwing(Sizes):
    """A cache whose lookups throw."""

    def get(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
        raise KeyError(pos)


def test_an_error_of_the_class_is_its_answer_and_its_cause() -> None:
    with pytest.raises(AnswerDiffers, match="KeyError") as raised:
        run_state_machine_as_test(state_machine(Throwing), settings=QUICK)
    assert isinstance(raised.value.__cause__, KeyError)
    assert "Throwing breaks R-" in "\n".join(raised.value.__notes__)


class Picky(Sizes):
    """A cache that takes no empty entries."""

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> dict[str, bool]:
        if size == 0:
            raise Skip("no empty entries")
        return super().insert(cache, pos, size, expected_reads)


def test_a_skipped_step_is_left_out_on_both_sides() -> None:
    class Asking(state_machine(Picky)):  # type: ignore[misc]
        @invariant()
        def no_entry_is_empty(self) -> None:
            assert not any(op.name == "insert" and op.size == 0 for op in self.case.steps)

    run_state_machine_as_test(Asking, settings=settings(QUICK, max_examples=30))


class Declining(Sizes):
    """A cache that can be asked nothing."""

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: int | None = None) -> dict[str, bool]:
        raise Skip("not here")

    def get(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
        raise Skip("not here")

    def get_range(self, cache: str, first: tuple[int, int], last: tuple[int, int]) -> dict[str, Any]:
        raise Skip("not here")


@pytest.mark.long
def test_a_machine_that_compares_nothing_fails(tmp_path: Path) -> None:
    """In this process and behind a command; a class that answers something passes."""
    (tmp_path / "mine.py").write_text(DECLINING, encoding="utf-8")
    command = f"{sys.executable} {tmp_path / 'mine.py'}"
    for machine in (state_machine(Declining), state_machine(command=command)):
        machine.TestCase.settings = settings(QUICK, max_examples=5)
        with pytest.raises(AssertionError, match="nothing was checked of Declining: it skipped every step"):
            machine.TestCase("runTest").runTest()
    answering = state_machine(Picky)
    answering.TestCase.settings = settings(QUICK, max_examples=5)
    answering.TestCase("runTest").runTest()


@pytest.mark.long
def test_a_test_of_the_plugin_that_compares_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(DECLINING, encoding="utf-8")
    command = f"{sys.executable} {tmp_path / 'mine.py'}"
    arguments = ["-q", "-p", "no:cacheprovider", "--entrycache-command", command, "--entrycache-stateful"]
    line = [sys.executable, "-m", "pytest", *arguments, "-k", "stateful"]
    stateful = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (stateful.returncode, "nothing was checked of Declining" in stateful.stdout) == (1, True), stateful.stdout


DECLINING: Final = """
import sys
from entrycache import Skip, Subject, serve

class Declining(Subject):
    system, settings = "pulsar-pip430", ()

    def insert(self, cache, pos, size, expected_reads=None):
        raise Skip("not here")

    def get(self, cache, pos):
        raise Skip("not here")

sys.exit(serve(Declining))
"""


class Remembering(Sizes):
    """A cache that keeps its entries beyond its end, which it must not."""

    all_sizes: ClassVar[dict[tuple[str, tuple[int, int]], int]] = {}

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.sizes = self.all_sizes


@pytest.mark.long
def test_rules_invariants_and_an_initialisation_of_a_users_own() -> None:
    class Own(state_machine(Sizes)):  # type: ignore[misc]
        @initialize(config=strategies.configs(), size=strategies.sizes())
        def begin(self, config: dict[str, Any], size: int) -> None:
            super().begin(config)
            self.count = 0
            self.perform(insert={"cache": "a", "pos": (1, 0), "size": size})

        @rule(cache=strategies.caches(), pos=strategies.positions(), ends=strategies.ranges())
        def look_twice(self, cache: str, pos: tuple[int, int], ends: Any) -> None:
            wanted = self.expect(get={"cache": cache, "pos": pos})
            assert [self.perform(get={"cache": cache, "pos": pos}) for _ in range(2)] == [wanted, wanted]
            self.perform(get_range={"cache": cache, "first": ends[0], "last": ends[1]})
            self.count += 1

        @rule()
        def crash(self) -> None:
            self.restart()
            assert self.subject.sizes == {}

        @invariant()
        def both_hold_the_same(self) -> None:
            assert sum(self.subject.sizes.values()) == self.expect(usage={})["bytes"]

    assert run(Own, settings(QUICK, max_examples=20)) == ""
    with pytest.raises(UsageError, match="cursor_move is no operation of level range"):
        run_state_machine_as_test(
            type("Asking", (Own,), {"ask": rule(cursor=strategies.cursors())(lambda self, cursor: None)}),
            settings=QUICK,
        )


@pytest.mark.long
def test_what_outlives_a_crash_is_found_with_the_run_before_it(tmp_path: Path) -> None:
    class Crashing(state_machine(Remembering, failures=tmp_path)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            Remembering.all_sizes.clear()

        @rule()
        def crash(self) -> None:
            self.restart()

    assert "Remembering breaks" in run(Crashing)
    (path,) = tmp_path.glob("*.json")
    assert len(load_case(path).earlier) == 1


def test_a_strategy_outside_a_machine_says_so() -> None:
    @given(strategies.sizes())
    def draw(size: int) -> None:
        raise AssertionError

    with pytest.raises(UsageError, match=r"entrycache\.state_machine"):
        draw()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"make_subject": "no-such-cache"}, "unknown subject 'no-such-cache'"),
        ({"make_subject": Sizes, "level": "rnge"}, "unknown level 'rnge'"),
        ({"make_subject": Sizes, "level": "cursors"}, "Sizes offers no operation of level 'cursors'"),
        ({"make_subject": Sizes, "system": "kafka-streams"}, "is a subject of pulsar-pip430, not of kafka-streams"),
    ],
)
def test_a_mistake_is_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        state_machine(**arguments)


COMMAND = f"{sys.executable} -m entrycache_cli serve reference --system pulsar-pip430"


@pytest.mark.long
def test_a_process_is_a_subject_and_its_rate_is_printed() -> None:
    script = f"""
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from entrycache import state_machine
machine = state_machine(command={COMMAND!r}, level="range")
run_state_machine_as_test(machine, settings=settings(max_examples=3, database=None, deadline=None))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert re.search(r"entrycache: reference \S+: \d+ steps in [\d.]+ s, \d+ a second", done.stderr)


@pytest.mark.long
def test_a_faulty_process_is_caught(tmp_path: Path) -> None:
    command = COMMAND.replace("reference", "expire-at-the-cutoff")
    machine = seed(0)(state_machine(command=command, level="queue", failures=tmp_path))
    options = settings(QUICK, max_examples=500, phases=(Phase.generate,))
    assert "expire-at-the-cutoff 0.1.0 breaks R-" in run(machine, options)


@pytest.mark.long
def test_observations_name_the_rules_that_were_exercised(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "from entrycache import state_machine\nTestIt = state_machine('reference', 'pulsar-segmented').TestCase\n"
        "from hypothesis import settings\nTestIt.settings = settings(max_examples=3, deadline=None)\n"
    )
    environment = {"HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY": "1"}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        check=True,
    )
    lines = [
        json.loads(line)
        for path in (tmp_path / ".hypothesis/observed").glob("*testcases.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert any("S-INSERT-1" in json.dumps(line) for line in lines)
    assert any("state.perform(" in str(line.get("representation")) for line in lines)


def test_a_quiet_run_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run(state_machine(Sizes), settings(ONCE, verbosity=Verbosity.normal))
    assert capsys.readouterr().out == ""
