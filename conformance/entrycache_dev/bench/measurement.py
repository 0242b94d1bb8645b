"""One number with its target, and the rounds it is taken from."""

from __future__ import annotations

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
    """One number. `at_least` and `at_most` are its target; a bare rate has none, because machines differ."""

    what: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether the target is missed."""
        too_low = self.at_least is not None and self.value < self.at_least
        return too_low or (self.at_most is not None and self.value > self.at_most)

    @property
    def shown(self) -> str:
        """The number with its unit, for people."""
        digits = 2 if self.value < 100 else 0
        return f"{self.value:,.{digits}f} {self.unit}".rstrip()

    @property
    def target(self) -> str:
        """The target, for people; empty where there is none."""
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"


Run = Callable[[], float]
"""Does its work once and answers the seconds of processor time that the part to be measured took."""

Rounds = Mapping[str, list[float]]
"""The seconds of each run, one number a round."""


def seconds_of(work: Callable[[], object]) -> float:
    """The processor time of some work, its garbage collections included."""
    gc.collect()
    start = process_time()
    work()
    return process_time() - start


@contextmanager
def harness_set_apart() -> Iterator[None]:
    """Keep what stands in memory now, operation lists above all, out of the garbage collector's sight.

    What is made within, a cache and its entries, is collected as in any program.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def calibration() -> float:
    """A loop that is the same everywhere: what a bare rate has to be read beside."""

    def loop() -> None:
        total = 0
        for number in range(CALIBRATION_TURNS):
            total += number & 7

    return seconds_of(loop)


def interleaved(rounds: int, runs: Mapping[str, Run]) -> Rounds:
    """Every run once a round, the calibration loop among them; each round begins with another one.

    Raises:
        UsageError: the clock does not tell a run from nothing; that of a JVM steps by 10 ms.
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
    """The median over the rounds of the one time divided by the other."""
    return median(a / b for a, b in zip(rounds[above], rounds[below], strict=True))


def rate(rounds: Rounds, name: str, count: int) -> float:
    """How many a second, by the median round."""
    return count / median(rounds[name])


def thousands(seconds: Rounds, name: str, count: int) -> str:
    """A rate, for a note."""
    return f"{name} {rate(seconds, name, count) / 1_000:,.0f} k/s"


def bare_rate(what: str, seconds: Rounds, name: str, count: int) -> Measurement:
    """A rate without a target, with the calibration loop of the same rounds beside it."""
    calibrated = rate(seconds, CALIBRATION, CALIBRATION_TURNS) / 1_000_000
    return Measurement(
        what,
        rate(seconds, name, count),
        "op/s",
        note=f"the calibration loop ran {calibrated:.1f} M turns/s in the same rounds",
    )


# --- mix
# The mix of puts and gets, the same keys for each cache that plays it.

PUT_SHARE: Final = 45 / 97
LEDGER_ENTRIES: Final = 50_000
Operation = tuple[bool, int, int]
"""Whether it is a put, ledger, entry."""

VALUE: Final = b"payload"


class PlayedMix(NamedTuple):
    """How long the mix took, and how many of its gets were hits."""

    seconds: float
    hits: int


def mixed_operations(count: int, live: int, seed: int = 1) -> Iterator[Operation]:
    """Puts of ever new entries, 45 in 97, and gets of the `live` newest ones, each as likely as another."""
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
    """What goes before, unmeasured: `live` puts, and as many gets among them as the mix has for each put."""
    random = Random(seed).random
    for newest in range(live):
        yield (True, newest // LEDGER_ENTRIES, newest)
        number = newest - int(random() * live)
        if number >= 0:
            yield (False, number // LEDGER_ENTRIES, number)


KeyedOperation = tuple[bool, tuple[int, int]]


def with_keys(mix: list[Operation]) -> list[KeyedOperation]:
    """The same mix with its keys made beforehand, as a cache with one key wants them."""
    return [(put, (ledger, entry)) for put, ledger, entry in mix]


def play_mapping(mix: list[KeyedOperation], cache: Any, live: int) -> PlayedMix:
    """The mix on a cache of cachetools, which keeps its own bound; making the keys is not in the time."""
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


# --- peers
# The caches of cachetools, which stand beside ours.


def import_lru_cache() -> Callable[[int], Any]:
    """The LRU cache of cachetools.

    Raises:
        MissingPrerequisite: cachetools is not installed.
    """
    try:
        from cachetools import LRUCache  # noqa: PLC0415 - an extra
    except ImportError:
        raise missing_extra("bench", "cachetools", "bench") from None
    return LRUCache
