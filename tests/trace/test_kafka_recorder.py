"""The recorder of `kafka-streams` numbers lives and calls, hashes keys and adds up sizes as the format says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entrycache_cli.commands.kafka_recording import PLAYERS
from entrycache_cli.commands.record import record
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_fast.kafka import Row, ThreadCache
from entrycache_protocol.case import read_case
from entrycache_protocol.errors import UsageError
from entrycache_reference.kafka_streams import NAME as STREAMS
from entrycache_spark.check import check_trace
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, PartWriter, iterate_rows, list_parts, write_metadata
from entrycache_trace.formats.kafka_streams import Recorder as StreamRecorder
from entrycache_trace.formats.kafka_streams import key_hash
from entrycache_trace.generators.generate import generate

CASE = {
    "system": "kafka-streams",
    "config": {"max_size_bytes": 150},
    "steps": [
        {"op": "listen", "ns": "a", "on_flush": [{"op": "put", "ns": "b", "key": "z", "value": "1"}], "fails": 1},
        *({"op": "put", "ns": "a", "key": key, "value": "v", "dirty": True} for key in "klmn"),
        {"op": "get", "ns": "a", "key": "k"},
        {"op": "put", "ns": "a", "key": "n", "value": "clean"},
        {"op": "metrics"},
        {"op": "metrics", "ns": "a"},
        {"op": "put", "ns": "a", "key": "o", "value": None, "dirty": True},
        {"op": "flush", "ns": "a"},
        {"op": "resize", "max_size_bytes": 60},
        {"op": "put", "ns": "c", "key": "n", "value": "v"},
        {"op": "clear", "ns": "c"},
        {"op": "close", "ns": "a"},
        {"op": "metrics"},
    ],
}


STORES = {
    "system": "kafka-streams",
    "config": {"max_size_bytes": 10_000},
    "steps": [
        {"op": "store_open", "store": "w", "kind": "session", "old_values": True, "retention": 100},
        {"op": "session_put", "store": "w", "key": "k", "start": 1, "end": 5, "value": "1"},
        {"op": "store_flush", "store": "w"},
        {"op": "session_remove", "store": "w", "key": "k", "start": 1, "end": 5},
        {"op": "session_put", "store": "w", "key": "l", "start": 2, "end": 7, "value": "2"},
        {"op": "session_view", "store": "w", "from": None, "backward": True},
        {"op": "view_open", "view": "v", "store": "w", "from": None},
        {"op": "store_flush", "store": "w"},
        {"op": "view_next", "view": "v"},
        {"op": "store_close", "store": "w"},
    ],
}


@pytest.mark.parametrize("subject", ["reference", "fast"])
def test_rows_of_a_store(tmp_path: Path, subject: str) -> None:
    """Each entry is written below and forwarded with its hashes; entries of a view name it, also in a later call."""
    (tmp_path / "case.json").write_text(json.dumps(STORES))
    case = read_case(tmp_path / "case.json", SYSTEMS)
    record(resolve_subject(SubjectChoice(subject, system=STREAMS)), case, tmp_path / "trace", PLAYERS)
    rows = list(iterate_rows(list_parts(tmp_path / "trace")))
    k, m = key_hash("k@1-5"), key_hash("l@2-7")
    assert [(row["op"], row["cause"], row["key_hash"]) for row in rows if row["op"] not in ("CACHE_OPEN", "HIT")] == [
        *(("CONFIG", None, None), ("STORE_OPEN", None, None), ("PUT", "VALUE", k)),
        *(("FLUSH", "CALL", k), ("BELOW", "PUT", k), ("FORWARD", "VALUE", k)),
        *(("PUT", "DELETE", k), ("PUT", "VALUE", m), ("VIEW", "BACKWARD", None), ("VIEW_ENTRY", "BACKWARD", m)),
        *(("VIEW", "FORWARD", None), ("FLUSH", "CALL", k), ("FLUSH", "CALL", m), ("BELOW", "DELETE", k)),
        *(("BELOW", "PUT", m), ("FORWARD", "DELETE", k), ("FORWARD", "VALUE", m), ("DELETE", "FLUSH", k)),
        *(("VIEW_ENTRY", "FORWARD", m), ("REMOVE", "CLOSE", m), ("CACHE_CLOSE", None, None)),
        *(("STORE_CLOSE", None, None), ("END", None, None)),
    ]
    forwards = [row for row in rows if row["op"] == "FORWARD"]
    assert [(row["value_hash"], row["old_hash"]) for row in forwards] == [
        *((key_hash("1"), None), (None, key_hash("1")), (key_hash("2"), None))
    ]
    assert {(row["window_start"], row["window_end"]) for row in forwards} == {(1, 5), (2, 7)}
    opened, entry = (
        next(row for row in rows if row["op"] == op and row["cause"] == "FORWARD") for op in ("VIEW", "VIEW_ENTRY")
    )
    assert entry["pass_id"] == opened["pass_id"] == opened["seq"]
    assert (entry["call_id"] != opened["call_id"], entry["value"]) == (True, json.dumps(b"l".hex()))
    check = check_trace(tmp_path / "trace")
    assert not check.problems
    assert set(audit_folder(tmp_path / "trace", "local").rules.values()) <= {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}


def test_rows_of_each_call(tmp_path: Path) -> None:
    write_metadata(tmp_path, Metadata(system=STREAMS))
    rows: list[Row] = []
    cache = ThreadCache(150, rows.append)
    cache.listen("a", lambda handed: None)
    recorder = StreamRecorder(PartWriter(tmp_path, "thread"), {"max_size_bytes": 150})
    for step in (
        lambda: cache.put("a", b"k", b"v", dirty=True),
        lambda: cache.put("a", b"l", b"v", dirty=True),
        lambda: cache.put("a", b"k", b"vv", dirty=True),
        lambda: cache.get("a", b"l"),
        lambda: cache.get("a", b"m"),
        lambda: cache.put("a", b"n", None, dirty=True),
        lambda: cache.close("a"),
    ):
        step()
        recorder.call(rows)
        rows.clear()
    recorder.close()
    recorded = list(iterate_rows(list_parts(tmp_path)))
    numbers = [
        (row["op"], row["cause"], row["life"], row["dirty"], row["call_id"], row["bytes_after"]) for row in recorded
    ]
    assert numbers == [
        ("CONFIG", None, None, None, 0, 0),
        ("CACHE_OPEN", None, None, None, 1, 0),
        ("PUT", None, 2, True, 1, 47),
        ("PUT", None, 3, True, 3, 94),
        ("PUT", None, 4, True, 4, 95),
        ("HIT", "GET", 3, True, 5, 95),
        ("MISS", "GET", None, None, 6, 95),
        ("PUT", None, 7, True, 7, 141),
        *(
            [
                ("REMOVE", "CLOSE", 7, True, 8, 95),
                ("REMOVE", "CLOSE", 3, True, 8, 48),
                ("REMOVE", "CLOSE", 4, True, 8, 0),
            ]
        ),
        ("CACHE_CLOSE", None, None, None, 8, 0),
        ("END", None, None, None, 12, 0),
    ]
    assert json.loads(recorded[-1]["value"]) == {"entries": 0, "bytes": 0, "slots": 0}
    assert [row["key_hash"] for row in recorded if row["op"] == "MISS"] == [key_hash("m")]
    assert not audit_folder(tmp_path, "local").violations


@pytest.mark.parametrize("subject", ["reference", "fast"])
def test_both_caches_record_a_case_in_the_same_way(tmp_path: Path, subject: str) -> None:
    (tmp_path / "case.json").write_text(json.dumps(CASE), encoding="utf-8")
    case = read_case(tmp_path / "case.json", SYSTEMS)
    resolved = resolve_subject(SubjectChoice(subject, system=STREAMS))
    recording = record(resolved, case, tmp_path / "trace")
    resolved.close()
    assert recording.failure is None
    rows = list(iterate_rows(list_parts(tmp_path / "trace")))
    reference = resolve_subject(SubjectChoice("reference", system=STREAMS))
    record(reference, case, tmp_path / "reference")
    assert rows == list(iterate_rows(list_parts(tmp_path / "reference")))
    assert sum(row["cause"] == "FAILED" for row in rows) == 4
    for backend in ("local", "replay"):
        result = audit_folder(tmp_path / "trace", backend)
        assert not result.violations
        assert result.exit_code == 0


def test_the_same_seed_gives_the_same_trace(tmp_path: Path) -> None:
    for name in ("one", "other"):
        generate("windowed-aggregation", 3_000, 7, tmp_path / name, 2)
    parts = [list_parts(tmp_path / name) for name in ("one", "other")]
    assert [part.broker for part in parts[0]] == ["thread-0", "thread-1"]
    assert [part.path.read_bytes() for part in parts[0]] == [part.path.read_bytes() for part in parts[1]]
    with pytest.raises(UsageError, match="kafka-streams"):
        generate("windowed-aggregation", 10, 7, tmp_path / "settings", settings={"ttl_nanos": 1})
