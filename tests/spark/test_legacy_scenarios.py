"""Every backend finds the violations of the `pulsar-legacy` scenarios at their events; negative controls are clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_faults.reference.pulsar_legacy import SEEDED_FAULTS
from entrycache_reference.pulsar_legacy import NAME
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from entrycache_spark.replay.pulsar_legacy import broker, calls
from tests.support.traces import plant
from tests.support.traces.legacy_scenarios import SCENARIOS
from tests.support.traces.legacy_script import LegacyScript, at

Violations = set[tuple[str, str, int]]


def record_scenarios() -> tuple[list[plant.Row], Violations]:
    """Return the rows of all scenarios and controls, a broker each, and the violations to find."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for scenario, config in SCENARIOS:
        for violating in (True, False):
            script = LegacyScript(f"{scenario.__name__} {'violating' if violating else 'control'}", **config)
            expected = scenario(script, violating)
            assert bool(expected) is violating, scenario.__name__
            rows += script.finish()
            wanted |= {(script.broker, rule, row["seq"]) for rule, row in expected}
    return rows, wanted


def found_in(result: AuditResult) -> Violations:
    return {(row.broker, row.rule, row.seq) for row in result.violations}


def test_every_engine_judges_the_scenarios(tmp_path: Path, evaluate: Callable[[Path], AuditResult]) -> None:
    rows, wanted = record_scenarios()
    result = evaluate(plant.write(tmp_path / "trace", rows, system=NAME, clock="virtual"))
    reported = found_in(result)
    assert reported == wanted, (sorted(reported - wanted), sorted(wanted - reported))
    assert not result.notes


def test_every_rule_has_a_scenario() -> None:
    assert {rule for _, rule, _ in record_scenarios()[1]} == {rule.id for rule in all_rules(NAME)}


@pytest.mark.parametrize("preset", ["unequal-topics", "unequal-topics-late"])
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_an_honest_trace_conforms(tmp_path: Path, preset: str, backend: str) -> None:
    rows = plant.honest(tmp_path / "honest", 5_000, 1, preset=preset)["broker-0"]
    result = audit_folder(plant.write(tmp_path / "trace", rows, system=NAME, clock="virtual"), backend)
    assert not result.violations
    assert not result.notes
    conforming = {rule for rule, verdict in result.rules.items() if verdict is Verdict.CONFORMS}
    scheduled = {"L-TRIGGER-3", "L-TRIGGER-4", "L-TRIGGER-5"}
    inline = {"L-TRIGGER-1", "L-TRIGGER-2", "L-TRIGGER-6", "L-TRIGGER-7"}
    assert {rule.id for rule in all_rules(NAME)} - conforming <= (inline if preset.endswith("late") else scheduled)


def test_replay_steps_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay with a wrong reference finds violations in an honest trace."""
    plant.honest(tmp_path / "honest", 300, 3, preset="unequal-topics-late")
    faults = {fault.rule.value: fault for fault in SEEDED_FAULTS.own}
    for rule in ("L-EVICT-1", "L-EVICT-3", "L-EXPIRE-3", "L-INSERT-1", "L-TRIGGER-1"):
        for module in (calls, broker):
            monkeypatch.setattr(module, "step", faults[rule].model.step)
        assert audit_folder(tmp_path / "honest", "replay").violations, rule


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_rules_of_order_are_inconclusive_with_several_threads(tmp_path: Path, backend: str) -> None:
    rows, _ = record_scenarios()
    result = audit_folder(plant.write(tmp_path / "trace", rows, system=NAME, clock="virtual", threads="many"), backend)
    for rule in ("L-READ-1", "L-READ-4", "L-EVICT-3", "L-EVICT-5", "L-TRIGGER-2", "L-INSERT-3"):
        assert result.rules[rule] is Verdict.INCONCLUSIVE, rule


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_miss_proves_nothing_if_lookups_compare_objects(tmp_path: Path, backend: str) -> None:
    script = LegacyScript("broker")
    script.offer(at(0))
    missed = script.get(at(0), "MISS")
    rows = script.finish()
    told_so = plant.write(tmp_path / "object", rows, system=NAME, variants={"single_lookup": "object"})
    assert not audit_folder(told_so, backend).violations
    reported = audit_folder(plant.write(tmp_path / "position", rows, system=NAME), backend).violations
    assert [(row.rule, row.seq) for row in reported] == [("L-READ-1", missed["seq"])]


@pytest.mark.long
@pytest.mark.parametrize("backend", ["local", "replay"])
def test_truncated_traces_are_inconclusive(tmp_path: Path, backend: str) -> None:
    rows, _ = record_scenarios()
    for at_, cut in enumerate((rows[1:40], [row for row in rows if row["op"] not in ("END", "CONFIG")])):
        trace = plant.write(tmp_path / f"cut-{at_}", cut, system=NAME, clock="virtual")
        assert Verdict.CONFORMS not in audit_folder(trace, backend).rules.values()
