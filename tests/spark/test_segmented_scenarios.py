"""Every backend finds the violations of the `pulsar-segmented` scenarios; negative controls are clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_reference.pulsar_segmented import NAME as SEGMENTED
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.segmented_scenarios import SCENARIOS
from tests.support.traces.segmented_script import RingScript

Violations = set[tuple[str, str, int]]


def record_scenarios() -> tuple[list[plant.Row], Violations]:
    """Return the rows of all scenarios and controls, a broker each, and the violations to find."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for scenario, config in SCENARIOS:
        for violating in (True, False):
            script = RingScript(f"{scenario.__name__} {'violating' if violating else 'control'}", **config)
            expected = scenario(script, violating)
            assert bool(expected) is violating, scenario.__name__
            rows += script.finish()
            wanted |= {(script.broker, rule, row["seq"]) for rule, row in expected}
    return rows, wanted


def found_in(result: AuditResult) -> Violations:
    return {(row.broker, row.rule, row.seq) for row in result.violations}


def test_every_engine_judges_the_scenarios(tmp_path: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    rows, wanted = record_scenarios()
    result = evaluate(plant.write(tmp_path / "trace", rows, system=SEGMENTED))
    reported = found_in(result)
    assert reported == wanted, (sorted(reported - wanted), sorted(wanted - reported))
    assert not result.notes


def test_every_rule_has_a_scenario() -> None:
    assert {rule for _, rule, _ in record_scenarios()[1]} == {rule.id for rule in all_rules(SEGMENTED)}
    assert len(SCENARIOS) >= 40


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_several_threads_leave_rules_of_order_open(tmp_path: Path, backend: str) -> None:
    rows, wanted = record_scenarios()
    result = audit_folder(plant.write(tmp_path / "trace", rows, system=SEGMENTED, threads="many"), backend)
    assert found_in(result) < wanted
    for rule in ("S-GET-1", "S-RANGE-1", "S-RING-2", "S-USAGE-1"):
        assert result.rules[rule] in (Verdict.INCONCLUSIVE, Verdict.VIOLATES)
    assert result.rules["S-GET-1"] is Verdict.INCONCLUSIVE


@pytest.mark.long
def test_truncated_traces_are_inconclusive(tmp_path: Path) -> None:
    rows, _ = record_scenarios()
    for at, cut in enumerate((rows[1:], [row for row in rows if row["op"] not in ("END", "CONFIG")])):
        trace = plant.write(tmp_path / f"cut-{at}", cut, system=SEGMENTED)
        for backend in ("local", "replay"):
            assert Verdict.CONFORMS not in audit_folder(trace, backend).rules.values()
