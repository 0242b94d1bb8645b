"""Every backend finds the violations of the `kafka-streams` scenarios at their events; negative controls are clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from entrycache_protocol.errors import UsageError
from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from entrycache_trace.schema import ADDED_COLUMNS
from tests.support.traces import plant
from tests.support.traces.kafka_outside import evicted_last, stripped
from tests.support.traces.kafka_scenarios import ORDER_FREE, SCENARIOS
from tests.support.traces.kafka_script import StreamScript

Violations = set[tuple[str, str, int]]

ONLY_OURS = (
    *("tombstone_written_again", "hits_of_the_evicted", "running_total_that_drifts", "not_written_below"),
    *("tombstone_of_the_unknown", "deleted_key_shown", "deleted_session_shown"),
)
"""Scenarios that need a cause, or the cache's own total."""


def record_scenarios() -> tuple[list[plant.Row], Violations]:
    """Return the rows of all scenarios and controls, a broker each, and the violations to find."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for scenario, config in SCENARIOS:
        for violating in (True, False):
            script = StreamScript(f"{scenario.__name__} {'violating' if violating else 'control'}", **config)
            expected = scenario(script, violating)
            assert bool(expected) is violating, scenario.__name__
            rows += script.finish()
            wanted |= {(script.broker, rule, row["seq"]) for rule, row in expected}
    return rows, wanted


def scenarios_from_another_recorder() -> tuple[list[plant.Row], Violations]:
    """Return the scenarios as another recorder would write them: without our causes, an EVICT after its FLUSH rows."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for scenario, config in SCENARIOS:
        for violating in (True, False):
            for late in (True, False):
                script = StreamScript(f"{scenario.__name__} {violating} {late}", **config)
                expected = scenario(script, violating)
                own = script.finish()
                if any(row["cause"] == "FAILED" for row in own) or scenario.__name__ in ONLY_OURS:
                    continue
                rows += stripped(evicted_last(own) if late else own)
                wanted |= {(script.broker, rule, row["seq"]) for rule, row in expected}
    return rows, wanted


def found_in(result: AuditResult) -> Violations:
    return {(row.broker, row.rule, row.seq) for row in result.violations}


def test_every_engine_judges_the_scenarios(tmp_path: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    rows, wanted = record_scenarios()
    result = evaluate(plant.write(tmp_path / "trace", rows, system=STREAMS))
    reported = found_in(result)
    assert reported == wanted, (sorted(reported - wanted), sorted(wanted - reported))
    assert not result.notes


@pytest.mark.long
def test_scenarios_of_another_recorder_get_the_same_verdicts(tmp_path: Path) -> None:
    rows, wanted = scenarios_from_another_recorder()
    assert len({broker for broker, _, _ in wanted}) > 60
    trace = plant.write(tmp_path / "trace", rows, system=STREAMS)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        reported = found_in(result)
        assert reported == wanted, (backend, sorted(reported - wanted), sorted(wanted - reported))
        assert not result.notes


@pytest.mark.long
def test_an_honest_trace_of_another_recorder_conforms(tmp_path: Path) -> None:
    own = plant.honest(tmp_path / "honest", 5_000, 2, preset="windowed-aggregation")["thread-0"]
    assert sum(row["op"] == "EVICT" and row["dirty"] for row in own) > 15
    rows = stripped(plant.renamed(own, "early"))
    rows += stripped(evicted_last(plant.renamed(rows, "late")))
    trace = plant.write(tmp_path / "trace", rows, system=STREAMS)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert not result.violations
        assert set(result.rules.values()) <= {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}, result.notes


def test_every_rule_has_a_scenario() -> None:
    assert {rule for _, rule, _ in record_scenarios()[1]} == {rule.id for rule in all_rules(STREAMS)}
    assert len(record_scenarios()[1]) >= 12


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_several_threads_leave_rules_of_order_open(tmp_path: Path, backend: str) -> None:
    rows, wanted = record_scenarios()
    trace = plant.write(tmp_path / "trace", rows, system=STREAMS, threads="many")
    result = audit_folder(trace, backend)
    decided = {(broker, rule, seq) for broker, rule, seq in wanted if rule in ORDER_FREE and "later" not in broker}
    assert found_in(result) == decided | {item for item in wanted if item[0].startswith("time_goes_back")}
    for rule in ("K-GET-1", "K-GET-2", "K-EVICT-1"):
        assert result.rules[rule] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_trace_is_checked_for_the_rules_of_its_system(tmp_path: Path, backend: str) -> None:
    script = StreamScript("thread")
    script.put("a", "k")
    trace = plant.write(tmp_path / "streams", script.finish(), system=STREAMS)
    result = audit_folder(trace, backend)
    assert {rule[:2] for rule in result.rules} == {"K-"}
    assert result.rules["K-PUT-1"] is Verdict.CONFORMS
    assert result.rules["K-EVICT-1"] is Verdict.NOTHING_CHECKED
    with pytest.raises(UsageError, match="R-EVICT-8: no trace check of that id for kafka-streams"):
        audit_folder(trace, backend, rules=["R-EVICT-8"])
    with pytest.raises(UsageError, match="K-EVICT-1: no trace check of that id for pulsar-pip430"):
        audit_folder(plant.write(tmp_path / "pulsar", []), backend, rules=["K-EVICT-1"])
    empty = audit_folder(plant.write(tmp_path / "empty", [], system=STREAMS), backend)
    assert set(empty.rules.values()) == {Verdict.NOTHING_CHECKED}
    assert empty.exit_code == 2


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_an_older_trace_lacks_the_columns_of_stores(tmp_path: Path, backend: str) -> None:
    script = StreamScript("thread")
    script.put("a", "k")
    trace = plant.write(tmp_path / "trace", script.finish(), system=STREAMS)
    part = next(trace.glob("*/*.parquet"))
    pq.write_table(pq.ParquetFile(part).read().drop_columns(sorted(ADDED_COLUMNS)), part)
    rules = audit_folder(trace, backend).rules
    assert (rules["K-PUT-1"], rules["K-STORE-2"]) == (Verdict.CONFORMS, Verdict.NOTHING_CHECKED)


@pytest.mark.long
def test_truncated_traces_are_inconclusive(tmp_path: Path) -> None:
    rows, _ = record_scenarios()
    for at, cut in enumerate((rows[1:], [row for row in rows if row["op"] not in ("END", "CONFIG")])):
        trace = plant.write(tmp_path / f"cut-{at}", cut, system=STREAMS)
        for backend in ("local", "replay"):
            assert Verdict.CONFORMS not in audit_folder(trace, backend).rules.values()


@pytest.mark.parametrize("value", ["", "[]", '{"max_size_bytes": "many"}'])
def test_settings_that_cannot_be_read_leave_everything_open(tmp_path: Path, value: str) -> None:
    script = StreamScript("thread")
    script.put("a", "k")
    rows = script.finish()
    rows[0]["value"] = value
    trace = plant.write(tmp_path / "trace", rows, system=STREAMS)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert Verdict.CONFORMS not in result.rules.values()
        assert not result.violations


def test_a_pulsar_trace_whose_settings_cannot_be_read_is_inconclusive(tmp_path: Path) -> None:
    rows = plant.honest(tmp_path / "honest", 500, 1)["broker-0"]
    rows[0]["value"] = "none"
    result = audit_folder(plant.write(tmp_path / "trace", rows), "local")
    assert Verdict.CONFORMS not in result.rules.values()
