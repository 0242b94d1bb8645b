"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import check_empty
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.workloads import WORKLOADS


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
    if preset not in WORKLOADS:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join(WORKLOADS)}")
    workload = WORKLOADS[preset]
    if settings is not None and not workload.takes_settings:
        raise UsageError(f"preset {preset!r} is of {workload.system}; the settings of a broker do not fit it")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    check_empty(directory, "the trace")
    count = 0
    for number in range(brokers):
        name = f"{workload.broker}-{number}"
        work = workload.begin(PartWriter(directory, name), name, f"{preset} {seed} {number}", number, settings or {})
        count += work.run(_share(events, number, brokers), progress)
    # Last: a folder of parts without it is refused, so half a trace is not taken for one.
    source = f"generate {preset} --events {events} --seed {seed}"
    write_metadata(directory, Metadata(system=workload.system, source=source))
    return count


def _share(events: int, number: int, brokers: int) -> int:
    """The events of one of several brokers."""
    return (events * (number + 1)) // brokers - (events * number) // brokers
