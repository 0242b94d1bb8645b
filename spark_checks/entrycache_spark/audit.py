"""The audit of a recorded trace: which rules it conforms to, which it violates, and where."""

# ruff: noqa: PLC0415 -- each engine is imported only when it is asked for

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from entrycache_protocol.errors import Unwritten, UsageError
from entrycache_protocol.output import whole
from entrycache_protocol.stopped import Stopped
from entrycache_spark.rulefiles import RuleFile, select_rules
from entrycache_spark.systems import AUDITED, parts_of
from entrycache_spark.verdict import AuditResult, RuleFinding, Verdict, Violation, in_order, judge
from entrycache_trace.files import Metadata, Part, list_parts, read_metadata, system_of
from entrycache_trace.parquet import check_texts
from entrycache_trace.schema import VIOLATION_SCHEMA
from entrycache_trace.systems import FIRST

ENGINES: Final = ("spark", "local", "replay")
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
    witnesses: bool = True,
    max_live_slots: int = LIVE_SLOTS_MOST,
    progress: Callable[[str], None] = lambda text: None,
) -> AuditResult:
    """Check a trace folder for the rules (none named: all); write the violations into `out` if given.

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
    if out is not None and (out.resolve() == directory.resolve() or directory.resolve() in out.resolve().parents):
        raise UsageError(f"{out}: violations are not written into the trace")
    if rows == 0 or metadata.system not in AUDITED:
        result = _nothing(chosen, metadata.system, rows)
    else:
        try:
            with named(str(directory)):
                found = _evaluate(
                    directory, parts, metadata, chosen, engine, master, witnesses, max_live_slots, progress
                )
        except Stopped as stopped:
            raise Stopped(_result(stopped.so_far, rows)) from None
        result = _result(found, rows)
    if out is not None:
        try:
            write_violations(out, result.violations)
        except Unwritten as error:
            return replace(result, unwritten=str(error))
    return result


@contextmanager
def named(where: str) -> Iterator[None]:
    """Begin with the trace what is said of its events."""
    try:
        yield
    except UsageError as error:
        raise error if str(error).startswith(where) else UsageError(f"{where}: {error}") from None


def _evaluate(
    directory: Path,
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Sequence[RuleFile],
    engine: str,
    master: str,
    witnesses: bool,
    max_live_slots: int,
    progress: Callable[[str], None],
) -> dict[str, RuleFinding]:
    from entrycache_spark.engines.base import SqlEngine, is_small
    from entrycache_spark.tiers import evaluate

    audited = AUDITED[metadata.system]
    if engine not in ENGINES:
        raise UsageError(f"engine {engine!r} is not known; there are {', '.join(ENGINES)}")
    if engine == "replay":
        return audited.replay(parts, metadata, {rule.id: rule.needs for rule in rules}, max_live_slots, progress)
    if is_small(parts):
        for part in parts:
            check_texts(part.path, audited.columns)
    sql: SqlEngine
    if engine == "spark":
        from entrycache_spark.engines.spark import SparkEngine

        progress("starting Spark")
        sql = SparkEngine(directory, parts, master, audited.columns, audited.window_rows)
    else:
        from entrycache_spark.engines.local import LocalEngine

        sql = LocalEngine(parts, columns=audited.columns)
    try:
        return evaluate(sql, metadata, rules, progress, witnesses)
    finally:
        sql.close()


def _nothing(rules: Sequence[RuleFile], system: str, rows: int) -> AuditResult:
    note = "the trace has no rows" if rows == 0 else f"no trace check for system {system!r} yet"
    return AuditResult({rule.id: Verdict.NOTHING_CHECKED for rule in rules}, (), (note,), rows)


def _result(found: dict[str, RuleFinding], rows: int) -> AuditResult:
    violations = in_order(violation for finding in found.values() for violation in finding.violations)
    said = [note for finding in found.values() for note in (*finding.undecided, *finding.unchecked)]
    notes = tuple(dict.fromkeys(said))
    differences = tuple(line for finding in found.values() for line in finding.differences)
    verdicts = {rule: judge(finding) for rule, finding in sorted(found.items())}
    return AuditResult(verdicts, violations, notes, rows, differences)


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
