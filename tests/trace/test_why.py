"""`trace why`: the life of one entry in sentences, with the settings that decided it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from entrycache_cli.main import main
from entrycache_trace.entry_life import SENTENCES, BrokerRows, Context
from entrycache_trace.files import Metadata, write_rows
from entrycache_trace.formats import kafka_streams, pulsar_legacy, pulsar_pip430, pulsar_segmented

CONFIG = {"max_size_bytes": 1000, "watermark": 0.9, "ttl_nanos": 5_000_000, "max_requeues": 1}
CONFIG |= {"extend_recently_accessed": False}
ENTRY = {"cache": "a", "ledger_id": 3, "entry_id": 7, "size_bytes": 100, "life": 1}
PASS = {"pass_id": 5, "call_id": 5}
PULSAR: list[dict[str, Any]] = [
    {"op": "CONFIG", "value": json.dumps(CONFIG)},
    {"op": "INSERT", "cause": "ADD", **ENTRY, "expected_reads": 2},
    {"op": "HIT", "cause": "GET", **ENTRY},
    {"op": "HIT", "cause": "GET", **ENTRY},
    {"op": "HIT", "cause": "GET", **ENTRY, "entry_id": 8, "life": 0},
    {"op": "PASS_BEGIN", "cause": "TIME", "origin": "CYCLE", **PASS, "bound": 1},
    {"op": "REQUEUE", "cause": "EXPECTED_READS", **ENTRY, **PASS, "expected_reads": 1, "requeues": 1},
    {"op": "PASS_BEGIN", "cause": "TIME", "origin": "CYCLE", "pass_id": 7, "call_id": 7, "bound": 2},
    {"op": "EVICT", "cause": "TIME", **ENTRY, "pass_id": 7, "expected_reads": 1, "requeues": 1, "accessed": True,
     "stamp_ns": 2_000_000},
    {"op": "MISS", "cause": "READ", "cache": "a", "ledger_id": 3, "entry_id": 7},
    {"op": "CURSOR_MOVE", "cache": "a", "ledger_id": 3, "entry_id": 7, "cursor": "c"},
]  # fmt: skip
STREAMS: list[dict[str, Any]] = [
    {"op": "CONFIG", "value": '{"max_size_bytes": 50}'},
    {"op": "PUT", "cache": "s", "key_hash": kafka_streams.key_hash("k"), "life": 1, "size_bytes": 60, "dirty": True},
    {"op": "EVICT", "cache": "s", "key_hash": kafka_streams.key_hash("k"), "life": 1, "size_bytes": 60, "dirty": True},
]


def write_trace(folder: Path, rows: list[dict[str, Any]], system: str = "pulsar-pip430") -> str:
    common = {"broker": "b", "bytes_after": 0}
    numbered = [{**common, "seq": seq, "ts_ns": seq * 1_000_000, **row} for seq, row in enumerate(rows)]
    write_rows(folder, Metadata(system=system), numbered)
    return str(folder)


def why(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["trace", "why", *arguments])
    return done.exit_code, done.output


def test_the_life_of_an_entry_names_each_event_and_what_decided_it(tmp_path: Path) -> None:
    code, output = why(write_trace(tmp_path / "t", PULSAR), "--cache", "a", "--position", "3:7")
    assert code == 0
    assert output.splitlines() == [
        "position 3:7 of cache 'a' in broker 'b':",
        "  seq 1, 0.001000 s: A producer added it with 100 bytes, 2 expected reads.",
        "  seq 2, 0.002000 s: A lookup found it in the cache. (2 times in a row)",
        "  seq 6, 0.006000 s: A time pass of the schedule put it back to the tail of the removal queue, because 1 "
        "expected read was still to come; requeue 1, max_requeues is 1.",
        "    settings that decided: max_requeues = 1",
        "  seq 8, 0.008000 s: A time pass of the schedule removed it, 6 ms after its last stamp (ttl_nanos is 5 ms). "
        "It was not put back: it had been read, but extend_recently_accessed is off, and it expected 1 more, but had "
        "used its budget (1 requeues of max_requeues 1).",
        "    settings that decided: ttl_nanos = 5000000, extend_recently_accessed = false, max_requeues = 1",
        "  seq 9, 0.009000 s: A read of a range did not find it: it had left at seq 8.",
        "  At the end of the trace it is not in the cache: it left at seq 8, and did not come back.",
    ]


def test_a_call_that_names_an_age_decides_in_place_of_the_time_to_live(tmp_path: Path) -> None:
    rows = [*PULSAR[:7], {**PULSAR[7], "origin": "CALL", "bound": 6_000_000}, *PULSAR[8:]]
    code, output = why(write_trace(tmp_path / "t", rows), "--cache", "a", "--position", "3:7", "--json")
    events = json.loads(output)["brokers"][0]["events"]
    evict = next(event for event in events if event["op"] == "EVICT")
    assert code == 0
    assert "the call asked for entries older than 1 ms" in evict["text"]
    assert evict["settings"] == {"extend_recently_accessed": False, "max_requeues": 1}


def test_an_entry_of_kafka_streams_is_named_by_its_key(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", STREAMS, "kafka-streams")
    code, output = why(trace, "--cache", "s", "--key", "k")
    assert code == 0
    assert "evicted as the eldest entry, to keep the thread within max_size_bytes = 50" in output
    assert (
        why(trace, "--cache", "s", f"--key-hash={kafka_streams.key_hash('k')}")[1].splitlines()[1:]
        == (output.splitlines()[1:])
    )


def test_missing_events_and_unknown_entries_are_said(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", [*PULSAR[:4], {**PULSAR[8], "seq": 8}])
    assert "note: 4 events of this broker are missing" in why(trace, "--cache", "a", "--position", "3:7")[1]
    assert "No event of this trace is about it" in why(trace, "--cache", "a", "--position", "9:9")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cache", "x", "--position", "3:7"), "no event of a cache 'x'; expected 'a'"),
        (("--cache", "a", "--position", "3"), "expected LEDGER:ENTRY"),
        (("--cache", "a", "--key", "k"), "expected --position LEDGER:ENTRY"),
        (("--cache", "a", "--position", "3:7", "--broker", "z"), "no broker 'z'; expected one of 'b'"),
    ],
)
def test_a_wrong_name_is_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    code, output = why(write_trace(tmp_path / "t", PULSAR), *arguments)
    assert (code, message in output, len(output.splitlines())) == (2, True, 1), output


@pytest.mark.parametrize("module", [pulsar_pip430, pulsar_legacy, pulsar_segmented, kafka_streams])
def test_each_event_of_an_entry_has_a_sentence_for_each_cause(module: Any) -> None:
    for event in module.FORMAT.events:
        if (
            not {"entry_id", "key_hash"} & {*event.needs}
            or event.op.startswith("CURSOR")
            or event.op in {"ASK", "ANSWER"}
        ):
            continue
        for cause in event.causes or (None,):
            row = {"seq": 1, "ts_ns": 0, "op": event.op, "cause": cause, "bytes_after": 0}
            context = Context(BrokerRows("b", [], [], {}, 0, 1, 0, {}), row, None, True)
            assert "no cause" not in SENTENCES[event.op](context), (event.op, cause)
