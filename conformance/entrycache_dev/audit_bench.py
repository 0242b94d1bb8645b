"""The benchmark of audits: their cost beside DuckDB alone and beside trivial aggregates of the same files.

`measure_audits` generates honest traces of several sizes, goes through each of them in several ways (`audit_ways`), and
compares processor time and memory of the whole process tree, Spark's JVM and workers included (`cost_of`). `judge_runs`
turns the medians into ratios with targets. `measure_profile` runs one audit and notes the cost of each query on DuckDB
and on Spark's SQL. `entrycache_dev.audit_bench_page` writes both pages.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, Final, NamedTuple

import psutil

from entrycache_dev.bench.measurement import Measurement
from entrycache_protocol import errors, files
from entrycache_spark import duckdb_backend, folders, spark_backend
from entrycache_spark.common import rule_files, system
from entrycache_spark.plan import evaluate_in_sql
from entrycache_spark.systems.pulsar_pip430 import COLUMNS
from entrycache_trace.files import list_parts, read_metadata, write_metadata
from entrycache_trace.generators.generate import generate, repeat
from entrycache_trace.schema import sql_type

SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of some work: processor seconds, wall seconds, and peak memory of child processes in MiB.

    `workers_mib` is the memory of processes that are not a JVM.
    """

    cpu_seconds: float
    wall_seconds: float
    workers_mib: float
    jvm_mib: float


def cost_of(work: Callable[[], object]) -> Cost:
    """Do some work once."""
    ended = threading.Event()
    most = {"java": 0.0, "": 0.0}

    def watch() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            most.update({kind: max(mib, _resident_mib(kind)) for kind, mib in most.items()})

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    cpu, wall = cpu_seconds(), monotonic()
    try:
        work()
    finally:
        ended.set()
        watcher.join()
    return Cost(cpu_seconds() - cpu, monotonic() - wall, most[""], most["java"])


def cpu_seconds() -> float:
    """Return the processor seconds of this process and all its children, finished ones included."""
    total = 0.0
    for process in _tree():
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
            total += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return total


def _tree() -> Iterator[psutil.Process]:
    own = psutil.Process()
    yield own
    yield from own.children(recursive=True)


def _resident_mib(kind: str) -> float:
    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if (process.name() == "java") == (kind == "java"):
                total += process.memory_info().rss
    return total / (1 << 20)


STRETCH_EVENTS: Final = 50_000
MANY: Final = 8
"""The number of brokers in a trace of many brokers."""

FEW_EVENTS: Final = 2_000_000
"""The largest trace for which every way is measured; longer ones are measured only where a goal speaks of them."""

AUDIT, THREADS = "audit", "audit, several threads"
GOALS: Final = {AUDIT: "3 M", THREADS: "0.5 M"}
"""Rates without a target, with their goals in events a second."""

ALONE, BY_OP, BY_COLUMN, SPARK_SQL = "DuckDB alone", "trivial, by op", "trivial, each column", "Spark SQL"


class Run(NamedTuple):
    """The median cost of one way through one trace."""

    events: int
    brokers: int
    way: str
    cost: Cost

    @property
    def each(self) -> float:
        """The processor seconds per million events."""
        return self.cost.cpu_seconds / self.events * 1_000_000


def measure_runs(
    sizes: Sequence[int], folder: Path, master: str, rounds: int, progress: Callable[[str], None]
) -> Iterator[Run]:
    """Measure every way through every trace; rounds are interleaved and follow one round of warming up."""
    progress("generating")
    generate("tail-fanout", STRETCH_EVENTS, 1, folder / "stretch")
    for events in sizes:
        for brokers in (1, MANY):
            trace = folder / f"{events}-{brokers}"
            progress(f"generating {events} events of {brokers} broker(s)")
            rows = repeat(folder / "stretch", trace, events, brokers)
            ways = audit_ways(trace, master, rows)
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


