"""Requests that need no file: a broker's, made up at once, and those of the presets of traces."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from entrycache_league.recorded import read_trace
from entrycache_league.requests import READ, Requests, numbered
from entrycache_league.shape import MILLI, SECOND, Shape, shaped
from entrycache_protocol.errors import UsageError
from entrycache_trace.generate import generate
from entrycache_trace.workloads import WORKLOADS

SHAPES: Final = {
    "catch-up": Shape(
        lags=(2 * MILLI, *(2 * MILLI + n for n in range(4))),
        away={who: ((0, 1_500 * MILLI + who * 50 * MILLI),) for who in range(1, 5)},
    ),
    "replay": Shape(lags=(2 * MILLI, 5 * MILLI), replayed=0.05, replay_nanos=(100 * MILLI, 4 * SECOND)),
    "reconnect": Shape(
        lags=tuple(2 * MILLI + n for n in range(5)),
        away={
            who: tuple((at * SECOND, at * SECOND + 800 * MILLI + who * 200 * MILLI) for at in range(1, 61, 3))
            for who in range(5)
        },
    ),
    "mixed-sizes": Shape(sizes=(100, 20_000), lags=(MILLI, 20 * MILLI, 400 * MILLI), replayed=0.02),
    "many-topics": Shape(topics=1_000, skew=1.0),
}
"""catch-up: four subscriptions come 50 ms after each other and read a backlog of 1.5 s. replay: a twentieth of
what a Key_Shared subscription reads is read again within four seconds. reconnect: every three seconds all five
subscriptions are cut off, and come back one after the other."""

TRACES: Final = tuple(name for name, workload in WORKLOADS.items() if workload.takes_settings)
NAMES: Final = (*SHAPES, "zipf", *TRACES)


def preset(name: str, requests: int, seed: int = 1) -> list[Requests]:
    """The requests of a preset, about so many; of a trace, so many events are recorded first.

    Raises:
        UsageError: there is no such preset.
    """
    if name in SHAPES:
        return [shaped(name, SHAPES[name], _adds(SHAPES[name], requests), seed)]
    if name == "zipf":
        return [zipf(requests, seed)]
    if name not in TRACES:
        raise UsageError(f"unknown preset {name!r}; there are {', '.join(NAMES)}")
    with TemporaryDirectory(prefix="entrycache-league-") as folder:
        directory = Path(folder, name)
        generate(name, requests, seed, directory)
        return read_trace(directory)


def _adds(shape: Shape, requests: int) -> int:
    """Each entry is added, read by each subscription, and passed once."""
    return max(1, requests // (len(shape.lags) + 2))


def zipf(requests: int, seed: int = 1, alpha: float = 1.0) -> Requests:
    """Reads by Zipf's law over a tenth as many entries of one size, a microsecond apart: what generic caches see."""
    chance = np.random.default_rng(seed)
    entries = max(10, requests // 10)
    weights = np.cumsum(1 / np.arange(1, entries + 1) ** alpha)
    places = np.searchsorted(weights, chance.random(requests) * weights[-1])
    return numbered(
        "zipf",
        kinds=np.full(requests, READ, np.uint8),
        times=np.arange(requests, dtype=np.int64) * 1_000,
        topics=np.zeros(requests, np.int64),
        places=chance.permutation(entries)[places],
        sizes=np.full(requests, 1_024, np.int64),
        counts=np.ones(requests, np.int32),
        calls=np.full(requests, -1, np.int64),
    )
