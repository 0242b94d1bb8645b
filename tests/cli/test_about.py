"""The metadata of results in `--json`: versions, `engine` and subject, for audits and proofs too."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from entrycache_cli.commands import prove
from entrycache_cli.report.results import read_results
from entrycache_evidence.core.results import Proof
from entrycache_protocol.errors import Verdict
from tests.support.command import run


@pytest.mark.parametrize("backend", ["local", "replay"])
def test_an_audit_reports_its_provenance(backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "trace", "generate", "tail-fanout", "--events", "2000", "--out", str(tmp_path / "t"))
    assert code == 0, err
    code, out, err = run(
        capsys, "audit", str(tmp_path / "t"), "--backend", backend, "--out", str(tmp_path / "o"), "--json"
    )
    assert code == 0, err
    result = json.loads(out)
    assert result["backend"] == backend
    assert (result["engine"], result["system"], result["trace"]) == (backend, "pulsar-pip430", str(tmp_path / "t"))
    source = json.loads((tmp_path / "t" / "_entrycache.json").read_text(encoding="utf-8"))["source"]
    assert result["subject"] == source != ""
    versions = result["versions"]
    assert versions["entrycache"] == version("entrycache")
    assert versions["duckdb"] == version("duckdb")
    (tmp_path / "result.json").write_text(out, encoding="utf-8")
    assert read_results(tmp_path / "result.json")


def test_a_proof_reports_its_provenance(capsys: pytest.CaptureFixture[str]) -> None:
    prove._say(Proof([], [], []), [], Verdict.NOTHING_CHECKED, "long, stopped", True)
    result = json.loads(capsys.readouterr().out)
    assert (result["subject"], result["profile"]) == ("reference", "long")
    assert "z3" in result["engine"]
    assert result["versions"]["z3-solver"] == version("z3-solver")
