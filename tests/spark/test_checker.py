"""The single-pass checker of `pulsar-pip430` is never laxer than the windows, and batches may be cut anywhere.

Windows find no violation of a rule that the checker calls clean, and the checker leaves every seeded violation to them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from entrycache_dev.audit_mutations import BASES, change_row, list_changes, read_base, rename_broker
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_spark.checkers.pulsar_pip430 import broker as broker_module
from entrycache_spark.checkers.pulsar_pip430 import removals
from entrycache_spark.checkers.pulsar_pip430.lives import check_carried
from entrycache_spark.checkers.pulsar_pip430.order import check_order
from entrycache_spark.checkers.pulsar_pip430.removals import check_slots
from entrycache_spark.checkers.pulsar_pip430.rows import RULES
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.common.system import ops_with_cache
from entrycache_spark.tasks import CHECKER, DUCKDB, AuditRequest, TaskGroup, evaluate_group
from entrycache_spark.tasks import uses_checker as wants_checker
from entrycache_trace import jit
from entrycache_trace.files import Metadata, list_parts, write_rows
from tests.spark import test_scenarios, test_violations
from tests.support.traces import mutate, plant
from tests.support.traces.checker_runs import (
    audit_by_checker,
    batch_of,
    check_rows,
    compare_with_windows,
    evaluate_by_task,
    is_independent_of_cuts,
)
from tests.support.traces.layout import split
from tests.support.traces.script import Script

Rows = list[plant.Row]


def by_broker(rows: Rows) -> dict[str, Rows]:
    rows_by_broker: dict[str, Rows] = {}
    for row in rows:
        rows_by_broker.setdefault(row["broker"], []).append(row)
    return rows_by_broker


class Scenario(NamedTuple):
    """The events of one broker, and the rules that they violate."""

    name: str
    metadata: Metadata
    batch: pa.RecordBatch
    broken: set[str]


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory: pytest.TempPathFactory) -> list[Scenario]:
    """Return each audit scenario, negative control and seeded violation."""
    scenarios_found = []
    for threads in ("one", "many"):
        rows, wanted = test_scenarios.record_scenarios(threads)
        if threads == "one":
            more, others = test_violations.trace_with_violations(tmp_path_factory.mktemp("violating"), seeds=1)
            rows, wanted = [*rows, *more], wanted | others
        for name, own in by_broker(rows).items():
            broken = {rule for broker, rule, _ in wanted if broker == name}
            scenarios_found.append(Scenario(name, Metadata(threads=threads), batch_of(own), broken))
    return scenarios_found


def test_it_decides_every_rule() -> None:
    assert {rule.id for rule in all_rules()} == set(RULES)
    assert len(RULES) == len(set(RULES))


@pytest.mark.long
def test_controls_are_clean_and_violations_are_not(scenarios: list[Scenario]) -> None:
    """Other rules that the checker leaves open have a window that finds nothing."""
    more: dict[str, set[str]] = {}
    for name, metadata, batch, broken in scenarios:
        clean = check_rows(batch, metadata).clean
        assert not clean & broken, name
        undecided = set(RULES) - clean - broken
        if undecided:
            assert broken, (name, undecided)
            more[name] = undecided
    assert more == {
        "a_slot_has_the_number_of_the_next violating": {"R-EVICT-8"},
        "counts_are_swapped_in_time violating": {"R-COUNT-3"},
        "passes_overlap violating": {"R-EVICT-4", "R-EVICT-5", "R-EXPIRE-1", "R-REQUEUE-4"},
        "removed_outside_its_pass violating": {"R-EVICT-4", "R-EVICT-5", "R-EXPIRE-1", "R-REQUEUE-4"},
        "two_slots_have_one_number violating": {"R-EVICT-8"},
    }
    # Whatever columns are null, loops are compiled once.
    assert [len(loop.signatures) for loop in (check_order, check_carried, check_slots)] == [1, 1, 1]


FAMILIES = (
    *(
        "check_order",
        "check_single_rows",
        "check_passes",
        "check_read_counts",
        "check_carried",
        "check_slots",
        "check_read_order",
        "check_slot_numbers",
    ),
    *("Lives", "Places", "Removals", "Cursors", "Totals", "ReadsInFlight"),
)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_of_checks_is_needed(
    family: str, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a family, seeded violations would be called clean: the test above would detect it."""
    modules = (
        broker_module.in_flight,
        broker_module.lives,
        broker_module.order,
        broker_module.reads,
        broker_module.removals,
        broker_module.rows,
    )
    home = next((module for module in modules if hasattr(module, family)), None)
    if family == "Lives":
        monkeypatch.setattr(broker_module.primitives, "flag", lambda *arguments: None)
    elif family in ("Places", "Removals", "Cursors", "ReadsInFlight"):
        monkeypatch.setattr(getattr(home, family), "follow", lambda *arguments: None)
    elif family == "Totals":
        monkeypatch.setattr(broker_module.order.Totals, "check_metrics", lambda *arguments: None)
    else:
        monkeypatch.setattr(home, family, lambda *arguments: None)
    assert any(check_rows(batch, metadata).clean & broken for _, metadata, batch, broken in scenarios if broken)


