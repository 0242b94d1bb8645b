"""A repeated stretch breaks no rule, and a stretch that cannot be repeated is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_protocol.errors import UsageError
from entrycache_spark.common.results import Verdict
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import list_parts, read_broker
from entrycache_trace.generators import generate as repeats
from entrycache_trace.generators.generate import find_stretch, generate, repeat


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repeat") / "short"
    generate("tail-fanout", 3_000, 4, folder)
    return folder


@pytest.mark.long
def test_a_repeated_trace_has_no_violation_on_any_backend(short: Path, tmp_path: Path) -> None:
    stretch = find_stretch(short)
    assert {"REQUEUE", "TOMBSTONE", "EVICT", "REMOVE"} <= set(stretch.events["op"].to_pylist())
    events = repeat(short, tmp_path / "long", 5_000, 2)
    parts = list_parts(tmp_path / "long")
    assert events == sum(part.rows for part in parts) >= 5_000
    assert [part.broker for part in parts] == ["broker-0", "broker-1"]
    assert read_broker(parts[:1])["seq"].to_pylist() == list(range(parts[0].rows))
    for backend in ("local", "replay"):
        result = audit_folder(tmp_path / "long", backend)
        assert set(result.rules.values()) == {Verdict.CONFORMS, Verdict.NOTHING_CHECKED}, backend
        assert result.rules["R-EVICT-8"] is result.rules["R-EXPIRE-1"] is Verdict.CONFORMS
        assert not result.differences


@pytest.mark.parametrize(("names", "omitted"), [("_BY_SEQ", "life"), ("_BY_TIME", "stamp_ns"), ("_BY_SLOT", "ticket")])
def test_a_column_that_is_not_shifted_is_a_violation(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, omitted: str
) -> None:
    monkeypatch.setattr(repeats, names, tuple(name for name in getattr(repeats, names) if name != omitted))
    repeat(short, tmp_path / "long", 2_000)
    assert Verdict.VIOLATES in audit_folder(tmp_path / "long", "local").rules.values()


def test_a_trace_that_cannot_be_repeated_is_refused(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate("tail-fanout", 20, 1, tmp_path / "shorter")
    with pytest.raises(UsageError, match="a pass after which nothing is cached"):
        repeat(tmp_path / "shorter", tmp_path / "out", 5_000)
    monkeypatch.setattr(repeats, "_ONCE", ("HIT",))
    with pytest.raises(UsageError, match="HIT cannot be repeated"):
        repeat(short, tmp_path / "out", 5_000)
