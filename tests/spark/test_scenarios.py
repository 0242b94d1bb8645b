"""Every backend finds the violations of the `pulsar-pip430` scenarios at their events; negative controls are clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.scenarios import SCENARIOS
from tests.support.traces.script import Script

Violations = set[tuple[str, str, int]]


def record_scenarios(threads: str) -> tuple[list[plant.Row], Violations]:
    """Return the rows of all scenarios and controls for some threads, a broker each, and the violations to find."""
    rows: list[plant.Row] = []
    wanted: Violations = set()
    for scenario, config, own_threads in SCENARIOS:
        for violating in (True, False):
            if own_threads == threads:
                script = Script(f"{scenario.__name__} {'violating' if violating else 'control'}", **config)
                expected = scenario(script, violating)
                assert bool(expected) is violating, scenario.__name__
                rows += script.finish()
                wanted |= {(script.broker, rule, row["seq"]) for rule, row in expected}
    return rows, wanted


def found_in(result: AuditResult) -> Violations:
    return {(row.broker, row.rule, row.seq) for row in result.violations}


ENGINES = ("spark", "spark sql", "local", "replay")


def params() -> list[ParameterSet]:
    """Return the parameters; Spark's SQL reads the scenarios of one thread with test_violations.py in every run."""
    pairs = [(threads, backend) for threads in ("one", "many") for backend in ENGINES]
    return [pytest.param(*pair, marks=pytest.mark.long if pair[1] == "spark sql" else ()) for pair in pairs]


@pytest.mark.parametrize(("threads", "backend"), params())
def test_every_engine_judges_the_scenarios(
    tmp_path: Path, evaluators: dict[str, Callable[[Path], AuditResult]], threads: str, backend: str
) -> None:
    rows, wanted = record_scenarios(threads)
    result = evaluators[backend](plant.write(tmp_path / "trace", rows, threads=threads))
    reported = found_in(result)
    assert reported == wanted, (sorted(reported - wanted), sorted(wanted - reported))
    assert not result.notes


def test_every_rule_of_these_levels_has_a_scenario() -> None:
    violating = {rule for threads in ("one", "many") for _, rule, _ in record_scenarios(threads)[1]}
    levels = ("R-TRIGGER", "R-CONFIG", "R-METRICS", "R-READ", "R-COUNT", "R-CURSOR", "R-INVALIDATE", "R-INSERT")
    assert {rule.id for rule in all_rules() if rule.id.startswith(levels)} | {"R-STATE-4", "R-STATE-6"} <= violating


def test_rules_without_events_are_nothing_checked(tmp_path: Path) -> None:
    script = Script("b")
    script.offer(("a", 1, 0))
    result = audit_folder(plant.write(tmp_path / "trace", script.finish()), "local")
    assert result.rules["R-CURSOR-7"] is Verdict.NOTHING_CHECKED
    assert result.rules["R-METRICS-3"] is Verdict.NOTHING_CHECKED
    assert result.rules["R-INSERT-2"] is Verdict.CONFORMS