@pytest.mark.parametrize("brokers", [40, pytest.param(10_000, marks=pytest.mark.long)])
def test_batches_may_be_cut_anywhere(brokers: int, scenarios: list[Scenario]) -> None:
    chance = random.Random("cuts")
    for name, metadata, batch, _ in chance.sample(scenarios, min(brokers, len(scenarios))):
        assert is_independent_of_cuts(batch, metadata, chance), name


@pytest.mark.long
def test_forgotten_lives_are_not_called_clean(scenarios: list[Scenario]) -> None:
    """With one ended life kept, later events of such a life are left to the windows."""
    left_open = 0
    for name, metadata, batch, broken in scenarios:
        clean, all_kept = check_rows(batch, metadata, max_removed=1).clean, check_rows(batch, metadata).clean
        assert not clean & broken, name
        assert clean <= all_kept
        left_open += clean != all_kept
    assert left_open


CALLS = frozenset({"R-INVALIDATE-1", "R-INVALIDATE-4", "R-INVALIDATE-7", "R-INVALIDATE-8", "R-INVALIDATE-9"})


def test_no_call_is_clean_without_steps(scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    """With no steps the checker searches neither for the place of an entry nor for the entries that a call has left."""
    cases = [scenario for scenario in scenarios if scenario.broken & CALLS]
    as_they_are = [check_rows(scenario.batch, scenario.metadata).clean for scenario in cases]
    monkeypatch.setattr(removals, "STEPS_AT_ONCE", -1)
    monkeypatch.setattr(removals, "STEPS_PER_EVENT", 0)
    for (name, metadata, batch, broken), before in zip(cases, as_they_are, strict=True):
        clean = check_rows(batch, metadata).clean
        assert not clean & broken, name
        assert clean == before - CALLS
    assert len(cases) > len(CALLS)


def test_flags_stay_after_steps_run_out(scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps return from the second batch on; or they are few, and the trace ends with the call."""
    (scenario,) = (scenario for scenario in scenarios if scenario.name == "ledger_is_not_empty violating")
    ops = scenario.batch.column("op").to_pylist()
    last = len(ops) - ops[::-1].index("REMOVE")
    ended = scenario.batch.slice(0, last)
    monkeypatch.setattr(removals, "STEPS_PER_EVENT", 0)
    for steps in range(-1, 2 * last):
        monkeypatch.setattr(removals, "STEPS_AT_ONCE", steps)
        assert "R-INVALIDATE-8" not in check_rows(ended, scenario.metadata).clean, steps
    monkeypatch.setattr(removals, "STEPS_PER_EVENT", 1)
    monkeypatch.setattr(removals, "STEPS_AT_ONCE", -last)
    assert "R-INVALIDATE-8" not in check_rows(scenario.batch, scenario.metadata, [last - 1]).clean


def test_steps_that_run_out_at_the_end_are_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trace ends with a call that leaves an entry, behind several others."""
    script = Script("left behind")
    for ledger, entries in ((1, 5), (2, 2)):
        for entry in range(entries):
            script.offer(("a", ledger, entry))
    script.call()
    script.remove("LEDGER", ("a", 2, 0))
    batch = batch_of(script.rows)
    monkeypatch.setattr(removals, "STEPS_PER_EVENT", 0)
    for steps in range(-1, 10):
        monkeypatch.setattr(removals, "STEPS_AT_ONCE", steps)
        assert "R-INVALIDATE-8" not in check_rows(batch, Metadata(threads="one")).clean, steps


def test_slot_numbers_are_checked_after_an_unnumbered_opening(tmp_path: Path) -> None:
    """A recorder that started midway did not see the slot of the first entry; it numbers all later ones."""
    script = Script("opened in the midst")
    for entry in range(4):
        script.offer(("a", 1, entry))
    script.call().size_pass(30)
    opening = next(row for row in script.rows if row["op"] == "INSERT")
    opening.update(op="SNAPSHOT", cause="OPEN", tail_no=None)
    taken = [row for row in script.rows if row["op"] == "EVICT"][-1]
    taken["ticket"] += 1
    rows = script.finish()
    assert "R-EVICT-8" not in check_rows(batch_of(rows), Metadata(threads="one")).clean
    result = audit_by_checker(plant.write(tmp_path / "trace", rows, threads="one"))
    assert ("R-EVICT-8", taken["seq"]) in {(violation.rule, violation.seq) for violation in result.violations}


@pytest.mark.parametrize("threads", ["many", pytest.param("one", marks=pytest.mark.long)])
@pytest.mark.parametrize(("first", "traces"), [(0, 10), pytest.param(1_000, 400, marks=pytest.mark.long)])
def test_random_traces_agree_with_the_windows(tmp_path: Path, threads: str, first: int, traces: int) -> None:
    for start in range(first, first + traces, 50):
        own = mutate.random_traces(tmp_path / f"{start}", range(start, min(start + 50, first + traces)))
        rows = [row for broker in own.values() for row in broker]
        assert compare_with_windows(plant.write(tmp_path / f"trace-{start}", rows, threads=threads)) == len(own)


@pytest.mark.long
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
@pytest.mark.parametrize("sample", [8, pytest.param(100_000, marks=pytest.mark.long)])
def test_changed_values_agree_with_the_windows(tmp_path: Path, base: Any, sample: int) -> None:
    rows = read_base(base)
    every = list_changes(rows, base.system)
    chosen = every if sample >= len(every) else random.Random("fold").sample(every, sample)
    for start in range(0, len(chosen), 250):
        copies: Rows = []
        for number, change in enumerate(chosen[start : start + 250]):
            copy = change_row(rows, change, 7)
            copies += rename_broker(copy[0], f"{number:03}") if copy and names_caches(copy[0], base.system) else []
        trace = tmp_path / f"{start}"
        write_rows(trace, Metadata(system=base.system), copies)
        assert compare_with_windows(trace) > 0


def names_caches(rows: Rows, system: str) -> bool:
    """Return whether each row names its cache if its op needs one; an audit refuses other traces."""
    return all(row["cache"] is not None for row in rows if row["op"] in ops_with_cache(system))


@pytest.mark.long
@pytest.mark.parametrize(
    ("threads", "clock"),
    [("many", "virtual"), *(pytest.param(t, "real", marks=pytest.mark.long) for t in ("one", "many"))],
)
def test_scenarios_agree_with_the_windows_for_any_recorder(tmp_path: Path, threads: str, clock: str) -> None:
    """The scenarios of one thread, as if several threads or a real clock had recorded them."""
    rows, wanted = test_scenarios.record_scenarios("one")
    broken = {broker for broker, _, _ in wanted}
    trace = plant.write(
        tmp_path / "trace", [row for row in rows if row["broker"] in broken], threads=threads, clock=clock
    )
    assert compare_with_windows(trace) == len(broken) > 50


@pytest.mark.long
@pytest.mark.parametrize("change", [lambda rows: rows.reverse(), random.Random(1).shuffle])
def test_the_order_of_rows_does_not_matter(tmp_path: Path, change: Any) -> None:
    base = plant.honest(tmp_path / "honest", 2_000, 3)["broker-0"]
    broken = plant.renamed(base, "broken")
    plant.seed_violation(plant.wrong_sum, broken, 1)
    wanted = audit_by_checker(plant.write(tmp_path / "sorted", [*base, *broken]))
    rows = [*base, *broken]
    change(rows)
    trace = plant.write(tmp_path / "other", rows)
    assert audit_by_checker(trace) == wanted
    assert audit_by_checker(split(trace, tmp_path / "split", 4, 2)) == wanted
    assert [violation.rule for violation in wanted.violations] == ["R-STATE-1"]


@pytest.mark.long
def test_without_numba_duckdb_evaluates_and_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = plant.write(tmp_path / "trace", plant.honest(tmp_path / "honest", 300, 3)["broker-0"])
    wanted, by = evaluate_by_task(trace)
    assert by == "the single-pass checker in tasks of Spark"
    assert evaluate_by_task(trace, backend=DUCKDB) == (wanted, "DuckDB in tasks of Spark")
    with monkeypatch.context() as uncompiled:
        uncompiled.setattr("numba.config.DISABLE_JIT", True)
        assert evaluate_by_task(trace) == (wanted, "DuckDB in tasks of Spark")
    monkeypatch.setattr(jit, "numba", None)
    assert evaluate_by_task(trace) == (wanted, "DuckDB in tasks of Spark")
    assert (
        "numba"
        in evaluate_group(TaskGroup(list_parts(trace), 1, 512), AuditRequest(Metadata(), all_rules(), CHECKER))[0][
            "refused"
        ]
    )
    with pytest.raises(MissingPrerequisite, match="numba"):
        wants_checker(AuditRequest(Metadata(), all_rules(), CHECKER))
