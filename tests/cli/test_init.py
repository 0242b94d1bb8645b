"""`entrycache init`: the adapter builds, conforms, and fails with one character changed."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_cli.commands.init import LANGUAGES, TEMPLATES
from entrycache_conformance.java.releases import maven_project
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import config_to_json
from tests.support import ROOT
from tests.support.command import run
from tests.support.pages import blocks

LINES_MOST = 150
READER_LINES_MOST = 62
READERS = {
    "java": "src/test/java/mycache/VectorsTest.java",
    "go": "vectors_test.go",
    "rust": "src/vectors.rs",
    "node": "vectors.test.mjs",
}
SLIPS = {
    "python": ("my_cache.py", "first <= pos <= last", "first <= pos < last"),
    "java": ("src/main/java/mycache/MyCache.java", "subMap(first, true,", "subMap(first, !true,"),
    "go": ("main.go", "s.First, s.Last, true)", "s.First, s.Last, !true)"),
    "rust": ("src/main.rs", "first <= at && at <= last", "first <= at && at < last"),
    "node": ("cache.mjs", "byPosition(pos, last) <= 0)", "byPosition(pos, last) < 0)"),
}
"""A file of each language, with a text and its slip of about one character."""


def params() -> list[ParameterSet]:
    """Return the languages; one is for every run, and the long tests build the others."""
    return [pytest.param(name, marks=() if name == "node" else pytest.mark.long) for name in LANGUAGES]


def built(language: str, folder: Path) -> None:
    if LANGUAGES[language].build:
        subprocess.run(LANGUAGES[language].build, shell=True, cwd=folder, check=True, capture_output=True)


def vectors_played(language: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return the output of the language's own test runner for the vectors."""
    return subprocess.run(LANGUAGES[language].test, shell=True, cwd=folder, capture_output=True, text=True, check=False)


def with_hash(manifest: str, text: bytes) -> str:
    """Return a manifest that has another hash for its first pack."""
    value = json.loads(manifest)
    value["packs"][0]["sha256"] = hashlib.sha256(text).hexdigest()
    return json.dumps(value)


def crossing() -> bytes:
    """Return a vector of level `range` alone in which an insert crosses the manager's trigger."""
    config = reference_subject(SYSTEMS["pulsar-pip430"]).declaration.base_config()
    config_json = config_to_json(
        SYSTEMS["pulsar-pip430"], dataclasses.replace(config, max_size_bytes=100, watermark=0.5)
    )
    steps = [{"op": "insert", "cache": "a", "pos": [1, 0], "size": 99}, {"op": "usage"}]
    outcomes = [{"inserted": True}, {"entries": 0, "bytes": 0}]
    vector = {"system": "pulsar-pip430", "config": config_json, "steps": steps, "outcomes": outcomes}
    return json.dumps({**vector, "note": "pulsar-pip430-manager 0, seed 0"}).encode() + b"\n"


