"""The sorted numbers beside a plain sorted list."""

from __future__ import annotations

import random
from bisect import bisect_right, insort

import pytest

from entrycache_fast.pulsar import store
from entrycache_fast.pulsar.store import SortedNumbers


@pytest.mark.parametrize("block", [2, 3, 8, 512])
@pytest.mark.parametrize("spread", [3, 60, 10_000])
def test_every_change_is_that_of_a_sorted_list(block: int, spread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BLOCK_LENGTH", block)
    chance = random.Random(block * spread)
    kept: list[int] = []
    numbers = SortedNumbers()
    for turn in range(4_000):
        growing = turn % 1_000 < 500
        roll = chance.random()
        if not kept or roll < (0.5 if growing else 0.2):
            number = chance.randrange(spread)
            insort(kept, number)
            numbers.add(number)
        elif roll < 0.7:
            number = kept.pop(chance.randrange(len(kept)))
            numbers.remove(number)
        else:
            number = chance.choice(kept)
            new = chance.choice((number, number + 1, number + 3, number - 1, chance.randrange(spread)))
            kept.remove(number)
            insort(kept, new)
            if new > number:
                numbers.move_up(number, new)
            elif new < number:
                numbers.move_down(number, new)
        bound = chance.randrange(-1, spread + 1)
        assert numbers.count_up_to(bound) == bisect_right(kept, bound)
        assert numbers.least() == (kept[0] if kept else None)
        assert len(numbers) == len(kept)
        numbers.check()
    assert list(numbers) == kept


def test_readers_in_lockstep_move_in_place() -> None:
    numbers = SortedNumbers()
    for _ in range(5_000):
        numbers.add(7)
    blocks = [id(block) for block in numbers._blocks]
    for _ in range(5_000):
        numbers.move_up(7, 8)
    assert numbers.count_up_to(7) == 0
    assert numbers.count_up_to(8) == 5_000
    assert [id(block) for block in numbers._blocks] == blocks
    for _ in range(5_000):
        numbers.move_down(8, 6)
    assert numbers.count_up_to(6) == 5_000
    assert [id(block) for block in numbers._blocks] == blocks
    numbers.check()
