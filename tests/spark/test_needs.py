"""A rule applies only to events with the values it needs; a note reports where a column or setting is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.common.rule_files import CONFIG_PREFIX, VALUE_PREFIX, Need, NeedCounts, all_rules, parse_needs
from entrycache_spark.folders import audit_folder
from tests.spark import test_kafka_scenarios, test_scenarios, test_segmented_scenarios
from tests.support.traces import plant

ENGINES: Final[Mapping[str, Callable[[Path], AuditResult]]] = {
    "local": lambda path: audit_folder(path, "local"),
    "replay": lambda path: audit_folder(path, "replay"),
}
KAFKA: Final = "kafka-streams"
SEGMENTED: Final = "pulsar-segmented"
RECORDERS: Final = {KAFKA: test_kafka_scenarios.record_scenarios, SEGMENTED: test_segmented_scenarios.record_scenarios}


def names_of(system: str) -> list[str]:
    return sorted({name for rule in all_rules(system) for need in rule.needs for name in need.names})


def forgotten(rows: list[plant.Row], names: tuple[str, ...], need: Need) -> list[plant.Row]:
    """Return the rows without some columns, settings or counters of some events."""
    changed = []
    for row in rows:
        row = dict(row)
        for name in names:
            if name.startswith(CONFIG_PREFIX):
                if row["op"] == "CONFIG":
                    row["value"] = without(row["value"], name.removeprefix(CONFIG_PREFIX))
            elif need.applies_to(row):
                row["value" if name.startswith(VALUE_PREFIX) else name] = (
                    without(row["value"], name.removeprefix(VALUE_PREFIX)) if name.startswith(VALUE_PREFIX) else None
                )
        changed.append(row)
    return changed


def without(value: str | None, name: str) -> str:
    values = json.loads(value or "{}")
    return json.dumps({key: part for key, part in values.items() if key != name})


def scenarios(system: str) -> tuple[dict[str, list[plant.Row]], dict[str, set[str]]]:
    """Return the rows of each scenario, and the rules that it violates."""
    rows, wanted = RECORDERS[system]() if system in RECORDERS else test_scenarios.record_scenarios("one")
    by_broker: dict[str, list[plant.Row]] = {}
    for row in rows:
        by_broker.setdefault(row["broker"], []).append(row)
    return by_broker, {broker: {rule for name, rule, _ in wanted if name == broker} for broker in by_broker}


@pytest.mark.long
@pytest.mark.parametrize("system", [pytest.param("pulsar-pip430", marks=pytest.mark.long), KAFKA, SEGMENTED])
def test_events_without_a_needed_value_are_not_checked(tmp_path: Path, system: str) -> None:
    """Each need of each rule is removed from the scenarios that violate one of its rules, a broker each."""
    rows, needs_by_broker = [], {}
    base, broken = scenarios(system)
    needs = {
        need: {rule.id for rule in all_rules(system) if need in rule.needs}
        for rule in all_rules(system)
        for need in rule.needs
        if not need.clean
    }
    for number, (need, rules) in enumerate(needs.items()):
        fit = [name for name, own in base.items() if any(need.applies_to(row) for row in own)]
        for name, own in base.items():
            if name in fit and (broken[name] & rules or name in fit[:1]):
                broker = f"{number} {name}"
                rows += forgotten(plant.renamed(own, broker), need.names, need)
                needs_by_broker[broker] = (need, rules)
    trace = plant.write(tmp_path / "trace", rows, system=system)
    for backend, evaluate in ENGINES.items():
        result = evaluate(trace)
        wrong = [row for row in result.violations if row.rule in needs_by_broker[row.broker][1]]
        assert not wrong, (backend, wrong[0], needs_by_broker[wrong[0].broker][0])
        said = [note for note in result.notes if " is missing in " in note]
        for broker, (need, rules) in needs_by_broker.items():
            own = [note for note in said if note.startswith(f"broker {broker!r}: {' or '.join(need.names)} ")]
            named = any if need.once else all  # a note about `once` names the rules that apply
            assert any(named(rule in note for rule in rules) for note in own), (backend, broker, need)


@pytest.mark.parametrize("backend", ENGINES)
def test_a_config_without_eviction_requires_none(tmp_path: Path, backend: str) -> None:
    rows = plant.honest(tmp_path / "honest", 1_500, 3, preset="catch-up-fanout")["broker-0"]
    for row in rows:
        if row["op"] == "CONFIG":
            row["value"] = without(row["value"], "eviction")
        if row["op"] == "PASS_BEGIN" and row["origin"] == "TRIGGER":
            row["origin"] = "CYCLE"
    result = ENGINES[backend](plant.write(tmp_path / "trace", rows))
    silent = [f"R-TRIGGER-{number}" for number in range(2, 7)]
    assert {result.rules[rule] for rule in silent} == {Verdict.NOTHING_CHECKED}
    assert not [row for row in result.violations if row.rule.startswith("R-TRIGGER")]
    assert any("CONFIG.eviction is missing" in note and "R-TRIGGER-2" in note for note in result.notes)


@pytest.mark.parametrize("backend", ENGINES)
def test_events_that_lack_a_value_are_skipped_and_counted(tmp_path: Path, backend: str) -> None:
    rows = plant.honest(tmp_path / "honest", 1_500, 3)["broker-0"]
    some = [row for row in rows if row["op"] == "EVICT"][:3]
    for row in some:
        row["accessed"] = None
    evicts, taken = (sum(row["op"] in ops for row in rows) for ops in ({"EVICT"}, {"EVICT", "REQUEUE"}))
    result = ENGINES[backend](plant.write(tmp_path / "trace", rows))
    assert result.rules["R-REQUEUE-3"] is Verdict.CONFORMS
    assert [note for note in result.notes if "accessed is missing in" in note] == [
        f"broker 'broker-0': accessed is missing in 3 of {taken} events (REQUEUE, EVICT); not checked there: R-READ-2",
        f"broker 'broker-0': accessed is missing in 3 of {evicts} events (EVICT); not checked there: R-REQUEUE-3",
    ]


def test_needs_name_existing_columns() -> None:
    from entrycache_spark.systems.pulsar_pip430 import KINDS
    from entrycache_trace.schema import COLUMNS

    for name in names_of("pulsar-pip430"):
        if name.startswith(CONFIG_PREFIX):
            assert name.removeprefix(CONFIG_PREFIX) in {*KINDS, "grace_millis"}
        else:
            assert name.startswith(VALUE_PREFIX) or name in COLUMNS


def test_an_invalid_need_is_refused() -> None:
    assert parse_needs("ever a or CONFIG.b of X, Y Z *") == (Need(("a", "CONFIG.b"), (("X",), ("Y", "Z", None)), True),)
    assert parse_needs("once a of X") == (Need(("a",), (("X",),), once=True),)
    with pytest.raises(ValueError, match="expected NAME of EVENTS"):
        parse_needs("bound: PASS_BEGIN")
    assert NeedCounts(3, 3).never
    assert not NeedCounts(0, 0).never


def row_of(**columns: Any) -> plant.Row:
    return {"op": None, "cause": None, "origin": None, **columns}


def test_a_need_applies_to_its_events_only() -> None:
    (need,) = parse_needs("bound of PASS_BEGIN * CYCLE")
    assert need.applies_to(row_of(op="PASS_BEGIN", cause="TIME", origin="CYCLE"))
    assert not need.applies_to(row_of(op="PASS_BEGIN", cause="TIME", origin="CALL"))
