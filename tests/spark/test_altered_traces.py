"""Recorded traces in which one row was altered: each backend names the rule that the altered row breaks.

The trace of Kafka Streams is recorded from a topology that one thread drives. Each altered copy of a trace is a broker
of one folder, so a backend judges all copies at once; a copy without a change is the negative control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from entrycache_conformance.brokers.jars import build_recorder_jar
from entrycache_conformance.java.driver import java_test_classpath
from entrycache_conformance.java.program import compile_sources
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from entrycache_spark.systems.kafka_streams import RULES_OF_STORES
from entrycache_trace.convert import convert_recording
from entrycache_trace.files import list_parts, read_broker, read_metadata
from tests.support.traces import plant
from tests.support.traces.checker_runs import compare_with_windows

Row = dict[str, Any]
Alter = Callable[[list[Row]], None]

UNALTERED = "unaltered"
RECORDS = 24
TWO_DAYS = timedelta(days=2) // timedelta(milliseconds=1)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of a driven topology with key-value, window and session stores."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "classes").mkdir()
    source = Path(__file__).parents[1] / "jvm" / "StoresSample.java"
    program = compile_sources([source], java_test_classpath("kafka-streams:4.3.1"), folder / "classes")
    agent = f"-javaagent:{build_recorder_jar()}={folder / 'lines'},quiet=0"
    done = program.run("entrycache.recorder.StoresSample", RECORDS, options=[agent])
    assert done.returncode == 0, done.stderr
    convert_recording(folder / "lines", folder / "trace")
    return folder / "trace"


def rows_of(trace: Path) -> list[Row]:
    return read_broker(list_parts(trace)).to_pylist()


def pick(rows: list[Row], accept: Callable[[Row], object]) -> Row:
    """Return a row in the middle of those that fit."""
    fit = [row for row in rows if accept(row)]
    return fit[len(fit) // 2]


def entries_of_views(rows: list[Row], windows: bool) -> Iterator[tuple[Row, Row]]:
    """Yield neighbours in the ascending views of key-value stores, or of windows and sessions."""
    fit = [row for row in rows if row["op"] == "VIEW_ENTRY" and row["cause"] == "FORWARD"]
    for before, row in pairwise(fit):
        if row["pass_id"] == before["pass_id"] and (row["window_start"] is not None) is windows:
            yield before, row


def lose_a_write(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "BELOW" and row["cause"] == "PUT")["life"] -= 1


def lose_a_forward(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "FORWARD")["life"] -= 1


def forward_another_old_value(rows: list[Row]) -> None:
    pick(rows, lambda row: row["op"] == "FORWARD" and row["old_hash"] is not None)["old_hash"] += 1


def use_a_closed_store(rows: list[Row]) -> None:
    row = next(row for row in rows if row["op"] == "HIT" and row["cache"].endswith("own-windows"))
    row.update(op="STORE_CLOSE", cause=None, key_hash=None, life=None, size_bytes=None, dirty=None, window_start=None)


def view_keys_out_of_order(rows: list[Row]) -> None:
    next(entries_of_views(rows, windows=False))[1]["value"] = '""'


def view_windows_out_of_order(rows: list[Row]) -> None:
    row = next(entries_of_views(rows, windows=True))[1]
    row.update(window_start=0, window_end=None if row["window_end"] is None else 0)


def view_a_window_twice(rows: list[Row]) -> None:
    before, row = next(entries_of_views(rows, windows=True))
    row["key_hash"] = before["key_hash"]


def write_an_expired_window(rows: list[Row]) -> None:
    row = pick(rows, lambda row: row["op"] == "BELOW" and row["window_start"] is not None)
    row["window_start"] -= TWO_DAYS
    if row["window_end"] is not None:
        row["window_end"] -= TWO_DAYS


OF_STREAMS: dict[str, Alter] = {
    "K-STORE-2": lose_a_write,
    "K-STORE-4": lose_a_forward,
    "K-OLD-2": forward_another_old_value,
    "K-CLOSE-3": use_a_closed_store,
    "K-VIEW-1": view_keys_out_of_order,
    "K-WINDOW-1": view_windows_out_of_order,
    "K-WINDOW-2": view_a_window_twice,
    "K-WINDOW-6": write_an_expired_window,
}


def write_copies(out: Path, trace: Path, changes: dict[str, Alter]) -> Path:
    """Write a trace with a broker for each change, named for the rule that it breaks, and one without a change."""
    copies = plant.renamed(rows_of(trace), UNALTERED)
    for rule, alter in changes.items():
        rows = plant.renamed(rows_of(trace), rule)
        alter(rows)
        copies += rows
    metadata = read_metadata(trace)
    return plant.write(out, copies, system=metadata.system, variants=metadata.variants, threads=metadata.threads)


def reported_rules(result: AuditResult) -> dict[str, set[str]]:
    """Return the rules that are reported as violated, by broker."""
    by_broker: dict[str, set[str]] = {}
    for violation in result.violations:
        by_broker.setdefault(violation.broker, set()).add(violation.rule)
    return by_broker


def unnamed(result: AuditResult, changes: dict[str, Alter]) -> list[str]:
    """Return the copies whose rule is not named; none of them is the unaltered one."""
    by_broker = reported_rules(result)
    assert UNALTERED not in by_broker
    return [rule for rule in changes if rule not in by_broker.get(rule, ())]


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_a_recorded_topology_keeps_the_rules_of_stores(streams: Path, backend: str) -> None:
    assert read_metadata(streams).threads == "one"
    rules = audit_folder(streams, backend).rules
    assert Verdict.VIOLATES not in rules.values()
    assert {rule: rules[rule] for rule in RULES_OF_STORES} == dict.fromkeys(RULES_OF_STORES, Verdict.CONFORMS)


def test_every_rule_of_stores_has_an_altered_copy() -> None:
    assert OF_STREAMS.keys() == RULES_OF_STORES


def test_the_altered_row_of_a_store_is_named(streams: Path, tmp_path: Path) -> None:
    copies = write_copies(tmp_path / "copies", streams, OF_STREAMS)
    assert unnamed(audit_folder(copies, "local"), OF_STREAMS) == []


@pytest.mark.long
def test_each_backend_names_the_altered_row_of_a_store(
    streams: Path, tmp_path: Path, evaluate: Callable[[Path], AuditResult]
) -> None:
    copies = write_copies(tmp_path / "copies", streams, OF_STREAMS)
    assert unnamed(evaluate(copies), OF_STREAMS) == []


@pytest.mark.long
def test_the_checker_names_what_windows_name(streams: Path, tmp_path: Path) -> None:
    assert compare_with_windows(write_copies(tmp_path / "copies", streams, OF_STREAMS)) == 1 + len(OF_STREAMS)
