"""The benchmark of cursors: both containers are right and play the same moves."""

from __future__ import annotations

import random

import pytest

from entrycache_conformance.java.releases import example_release
from entrycache_dev.bench import pulsar_cursors
from entrycache_dev.bench.pulsar_cursors import (
    JUDGED_SIZES,
    MIXES,
    MOVE_RANK,
    PATTERNS,
    CursorCost,
    LinearCursors,
    add_released,
    judge_costs,
    make_cursor_mix,
    make_fast_cursors,
    make_linear_cursors,
    measure_cost,
)
from entrycache_protocol.errors import BrokenSubject, MissingPrerequisite, UsageError


@pytest.mark.parametrize("spread", [3, 8, 50])
def test_the_linked_list_is_right(spread: int) -> None:
    chance = random.Random(spread)
    for _ in range(300):
        at = {f"c{number}": chance.randrange(spread) for number in range(chance.randint(1, 12))}
        cursors = LinearCursors()
        cursors.add_all(at.items())
        for _ in range(40):
            name = chance.choice(list(at))
            if chance.random() < 0.5:
                at[name] = chance.choice((max(0, at[name] + chance.randint(-2, 3)), chance.randrange(spread)))
                cursors.move(name, at[name])
            if chance.random() < 0.5:
                assert cursors.rank(name) == sum(position <= at[name] for position in at.values())
            if chance.random() < 0.2:
                assert cursors.slowest() == min(at.values())


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("cursors", [1, 7, 300])
def test_both_containers_rank_alike(mix: str, cursors: int) -> None:
    cursor_mix = make_cursor_mix(mix, cursors, 500)
    names = [f"c{number}" for number in range(cursors)]
    fast, linear = make_fast_cursors(names, cursor_mix), make_linear_cursors(names, cursor_mix)
    for cursor, entry in cursor_mix.moves:
        assert fast.rank(names[cursor]) == linear.rank(names[cursor])
        fast.move(names[cursor], (5, entry))
        linear.move(names[cursor], entry)
    assert fast.slowest() == (5, linear.slowest())


def test_tailing_cursors_stand_near_the_head_and_lockstep_ones_on_two_entries() -> None:
    cursor_mix = make_cursor_mix("tailing", 1_000, 20_000)
    at = cursor_mix.start
    for cursor, entry in cursor_mix.moves:
        assert entry >= at[cursor]
        at[cursor] = entry
    assert len(set(at)) < 30
    cursor_mix = make_cursor_mix("lockstep", 100, 1_000)
    at = cursor_mix.start
    for cursor, entry in cursor_mix.moves:
        assert entry == at[cursor] + 1
        at[cursor] = entry
        assert len(set(at)) <= 2


@pytest.mark.long
def test_every_pattern_is_measured() -> None:
    for pattern in PATTERNS:
        cost = measure_cost(1, "tailing", pattern, 5, 50)
        assert cost.fast_nanos > 0
        assert cost.linear_nanos > 0


def test_only_thousands_of_cursors_are_judged_and_a_slow_container_misses() -> None:
    costs = [CursorCost("tailing", MOVE_RANK, size, 100.0, 150.0) for size in (1, *JUDGED_SIZES)]
    measurements = judge_costs(costs)
    assert [item.missed for item in measurements] == [True] * len(JUDGED_SIZES)


@pytest.mark.long
def test_the_released_container_plays_every_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = [CursorCost("tailing", pattern, 5, 1.0, 1.0) for pattern in PATTERNS]
    try:
        measured = add_released(costs, example_release(pulsar_cursors.FAMILY).version, 1)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert [item.pattern for item in measured] == list(PATTERNS)
    assert all(item.released_nanos is not None and item.released_nanos > 0 for item in measured)
    monkeypatch.setattr(pulsar_cursors, "MAIN", "no.Such")
    with pytest.raises(BrokenSubject, match=r"could not be measured: .*no\.Such"):
        add_released(costs, example_release(pulsar_cursors.FAMILY).version, 1)


def test_a_version_without_a_driver_is_named() -> None:
    with pytest.raises(UsageError, match=r"0\.0\.1"):
        add_released([], "0.0.1", 1)
