"""The pages about state machines of Hypothesis, played as they stand from an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support import ROOT
from tests.support.pages import blocks, commands, play

TUTORIAL = "tutorials/stateful-test.md"
UNSHRUNK = """
from hypothesis import Phase, settings
settings.register_profile("unshrunk", phases=[Phase.generate], deadline=None, derandomize=False)
settings.load_profile("unshrunk")
"""
HOW_TO = "how-to/stateful-tests.md"
NIGHTLY = "how-to/nightly-fuzzing.md"
BIN = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("page", "number"),
    [
        pytest.param(TUTORIAL, 4, marks=pytest.mark.long),
        pytest.param(HOW_TO, 2, marks=pytest.mark.long),
        (NIGHTLY, 1),
    ],
)
def test_the_page_is_true(page: str, number: int, tmp_path: Path) -> None:
    assert play(ROOT / "docs" / page, tmp_path) == number


def test_the_first_test_has_fifteen_lines() -> None:
    first = next(block.text for block in blocks(ROOT / "docs" / TUTORIAL) if block.file == "test_lru.py")
    lines = [line for line in first.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 15


def read_blocks(page: str) -> dict[str, str]:
    """Return the text of each file of a page by its name, and of its last other block of a language by that."""
    return {block.file or block.language: block.text for block in blocks(ROOT / "docs" / page)}


def run_tests(folder: Path, *arguments: str, **environment: str) -> str:
    """Run pytest in a folder and return what it prints."""
    argv = [sys.executable, "-m", "pytest", "-q", *arguments]
    done = subprocess.run(
        argv, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("example", "right", "wrong"),
    [
        pytest.param("Crashes", "in self.journal}", "in self.journal[1:]}", marks=pytest.mark.long),
        pytest.param(
            "SecondClient",
            "return dict(self.sizes)",
            "return dict(list(self.sizes.items())[1:])",
            marks=pytest.mark.long,
        ),
        ("Metrics", "self.total_bytes += size", "self.total_bytes = size"),
    ],
)
def test_each_documented_subclass_finds_its_mistake(example: str, right: str, wrong: str, tmp_path: Path) -> None:
    texts = read_blocks(HOW_TO)
    assert texts["my_cache.py"].count(right) == 1
    (tmp_path / "my_cache.py").write_text(texts["my_cache.py"].replace(right, wrong), "utf-8")
    (tmp_path / "test_my_cache.py").write_text(texts["test_my_cache.py"], "utf-8")
    (tmp_path / "conftest.py").write_text(UNSHRUNK, "utf-8")
    (tmp_path / "test_example.py").write_text(
        f"from test_my_cache import {example}\nTest = {example}.TestCase", "utf-8"
    )
    printed = run_tests(tmp_path, "test_example.py", "--hypothesis-seed=0")
    assert "1 failed" in printed, printed


FORGETFUL = """
from entrycache import Subject, state_machine

class MyCache(Subject):
    system, settings = "pulsar-pip430", ()
    def insert(self, cache, pos, size, expected_reads=None):
        return {"inserted": size >= 0}

TestRange = state_machine(MyCache, level="range").TestCase
"""
"""A test of a cache that takes each entry again and again, and entries of a negative size without an error."""


@pytest.mark.long
def test_the_nightly_job_keeps_a_failure_that_is_played_again_at_home(tmp_path: Path) -> None:
    texts = read_blocks(NIGHTLY)
    steps = yaml.safe_load(texts["yaml"])["jobs"]["fuzz"]["steps"]
    install, run = [step["run"] for step in steps if "run" in step]
    assert install.startswith("pip install ")
    kept, uploaded = [step["with"]["path"].split() for step in steps if "path" in step.get("with", {})]
    job, home = tmp_path / "job", tmp_path / "home"
    (home / "failures").mkdir(parents=True)
    job.mkdir()
    for folder in (job, home):
        (folder / "conftest.py").write_text(texts["conftest.py"], "utf-8")
        (folder / "test_cache.py").write_text(FORGETFUL, "utf-8")
    environment = {**os.environ, "PATH": BIN, "CI": "true"}
    done = subprocess.run(
        ["bash", "-e", "-c", run], cwd=job, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout
    assert set(kept) < set(uploaded)
    for name in uploaded:
        assert any((job / name).iterdir())
        shutil.copytree(job / name, home / "failures" / name)

    (home / "local_conftest.py").write_text(texts["local_conftest.py"] + ONLY_AGAIN, "utf-8")
    command = next(
        iter(commands(next(block for block in blocks(ROOT / "docs" / NIGHTLY) if "-p local_" in block.text)))
    )
    assert command.code == 1
    command.check(home)

    version, blob = re.findall(r"@reproduce_failure\('([\d.]+)', b'(.*)'\)", done.stdout)[0]
    again = re.sub(r"@reproduce_failure\(.*\)", f"@reproduce_failure({version!r}, {blob.encode()!r})", texts["text"])
    (home / "test_blob.py").write_text(f"{NAMES}{again}", "utf-8")
    (case_file,) = (job / "entrycache-failures").iterdir()
    (home / "test_file.py").write_text(f"{NAMES}path = {str(case_file)!r}\n\ndef test():\n    {PLAY}\n", "utf-8")
    assert PLAY in (ROOT / "docs" / NIGHTLY).read_text("utf-8")
    printed = run_tests(home, "test_blob.py", "test_file.py")
    assert "2 failed" in printed, printed
    assert printed.count("MyCache breaks R-") >= 2, printed  # pytest repeats a text where CI is set


NAMES = """
from hypothesis import reproduce_failure
from entrycache import load_case, state_machine
from test_cache import MyCache

"""
PLAY = "state_machine(MyCache).play(load_case(path))"
ONLY_AGAIN = """
from hypothesis import Phase
settings.register_profile("nightly-failures", settings.get_profile("nightly-failures"), phases=[Phase.reuse])
"""
"""The profile without a search, which so fails by the nightly example alone."""
