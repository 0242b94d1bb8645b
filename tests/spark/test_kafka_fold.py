"""What the fold of `kafka-streams` calls clean is clean to the windows, and no ground is there for nothing."""

from __future__ import annotations

import random
from collections.abc import Set
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_spark.checkers.kafka_streams import broker as folds
from entrycache_spark.checkers.kafka_streams.events import check_events
from entrycache_spark.checkers.kafka_streams.rows import SUFFICIENT_CONDITIONS
from entrycache_spark.common.rule_files import all_rules, shared_view
from entrycache_spark.common.system import CheckerGaveUp, CheckerResult
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_spark.plan import Windows
from entrycache_spark.survey import survey_brokers
from entrycache_spark.systems.kafka_streams import COLUMNS as KAFKA_COLUMNS
from entrycache_trace.files import Metadata, list_parts, read_metadata
from tests.spark.test_fold import by_broker
from tests.spark.test_kafka_random import PRESET, random_traces
from tests.spark.test_kafka_twins import told, told_from_outside
from tests.support.traces import plant
from tests.support.traces.folded import alike, batch_of, cut_anywhere, folded

ONE = Metadata(system=STREAMS, threads="one")
ALL = frozenset(SUFFICIENT_CONDITIONS[:-1])
"""All sufficient_conditions but `writes_hold`, by which the fold itself decides K-PUT-1."""


class Story(NamedTuple):
    """The events of one broker, and the rules that they break."""

    name: str
    batch: pa.RecordBatch
    broken: set[str]


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    """Each story and twin, as we record them and as somebody else would."""
    found = []
    for rows, wanted in (told(), told_from_outside()):
        for name, own in by_broker(rows).items():
            found.append(Story(name, batch_of(own), {rule for broker, rule, _ in wanted if broker == name}))
    return found


def settled_by(sufficient_conditions: Set[str]) -> set[str]:
    return {rule.id for rule in all_rules(STREAMS) if rule.holds(sufficient_conditions)}


def clean_in(own: CheckerResult, *more: str) -> set[str]:
    """The rules of which it tells that nothing breaks them; `more`: sufficient_conditions that are taken to hold."""
    return (
        settled_by(own.sufficient_conditions | set(more))
        | own.clean
        | ({"K-PUT-1"} if "writes_hold" in more else set())
    )


def told_by_the_view(trace: Path) -> dict[str, frozenset[str]]:
    """The sufficient_conditions that hold of each broker that begins empty and misses nothing, as the view `sufficient` tells them."""
    metadata = read_metadata(trace)
    engine = DuckDbBackend(list_parts(trace, KAFKA_COLUMNS), columns=KAFKA_COLUMNS)
    brokers = survey_brokers(engine, metadata, all_rules(STREAMS))
    Windows(engine, brokers, metadata).open(
        [own for own in brokers if own.starts and not own.opened and not own.gapped]
    )
    engine.define("sufficient", shared_view(STREAMS, "sufficient"))
    found = engine.rows(f"select broker, {', '.join(sorted(ALL))} from sufficient")
    engine.close()
    return {
        broker: frozenset(name for name, held in zip(sorted(ALL), own, strict=True) if held) for broker, *own in found
    }


def apart(rows: list[plant.Row], folder: Path) -> tuple[dict[str, set[str]], int]:
    """The rules that only one of the fold and the view settles, by broker; and how many are settled in all."""
    view = told_by_the_view(plant.write(folder, rows, system=STREAMS))
    owned = {name: sorted(own, key=itemgetter("seq")) for name, own in by_broker(rows).items() if name in view}
    found = {name: settled_by(folded(batch_of(own), ONE).sufficient_conditions) for name, own in owned.items()}
    said = {name: own ^ settled_by(view[name]) for name, own in found.items()}
    return {name: own for name, own in said.items() if own}, sum(map(len, found.values()))


