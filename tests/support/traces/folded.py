"""The fold over rows and traces, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from entrycache_spark.fold import Folded
from entrycache_spark.folder import audit, named, result_of
from entrycache_spark.folding import Means, evaluate_by_fold
from entrycache_spark.pulsar_pip430.fold.broker import fold
from entrycache_spark.rulefiles import all_rules
from entrycache_spark.systems import parts_of
from entrycache_spark.verdict import AuditResult
from entrycache_trace.files import Metadata, list_parts, read_metadata
from entrycache_trace.schema import ROW_SCHEMA
from tests.support.traces import plant


def audit_by_fold(trace: Path) -> AuditResult:
    """What a task answers of a trace; of a system that has no fold, what DuckDB does."""
    metadata = read_metadata(trace)
    audited = parts_of(metadata.system)
    if audited.fold is None:
        return audit(trace, "local")
    parts = list_parts(trace, audited.columns)
    with named(str(trace)):
        found = evaluate_by_fold(parts, metadata, all_rules(metadata.system), audited.fold(), Means(2, "2GiB"))
    return result_of(found, sum(part.rows for part in parts))


def batch_of(rows: Sequence[plant.Row]) -> pa.RecordBatch:
    """The rows of one broker."""
    return pa.RecordBatch.from_pylist([{name: row[name] for name in ROW_SCHEMA.names} for row in rows], ROW_SCHEMA)


def folded(batch: pa.RecordBatch, metadata: Metadata, cuts: Sequence[int] = (), removed_most: int = 1_000) -> Folded:
    """The fold of one broker, in batches that end before these rows."""
    ends = [*sorted(cuts), len(batch)]
    pieces = (batch.slice(start, end - start) for start, end in zip([0, *ends[:-1]], ends, strict=True))
    return fold(pieces, metadata, removed_most)
