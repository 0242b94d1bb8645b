"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from entrycache_protocol.errors import UsageError
from entrycache_trace.aggregation import TOPOLOGIES, Thread
from entrycache_trace.catch_up import CatchUp
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.recorder import TraceWriter
from entrycache_trace.schema import STREAMS
from entrycache_trace.workload import PRESETS, Broker


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
    if preset not in {**PRESETS, **TOPOLOGIES}:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join((*PRESETS, *TOPOLOGIES))}")
    if preset in TOPOLOGIES and settings is not None:
        raise UsageError(f"preset {preset!r} is of kafka-streams; the settings of a broker do not fit it")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    if directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory}: not empty; a trace is written into a new folder")
    source = f"generate {preset} --events {events} --seed {seed}"
    if preset in TOPOLOGIES:
        return _threads(preset, events, seed, directory, brokers, progress, source)
    writer = TraceWriter(directory, Metadata(source=source))
    work = replace(PRESETS[preset], forced=settings or {})
    count = 0
    for number in range(brokers):
        share = _share(events, number, brokers)
        kind = CatchUp if preset == "catch-up-fanout" else Broker
        broker = kind(writer, work, f"broker-{number}", f"{preset} {seed} {number}", number)
        count += broker.run(share, progress)
    return count


def _share(events: int, number: int, brokers: int) -> int:
    """The events of one of several brokers."""
    return (events * (number + 1)) // brokers - (events * number) // brokers


def _threads(
    preset: str, events: int, seed: int, directory: Path, threads: int, progress: Callable[[int], None], source: str
) -> int:
    """A trace of several stream threads, a broker each."""
    directory.mkdir(parents=True, exist_ok=True)
    write_metadata(directory, Metadata(system=STREAMS, source=source))
    count = 0
    for number in range(threads):
        writer = PartWriter(directory, f"thread-{number}")
        thread = Thread(writer, TOPOLOGIES[preset], f"{preset} {seed} {number}")
        count += thread.run(_share(events, number, threads), progress)
    return count
