"""The recorder's jar without a broker: what it counts, what it writes, what it drops."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.brokers.jars import build_recorder_jar
from entrycache_conformance.java.driver import jar_under_test, java_test_classpath
from entrycache_conformance.java.program import Program, compile_sources
from entrycache_protocol.errors import UsageError
from entrycache_trace.convert import convert, convert_recording
from entrycache_trace.files import list_parts, read_broker, read_jsonl, read_metadata
from entrycache_trace.schema import ROW_COLUMNS
from tests.support.jvm.driver import SUBJECT

BROKER = "b r\u00f6=k"
QUEUE = "org/apache/bookkeeper/mledger/impl/cache/RangeCacheRemovalQueue.class"


@pytest.fixture(scope="module")
def sample(released: list[str], tmp_path_factory: pytest.TempPathFactory) -> Program:
    tools = java_test_classpath(SUBJECT)
    source = Path(__file__).with_name("RecorderSample.java")
    return compile_sources(
        [source], tools._replace(classpath=str(build_recorder_jar())), tmp_path_factory.mktemp("sample")
    )


def _written(sample: Program, folder: Path, *arguments: str) -> list[dict[str, Any]]:
    sample.run("entrycache.recorder.RecorderSample", folder, *arguments).check_returncode()
    parts = sorted(folder.glob("broker=*/part-*.jsonl"))
    return [row for part in parts for row in read_jsonl(part)]


def test_every_column_of_every_op_is_a_row_of_the_schema(sample: Program, tmp_path: Path) -> None:
    rows = _written(sample, tmp_path / "t", "all")
    assert {name for row in rows for name in row} == {"broker", *ROW_COLUMNS}
    assert {row["cache"] for row in rows if "cache" in row} == {'q"uote\\ \n \u20ac \U0001f600'}
    assert (rows[0]["key_hash"], rows[0]["requeues"], rows[0]["accessed"], rows[0]["dirty"]) == (
        -(1 << 52),
        -5,
        True,
        False,
    )
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert convert_recording(tmp_path / "t", tmp_path / "p") == len(rows)
    written = read_broker(list_parts(tmp_path / "p")).to_pylist()
    assert [
        {name: value for name, value in row.items() if value is not None} | {"broker": BROKER} for row in written
    ] == rows


def test_parts_end_where_they_are_full_and_nothing_is_lost(sample: Program, tmp_path: Path) -> None:
    rows = _written(sample, tmp_path / "t", "many", "10000")
    assert [row["seq"] for row in rows] == list(range(10_001))
    assert len(list((tmp_path / "t").glob("broker=*/part-*.jsonl"))) == 4
    assert convert(tmp_path / "t", tmp_path / "p") == 10_001
    assert read_metadata(tmp_path / "p").threads == "many"


def test_rows_that_were_dropped_are_said_to_be_missing(sample: Program, tmp_path: Path) -> None:
    rows = _written(sample, tmp_path / "t", "drop", "20000")
    there = {row["seq"] for row in rows}
    message = json.loads((tmp_path / "t" / "_entrycache.json").read_text())["recorder"]
    missing = {seq for each in message["missing"] for seq in range(each["first"], each["last"] + 1)}
    assert missing
    assert not missing & there
    assert missing | there == set(range(20_101))
    assert message["state"] == "ended"
    assert message["rows"] == len(rows)


def test_a_line_that_was_cut_is_left_out(sample: Program, tmp_path: Path) -> None:
    _written(sample, tmp_path / "t", "many", "50")
    part = next((tmp_path / "t").glob("broker=*/part-*.jsonl"))
    part.write_bytes(part.read_bytes()[:-20])
    assert convert_recording(tmp_path / "t", tmp_path / "p") == 50


@pytest.mark.parametrize(
    ("from_", "to", "message"),
    [
        (b'"ts_ns":', b'"ts_nx":', "ts_ns is missing"),
        (b'"ledger_id":1', b'"ledger_id":1.5', "cannot be read"),
        (b'"ledger_id":1', b'"ledger_id":9223372036854775807', "ledger_id has values"),
        (b'{"broker":"b ', b'{"broker":"c ', "several brokers"),
    ],
)
def test_a_row_that_is_none_is_refused(sample: Program, tmp_path: Path, from_: bytes, to: bytes, message: str) -> None:
    _written(sample, tmp_path / "t", "many", "50")
    part = next((tmp_path / "t").glob("broker=*/part-*.jsonl"))
    head, _, rest = part.read_bytes().partition(b"\n")
    part.write_bytes(head + b"\n" + rest.replace(from_, to, 1))
    with pytest.raises(UsageError, match=message):
        convert_recording(tmp_path / "t", tmp_path / "p")


def _counted(java: str, *jars: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([java, "-jar", build_recorder_jar(), *jars], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def other(released: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the released jar with another method, which no queue has, in place of the insertion of new slots."""
    changed = tmp_path_factory.mktemp("other") / "managed-ledger.jar"
    with zipfile.ZipFile(jar_under_test(SUBJECT)) as jar, zipfile.ZipFile(changed, "w") as out:
        for name in jar.namelist():
            content = jar.read(name)
            out.writestr(name, content.replace(b"\x00\x05offer", b"\x00\x05offex") if name == QUEUE else content)
    return changed


@pytest.mark.long
def test_sites_are_counted(released: list[str], other: Path) -> None:
    java = java_test_classpath(SUBJECT).java
    fits = _counted(java, jar_under_test(SUBJECT))
    assert (fits.returncode, fits.stdout) == (0, "fits pulsar-4.2.4\n")
    kafka = [_counted(java, jar_under_test(subject)) for subject in ("kafka-streams:4.3.1", "kafka-streams:3.9.2")]
    assert [each.stdout for each in kafka] == ["fits kafka-streams-4.3.1\n"] * 2
    differs = _counted(java, other)
    assert differs.returncode == 4
    assert "RangeCacheRemovalQueue.addEntry, call MpscUnboundedArrayQueue.offer: 0 times, expected 1" in differs.stdout


@pytest.mark.parametrize("there", [True, False])
def test_a_broker_of_another_make_runs_unrecorded(sample: Program, other: Path, tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "trace"
    classpath = f"{sample.classpath}:{other if there else tmp_path}"
    program = sample._replace(classpath=classpath)
    agent = f"-javaagent:{build_recorder_jar()}={folder}"
    done = program.run("entrycache.recorder.RecorderSample", tmp_path / "t", "many", "10", options=[agent])
    assert done.returncode == 0
    nearest = "pulsar-4.2.4" if there else "kafka-streams-4.3.1"
    assert done.stderr.startswith(f"entrycache recorder: {nearest}: ")
    assert done.stderr.endswith("; nothing is recorded\n")
    assert json.loads((folder / "_entrycache.json").read_text())["recorder"]["state"] == "refused"
    with pytest.raises(UsageError, match=f"nothing was recorded: {nearest}"):
        convert(folder, tmp_path / "p")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "no folder was given"),
        ("DIR,full=wait", "full=wait; expected block or drop"),
    ],
)
def test_wrong_options_are_one_line_and_the_broker_starts(
    sample: Program, tmp_path: Path, options: str, message: str
) -> None:
    agent = f"-javaagent:{build_recorder_jar()}={options.replace('DIR', str(tmp_path / 'd'))}"
    done = sample.run("entrycache.recorder.RecorderSample", tmp_path / "t", "many", "10", options=[agent])
    assert done.returncode == 0
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
