"""Errors in the evidence itself: each is seeded here, and a test of the evidence fails.

A plant edits one function, as somebody might write it, or changes the arguments of a test. The test passes before, and
fails with the error. The table of docs/explanation/evidence-errors.md is that of `PLANTS`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pytest

pytest.importorskip("z3", reason="needs the Python package z3-solver")
pytest.importorskip("crosshair", reason="needs the Python package crosshair-tool")

import z3
from _pytest.outcomes import Failed

from entrycache_evidence.core import results
from entrycache_evidence.induction import turns
from entrycache_evidence.induction.lemma import ALL_SIZES, Lemma, LemmaFault, Obligation
from entrycache_evidence.kafka_streams import loop_lemmas
from entrycache_evidence.pulsar_pip430 import bounded_models, frame
from entrycache_evidence.pulsar_pip430.contracts import decide
from entrycache_evidence.pulsar_pip430.induction import decision, steps
from entrycache_evidence.run import list_lemmas
from entrycache_evidence.tlc.runner import TlcResult
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.rules import Rule
from tests.support import ROOT

PAGE = ROOT / "docs/explanation/evidence-errors.md"
Planting = Callable[[pytest.MonkeyPatch], None]
Arguments = Callable[[pytest.MonkeyPatch, Path], dict[str, Any]]


def find_function(place: str) -> FunctionType:
    """Return the function that "module:name" means, in entrycache_evidence or in the references."""
    module, _, name = place.partition(":")
    package = "entrycache_reference" if ".laws" in module else "entrycache_evidence"
    function: Any = import_module(f"{package}.{module}")
    for part in name.split("."):
        function = getattr(function, part)
    return inspect.unwrap(function)  # type: ignore[no-any-return]


def edit(place: str, old: str, new: str) -> Planting:
    """Return the planting of an edit in a function: one text for another."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        function = find_function(place)
        text = textwrap.dedent(inspect.getsource(function))
        assert text.count(old) == 1, (place, old)
        tree = compile(
            re.sub(r"\A@\w+\n", "", text.replace(old, new)),
            place,
            "exec",
            annotations.compiler_flag,
        )
        names: dict[str, Any] = {}
        exec(tree, dict(function.__globals__), names)
        monkeypatch.setattr(function, "__code__", names[function.__name__].__code__)

    return plant


def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant nothing: the error is in the arguments."""


class Plant(NamedTuple):
    """An error, the test that catches it ("file::test") with its arguments, and those with the error in them."""

    error: str
    caught_by: str
    plant: Planting = nothing
    arguments: Arguments = lambda monkeypatch, folder: {}
    wrong: Arguments | None = None
    is_long: bool = False


def using(**arguments: Any) -> Arguments:
    """Return these arguments."""
    return lambda monkeypatch, folder: arguments


def patching(**arguments: Any) -> Arguments:
    """Return these arguments, for a test that patches something itself."""
    return lambda monkeypatch, folder: {"monkeypatch": monkeypatch, **arguments}


def committed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Return the fixture `committed` of test_evidence.py."""
    evidence = import_module("tests.evidence.test_evidence")
    path = folder / "evidence.json"
    monkeypatch.setattr(results, "locate_evidence", lambda: path)
    kinds = ((Rule.STATE_1, "exhausted"), (Rule.STATE_1, "proved"), (Rule.READ_1, "exhausted"))
    results.write_evidence(evidence.proof(*kinds))
    return {"committed": path}


LEMMA: Lemma = next(lemma for lemma in list_lemmas() if lemma.rule is Rule.REQUEUE_6)


def lemma_with(change: Callable[[Obligation], Obligation | None]) -> Lemma:
    """Return the lemma with other obligations."""

    def obligations(table: Any, model: Any) -> list[Obligation]:
        changed = map(change, LEMMA.obligations(table, model))
        return [obligation for obligation in changed if obligation is not None]

    return LEMMA._replace(obligations=obligations)


