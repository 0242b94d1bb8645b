"""The adapter in Java that `init` writes: the hook at the end of a run, and a library that is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from entrycache_cli.commands.init import write_adapter
from entrycache_conformance.java import releases
from entrycache_conformance.java.driver import build_driver
from tests.support.command import run

CASE = {
    "system": "kafka-streams",
    "config": {"max_size_bytes": 47},
    "steps": [{"op": "put", "ns": "a", "key": "x", "value": "1"}],
}

LIBRARY = "package library;\npublic final class Native { public static void open() {} }\n"
"""A library that the cache needs."""


@pytest.fixture(scope="module")
def gson() -> str:
    """Return the jar of Gson from the class path of our own drivers."""
    jars = build_driver(releases.require_release("kafka-streams:4.3.1")).jars
    return str(next(jar for jar in jars if "gson" in jar.name))


def compiled(folder: Path, gson: str, *changes: tuple[str, str, str], library: str = "") -> Path:
    """Write the adapter of kind lru with these changes, and return the folder of its classes."""
    if shutil.which("javac") is None:
        pytest.skip("javac is missing")
    write_adapter("java", folder, "lru")
    for name, old, new in changes:
        path = folder / "src" / "main" / "java" / "mycache" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    sources = sorted(map(str, folder.rglob("*.java")))
    argv = ["javac", "-nowarn", "-proc:none", "-cp", f"{gson}:{library}", "-d", str(folder / "classes"), *sources]
    subprocess.run(argv, check=True)
    return folder / "classes"


@pytest.mark.long
def test_close_ends_each_run_also_one_that_fails(tmp_path: Path, gson: str) -> None:
    closes = (
        (
            "MyCache.java",
            "        cache.clear();\n    }\n\n    public static",
            '        System.err.println("closed");\n        if (Boolean.getBoolean("fails")) {\n'
            '            throw new IllegalStateException("at the end");\n        }\n    }\n\n    public static',
        ),
        ("Lru.java", "        return entries.remove(key);", '        throw new IllegalStateException("no");'),
    )
    classes = compiled(tmp_path, gson, *closes)
    delete = {"op": "delete", "ns": "a", "key": "x"}
    requests = [
        {"cmd": "run", "id": number, **CASE, "steps": steps}
        for number, steps in enumerate((CASE["steps"], [*CASE["steps"], delete]))
    ]
    given = "".join(json.dumps(request) + "\n" for request in requests)

    def answers_of(*options: str) -> list[dict[str, Any]]:
        argv = ["java", *options, "-cp", f"{classes}:{gson}", "mycache.MyCache"]
        done = subprocess.run(argv, input=given, capture_output=True, text=True, check=True)
        assert done.stderr.count("closed") == 2
        return [json.loads(line) for line in done.stdout.splitlines()]

    answers = answers_of()
    assert answers[0] == {"id": 0, "outcomes": [{}]}
    assert answers[1]["errored"]["step"] == 1
    failed = answers_of("-Dfails=true")[0]["errored"]
    assert (failed["step"], "at the end" in failed["message"]) == (0, True)


@pytest.mark.long
def test_a_missing_library_of_the_cache_is_named_and_no_verdict(
    tmp_path: Path, gson: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Native.java").write_text(LIBRARY, encoding="utf-8")
    subprocess.run(["javac", "-d", str(tmp_path / "library"), str(tmp_path / "Native.java")], check=True)
    uses = (
        "Lru.java",
        "        entries.put(key, value);",
        "        library.Native.open();\n        entries.put(key, value);",
    )
    classes = compiled(tmp_path / "mine", gson, uses, library=str(tmp_path / "library"))
    (tmp_path / "case.json").write_text(json.dumps(CASE), encoding="utf-8")
    command = f"java -cp {classes}:{gson} mycache.MyCache"
    code, out, err = run(capsys, "replay", str(tmp_path / "case.json"), "--command", command)
    assert code == 3, out + err
    assert "needs class library.Native, which is not on the class path; add the jar that holds it" in err
    assert "entrycache subjects" not in err


@pytest.mark.long
def test_missing_gson_is_named(tmp_path: Path, gson: str, capsys: pytest.CaptureFixture[str]) -> None:
    classes = compiled(tmp_path, gson)
    (tmp_path / "case.json").write_text(json.dumps(CASE), encoding="utf-8")
    code, _, err = run(
        capsys, "replay", str(tmp_path / "case.json"), "--command", f"java -cp {classes} mycache.MyCache"
    )
    assert (code, "com/google/gson" in err) == (3, True), err
