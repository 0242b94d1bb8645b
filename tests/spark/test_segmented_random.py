"""All backends agree on random traces of `pulsar-segmented`; honest ones conform, and gaps leave them inconclusive."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from entrycache_faults.reference.pulsar_segmented.ring import SUBJECTS
from entrycache_reference.pulsar_segmented import NAME as SEGMENTED
from entrycache_spark.common.results import Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from entrycache_spark.systems.pulsar_segmented import COLUMNS
from tests.spark.conftest import Evaluator
from tests.spark.test_kafka_random import FIRST, TRACES, random_traces
from tests.support.traces import mutate, plant
from tests.support.traces.comparison import by_broker, differences

CHANGED = tuple(sorted(set(COLUMNS) - {"broker", "seq", "value"}))
PRESETS = {"ring-copies": "S-SEGMENT-3", "ring-references": "S-SEGMENT-2"}
"""The presets, each with the rule of the other mode."""


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_engines_agree_on_random_traces(tmp_path: Path, engines: Mapping[str, Evaluator], preset: str) -> None:
    rows = random_traces(tmp_path, range(FIRST, FIRST + TRACES), preset, CHANGED)
    random.Random(FIRST).shuffle(rows)
    trace = plant.write(tmp_path / "trace", rows, system=SEGMENTED)
    results = {name: evaluate(trace) for name, evaluate in engines.items()}
    wanted = results["local"]
    assert len(by_broker(wanted.violations)) >= TRACES // 4
    for name, result in results.items():
        assert not differences(result, wanted), name
        assert result.rules == wanted.rules, name


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_an_honest_trace_conforms_and_gaps_are_inconclusive(tmp_path: Path, preset: str) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 3_000, 11, preset=preset).values()
    nothing = {PRESETS[preset], "S-CONFIG-1"}
    for backend in ("local", "replay"):
        verdicts = audit_folder(tmp_path / "honest", backend).rules
        assert {rule for rule, verdict in verdicts.items() if verdict is Verdict.CONFORMS} == verdicts.keys() - nothing
        assert verdicts.keys() == {rule.id for rule in all_rules(SEGMENTED)}
    gapped: list[plant.Row] = []
    for seed in range(6):
        own = plant.renamed(rows, f"gapped {seed}")
        mutate.gap(own, random.Random(seed))
        gapped += own
    trace = plant.write(tmp_path / "gapped", gapped, system=SEGMENTED)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert not result.violations
        assert set(result.rules.values()) == {Verdict.INCONCLUSIVE, Verdict.NOTHING_CHECKED}


NAMED_BY_REPLAY = {
    "segmented-duplicate-overwrites": "S-INSERT-1",
    "segmented-full-advances": "S-SEGMENT-4",
    "segmented-index-kept": "S-RING-4",
    "segmented-looks-in-the-current": "S-GET-1",
    "segmented-not-aligned": "S-SEGMENT-2",
    "segmented-offset-kept": "S-RING-3",
    "segmented-range-in-part": "S-RANGE-1",
}
"""Seeded faults of the reference, each with a rule that a replay by it finds broken in an honest trace."""


@pytest.mark.parametrize("fault", NAMED_BY_REPLAY)
def test_a_replay_judges_by_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    plant.honest(tmp_path / "honest", 600, 3, preset="ring-copies")
    assert not audit_folder(tmp_path / "honest", "replay").violations
    monkeypatch.setattr("entrycache_spark.replay.pulsar_segmented.step", SUBJECTS[fault].model.step)
    violations = audit_folder(tmp_path / "honest", "replay").violations
    assert NAMED_BY_REPLAY[fault] in {violation.rule for violation in violations}
