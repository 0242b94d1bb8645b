"""A failure that needs earlier runs: table, case file, JSON and replay agree on them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from entrycache_conformance import shrink
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json, format_case, read_case
from entrycache_protocol.errors import UsageError
from tests.support.command import run

LEAKY = """
import json, sys
offer = {"ops": ["insert", "usage"], "config": []}
kept = {}  # a third entry in a cache affects every later run
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        answer = {"version": 1, "implementation": {"name": "leaky"}, "systems": {"pulsar-pip430": offer}}
    elif asked["cmd"] == "stop":
        break
    else:
        caches, outcomes = {name: dict(found) for name, found in kept.items()}, []
        for step in asked["steps"]:
            found = caches.setdefault(step.get("cache"), {})
            if step["op"] == "insert":
                place = tuple(step["pos"])
                right = step["size"] >= 0 and place not in found
                outcomes.append({"inserted": right} if step["size"] >= 0 else {"error": "illegal-argument"})
                found |= {place: step["size"]} if right else {}
                kept |= {step["cache"]: {place: step["size"]}} if right and len(found) == 3 else {}
            else:
                shown = [found] if step.get("cache") is not None else caches.values()
                sizes = [size for each in shown for size in each.values()]
                outcomes.append({"entries": len(sizes), "bytes": sum(sizes)})
        answer = {"id": asked["id"], "outcomes": outcomes}
    print(json.dumps(answer), flush=True)
"""
WORN = """
import json, sys
with open("{starts}", "a") as starts:
    starts.write("started\\n")
played = 0  # from the 31st run on every answer is wrong
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "start":
        offer = {{"ops": ["usage"], "config": []}}
        answer = {{"version": 1, "implementation": {{"name": "worn"}}, "systems": {{"pulsar-pip430": offer}}}}
    elif asked["cmd"] == "stop":
        break
    else:
        played += 1
        told = {{"entries": int(played > 30), "bytes": 0}}
        answer = {{"id": asked["id"], "outcomes": [told for _ in asked["steps"]]}}
    print(json.dumps(answer), flush=True)
"""
EARLIER = {"steps": [{"op": "usage"}]}
CASE = {"system": "pulsar-pip430", "steps": [{"op": "usage"}], "earlier": [EARLIER]}


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    program = tmp_path_factory.mktemp("leaky") / "leaky.py"
    program.write_text(LEAKY)
    return ["--command", shlex.join([sys.executable, "-I", "-S", str(program)])]


@pytest.mark.long
def test_the_runs_that_show_it_are_kept_and_replayed(
    subject: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "conform", *subject, "--failures", str(tmp_path))
    assert code == 1
    assert "it depends on earlier runs: it fails after the run before it" in out
    (file,) = tmp_path.iterdir()
    case = read_case(file, SYSTEMS)
    assert [len(each.steps) for each in case.earlier] == [3]
    assert len(case.steps) == 1
    lines = [line for line in out.splitlines() if "earlier run 1, step " in line]
    assert len(lines) == 3
    (replay,) = (line for line in out.splitlines() if line.startswith("replay it: "))
    code, again, _ = run(capsys, *shlex.split(replay)[3:])
    assert code == 1
    table = out[: out.index("case file: ")]
    assert again.startswith(table)
    code, said, _ = run(capsys, *shlex.split(replay)[3:], "--json")
    assert (code, json.loads(said)["earlier"], json.loads(said)["step"]) == (1, 1, 0)


def test_without_the_earlier_runs_it_agrees(
    subject: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(CASE))
    code, out, _ = run(capsys, "replay", str(file), *subject)
    assert (code, "agree on all 1 steps, after 1 earlier runs" in out) == (0, True)
    code, _, err = run(capsys, "replay", str(file), "--as", "pytest", "fast")
    assert (code, "depends on earlier runs" in err) == (2, True)


def test_a_case_with_earlier_runs_is_written_as_it_is_read() -> None:
    case = case_from_json(CASE, SYSTEMS)
    assert len(case.earlier) == 1
    assert format_case(case_from_json(json.loads(format_case(case)), SYSTEMS)) == format_case(case)


@pytest.mark.parametrize(
    "earlier", [{}, [1], [{}], [{**EARLIER, "rules": []}], [{"steps": [{"op": "usage"}] * 10_000}] * 2]
)
def test_what_is_no_earlier_run_is_refused(earlier: object) -> None:
    with pytest.raises(UsageError):
        case_from_json({**CASE, "earlier": earlier}, SYSTEMS)


@pytest.mark.long
def test_many_earlier_runs_are_reported_after_few_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Find thirty earlier runs with few starts, because each try starts a process."""
    program, starts = tmp_path / "worn.py", tmp_path / "starts"
    program.write_text(WORN.format(starts=starts))
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    code, out, _ = run(capsys, "conform", "--command", command, "--failures", str(tmp_path / "cases"))
    assert (code, "it depends on earlier runs: it fails after the 30 runs before it" in out) == (1, True), out
    assert len(starts.read_text().splitlines()) < 300


@pytest.mark.long
def test_confirming_after_earlier_runs_is_bounded_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without time to leave runs out, the failure is reported with all of them after a few starts."""
    monkeypatch.setattr(shrink, "CONFIRM_SECONDS", 0.0)
    program, starts = tmp_path / "worn.py", tmp_path / "starts"
    program.write_text(WORN.format(starts=starts))
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    code, out, _ = run(capsys, "conform", "--command", command, "--failures", str(tmp_path / "cases"))
    assert (code, "it depends on earlier runs: it fails after the " in out) == (1, True), out
    assert len(starts.read_text().splitlines()) < 30


def test_an_earlier_run_stands_in_the_table_though_no_step_of_it_is_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "worn.py"
    program.write_text(WORN.format(starts=tmp_path / "starts").replace("played > 30", "played > 3"))
    command = shlex.join([sys.executable, "-I", "-S", str(program)])
    code, out, _ = run(capsys, "conform", "--command", command, "--failures", str(tmp_path / "cases"))
    assert (code, "it fails after the 3 runs before it" in out) == (1, True), out
    assert out.count("(no step)") == 3