def of_lemma(lemma: Lemma) -> dict[str, Any]:
    """Return what a plant about the lemma needs."""
    return {"arguments": using(lemma=LEMMA), "wrong": using(lemma=lemma)}


PROVED = "test_induction.py::test_a_lemma_is_proved_and_refutes_its_fault"


def one_head_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stand-in of a pass take one head, or none; the paths that are known already are forgotten."""
    edit(
        "pulsar_pip430.induction.shapes:_heads_taken",
        "return queue[:number_of]\n    return queue",
        "return queue[:1]\n    return queue[:1]",
    )(monkeypatch)
    monkeypatch.setattr(steps, "paths_of_case", steps.paths_of_case.__wrapped__)  # type: ignore[attr-defined]


def narrow_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CrossHair look at few requeues only."""
    narrow_text = (decide.contract.__doc__ or "").replace("requeues >= 0", "9 > requeues >= 0")
    monkeypatch.setattr(decide.contract, "__doc__", narrow_text)


def narrow_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a lemma about calls of listeners assume a small budget."""
    edit("kafka_streams.loop_lemmas:_call_obligations", "BUDGET >= 0,", "BUDGET >= 0, BUDGET <= 5,")(monkeypatch)
    obligations = loop_lemmas._call_obligations(loop_lemmas.keeps_to_the_budget)
    narrow = loop_lemmas.CALL_LEMMAS[0]._replace(obligations=obligations)
    monkeypatch.setattr(import_module("tests.evidence.test_induction"), "CALLS", (narrow,))


def widen_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a lookup change all stamps."""
    may_change: Any = frame.MAY_CHANGE
    aspect = next(each for each in frame.Aspect if each not in may_change[ops.Get])
    monkeypatch.setitem(may_change, ops.Get, {**may_change[ops.Get], aspect: frame.Extent.ALL})


