"""The fold over rows and traces, without Spark."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from entrycache_spark.engines.local import LocalEngine
from entrycache_spark.engines.tasks import FOLD, FOUND, Group, Question, answer, findings_of, kernels_of
from entrycache_spark.fold import Folded
from entrycache_spark.folder import named, result_of
from entrycache_spark.folding import Means, evaluate_by_fold
from entrycache_spark.rulefiles import all_rules
from entrycache_spark.systems import parts_of
from entrycache_spark.tiers import evaluate
from entrycache_spark.verdict import AuditResult
from entrycache_trace.files import Metadata, list_parts, read_metadata
from entrycache_trace.schema import ROW_SCHEMA
from tests.support.traces import plant


def audit_by_fold(trace: Path) -> AuditResult:
    """What a task answers of a trace."""
    metadata = read_metadata(trace)
    audited = parts_of(metadata.system)
    parts = list_parts(trace, audited.columns)
    with named(str(trace)):
        found = evaluate_by_fold(parts, metadata, all_rules(metadata.system), audited.fold(), Means(2, "2GiB"))
    return result_of(found, sum(part.rows for part in parts))


def batch_of(rows: Sequence[plant.Row]) -> pa.RecordBatch:
    """The rows of one broker."""
    return pa.RecordBatch.from_pylist([{name: row[name] for name in ROW_SCHEMA.names} for row in rows], ROW_SCHEMA)


def folded(batch: pa.RecordBatch, metadata: Metadata, cuts: Sequence[int] = (), **asked: int) -> Folded:
    """The fold of one broker, in batches that end before these rows."""
    ends = [*sorted(cuts), len(batch)]
    pieces = (batch.slice(start, end - start) for start, end in zip([0, *ends[:-1]], ends, strict=True))
    return parts_of(metadata.system).fold()(pieces, metadata, **asked)


def cut_anywhere(batch: pa.RecordBatch, metadata: Metadata, chance: random.Random) -> bool:
    """Whether it is all one to the fold where batches end."""
    wanted = folded(batch, metadata)
    cuts = ([chance.randrange(len(batch) + 1) for _ in range(number)] for number in (1, 3, 20))
    return all(folded(batch, metadata, own) == wanted for own in cuts)


def told_by(trace: Path, **asked: Any) -> tuple[Mapping[str, Any], str]:
    """What a task finds in a trace, and by which kernel."""
    metadata = read_metadata(trace)
    question = Question(metadata, all_rules(metadata.system), True, **asked)
    told = answer(Group(list_parts(trace, parts_of(metadata.system).columns), 1, 512), question)
    rows = pa.Table.from_pylist(told, FOUND).to_pylist()
    return findings_of(rows), kernels_of(rows)


def alike(trace: Path) -> int:
    """Hold the fold to the windows: what it finds by them, and what it calls clean; how many brokers there are."""
    metadata = read_metadata(trace)
    columns = parts_of(metadata.system).columns
    engine = LocalEngine(list_parts(trace, columns), columns=columns)
    wanted = evaluate(engine, metadata, all_rules(metadata.system), witnesses=False)
    engine.close()
    found, by = told_by(trace, kernel=FOLD)
    assert by == "the fold in tasks of Spark"
    assert found == wanted
    return len(wanted)
