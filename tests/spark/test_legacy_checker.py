"""The single-pass checker of `pulsar-legacy` is never laxer than the windows, and leaves only violations to them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from entrycache_dev.audit_mutations import change_row, list_changes, rename_broker
from entrycache_reference.pulsar_legacy import NAME
from entrycache_spark.checkers.pulsar_legacy import broker as broker_module
from entrycache_spark.checkers.pulsar_legacy import passes
from entrycache_spark.checkers.pulsar_legacy.passes import check_passes
from entrycache_spark.checkers.pulsar_legacy.reads import check_reads
from entrycache_spark.checkers.pulsar_legacy.rows import RULES
from entrycache_spark.checkers.pulsar_pip430.order import check_order
from entrycache_spark.common.rule_files import all_rules
from entrycache_trace.files import Metadata
from tests.spark import test_legacy_scenarios
from tests.spark.test_legacy_random import recorded  # noqa: F401 - a fixture
from tests.support.traces import plant
from tests.support.traces.checker_runs import (
    batch_of,
    check_rows,
    compare_with_windows,
    home_of,
    is_independent_of_cuts,
)
from tests.support.traces.legacy_script import LegacyScript, Place, at

OF_ONE = {"L-TRIGGER-3"}
"""The rules that do not apply to several threads."""


class Scenario(NamedTuple):
    """The events of one broker, and the rules that they violate."""

    name: str
    metadata: Metadata
    batch: pa.RecordBatch
    broken: set[str]


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    """Return each scenario and negative control, recorded by one thread and by several."""
    rows, wanted = test_legacy_scenarios.record_scenarios()
    own: dict[str, list[plant.Row]] = {}
    for row in rows:
        own.setdefault(row["broker"], []).append(row)
    return [
        Scenario(
            f"{name} {threads}",
            Metadata(system=NAME, threads=threads),
            batch_of(own[name]),
            {rule for broker, rule, _ in wanted if broker == name} - (OF_ONE if threads == "many" else set()),
        )
        for threads in ("one", "many")
        for name in own
    ]


def test_it_decides_every_rule() -> None:
    assert {rule.id for rule in all_rules(NAME)} == set(RULES)
    assert len(RULES) == len(set(RULES))


def test_controls_are_clean_and_violations_are_not(scenarios: list[Scenario]) -> None:
    """Other rules that the checker leaves open have a window that finds nothing."""
    more: dict[str, set[str]] = {}
    for name, metadata, batch, broken in scenarios:
        clean = check_rows(batch, metadata).clean
        assert not clean & broken, name
        undecided = set(RULES) - clean - broken
        if undecided:
            assert broken, (name, undecided)
            assert more.setdefault(name.rsplit(" ", 1)[0], undecided) == undecided
    evictions = {f"L-EVICT-{number}" for number in range(1, 6)}
    assert more == {
        "hole_in_a_range violating": {"L-EVICT-1", "L-EXPIRE-2", "L-READ-2"},
        "leaves_between_passes violating": {*evictions, "L-EXPIRE-1", "L-EXPIRE-2"},
        "rejects_what_is_not_there violating": {"L-INSERT-5"},
        "stamped_later violating": {"L-INSERT-5"},
    }
    # Whatever columns are null, loops are compiled once.
    assert [len(loop.signatures) for loop in (check_order, check_passes, check_reads)] == [1, 1, 1]


FAMILIES = (
    *(
        "check_order",
        "check_single_rows",
        "check_carried",
        "check_own_rows",
        "check_offers",
        "check_passes",
        "check_reads",
    ),
    *("Lives", "Places", "Removals", "Shares", "Totals"),
)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_of_checks_is_needed(
    family: str, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a family, seeded violations would be called clean: the test above would detect it."""
    if family == "Totals":
        monkeypatch.setattr(home_of(broker_module, "Totals").Totals, "end", lambda *arguments: None)
    elif family in ("Lives", "Places", "Removals"):
        name = "number" if family == "Lives" else "follow"
        follow = getattr(getattr(home_of(broker_module, family), family), name)

        def deaf(*arguments: Any) -> Any:
            return follow(*arguments[:-1], arguments[-1].copy())

        monkeypatch.setattr(getattr(home_of(broker_module, family), family), name, deaf)
        monkeypatch.setattr(home_of(broker_module, "Removals").Removals, "end", lambda *arguments: None)
    elif family == "Shares":
        monkeypatch.setattr(home_of(broker_module, "Shares").Shares, "follow", lambda *arguments: None)
    else:
        monkeypatch.setattr(home_of(broker_module, family), family, lambda *arguments: None)
    assert any(check_rows(batch, metadata).clean & broken for _, metadata, batch, broken in scenarios if broken)


@pytest.mark.parametrize("brokers", [40, pytest.param(10_000, marks=pytest.mark.long)])
def test_batches_may_be_cut_anywhere(brokers: int, scenarios: list[Scenario]) -> None:
    chance = random.Random("cuts")
    for name, metadata, batch, _ in chance.sample(scenarios, min(brokers, len(scenarios))):
        assert is_independent_of_cuts(batch, metadata, chance), name


