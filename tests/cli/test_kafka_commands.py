"""Commands use kafka-streams if it is requested, and Pulsar's system by default."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.command import run

CASE = ROOT / "tests/conformance/kafka_streams/cases" / "undeliverable-eviction.json"


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    return code, json.loads(out)


def test_smoke_plays_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = _json(capsys, "smoke", "reference", "--system", "kafka-streams")
    assert code == 0
    assert len(value["ops"]) == 46
    assert {result["verdict"] for result in value["ops"].values()} == {"passed"}


def test_served_over_the_protocol_it_is_the_same_subject(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m entrycache_cli serve reference --system kafka-streams"
    code, value = _json(capsys, "smoke", "--command", command)
    assert code == 0
    assert {result["verdict"] for result in value["ops"].values()} == {"passed"}


def test_a_case_says_which_system_the_reference_is_of(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = _json(capsys, "replay", str(CASE), "reference")
    assert code == 0
    assert value["verdict"] == "conforms"
    assert value["stale_outcomes"] == []


def test_who_does_not_offer_the_system_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "replay", str(CASE), "expire-at-the-cutoff")
    assert code == 2
    assert "does not offer 'kafka-streams'" in err
    code, _, err = run(capsys, "conform", "reference", "--system", "nope")
    assert code == 2
    assert err.count("\n") == 1


@pytest.mark.long
def test_every_message_fits_its_schema(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("conform", "reference", "--system", "kafka-streams", "--validate", "--failures", str(tmp_path))
    code, value = _json(capsys, *arguments)
    assert code == 0
    assert value["verdict"] == "conforms"
    assert all(rule.startswith("K-") for rule in value["rules"])
    assert value["cells"].keys() == {"LIMIT/BELOW", "LIMIT/AT", "RESIZE/BELOW", "RESIZE/AT", "RESIZE/ABOVE"}
    assert all(value["cells"].values())


def test_a_system_without_a_fast_cache_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "conform", "fast", "--system", "pulsar-legacy")
    assert (code, err.count("\n")) == (2, 1)
    assert "pulsar-legacy has no fast cache" in err