def audit_ways(trace: Path, master: str, rows: int) -> Mapping[str, Callable[[], object]]:
    """Return the ways to go through a trace, by name."""
    spark = spark_backend.get_session(master, spark_backend.QUICK_JVM)
    kinds = ", ".join(f"{name} {sql_type(name)}" for name in COLUMNS)

    def frame() -> Any:
        return spark.read.schema(kinds).option("basePath", str(trace)).parquet(f"{trace}/broker=*")

    ways: dict[str, Callable[[], object]] = {
        BY_OP: lambda: frame().groupBy("op").agg({"size_bytes": "sum", "*": "count"}).collect(),
        BY_COLUMN: lambda: frame().groupBy("broker").agg(*_column_aggregates(spark)).collect(),
        AUDIT: lambda: audit_clean(trace, "spark", master),
        ALONE: lambda: audit_clean(trace, "spark-duckdb", master),
        THREADS: lambda: audit_clean(_many_threads_copy(trace), "spark", master),
    }
    if rows <= FEW_EVENTS:
        return ways
    return {name: ways[name] for name in (BY_COLUMN, AUDIT)}


def _many_threads_copy(trace: Path) -> Path:
    """Return a copy of the trace that claims several threads."""
    other = trace.with_name(f"{trace.name}-threads")
    if not other.exists():
        for path in trace.glob("broker=*/*.parquet"):
            (other / path.parent.name).mkdir(parents=True, exist_ok=True)
            (other / path.parent.name / path.name).hardlink_to(path)
        write_metadata(other, replace(read_metadata(trace), threads="many"))
    return other


def _column_aggregates(spark: Any) -> list[Any]:
    """Return a sum or a count of each column."""
    from pyspark.sql import functions  # noqa: PLC0415 - an extra

    kinds = {"bigint": "sum({} & 1023)", "string": "count({})", "boolean": "count_if({})"}
    return [functions.expr(kinds[sql_type(name)].format(name)) for name in COLUMNS if name != "broker"]


def audit_clean(trace: Path, backend: str, master: str, **options: Any) -> None:
    """Audit an honest trace; a violation ends the benchmark."""
    result = folders.audit_folder(trace, backend, master, **options)
    assert result.exit_code == 0, result.violations[:3]


def command_cost(trace: Path, master: str, out: Path) -> Cost:
    """Measure a whole command from its start to its verdicts."""
    argv = [sys.executable, "-m", "entrycache_cli", "audit", str(trace), "--master", master, "--out", str(out)]
    return cost_of(lambda: subprocess.run(argv, check=True, capture_output=True))


def judge_runs(runs: Sequence[Run], processors: int) -> list[Measurement]:
    """Return the ratios with their targets, and the rates without targets."""
    by = {(run.events, run.brokers, run.way): run for run in runs}
    items: list[Measurement] = []
    for events, brokers in dict.fromkeys((run.events, run.brokers) for run in runs):
        name = f"{events / 1e6:.1f} M events, {'one broker' if brokers == 1 else f'{brokers} brokers'}"
        own = {run.way: run for run in runs if (run.events, run.brokers) == (events, brokers)}
        items += _ratio_measurements(name, own)
        for way, goal in GOALS.items():
            if way in own:
                note = f"{f'goal {goal}; ' if goal else ''}{own[way].cost.wall_seconds:.1f} s of the wall"
                items.append(
                    Measurement(f"{name}: {way}, events a second", processors * 1e6 / own[way].each, "", note=note)
                )
    items += _skew_measurements(by) + _growth_measurements(runs)
    return items


def _ratio_measurements(name: str, own: Mapping[str, Run]) -> list[Measurement]:
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


def _skew_measurements(by: Mapping[tuple[int, int, str], Run]) -> list[Measurement]:
    """Compare one giant broker with many brokers of about as many events in all."""
    measurements = []
    for (events, *kind), run in by.items():
        if kind == [1, AUDIT]:
            many = [each for (_, *other), each in by.items() if other == [MANY, AUDIT]]
            nearest = min(many, key=lambda each: abs(each.events - events))
            what = f"{events / 1e6:.1f} M events: one giant broker, times many, an event"
            measurements.append(Measurement(what, run.each / nearest.each, "", at_most=1.2))
    return measurements