def test_it_settles_what_the_view_does(tmp_path: Path) -> None:
    for number, rows in enumerate((told()[0], told_from_outside()[0])):
        differing, held = apart(rows, tmp_path / f"{number}")
        assert not differing
        assert held > 1_000


def test_what_is_planted_is_not_clean(stories: list[Story]) -> None:
    rules = {rule.id for rule in all_rules(STREAMS)}
    assert clean_in(CheckerResult(*[0] * 10, (), frozenset({"K-PUT-1"}), ALL)) == rules
    for name, batch, broken in stories:
        assert not clean_in(folded(batch, ONE)) & broken, name
    assert len(check_events.signatures) == 1


@pytest.mark.parametrize("ground", SUFFICIENT_CONDITIONS)
def test_a_ground_that_always_held_would_be_missed(ground: str, stories: list[Story]) -> None:
    """Some story breaks this ground alone: rules that are planted there would be called clean."""
    assert any(clean_in(folded(batch, ONE), ground) & broken for _, batch, broken in stories)


def test_batches_may_be_cut_anywhere(stories: list[Story]) -> None:
    chance = random.Random("cuts")
    for name, batch, _ in stories:
        assert cut_anywhere(batch, ONE, chance), name


@pytest.mark.parametrize(("first", "traces"), [(0, 16), pytest.param(1_000, 400, marks=pytest.mark.long)])
def test_random_traces_are_found_as_by_the_windows(tmp_path: Path, first: int, traces: int) -> None:
    for start in range(first, first + traces, 16):
        rows = random_traces(tmp_path / f"{start}", range(start, start + 16))
        assert not apart(rows, tmp_path / f"sufficient_conditions-{start}")[0]
        for threads in ("one", "many"):
            trace = plant.write(tmp_path / f"trace-{start}-{threads}", rows, system=STREAMS, threads=threads)
            assert alike(trace) == 16


def test_an_honest_trace_is_clean_and_what_lacks_a_part_is_not(tmp_path: Path) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 6_000, 11, preset=PRESET).values()
    honest = batch_of(rows)
    own = folded(honest, ONE)
    assert own.sufficient_conditions >= ALL
    assert own.clean == {"K-PUT-1"}
    assert (own.starts, own.ended, own.opened, own.unread) == (True, True, False, False)
    assert sum(kind.events for kind in own.kinds) == len(rows)
    for lacking in (honest.slice(1), pa.concat_batches([honest.slice(0, 99), honest.slice(100)])):
        assert folded(lacking, ONE).sufficient_conditions == frozenset()
    with pytest.raises(CheckerGaveUp, match="there twice"):
        folded(pa.concat_batches([honest.slice(0, 100), honest.slice(99)]), ONE)


def test_keys_that_have_ended_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 40_000, 5, preset=PRESET).values()
    batch = batch_of(rows)
    cuts = range(0, len(batch), 1_000)
    wanted = folded(batch, ONE)
    broker = folds.StreamThreadChecker(ONE)
    for start in cuts:
        broker.follow(batch.slice(start, 1_000))
    assert broker.end() == wanted
    keys = set(zip(*(batch.column(name).to_pylist() for name in ("cache", "key_hash")), strict=True))
    assert broker._keys.used[0] < len(keys) - 500
    monkeypatch.setattr("entrycache_spark.checkers.kafka_streams.state.MAX_KEYS", 10)
    with pytest.raises(CheckerGaveUp):
        folded(batch, ONE, list(cuts))


def test_a_hash_that_stands_for_null_is_not_decided(tmp_path: Path) -> None:
    (rows,) = plant.honest(tmp_path / "honest", 300, 5, preset=PRESET).values()
    key = next(row["key_hash"] for row in rows if row["key_hash"] is not None)
    for row in rows:
        if row["key_hash"] == key:
            row["key_hash"] = -(1 << 63)
    with pytest.raises(CheckerGaveUp, match="key_hash"):
        folded(batch_of(rows), ONE)
    assert alike(plant.write(tmp_path / "trace", rows, system=STREAMS)) == 1