def check_that_no_wrong_pack_passes(language: str, folder: Path) -> None:
    """Check that bad packs fail: cut, unknown to the manifest, wrong outcome, and two with too few playable cases.

    Of the last two, one has nine cases, and one has a case with a setting that the adapter does not know.
    """
    pack, known = folder / "vectors" / "small.jsonl.gz", folder / "vectors" / "manifest.json"
    packed, manifest = pack.read_bytes(), known.read_text(encoding="utf-8")
    text = gzip.decompress(packed)
    wrong = text.replace(b'"hit":true', b'"hit":false', 1)
    few = b"".join(text.splitlines(keepends=True)[:9])
    for content, named, says in (
        (packed[: len(packed) // 2], manifest, ""),
        (gzip.compress(text[: text.rindex(b"\n", 0, -1) + 1]), manifest, "is not as the manifest beside it says"),
        (gzip.compress(wrong), manifest, "is not as the manifest beside it says"),
        (gzip.compress(wrong), with_hash(manifest, wrong), "pulsar-pip430-range"),
        (gzip.compress(few), with_hash(manifest, few), "too few vectors were played"),
        (gzip.compress(crossing()), with_hash(manifest, crossing()), "too few vectors were played"),
    ):
        pack.write_bytes(content)
        known.write_text(named, encoding="utf-8")
        done = vectors_played(language, folder)
        assert done.returncode != 0, says
        assert says in done.stdout + done.stderr
    pack.write_bytes(packed)
    known.write_text(manifest, encoding="utf-8")


def judged(capsys: pytest.CaptureFixture[str], language: str, command: str) -> tuple[int, str]:
    """Run a command that starts the adapter as a program; return its exit code and output."""
    start = LANGUAGES[language].command.replace("python ", f"{sys.executable} ")
    code, out, err = run(capsys, command, "--command", start, *(["--level", "range"] if command == "conform" else []))
    return code, out + err


@pytest.mark.long
@pytest.mark.parametrize("language", params())
def test_it_conforms_and_a_slip_in_it_is_caught(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(LANGUAGES[language].tool) is None:
        pytest.skip(f"{LANGUAGES[language].tool} is missing")
    folder = tmp_path / "mine"
    code, out, _ = run(capsys, "init", "--lang", language, str(folder))
    assert code == 0
    assert f"entrycache smoke {LANGUAGES[language].subject}" in out
    built(language, folder)
    monkeypatch.chdir(folder)
    for command in ("smoke", "conform"):
        code, said = judged(capsys, language, command)
        assert code == 0, said
    if LANGUAGES[language].test:
        done = vectors_played(language, folder)
        assert done.returncode == 0, done.stdout + done.stderr
        check_that_no_wrong_pack_passes(language, folder)
    name, right, wrong = SLIPS[language]
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (folder / name).write_text(text.replace(right, wrong), encoding="utf-8")
    built(language, folder)
    code, said = judged(capsys, language, "conform")
    assert code == 1, said
    assert "R-READ-" in said
    if LANGUAGES[language].test:
        done = vectors_played(language, folder)
        assert done.returncode != 0
        assert "pulsar-pip430-range 1, seed 0" in done.stdout + done.stderr


@pytest.mark.long
def test_the_reader_in_javascript_plays_in_vitest_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("npm") is None:
        pytest.skip("node, with npm, is missing")
    run(capsys, "init", "--lang", "node", str(tmp_path))
    subprocess.run(["npm", "install", "--no-fund", "--no-audit", "vitest"], cwd=tmp_path, check=True)
    runs = {}
    for wrong in (False, True):
        text = (tmp_path / "cache.mjs").read_text(encoding="utf-8")
        (tmp_path / "cache.mjs").write_text(text.replace(*SLIPS["node"][1:]) if wrong else text, encoding="utf-8")
        argv = ["npx", "vitest", "run"]
        runs[wrong] = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (runs[False].returncode, "vectors played" in runs[False].stdout) == (0, True), runs[False].stdout
    assert (runs[True].returncode, "pulsar-pip430-range 1, seed 0" in runs[True].stderr) == (1, True), runs[True].stderr


@pytest.mark.long
def test_another_pack_is_named_by_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    run(capsys, "init", "--lang", "node", str(tmp_path))
    filled = tmp_path / "filled here"
    assert run(capsys, "vectors", "fill", "--pack", "small", "--seed", "7", "--out", str(filled))[0] == 0
    monkeypatch.setenv("ENTRYCACHE_VECTORS", str(filled / "small.jsonl.gz"))
    assert vectors_played("node", tmp_path).returncode == 0
    (filled / "manifest.json").write_text((tmp_path / "vectors" / "manifest.json").read_text("utf-8"), encoding="utf-8")
    done = vectors_played("node", tmp_path)
    assert (done.returncode, "is not as the manifest beside it says" in done.stdout) == (1, True)


@pytest.mark.parametrize("language", READERS)
def test_the_reader_of_vectors_is_short(language: str) -> None:
    text = (TEMPLATES / language / READERS[language]).read_text(encoding="utf-8")
    assert {name for name, each in LANGUAGES.items() if each.test} == READERS.keys()
    assert sum(bool(line.strip()) for line in text.splitlines()) <= READER_LINES_MOST


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_adapter_is_short(language: str) -> None:
    text = (TEMPLATES / language / f"{SLIPS[language][0]}{'.txt' if language == 'python' else ''}").read_text(
        encoding="utf-8"
    )
    assert sum(bool(line.strip()) for line in text.splitlines()) <= LINES_MOST


def test_the_one_in_python_is_that_of_its_page() -> None:
    page = [block.text for block in blocks(ROOT / "docs" / "how-to/python-subject.md") if block.file == "my_cache.py"]
    assert page[-1] == (TEMPLATES / "python" / "my_cache.py.txt").read_text(encoding="utf-8")


def test_the_one_in_java_has_the_classes_of_our_own_drivers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "--lang", "java", str(tmp_path))
    own = maven_project() / "protocol" / "src" / "main" / "java"
    classes = {path.relative_to(own): path.read_text(encoding="utf-8") for path in own.rglob("*.java")}
    assert classes
    for name, text in classes.items():
        assert (tmp_path / "src" / "main" / "java" / name).read_text(encoding="utf-8") == text


def test_no_file_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.go").write_text("mine", encoding="utf-8")
    code, _, err = run(capsys, "init", "--lang", "go", str(tmp_path))
    assert code == 2
    assert "exists already" in err
    assert len(err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["main.go"]
    assert (tmp_path / "main.go").read_text(encoding="utf-8") == "mine"


def test_what_is_missing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, _ = run(capsys, "init", "--lang", "rust", str(tmp_path / "mine"))
    assert code == 0
    assert "install cargo" in out
