"""`replay --as pytest|go|rust` prints one file that starts the subject by itself and fails on a wrong one."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pytest

from entrycache_cli.commands.replay import TEST_TEMPLATES, render_test
from entrycache_conformance.systems import SYSTEMS
from tests.support import ROOT
from tests.support.command import run

CASES = ROOT / "conformance" / "entrycache_faults" / "cases"
CARGO = """
[package]
name = "case"
version = "1.0.0"
edition = "2021"
[dev-dependencies]
serde_json = "1"
[workspace]
"""


class Language(NamedTuple):
    """The place of a test, its runner, and the other files that it needs."""

    file: str
    argv: list[str]
    extra_files: Mapping[str, str] = MappingProxyType({})


LANGUAGES = {
    "pytest": Language("test_it.py", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]),
    "go": Language("case_test.go", ["go", "test", "case_test.go"]),
    "rust": Language(
        "tests/case.rs", ["cargo", "test", "-q", "--test", "case"], {"Cargo.toml": CARGO, "src/lib.rs": ""}
    ),
}

AWKWARD: dict[str, Any] = {
    "system": "pulsar-pip430",
    "config": {"max_size_bytes": 100, "watermark": 0.5},
    "note": 'a "note" \\ with */ é \n and \x7f `backticks`',
    "steps": [
        {"op": "insert", "cache": 'a "b" `c` \\ é', "pos": [1, 0], "size": 9, "expected_reads": 1},
        {"op": "insert", "cache": "message", "pos": [2**53 - 1, 0], "size": 9},
        {"op": "insert", "cache": "message", "pos": [1, 1], "size": -1},
        {"op": "observe"},
        {"op": "metrics"},
    ],
}
"""Names and numbers that literals may get wrong, a refusal, and a cache named like an uncompared key."""

SERVED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    offer = {"ops": ["insert", "observe", "metrics"], "introspection": ["bytes"], "fixed": {"watermark": 0.5}}
    if request["cmd"] == "start":
        hello = {"version": 1, "implementation": {"name": "x"}, "systems": {"pulsar-pip430": offer}}
        print(json.dumps(hello), flush=True)
    elif request["cmd"] == "run":
        assert "watermark" not in request["config"] and request["config"]["max_size_bytes"] == 100
        outcomes = OUTCOMES
        print(json.dumps({"id": request["id"], "outcomes": outcomes, "leaked": LEAKED}), flush=True)
"""
"""A subject that declares little, gives reasons for refusals, and answers as its test says."""


PAYLOAD_SERVED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    offer = {"ops": ["insert", "get"], "payload": True}
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": offer}}), flush=True)
    elif request["cmd"] == "run":
        print(json.dumps({"id": request["id"], "outcomes": OUTCOMES}), flush=True)
"""
"""A subject that declares `payload` and answers as its test says."""


def params() -> list[Any]:
    return [pytest.param(name, marks=() if name == "pytest" else pytest.mark.long) for name in TEST_TEMPLATES]


def run_by_python(subject: Path) -> str:
    """Return the command that starts a subject in Python."""
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(subject))}"


def said_of(
    language: str, file: Path, command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> subprocess.CompletedProcess[str]:
    """Return the output of the language's own test runner for the test of a case."""
    code, text, err = run(capsys, "replay", str(file), "--as", language, "--command", command)
    assert (code, err) == (0, "")
    return run_test(language, text, folder)


