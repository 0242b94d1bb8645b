"""Retained bytes for a limit of accounted bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from entrycache_simulate.configs import whole_config
from entrycache_simulate.meter import Meter
from entrycache_simulate.receive import BROKER, ReceiveBuffers
from entrycache_simulate.retained import Retained
from entrycache_simulate.run import Broker, drive
from entrycache_trace.files import Metadata

UNLIMITED: Final = (1 << 53) - 1
SHARES: Final = (1, 2, 4, 8, 12, 16)
"""The default limits, in sixteenths of the most bytes that a broker would ever have cached without one."""

SMALLER: Final = (ReceiveBuffers(1024, 16_384, 65_536), ReceiveBuffers(1024, 4_096, 16_384))
"""Beside the broker's own sizes: the maximum that PIP-430 suggests where buffers cost too much, and a smaller one."""


class Kind(NamedTuple):
    """One line of the curve: receive buffers of these sizes, None: entries are copied."""

    label: str
    sizes: ReceiveBuffers | None


@dataclass(frozen=True)
class Point:
    """At one limit: accounted and retained bytes, peak and time-weighted mean, a value a kind; hits a lookup."""

    limit_bytes: int
    accounted_peak: int
    accounted_mean: float
    retained_peak: tuple[int, ...]
    retained_mean: tuple[float, ...]
    hit_ratio: float | None


@dataclass(frozen=True)
class Curve:
    """The points, ascending, and what the values of each stand for."""

    kinds: tuple[Kind, ...]
    points: tuple[Point, ...]
    burst_nanos: int


def kinds_of(asked: Sequence[ReceiveBuffers]) -> tuple[Kind, ...]:
    """Copied entries, then the sizes that were asked for, or the broker's own and two smaller ones."""
    shown = tuple(asked) or (BROKER, *SMALLER)
    return (Kind("copied", None), *(Kind("buffers " + "/".join(map(str, sizes)), sizes.checked()) for sizes in shown))


def curve_of(
    brokers: Sequence[Broker],
    metadata: Metadata,
    kinds: tuple[Kind, ...],
    burst_nanos: int,
    limits: Sequence[int] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> Curve:
    """Simulate each limit and follow the buffers of every kind."""
    if not limits:
        most = max(_point(UNLIMITED, [broker], metadata, (), burst_nanos).accounted_peak for broker in brokers)
        limits = sorted({max(1, most * share // 16) for share in SHARES})
    points = []
    for limit in sorted(set(limits)):
        progress(f"retained bytes at a limit of {limit}")
        points.append(_point(limit, brokers, metadata, kinds, burst_nanos))
    return Curve(kinds, tuple(points), burst_nanos)


def _point(
    limit: int, brokers: Sequence[Broker], metadata: Metadata, kinds: tuple[Kind, ...], burst_nanos: int
) -> Point:
    """One limit of each broker; peaks are sums of the brokers' own."""
    hits = lookups = peak = 0
    mean = 0.0
    peaks = [0] * len(kinds)
    means = [0.0] * len(kinds)
    for broker in brokers:
        meter = Meter(broker.first_ns, broker.last_ns)
        followed = [
            Retained(burst_nanos, copies=True) if kind.sizes is None else Retained(burst_nanos, kind.sizes)
            for kind in kinds
        ]
        config = whole_config({**broker.config, "max_size_bytes": limit}, "the curve")
        drive(
            broker, config, metadata.variants, [meter.row, *(each.row for each in followed)], asked={"max_size_bytes"}
        )
        meter.close()
        span = max(1, broker.last_ns - broker.first_ns)
        hits, lookups = hits + meter.hits, lookups + meter.hits + meter.misses
        peak += meter.peak_bytes
        mean += meter.area / span
        for index, each in enumerate(followed):
            each.close(broker.last_ns)
            peaks[index] += each.peak_bytes
            means[index] += each.area / span
    return Point(limit, peak, mean, tuple(peaks), tuple(means), hits / lookups if lookups else None)
