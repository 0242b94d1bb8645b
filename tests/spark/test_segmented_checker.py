"""The single-pass checker of `pulsar-segmented` is never laxer than the windows, and batches may be cut anywhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from entrycache_reference.pulsar_segmented import NAME as SEGMENTED
from entrycache_reference.vocabulary import INTEGER_MAX
from entrycache_spark.checkers.primitives import new_flags
from entrycache_spark.checkers.pulsar_segmented import broker as broker_module
from entrycache_spark.checkers.pulsar_segmented import entries, segments
from entrycache_spark.checkers.pulsar_segmented.rows import RULES
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.files import Metadata
from tests.spark.test_checker import by_broker
from tests.spark.test_kafka_random import random_traces
from tests.spark.test_segmented_random import CHANGED, PRESETS
from tests.spark.test_segmented_scenarios import record_scenarios
from tests.support.traces import mutate, plant
from tests.support.traces.checker_runs import (
    batch_of,
    check_rows,
    compare_with_windows,
    home_of,
    is_independent_of_cuts,
)
from tests.support.traces.segmented_scenarios.scenario import at
from tests.support.traces.segmented_script import RingScript

ONE, MANY = (Metadata(system=SEGMENTED, threads=threads) for threads in ("one", "many"))

OF_ONE_THREAD = ("calls_that_meet violating", "S-LIVENESS-1")
"""A violation that several threads allow, because their calls may overlap."""


class Scenario(NamedTuple):
    """The events of one broker, and the rules that they violate."""

    name: str
    batch: pa.RecordBatch
    broken: set[str]


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    """Return each scenario and negative control."""
    rows, wanted = record_scenarios()
    return [
        Scenario(name, batch_of(own), {rule for broker, rule, _ in wanted if broker == name})
        for name, own in by_broker(rows).items()
    ]


def honest(folder: Path, preset: str = "ring-copies", events: int = 3_000) -> list[plant.Row]:
    (rows,) = plant.honest(folder / "honest", events, 11, preset=preset).values()
    return rows


def test_it_decides_every_rule() -> None:
    assert {rule.id for rule in all_rules(SEGMENTED)} == set(RULES)
    assert len(RULES) == len(set(RULES))


@pytest.mark.parametrize("metadata", [ONE, MANY], ids=["one", "many"])
def test_controls_are_clean_and_violations_are_not(metadata: Metadata, scenarios: list[Scenario]) -> None:
    """No other rule is left to a window."""
    for name, batch, broken in scenarios:
        undecided = {rule for broker, rule in [OF_ONE_THREAD] if metadata is MANY and broker == name}
        assert check_rows(batch, metadata).clean == set(RULES) - (broken - undecided), name
    # Whatever columns are null, loops are compiled once.
    loops = (
        entries._check_entries,
        entries._check_totals,
        segments._check_offsets,
        entries._check_places,
        segments._check_turns,
    )
    assert [
        len(loop.signatures)
        for loop in (
            *loops,
            home_of(broker_module, "check_order").check_order,
            home_of(broker_module, "check_single_rows").check_single_rows,
            home_of(broker_module, "check_ranges").check_ranges,
        )
    ] == [1] * 8


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_an_honest_trace_leaves_nothing_to_the_windows(tmp_path: Path, preset: str) -> None:
    batch = batch_of(honest(tmp_path, preset))
    for metadata in (ONE, MANY):
        assert check_rows(batch, metadata).clean == set(RULES)
        assert check_rows(batch, metadata, range(1, 3_000, 7), kept=1).clean == set(RULES)


FAMILIES = (
    *("check_single_rows", "check_order", "check_ranges"),
    *("Turns", "Entries", "Offsets", "Places", "Totals"),
)


def unflagged(family: Callable[..., Any]) -> Callable[..., Any]:
    """Return the family with flags of its own that nobody reads."""
    return lambda *arguments: family(*arguments[:-1], new_flags(len(RULES)))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_of_checks_is_needed(
    family: str, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a family, seeded violations would be called clean."""
    home = home_of(broker_module, family)
    where, name = (home, family) if family.startswith("check_") else (getattr(home, family), "follow")
    monkeypatch.setattr(where, name, unflagged(getattr(where, name)))
    assert any(check_rows(batch, ONE).clean & broken for _, batch, broken in scenarios)


@pytest.mark.long
def test_batches_may_be_cut_anywhere(scenarios: list[Scenario]) -> None:
    chance = random.Random("cuts")
    for name, batch, _ in scenarios:
        assert check_rows(batch, ONE, range(1, len(batch))) == check_rows(batch, ONE), name
        assert is_independent_of_cuts(batch, ONE, chance), name


@pytest.mark.long
def test_forgotten_lives_are_not_called_clean(scenarios: list[Scenario]) -> None:
    """With one ended life kept, later events of such a life are left to the windows."""
    for name, batch, broken in scenarios:
        clean = check_rows(batch, ONE, range(1, len(batch)), kept=1).clean
        assert not clean & broken, name
        assert clean <= check_rows(batch, ONE).clean
    script = RingScript("late")
    first = script.insert(at(0), 100)
    for entry in range(1, 6):
        script.insert(at(entry), 100)
    script.hit(at(0), entry=first)
    batch = batch_of(script.finish())
    open_ = set(RULES) - check_rows(batch, ONE).clean
    assert open_ == {"S-GET-1"}
    open_ = set(RULES) - check_rows(batch, ONE, range(1, len(batch)), kept=1).clean
    assert open_ == {"S-GET-1", "S-GET-3", "S-RING-2", "S-RING-4", "S-STATE-2", "S-USAGE-1"}


