"""The fast cache of `kafka-streams` has the answers and the rows of the reference."""

from __future__ import annotations

import random
import sys

import pytest

from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.workload import WorkloadProfile
from entrycache_fast.kafka import Row
from entrycache_faults.fast.kafka_streams import FAULTS
from entrycache_protocol.case import case_from_json
from entrycache_reference.kafka_streams import Row as ReferenceRow
from tests.support.fast.kafka_side_by_side import assert_equal, runs

OWN = {WorkloadProfile.DEFAULT, WorkloadProfile.REENTRY, WorkloadProfile.TINY_LIMITS}
"""The profiles that stay quick: no state machine (`test_machines.py`) draws them, but for the default, for its rows."""

PROFILES = [
    pytest.param(profile, marks=() if profile in OWN else pytest.mark.long, id=profile.value)
    for profile in WorkloadProfile
]


def test_rows_have_the_columns_of_the_reference_but_its_rule() -> None:
    assert Row._fields == ReferenceRow._fields[1:]


@pytest.mark.long
@pytest.mark.parametrize("level", ["cache", "store", "views"])
@pytest.mark.parametrize("profile", PROFILES)
def test_equal(profile: WorkloadProfile, level: str) -> None:
    for config, run in runs(random.Random(f"{profile.value} {level}"), profile, level, 100, 30):
        assert_equal(config, run)


@pytest.mark.long
@pytest.mark.parametrize("level", ["cache", "store", "views"])
def test_equal__long_runs(level: str) -> None:
    for config, run in runs(random.Random(7), WorkloadProfile.LONG_RUNS, level, 3, 800):
        assert_equal(config, run)


def test_the_comparison_sees_a_fault() -> None:
    wrong = FAULTS["streams-listener-comes-back"]
    with pytest.raises(AssertionError):
        for config, run in runs(random.Random(1), WorkloadProfile.REENTRY, "cache", 200, 30):
            assert_equal(config, run, wrong)


def test_forwards_nest_as_deep_as_the_budget_allows() -> None:
    view = {"op": "window_view", "store": "s", "key": "x"}
    nested = [{"op": "window_put", "store": "s", "key": "x", "start": 3, "value": "2"}, view]
    steps = [
        {
            "op": "store_open",
            "store": "s",
            "kind": "window",
            "below": "segments",
            "retention": 3,
            "segment_interval": 5,
        },
        {"op": "on_forward", "store": "s", "key": "x", "steps": [*nested, {"op": "store_flush", "store": "s"}]},
        {"op": "window_put", "store": "s", "key": "x", "start": 3, "value": "1"},
        {"op": "store_flush", "store": "s"},
    ]
    config = {"max_size_bytes": 2_000, "reentry_budget": 64}
    case = case_from_json({"system": "kafka-streams", "config": config, "steps": steps}, SYSTEMS)
    fast = SYSTEMS["kafka-streams"].fast
    assert fast is not None
    expected = [done.outcome for done in run_reference(case, Coverage())]
    sys.setrecursionlimit(500)
    step = fast.open(case.config)
    answers = [step(op) for op in case.steps]
    assert answers == expected
    assert len(answers[-1].forwarded) > 60
