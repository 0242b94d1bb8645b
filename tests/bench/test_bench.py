"""The benchmarks measure what they claim; no test checks a target."""

from __future__ import annotations

import pytest

from entrycache_dev.bench.measurement import (
    CALIBRATION,
    Measurement,
    interleaved,
    mixed_operations,
    play_mapping,
    ratio,
    warm_up_operations,
    with_keys,
)
from entrycache_dev.bench.pulsar_pip430 import (
    bounded_cache,
    measure_beside_cachetools,
    measure_more_caches,
    measure_more_live,
    play_fast,
)


def test_the_mix_puts_new_entries_and_gets_the_newest() -> None:
    mix = list(mixed_operations(20_000, 100))
    newest = 99
    for put, _, entry in mix:
        if put:
            newest += 1
            assert entry == newest
        else:
            assert newest - 100 < entry <= newest
    assert sum(put for put, _, _ in mix) / len(mix) == pytest.approx(45 / 97, abs=0.02)
    assert sum(put for put, _, _ in warm_up_operations(100)) == 100


@pytest.mark.parametrize("live", [1_000, 100_000, 1_000_000])
def test_the_fast_cache_keeps_the_bound_of_the_others(live: int) -> None:
    cache = bounded_cache(live)
    assert live <= cache.trigger_bytes <= live + 1
    assert 0.975 * live < cache.target_bytes < 0.985 * live


def test_both_sides_play_the_same_mix() -> None:
    pytest.importorskip("cachetools")
    from cachetools import LRUCache

    mix = list(mixed_operations(5_000, 100))
    gets = sum(not put for put, _, _ in mix)
    fast, mapping = play_fast(mix, 100), play_mapping(with_keys(mix), LRUCache(100), 100)
    assert gets / 2 < fast.hits <= gets
    assert gets / 2 < mapping.hits <= gets


@pytest.mark.long
def test_rounds_are_interleaved_with_a_calibration_loop() -> None:
    calls: list[str] = []

    def run(name: str, seconds: float) -> float:
        calls.append(name)
        return seconds

    seconds = interleaved(3, {"a": lambda: run("a", 2.0), "b": lambda: run("b", 1.0)})
    assert calls == ["a", "b", "b", "a", "a", "b"]
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3, CALIBRATION: 3}
    assert ratio(seconds, "a", "b") == 2.0


@pytest.mark.long
def test_small_measurements_have_targets_and_notes() -> None:
    pytest.importorskip("cachetools")
    measurements = [
        *measure_beside_cachetools(1, 2_000, 50),
        *measure_more_live(1, 2_000, 50, 100),
        *measure_more_caches(1, 2, 20, 100),
    ]
    assert [bool(item.target) for item in measurements] == [True, True, False, True, True]
    assert all(item.value > 0 and item.note and item.value_text for item in measurements)


def test_a_target_is_missed_on_its_own_side_only() -> None:
    assert Measurement("speed", 1.3, "", at_least=1.4).missed
    assert not Measurement("speed", 1.4, "", at_least=1.4).missed
    assert Measurement("growth", 1.7, "", at_most=1.6).missed
    assert not Measurement("growth", 1.6, "", at_most=1.6).missed
    assert not Measurement("rate", 1.0, "op/s").missed
