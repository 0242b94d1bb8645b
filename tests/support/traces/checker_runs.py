"""Runs of the single-pass checker over rows and traces, without Spark."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pyarrow as pa

from entrycache_spark.checker_backend import Resources, evaluate_by_checker
from entrycache_spark.common.results import AuditResult
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.common.system import CheckerResult, audited_system
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.folders import build_result, prefix_errors
from entrycache_spark.plan import evaluate_in_sql
from entrycache_spark.tasks import (
    CHECKER,
    RESULT_SCHEMA,
    AuditRequest,
    TaskGroup,
    backends_used,
    evaluate_group,
    read_findings,
)
from entrycache_trace.files import Metadata, list_parts, read_metadata
from entrycache_trace.schema import ROW_SCHEMA
from tests.support.traces import plant


def audit_by_checker(trace: Path) -> AuditResult:
    """Return the audit result of a task."""
    metadata = read_metadata(trace)
    audited = audited_system(metadata.system)
    parts = list_parts(trace, audited.columns)
    with prefix_errors(str(trace)):
        findings = evaluate_by_checker(
            parts, metadata, all_rules(metadata.system), audited.load_checker(), Resources(2, "2GiB")
        )
    return build_result(findings, sum(part.rows for part in parts))


def batch_of(rows: Sequence[plant.Row]) -> pa.RecordBatch:
    """Return the rows of one broker as a batch."""
    return pa.RecordBatch.from_pylist([{name: row[name] for name in ROW_SCHEMA.names} for row in rows], ROW_SCHEMA)


def check_rows(batch: pa.RecordBatch, metadata: Metadata, cuts: Sequence[int] = (), **limits: int) -> CheckerResult:
    """Run the checker over one broker, in batches that end before these rows."""
    ends = [*sorted(cuts), len(batch)]
    pieces = (batch.slice(start, end - start) for start, end in zip([0, *ends[:-1]], ends, strict=True))
    return audited_system(metadata.system).load_checker()(pieces, metadata, **limits)


def is_independent_of_cuts(batch: pa.RecordBatch, metadata: Metadata, chance: random.Random) -> bool:
    """Return whether the result does not depend on where batches end."""
    wanted = check_rows(batch, metadata)
    cuts = ([chance.randrange(len(batch) + 1) for _ in range(number)] for number in (1, 3, 20))
    return all(check_rows(batch, metadata, own) == wanted for own in cuts)


def evaluate_by_task(trace: Path, **request: Any) -> tuple[Mapping[str, Any], str]:
    """Return the findings of a task, and the text that names its backend."""
    metadata = read_metadata(trace)
    question = AuditRequest(metadata, all_rules(metadata.system), **request)
    results = evaluate_group(TaskGroup(list_parts(trace, audited_system(metadata.system).columns), 1, 512), question)
    rows = pa.Table.from_pylist(results, RESULT_SCHEMA).to_pylist()
    return read_findings(rows), backends_used(rows)


def compare_with_windows(trace: Path) -> int:
    """Compare the checker with the windows, and return the number of brokers."""
    metadata = read_metadata(trace)
    columns = audited_system(metadata.system).columns
    duckdb = DuckDbBackend(list_parts(trace, columns), columns=columns)
    wanted = evaluate_in_sql(duckdb, metadata, all_rules(metadata.system))
    duckdb.close()
    findings, by = evaluate_by_task(trace, backend=CHECKER)
    assert by == "the single-pass checker in tasks of Spark"
    assert findings == wanted
    return len(wanted)


def home_of(broker_module: ModuleType, name: str) -> ModuleType:
    """Return the module by which a checker's module of brokers names a function or class."""
    named = re.search(rf"\b(\w+)\.{name}\b", inspect.getsource(broker_module))
    return broker_module if named is None else cast(ModuleType, getattr(broker_module, named[1]))
