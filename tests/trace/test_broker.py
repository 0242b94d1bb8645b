"""A real broker, its clients, its trace, the audit: nothing is violated; a row that is altered is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from entrycache_cli.record_broker import record_broker
from entrycache_conformance.brokers.plans import PLANS
from entrycache_protocol.errors import MissingPrerequisite
from entrycache_spark.audit import audit
from entrycache_spark.verdict import Verdict
from entrycache_trace.files import list_parts, read_broker, read_metadata, write_rows
from entrycache_trace.inspect import summarize

pytestmark = pytest.mark.long

TOLD = {
    *("CONFIG", "CACHE_OPEN", "CACHE_CLOSE", "INSERT ADD", "INSERT FILL", "HIT READ", "HIT REPLAY", "MISS READ"),
    *("READ_DONE DELIVERED", "READ_DONE REMOVED", "CURSOR_ADD", "CURSOR_MOVE", "CURSOR_REMOVE", "REQUEUE ACCESSED"),
    *("REQUEUE EXPECTED_READS", "PASS_BEGIN SIZE", "PASS_END SIZE", "EVICT SIZE", "METRICS", "END"),
}
"""What such clients always make a broker do; the rest depends on who is fast."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("broker") / "trace"
    try:
        record_broker("4.2.4", replace(PLANS["mixed"], messages=12_000), out, lambda line: None)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    return out


def test_a_real_broker_keeps_every_rule(trace: Path, tmp_path: Path) -> None:
    summary = summarize(trace).brokers[0]
    assert summary.missing == 0
    assert summary.ops.keys() >= TOLD
    result = audit(trace, "local", "", (), tmp_path / "audit")
    assert [rule for rule, verdict in result.rules.items() if verdict is Verdict.VIOLATES] == []
    decided = [rule for rule, verdict in result.rules.items() if verdict is Verdict.CONFORMS]
    assert len(decided) >= 25


def test_an_altered_row_of_it_is_found(trace: Path, tmp_path: Path) -> None:
    rows = read_broker(list_parts(trace))
    evicted = pc.index(pc.equal(rows["op"], "EVICT"), pa.scalar(True)).as_py()
    told = rows.to_pylist()
    told[evicted]["ticket"] += 1
    write_rows(tmp_path / "altered", read_metadata(trace), ({"broker": "standalone", **row} for row in told))
    result = audit(tmp_path / "altered", "local", "", ("R-EVICT-8",), tmp_path / "audit")
    assert result.rules["R-EVICT-8"] is Verdict.VIOLATES
