"""Input that is too large, too deep or not a plain file is refused at once in one line; no command waits for a pipe."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import read_lines, read_text
from tests.support.files.kinds import KINDS
from tests.support.files.runs import ended, wrong
from tests.support.files.traces import EVENT_LINES, events, honest
from tests.support.traces import plant

CPU_SECONDS_MOST: Final = 5
GROWTH_MB_MOST: Final = 300


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


SPECIAL: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "a pipe": (os.mkfifo, "it is a pipe; expected a file"),
    "a socket": (_socket, "it is a socket; expected a file"),
    "a folder": (Path.mkdir, "Is a directory; expected a file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device; expected a file"),
    "a file of /proc": (
        lambda path: path.symlink_to("/proc/self/pagemap"),
        "it has content and no size, as files below",
    ),
    "nothing": (lambda path: None, "No such file"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "symbolic links"),
}


OTHERWISE: Final = ("no records", "no such folder", "is a directory", "No such file")
"""Other messages: click's about a file, and those of a command whose file stands in a folder."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("kind", [*KINDS, EVENT_LINES], ids=lambda kind: kind.name)
def test_what_is_no_file_is_refused(kind: Any, special: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("in", kind.name)
    path.parent.mkdir()
    make, said = SPECIAL[special]
    make(path)
    for reader in kind.readers:
        end = reader(path)
        if special == "a folder" and kind is EVENT_LINES:  # a folder is a trace
            continue
        if end.code == 0 and special in {"nothing", "a link to itself"}:  # a folder of which this would be one file
            assert kind.name == "case.json"
            continue
        assert wrong(end, path) == "", end
        assert (end.code, end.out) == (2, "")
        assert said in end.err or any(other in end.err for other in OTHERWISE), end.err


class Waits(io.BytesIO):
    """A special file whose reader would wait for ever; opened without waiting, it gives neither bytes nor an end."""

    def read(self, *_: Any) -> Any:
        return None

    readline = read


def test_what_would_wait_is_no_end_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("entrycache_protocol.files._open_file", lambda path, what: Waits())
    for read in (read_text, lambda path, what: list(read_lines(path, what))):
        with pytest.raises(UsageError, match="cannot read the case x: a reader would have to wait"):
            read(Path("x"), "the case")


def _case(steps: list[Any], **config: Any) -> str:
    return json.dumps({"system": "pulsar-pip430", "config": config, "steps": steps})


def _insert(at: int, **more: Any) -> dict[str, Any]:
    return {"op": "insert", "cache": "a", "pos": [1, at], "size": 1, **more}


READ: Final = {"op": "read", "cache": "a", "first": [1, 0], "last": [1, 10**9], "expected_reads": 0}
REQUEUED: Final = [*(_insert(at, expected_reads=1) for at in range(9)), {"op": "evict", "bytes": 9}]
REPLAY: Final = ("replay", "FILE", "fast")
SETTINGS: Final = ("settings", "--broker-conf", "FILE", "--era", "5.0")
CONVERT: Final = ("trace", "convert", "FILE", "new")

TOO_MUCH: Final[dict[str, tuple[tuple[str, ...], Callable[[], str], str]]] = {
    "a read of 10^9 positions": (REPLAY, lambda: _case([READ]), "may copy"),
    "2^31 - 1 requeues": (REPLAY, lambda: _case(REQUEUED, max_requeues=2**31 - 1), "may copy"),
    "requeues set later": (
        REPLAY, lambda: _case([{"op": "configure", "max_requeues": 2**31 - 1}, *REQUEUED]), "may copy"),
    "30,000 steps": (REPLAY, lambda: _case([_insert(at) for at in range(30_000)]), "has 30000 steps; expected 10000"),
    "10,000 entries": (REPLAY, lambda: _case([_insert(at) for at in range(10_000)]), "may copy 50015000 entries"),
    "a history of many steps": (
        ("replay", "FILE", "fast"),
        lambda: json.dumps({"system": "kafka-streams", "clients": [[{"op": "usage"}] * 6_000] * 2}),
        "there are 12000 steps; expected 10000"),
    "JSON 10^5 deep": (REPLAY, lambda: "[" * 100_000 + "]" * 100_000, "more than 100 deep"),
    "JSON 150 deep": (REPLAY, lambda: "[" * 150 + "]" * 150, "more than 100 deep"),
    "a number of 5,000 digits": (REPLAY, lambda: "9" * 5_000, "more than 64 bits"),
    "a case of 17 MB": (REPLAY, lambda: " " * 17_000_000, "more than 16777216 bytes"),
    "10^5 lines that go on": (SETTINGS, lambda: "a=b\\\n" * 100_000, "goes on for more than 1000 lines"),
    "a broker.conf of 2 MB": (SETTINGS, lambda: "#" * 2_000_000, "more than 1048576 bytes"),
    "a line of 100 MB": (CONVERT, lambda: "x" * 100_000_000, "line 1: more than 1048576 bytes"),
    "a broker with a name of 249 bytes": (
        CONVERT, lambda: events()[0].replace('"broker": "b"', f'"broker": "{"x" * 249}"'), "line 1: the broker's name"),
    "an event 10^4 deep": (CONVERT, lambda: "[" * 10_000 + "\n", "more than 100 deep"),
}  # fmt: skip


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_is_too_much_is_refused_at_once(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    argv, text, said = TOO_MUCH[what]
    path = Path("file.any")
    path.write_text(text())
    del text
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = ended([str(path) if word == "FILE" else word for word in argv])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert wrong(end, path) == "", end
    assert end.code == 2
    assert said in end.err
    assert end.cpu_seconds < CPU_SECONDS_MOST
    assert grown < GROWTH_MB_MOST


def test_what_is_large_and_allowed_is_read(tmp_path: Path) -> None:
    for name, text in {
        "many steps": _case([_insert(at % 100) for at in range(10_000)]),
        "a wide read": _case([{**READ, "last": [1, 999]}]),
        "requeues within the limit": _case(REQUEUED, max_requeues=1_000),
    }.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text)
        end = ended(["replay", str(path), "fast"])
        assert (end.code, end.err) == (0, ""), name
        assert end.cpu_seconds < 2 * CPU_SECONDS_MOST
    conf = tmp_path / "broker.conf"
    conf.write_text("a=b\\\n" * 900 + "x\n" + "".join(f"some.setting.{at}={at}\n" for at in range(600)))
    assert ended(["settings", "--broker-conf", str(conf), "--era", "5.0"]).code == 0


LONG: Final = "x" * (1 << 20)


def _plain(table: pa.Table, path: Path) -> None:
    """Write many bytes that compress well."""
    rows = table.slice(0, 50)
    rows = rows.set_column(rows.column_names.index("value"), "value", pa.array([LONG * 2] * 50))
    pq.write_table(rows, path, compression="zstd", use_dictionary=False)


def _repeated(table: pa.Table, path: Path) -> None:
    """Write one long text that stands in many rows."""
    rows = pa.concat_tables([table] * 8)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * len(rows), pa.int32()), pa.array([LONG]))
    pq.write_table(rows.set_column(rows.column_names.index("cause"), "cause", texts), path)


