"""Test the runs of `prove`: a loss of earlier evidence is reported."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from entrycache_dev.pages import evidence as evidence_module
from entrycache_evidence import run
from entrycache_evidence.core import results
from entrycache_evidence.core.results import GRADES, Evidence, Proof, Result, compare, write_evidence
from entrycache_evidence.core.scheduler import Batch, Work, run_alone
from entrycache_evidence.kafka_streams.bounded_models import EVERY
from entrycache_evidence.model_checker import evidence as model_evidence
from entrycache_evidence.model_checker.checker import AnyBoundedModel, Exploration
from entrycache_evidence.model_checker.refinement import Refinements as Walked
from entrycache_evidence.model_checker.refinement import RefinementTask
from entrycache_evidence.run import prove
from entrycache_evidence.systems import PROFILES, SYSTEM_EVIDENCE, list_refinements
from entrycache_evidence.tlc.evidence import SecondModel
from entrycache_faults.model import Model
from entrycache_faults.reference import kafka_streams, pulsar_legacy, pulsar_pip430, pulsar_segmented
from entrycache_protocol.errors import MissingPrerequisite, UsageError, missing_extra
from entrycache_reference.rules import Rule
from tests.support import ROOT


def proof(*grades: tuple[Rule, str], skipped: tuple[str, ...] = (), failures: tuple[str, ...] = ()) -> Proof:
    return Proof(
        [Evidence(rule, grade, "within these bounds", "a mutant") for rule, grade in grades],
        list(failures),
        [(part, "not there") for part in skipped],
    )


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "evidence.json"
    monkeypatch.setattr(results, "locate_evidence", lambda: path)
    write_evidence(proof((Rule.STATE_1, "exhausted"), (Rule.STATE_1, "proved"), (Rule.READ_1, "exhausted")))
    return path


def test_the_same_again_is_no_problem(committed: Path) -> None:
    assert compare(proof((Rule.STATE_1, "proved"), (Rule.READ_1, "exhausted"))) == []


def test_a_base_or_a_step_that_is_left_out_of_a_lemma_is_a_problem(committed: Path) -> None:
    """The grade stays, but the number of obligations of the rule, the sum over its lemmas, falls."""

    def proved(*numbers: int) -> Proof:
        lines = [
            Evidence(Rule.STATE_1, "proved", f"a claim; {number} obligation{'s' if number != 1 else ''}", "a mutant")
            for number in numbers
        ]
        return Proof(lines, [], [])

    write_evidence(proved(9, 1))
    assert compare(proved(9, 1)) == compare(proved(1, 9)) == compare(proved(12)) == []
    assert compare(proved(9)) == ["R-STATE-1: 9 obligations now, 10 in evidence.json"]
    assert compare(proved(8, 1)) == ["R-STATE-1: 9 obligations now, 10 in evidence.json"]
    assert compare(proved(8)._replace(skipped=[("z3", "not there")], evidence=[])) == []


def test_fewer_states_of_a_claim_are_a_problem(committed: Path) -> None:
    def claimed(states: int) -> Proof:
        return Proof([Evidence(Rule.STATE_1, "modelled", f"TLC: it holds; {states} states", "a mutant")], [], [])

    write_evidence(claimed(100))
    assert compare(claimed(100)) == compare(claimed(101)) == []
    assert compare(claimed(99)) == ["TLC: it holds: 99 states now, 100 in evidence.json"]


def test_more_than_before_is_no_problem(committed: Path) -> None:
    more = proof((Rule.STATE_1, "proved"), (Rule.READ_1, "proved"), (Rule.READ_2, "confirmed"))
    assert compare(more) == []


def test_a_weaker_grade_and_a_missing_rule_are_reported(committed: Path) -> None:
    assert compare(proof((Rule.STATE_1, "exhausted"))) == [
        "R-READ-1: nothing now, exhausted in evidence.json",
        "R-STATE-1: exhausted now, proved in evidence.json",
    ]


def test_a_skipped_part_is_not_missed_but_the_rest_is(committed: Path) -> None:
    assert compare(proof((Rule.STATE_1, "exhausted"), (Rule.READ_1, "exhausted"), skipped=("z3",))) == []
    assert compare(proof((Rule.READ_1, "exhausted"), skipped=("z3",))) == [
        "R-STATE-1: nothing now, exhausted in evidence.json"
    ]


def test_a_part_that_the_profile_leaves_out_is_not_missed(committed: Path) -> None:
    modelled = proof((Rule.STATE_1, "proved"), (Rule.READ_1, "exhausted"), (Rule.READ_2, "modelled"))
    write_evidence(modelled)
    less = proof((Rule.STATE_1, "proved"), (Rule.READ_1, "exhausted"))
    assert compare(less) == ["R-READ-2: nothing now, modelled in evidence.json"]
    assert compare(less._replace(left_out=("tlc",))) == []


def test_failures_come_first_and_stay_without_a_file(committed: Path) -> None:
    failed = proof((Rule.STATE_1, "proved"), failures=("it failed",))
    assert compare(failed)[0] == "it failed"
    committed.unlink()
    assert compare(failed) == ["it failed"]


def test_the_file_does_not_depend_on_the_order_of_results(committed: Path) -> None:
    before = committed.read_text(encoding="utf-8")
    write_evidence(proof((Rule.READ_1, "exhausted"), (Rule.STATE_1, "proved"), (Rule.STATE_1, "exhausted")))
    assert committed.read_text(encoding="utf-8") == before
    assert [item["rule"] for item in json.loads(before)["evidence"]] == ["R-STATE-1", "R-STATE-1", "R-READ-1"]


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    find_spec = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name in names else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)


def nothing() -> Work[Any]:
    """Return work that shows nothing."""
    yield Batch("nothing", repr, ())
    return [], []


def prove_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove three lemmas in place of all, without stress runs."""
    monkeypatch.setattr(run, "_check_runs", lambda name, what, runs: ([], []))
    monkeypatch.setattr(run, "_check_other_models", lambda name: ([], []))
    prove, few = run.prove_lemmas, run.list_lemmas()[:3]
    monkeypatch.setattr(run, "prove_lemmas", lambda lemmas: prove(few))