def test_forgotten_lives_are_not_called_clean(scenarios: list[Scenario]) -> None:
    """With one ended life kept, later events of such a life are left to the windows."""
    for name, metadata, batch, broken in scenarios:
        clean = check_rows(batch, metadata, max_removed=1).clean
        assert not clean & broken, name
        assert clean <= check_rows(batch, metadata).clean


def test_no_share_is_clean_without_steps(scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    """With no steps no cache is chosen."""
    evictions = {f"L-EVICT-{number}" for number in range(1, 6)}
    cases = [scenario for scenario in scenarios if scenario.broken & evictions]
    monkeypatch.setattr(passes, "STEPS_AT_ONCE", -1_000_000)
    for name, metadata, batch, _ in cases:
        assert not check_rows(batch, metadata).clean & evictions, name
    assert len(cases) > len(evictions)


def test_an_unborn_life_is_none() -> None:
    script = LegacyScript("broker")
    script.offer(at(0))
    script.get(at(0))["life"] = 0
    assert "L-LIVENESS-1" not in check_rows(batch_of(script.finish()), Metadata(system=NAME)).clean


def test_a_removal_without_position_is_judged_by_the_rows_before() -> None:
    """The last row of a call does not name the entry it removes; by its other rows the call leaves one."""
    script = LegacyScript("broker")
    for entry in range(3):
        script.offer(at(entry))
    script.remove("LEDGER", *(at(entry) for entry in range(3)))["entry_id"] = None
    assert "L-INVALIDATE-4" not in check_rows(batch_of(script.finish()), Metadata(system=NAME)).clean


@pytest.mark.parametrize("threads", ["one", "many"])
@pytest.mark.parametrize("preset", ["unequal-topics", "unequal-topics-late"])
def test_an_honest_trace_is_completely_clean(tmp_path: Path, preset: str, threads: str) -> None:
    """No window is needed."""
    rows = plant.honest(tmp_path / "honest", 3_000, 2, preset=preset)["broker-0"]
    result = check_rows(batch_of(rows), Metadata(system=NAME, clock="virtual", threads=threads))
    assert set(RULES) - result.clean == set()


def test_a_miss_proves_nothing_if_lookups_compare_objects() -> None:
    script = LegacyScript("broker")
    script.offer(at(0))
    script.get(at(0), "MISS")
    batch = batch_of(script.finish())
    assert set(RULES) - check_rows(batch, Metadata(system=NAME)).clean == {"L-READ-1"}
    by_object = Metadata(system=NAME, variants={"single_lookup": "object"})
    assert set(RULES) == check_rows(batch, by_object).clean


@pytest.mark.parametrize("threads", ["one", pytest.param("many", marks=pytest.mark.long)])
@pytest.mark.parametrize("copies", [1, pytest.param(25, marks=pytest.mark.long)])
def test_random_traces_agree_with_the_windows(
    tmp_path: Path,
    recorded: tuple[list[list[plant.Row]], dict[str, Any]],  # noqa: F811
    threads: str,
    copies: int,
) -> None:
    """The traces are generated cases, unchanged and with a changed value."""
    rows, metadata = recorded
    chance = random.Random(f"fold {threads} {copies}")
    for number in range(copies):
        changed_rows: list[plant.Row] = []
        for broker, own in enumerate(rows):
            changed_rows += rename_broker(own, f"{broker:02}") if number == 0 else []
            copy = change_row(own, chance.choice(list_changes(own, NAME)), number)
            changed_rows += rename_broker(copy[0] if copy else own, f"{broker:02} changed")
        trace = plant.write(tmp_path / f"{number}", changed_rows, **{**metadata, "threads": threads})
        assert compare_with_windows(trace) == len(rows) * (1 if number else 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("threads", "clock"),
    [
        ("one", "virtual"),
        *(
            pytest.param(*record_scenarios, marks=pytest.mark.long)
            for record_scenarios in (("many", "virtual"), ("one", "real"))
        ),
    ],
)
def test_scenarios_agree_with_the_windows_for_any_recorder(tmp_path: Path, threads: str, clock: str) -> None:
    rows, wanted = test_legacy_scenarios.record_scenarios()
    trace = plant.write(tmp_path / "trace", rows, system=NAME, threads=threads, clock=clock)
    assert compare_with_windows(trace) == 2 * len({broker for broker, _, _ in wanted})


@pytest.mark.long
def test_truncated_traces_agree_with_the_windows(tmp_path: Path) -> None:
    """The traces lack the first event, the last ones, or one in between."""
    rows, _ = test_legacy_scenarios.record_scenarios()
    own: dict[str, list[plant.Row]] = {}
    for row in rows:
        own.setdefault(row["broker"], []).append(row)
    cut_rows: list[plant.Row] = []
    for number, (name, its) in enumerate(own.items()):
        if name.endswith("violating"):
            cut = (its[1:], its[:-3], [row for row in its if row["seq"] != len(its) // 2])[number // 2 % 3]
            cut_rows += cut
    trace = plant.write(tmp_path / "cut", cut_rows, system=NAME, clock="virtual")
    assert compare_with_windows(trace) == len(own) // 2


CACHES = ("b", "a", "B", "aa", "\u00e9", "z\u4e2d")
"""Names whose order differs by letters and by bytes."""


def shared(broker: str, chance: random.Random) -> list[plant.Row]:
    """Return size passes over caches with equal bytes; a pass may take a wrong entry."""
    script = LegacyScript(broker, max_size_bytes=1_000_000)
    for _ in range(chance.randint(1, 4)):
        for _ in range(chance.randint(1, 8)):
            size = chance.choice((0, 10, 10, 10, 20))
            script.call().insert(at(len(script.rows), cache=chance.choice(CACHES)), size)
        named = chance.choice((None, None, *CACHES))
        need = chance.choice((1, 7, 10, 25, 40, 1_000))
        own = (
            script.need(named, need)
            if named
            else [p for c, n in script.shares(need).items() for p in script.need(c, n)]
        )
        if chance.random() < 0.5:
            own = [place for place in own if chance.random() < 0.8]
            own += [place for place in script.lowest(chance.choice(CACHES))[:1] if place not in own]
        script.call()
        script.passing("SIZE", need, *own, cache=named)
        gone = script.lowest(chance.choice(CACHES))
        if gone and chance.random() < 0.3:
            script.remove("CLEAR", *gone)
    return script.finish()


@pytest.mark.parametrize("brokers", [40, pytest.param(3_000, marks=pytest.mark.long)])
def test_shares_agree_with_the_windows(tmp_path: Path, brokers: int) -> None:
    for start in range(0, brokers, 250):
        rows: list[plant.Row] = []
        for number in range(start, min(brokers, start + 250)):
            rows += shared(f"{number:04}", random.Random(f"shares {number}"))
        trace = plant.write(tmp_path / f"{start}", rows, system=NAME)
        assert compare_with_windows(trace) == min(brokers, start + 250) - start
    own: dict[str, list[plant.Row]] = {}
    for row in rows:
        own.setdefault(row["broker"], []).append(row)
    clean = [check_rows(batch_of(its), Metadata(system=NAME)).clean for its in own.values()]
    assert 0 < sum({"L-EVICT-3", "L-EVICT-4", "L-EVICT-5"} <= its for its in clean) < len(clean)
    assert any("L-EVICT-4" not in its for its in clean)


def asked_twice(broker: str, chance: random.Random) -> list[plant.Row]:
    """Return reads and range lookups in which an event may be missing or wrong."""
    script = LegacyScript(broker, max_size_bytes=1_000_000)
    for entry in range(6):
        if chance.random() < 0.6:
            script.offer(at(entry), 100)
    for _ in range(chance.randint(1, 5)):
        first, number = chance.randint(0, 5), chance.randint(1, 3)
        places = [at(entry) for entry in range(first, first + number)]
        if chance.random() < 0.3:
            places = chance.sample(places, len(places) - (number > 1))
        script.call()
        if chance.random() < 0.4:
            for place in places if chance.random() < 0.3 else [place for place in places if place in script.cached]:
                script.get(place, inside=True)
        else:
            _read(script, places, chance)
        if chance.random() < 0.2 and script.cached:
            script.remove("RANGE", chance.choice(script.lowest("a")))
    return script.finish()


def _read(script: LegacyScript, places: list[Place], chance: random.Random) -> None:
    cached = all(place in script.cached for place in places) and chance.random() < 0.9
    for place in places:
        hits = place in script.cached and cached != (chance.random() < 0.1)
        script.get(place, "HIT" if hits else "MISS", "READ", inside=True)
    if not cached and len(places) == 1 and chance.random() < 0.5:
        script.absent("SKIP", places[0], cause="NOT_WANTED", size_bytes=100)
    elif not cached or chance.random() < 0.1:
        for place in places:
            if chance.random() < 0.9:
                script.offer(place, 100, "FILL", inside=True)


@pytest.mark.parametrize("by_object", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("brokers", [40, pytest.param(3_000, marks=pytest.mark.long)])
def test_reads_agree_with_the_windows(tmp_path: Path, brokers: int, by_object: bool) -> None:
    variants = {"single_lookup": "object"} if by_object else {}
    for start in range(0, brokers, 250):
        rows: list[plant.Row] = []
        for number in range(start, min(brokers, start + 250)):
            rows += asked_twice(f"{number:04}", random.Random(f"reads {number}"))
        trace = plant.write(tmp_path / f"{start}", rows, system=NAME, variants=variants)
        assert compare_with_windows(trace) == min(brokers, start + 250) - start
