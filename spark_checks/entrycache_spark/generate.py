"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from entrycache_reference.errors import UsageError
from entrycache_spark.catch_up import CatchUp
from entrycache_spark.files import Metadata
from entrycache_spark.recorder import TraceWriter
from entrycache_spark.workload import PRESETS, Broker


def generate(
    preset: str,
    events: int,
    seed: int,
    directory: Path,
    brokers: int = 1,
    progress: Callable[[int], None] = lambda count: None,
    settings: Mapping[str, Any] | None = None,
) -> int:
    """Write a trace of at least `events` events over `brokers` brokers; the number of events.

    `settings` hold in every broker instead of the preset's own.
    """
    if preset not in PRESETS:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join(PRESETS)}")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory}: not empty; a trace is written into a new folder")
    writer = TraceWriter(directory, Metadata(source=f"generate {preset} --events {events} --seed {seed}"))
    work = replace(PRESETS[preset], forced=settings or {})
    count = 0
    for number in range(brokers):
        kind = CatchUp if preset == "catch-up-fanout" else Broker
        share = (events * (number + 1)) // brokers - (events * number) // brokers
        broker = kind(writer, work, f"broker-{number}", f"{preset} {seed} {number}", number)
        count += broker.run(share, progress)
    return count
