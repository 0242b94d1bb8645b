"""Traces with a broker's settings: generated with them, and audited against them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from entrycache_cli.main import main
from entrycache_cli.settings import pulsar_table
from entrycache_protocol.errors import UsageError
from entrycache_simulate.configs import require_settings
from entrycache_trace.files import list_parts, read_broker
from entrycache_trace.generators.generate import generate

CONF = f"{pulsar_table.CACHE_SIZE}=64\n{pulsar_table.TTL}=20\n{pulsar_table.MAX_REQUEUES}=1\n"


def called(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(args=list(argv))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.long
def test_generate_and_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broker.conf").write_text(CONF)
    settings = ["--broker-conf", "broker.conf", "--era", "5.0"]
    generate = ["trace", "generate", "catch-up-fanout", "--events", "3000", "--brokers", "4", "--out", "t"]
    assert called(*generate, *settings) == 0
    for broker in range(4):
        parts = [part for part in list_parts(Path("t")) if part.broker == f"broker-{broker}"]
        first = json.loads(read_broker(parts).slice(0, 1).to_pylist()[0]["value"])
        recorded = (
            first["max_size_bytes"],
            first["ttl_nanos"],
            first["max_requeues"],
            first["extend_recently_accessed"],
        )
        assert recorded == (64 << 20, 20_000_000, 1, False)
        assert first["evict_by_expected_reads"] is True
    assert called("audit", "t", "--backend", "local", "--json", *settings) == 0
    capsys.readouterr()
    assert called("audit", "t", "--backend", "local", "--broker-conf", "broker.conf", "--era", "4.2") == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert "broker 'broker-0': max_requeues was 1 when it was recorded, broker.conf in era 4.2 makes it 5" in err
    assert called("audit", "t", "--broker-conf", "broker.conf", "--era", "4.0") == 2
    assert "the trace is of pulsar-pip430" in capsys.readouterr().err
    assert called("audit", "t", "--era", "4.2") == 2
    assert "go together" in capsys.readouterr().err
    assert called(*generate, "--broker-conf", "broker.conf", "--era", "4.0") == 2
    assert "traces are generated of pulsar-pip430" in capsys.readouterr().err


def test_without_options_the_commands_are_as_before(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "entrycache_cli", "trace", "generate", "tail-fanout", "--events", "500"]
    done = subprocess.run([*line, "--out", "t"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    generate("tail-fanout", 500, 0, tmp_path / "same")
    parts = [list_parts(tmp_path / name) for name in ("t", "same")]
    assert read_broker(parts[0]).equals(read_broker(parts[1]))


def test_absent_keys_of_a_recording_are_defaults(tmp_path: Path) -> None:
    generate("tail-fanout", 300, 0, tmp_path / "t")
    require_settings(tmp_path / "t", {"ttl_nanos": 15_000_000, "watermark": 0.9}, "pulsar-pip430", "x")
    with pytest.raises(UsageError, match=r"watermark was 0\.9 when it was recorded, x makes it 0\.8"):
        require_settings(tmp_path / "t", {"watermark": 0.8}, "pulsar-pip430", "x")
