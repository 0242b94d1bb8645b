"""The audit of a recorded trace: which rules it conforms to, which it violates, and where."""

# ruff: noqa: PLC0415 -- each engine is imported only when it is asked for

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol.errors import MissingPrerequisite, Unwritten, UsageError
from entrycache_protocol.output import whole
from entrycache_protocol.stopped import Stopped
from entrycache_spark.rulefiles import RuleFile, select_rules
from entrycache_spark.systems import AUDITED, parts_of
from entrycache_spark.verdict import (
    AuditResult,
    Findings,
    RuleFinding,
    Verdict,
    Violation,
    in_order,
    judge,
    together,
)
from entrycache_trace.files import Metadata, Part, list_parts, read_metadata, system_of
from entrycache_trace.parquet import check_texts
from entrycache_trace.schema import VIOLATION_SCHEMA
from entrycache_trace.systems import FIRST

if TYPE_CHECKING:
    from entrycache_spark.engines.base import SqlEngine

ENGINES: Final = ("spark", "local", "replay")
KERNELS: Final = ("fold", "duckdb", "sql")
"""What evaluates the rules on Spark: the fold or DuckDB inside its tasks, or Spark's own SQL."""
LIVE_SLOTS_MOST: Final = 1_000_000
"""Replay gives up where more entries are cached, or slots held, at once."""

VIOLATIONS_NAME: Final = "violations.parquet"


def audit(
    directory: Path,
    engine: str = "spark",
    master: str = "local[*]",
    rules: Sequence[str] = (),
    out: Path | None = None,
    *,
    kernel: str | None = None,
    witnesses: bool = True,
    max_live_slots: int = LIVE_SLOTS_MOST,
    progress: Callable[[str], None] = lambda text: None,
) -> AuditResult:
    """Check a trace folder for the rules (none named: all); write the violations into `out` if given.

    `kernel` is one of `KERNELS`; none: the fold where the tasks have numba, else DuckDB where they have that and see
    the files, else Spark's SQL.
    `witnesses` False lets the windows decide what the witnesses could prove; `max_live_slots` bounds replay.

    Raises:
        Stopped: it was stopped while an SQL engine looked for violations; with the result of the rules that were
            decided by then. Nothing is written.
    """
    system = system_of(directory)
    chosen = select_rules(tuple(rules), system if system in AUDITED else FIRST)
    parts = list_parts(directory, parts_of(system).columns)
    rows = sum(part.rows for part in parts)
    metadata = read_metadata(directory) if parts else Metadata()
    if out is not None:
        check_out(directory, out)
    if engine not in ENGINES:
        raise UsageError(f"engine {engine!r} is not known; there are {', '.join(ENGINES)}")
    if kernel is not None and (engine != "spark" or kernel not in KERNELS):
        raise UsageError(f"kernel {kernel!r} is not known to engine {engine}; spark has {', '.join(KERNELS)}")
    if rows == 0 or metadata.system not in AUDITED:
        result = nothing(chosen, metadata.system, rows)
    else:
        trace = Trace(directory, parts, metadata, chosen, witnesses)
        try:
            with named(str(directory)):
                found, by = evaluated(trace, engine, master, kernel, max_live_slots, progress)
        except Stopped as stopped:
            raise Stopped(result_of(stopped.so_far, rows)) from None
        result = result_of(found, rows, by)
    if out is not None:
        try:
            write_violations(out, result.violations)
        except Unwritten as error:
            return replace(result, unwritten=str(error))
    return result


def check_out(directory: Path, out: Path) -> None:
    """Refuse to write into a trace."""
    if out.resolve() == directory.resolve() or directory.resolve() in out.resolve().parents:
        raise UsageError(f"{out}: violations are not written into the trace")


@contextmanager
def named(where: str) -> Iterator[None]:
    """Begin with the trace what is said of its events."""
    try:
        yield
    except UsageError as error:
        raise error if str(error).startswith(where) else UsageError(f"{where}: {error}") from None


class Trace(NamedTuple):
    """What is audited, and for which rules."""

    directory: Path
    parts: Sequence[Part]
    metadata: Metadata
    rules: Sequence[RuleFile]
    witnesses: bool


