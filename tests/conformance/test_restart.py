"""A subject that can start only once: its failure is reported, with a note."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.support.command import run

CHANGING = """
import json, pathlib, sys
started = pathlib.Path(sys.argv[1])
offer = {"ops": ["usage"], **({"order_slack": 1} if started.exists() else {})}
started.touch()
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": offer}}), flush=True)
    elif request["cmd"] == "run":
        wrong = {"entries": 1, "bytes": 0}
        print(json.dumps({"id": request["id"], "outcomes": [wrong for _ in request["steps"]]}), flush=True)
"""

SUBJECT = """
import json, pathlib, sys
started, wrong = pathlib.Path(sys.argv[1]), sys.argv[2]
if started.exists():
    sys.exit("the port is taken")
started.touch()
OPS = ["insert", "usage", "evict"]
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": {"ops": OPS}}}), flush=True)
    elif request["cmd"] == "run":
        if wrong == "dies":
            sys.exit(1)
        caches, outcomes = {}, []
        for step in request["steps"]:
            size = step.get("size", 0)
            if step["op"] == "insert" and size >= 0:
                entry = (step["cache"], *step["pos"])
                outcomes.append({"inserted": entry not in caches})
                caches.setdefault(entry, size)
            elif step["op"] == "usage":
                here = [size for (cache, *_), size in caches.items() if step.get("cache", cache) == cache]
                outcomes.append({"entries": len(here) + 1, "bytes": sum(here)})
            else:
                outcomes.append({"error": "illegal-argument"})
        print(json.dumps({"id": request["id"], "outcomes": outcomes}), flush=True)
"""


def command(tmp_path: Path, wrong: str) -> list[str]:
    line = shlex.join([sys.executable, "-c", SUBJECT, str(tmp_path / "started"), wrong])
    return ["conform", "--command", line, "--failures", str(tmp_path / "failures")]


def test_its_failure_is_reported_and_the_levels_after_it_are_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *command(tmp_path, "counts"), "--json")
    assert code == 1, err
    report = json.loads(out)
    failure = report["failures"][0]
    assert failure["steps"] == 1
    assert "could be started once, and not again" in failure["unconfirmed"]
    assert "the port is taken" in failure["unconfirmed"]
    assert Path(failure["case"]).is_file()
    assert (report["levels"]["range"]["verdict"], report["levels"]["queue"]["verdict"]) == (
        "violates",
        "nothing-checked",
    )
    assert [skip["what"] for skip in report["skipped"]] == ["level queue"]


def test_the_text_says_that_it_is_not_confirmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *command(tmp_path, "counts"), "--level", "range")
    assert code == 1, err
    assert "not confirmed on a fresh process: the subject could be started once" in out


def test_one_that_dies_and_does_not_start_again_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *command(tmp_path, "dies"))
    assert code == 3
    assert "could be started once, and not again" in err
    assert len(err.strip().splitlines()) == 1


def test_one_that_changes_its_order_slack_between_two_starts_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = shlex.join([sys.executable, "-c", CHANGING, str(tmp_path / "started")])
    code, _, err = run(capsys, "conform", "--command", line, "--level", "range", "--failures", str(tmp_path / "cases"))
    assert code == 3
    assert "was started again, and declares something else: order_slack" in err
    assert len(err.strip().splitlines()) == 1