def test_without_both_packages_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "z3", "crosshair")
    with pytest.raises(MissingPrerequisite, match=r"pip install .*\[prove\]"):
        prove("ci")


@pytest.mark.long
def test_without_one_package_the_rest_runs_with_the_models_of_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    exhausted: list[Sequence[AnyBoundedModel]] = []

    def exhaust(scopes: Sequence[AnyBoundedModel], whole: bool) -> Work[Result]:
        assert whole
        exhausted.append(scopes)
        return nothing()

    walked: list[Sequence[RefinementTask]] = []

    def refined(scopes: Sequence[RefinementTask]) -> Work[Walked]:
        walked.append(scopes)
        return nothing()

    second: list[SecondModel] = []

    def modelled(model: SecondModel) -> Work[Result]:
        second.append(model)
        return nothing()

    hide(monkeypatch, "crosshair")
    prove_few(monkeypatch)
    monkeypatch.setattr(model_evidence, "exhaust", exhaust)
    monkeypatch.setattr(run.runner, "find_tools", lambda: None)
    monkeypatch.setattr(run.evidence, "obtain_models", modelled)
    monkeypatch.setattr(run, "refine_all", refined)
    result = prove("long")
    assert result.skipped == [("crosshair", str(missing_extra("crosshair", "crosshair-tool", "prove")))]
    assert {item.grade for item in result.evidence} == {"proved"}
    assert exhausted == [entry.long for entry in SYSTEM_EVIDENCE.values()]
    assert walked == [list_refinements("long")]
    assert second == [
        importlib.import_module(entry.second).SECOND for entry in SYSTEM_EVIDENCE.values() if entry.second
    ]