def extents_of_get(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Return the fixtures of test_frames.py, of which only those steps count that a lookup makes."""
    frames = import_module("tests.evidence.test_frames")
    extents: Any = frames.defaultdict(lambda: frames.defaultdict(list))
    for run in frames.varied(frames.PULSAR):
        state = frames.PULSAR.model.initial(run.config)
        for event in run.events:
            step = frames.PULSAR.model.step(state, event, run.config)
            played = frames.PlayedStep(run.config, state, event, step)
            state = step.state
            if type(event) is ops.Get:
                for aspect, key in frame.changes(played.pre, step.state):
                    extents[ops.Get, False][aspect].append(frames.words_of(frames.PULSAR, played, key))
    monkeypatch.setattr(frames, "declarations", lambda system: {(ops.Get, False): frame.MAY_CHANGE[ops.Get]})
    return {"system": frames.PULSAR, "changed_extents": extents}


def in_a_small_model(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Return a rule and the length of its shortest case; only a small model is searched."""
    monkeypatch.setattr(bounded_models, "CI", (bounded_models.ACCESS_OFF,))
    return {"rule": Rule.STATE_1, "steps": 1}


SMALL_MODEL = {"scope": bounded_models.ACCESS_OFF, "states": 1304, "transitions": 10804, "depth": 13}
HOLDS = TlcResult(1, (), "", ())
UNREFUTED = "it holds: TLC does not refute it where it is broken"

PLANTS: tuple[Plant, ...] = (
    Plant(
        "A precondition is too narrow: entries of 1,000 bytes at most",
        "test_induction.py::test_what_lemmas_assume_bounds_no_number",
        edit(
            "pulsar_pip430.induction.shapes:build_constraints",
            "raw(entry.size_bytes) >= 0,",
            "raw(entry.size_bytes) >= 0, raw(entry.size_bytes) <= 1000,",
        ),
        using(name="pulsar-pip430"),
    ),
    Plant(
        "Assumptions contradict each other",
        PROVED,
        **of_lemma(lemma_with(lambda each: each._replace(given=z3.And(each.given, z3.BoolVal(False))))),
    ),
    Plant("A lemma has no obligation", PROVED, **of_lemma(lemma_with(lambda each: None))),
    Plant(
        "A goal does not mention the reference",
        PROVED,
        **of_lemma(lemma_with(lambda each: each._replace(goal=z3.BoolVal(True)))),
    ),
    Plant(
        "The seeded fault of a lemma changes nothing",
        PROVED,
        **of_lemma(LEMMA._replace(fault=LemmaFault("nothing", decision.PULSAR))),
    ),
    Plant(
        "A question that z3 gives up counts as answered",
        "test_induction.py::test_a_question_that_z3_gives_up_is_reported_as_unfinished",
        edit(
            "induction.lemma:is_unsatisfiable",
            "None if answer == z3.unknown else bool(",
            "bool(z3.unknown == answer or ",
        ),
        patching(),
    ),
    Plant(
        "A branch of which z3 knows nothing counts as one that no numbers take",
        "test_induction.py::test_a_branch_of_which_z3_knows_nothing_is_followed_both_ways",
        edit("induction.symbolic:_ReachableBranches._ask_solver", "check(term) == z3.unsat", "check(term) != z3.sat"),
        patching(),
    ),
    Plant(
        "A lemma about a few shapes says that it covers all sizes",
        "test_induction.py::test_only_a_lemma_about_a_loop_covers_all_sizes",
        lambda monkeypatch: monkeypatch.setattr(Lemma, "covers", ALL_SIZES),
    ),
    Plant(
        "A premise is too narrow: calls of listeners have a budget of five at most",
        "test_induction.py::test_what_lemmas_assume_bounds_no_number",
        narrow_budget,
        using(name="kafka-streams"),
    ),
    Plant(
        "A fold begins its later turns with the counts of the first",
        "test_turns.py::test_each_lemma_about_a_loop_refutes_a_bound_on_its_turns",
        lambda monkeypatch: monkeypatch.setattr(turns, "forget_counts", lambda *about: None),
        using(package="entrycache_reference.kafka_streams", place="flush.put_back"),
    ),
    Plant(
        "A constraint cuts states of a claim of TLA+, and nobody compares",
        "test_evidence.py::test_fewer_states_of_a_claim_are_a_problem",
        edit("core.results:_states_of_claims", "int(said[2])", "1"),
        committed,
    ),
    Plant(
        "A path is skipped: the last branch of a path is never turned",
        "test_induction.py::test_every_branch_of_a_function_is_followed",
        edit(
            "induction.symbolic:paths",
            "for at in range(given, len(taken)) if",
            "for at in range(given, len(taken) - 1) if",
        ),
    ),
    Plant(
        "A premise is not proved: a pass takes one head at most",
        "test_induction.py::test_any_pass_is_as_many_passes_as_there_may_be",
        one_head_only,
    ),
    Plant(
        "Later turns of a loop begin with the counts of the first",
        "test_turns.py::test_each_lemma_about_a_loop_refutes_a_bound_on_its_turns",
        edit("induction.turns:forget_counts", 'names[name] = Term(z3.Int(f"{name} at any turn"))', "pass"),
        using(package="entrycache_reference.pulsar_pip430", place="passes.run_pass"),
        is_long=True,
    ),
    Plant(
        "An obligation is left out: the base of an induction",
        "test_evidence.py::test_a_base_or_a_step_that_is_left_out_of_a_lemma_is_a_problem",
        edit("core.results:_obligations", "int(said[1]) if said else 0", "1 if said else 0"),
        committed,
    ),
    Plant(
        "A rule falls to a weaker grade, and nobody compares",
        "test_evidence.py::test_a_weaker_grade_and_a_missing_rule_are_reported",
        edit("core.results:compare", "or GRADES.index(now[rule]) < GRADES.index(grade)", ""),
        committed,
    ),
    Plant(
        "One part that is skipped excuses all parts",
        "test_evidence.py::test_a_skipped_part_is_not_missed_but_the_rest_is",
        edit("core.results:compare", 'if PARTS[item["grade"]] not in absent', "if not absent"),
        committed,
    ),
    Plant(
        "A bounded model merges states: all ages are one",
        "test_model_checker.py::test_a_small_model_closes_with_exactly_these_counts",
        edit("pulsar_pip430.state_space:SaturatedStates.key", "age if age < oldest else oldest,", "0,"),
        using(**SMALL_MODEL),
    ),
    Plant(
        "A bounded model leaves out an event: no pass by time",
        "test_model_checker.py::test_a_small_model_closes_with_exactly_these_counts",
        edit("pulsar_pip430.state_space:Events.__init__", "*(ops.Expire(age) for age in scope.older),", ""),
        using(**SMALL_MODEL),
    ),
    Plant(
        "A bounded model that was cut off is called closed",
        "test_model_checker.py::test_a_depth_bounds_the_model_and_is_reported",
        edit(
            "model_checker.checker:explore_by_depth",
            "transitions, depth, not frontier, fired",
            "transitions, depth, True, fired",
        ),
    ),
    Plant(
        "A step that leaves the bounds is not judged",
        "test_model_checker.py::test_a_step_that_leaves_the_bounds_is_judged_and_not_followed",
        edit(
            "model_checker.checker:explore_by_depth",
            "wrong = check(config, state, event, done, fired)",
            "wrong = check(config, state, event, done, fired) if follows(done) else ()",
        ),
    ),
    Plant(
        "The counts of bounded models are not compared",
        "test_counts.py::test_other_counts_are_a_failure_that_says_how_to_accept_them",
        edit("model_checker.evidence:compare_counts", "if key in held and held[key] != now", "if key not in held"),
        patching(),
    ),
    Plant(
        "A law returns early",
        "test_model_checker.py::test_a_mutant_is_refuted_by_a_shortest_case",
        edit("pulsar_pip430.laws.state:bytes_are_sums", '"""\n', '"""\n    return True\n'),
        in_a_small_model,
    ),
    Plant(
        "A guard is too narrow, so that its laws never apply",
        "test_model_checker.py::test_a_mutant_is_refuted_by_a_shortest_case",
        edit("pulsar_pip430.laws.state:content_changed", '"""\n', '"""\n    return False\n'),
        in_a_small_model,
    ),
    Plant(
        "The definition of a system is not asked",
        "test_frames.py::test_every_system_and_every_operation_has_its_declaration_and_its_definition",
        edit("core.models:find_definition", "None if module is None else module.check_definition", "None"),
    ),
    Plant(
        "A frame is too wide: a lookup may change more than it does",
        "test_frames.py::test_each_declared_aspect_changes_in_no_narrower_extent",
        widen_frame,
        extents_of_get,
    ),
    Plant(
        "The edges of TLC are not compared, only the states",
        "test_second_model.py::test_another_answer_another_state_and_a_missing_edge_are_reported",
        edit("tlc.runner:describe_graph_difference", "if edge not in ours.edges:", "if edge.after not in ours.states:"),
    ),
    Plant(
        "Edges that only TLC has are not looked for",
        "test_second_model.py::test_another_answer_another_state_and_a_missing_edge_are_reported",
        edit("tlc.runner:describe_graph_difference", "for edge in ours.edges if whole else ():", "for edge in ():"),
    ),
    Plant(
        "A claim of TLA+ counts although nothing refutes it",
        "test_second_model.py::test_a_claim_counts_only_if_it_holds_and_is_refuted",
        edit(
            "tlc.evidence:_check_claims",
            "elif not refuted.broken or refuted.goes_on != claim.goes_on:",
            "elif refuted.goes_on != claim.goes_on:",
        ),
        patching(holds=HOLDS, refuted=HOLDS, failure=UNREFUTED),
    ),
    Plant(
        "A contract has a narrow range: fewer than nine requeues",
        "test_contracts.py::test_a_contract_takes_numbers_of_any_size",
        narrow_contract,
        lambda monkeypatch, folder: {"contract": import_module("tests.evidence.test_contracts").DECIDE},
    ),
    Plant(
        "The plain inputs of a contract lack a value",
        "test_contracts.py::test_the_grid_of_decisions_is_complete_in_flags",
        edit("pulsar_pip430.contracts.evidence:decisions", "(None, -1, 0, 1)", "(None, 0, 1)"),
    ),
    Plant(
        "CrossHair stops early, and that counts as confirmed",
        "test_contracts.py::test_only_confirmed_over_all_paths_counts",
        edit(
            "pulsar_pip430.contracts.evidence:_confirm_contract",
            'if state != "CONFIRMED":',
            'if state not in {"CONFIRMED", "CANNOT_CONFIRM"}:',
        ),
        patching(state="CANNOT_CONFIRM"),
    ),
    Plant(
        "A refinement does not compare answers",
        "test_refinement.py::test_an_answer_that_changes_nothing_is_compared_too",
        edit("model_checker.refinement:describe_difference", "if outcome != done.outcome:", "if False:"),
    ),
    Plant(
        "A refinement compares nothing but answers",
        "test_refinement.py::test_a_difference_that_no_answer_shows_yet_is_detected",
        edit("model_checker.refinement:describe_difference", "if holds == expected:", "if True:"),
    ),
    Plant(
        "Interleavings are left out: readers wait for the writer",
        "test_interleavings.py::test_without_a_guard_some_answer_is_wrong",
        edit(
            "pulsar_segmented.interleavings:list_steps",
            "in enumerate(now.readers):",
            "in enumerate(() if now.remaining else now.readers):",
        ),
        using(name="an entry that is found before its bytes are written"),
    ),
    Plant(
        "The check of numbers does not see slices",
        "test_numbers.py::test_a_wrong_bound_is_reported",
        edit("core.numbers:_is_number_or_bound", 'return ast.unparse(node) != ":"', "return False"),
        lambda monkeypatch, folder: {
            "plant": "a read has 1,000 positions",
            "tmp_path": folder,
            "monkeypatch": monkeypatch,
        },
    ),
    Plant(
        "Fewer seeds: two thirds of the runs of the rule book",
        "test_stress_runs.py::test_there_are_as_many_runs_as_before",
        lambda monkeypatch: monkeypatch.setattr("entrycache_evidence.rulebook.corpus.CASES", 100),
        using(name="pulsar-legacy"),
    ),
    Plant(
        "Fewer random runs among many entries",
        "test_stress_runs.py::test_there_are_as_many_runs_as_before",
        lambda monkeypatch: monkeypatch.setattr("entrycache_evidence.pulsar_pip430.stress.RANDOM_RUNS", 200),
        using(name="pulsar-pip430"),
    ),
)


def catcher(plant: Plant) -> Callable[..., None]:
    """Return the test that catches a plant."""
    file, _, name = plant.caught_by.partition("::")
    test: Callable[..., None] = getattr(import_module(f"tests.evidence.{file.removesuffix('.py')}"), name)
    return test


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(plant, marks=pytest.mark.long if plant.is_long else (), id=plant.error.partition(":")[0])
        for plant in PLANTS
    ],
)
def test_a_seeded_error_is_caught(plant: Plant, tmp_path: Path) -> None:
    test = catcher(plant)
    (tmp_path / "right").mkdir()
    (tmp_path / "wrong").mkdir()
    with pytest.MonkeyPatch.context() as monkeypatch:
        test(**plant.arguments(monkeypatch, tmp_path / "right"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        arguments = (plant.wrong or plant.arguments)(monkeypatch, tmp_path / "wrong")
        plant.plant(monkeypatch)
        with pytest.raises((AssertionError, Failed)):
            test(**arguments)


def test_the_page_lists_these_errors() -> None:
    rows: Mapping[str, str] = dict(re.findall(r"^\| (.*) \| `tests/evidence/(.*)` \|$", PAGE.read_text("utf-8"), re.M))
    assert rows == {plant.error: plant.caught_by for plant in PLANTS}
    assert len(PLANTS) >= 25
