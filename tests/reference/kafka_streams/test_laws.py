"""The laws of kafka-streams over fixed random runs; each law detects the fault of its rule, and no other law does."""

from __future__ import annotations

from typing import Final

import pytest

from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.systems import SYSTEMS, system_named
from entrycache_conformance.systems.kafka_streams.workload import CONCURRENCY_RULES
from entrycache_evidence.rulebook.corpus import Run, first_break, list_runs
from entrycache_faults.reference.kafka_streams import SEEDED_FAULTS
from entrycache_protocol.case import case_from_json
from entrycache_reference.kafka_streams.laws import LAWS
from entrycache_reference.rules import Rule

SAMPLE: Final = SEEDED_FAULTS.own[::7]
"""A share of the seeded faults; `entrycache rules --check` tries all of them."""


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return list(list_runs(system_named("kafka-streams")))


def test_the_reference_keeps_its_laws_and_every_law_fires(runs: list[Run]) -> None:
    fired: dict[Rule, int] = {}
    broken = [(run.events, rules) for run in runs if (rules := first_break(run, fired))]
    assert broken == []
    rules = {rule for rule in Rule if rule.value.startswith("K-")} - CONCURRENCY_RULES
    assert {law.rule for law in LAWS} == fired.keys() == rules


@pytest.mark.parametrize("fault", SAMPLE, ids=lambda fault: fault.rule.value)
def test_only_the_law_of_its_rule_detects_a_fault(fault, runs: list[Run]) -> None:
    broken = {rule for run in runs for rule in first_break(run, {}, fault.model, of_rules=True)}
    assert broken == {fault.rule}


@pytest.mark.rule("K-OLD-1")
def test_a_session_that_expires_while_its_store_is_closed_breaks_no_law() -> None:
    """The time of the store below passes with the writes of the flush, and is gone afterwards."""
    kind = {"kind": "session", "below": "segments", "retention": 10, "segment_interval": 60, "old_values": True}
    put = {"op": "session_put", "store": "s", "key": "x", "value": "1"}
    early, late = put | {"start": 8, "end": 8}, put | {"start": 25, "end": 25}
    close = {"op": "store_close", "store": "s"}
    steps = [{"op": "store_open", "store": "s", **kind}, early, {"op": "store_flush", "store": "s"}, late, early, close]
    variants = {"expired_windows": "cached", "delivery": "one-by-one"}
    case = case_from_json({"system": "kafka-streams", "config": {}, "variants": variants, "steps": steps}, SYSTEMS)
    assert len(run_reference(case, Coverage())[-1].outcome.forwarded) == 2
