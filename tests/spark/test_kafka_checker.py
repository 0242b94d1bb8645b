"""The single-pass checker of `kafka-streams` is never laxer than the windows, and needs each of its conditions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_spark.checkers.kafka_streams import broker as broker_module
from entrycache_spark.checkers.kafka_streams.events import check_events
from entrycache_spark.checkers.kafka_streams.rows import CONDITIONS_BY_RULE, SUFFICIENT_CONDITIONS
from entrycache_spark.common.rule_files import all_rules
from entrycache_spark.common.system import CheckerGaveUp
from entrycache_trace.files import Metadata
from tests.spark.test_checker import by_broker
from tests.spark.test_kafka_random import PRESET, random_traces
from tests.spark.test_kafka_scenarios import record_scenarios, scenarios_from_another_recorder
from tests.support.traces import plant
from tests.support.traces.checker_runs import batch_of, check_rows, compare_with_windows, is_independent_of_cuts

ONE = Metadata(system=STREAMS, threads="one")


class Scenario(NamedTuple):
    """The events of one broker, and the rules that they violate."""

    name: str
    batch: pa.RecordBatch
    broken: set[str]


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    """Return each scenario and negative control, as our recorder and as another recorder would write them."""
    cases = []
    for rows, wanted in (record_scenarios(), scenarios_from_another_recorder()):
        for name, own in by_broker(rows).items():
            cases.append(Scenario(name, batch_of(own), {rule for broker, rule, _ in wanted if broker == name}))
    return cases


def test_violations_are_not_clean(scenarios: list[Scenario]) -> None:
    rules = {rule.id for rule in all_rules(STREAMS)}
    assert set(CONDITIONS_BY_RULE) == rules
    clean = {name: check_rows(batch, ONE).clean for name, batch, _ in scenarios}
    assert not {name: clean[name] & broken for name, _, broken in scenarios if clean[name] & broken}
    assert sum(map(len, clean.values())) > 1_000
    assert len(check_events.signatures) == 1


@pytest.mark.parametrize("number", range(len(SUFFICIENT_CONDITIONS)), ids=SUFFICIENT_CONDITIONS)
def test_each_sufficient_condition_is_needed(
    number: int, scenarios: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scenario violates this condition alone, so without it seeded violations would be called clean."""
    for rule, conditions in CONDITIONS_BY_RULE.items():
        monkeypatch.setitem(CONDITIONS_BY_RULE, rule, conditions - {number})
    assert any(check_rows(batch, ONE).clean & broken for _, batch, broken in scenarios)


@pytest.mark.long
def test_batches_may_be_cut_anywhere(scenarios: list[Scenario]) -> None:
    chance = random.Random("cuts")
    for name, batch, _ in scenarios:
        assert is_independent_of_cuts(batch, ONE, chance), name


@pytest.mark.parametrize(("first", "traces"), [(0, 8), pytest.param(1_000, 400, marks=pytest.mark.long)])
def test_random_traces_agree_with_the_windows(tmp_path: Path, first: int, traces: int) -> None:
    for start in range(first, first + traces, 16):
        rows = random_traces(tmp_path / f"{start}", range(start, start + 16))
        for threads in ("one", "many"):
            trace = plant.write(tmp_path / f"trace-{start}-{threads}", rows, system=STREAMS, threads=threads)
            assert compare_with_windows(trace) == 16


def test_an_honest_trace_is_clean_and_an_incomplete_one_is_not(tmp_path: Path) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 6_000, 11, preset=PRESET).values()
    honest = batch_of(rows)
    own = check_rows(honest, ONE)
    assert own.clean == {rule.id for rule in all_rules(STREAMS)}
    assert (own.starts, own.ended, own.opened, own.unread) == (True, True, False, False)
    assert sum(kind.events for kind in own.kinds) == len(rows)
    for lacking in (honest.slice(1), pa.concat_batches([honest.slice(0, 99), honest.slice(100)])):
        assert check_rows(lacking, ONE).clean == {"K-PUT-1"}
    with pytest.raises(CheckerGaveUp, match="there twice"):
        check_rows(pa.concat_batches([honest.slice(0, 100), honest.slice(99)]), ONE)


@pytest.mark.long
def test_ended_keys_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 40_000, 5, preset=PRESET).values()
    batch = batch_of(rows)
    cuts = range(0, len(batch), 1_000)
    wanted = check_rows(batch, ONE)
    broker = broker_module.StreamThreadChecker(ONE)
    for start in cuts:
        broker.follow(batch.slice(start, 1_000))
    assert broker.end() == wanted
    keys = set(zip(*(batch.column(name).to_pylist() for name in ("cache", "key_hash")), strict=True))
    assert broker._keys.used[0] < len(keys) - 500
    monkeypatch.setattr("entrycache_spark.checkers.kafka_streams.state.MAX_KEYS", 10)
    with pytest.raises(CheckerGaveUp):
        check_rows(batch, ONE, list(cuts))


def test_a_hash_equal_to_null_is_not_decided(tmp_path: Path) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 300, 5, preset=PRESET).values()
    key = next(row["key_hash"] for row in rows if row["key_hash"] is not None)
    for row in rows:
        if row["key_hash"] == key:
            row["key_hash"] = -(1 << 63)
    with pytest.raises(CheckerGaveUp, match="key_hash"):
        check_rows(batch_of(rows), ONE)
    assert compare_with_windows(plant.write(tmp_path / "trace", rows, system=STREAMS)) == 1