def run_test(language: str, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    tools = LANGUAGES[language]
    if shutil.which(tools.argv[0]) is None:
        pytest.skip(f"{tools.argv[0]} is missing")
    for name, content in {**tools.extra_files, tools.file: text}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    if language == "go" and shutil.which("gofmt"):
        formed = subprocess.run(["gofmt", "-l", "."], cwd=folder, capture_output=True, text=True, check=True)
        assert formed.stdout == ""
    return subprocess.run(tools.argv, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "fault", ["requeue-keeps-stamp", pytest.param("streams-flush-loses-a-write", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("language", params())
def test_it_passes_on_the_right_cache_and_fails_on_a_wrong_one(
    language: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = CASES / f"{fault}.json"
    case = json.loads(file.read_text("utf-8"))
    serve = f"{shlex.quote(sys.executable)} -m entrycache_cli serve --system {case['system']} "
    done = said_of(language, file, serve + "fast", tmp_path, capsys)
    assert done.returncode == 0, done.stdout + done.stderr
    done = said_of(language, file, serve + fault, tmp_path, capsys)
    assert done.returncode != 0
    assert case["rules"][0] in done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_it_compares_what_is_declared_and_nothing_else(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, subject = tmp_path / "case.json", tmp_path / "subject.py"
    file.write_text(json.dumps(AWKWARD), "utf-8")
    counted = {"inserted_entries": 2, "evicted_entries": 0, "eviction_cycles": 0, "hit_entries": 0, "hit_bytes": 0}
    right: list[Any] = [
        {"inserted": True},
        {"inserted": True},
        {"error": "illegal-argument", "message": "below 0"},
        {"bytes": 18},
        {**counted, "miss_entries": 0, "miss_bytes": 0, "bytes": 18},
    ]
    wrong = {
        "an outcome": ([*right[:3], {"bytes": 17}, right[4]], 0),
        "a refusal": ([*right[:2], {"inserted": True}, *right[3:]], 0),
        "a key less": ([*right[:4], {**counted, "bytes": 18}], 0),
        "an outcome less": (right[:4], 0),
        "a leak": (right, 2),
    }
    ends = {}
    for name, (outcomes, leaked) in {"right": (right, 0), **wrong}.items():
        text = SERVED.replace("OUTCOMES", repr(outcomes)).replace("LEAKED", str(leaked))
        subject.write_text(text, "utf-8")
        done = said_of(language, file, run_by_python(subject), tmp_path, capsys)
        ends[name] = done.returncode == 0
        assert ends[name] == (name == "right"), name + done.stdout + done.stderr
    assert ends == {"right": True, **dict.fromkeys(wrong, False)}


UNGIVEN_TOKENS = {
    "system": "pulsar-pip430",
    "config": {},
    "steps": [
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 9},
        {"op": "get", "cache": "a", "pos": [1, 0]},
        {"op": "get", "cache": "a", "pos": [1, 1]},
    ],
}
"""A case whose insert carries no token."""


PARTIAL_SERVED: Final = """
import json, sys
offer = {"ops": ["insert", "clear"], "uncompared": {"clear": ["bytes"]}}
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"pulsar-pip430": offer}}), flush=True)
    elif request["cmd"] == "run":
        print(json.dumps({"id": request["id"], "outcomes": OUTCOMES}), flush=True)
"""
"""A subject that leaves a key out of an answer."""


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_a_key_that_the_subject_leaves_out_is_not_compared(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, subject = tmp_path / "case.json", tmp_path / "subject.py"
    steps = [{"op": "insert", "cache": "a", "pos": [1, 0], "size": 9}, {"op": "clear", "cache": "a"}]
    file.write_text(json.dumps({"system": "pulsar-pip430", "steps": steps}), "utf-8")
    for cleared, passes in (({"entries": 1}, True), ({"entries": 2}, False)):
        subject.write_text(PARTIAL_SERVED.replace("OUTCOMES", repr([{"inserted": True}, cleared])), "utf-8")
        done = said_of(language, file, run_by_python(subject), tmp_path, capsys)
        assert (done.returncode == 0) == passes, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_a_subject_that_never_answers_fails_its_test(language: str, tmp_path: Path) -> None:
    case = {"system": "pulsar-pip430", "config": {}, "steps": [{"op": "usage"}], "outcomes": [{}]}
    argv = [sys.executable, "-c", "import time; time.sleep(100)"]
    done = run_test(language, render_test(case, language, argv, timeout_seconds=1), tmp_path)
    assert (done.returncode != 0, "no answer in 1" in done.stdout + done.stderr) == (True, True), done


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_tokens_that_the_case_does_not_give_are_not_compared(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, subject = tmp_path / "case.json", tmp_path / "subject.py"
    file.write_text(json.dumps(UNGIVEN_TOKENS), "utf-8")
    inserted, hit = {"inserted": True}, {"hit": True, "tokens": [0]}
    for miss, passes in (({"hit": False, "tokens": []}, True), ({"hit": False, "tokens": [0]}, False)):
        subject.write_text(PAYLOAD_SERVED.replace("OUTCOMES", repr([inserted, hit, miss])), "utf-8")
        done = said_of(language, file, run_by_python(subject), tmp_path, capsys)
        assert (done.returncode == 0) == passes, done.stdout + done.stderr


GUIDED = {
    "system": "kafka-streams",
    "config": {},
    "steps": [
        {"op": "store_put", "store": "s", "key": "x", "value": "1"},
        {"op": "view_open", "view": "v", "store": "s"},
        {"op": "store_put", "store": "s", "key": "x", "value": "9"},
        {"op": "view_next", "view": "v"},
        {"op": "store_get", "store": "s", "key": "x"},
    ],
}
"""A case whose view may show x with 1 or with 9; in its file it shows 1."""

VIEWS_SERVED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "start":
        print(json.dumps({"version": 1, "systems": {"kafka-streams": {"ops": OPS}}}), flush=True)
    elif request["cmd"] == "run":
        print(json.dumps({"id": request["id"], "outcomes": OUTCOMES}), flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_a_step_with_several_right_answers_takes_each_of_them(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that the file does not have ends the test, because those behind it may depend on it."""
    file, subject = tmp_path / "case.json", tmp_path / "subject.py"
    first, read = {"entry": ["x", "1"]}, {"value": "9"}
    file.write_text(json.dumps({**GUIDED, "outcomes": [{}, {}, {}, first, read]}), "utf-8")
    ends = {
        "1": ([first, read], True),
        "9": ([{"entry": ["x", "9"]}, read], True),
        "7": ([{"entry": ["x", "7"]}, read], False),
        "none": ([{"entry": None}, read], False),
        "the next step": ([first, {"value": "1"}], False),
    }
    for name, (answers, passes) in ends.items():
        text = VIEWS_SERVED.replace("OPS", repr(["store_put", "view_open", "view_next", "store_get"]))
        subject.write_text(text.replace("OUTCOMES", repr([{}, {}, {}, *answers])), "utf-8")
        done = said_of(language, file, run_by_python(subject), tmp_path, capsys)
        assert (done.returncode == 0) == passes, name + done.stdout + done.stderr


def test_a_subject_with_order_slack_has_no_such_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subject = tmp_path / "slack.py"
    offer = {"ops": sorted(SYSTEMS["pulsar-pip430"].ops), "order_slack": 1}
    started = json.dumps({"version": 1, "systems": {"pulsar-pip430": offer}})
    subject.write_text(f"import sys\nfor line in sys.stdin:\n    print({started!r}, flush=True)\n", "utf-8")
    command = run_by_python(subject)
    code, _, err = run(capsys, "replay", str(EVICT), "--as", "pytest", "--command", command)
    assert code == 2
    assert "has order_slack, and a test that stands alone cannot follow its order" in err


EVICT = ROOT / "spec" / "examples" / "R-EVICT-3.json"


@pytest.mark.parametrize("language", TEST_TEMPLATES)
@pytest.mark.parametrize("subject", ["fast", "reference", "requeue-keeps-stamp"])
def test_it_starts_the_subject_by_its_name(subject: str, language: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "replay", str(EVICT), subject, "--as", language)
    assert code == 0
    assert json.dumps(json.dumps(["entrycache", "serve", subject, "--system", "pulsar-pip430"])) in text
    assert run(capsys, "replay", str(EVICT), subject, "--as", language)[1] == text


@pytest.mark.long
def test_it_starts_a_class_of_the_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", "--lang", "python")[0] == 0
    file = ROOT / "spec" / "examples" / "R-READ-3.json"
    code, text, err = run(capsys, "replay", str(file), "my_cache:MyCache", "--as", "pytest")
    assert (code, err) == (0, "")
    started = json.dumps(json.dumps(["entrycache", "serve", "my_cache:MyCache", "--system", "pulsar-pip430"]))
    assert started in text
    here = started.replace("entrycache", f'{sys.executable}\\", \\"-m\\", \\"entrycache_cli', 1)
    Path("test_it.py").write_text(text.replace(started, here), "utf-8")
    ends = [subprocess.run(LANGUAGES["pytest"].argv, capture_output=True, check=False).returncode]
    cache = Path("my_cache.py").read_text("utf-8")
    Path("my_cache.py").write_text(cache.replace("first <= pos <= last", "first <= pos < last"), "utf-8")
    ends.append(subprocess.run(LANGUAGES["pytest"].argv, capture_output=True, check=False).returncode)
    assert ends == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--as", "pytest"], "no subject was named"),
        (["nothing", "--as", "go"], "unknown subject 'nothing'"),
        (["fast", "--system", "kafka-streams", "--as", "rust"], "the case is about pulsar-pip430"),
        (["fast", "--as", "java"], "--as java tests the released classes of its class path, not fast"),
        (["--command", "x y", "--as", "java"], "not --command 'x y'"),
        (["pulsar:no-version", "--as", "java"], "no-version"),
        (["kafka-streams:4.3.1", "--as", "java"], "the case is about pulsar-pip430, kafka-streams:4.3.1 offers"),
    ],
)
def test_a_test_of_nothing_is_not_written(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "replay", str(EVICT), *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    assert said in err


def test_a_java_program_says_where_its_classes_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "replay", str(EVICT), "pulsar:4.2.4", "--as", "java")
    assert (code, err) == (0, "entrycache: the program tests its class path; put the classes of pulsar:4.2.4 there\n")
    assert run(capsys, "replay", str(EVICT), "--as", "java") == (0, out, "")
