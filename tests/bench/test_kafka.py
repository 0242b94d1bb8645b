"""The benchmarks of `kafka-streams` measure what they claim; no test checks a target."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from entrycache_conformance.java.releases import newest_release
from entrycache_dev.bench.kafka_streams import (
    JVM,
    PlayedStreams,
    StreamsMix,
    make_streams_mix,
    play_fast,
    play_mapping,
    released_cache,
)
from entrycache_dev.bench.kafka_streams import measure_streams_at as streams_at
from entrycache_dev.bench.measurement import Measurement
from entrycache_dev.bench.page import render_page
from entrycache_dev.bench.result import BenchResult, StreamsResult, read_result
from entrycache_protocol.errors import BrokenSubject, MissingPrerequisite, UsageError
from tests.support.command import run

MIX = make_streams_mix(5_000, 100)


def test_every_side_plays_the_same_mix_under_the_same_bound() -> None:
    cachetools = pytest.importorskip("cachetools")
    clean, dirty = play_fast(MIX), play_fast(MIX, dirty=True)
    mapping = play_mapping(MIX, cachetools.LRUCache(100))
    assert clean.hits == dirty.hits == mapping.hits > 0
    assert clean.handed == 0
    puts = sum(puts for puts, _ in MIX.measured)
    assert puts - 100 <= dirty.handed <= puts + 100


@pytest.mark.long
def test_the_released_cache_agrees() -> None:
    try:
        with released_cache(newest_release("kafka-streams").version, MIX) as play:
            clean, dirty = play(False), play(True)
            seconds = sum(play(False).seconds for _ in range(40))  # its clock steps by 10 ms
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    assert clean.hits == dirty.hits == play_fast(MIX).hits
    assert (clean.handed, dirty.handed) == (0, play_fast(MIX, dirty=True).handed)
    assert seconds > 0


@contextmanager
def in_no_time(version: str, mix: StreamsMix) -> Iterator[Callable[[bool], PlayedStreams]]:
    """Yield a JVM whose clock does not advance."""
    yield lambda dirty: PlayedStreams(0.0, 1)


@pytest.mark.long
def test_what_the_clock_does_not_see_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("cachetools")
    monkeypatch.setattr("entrycache_dev.bench.kafka_streams.released_cache", in_no_time)
    monkeypatch.setattr("entrycache_dev.bench.kafka_streams.LIVE", (50,))
    rest = tmp_path / "rest.json"
    rest.write_text(json.dumps(BenchResult(1, 1_000, "CPython 3.11", 2, [], []).to_json()), "utf-8")
    code, out, err = run(
        capsys, "bench", "--from", str(rest), "--operations", "1000", "--rounds", "1", "--streams", "4.3.1"
    )
    assert (code, out) == (2, "")
    assert err == "entrycache: ThreadCache was over before the clock went on; give more with --operations\n"


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises((UsageError, MissingPrerequisite, BrokenSubject)), released_cache("0.0.1", MIX):
        pass


@pytest.mark.long
def test_without_a_jvm_there_are_two_ratios() -> None:
    pytest.importorskip("cachetools")
    measurements = streams_at(1, 2_000, 50, None)
    assert [item.what.split(",")[0] for item in measurements] == ["fast", "fast"]
    assert all(item.value > 0 and JVM not in item.what for item in measurements)


def test_the_page_has_a_part_and_its_file_comes_back(tmp_path: Path) -> None:
    part = StreamsResult(3, 1_000, [Measurement("fast, times another", 0.5, "", note="why")], "4.3.1", 2.0)
    result = BenchResult(3, 1_000, "CPython 3.11", 2, [], [], streams=part)
    text = render_page(result, "numbers.svg")
    assert "## Kafka Streams" in text
    assert "| fast, times another | 0.50 | why |" in text
    assert "## Kafka Streams" not in render_page(dataclasses.replace(result, streams=None), "numbers.svg")
    file = tmp_path / "numbers.json"

    file.write_text(json.dumps(result.to_json()), encoding="utf-8")
    assert read_result(file) == result
