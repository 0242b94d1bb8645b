"""DuckDB inside Spark's tasks: each task has all rows of its brokers, and evaluates the rules as `local` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_spark.engines.base import KEPT_ROWS
from entrycache_spark.rulefiles import RuleFile
from entrycache_spark.systems import parts_of
from entrycache_spark.tiers import evaluate
from entrycache_spark.verdict import Findings, RuleFinding, Violation, judge
from entrycache_trace.compiled import has_numba, require_numba
from entrycache_trace.files import Metadata, Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_PER_TASK: Final = 5_000_000
"""Rows of the brokers that one task gets, about, where there are more brokers than processors."""

MEMORY_MIB: Final = 3_072
"""What the tasks of an executor that run at once take together, before DuckDB spills to disk."""

LEAST_MEMORY_MIB: Final = 256

FOUND: Final = pa.schema(
    [
        pa.field("broker", pa.string()),
        pa.field("rule", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("checked", pa.int64()),
        pa.field(
            "violations",
            pa.list_(
                pa.struct(
                    [
                        pa.field("seq", pa.int64()),
                        pa.field("life", pa.int64()),
                        pa.field("expected", pa.string()),
                        pa.field("observed", pa.string()),
                        pa.field("seqs", pa.list_(pa.int64())),
                    ]
                )
            ),
        ),
        pa.field("undecided", pa.list_(pa.string())),
        pa.field("unchecked", pa.list_(pa.string())),
        pa.field("refused", pa.string()),
        pa.field("kernel", pa.string()),
    ]
)
"""What a task answers, a row a broker and rule; or one row that says why it cannot: `refused`, of its first broker, or
of none where it is the task that lacks something."""

FOUND_SQL: Final = (
    "broker string, rule string, verdict string, checked bigint, violations array<struct<seq: bigint, life: bigint, "
    "expected: string, observed: string, seqs: array<bigint>>>, undecided array<string>, unchecked array<string>, "
    "refused string, kernel string"
)
"""The same for Spark."""


FOLD, DUCKDB = "fold", "duckdb"
IN_WORDS: Final = {FOLD: "the fold in tasks of Spark", DUCKDB: "DuckDB in tasks of Spark"}
"""What evaluates the rules in a task: the fold, with DuckDB for what it leaves open; or DuckDB alone."""


class NotThere(Exception):
    """A task has no DuckDB, no numba where that was asked for, or does not reach the files of the trace."""


@dataclass(frozen=True)
class Group:
    """The brokers of one task, and its share of the processors and the memory."""

    parts: tuple[Part, ...]
    threads: int
    memory_mib: int


@dataclass(frozen=True)
class Question:
    """What is asked of every broker."""

    metadata: Metadata
    rules: tuple[RuleFile, ...]
    witnesses: bool
    kernel: str | None = None
    """`FOLD` or `DUCKDB`; None: the fold where numba is there where the task runs."""


def grouped(parts: Sequence[Part], slots: int) -> list[Group]:
    """The brokers of a trace in groups of about equal rows; one that is larger than a group gets more threads."""
    owned: dict[str, list[Part]] = {}
    for part in parts:
        if part.rows:
            owned.setdefault(part.broker, []).append(part)
    rows = sum(part.rows for part in parts)
    # A small trace is not worth the start of a second worker.
    number = 1 if rows <= KEPT_ROWS else min(len(owned), max(slots, rows // ROWS_PER_TASK))
    groups: list[list[Part]] = [[] for _ in range(number)]
    for broker in sorted(owned, key=lambda name: (-_rows(owned[name]), name)):
        min(groups, key=_rows).extend(owned[broker])
    return [_group(group, rows, slots) for group in groups]


def _rows(parts: Sequence[Part]) -> int:
    return sum(part.rows for part in parts)


def _group(parts: Sequence[Part], rows: int, slots: int) -> Group:
    threads = max(1, min(slots, round(slots * _rows(parts) / rows)))
    return Group(tuple(parts), threads, max(LEAST_MEMORY_MIB, MEMORY_MIB * threads // slots))


def evaluate_in_tasks(spark: SparkSession, parts: Sequence[Part], question: Question) -> tuple[Findings, str]:
    """What the rows of each broker say about the rules, and which kernels told it.

    Raises:
        NotThere: tasks cannot do it where they run.
        UsageError: the trace cannot be evaluated.
    """
    groups = grouped(parts, slots_of(spark))
    run = task(groups, question)
    rows = collected(spark.range(0, len(groups), 1, len(groups)).mapInArrow(run, FOUND_SQL))
    return findings_of(rows), kernels_of(rows)


def kernels_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """What evaluated the rules, in words."""
    by = {row["kernel"] for row in rows}
    return " and ".join(text for name, text in IN_WORDS.items() if name in by)


def slots_of(spark: SparkSession) -> int:
    """The tasks that one executor runs at once, as far as the settings say."""
    master = str(spark.conf.get("spark.master", "local[*]"))
    if not master.startswith("local["):
        return int(str(spark.conf.get("spark.executor.cores", "1")))
    told = master.removeprefix("local[").partition("]")[0].partition(",")[0]
    return int(told) if told.isdigit() else os.cpu_count() or 1


def task(groups: Sequence[Group], question: Question) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What Spark runs: rows that are numbers of groups become what was found of them."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pylist(answer(groups[number], question), FOUND)

    return run


def answer(group: Group, question: Question) -> list[dict[str, Any]]:
    """The rows of one task."""
    try:
        return list(_rows_of(*_evaluate(group, question)))
    except (MissingPrerequisite, NotThere) as error:
        return [{"refused": str(error)}]
    except UsageError as error:
        return [{"broker": min(part.broker for part in group.parts), "refused": str(error)}]


def _evaluate(group: Group, question: Question) -> tuple[Findings, str]:
    """What was found, and by which kernel."""
    from entrycache_spark.engines.local import LocalEngine  # noqa: PLC0415 - it may be missing where a task runs

    unseen = next((part.path for part in group.parts if not part.path.is_file()), None)
    if unseen is not None:
        raise NotThere(f"{unseen}: not there where a task runs")
    audited = parts_of(question.metadata.system)
    memory = f"{group.memory_mib}MiB"
    if folds(question):
        from entrycache_spark.folding import Means, evaluate_by_fold  # noqa: PLC0415 - as above

        means = Means(group.threads, memory)
        return evaluate_by_fold(group.parts, question.metadata, question.rules, audited.fold(), means), FOLD
    engine = LocalEngine(group.parts, group.threads, audited.columns, memory)
    try:
        return evaluate(engine, question.metadata, question.rules, witnesses=question.witnesses), DUCKDB
    finally:
        engine.close()


def folds(question: Question) -> bool:
    """Whether the fold evaluates the rules where this runs.

    Raises:
        MissingPrerequisite: it was asked for, and numba is missing.
    """
    if question.kernel == DUCKDB or not question.witnesses:
        return False
    if question.kernel == FOLD:
        require_numba("the fold", "spark")
    return has_numba()


def _rows_of(found: Findings, kernel: str) -> Iterator[dict[str, Any]]:
    for broker, own in found.items():
        for rule, finding in own.items():
            told = [violation._asdict() for violation in finding.violations]
            yield {
                "broker": broker,
                "rule": rule,
                "verdict": judge(finding).value,
                "checked": finding.checked,
                "violations": told,
                "undecided": finding.undecided,
                "unchecked": finding.unchecked,
                "kernel": kernel,
            }


def collected(found: DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame, on every Spark that is let in: `toArrow` came with 4.0, and what is found is little."""
    return [row.asDict(recursive=True) for row in found.collect()]


def findings_of(rows: Sequence[Mapping[str, Any]]) -> Findings:
    """What all tasks have answered.

    Raises:
        NotThere: one could not.
        UsageError: one refused the trace; of several, that of the first broker.
    """
    found: dict[str, dict[str, RuleFinding]] = {}
    refused = [(row["broker"], row["refused"]) for row in rows if row["refused"] is not None]
    lacking = [line for broker, line in refused if broker is None]
    if lacking:
        raise NotThere(min(lacking))
    if refused:
        raise UsageError(min(refused)[1])
    for row in rows:
        found.setdefault(row["broker"], {})[row["rule"]] = _finding(row)
    return {broker: found[broker] for broker in sorted(found)}


def _finding(row: Mapping[str, Any]) -> RuleFinding:
    violations = (Violation(row["rule"], row["broker"], *_told(violation)) for violation in row["violations"])
    return RuleFinding(row["checked"], tuple(violations), tuple(row["undecided"]), tuple(row["unchecked"]))


def _told(violation: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*(violation[name] for name in ("seq", "life", "expected", "observed")), tuple(violation["seqs"]))
