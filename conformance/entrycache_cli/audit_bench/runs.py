"""The measurements: audits of made-up traces, beside DuckDB alone and trivial aggregates of the same files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from entrycache_bench.measurement import Measurement
from entrycache_cli.audit_bench.meter import Cost, cost_of
from entrycache_spark.engines.session import QUICK, session
from entrycache_spark.folder import audit
from entrycache_spark.pulsar_pip430.columns import COLUMNS
from entrycache_spark.rulefiles import all_rules
from entrycache_trace.files import read_metadata, write_metadata
from entrycache_trace.generate import generate
from entrycache_trace.repeat import repeat
from entrycache_trace.schema import sql_kind

STRETCH_EVENTS: Final = 50_000
MANY: Final = 8
"""Brokers of a trace of many."""

FEW_EVENTS: Final = 2_000_000
"""Up to here everything is measured; of longer traces what the goals speak about."""

ALONE_MOST: Final = 30_000_000
"""Up to here DuckDB goes through a trace alone, which takes it seven times as long as an audit."""

AUDIT, THREADS = "audit", "audit, several threads"
WITNESSES, WINDOWS = "DuckDB, witnesses alone", "DuckDB, windows decide all"
GOALS: Final = {AUDIT: "3 M", THREADS: "0.5 M", WITNESSES: "", WINDOWS: ""}
"""Bare rates that are printed, with their goals in events a second. The fold decides all rules at once, so it is held
to the goal of witnesses alone; and where several threads leave those nothing to prove, to that of the windows."""

ALONE, BY_OP, BY_COLUMN, SPARK_SQL = "DuckDB alone", "trivial, by op", "trivial, each column", "Spark SQL"


class Run(NamedTuple):
    """One trace and one way, with the median of its rounds."""

    events: int
    brokers: int
    way: str
    cost: Cost

    @property
    def each(self) -> float:
        """Processor seconds a million events."""
        return self.cost.cpu_seconds / self.events * 1_000_000


def runs(
    sizes: Sequence[int], folder: Path, master: str, rounds: int, progress: Callable[[str], None]
) -> Iterator[Run]:
    """Every way over every trace; the rounds are interleaved, after one that warms up."""
    progress("generating")
    generate("tail-fanout", STRETCH_EVENTS, 1, folder / "stretch")
    for events in sizes:
        for brokers in (1, MANY):
            trace = folder / f"{events}-{brokers}"
            progress(f"generating {events} events of {brokers} broker(s)")
            rows = repeat(folder / "stretch", trace, events, brokers)
            ways = ways_of(trace, master, rows)
            costs: dict[str, list[Cost]] = {name: [] for name in ways}
            for number in range(rounds + 1):
                for name, work in ways.items():
                    progress(f"{rows} events of {brokers} broker(s): {name}, round {number} of {rounds}")
                    cost = cost_of(work)
                    if number:
                        costs[name].append(cost)
            for name, own in costs.items():
                middle = Cost(*(median(values) for values in zip(*(_values(cost) for cost in own), strict=True)))
                yield Run(rows, brokers, name, middle)


def _values(cost: Cost) -> tuple[float, float, float, float]:
    return cost.cpu_seconds, cost.wall_seconds, cost.workers_mib, cost.jvm_mib


def ways_of(trace: Path, master: str, rows: int) -> Mapping[str, Callable[[], object]]:
    """How a trace is gone through."""
    spark = session(master, QUICK)
    proved = [rule.id for rule in all_rules() if rule.witness is not None]
    kinds = ", ".join(f"{name} {sql_kind(name)}" for name in COLUMNS)

    def frame() -> Any:
        return spark.read.schema(kinds).option("basePath", str(trace)).parquet(f"{trace}/broker=*")

    found: dict[str, Callable[[], object]] = {
        BY_OP: lambda: frame().groupBy("op").agg({"size_bytes": "sum", "*": "count"}).collect(),
        BY_COLUMN: lambda: frame().groupBy("broker").agg(*_each(spark)).collect(),
        AUDIT: lambda: clean(trace, "spark", master),
        ALONE: lambda: clean(trace, "local", master),
        THREADS: lambda: clean(_of_threads(trace), "spark", master),
        WITNESSES: lambda: clean(trace, "spark", master, rules=proved, kernel="duckdb"),
        WINDOWS: lambda: clean(trace, "spark", master, witnesses=False),
    }
    if rows <= FEW_EVENTS:
        return found
    return {name: found[name] for name in (BY_COLUMN, AUDIT, *([ALONE] if rows <= ALONE_MOST else []))}


def _of_threads(trace: Path) -> Path:
    """The same files as a trace of several threads, whose order the witnesses do not show."""
    other = trace.with_name(f"{trace.name}-threads")
    if not other.exists():
        for path in trace.glob("broker=*/*.parquet"):
            (other / path.parent.name).mkdir(parents=True, exist_ok=True)
            (other / path.parent.name / path.name).hardlink_to(path)
        write_metadata(other, replace(read_metadata(trace), threads="many"))
    return other


def _each(spark: Any) -> list[Any]:
    """A sum or a count of each column."""
    from pyspark.sql import functions  # noqa: PLC0415 - an extra

    kinds = {"bigint": "sum({} & 1023)", "string": "count({})", "boolean": "count_if({})"}
    return [functions.expr(kinds[sql_kind(name)].format(name)) for name in COLUMNS if name != "broker"]


def clean(trace: Path, engine: str, master: str, **asked: Any) -> None:
    """Audit an honest trace; what is found in it ends the bench."""
    result = audit(trace, engine, master, **asked)
    assert result.exit_code == 0, result.violations[:3]


def command_cost(trace: Path, master: str, out: Path) -> Cost:
    """What a whole command costs, from its start to its verdicts."""
    argv = [sys.executable, "-m", "entrycache_cli", "audit", str(trace), "--master", master, "--out", str(out)]
    return cost_of(lambda: subprocess.run(argv, check=True, capture_output=True))


def judged(found: Sequence[Run], processors: int) -> list[Measurement]:
    """The ratios, with their targets, and the bare rates."""
    by = {(run.events, run.brokers, run.way): run for run in found}
    items: list[Measurement] = []
    for events, brokers in dict.fromkeys((run.events, run.brokers) for run in found):
        name = f"{events / 1e6:.1f} M events, {'one broker' if brokers == 1 else f'{brokers} brokers'}"
        own = {run.way: run for run in found if (run.events, run.brokers) == (events, brokers)}
        items += _beside(name, own)
        for way, goal in GOALS.items():
            if way in own:
                note = f"{f'goal {goal}; ' if goal else ''}{own[way].cost.wall_seconds:.1f} s of the wall"
                items.append(
                    Measurement(f"{name}: {way}, events a second", processors * 1e6 / own[way].each, "", note=note)
                )
    items += _skew(by) + _growth(found)
    return items


def _beside(name: str, own: Mapping[str, Run]) -> list[Measurement]:
    cost = own[AUDIT].cost
    said = f"{own[AUDIT].each:.2f} s a million"
    return [
        Measurement(
            *(f"{name}: audit, times {other}", own[AUDIT].each / own[other].each, ""),
            at_most=5,
            note=f"{said}, {own[other].each:.2f} s",
        )
        for other in (ALONE, BY_COLUMN)
        if other in own
    ] + [
        Measurement(
            f"{name}: memory of the tasks", cost.workers_mib, "MiB", at_most=4_096, note=f"JVM {cost.jvm_mib:.0f} MiB"
        )
    ]


def _skew(by: Mapping[tuple[int, int, str], Run]) -> list[Measurement]:
    """One giant broker beside many, of about as many events."""
    found = []
    for (events, *kind), run in by.items():
        if kind == [1, AUDIT]:
            many = [each for (_, *other), each in by.items() if other == [MANY, AUDIT]]
            beside = min(many, key=lambda each: abs(each.events - events))
            what = f"{events / 1e6:.1f} M events: one giant broker, times many, an event"
            found.append(Measurement(what, run.each / beside.each, "", at_most=1.2))
    return found


def _growth(found: Sequence[Run]) -> list[Measurement]:
    """The time of an event in the longest trace beside the one before the longest."""
    giants = sorted((run for run in found if run.brokers == 1 and run.way == AUDIT), key=lambda run: run.events)
    return [
        Measurement(
            f"an event of {longer.events / 1e6:.1f} M, times one of {shorter.events / 1e6:.1f} M",
            longer.each / shorter.each,
            "",
            at_most=1.2,
        )
        for shorter, longer in pairwise(giants)
    ]
