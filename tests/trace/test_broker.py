"""Traces of real brokers: an audit finds no violation, unless a row is altered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from entrycache_cli.commands.kafka_recording import record_application
from entrycache_cli.commands.pulsar_recording import record_broker
from entrycache_conformance.brokers.kafka_streams import Application
from entrycache_conformance.brokers.pulsar import BROKER_PLANS
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from entrycache_spark.systems.kafka_streams import RULES_OF_STORES
from entrycache_trace.files import list_parts, read_broker, read_metadata, write_rows
from entrycache_trace.inspect import summarize

pytestmark = pytest.mark.long

CERTAIN_EVENTS = {
    *("CONFIG", "CACHE_OPEN", "CACHE_CLOSE", "INSERT ADD", "INSERT FILL", "HIT READ", "HIT REPLAY", "MISS READ"),
    *("READ_DONE DELIVERED", "READ_DONE REMOVED", "CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE", "REQUEUE ACCESSED"),
    *("READ_BEGIN", "READ_END DONE", "ASK", "ANSWER ALL", "PERMIT TAKEN", "PERMIT GIVEN", "LEDGER_DELETE"),
    *("REQUEUE EXPECTED_READS", "PASS_BEGIN SIZE", "PASS_END SIZE", "EVICT SIZE", "METRICS", "END"),
}
"""The events that such clients always cause; others depend on timing."""

OF_APPLICATION = {
    *("PUT VALUE", "PUT DELETE", "HIT GET", "MISS GET", "EVICT", "FLUSH EVICT", "FLUSH CALL", "DELETE FLUSH", "END"),
    *("STORE_OPEN", "STORE_CLOSE", "BELOW PUT", "BELOW DELETE", "FORWARD VALUE", "VIEW FORWARD", "VIEW_ENTRY FORWARD"),
}
"""The events that an application of Kafka Streams always causes."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("broker") / "trace"
    try:
        record_broker("4.2.4", replace(BROKER_PLANS["mixed"], messages=12_000), out, lambda line: None)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    return out


def test_a_real_broker_keeps_every_rule(trace: Path, tmp_path: Path) -> None:
    summary = summarize(trace).brokers[0]
    assert summary.missing == 0
    assert summary.ops.keys() >= CERTAIN_EVENTS
    result = audit_folder(trace, "local", "", (), tmp_path / "audit")
    assert _rules(result, Verdict.VIOLATES) == []
    assert len(_rules(result, Verdict.CONFORMS)) >= 20


def test_an_altered_row_is_a_violation(trace: Path, tmp_path: Path) -> None:
    rows = read_broker(list_parts(trace))
    evicted = pc.index(pc.equal(rows["op"], "EVICT"), pa.scalar(True)).as_py()
    events = rows.to_pylist()
    events[evicted]["ticket"] += 1
    write_rows(tmp_path / "altered", read_metadata(trace), ({"broker": "standalone", **row} for row in events))
    result = audit_folder(tmp_path / "altered", "local", "", ("R-EVICT-8",), tmp_path / "audit")
    assert result.rules["R-EVICT-8"] is Verdict.VIOLATES


def _rules(result: AuditResult, verdict: Verdict) -> list[str]:
    return [rule for rule, rule_verdict in result.rules.items() if rule_verdict is verdict]


def test_a_real_application_of_kafka_streams_keeps_every_rule(tmp_path: Path) -> None:
    out = tmp_path / "trace"
    try:
        record_application("4.3.1", Application(messages=8_000), out, lambda line: None)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    events = {op for broker in summarize(out).brokers for op in broker.ops}
    assert events >= OF_APPLICATION
    result = audit_folder(out, "local", "", (), tmp_path / "audit")
    assert _rules(result, Verdict.VIOLATES) == []
    assert len(_rules(result, Verdict.CONFORMS)) >= 15
    assert set(_rules(result, Verdict.CONFORMS)) >= RULES_OF_STORES