def _growth_measurements(runs: Sequence[Run]) -> list[Measurement]:
    """Compare the time per event of each trace with that of the next shorter one."""
    giants = sorted((run for run in runs if run.brokers == 1 and run.way == AUDIT), key=lambda run: run.events)
    return [
        Measurement(
            f"an event of {longer.events / 1e6:.1f} M, times one of {shorter.events / 1e6:.1f} M",
            longer.each / shorter.each,
            "",
            at_most=1.2,
        )
        for shorter, longer in pairwise(giants)
    ]


JIT_BYTES: Final = 8_000
"""The size above which the JVM compiles no method; such a method is interpreted row by row."""


class QueryCost(NamedTuple):
    """The cost of one query of an audit, and its plan.

    `scans` counts scans of the trace, `sorts` counts sorts and windows. For Spark's SQL there are also shuffles, the
    bytes of the longest generated method, and the seconds of compiling.
    """

    about: str
    cpu_seconds: float
    scans: int
    sorts: int
    shuffles: int = 0
    method_bytes: int = 0
    compile_seconds: float = 0.0


class MeasuredBackend:
    """A backend that notes the cost of each query."""

    def __init__(
        self, backend: rule_files.SqlBackend, plan_of: Callable[[str], tuple[int, ...]], compiled: Callable[[], float]
    ) -> None:
        self._backend = backend
        self._plan_of = plan_of
        self._compiled = compiled
        self.about = ""
        self.questions: list[QueryCost] = []

    def define(self, name: str, query: str) -> None:
        """Define a view."""
        self._backend.define(name, query)

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Create a table."""
        self._backend.table(name, columns, rows)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and note its cost."""
        cpu, compiled = cpu_seconds(), self._compiled()
        rows = self._backend.rows(query)
        spent = cpu_seconds() - cpu, self._compiled() - compiled
        scans, sorts, shuffles, method = self._plan_of(query)
        self.questions.append(QueryCost(self.about, spent[0], scans, sorts, shuffles, method, spent[1]))
        return rows

    def close(self) -> None:
        """Close the backend."""
        self._backend.close()

    def says(self, text: str) -> None:
        """Set the subject of the following queries."""
        self.about = text.partition(":")[0]


def profile_audit(trace: Path, backend: str, master: str) -> list[QueryCost]:
    """Return the cost of the queries of one audit."""
    metadata = read_metadata(trace)
    audited = system.audited_system(metadata.system)
    parts = list_parts(trace, audited.columns)
    if backend == "local":
        local = duckdb_backend.DuckDbBackend(parts, columns=audited.columns)
        watched = MeasuredBackend(local, lambda query: _plan_of_duckdb(local, query), lambda: 0.0)
    else:
        spark = spark_backend.SparkSqlBackend(trace, parts, master, audited.columns, audited.window_rows)
        watched = MeasuredBackend(spark, lambda query: _plan_of_spark(spark, query), lambda: _compile_seconds(spark))
    try:
        evaluate_in_sql(watched, metadata, rule_files.all_rules(metadata.system), watched.says)
    finally:
        watched.close()
    return watched.questions


def _plan_of_duckdb(backend: duckdb_backend.DuckDbBackend, query: str) -> tuple[int, ...]:
    plan = backend.explain(query)
    return len(re.findall(r"READ_PARQUET", plan)), len(re.findall(r"WINDOW|ORDER_BY", plan)), 0, 0


def _plan_of_spark(backend: spark_backend.SparkSqlBackend, query: str) -> tuple[int, ...]:
    plan = backend.explain(query, "simple")
    methods = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", backend.explain(query, "codegen"))]
    scans = len(re.findall(r"FileScan parquet|InMemoryTableScan", plan))
    sorts = len(re.findall(r"\bSort \[", plan))
    return (
        scans,
        sorts,
        len(re.findall(r"Exchange hashpartitioning|Exchange SinglePartition", plan)),
        max(methods, default=0),
    )