def _write_many(part: Path, table: pa.Table, rows: int) -> None:
    """Write a trace of one event many times; a megabyte holds as many rows as one likes."""
    again = {field.name: pa.repeat(table[field.name][1], rows) for field in table.schema if field.name != "seq"}
    pq.write_table(
        pa.table({"seq": pa.array(range(rows), table.schema.field("seq").type), **again}).select(table.column_names),
        part,
        use_dictionary=list(again),
        column_encoding={"seq": "DELTA_BINARY_PACKED"},
        compression="zstd",
    )


def _folder(part_of: Callable[[Path, pa.Table], object]) -> Path:
    """Make a trace of one part; return the part."""
    table, about = honest("tail-fanout")
    Path("t/broker=b").mkdir(parents=True)
    Path("t/_entrycache.json").write_bytes(about)
    part = Path("t/broker=b/part.parquet")
    part_of(part, table)
    return part


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "argv",
    [
        "trace inspect t",
        "trace check t",
        "trace convert t t.jsonl",
        "trace simulate t",
        "audit t --backend replay",
        "audit t --backend local --rules R-STATE-1",
    ],
)
def test_three_gigabytes_in_one_megabyte_are_read_in_bounded_memory_or_refused(
    argv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    part = _folder(lambda part, table: _write_many(part, table, 13_000_000))
    assert part.stat().st_size < 3 << 20
    limits = "import resource, sys; from entrycache_cli.main import main; main(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", limits, *argv.split()], capture_output=True, text=True, check=False)
    grown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert done.returncode in {0, 1, 2}, done.stderr
    assert len(done.stderr.splitlines()) == (done.returncode == 2)
    assert grown < 4_500