@pytest.mark.long
def test_a_process_that_ends_early_is_a_failure_and_the_rest_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(scope: AnyBoundedModel, model: Model | None, whole: bool) -> Exploration:
        assert not whole
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    hide(monkeypatch, "crosshair")
    prove_few(monkeypatch)
    monkeypatch.setattr(model_evidence.checker, "explore", dies)
    monkeypatch.setattr(run, "refine_all", lambda scopes: nothing())
    result = prove("ci")
    assert [line.partition(":")[0] for line in result.failures] == [
        f"the bounded models of {name}" for name in SYSTEM_EVIDENCE
    ]
    assert all("a process ended early" in line for line in result.failures)
    assert {item.grade for item in result.evidence} == {"proved"}


def test_one_system_is_proved_by_its_own_parts_and_its_rules_alone_are_compared(
    monkeypatch: pytest.MonkeyPatch, committed: Path
) -> None:
    refined: list[Sequence[RefinementTask]] = []
    monkeypatch.setattr(run, "prove_lemmas", lambda selected: nothing_about(selected, Rule.L_EVICT_1))
    monkeypatch.setattr(run, "refine_all", lambda tasks: refined.append(tasks) or nothing())
    monkeypatch.setattr(run.scheduler, "single_call", lambda what, call: nothing())
    monkeypatch.setattr(model_evidence, "exhaust", lambda scopes, whole: nothing_about(scopes, None))
    result = prove("ci", ["pulsar-legacy"])
    assert (result.failures, result.skipped, refined) == ([], [], [()])
    assert compare(result, {"L-EVICT-1"}) == []
    assert [line.partition(":")[0] for line in compare(result)] == ["R-READ-1", "R-STATE-1"]


def nothing_about(items: Sequence[Any], rule: Rule | None) -> Work[Any]:
    """Return work that shows nothing, and check that its items are those of `pulsar-legacy`."""
    if rule is None:
        assert items == SYSTEM_EVIDENCE["pulsar-legacy"].ci
    else:
        assert {lemma.rule.value[0] for lemma in items} == {"L"}
    return nothing()


def test_progress_is_reported() -> None:
    calls: list[tuple[str, int, int]] = []
    scope = replace(EVERY, depth=1)
    run_alone(model_evidence.exhaust((scope, scope)), lambda *progress: calls.append(progress))
    assert calls[:2] == [("bounded models", 1, 2), ("bounded models", 2, 2)]
    assert calls[-1][0] == "seeded faults"
    assert calls[-1][1] == calls[-1][2] > 0


def test_each_profile_has_models_of_its_own() -> None:
    for entry in SYSTEM_EVIDENCE.values():
        assert [entry.models_of(profile) for profile in PROFILES] == [entry.ci, entry.long, entry.nightly]
        assert {scope.name for scope in entry.ci} < {scope.name for scope in entry.long}
        assert len({scope.name for scope in entry.nightly}) == len(entry.nightly) > len(entry.long)


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UsageError, match="no profile 'weekly'"):
        prove("weekly")


def committed_evidence() -> dict[str, Any]:
    path = results.locate_evidence()
    assert path is not None
    return cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.long
def test_the_committed_evidence_is_of_all_rules() -> None:
    assert committed_evidence()["rules"] == [rule.value for rule in Rule], "make evidence"


def test_the_committed_evidence_is_complete() -> None:
    evidence, rules = (committed_evidence()[name] for name in ("evidence", "rules"))
    assert set(rules) <= {rule.value for rule in Rule}
    # R-INVALIDATE-6 is a MAY, so no subject has a seeded fault of it; its lemma has a fault of its own.
    assert {item["rule"] for item in evidence} == {Rule.INVALIDATE_6.value} | {
        fault.rule.value
        for registered in (pulsar_pip430, kafka_streams, pulsar_legacy, pulsar_segmented)
        for fault in registered.SEEDED_FAULTS.own
    } & set(rules)
    assert all(item["bounds"] and item["refuted_mutant"] for item in evidence)
    assert {item["grade"] for item in evidence} <= set(GRADES)


def test_the_page_of_evidence_is_generated_from_committed_results() -> None:
    assert evidence_module.render_checkout(ROOT).count("| proved |") > 5