def test_costly_ranges_are_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of(honest(tmp_path))
    places = entries.Places
    monkeypatch.setattr(broker_module.entries, "Places", lambda: places(steps=-100_000))
    assert check_rows(batch, ONE).clean == set(RULES) - {"S-RANGE-1"}


def test_only_rules_of_single_rows_are_clean_beside_gaps(tmp_path: Path) -> None:
    rows = honest(tmp_path)
    gapped = list(rows)
    mutate.gap(gapped, random.Random("gap"))
    opened = [dict(row) for row in rows]
    opened[1].update(op="SNAPSHOT", cause="OPEN")
    for own in (gapped, rows[1:], opened):
        assert check_rows(batch_of(own), ONE).clean == broker_module.ALONE
    result = check_rows(batch_of(opened), ONE)
    assert (result.opened, result.open_bytes) == (True, opened[1]["size_bytes"])
    assert check_rows(batch_of(rows), replace(ONE, sampling=2)).clean == broker_module.ALONE


def row_of(script: RingScript, op: str) -> plant.Row:
    return [row for row in script.rows if row["op"] == op][-1]


def read_in_its_turn(script: RingScript) -> None:
    begin = script.call().turn(50, spare=at(5), end=False)
    script.hit(at(5), inside=True)
    script.evict(at(5), begin["seq"])
    columns = {name: begin[name] for name in ("pass_id", "tail_no", "ticket", "trigger_bytes")}
    script.row("PASS_END", "TURN", **columns)
    script.take(at(9), 50)


def hit_without_a_life(script: RingScript) -> None:
    entry = script.insert(at(9), 50)
    script.hit(at(9))
    script.finish()
    entry["life"] = None


SINGLE_VIOLATIONS: dict[str, tuple[str, Callable[[RingScript], object]]] = {
    "another ticket": ("S-STATE-2", lambda script: row_of(script, "EVICT").update(ticket=7)),
    "a turn by another cause": ("S-RING-1", lambda script: row_of(script, "EVICT").update(cause="GET")),
    "an offset at first": ("S-STATE-1", lambda script: script.rows[0].update(manager_bytes=5)),
    "bytes at first": ("S-STATE-1", lambda script: script.rows[0].update(bytes_after=5)),
    "another offset": ("S-SEGMENT-4", lambda script: row_of(script, "PASS_BEGIN").update(bound=99)),
    "offsets at the end": ("S-STATE-2", lambda script: script.finish()[-1].update(manager_bytes=1)),
    "no life": ("S-GET-1", hit_without_a_life),
    "read in its turn": ("S-RING-2", read_in_its_turn),
}
"""Violations that no scenario shows alone: the rule, and the scenario that violates it."""


@pytest.mark.long
def test_single_violations_agree_with_the_windows(tmp_path: Path) -> None:
    rows: list[plant.Row] = []
    for name, (rule, record) in SINGLE_VIOLATIONS.items():
        script = RingScript(name)
        for entry in range(9):
            script.insert(at(entry), 50)
        assert check_rows(batch_of(script.rows), ONE).clean == set(RULES)
        record(script)
        assert rule not in check_rows(batch_of(script.finish()), ONE).clean, name
        rows += script.rows
    trace = plant.write(tmp_path / "trace", rows, system=SEGMENTED)
    assert compare_with_windows(trace) == len(SINGLE_VIOLATIONS)


def too_large(script: RingScript) -> None:
    for entry in range(600):
        script.insert(at(entry), 0, turn=False)["size_bytes"] = INTEGER_MAX


def lost(script: RingScript) -> None:
    """Return rows in which another generation replaces the first one, and a later row needs the first one."""
    script.insert(at(0))["tail_no"] = segments.GENERATIONS_KEPT
    script.insert(at(1))


def twice(script: RingScript) -> None:
    script.insert(at(0))
    script.insert(at(1))["seq"] -= 1


@pytest.mark.parametrize("mode", ["reference", "another"])
@pytest.mark.parametrize("record", [too_large, lost, twice])
def test_it_gives_up(record: Callable[[RingScript], None], mode: str) -> None:
    """In an unknown mode the offsets are unknown; then the sum of the entries is too large."""
    script = RingScript("given up", mode=mode)
    record(script)
    with pytest.raises(CheckerGaveUp):
        check_rows(batch_of(script.finish()), ONE)


def test_it_gives_up_above_its_memory_limit(scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_LIVES", 1)
    with pytest.raises(CheckerGaveUp, match="more entries are cached"):
        check_rows(scenarios[0].batch, ONE)


@pytest.mark.parametrize("threads", ["many", pytest.param("one", marks=pytest.mark.long)])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("first", "traces"), [(0, 4), pytest.param(1_000, 100, marks=pytest.mark.long)])
def test_random_traces_agree_with_the_windows(
    tmp_path: Path, preset: str, threads: str, first: int, traces: int
) -> None:
    for start in range(first, first + traces, 25):
        rows = random_traces(tmp_path / f"{start}", range(start, min(start + 25, first + traces)), preset, CHANGED)
        assert (
            compare_with_windows(plant.write(tmp_path / f"trace-{start}", rows, system=SEGMENTED, threads=threads)) > 1
        )


@pytest.mark.long
@pytest.mark.parametrize("threads", ["many", pytest.param("one", marks=pytest.mark.long)])
def test_scenarios_agree_with_the_windows(tmp_path: Path, threads: str) -> None:
    rows, _ = record_scenarios()
    assert compare_with_windows(plant.write(tmp_path / "trace", rows, system=SEGMENTED, threads=threads)) > 50
