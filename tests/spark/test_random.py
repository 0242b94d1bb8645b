"""All backends give one answer to random traces, for any order of rows, files, row groups and partitions.

`ENTRYCACHE_TRACES` sets the number of traces (default 6; 1,000 every night), `ENTRYCACHE_SEED` the first seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from entrycache_spark.common.results import Verdict, merge_brokers
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.folders import audit_folder
from entrycache_spark.plan import evaluate_in_sql as evaluate_sql
from entrycache_trace.files import list_parts, read_metadata
from tests.spark.conftest import Evaluator
from tests.support.traces import mutate, plant
from tests.support.traces.comparison import by_broker, differences
from tests.support.traces.layout import split

TRACES = int(os.environ.get("ENTRYCACHE_TRACES", "6"))
FIRST = int(os.environ.get("ENTRYCACHE_SEED", "0"))
BATCH = 100
"""The number of traces that are audited together, a broker each."""


@pytest.mark.parametrize("first", range(FIRST, FIRST + TRACES, BATCH))
def test_engines_agree_on_random_traces(tmp_path: Path, engines: Mapping[str, Evaluator], first: int) -> None:
    seeds = range(first, min(first + BATCH, FIRST + TRACES))
    traces = mutate.random_traces(tmp_path, seeds)
    rows = [row for own in traces.values() for row in own]
    random.Random(first).shuffle(rows)
    trace = plant.write(tmp_path / "trace", rows)
    results = {name: evaluate(trace) for name, evaluate in engines.items()}
    wanted = results["local"]
    assert len(by_broker(wanted.violations)) >= len(traces) // 4
    for name, result in results.items():
        assert not differences(result, wanted), name
        assert result.rules == wanted.rules, name
    for files in (1, 5):
        other = split(trace, tmp_path / f"files-{files}", files, first + files)
        for threads in (1, 3):
            backend = DuckDbBackend(list_parts(other), threads)
            findings = merge_brokers(evaluate_sql(backend, read_metadata(other), all_rules()))
            backend.close()
            reported = by_broker(tuple(row for item in findings.values() for row in item.violations))
            assert reported == by_broker(wanted.violations), (files, threads)
    assert not differences(audit_folder(other, "replay"), wanted)


@pytest.mark.long
def test_gaps_are_inconclusive_to_every_engine(tmp_path: Path, engines: Mapping[str, Evaluator]) -> None:
    rows: list[plant.Row] = []
    presets = ("tail-fanout", "catch-up-fanout")
    bases = [plant.honest(tmp_path / preset, 1_500, 1, preset=preset)["broker-0"] for preset in presets]
    for seed in range(12):
        own = plant.renamed(bases[seed % 2], f"gapped {seed}")
        if seed % 3 == 0:
            plant.without_slot_numbers(own)
        mutate.gap(own, random.Random(seed))
        rows += own
    trace = plant.write(tmp_path / "gapped", rows)
    for name, evaluate in engines.items():
        result = evaluate(trace)
        assert not result.violations, name
        assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}, name
