"""The search finds faults, shrinks them and names their rule, seeded and under Hypothesis, the same every time."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from entrycache_cli.commands.options import definition_for
from entrycache_conformance import explain, generate, search
from entrycache_conformance.explain import explain_difference
from entrycache_conformance.generate import record_case
from entrycache_conformance.judge import EVERY_STEP, LAWS_ONE_IN, Coverage, LawBroken, LawSample, judge, run_reference
from entrycache_conformance.levels import PROFILES, Profile, SelfCheckFailed, find_reachable, run_self_check
from entrycache_conformance.resolve import open_in_process
from entrycache_conformance.run import Options, conform
from entrycache_conformance.search import RawFailure, SearchResult, find_failure, search_random_cases
from entrycache_conformance.shrink import shrink_and_confirm
from entrycache_conformance.subjects.wrappers import NarrowedSubject
from entrycache_conformance.systems import SYSTEMS, reference
from entrycache_conformance.systems.pulsar_pip430 import fast_cache
from entrycache_conformance.systems.reference import open_reference, reference_offer, reference_subject
from entrycache_evidence.pulsar_pip430.definitions import check_definition
from entrycache_faults.model import load_catalogue
from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import BrokenSubject, Verdict
from entrycache_protocol.subject import Answer, FailingCase, InProcessSubject, RunResult, SkippedRun
from entrycache_reference.pulsar_pip430 import Variants, passes
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.rules import Rule

SYSTEM = SYSTEMS["pulsar-pip430"]
MENU = SYSTEM.cases.menu(SYSTEM.ops)
QUEUE = SYSTEM.cases.menu(SYSTEM.ops_up_to("queue"))
OF_CACHES = SYSTEM.cases.menu(SYSTEM.ops_up_to("cursors"))
"""The operations on caches alone: with appends, which need a cursor to be cached, the shortest case has more steps."""


SEEDS = pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 5))])


def twisted(twist: Callable[[Any, Any], Any]) -> InProcessSubject:
    """Return the reference with some outcomes changed."""

    def open_instance(config: Any) -> Callable[[Any], Any]:
        correct = open_reference(SYSTEM.model)(config)
        return lambda op: twist(op, correct(op))

    return InProcessSubject("twisted", SYSTEM, open_instance, reference_offer(SYSTEM))


def two_is_one(op: Any, outcome: Any) -> Any:
    wrong = type(op).name == "evict" and type(outcome) is Removed and outcome.entries == 2
    return Removed(1, outcome.bytes) if wrong else outcome


def shortest(subject: InProcessSubject, result: SearchResult) -> FailingCase | None:
    """Return the failure of a search, shrunk and confirmed."""
    return None if result.failure is None else shrink_and_confirm(subject, result.failure)


@SEEDS
def test_hypothesis_finds_and_shrinks(seed: int) -> None:
    subject = twisted(two_is_one)
    failure = shortest(subject, find_failure(subject, OF_CACHES, 1_000, seed, Coverage()))
    assert failure is not None
    assert len(failure.case.steps) <= 4
    assert failure.difference.got.entries == 1


@pytest.mark.long
@SEEDS
def test_bulk_finds_and_hypothesis_shrinks_the_same(seed: int) -> None:
    subject = twisted(two_is_one)
    failure = shortest(subject, search_random_cases(subject, OF_CACHES, seed, Coverage(), lambda: False))
    assert failure is not None
    assert len(failure.case.steps) <= 4


def test_an_error_in_a_subject_is_a_liveness_violation_and_shrunk() -> None:
    def throw(op: Any, outcome: Any) -> Any:
        if type(op).name == "mark_read" and outcome.expected_reads == 0:
            raise ZeroDivisionError("counts")
        return outcome

    subject = twisted(throw)
    failure = shortest(subject, find_failure(subject, MENU, 1_000, 0, Coverage()))
    assert failure is not None
    assert len(failure.case.steps) <= 3
    assert [
        rule.value
        for rule in explain_difference(reference_subject(SYSTEM), failure.case, failure.steps, failure.difference)
    ] == ["R-LIVENESS-2"]


def test_the_same_seed_gives_the_same_cases() -> None:
    runs: list[list[Any]] = [[], []]
    for run in runs:

        def keep(op: Any, outcome: Any, run: list[Any] = run) -> Any:
            run.append((op, outcome))
            return outcome

        find_failure(twisted(keep), MENU, 50, 7, Coverage())
    assert runs[0] == runs[1]
    assert len(runs[0]) > 500


@pytest.mark.long
def test_a_case_is_shrunk_in_the_same_way_where_hypothesis_sees_a_ci_machine() -> None:
    subject = open_in_process("streams-evict-newest", "kafka-streams")
    assert subject is not None
    menu = subject.declaration.system.cases.menu(subject.declaration.ops)
    shrunk = []
    before = settings.get_current_profile_name()
    for profile in ("default", "ci"):
        settings.load_profile(profile)
        try:
            shrunk.append([shortest(subject, find_failure(subject, menu, 400, seed, Coverage())) for seed in range(3)])
        finally:
            settings.load_profile(before)
    ours, theirs = ([failure.case.steps for failure in each if failure is not None] for each in shrunk)
    assert ours == theirs
    assert len(ours) == 3


@pytest.mark.long
def test_a_run_that_cannot_catch_a_broken_subject_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "corrupt_outcome", lambda outcome, refusal, uncompared: outcome)
    with pytest.raises(SelfCheckFailed):
        run_self_check(reference_subject(SYSTEM).declaration, MENU, 0)


def test_a_reference_that_breaks_a_law_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "has_to_halt", lambda kind, bound, entry: False)
    with pytest.raises(LawBroken):
        find_failure(reference_subject(SYSTEM), MENU, 500, 0, Coverage())


@pytest.mark.parametrize("name", SYSTEMS)
def test_rules_are_counted_where_laws_are_not_checked(name: str) -> None:
    """A search counts as if it checked every step, bulk only the sampled ones."""
    system = SYSTEMS[name]
    menu = system.cases.menu(system.ops, system.levels[-1])
    declaration = reference_subject(system).declaration

    def counted(sample: LawSample) -> dict[Rule, int]:
        source, coverage = random.Random(0), Coverage()
        for _ in range(40):
            coverage.add_all(record_case(source, declaration, menu, None, None, sample).coverage)
        return coverage.fired

    every = counted(EVERY_STEP)
    assert every == counted(LawSample(LAWS_ONE_IN, 0)) == counted(LawSample(LAWS_ONE_IN, 5))
    liveness = system.laws.liveness[1]
    assert 40 <= counted(LawSample(LAWS_ONE_IN, 0, counts_all=False))[liveness] < every[liveness] / 4


@pytest.mark.parametrize("counts_all", [True, False])
def test_laws_are_checked_at_one_step_in_16_and_at_the_last(counts_all: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    monkeypatch.setattr(generate, "check_laws", lambda system, config, state, op, done, coverage: checked.append(op))
    sample = LawSample(LAWS_ONE_IN, 3, counts_all)
    source, declaration = random.Random(0), reference_subject(SYSTEM).declaration
    ops: list[Any] = []
    for _ in range(10):
        steps = record_case(source, declaration, MENU, None, None, sample).generated.case.steps
        ops += [op for at, op in enumerate(steps) if at % LAWS_ONE_IN == LAWS_ONE_IN - 3 or at == len(steps) - 1]
    assert checked == ops
    assert len(checked) > 20


@pytest.mark.long
def test_a_failing_run_is_checked_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[Any] = []
    monkeypatch.setattr(search, "run_reference", lambda case, coverage: whole.append(case))
    assert search_random_cases(twisted(two_is_one), MENU, 0, Coverage(), lambda: False).failure
    assert len(whole) == 1


def enough_after(batches: int) -> Callable[[], bool]:
    numbers = iter(range(batches))
    return lambda: next(numbers, None) is None


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BATCH", 15)


def search_bulk(subject: InProcessSubject, jobs: int, batches: int = 8) -> tuple[Any, ...]:
    """Return everything that a bulk search over a few batches results in."""
    coverage, failures = Coverage(), list[Any]()

    def goes_on(raw: RawFailure) -> bool:
        failures.append((raw.failing.case, raw.failing.difference, raw.choices, raw.origin.case.earlier))
        return len(failures) < 5

    result = search.BulkSearch(subject, QUEUE, 0, coverage, goes_on=goes_on).search(enough_after(batches), jobs)
    played = {rule: [(case.config, case.steps) for case, _ in runs] for rule, runs in coverage.played.items()}
    counts = (list(coverage.fired.items()), coverage.cells, coverage.examples, coverage.steps, coverage.defaults)
    return counts, played, failures, result.failure and result.failure.failing.case, result.skipped


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("differs", [False, True])
def test_bulk_gives_the_same_with_any_number_of_workers(differs: bool) -> None:
    def late(op: Any, outcome: Any) -> Any:
        is_late = differs and type(op).name == "observe" and outcome.tombstones == 3
        return replace(outcome, tombstones=4) if is_late else outcome

    alone, two, three = (search_bulk(twisted(late), jobs) for jobs in (1, 2, 3))
    assert alone == two == three
    assert bool(alone[2]) is differs
    assert alone[0][3] > 2_000


@pytest.mark.usefixtures("small_batches")
def test_a_worker_that_dies_or_hangs_is_one_line() -> None:
    runner = os.getpid()

    def kill(op: Any, outcome: Any) -> Any:
        if os.getpid() != runner:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    with pytest.raises(BrokenSubject, match=r"^a worker died before batch [01] was judged; --jobs 1 runs without any"):
        search_bulk(twisted(kill), 2)
    with (
        pytest.raises(BrokenSubject, match=r"^the worker that judges batch 1 gives no answer within 0\.2 s"),
        search.Workers(2, lambda: None, lambda number: time.sleep(60 * number), 0.2) as workers,
    ):
        list(workers.answers(enough_after(2)))


@pytest.mark.usefixtures("small_batches")
def test_a_failure_that_only_a_worker_meets_is_reported() -> None:
    runner = os.getpid()

    def lie(op: Any, outcome: Any) -> Any:
        is_wrong = os.getpid() != runner and type(op).name == "exists" and outcome.exists
        return replace(outcome, exists=False) if is_wrong else outcome

    _, _, failures, _, _ = search_bulk(twisted(lie), 2, batches=1)
    ((case, difference, _, earlier),) = failures
    assert (type(case.steps[difference.at]).name, difference.got.exists, earlier) == ("exists", False, ())


@pytest.mark.long
def test_a_definition_is_asked_of_the_reference_where_one_is_given(tmp_path: Path) -> None:
    options = Options(("range",), PROFILES["dev"], 0, 0.0, tmp_path)
    with pytest.raises(LawBroken, match="R-LIVENESS-2"):
        conform(reference_subject(SYSTEM), options._replace(definition=lambda *step: (Rule.LIVENESS_2,)))
    assert conform(reference_subject(SYSTEM), options).verdict is Verdict.CONFORMS


def test_commands_ask_for_the_definition_where_the_reference_is_the_subject() -> None:
    fast = open_in_process("fast", SYSTEM.name)
    assert fast is not None
    assert definition_for(fast) is None
    assert definition_for(reference_subject(SYSTEM)) is check_definition


@pytest.mark.parametrize("levels", [("range", "queue"), pytest.param(SYSTEM.levels, marks=pytest.mark.long)])
def test_a_run_below_its_minimums_has_checked_nothing(levels: tuple[str, ...], tmp_path: Any) -> None:
    options = Options(levels, Profile(3, 200, 50), 0, 0.0, tmp_path)
    report = conform(reference_subject(SYSTEM), options).to_json()
    assert report["levels"][levels[-1]]["verdict"] == "nothing-checked"
    assert report["verdict"] == "nothing-checked"
    assert "too seldom" in report["skipped"][-1]["reason"]


class Declining(NarrowedSubject):
    """The reference, but it declines each run for which `when` holds."""

    def __init__(self, when: Callable[[Case], bool]) -> None:
        inner = reference_subject(SYSTEM)
        super().__init__(inner, inner.declaration)
        self._when = when

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        return [SkippedRun("not today") if self._when(case) else self.subject.play([case])[0] for case in cases]


@pytest.mark.parametrize(
    ("when", "verdict"),
    [
        (lambda case: bool(case.steps), "nothing-checked"),
        pytest.param(
            lambda case: any(type(op).name == "get" for op in case.steps), "nothing-checked", marks=pytest.mark.long
        ),
        (lambda case: False, "conforms"),
    ],
    ids=["all-but-empty-ones", "those-with-a-get", "none"],
)
def test_what_is_declined_is_not_checked(when: Callable[[Case], bool], verdict: str, tmp_path: Any) -> None:
    subject: Any = Declining(when)
    report = conform(subject, Options(("range",), Profile(120, 6, 1), 0, 0.0, tmp_path))
    assert report.verdict.value == verdict
    if verdict != "conforms":
        assert any(word in report.skipped[-1].reason for word in ("judged", "too seldom"))


@pytest.mark.parametrize(
    ("ops", "levels", "unchecked"),
    [
        ({"get_range"}, ("range",), ["range"]),
        pytest.param({"insert", "get", "release"}, ("range", "reads"), ["reads"], marks=pytest.mark.long),
        pytest.param({"insert", "get"}, ("range",), [], marks=pytest.mark.long),
    ],
)
def test_a_level_whose_operations_tell_nothing_is_not_checked(
    ops: set[str], levels: tuple[str, ...], unchecked: list[str], tmp_path: Any
) -> None:
    subject: Any = Declining(lambda case: False)
    subject._declaration = offered(ops=frozenset(ops))
    report = conform(subject, Options(levels, Profile(60, 3, 1), 0, 0.0, tmp_path))
    assert [name for name, level in report.levels.items() if level.verdict.value == "nothing-checked"] == unchecked
    said = [skip.what for skip in report.skipped if "answer nothing" in skip.reason]
    assert said == [f"level {name}" for name in unchecked]


def offered(**changes: Any) -> Declaration:
    return dataclasses.replace(reference_subject(SYSTEM).declaration, **changes)


@pytest.mark.long
def test_what_is_reachable_depends_on_what_is_offered() -> None:
    everything, cells = find_reachable(offered(), "queue", PROFILES["dev"])
    assert len(find_reachable(offered(), SYSTEM.levels[-1], PROFILES["dev"])[1]) == len(SYSTEM.laws.cells) == 42
    assert {"TIME/EVICT_1", "TIME/EVICT_2", "SIZE/EVICT_1", "SIZE/EVICT_2"} <= set(cells)
    assert {"R-EXPIRE-1", "R-INSERT-1", "R-REQUEUE-2"} <= {rule.value for rule in everything}
    some, fewer = find_reachable(offered(ops=frozenset({"insert", "get", "exists"})), "range", PROFILES["dev"])
    assert {"R-INSERT-1", "R-READ-1"} <= {rule.value for rule in some}
    assert "R-EXPIRE-1" not in {rule.value for rule in some}
    assert not any("/EVICT_" in cell for cell in fewer)
    fixed = offered(fixed={"extend_recently_accessed": False})
    rules, left = find_reachable(fixed, "queue", PROFILES["dev"])
    decided = {cell for cell in cells if cell.startswith(("TIME/", "SIZE/"))}
    of_left = {cell for cell in left if cell.startswith(("TIME/", "SIZE/"))}
    assert of_left == {cell for cell in decided if not cell.endswith("/REQUEUE_1")}
    assert len(of_left) < len(decided)
    assert {"R-EXPIRE-1", "R-INSERT-1", "R-REQUEUE-2"} <= {rule.value for rule in rules}


@pytest.mark.long
def test_levels_without_a_declared_operation_are_not_checked(tmp_path: Any) -> None:
    subject = reference_subject(SYSTEM)
    subject._declaration = offered(ops=frozenset({"insert", "get"}))
    report = conform(subject, Options(("range", "queue"), Profile(60, 0, 0), 0, 0.0, tmp_path)).to_json()
    assert report["levels"]["range"]["verdict"] == "conforms"
    assert report["levels"]["queue"]["verdict"] == "nothing-checked"
    assert "evict" in report["levels"]["queue"]["missing"]


CATALOGUE = load_catalogue(SYSTEMS)
QUICK = [name for name in CATALOGUE if not name.startswith("liveness")]


@pytest.mark.parametrize("name", QUICK)
def test_a_seeded_fault_differs_on_its_case_and_its_rule_is_named(name: str) -> None:
    case = CATALOGUE[name]
    subject = open_in_process(name)
    assert subject is not None
    steps = run_reference(case, Coverage())
    answer = subject.play([case])[0]
    assert isinstance(answer, RunResult)
    difference = judge(case, steps, answer, subject.declaration)
    assert difference is not None
    rules = {rule.value for rule in explain_difference(subject, case, steps, difference)}
    assert rules & set(case.rules), f"named {rules}, expected one of {case.rules}"


@pytest.mark.parametrize("name", [*QUICK[::40], "segmented-no-room-at-the-end"])
def test_faults_that_skip_steps_answer_as_those_that_play_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last case is explained by a fault of the initial state too, which no step calls."""
    subject, case = open_in_process(name), CATALOGUE[name]
    assert subject is not None
    answer, steps = subject.play([case])[0], run_reference(case, Coverage())
    assert isinstance(answer, RunResult)
    difference = judge(case, steps, answer, subject.declaration)
    assert difference is not None
    observed = explain._observe_failure(subject, case, steps, difference)
    skipping = explain._matching_faults(observed)
    monkeypatch.setattr(explain, "_record_path", lambda observed: ())
    assert explain._matching_faults(observed) == skipping


@pytest.mark.long  # the demo runs the released jars
def test_a_subject_with_another_variant_is_held_to_that_variant(tmp_path: Any) -> None:
    options = Options(("range", "queue"), PROFILES["dev"], 0, 0.0, tmp_path)
    offer = {**fast_cache.DECLARATION, "variants": {"requeue_budget": "split"}}
    split = InProcessSubject("split", SYSTEM, fast_cache.open_cache, offer)
    assert conform(split, options).to_json()["verdict"] == "conforms"

    def open_reference(config: Any) -> Callable[[Any], Any]:
        return fast_cache.open_cache(dataclasses.replace(config, variants=Variants()))

    shared = InProcessSubject("says split, is shared", SYSTEM, open_reference, offer)
    assert conform(shared, options).to_json()["verdict"] == "violates"
