"""Simulation: recorded settings give the trace again, and other settings give the result of a direct run."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entrycache_cli.main import main
from entrycache_fast import BrokerCache, Row
from entrycache_protocol.errors import UsageError
from entrycache_simulate.configs import complete_config
from entrycache_simulate.retained import buffer_kinds, compute_curve
from entrycache_simulate.run import simulate
from entrycache_trace.files import Metadata, iterate_rows, list_parts, write_rows
from entrycache_trace.generators.generate import generate
from tests.support.simulate.workload import RecordedCache, record_plain_calls, record_random_calls

SMALL: dict[str, Any] = {"max_size_bytes": 120, "watermark": 0.7, "ttl_nanos": 12, "max_requeues": 2}
PLAIN: dict[str, Any] = {"max_size_bytes": 1_000, "watermark": 0.9, "ttl_nanos": 40_000_000, "max_requeues": 5}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"eviction": "manual"},
        {"max_size_bytes": 0},
        {"evict_by_expected_reads": False},
        {"extend_recently_accessed": False, "watermark": 1.0},
    ],
    ids=str,
)
def test_the_own_settings_give_the_trace_again(tmp_path: Path, changes: dict[str, Any]) -> None:
    for seed in range(8):
        out = tmp_path / str(seed)
        run = record_random_calls(seed, out, {**SMALL, **changes})
        simulation = simulate(out, [])
        assert simulation.differences == ()
        assert (simulation.results[0].hits, simulation.results[0].lookups) == (run.hits, run.hits + run.misses)
        assert simulation.results[0].lookups > 100


CHANGES: tuple[dict[str, Any], ...] = (
    {"ttl_nanos": 5_000_000},
    {"ttl_nanos": 400_000_000},
    {"max_size_bytes": 200},
    {"max_size_bytes": 100_000, "extend_recently_accessed": False},
    {"max_requeues": 0, "watermark": 0.5},
)


@pytest.mark.long
def test_other_settings_give_what_they_would_have_given(tmp_path: Path) -> None:
    """Compare with the same calls made directly under each configuration and not from a trace."""
    for seed, recorded in itertools.product((1, 2), (PLAIN, {**PLAIN, "max_size_bytes": 150})):
        out = tmp_path / f"{seed} {recorded['max_size_bytes']}"
        record_plain_calls(seed, out, recorded)
        simulation = simulate(out, [(str(changes), changes) for changes in CHANGES])
        assert simulation.differences == ()
        ratios = set()
        for result, changes in zip(simulation.results[1:], CHANGES, strict=True):
            direct = record_plain_calls(seed, None, {**recorded, **changes})
            assert (result.hits, result.lookups) == (direct.hits, direct.hits + direct.misses)
            ratios.add(result.hits)
        assert len(ratios) > 2


def test_numbers_of_a_small_trace(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", {"max_size_bytes": 100, "watermark": 0.5, "extend_recently_accessed": False})
    for number, size in enumerate((40, 40, 30)):  # the third crosses 98: down to 50 frees 60 or more, 80 are freed
        run.cache.insert("a", 1, number, size)
        run.flush()
        run.now_nanos += 10
    run.cache.get("a", 1, 0)
    run.flush()
    run.cache.get("a", 1, 2)
    run.flush()
    run.close()
    own, roomy = simulate(tmp_path / "t", [("roomy", {"max_size_bytes": 1_000})]).results
    assert (own.lookups, own.hits, own.hit_ratio, own.entries) == (2, 1, 0.5, 3)
    assert own.storage_reads_an_entry == 1 / 3
    assert (own.peak_bytes, own.over_limit_bytes, own.overshoot_bytes) == (110, 10, 20)
    assert (own.evicted_by_size, own.evicted_by_time, own.size_passes) == (2, 0, 1)
    assert own.mean_bytes == (40 * 10 + 80 * 10 + 30 * 10) / 30
    assert (roomy.hits, roomy.peak_bytes, roomy.evicted_by_size) == (2, 110, 0)
    assert roomy.mean_bytes == (40 * 10 + 80 * 10 + 110 * 10) / 30


def test_reads_that_hit_everything_fill_by_the_cursors_that_are_recorded(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", {"max_size_bytes": 1_000})
    run.cache.cursor_add("a", "x", (1, 0))
    run.flush()
    run.cache.insert("a", 1, 0, 10)
    run.flush()
    for _ in range(2):
        run.now_nanos += 1_000
        run.cache.read("a", (1, 0), (1, 0), 1)
        run.flush()
    run.close()
    own, tiny = simulate(tmp_path / "t", [("tiny", {"max_size_bytes": 5})]).results
    assert (own.hits, tiny.hits, tiny.storage_reads) == (2, 0, 2)
    run = RecordedCache(None, {"max_size_bytes": 5})


def test_a_longer_grace_period_caches_what_was_not_wanted(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", {"grace_millis": 1})
    for number, now_millis in enumerate((0, 1)):
        run.now_nanos = now_millis * 1_000_000
        if run.cache.should_cache("a"):
            run.cache.insert("a", 1, number, 10)
        else:
            place: Any = {"cache": "a", "ledger_id": 1, "entry_id": number, "size_bytes": 10}
            run.rows.append(Row("SKIP", "NOT_WANTED", run.now_nanos, run.cache.size_bytes, **place))
        run.flush()
    for number in range(2):
        run.cache.get("a", 1, number)
        run.flush()
    run.close()
    simulation = simulate(tmp_path / "t", [("none", {"grace_millis": 0}), ("longer", {"grace_millis": 2})])
    assert simulation.differences == ()
    assert [result.hits for result in simulation.results] == [1, 0, 2]


def test_recorded_changes_of_settings_are_followed_except_requested_ones(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", {"ttl_nanos": 5, "extend_recently_accessed": False})
    run.cache.insert("a", 1, 0, 10)
    run.flush()
    run.cache.configure(ttl_nanos=50)
    run.flush()
    run.now_nanos = 10
    run.cache.cycle()
    run.flush()
    run.cache.get("a", 1, 0)
    run.flush()
    run.close()
    simulation = simulate(tmp_path / "t", [("same limit", {"max_size_bytes": 100}), ("short", {"ttl_nanos": 4})])
    assert [result.hits for result in simulation.results] == [1, 1, 0]


@pytest.mark.parametrize("preset", ["tail-fanout", "catch-up-fanout"])
def test_generated_traces_are_reproduced(tmp_path: Path, preset: str) -> None:
    generate(preset, 6_000, 3, tmp_path / "t", brokers=4)
    assert simulate(tmp_path / "t", []).differences == ()


def test_without_expected_reads_nothing_is_counted_and_no_read_is_cached(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", {"ttl_nanos": 5, "extend_recently_accessed": False})
    run.cache.insert("a", 1, 0, 10, expected_reads=3)
    run.flush()
    run.cache.read("a", (1, 1), (1, 1), 2)
    run.flush()
    run.now_nanos = 10
    run.cache.cycle()
    run.flush()
    for number in range(2):
        run.cache.get("a", 1, number)
        run.flush()
    run.close()
    own, without = simulate(tmp_path / "t", [("off", {"evict_by_expected_reads": False})]).results
    assert (own.hits, without.hits) == (2, 0)


def falsify(out: Path, op: str, column: str, value: Any) -> None:
    """Change the last row of an op."""
    (part,) = out.glob("broker=*/*.parquet")
    table = pq.read_table(part)
    rows = table.drop_columns(["broker"]).to_pylist() if "broker" in table.column_names else table.to_pylist()
    [row for row in rows if row["op"] == op][-1][column] = value
    schema = pa.schema([field for field in table.schema if field.name != "broker"])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), part)


@pytest.mark.parametrize(
    ("op", "column", "value"),
    [
        ("EVICT", "bytes_after", 3),
        *(
            pytest.param(*change, marks=pytest.mark.long)
            for change in (("HIT", "op", "MISS"), ("HIT", "entry_id", 77), ("INSERT", "size_bytes", 999))
        ),
    ],
)
def test_a_trace_that_its_settings_do_not_give_is_reported(tmp_path: Path, op: str, column: str, value: Any) -> None:
    record_plain_calls(3, tmp_path / "t", PLAIN, 200)
    assert simulate(tmp_path / "t", []).differences == ()
    falsify(tmp_path / "t", op, column, value)
    (line,) = simulate(tmp_path / "t", []).differences
    assert "recorded" in line
    process = command("t", "--no-retained", cwd=tmp_path)
    assert process.returncode == 1
    assert "the trace's own settings do not reproduce it: broker 'one', seq" in process.stderr


def test_copied_entries_retain_what_is_accounted_and_buffers_never_less(tmp_path: Path) -> None:
    record_plain_calls(4, tmp_path / "t", PLAIN, 300)
    simulation = simulate(tmp_path / "t", [])
    for burst in (0, 1_000_000, 50_000_000):
        curve = compute_curve(simulation.brokers, simulation.metadata, buffer_kinds([]), burst, [100, 400, 2_000])
        for point in curve.points:
            assert point.retained_peak[0] == point.accounted_peak
            assert point.retained_mean[0] == pytest.approx(point.accounted_mean)
            assert min(point.retained_peak[1:]) > point.accounted_peak
        assert [point.limit_bytes for point in curve.points] == [100, 400, 2_000]


def command(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "entrycache_cli", "trace", "simulate", *argv]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.long
def test_command(tmp_path: Path) -> None:
    record_plain_calls(5, tmp_path / "t", PLAIN, 200)
    (tmp_path / "a.json").write_text('{"ttl_nanos": 1000000}')
    (tmp_path / "broker.conf").write_text(
        "managedLedgerCacheSizeMB=64\nbrokerAdaptiveRecvByteBufAllocatorMaximumSize=65536\n"
    )
    configs = ["--config", "a.json", "--config", "broker.conf@5.0", "--config", "max_size_bytes=300,watermark=0.5"]
    first = command("t", *configs, "--out", "one", "--json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    output = json.loads(first.stdout)
    assert output["reproduced"] is True
    labels = [config["label"] for config in output["configs"]]
    assert labels == ["as recorded", "a.json", "broker.conf@5.0", "max_size_bytes=300,watermark=0.5"]
    assert output["configs"][2]["config"]["max_size_bytes"] == 64 << 20
    assert output["configs"][2]["config"]["extend_recently_accessed"] is False
    assert output["configs"][3]["config"]["ttl_nanos"] == PLAIN["ttl_nanos"]
    assert output["retained"]["kinds"] == ["copied", "buffers 1024/16384/1048576", "buffers 1024/16384/65536"]
    second = command("t", *configs, "--out", "two", cwd=tmp_path)
    assert "as recorded" in second.stdout
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == ["bytes.svg", "retained.svg", "simulation.json", "simulation.md"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for name in ("bytes.svg", "retained.svg"):
        chart = ET.parse(tmp_path / "one" / name).getroot()
        assert len(chart.findall("{*}polyline")) == len(output["configs"] if name == "bytes.svg" else "123")


MISTAKES = {
    ("nowhere",): "no such folder",
    ("empty",): "no events",
    ("t", "--config", "ttl=5"): "unknown setting 'ttl'",
    ("t", "--config", "ttl_nanos=soon"): "ttl_nanos is 'soon'; expected an integer",
    ("t", "--config", "ttl_nanos=-1"): "ttl_nanos is -1",
    ("t", "--config", "watermark=2"): "expected a number from 0 to 1",
    ("t", "--config", "extend_recently_accessed=1"): "expected true or false",
    ("t", "--config", "eviction=never"): '"inline" or "manual"',
    ("t", "--config", "ttl_nanos=1,ttl_nanos=2"): "given twice",
    ("t", "--config", "ttl_nanos=1,5"): "'5' is no key=value",
    ("t", "--config", "none.json"): "expected key=value, a JSON file, or broker.conf@ERA",
    ("t", "--config", "list.json"): "no JSON object",
    ("t", "--config", "broker.conf"): "a broker.conf is given as broker.conf@ERA",
    ("t", "--config", "broker.conf@7"): "unknown era '7'",
    ("t", "--config", "broker.conf@4.0"): "pulsar-legacy",
    ("t", "--receive-buffers", "1,2"): "expected three sizes",
    ("t", "--receive-buffers", "9,2,3"): "minimum <= initial <= maximum",
    ("t", "--out", "broker.conf"): "cannot write broker.conf/simulation.json",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    inputs = tmp_path_factory.mktemp("mistakes")
    (inputs / "empty").mkdir()
    (inputs / "list.json").write_text("[]")
    (inputs / "broker.conf").write_text("a=b\n")
    record_plain_calls(1, inputs / "t", PLAIN, 20)
    return inputs


@pytest.mark.parametrize("argv", MISTAKES, ids=" ".join)
def test_a_mistake_is_reported_in_one_line(
    folder: Path, argv: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as ended:
        main(args=["trace", "simulate", *argv])
    message = capsys.readouterr().err
    assert (ended.value.code, len(message.splitlines())) == (2, 1), message
    assert MISTAKES[argv] in message


@pytest.mark.parametrize(
    ("change", "message_part"),
    [
        ({"system": "kafka-streams"}, "only pulsar-pip430"),
        ({"sampling": "1 in 8"}, "sampled"),
    ],
)
def test_traces_that_cannot_be_simulated(tmp_path: Path, change: dict[str, Any], message_part: str) -> None:
    RecordedCache(tmp_path / "t", PLAIN, **change).close()
    with pytest.raises(UsageError, match=message_part):
        simulate(tmp_path / "t", [])


def test_a_trace_that_begins_with_entries_cannot_be_simulated(tmp_path: Path) -> None:
    run = RecordedCache(tmp_path / "t", PLAIN)
    assert run.recorder is not None
    run.recorder.call([Row("SNAPSHOT", "OPEN", 0, 0)])
    run.close()
    with pytest.raises(UsageError, match="entries were cached when the trace began"):
        simulate(tmp_path / "t", [])


def rows_of(out: Path) -> list[dict[str, Any]]:
    """Return the rows of a small recording, to be changed and written anew."""
    record_plain_calls(1, out, PLAIN, 20)
    return list(iterate_rows(list_parts(out)))


def change(first: str, **columns: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Change the first row of an op."""
    return lambda rows: next(row for row in rows if row["op"] == first).update(columns)


