"""Obtain the grade *modelled*: compare a second model in TLA+ with our model checker, and check its claims.

A `ComparedModel` pairs a bounded model with a TLA+ module; TLC and our model checker must find the same states and
edges, and a seeded fault of the reference must change the graph. A `Claim` is a property that TLC confirms of a module
and refutes after a seeded error. `obtain_models` carries out both and returns the evidence.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from entrycache_evidence.core import results, scheduler
from entrycache_evidence.model_checker.checker import AnyBoundedModel
from entrycache_evidence.tlc import runner
from entrycache_faults.model import Fault, Model
from entrycache_protocol.errors import InternalError
from entrycache_reference.rules import Rule


class ComparedModel(NamedTuple):
    """A bounded model, the rendering of its states, and the TLA+ module with the same constants."""

    scope: AnyBoundedModel
    rendering: runner.StateRendering
    module: runner.Module

    def tlc_graph(self, changed: Mapping[str, str] | None = None) -> runner.Graph:
        """Return the graph that TLC finds, with other texts of modules if some are given.

        Raises:
            MissingPrerequisite: Java, Maven or the jar are not there.
            OurError: the module cannot be evaluated, or breaks an invariant of its own.
        """
        outputs = runner.run_tlc(self.module, changed)
        if outputs.broken:
            raise InternalError(f"{self.module.name} in {self.scope.name!r}: {outputs.broken} is broken")
        return runner.build_graph(outputs.edges)

    def differs(self, graph: runner.Graph, model: Model | None = None) -> str:
        """Describe the first difference from our own graph, of the reference or of a model; empty if there is none."""
        return runner.describe_graph_difference(
            graph, runner.explore_edges(self.scope, self.rendering, model), self.rendering.events
        )


# --- Second models


class Claim(NamedTuple):
    """A module in which TLC finds no error, and the same with a seeded one that it finds.

    `what` says what holds, and `error` what was seeded. With `goes_on` the error shows as a behaviour that never ends.
    """

    rule: Rule
    what: str
    holds: runner.Module
    error: str
    refuted: runner.Module
    goes_on: bool = False


class SecondModel(NamedTuple):
    """The bounded models that are compared with our model checker, the smallest first, and the claims."""

    scopes: tuple[ComparedModel, ...]
    claims: tuple[Claim, ...]


# --- Evidence

EDGES_SEARCHED: Final = 8000
"""The number of edges in which a seeded fault is searched for, breadth first."""

EqualGraphs = list[tuple[ComparedModel, runner.Graph]]


def obtain_models(second: SecondModel) -> scheduler.Work[results.Result]:
    """Compare both graphs of each bounded model and check the claims; return the evidence and the failures.

    Raises:
        MissingPrerequisite: Java, Maven or the jar of TLC are not there.
    """
    equal, failures = yield from _compare_graphs(second.scopes)
    if failures:
        return [], failures
    evidence = yield from _detect_faults(equal)
    claimed, failures = yield from _check_claims(second.claims)
    return [*evidence, *claimed], failures


def _compare_graphs(scopes: Sequence[ComparedModel]) -> scheduler.Work[tuple[EqualGraphs, list[str]]]:
    graphs = [compared.tlc_graph() for compared in scopes]
    pairs = list(zip(scopes, graphs, strict=True))
    differ = yield scheduler.Batch("TLC", lambda pair: pair[0].differs(pair[1]), pairs)
    named = zip(scopes, differ, strict=True)
    return pairs, [
        f"TLC and our model checker differ in {compared.scope.name!r} {what}" for compared, what in named if what
    ]


def _detect_faults(equal: EqualGraphs) -> scheduler.Work[list[results.Evidence]]:
    """Return a line of evidence for each rule whose seeded fault changes a graph."""
    seeded = equal[0][0].scope.parts().system.seeded_faults.own
    faults = [fault for fault in seeded if isinstance(fault, Fault)]
    effects = yield scheduler.Batch("TLC, faults", lambda fault: describe_first_effect(fault, equal), faults)
    bounds = "; ".join(describe_model(compared, graph) for compared, graph in equal)
    return [
        results.Evidence(
            fault.rule, "modelled", f"TLC and our model checker find the same states and edges: {bounds}", what
        )
        for fault, what in zip(faults, effects, strict=True)
        if what
    ]


def describe_model(compared: ComparedModel, graph: runner.Graph) -> str:
    """Describe a compared model."""
    return f"{compared.scope.name}, {len(graph.states)} states, {len(graph.edges)} edges"


def describe_first_effect(fault: Fault, equal: EqualGraphs) -> str:
    """Describe the first difference that this fault makes in any model; empty if there is none."""
    for compared, graph in equal:
        what = describe_effect(compared, graph, fault)
        if what:
            return f"{fault.note} Detected in {compared.scope.name!r}, {what}"
    return ""


def describe_effect(compared: ComparedModel, graph: runner.Graph, fault: Fault) -> str:
    """Describe the first difference that a seeded fault makes in a model; empty if none is within reach."""
    edges = islice(runner.explore_edges(compared.scope, compared.rendering, fault.model), EDGES_SEARCHED)
    try:
        return runner.describe_graph_difference(graph, edges, compared.rendering.events, whole=False)
    except Exception as error:
        return f"it throws {type(error).__name__}"


def _check_claims(claims: Sequence[Claim]) -> scheduler.Work[results.Result]:
    modules = list(dict.fromkeys(module for claim in claims for module in (claim.holds, claim.refuted)))
    outputs: dict[runner.Module, runner.TlcResult] = dict(
        zip(modules, (yield scheduler.Batch("TLC, claims", runner.run_tlc, modules)), strict=True)
    )
    evidence, failures = [], []
    for claim in claims:
        holds, refuted = outputs[claim.holds], outputs[claim.refuted]
        if holds.broken:
            failures.append(f"{claim.what}: TLC says {holds.broken} of {claim.holds.name}")
        elif not refuted.broken or refuted.goes_on != claim.goes_on:
            failures.append(f"{claim.what}: TLC does not refute it where {claim.error}")
        else:
            bounds = f"TLC: {claim.what}; {holds.states} states"
            evidence.append(results.Evidence(claim.rule, "modelled", bounds, describe_refutation(claim, refuted)))
    return evidence, failures


def describe_refutation(claim: Claim, refuted: runner.TlcResult) -> str:
    """Describe the seeded error, the property that it broke, and the length of the behaviour."""
    loop = ", which goes on for ever" if refuted.goes_on else ""
    return f"Where {claim.error}: {refuted.broken}, {refuted.steps} steps{loop}."
