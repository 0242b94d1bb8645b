"""A command whose reader has gone ends with 141, as in a pipe to `head`; without room it ends with 2."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.main import main
from entrycache_conformance.report import LevelReport, RuleReport, RunReport
from entrycache_dev.bench.result import BenchResult
from entrycache_protocol.errors import Verdict
from tests.cli.test_output import CASE
from tests.support import ROOT
from tests.support.command import main_of
from tests.support.traces import plant

LEVEL = LevelReport(9, 99, Verdict.CONFORMS, rules={"R-READ-1": RuleReport(9, Verdict.CONFORMS)})
REPORT = RunReport("s", None, "pulsar-pip430", {"range": LEVEL}, {}, {}, (), ())

LINES = {
    "audit": "audit trace --backend local --out out",
    "campaign": "campaign reference --system pulsar-pip430 --cases 1 --steps 5 --failures none",
    "conform": "conform fast",
    "diff": "diff pulsar:4.2.4 pulsar:5.0.1",
    "doctor": "doctor",
    "subjects": "subjects",
    "init": "init --lang python begun",
    "policies": "policies --preset zipf --requests 100 --policy fifo --no-curve",
    "faults": "faults",
    "findings": "findings",
    "prove": "prove",
    "replay": "replay case.json fast",
    "report": "report results.jsonl --to markdown",
    "rules": "rules R-EVICT-3",
    "serve": "serve fast --system pulsar-pip430",
    "settings": "settings --broker-conf broker.conf --era 4.2",
    "share": "share --total 1000 --threads 2",
    "smoke": "smoke fast --system pulsar-pip430",
    "trace": "trace inspect trace",
    "vectors": "vectors consume small fast",
    "versions": f"versions --results {ROOT}/docs/campaigns --findings {ROOT}/docs/findings",
}
MORE = (
    "bench --from bench.json",
    "trace convert trace t.jsonl",
    "trace simulate trace",
    "--help",
    "conform --help",
    "rules",
    "faults --json",
)
DEAR = {"diff"}
"""Commands that print only after minutes; they print in the same way."""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "case.json").write_text(CASE, "utf-8")
    (folder / "broker.conf").write_text("", "utf-8")
    (folder / "results.jsonl").write_text(json.dumps(REPORT.to_json()) + "\n", "utf-8")
    (folder / "bench.json").write_text(json.dumps(BenchResult(1, 1_000, "CPython 3.11", 2, [], []).to_json()), "utf-8")
    plant.honest(folder / "trace", 300, 1)
    return folder


@pytest.fixture
def quick(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to the folder and replace whatever takes minutes."""
    from entrycache_evidence.core.results import Proof

    monkeypatch.chdir(work)
    monkeypatch.setattr("sys.stdin", io.StringIO('{"cmd":"start","version":1}\n'))
    monkeypatch.setattr("entrycache_cli.commands.conform.conform", lambda *_: REPORT)
    monkeypatch.setattr("entrycache_evidence.run.prove", lambda profile, systems: Proof([], [], []))
    monkeypatch.setattr("entrycache_evidence.core.results.compare", lambda proof, rules: [])


def ended(line: str, out: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as left:
            main_of(line.partition(" ")[0])(line.split())
    out.close()
    return int(left.value.code or 0)


def test_every_command_has_a_line() -> None:
    assert LINES.keys() == set(main.list_commands(None))  # type: ignore[arg-type]


@pytest.mark.parametrize("line", [*(LINES[name] for name in LINES if name not in DEAR), *MORE])
def test_a_command_whose_reader_has_gone(line: str, quick: None, monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    read, write = os.pipe()
    os.close(read)
    assert ended(line, os.fdopen(write, "w"), monkeypatch) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("line", ["faults", "--help", "faults --json"])
def test_a_command_that_has_no_room_for_its_output(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        assert ended(line, full, monkeypatch) == 2
    assert capsys.readouterr().err == "entrycache: cannot write the output: No space left on device\n"
