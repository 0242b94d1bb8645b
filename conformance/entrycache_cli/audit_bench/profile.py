"""Where the time of an audit goes: each question of both tiers, on DuckDB and on Spark's SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_cli.audit_bench.meter import cpu_seconds
from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.engines.local import LocalEngine
from entrycache_spark.engines.spark import SparkEngine
from entrycache_spark.rulefiles import all_rules
from entrycache_spark.systems import parts_of
from entrycache_spark.tiers import evaluate
from entrycache_trace.files import list_parts, read_metadata

JIT_BYTES: Final = 8_000
"""The JVM compiles no method that is longer than this; it is interpreted, row for row."""


class Question(NamedTuple):
    """One question of an audit: what it is about, what it cost, and how it was answered.

    `scans` of the trace; `sorts` and windows; of Spark's SQL the `shuffles`, the longest method that it generated, in
    bytes, and what compiling took.
    """

    about: str
    cpu_seconds: float
    scans: int
    sorts: int
    shuffles: int = 0
    method_bytes: int = 0
    compile_seconds: float = 0.0


class Watched:
    """An engine, and what each of its questions costs."""

    def __init__(
        self, engine: SqlEngine, plan_of: Callable[[str], tuple[int, ...]], compiled: Callable[[], float]
    ) -> None:
        self._engine = engine
        self._plan_of = plan_of
        self._compiled = compiled
        self.about = ""
        self.questions: list[Question] = []

    def define(self, name: str, query: str) -> None:
        """As the engine does."""
        self._engine.define(name, query)

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """As the engine does."""
        self._engine.table(name, columns, rows)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """As the engine does, and noted."""
        cpu, compiled = cpu_seconds(), self._compiled()
        found = self._engine.rows(query)
        spent = cpu_seconds() - cpu, self._compiled() - compiled
        scans, sorts, shuffles, method = self._plan_of(query)
        self.questions.append(Question(self.about, spent[0], scans, sorts, shuffles, method, spent[1]))
        return found

    def close(self) -> None:
        """As the engine does."""
        self._engine.close()

    def says(self, text: str) -> None:
        """What is asked about from now on."""
        self.about = text.partition(":")[0]


def profile(trace: Path, engine: str, master: str, witnesses: bool) -> list[Question]:
    """The questions of one audit; without `witnesses` the windows of all rules."""
    metadata = read_metadata(trace)
    audited = parts_of(metadata.system)
    parts = list_parts(trace, audited.columns)
    if engine == "local":
        local = LocalEngine(parts, columns=audited.columns)
        watched = Watched(local, lambda query: _plan_of_duckdb(local, query), lambda: 0.0)
    else:
        spark = SparkEngine(trace, parts, master, audited.columns, audited.window_rows)
        watched = Watched(spark, lambda query: _plan_of_spark(spark, query), lambda: _compiled(spark))
    try:
        evaluate(watched, metadata, all_rules(metadata.system), watched.says, witnesses)
    finally:
        watched.close()
    return watched.questions


def _plan_of_duckdb(engine: LocalEngine, query: str) -> tuple[int, ...]:
    plan = engine.explain(query)
    return len(re.findall(r"READ_PARQUET", plan)), len(re.findall(r"WINDOW|ORDER_BY", plan)), 0, 0


def _plan_of_spark(engine: SparkEngine, query: str) -> tuple[int, ...]:
    plan = engine.explain(query, "simple")
    methods = [int(told) for told in re.findall(r"maxMethodCodeSize:(\d+)", engine.explain(query, "codegen"))]
    scans = len(re.findall(r"FileScan parquet|InMemoryTableScan", plan))
    sorts = len(re.findall(r"\bSort \[", plan))
    return (
        scans,
        sorts,
        len(re.findall(r"Exchange hashpartitioning|Exchange SinglePartition", plan)),
        max(methods, default=0),
    )


def _compiled(engine: SparkEngine) -> float:
    """Seconds that Spark's generated code has taken to compile so far, where this Spark tells."""
    with suppress(Exception):
        return engine.compile_seconds()
    return 0.0