HOSTILE: dict[str, tuple[Callable[[list[dict[str, Any]]], None], str]] = {
    "no cache": (change("INSERT", cache=None), "INSERT without cache"),
    "no entry": (change("HIT", entry_id=None), "HIT without entry_id"),
    "no bound": (change("PASS_BEGIN", bound=None), "PASS_BEGIN without bound"),
    "time goes back": (lambda rows: rows[-1].update(ts_ns=-5), "time goes back"),
    "negative size": (change("INSERT", size_bytes=-5), "the call cannot be made again"),
    "young pass": (change("PASS_BEGIN", origin="CALL", bound=1 << 60), "the call cannot be made again"),
    "no first CONFIG": (lambda rows: rows[0].update(op="METRICS"), "the first event is no CONFIG"),
    "CONFIG of nothing": (change("CONFIG", value=None), "no JSON object"),
    "CONFIG of a list": (change("CONFIG", value="[]"), "no JSON object"),
    "CONFIG of words": (change("CONFIG", value='{"ttl_nanos": "long"}'), "ttl_nanos is 'long'; expected an integer"),
    "a later CONFIG": (change("END", op="CONFIG", value="{"), "CONFIG is no JSON object"),
    "a later limit": (change("END", op="CONFIG", value='{"watermark": 7}'), "watermark is 7; expected"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_senseless_trace_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    rows = rows_of(tmp_path / "right")
    spoil, message_part = HOSTILE[name]
    spoil(rows)
    write_rows(tmp_path / "wrong", Metadata(), rows)
    with pytest.raises(UsageError) as message:
        simulate(tmp_path / "wrong", [])
    assert message_part in str(message.value)
    assert "\n" not in str(message.value)


OTHERS = {"storage", "clock", "on_row", "requeue_budget"}
"""The parameters of the fast cache besides its configuration."""


def test_each_key_of_a_configuration_is_a_setting_of_the_fast_cache() -> None:
    cache = BrokerCache(**complete_config({"max_size_bytes": 77, "ttl_nanos": 5}, "here"))
    assert cache.max_size_bytes == 77
    settings = {name for name in signature(BrokerCache).parameters if name not in OTHERS}
    assert settings == complete_config({}, "here").keys()
