"""The fast cache of `pulsar-segmented` has the answers and rows of the reference, and refuses wrong arguments."""

from __future__ import annotations

import doctest
import random

import pytest

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_segmented.fast_cache import open_cache
from entrycache_conformance.systems.pulsar_segmented.generation import WorkloadProfile
from entrycache_evidence.pulsar_segmented.bounded_models import abstract_state, comparable_state
from entrycache_fast import segmented
from entrycache_fast.segmented import Row, SegmentedCache
from entrycache_faults.fast.pulsar_segmented import FAULTS
from entrycache_protocol.declaration import Declaration

SYSTEM = SYSTEMS["pulsar-segmented"]


def assert_equal(kind: type[SegmentedCache], profile: WorkloadProfile, cases: int) -> None:
    """Check that answers and state are equal, step by step."""
    source = random.Random(f"{profile.value}")
    declaration = Declaration(SYSTEM, frozenset(SYSTEM.ops), payload=True)
    for _ in range(cases):
        case = make_case(
            source.randint, declaration, SYSTEM.cases.menu(SYSTEM.ops), Coverage(), 60, workload=profile
        ).case
        rows: list[Row] = []
        fast, state = open_cache(case.config, kind, rows.append), SYSTEM.model.initial(case.config)
        for op in case.steps:
            done = SYSTEM.model.step(state, op, case.config)
            state = done.state
            rows.clear()
            assert fast(op) == done.outcome
            assert [tuple(row) for row in rows] == [tuple(row)[1:] for row in done.rows]
            assert abstract_state(fast) == comparable_state(state)


@pytest.mark.parametrize(
    "profile",
    [profile for profile in WorkloadProfile if profile is not WorkloadProfile.GREAT],
    ids=lambda profile: profile.value,
)
def test_equal(profile: WorkloadProfile) -> None:
    assert_equal(SegmentedCache, profile, 25)


def test_the_comparison_sees_a_fault() -> None:
    with pytest.raises(AssertionError):
        assert_equal(FAULTS["segmented-usage-keeps-growing"], WorkloadProfile.TURNS, 25)


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"max_size_bytes": -1}, "max_size_bytes -1"),
        ({"segments": 1}, "1 segments"),
    ],
)
def test_wrong_limits_are_refused(kwargs: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SegmentedCache(**kwargs)


def test_as_a_library() -> None:
    cache = SegmentedCache(max_size_bytes=4, segments=2, copies=False)
    with pytest.raises(ValueError, match="size_bytes is -1"):
        cache.insert("a", 1, 0, -1)
    assert [cache.insert("a", 1, entry, 2, value=entry) for entry in range(3)] == [True] * 3
    assert (len(cache), cache.size_bytes, sorted(cache)) == (2, 4, [("a", 1, 1), ("a", 1, 2)])
    assert (cache.get("a", 1, 0, "none"), cache.get_range("a", 1, 1, 2)) == ("none", [1, 2])
    assert cache.get_range("a", 1, 0, 10**18) is None
    assert doctest.testmod(segmented).failed == 0