def _compile_seconds(backend: spark_backend.SparkSqlBackend) -> float:
    """Return the seconds that Spark has spent on compiling generated code, if this version reports them."""
    with suppress(Exception):
        return backend.compile_seconds()
    return 0.0


@dataclass(frozen=True)
class AuditNumbers:
    """The measurements of one run, with the machine they were made on."""

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
        """Return the object that `--json` prints."""
        return {
            "schema": 1,
            "verdict": "violates" if self.missed else "conforms",
            "sizes": self.sizes,
            "rounds": self.rounds,
            "master": self.master,
            "load": self.load,
            "processors": self.processors,
            "measurements": [{**asdict(item), "missed": item.missed} for item in self.measurements],
            "runs": [{**run._asdict(), "cost": asdict(run.cost)} for run in self.runs],
        }


def read_numbers(path: Path) -> AuditNumbers:
    """Read what `--json` printed into a file."""
    value = json.loads(path.read_text(encoding="utf-8"))
    items = ({name: item[name] for name in item if name != "missed"} for item in value["measurements"])
    return AuditNumbers(
        sizes=tuple(value["sizes"]),
        rounds=value["rounds"],
        master=value["master"],
        processors=value["processors"],
        load=value["load"],
        runs=tuple(Run(**{**run, "cost": Cost(**run["cost"])}) for run in value["runs"]),
        measurements=tuple(Measurement(**item) for item in items),
    )


@dataclass(frozen=True)
class AuditProfile:
    """The queries of one audit on both backends; `size` is the requested number of events."""

    size: int
    events: int
    master: str
    duckdb: tuple[QueryCost, ...]
    spark_sql: tuple[QueryCost, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        own = {name: [question._asdict() for question in getattr(self, name)] for name in ("duckdb", "spark_sql")}
        return {"schema": 1, "events": self.events, "master": self.master, **own}


@contextmanager
def _trace_folder() -> Iterator[Path]:
    """Yield a folder for traces, which is deleted afterwards.

    Raises:
        WriteError: no folder can be created.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(files.scratch_folder())
        except OSError as error:
            raise errors.WriteError(f"cannot write the traces to be measured: {error.strerror}") from None
        yield folder


def measure_audits(sizes: Sequence[int], rounds: int, master: str, progress: Callable[[str], None]) -> AuditNumbers:
    """Measure everything, in a folder that is gone afterwards."""
    load, processors = os.getloadavg()[0], os.cpu_count() or 1
    with _trace_folder() as folder:
        runs = tuple(measure_runs(sizes, folder, master, rounds, progress))
        first = folder / f"{sizes[0]}-1"
        progress("the whole command")
        whole = command_cost(first, master, folder / "out")
        note = f"of the wall, {load:.1f} programs wanting a processor; goal 20 s for 1 M on a quiet machine"
        start = Measurement(
            f"{runs[0].events / 1e6:.1f} M events, command to verdict", whole.wall_seconds, "s", note=note
        )
        items = (*judge_runs(runs, processors), start)
    return AuditNumbers(tuple(sizes), rounds, master, processors, load, runs, items)


def measure_profile(size: int, master: str, progress: Callable[[str], None]) -> AuditProfile:
    """Profile an audit of one broker on both backends."""
    with _trace_folder() as folder:
        generate("tail-fanout", STRETCH_EVENTS, 1, folder / "stretch")
        events = repeat(folder / "stretch", folder / "trace", size)
        progress("profile on DuckDB")
        duckdb = tuple(profile_audit(folder / "trace", "local", master))
        progress("profile on Spark's SQL")
        spark_sql = tuple(profile_audit(folder / "trace", "spark", master))
    return AuditProfile(size, events, master, duckdb, spark_sql)