def _settings(table: pa.Table, seqs: Sequence[int]) -> pa.Table:
    """Write the CONFIG event of a trace many times."""
    rows = pa.concat_tables([table.slice(0, 1)] * len(seqs))
    field = rows.schema.field("seq")
    return rows.set_column(rows.column_names.index("seq"), field, pa.array(seqs, field.type))


def test_a_trace_of_settings_alone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("entrycache_spark.survey.MAX_CONFIGS", 100)
    part = _folder(lambda part, table: pq.write_table(_settings(table, range(101)), part))
    end = ended(["audit", "t", "--backend", "local", "--rules", "R-STATE-1"])
    assert (wrong(end, part.parent.parent), end.code) == ("", 2)
    assert "more than 100 events are CONFIG" in end.err


def test_settings_far_apart_take_no_more_than_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _folder(lambda part, table: pq.write_table(_settings(table, [*range(9), 2**53 - 1]), part))
    end = ended(["audit", "t", "--backend", "local", "--rules", "R-STATE-1", "--json"])
    assert (end.code, json.loads(end.out)["rules"]) == (2, {"R-STATE-1": "nothing-checked"})
    assert end.cpu_seconds < CPU_SECONDS_MOST


@pytest.mark.long
def test_of_many_violations_the_first_are_reported_and_the_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Report that a rule is broken, although there is no room for any of its violations."""
    rows = plant.honest(tmp_path / "honest", 300, 1)["broker-0"]
    plant.wrong_tickets(rows, random.Random(1))
    plant.write(tmp_path / "wrong", rows)
    verdicts, rows_reported = {}, {}
    for most in (100_000, 0):
        monkeypatch.setattr("entrycache_spark.plan.MAX_REPORTED", most)
        end = ended(["audit", str(tmp_path / "wrong"), "--backend", "local", "--out", str(tmp_path / "out"), "--json"])
        verdicts[most] = json.loads(end.out)["rules"]
        rows_reported[most] = pq.read_metadata(tmp_path / "out/violations.parquet").num_rows
    broken = {rule for rule, verdict in verdicts[100_000].items() if verdict == "violates"}
    assert "R-EVICT-8" in broken
    assert {verdicts[0][rule] for rule in broken} == {"inconclusive"}
    assert rows_reported[100_000] > rows_reported[0] == 0


BOMBS: Final = {
    "long texts": (_plain, "bytes a row at most"),
    "a text again and again": (_repeated, "the texts of column cause"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize(
    "argv", [("trace", "inspect", "t"), ("audit", "t", "--backend", "local"), ("audit", "t", "--backend", "replay")],
    ids=" ".join,
)  # fmt: skip
def test_a_small_part_that_would_become_large_is_refused(
    bomb: str, argv: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, about = honest("tail-fanout")
    Path("t/broker=b").mkdir(parents=True)
    Path("t/_entrycache.json").write_bytes(about)
    part = Path("t/broker=b/part.parquet")
    make, said = BOMBS[bomb]
    make(table, part)
    assert part.stat().st_size < 1 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = ended(list(argv))
    assert (wrong(end, part), end.code) == ("", 2), end
    assert said in end.err
    assert end.cpu_seconds < CPU_SECONDS_MOST
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10 < GROWTH_MB_MOST
