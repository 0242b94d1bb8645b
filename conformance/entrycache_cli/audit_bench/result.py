"""All that one run of `entrycache bench audit` has measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from entrycache_bench.measurement import Measurement
from entrycache_cli.audit_bench.profile import Question, profile
from entrycache_cli.audit_bench.runs import STRETCH_EVENTS, Run, command_cost, judged, runs
from entrycache_protocol.errors import Unwritten
from entrycache_protocol.leftovers import scratch
from entrycache_trace.generate import generate
from entrycache_trace.repeat import repeat


@dataclass(frozen=True)
class AuditNumbers:
    """What was measured, and where."""

    sizes: tuple[int, ...]
    rounds: int
    master: str
    processors: int
    load: float
    runs: tuple[Run, ...]
    measurements: tuple[Measurement, ...]

    @property
    def missed(self) -> list[Measurement]:
        """The measurements that miss their target."""
        return [item for item in self.measurements if item.missed]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "schema": 1,
            "verdict": "violates" if self.missed else "conforms",
            "load": self.load,
            "processors": self.processors,
            "measurements": [{**asdict(item), "missed": item.missed} for item in self.measurements],
            "runs": [{**run._asdict(), "cost": asdict(run.cost)} for run in self.runs],
        }


@dataclass(frozen=True)
class Profile:
    """The questions of one audit, on both engines; `size`: the events that were asked for."""

    size: int
    events: int
    master: str
    duckdb: tuple[Question, ...]
    spark_sql: tuple[Question, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        own = {name: [question._asdict() for question in getattr(self, name)] for name in ("duckdb", "spark_sql")}
        return {"schema": 1, "events": self.events, "master": self.master, **own}


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for traces, which is gone afterwards.

    Raises:
        Unwritten: there is none to be had.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch())
        except OSError as error:
            raise Unwritten(f"cannot write the traces to be measured: {error.strerror}") from None
        yield folder


def measure(sizes: Sequence[int], rounds: int, master: str, progress: Callable[[str], None]) -> AuditNumbers:
    """Measure everything, in a folder that is gone afterwards."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    with _folder() as folder:
        found = tuple(runs(sizes, folder, master, rounds, progress))
        first = folder / f"{sizes[0]}-1"
        progress("the whole command")
        whole = command_cost(first, master, folder / "out")
        note = f"of the wall, {load:.1f} programs wanting a processor; goal 20 s for 1 M on a quiet machine"
        start = Measurement(
            f"{found[0].events / 1e6:.1f} M events, command to verdict", whole.wall_seconds, "s", note=note
        )
        items = (*judged(found, processors), start)
    return AuditNumbers(tuple(sizes), rounds, master, processors, load, found, items)


def measure_profile(size: int, master: str, progress: Callable[[str], None]) -> Profile:
    """Profile an audit of one broker on both engines."""
    with _folder() as folder:
        generate("tail-fanout", STRETCH_EVENTS, 1, folder / "stretch")
        events = repeat(folder / "stretch", folder / "trace", size)
        progress("profile on DuckDB")
        duckdb = tuple(profile(folder / "trace", "local", master, False))
        progress("profile on Spark's SQL")
        spark_sql = tuple(profile(folder / "trace", "spark", master, False))
    return Profile(size, events, master, duckdb, spark_sql)
