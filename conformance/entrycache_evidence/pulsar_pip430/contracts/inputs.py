"""Plain inputs of the contracts: a grid on which each planted error has to show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from entrycache_evidence.pulsar_pip430.contracts.small import Held, sound


def decisions() -> Iterator[tuple[Any, ...]]:
    """Arguments of the contract about one decision."""
    flags = (False, True)
    yield from product(flags, flags, flags, flags, (None, -1, 0, 1), (0, 1, 2), (0, 1))


def pairs(sizes: tuple[int, ...], stamps: tuple[int, ...], dead: bool) -> Iterator[tuple[Held, Held]]:
    """Two slots; dead ones only where asked for."""
    one = [
        Held(gone, size, stamp, requeues, accessed, count)
        for gone, size, stamp, requeues, accessed, count in product(
            (False, True) if dead else (False,), sizes, stamps, (0, 1), (False, True), (None, 0, 1)
        )
    ]
    yield from product(one, one)


def time_pairs() -> Iterator[tuple[Any, ...]]:
    """Arguments of a time pass over two live entries."""
    for pair in pairs((1,), (0, 1, 2), dead=False):
        if sound(pair, 2):
            yield from ((*pair, 2, cutoff) for cutoff in (1, 2))


def size_pairs() -> Iterator[tuple[Any, ...]]:
    """Arguments of a size pass over two live entries."""
    yield from ((*pair, need) for pair in pairs((0, 2), (0,), dead=False) for need in (1, 2))


def time_threes() -> Iterator[tuple[Any, ...]]:
    """Arguments of a time pass over three live entries: those of two, and a young one behind."""
    for first, second, now, cutoff in time_pairs():
        yield first, second, Held(False, 1, now, 0, False, None), now, cutoff


def size_threes() -> Iterator[tuple[Any, ...]]:
    """Arguments of a size pass over three live entries: those of two, and one behind."""
    for first, second, need in size_pairs():
        yield first, second, Held(False, 1, 0, 0, False, 1), need


def time_slots() -> Iterator[tuple[Any, ...]]:
    """Arguments of a time pass over at most two slots."""
    for pair in pairs((1,), (0, 2), dead=True):
        if sound(pair, 2):
            yield from ((*pair, 2, 2, 2, extend, most) for extend in (True, False) for most in (0, 1))


def size_slots() -> Iterator[tuple[Any, ...]]:
    """Arguments of a size pass over at most two slots."""
    yield from ((*pair, 2, need, True, 1) for pair in pairs((0, 2), (0,), dead=True) for need in (1, 2))