def evaluated(
    trace: Trace, engine: str, master: str, kernel: str | None, max_live_slots: int, progress: Callable[[str], None]
) -> tuple[Findings, str]:
    """What was found of each broker, and by which kernel."""
    if engine == "replay":
        return _replay(trace, max_live_slots, progress), ""
    from entrycache_spark.engines.base import is_small

    columns = AUDITED[trace.metadata.system].columns
    if is_small(trace.parts):
        for part in trace.parts:
            check_texts(part.path, columns)
    if engine == "spark":
        return _on_spark(trace, master, kernel, progress)
    from entrycache_spark.engines.local import LocalEngine

    return _by_sql(LocalEngine(trace.parts, columns=columns), trace, progress), ""


def _replay(trace: Trace, max_live_slots: int, progress: Callable[[str], None]) -> Findings:
    replay, needs = AUDITED[trace.metadata.system].replay(), {rule.id: rule.needs for rule in trace.rules}
    brokers = sorted({part.broker for part in trace.parts if part.rows})
    owned = {broker: [part for part in trace.parts if part.broker == broker] for broker in brokers}
    return {broker: replay(owned[broker], trace.metadata, needs, max_live_slots, progress) for broker in brokers}


def _on_spark(trace: Trace, master: str, kernel: str | None, progress: Callable[[str], None]) -> tuple[Findings, str]:
    """By the fold or DuckDB in tasks, or by Spark's SQL where that is asked for, or where the tasks lack something."""
    from entrycache_spark.engines.session import QUICK, is_local, session
    from entrycache_spark.engines.spark import SparkEngine
    from entrycache_spark.engines.tasks import NotThere, Question, evaluate_in_tasks, folds

    progress("starting Spark")
    spark = session(master, QUICK if is_local(master) and kernel != "sql" else {})
    why = ""
    if kernel != "sql":
        question = Question(trace.metadata, tuple(trace.rules), trace.witnesses, kernel)
        own = "the fold in tasks of Spark (its first run compiles it)"
        progress(own if folds(question) else "DuckDB in tasks of Spark")
        try:
            return evaluate_in_tasks(spark, trace.parts, question)
        except NotThere as error:
            if kernel is not None:
                raise MissingPrerequisite(f"kernel {kernel}: {error}") from None
            why = f" ({error})"
    audited = AUDITED[trace.metadata.system]
    engine = SparkEngine(trace.directory, trace.parts, master, audited.columns, audited.window_rows)
    return _by_sql(engine, trace, progress), f"Spark SQL{why}"


def _by_sql(engine: SqlEngine, trace: Trace, progress: Callable[[str], None]) -> Findings:
    from entrycache_spark.tiers import evaluate

    try:
        return evaluate(engine, trace.metadata, trace.rules, progress, trace.witnesses)
    finally:
        engine.close()


def nothing(rules: Sequence[RuleFile], system: str, rows: int) -> AuditResult:
    """What is said of a trace that holds nothing to check."""
    note = "the trace has no rows" if rows == 0 else f"no trace check for system {system!r} yet"
    return AuditResult({rule.id: Verdict.NOTHING_CHECKED for rule in rules}, (), (note,), rows)


def result_of(found: Findings, rows: int, kernel: str = "") -> AuditResult:
    """The verdicts of all brokers together and of each, in a fixed order; `rows` events were read."""
    every = together(found)
    violations = in_order(violation for finding in every.values() for violation in finding.violations)
    said = [note for finding in every.values() for note in (*finding.undecided, *finding.unchecked)]
    notes = tuple(dict.fromkeys(said))
    differences = tuple(line for finding in every.values() for line in finding.differences)
    brokers = {broker: _verdicts(own) for broker, own in sorted(found.items())}
    return AuditResult(_verdicts(every), violations, notes, rows, differences, brokers=brokers, kernel=kernel)


def _verdicts(found: Mapping[str, RuleFinding]) -> dict[str, Verdict]:
    return {rule: judge(finding) for rule, finding in sorted(found.items())}


def write_violations(out: Path, violations: Sequence[Violation]) -> Path:
    """Write `violations.parquet`, empty if there are none; the path."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: not a folder")
    columns = [pa.array([row[i] for row in violations], kind.type) for i, kind in enumerate(VIOLATION_SCHEMA)]
    path = out / VIOLATIONS_NAME
    if path.is_dir():
        shutil.rmtree(path)
    with whole(path) as beside:
        pq.write_table(pa.Table.from_arrays(columns, schema=VIOLATION_SCHEMA), beside, compression="zstd")
    return path