def test_the_page_counts_and_names_rules_that_are_only_tested() -> None:
    lines = [
        {"rule": "R-STATE-1", "grade": "proved", "bounds": "any queue; 9 obligations", "covers": "all sizes"},
        {"rule": "R-STATE-1", "grade": "exhausted", "bounds": "two: small; also: one (1 states); checked 3 times"},
        {"rule": "R-STATE-2", "grade": "exhausted", "bounds": "two: small; checked 7 times", "refuted_mutant": ""},
    ]
    changes = [{"seen": {"laws": "R-STATE-1"}}, {"seen": {"twin": "x"}}, {"seen": {}}, {"seen": {}, "equivalent": True}]
    walked = [{"system": "pulsar-pip430", "bounds": "two: small", "refuted_mutant": "An error."}]
    counted = [{"world": EVERY.name, "within": None, "states": 3, "transitions": 4}]
    places = "\n".join(f"<!-- {part} -->" for part in evidence_module.PARTS)
    text = evidence_module.render_page(places, [rule.value for rule in Rule], lines, walked, changes, counted)
    bare = ", ".join(f"R-STATE-{number}" for number in range(3, 10))
    assert f"| R-STATE | 9 | 1 | 2 |  |  | {bare} |" in text
    assert f"Of {len(Rule)} rules 1 are proved for any numbers, and 2 have formal evidence of some grade." in text
    assert "| two | small | 2 |" in text
    assert "The counts of 1 models are committed" in text
    assert f"The largest is {EVERY.name} (3 states, 4 transitions)" in text
    assert "caching switched off (to its end); every operation (to 4 steps);" in text
    assert f"{EVERY.name} (to" not in text
    assert "| pulsar-pip430 | two | small | An error. |" in text
    assert "| proved | all sizes | any queue; 9 obligations | R-STATE-1 |" in text
    assert "Of 4 changes 1 change nothing. Formal detectors detect 1 of the other 3 (33.3 %)" in text
    assert "committed answers detect 1 more. 1 changes pass everything." in text


THEOREMS = ROOT / "docs/explanation/theorems.md"
SHOWN_BY = {
    "proved for all sizes": ("proved", "all sizes"),
    "proved for states of a few shapes": ("proved", "any numbers, in states of these shapes"),
    "exhausted": ("exhausted", ""),
}
"""The grade of a status of a theorem, and what the lemma covers."""


def test_the_status_of_each_theorem_is_that_of_its_rules() -> None:
    evidence = committed_evidence()["evidence"]
    rows = re.findall(r"^\| ([a-j]) \| .* \| (.*) \| (.*) \|$", THEOREMS.read_text(), re.M)
    assert [letter for letter, _, _ in rows] == list("abcdefghij")
    for letter, status, rules in rows:
        assert any(words in status for words in SHOWN_BY), letter
        graded = {(one["grade"], one.get("covers", "")) for one in evidence if one["rule"] in rules.split(", ")}
        assert all(grade in graded for words, grade in SHOWN_BY.items() if words in status), letter


OF_ONE_ENTRY = {Rule.REQUEUE_6.value}
"""The rules that are about one decision on one entry, so that no size is part of them."""


def test_each_rule_of_a_theorem_for_all_sizes_is_proved_for_all_sizes() -> None:
    covered = {(one["rule"], one.get("covers")) for one in committed_evidence()["evidence"]}
    for status, rules in re.findall(r"^\| [a-j] \| .* \| (.*) \| (.*) \|$", THEOREMS.read_text(), re.M):
        if status == "proved for all sizes":
            assert {rule for rule in rules.split(", ") if (rule, "all sizes") not in covered} <= OF_ONE_ENTRY


def test_a_rule_is_proved_or_the_page_gives_the_reason() -> None:
    evidence, rules = (committed_evidence()[name] for name in ("evidence", "rules"))
    proved, reasons = (
        {item["rule"] for item in evidence if item["grade"] == "proved"},
        evidence_module.load_reasons(rules).keys(),
    )
    assert not proved & reasons
    assert proved | reasons == set(rules)
