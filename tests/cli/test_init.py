"""`entrycache init`: what it writes is built, conforms, and is caught with one character changed."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_cli.init.adapter import LANGUAGES, TEMPLATES
from entrycache_conformance.java.releases import sources
from tests.support import ROOT
from tests.support.command import run
from tests.support.pages import blocks

LINES_MOST = 150
SLIPS = {
    "python": ("my_cache.py", "first <= pos <= last", "first <= pos < last"),
    "java": ("src/main/java/mycache/MyCache.java", "subMap(first, true,", "subMap(first, !true,"),
    "go": ("main.go", "s.First, s.Last, true)", "s.First, s.Last, !true)"),
    "rust": ("src/main.rs", "first <= at && at <= last", "first <= at && at < last"),
    "node": ("cache.mjs", "byPosition(pos, last) <= 0)", "byPosition(pos, last) < 0)"),
}
"""A file of each, and what is one character, or nearly, from being wrong."""


def params() -> list[ParameterSet]:
    """One is for every run; the one in Python is played from its page, and the others are built for long."""
    return [pytest.param(name, marks=() if name == "node" else pytest.mark.long) for name in LANGUAGES]


def built(language: str, folder: Path) -> None:
    if LANGUAGES[language].build:
        subprocess.run(LANGUAGES[language].build, shell=True, cwd=folder, check=True, capture_output=True)


def vectors_played(language: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the language's own test runner says of the vectors."""
    return subprocess.run(LANGUAGES[language].test, shell=True, cwd=folder, capture_output=True, text=True, check=False)


def judged(capsys: pytest.CaptureFixture[str], language: str, command: str) -> tuple[int, str]:
    """The exit code and what is printed of a command that starts the adapter as a program."""
    start = LANGUAGES[language].command.replace("python ", f"{sys.executable} ")
    code, out, err = run(capsys, command, "--command", start, *(["--level", "range"] if command == "conform" else []))
    return code, out + err


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
    told = {}
    for wrong in (False, True):
        text = (tmp_path / "cache.mjs").read_text(encoding="utf-8")
        (tmp_path / "cache.mjs").write_text(text.replace(*SLIPS["node"][1:]) if wrong else text, encoding="utf-8")
        argv = ["npx", "vitest", "run"]
        told[wrong] = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told[False].returncode, "vectors played" in told[False].stdout) == (0, True), told[False].stdout
    assert (told[True].returncode, "pulsar-pip430-range 1, seed 0" in told[True].stderr) == (1, True), told[True].stderr


def test_a_reader_of_vectors_that_played_none_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    run(capsys, "init", "--lang", "node", str(tmp_path))
    assert vectors_played("node", tmp_path).returncode == 0
    with gzip.open(tmp_path / "vectors.jsonl.gz", "rt", encoding="utf-8") as pack:
        others = [line for line in pack if '"system":"kafka-streams"' in line]
    with gzip.open(tmp_path / "others.jsonl.gz", "wt", encoding="utf-8") as pack:
        pack.writelines(others)
    monkeypatch.setenv("ENTRYCACHE_VECTORS", str(tmp_path / "others.jsonl.gz"))
    done = vectors_played("node", tmp_path)
    assert (done.returncode, "no vector was played" in done.stdout) == (1, True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_adapter_is_short(language: str) -> None:
    text = (TEMPLATES / language / f"{SLIPS[language][0]}{'.txt' if language == 'python' else ''}").read_text(
        encoding="utf-8"
    )
    assert sum(bool(line.strip()) for line in text.splitlines()) <= LINES_MOST


def test_the_one_in_python_is_that_of_its_page() -> None:
    page = [block.text for block in blocks(ROOT / "docs" / "python-subject.md") if block.file == "my_cache.py"]
    assert page[-1] == (TEMPLATES / "python" / "my_cache.py.txt").read_text(encoding="utf-8")


def test_the_one_in_java_has_the_classes_of_our_own_drivers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "--lang", "java", str(tmp_path))
    own = sources() / "protocol" / "src" / "main" / "java"
    classes = {path.relative_to(own): path.read_text(encoding="utf-8") for path in own.rglob("*.java")}
    assert classes
    for name, text in classes.items():
        assert (tmp_path / "src" / "main" / "java" / name).read_text(encoding="utf-8") == text


def test_no_file_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.go").write_text("mine", encoding="utf-8")
    code, _, err = run(capsys, "init", "--lang", "go", str(tmp_path))
    assert code == 2
    assert "is there already" in err
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
