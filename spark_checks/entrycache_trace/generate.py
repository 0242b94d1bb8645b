"""Made-up but honest traces: a seeded workload driven through the fast cache, recorded as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrycache_protocol.errors import UsageError
from entrycache_protocol.output import check_empty
from entrycache_trace.files import Metadata, PartWriter, write_metadata
from entrycache_trace.workloads import WORKLOADS

Progress = Callable[[int], None]
"""Hears of so many more events."""


@dataclass(frozen=True)
class Made:
    """A trace that is to be made; each broker's part follows from this and its number alone."""

    preset: str
    events: int
    seed: int
    directory: Path
    brokers: int
    settings: Mapping[str, Any]

    def write(self, number: int, progress: Progress = lambda count: None) -> int:
        """Write one broker; the number of its events."""
        workload = WORKLOADS[self.preset]
        name = f"{workload.broker}-{number}"
        seed = f"{self.preset} {self.seed} {number}"
        work = workload.begin(PartWriter(self.directory, name), name, seed, number, self.settings)
        return work.run(_share(self.events, number, self.brokers), progress)


def _in_turn(made: Made, progress: Progress) -> int:
    return sum(made.write(number, progress) for number in range(made.brokers))


def generate(
    preset: str,
    events: int,
    seed: int,
    directory: Path,
    brokers: int = 1,
    progress: Progress = lambda count: None,
    settings: Mapping[str, Any] | None = None,
    *,
    write: Callable[[Made, Progress], int] = _in_turn,
) -> int:
    """Write a trace of at least `events` events over `brokers` brokers; the number of events.

    `settings` hold in every broker instead of the preset's own; `write` writes all brokers, here or elsewhere.
    """
    if preset not in WORKLOADS:
        raise UsageError(f"preset {preset!r} is not known; there are {', '.join(WORKLOADS)}")
    workload = WORKLOADS[preset]
    if settings is not None and not workload.takes_settings:
        raise UsageError(f"preset {preset!r} is of {workload.system}; the settings of a broker do not fit it")
    if events < 1 or brokers < 1:
        raise UsageError("events and brokers must be 1 or more")
    check_empty(directory, "the trace")
    count = write(Made(preset, events, seed, directory, brokers, settings or {}), progress)
    # Last: a folder of parts without it is refused, so half a trace is not taken for one.
    source = f"generate {preset} --events {events} --seed {seed}"
    write_metadata(directory, Metadata(system=workload.system, source=source))
    return count


def _share(events: int, number: int, brokers: int) -> int:
    """The events of one of several brokers."""
    return (events * (number + 1)) // brokers - (events * number) // brokers
