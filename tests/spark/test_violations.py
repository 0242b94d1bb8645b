"""Every backend finds each seeded violation, as that rule at that event, and nothing else.

Spark SQL takes a second for each of its queries, whatever the trace. A pull request asks it about one rule of two
systems, and DuckDB runs the files of all rules; the long run asks Spark SQL about all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from tests.spark import test_kafka_scenarios, test_scenarios
from tests.support.traces import plant
from tests.support.traces.scenarios import SCENARIOS
from tests.support.traces.script import Script

Violations = set[tuple[str, str, int]]
LATE = ("R-READ-1", "R-COUNT-3")
"""Rules whose rows another thread may have overtaken."""

Evaluators = dict[str, Callable[[Path], AuditResult]]


def differences(reported: Violations, wanted: Violations) -> list[str]:
    extra = [f"extra {item}" for item in sorted(reported - wanted)]
    return extra + [f"missing {item}" for item in sorted(wanted - reported)]


def found_in(result: AuditResult) -> Violations:
    return {(row.broker, row.rule, row.seq) for row in result.violations}


def trace_with_violations(
    tmp_path: Path, change: Callable[[list[plant.Row]], Any] = lambda rows: None, seeds: int = 2
) -> tuple[list[plant.Row], Violations]:
    """Return a trace with a broker for each violation and seed, and an honest one."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for seed in range(seeds):
        base = plant.honest(tmp_path / f"honest-{seed}", 3_000, seed)["broker-0"]
        rows += plant.renamed(base, f"clean {seed}")
        for make in plant.PLANTS:
            broker = f"{make.__name__} {seed}"
            own = plant.renamed(base, broker)
            wanted |= {(broker, rule, seq) for rule, seq in plant.seed_violation(make, own, seed)}
            rows += own
    change(rows)
    return rows, wanted


@pytest.mark.long
@pytest.mark.parametrize(
    ("seeds", "left_out"),
    [(1, {"spark", "spark sql"}), *(pytest.param(seeds, set(), marks=pytest.mark.long) for seeds in (1, 2))],
)
def test_every_engine_finds_every_seeded_violation(
    tmp_path: Path, evaluators: Evaluators, seeds: int, left_out: set[str]
) -> None:
    """The scenarios of one thread are in the same trace, because an audit by Spark is costly."""
    rows, wanted = trace_with_violations(tmp_path, seeds=seeds)
    scenarios, expected = test_scenarios.record_scenarios("one")
    rows, wanted = [*rows, *scenarios], wanted | expected
    trace = plant.write(tmp_path / "violating", rows)
    for name in evaluators.keys() - left_out:
        result = evaluators[name](trace)
        assert not differences(found_in(result), wanted), name
        broken = {rule for rule, verdict in result.rules.items() if verdict is Verdict.VIOLATES}
        assert broken == {rule for _, rule, _ in wanted}, name
        assert not result.notes, name


ONE_RULE = {"pulsar-pip430": "R-STATE-8", "kafka-streams": "K-FLUSH-1"}
"""The rule that Spark SQL judges in a pull request, by system."""


@pytest.mark.long
@pytest.mark.usefixtures("spark_session")
@pytest.mark.parametrize("system", ONE_RULE)
def test_spark_sql_finds_the_violations_of_a_rule(tmp_path: Path, system: str) -> None:
    recorded = test_kafka_scenarios.record_scenarios if system == "kafka-streams" else scenarios_of_one_thread
    rows, wanted = recorded()
    trace = plant.write(tmp_path / "trace", rows, system=system)
    result = audit_folder(trace, "sql", rules=[ONE_RULE[system]])
    assert "Spark SQL" in result.evaluator
    assert set(result.rules.values()) == {Verdict.VIOLATES}
    assert not differences(found_in(result), {item for item in wanted if item[1] == ONE_RULE[system]})


def scenarios_of_one_thread() -> tuple[list[plant.Row], Violations]:
    return test_scenarios.record_scenarios("one")


def test_every_rule_has_a_seeded_violation_or_a_scenario(tmp_path: Path) -> None:
    _, wanted = trace_with_violations(tmp_path, seeds=1)
    rules = {rule for scenario, config, _ in SCENARIOS for rule, _ in scenario(Script("b", **config), True)}
    assert {rule for _, rule, _ in wanted} | rules == {rule.id for rule in all_rules()}


@pytest.mark.long
@pytest.mark.parametrize("seeds", [1, 2])
def test_seeded_violations_are_found_without_slot_numbers(tmp_path: Path, seeds: int) -> None:
    rows, wanted = trace_with_violations(tmp_path, plant.without_slot_numbers, seeds)
    unseen = {item for item in wanted if item[0].startswith("wrong_ticket")}
    trace = plant.write(tmp_path / "violating", rows)
    for backend in ("local", "replay"):
        assert not differences(found_in(audit_folder(trace, backend)), wanted - unseen), backend


@pytest.mark.long
def test_several_threads_without_slot_numbers_leave_order_and_late_hits_open(tmp_path: Path) -> None:
    rows, wanted = trace_with_violations(tmp_path, plant.without_slot_numbers, seeds=1)
    trace = plant.write(tmp_path / "violating", rows, threads="many")
    decided = {item for item in wanted if item[1] not in ("R-EVICT-8", *LATE) and not item[0].startswith("hit_after")}
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert not differences(found_in(result), decided), backend
        assert result.rules["R-EVICT-8"] is Verdict.INCONCLUSIVE, backend


@pytest.mark.long
def test_several_threads_with_slot_numbers_decide_the_order(tmp_path: Path) -> None:
    rows, wanted = trace_with_violations(tmp_path, seeds=1)
    trace = plant.write(tmp_path / "violating", rows, threads="many")
    decided = {item for item in wanted if item[1] not in LATE and not item[0].startswith("hit_after")}
    for backend in ("local", "replay"):
        assert not differences(found_in(audit_folder(trace, backend)), decided), backend


@pytest.mark.long
@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "none"])
def test_traces_that_open_midway_are_checked(tmp_path: Path, numbered: bool) -> None:
    base = plant.honest(tmp_path / "honest", 6_000, 5)["broker-0"]
    rows: list[plant.Row] = []
    wanted: Violations = set()
    opened = plant.opened_midway(base, 1_500)
    assert sum(row["cause"] == "OPEN" for row in opened) > 10
    plants = [make for make in plant.PLANTS if make not in (plant.unborn_life,)]
    for make in (None, *plants):
        name = make.__name__ if make else "clean"
        own = plant.renamed(opened, name)
        if make is not None:
            wanted |= {(name, rule, seq) for rule, seq in plant.seed_violation(make, own, 1)}
        rows += own
    if not numbered:
        plant.without_slot_numbers(rows)
        wanted = {item for item in wanted if not item[0].startswith("wrong_ticket")}
    trace = plant.write(tmp_path / "opened", rows)
    for backend in ("local", "replay"):
        result = audit_folder(trace, backend)
        assert not differences(found_in(result), wanted), backend
        assert not result.notes, backend
