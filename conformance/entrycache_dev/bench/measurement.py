"""Measurements: numbers with targets, interleaved rounds, and the mix of operations that every cache plays.

A `Measurement` is a number with an optional target. `interleaved` runs alternatives in turn and returns their processor
seconds per round; `ratio` and `rate` take medians of them. `mixed_operations` and `warm_up_operations` generate the
puts and gets, and `play_mapping` plays them on a cache of cachetools.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from statistics import median
from time import process_time
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError, missing_extra

CALIBRATION_TURNS: Final = 1_000_000
CALIBRATION: Final = "calibration loop"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number; `at_least` and `at_most` are its target. A rate has none, because machines differ."""

    what: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Return whether the target is missed."""
        too_low = self.at_least is not None and self.value < self.at_least
        return too_low or (self.at_most is not None and self.value > self.at_most)

    @property
    def value_text(self) -> str:
        """The number with its unit, for people."""
        digits = 2 if self.value < 100 else 0
        return f"{self.value:,.{digits}f} {self.unit}".rstrip()

    @property
    def target(self) -> str:
        """The target for people; "" if there is none."""
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"


Run = Callable[[], float]
"""A function that does its work once and returns the processor seconds of the measured part."""

Rounds = Mapping[str, list[float]]
"""The seconds of each run by name, one number a round."""


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work, its garbage collections included."""
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


@contextmanager
def harness_set_apart() -> Iterator[None]:
    """Hide the objects that exist now, above all lists of operations, from the garbage collector.

    Objects that are created inside, a cache and its entries, are collected as in any program.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def calibration() -> float:
    """Time a loop that is the same everywhere, as a reference for rates."""

    def loop() -> None:
        total = 0
        for number in range(CALIBRATION_TURNS):
            total += number & 7

    return seconds_of(loop)


def interleaved(rounds: int, runs: Mapping[str, Run]) -> Rounds:
    """Run everything once a round, a calibration loop included; each round starts with the next run.

    Raises:
        UsageError: the clock shows no time for a run; that of a JVM advances in steps of 10 ms.
    """
    everything = {**runs, CALIBRATION: calibration}
    names = list(everything)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            with harness_set_apart():
                seconds[name].append(everything[name]())
    unseen = [name for name, taken in seconds.items() if min(taken) <= 0]
    if unseen:
        raise UsageError(f"{unseen[0]} was over before the clock went on; give more with --operations")
    return seconds


def ratio(rounds: Rounds, above: str, below: str) -> float:
    """Return the median over the rounds of one time divided by the other."""
    return median(a / b for a, b in zip(rounds[above], rounds[below], strict=True))


def rate(rounds: Rounds, name: str, count: int) -> float:
    """Return the operations per second of the median round."""
    return count / median(rounds[name])


def thousands(seconds: Rounds, name: str, count: int) -> str:
    """Return a rate for a note."""
    return f"{name} {rate(seconds, name, count) / 1_000:,.0f} k/s"


def bare_rate(what: str, seconds: Rounds, name: str, count: int) -> Measurement:
    """Return a rate without a target, with the speed of the calibration loop in its note."""
    calibrated = rate(seconds, CALIBRATION, CALIBRATION_TURNS) / 1_000_000
    return Measurement(
        what,
        rate(seconds, name, count),
        "op/s",
        note=f"the calibration loop ran {calibrated:.1f} M turns/s in the same rounds",
    )


PUT_SHARE: Final = 45 / 97
LEDGER_ENTRIES: Final = 50_000
Operation = tuple[bool, int, int]
"""An operation: whether it is a put, its ledger and its entry."""

VALUE: Final = b"payload"


class PlayedMix(NamedTuple):
    """The time of a mix and its hits."""

    seconds: float
    hits: int


def mixed_operations(count: int, live: int, seed: int = 1) -> Iterator[Operation]:
    """Yield puts of new entries (45 in 97) and gets of the `live` newest entries, each equally likely."""
    random = Random(seed).random
    newest = live
    for _ in range(count):
        if random() < PUT_SHARE:
            yield (True, newest // LEDGER_ENTRIES, newest)
            newest += 1
        else:
            number = newest - 1 - int(random() * live)
            yield (False, number // LEDGER_ENTRIES, number)


def warm_up_operations(live: int, seed: int = 2) -> Iterator[Operation]:
    """Yield the unmeasured operations before a mix: `live` puts, with as many gets per put as the mix has."""
    random = Random(seed).random
    for newest in range(live):
        yield (True, newest // LEDGER_ENTRIES, newest)
        number = newest - int(random() * live)
        if number >= 0:
            yield (False, number // LEDGER_ENTRIES, number)


KeyedOperation = tuple[bool, tuple[int, int]]


def with_keys(mix: list[Operation]) -> list[KeyedOperation]:
    """Return the mix with prepared keys, for a cache with one key."""
    return [(put, (ledger, entry)) for put, ledger, entry in mix]


def play_mapping(mix: list[KeyedOperation], cache: Any, live: int) -> PlayedMix:
    """Play the mix on a cache of cachetools, which keeps its own bound; the time excludes making keys."""
    get = cache.get
    hits = 0

    def play(part: Iterator[KeyedOperation] | list[KeyedOperation]) -> None:
        nonlocal hits
        for put, key in part:
            if put:
                cache[key] = VALUE
            elif get(key) is not None:
                hits += 1

    play((put, (ledger, entry)) for put, ledger, entry in warm_up_operations(live))
    hits = 0
    seconds = seconds_of(lambda: play(mix))
    return PlayedMix(seconds, hits)


def import_lru_cache() -> Callable[[int], Any]:
    """Import the LRU cache of cachetools.

    Raises:
        MissingPrerequisite: cachetools is not installed.
    """
    try:
        from cachetools import LRUCache  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing_extra("bench", "cachetools", "bench") from None
    return LRUCache
