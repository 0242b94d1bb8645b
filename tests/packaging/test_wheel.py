"""The wheel in an empty environment without extras: it is complete and brings nothing heavy."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from entrycache_evidence.core.rule_registry import load_linked_rules
from tests.support import ROOT
from tests.support.pages import play

UV = Path(sys.executable).parent / "uv"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the command `entrycache` of an environment with the wheel and its required packages only."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([UV, "pip", "install", "-q", "--python", python, next(built.glob("*.whl"))], check=True)
    return python.parent / "entrycache"


@pytest.mark.long
def test_the_line_of_the_readme_runs_the_wheel_without_installing_it(built: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "`uvx --from dist/*.whl entrycache conform ..`" in readme
    argv = [UV, "tool", "run", "-q", "-p", sys.executable, "--from", str(next(built.glob("*.whl"))), "entrycache"]
    done = subprocess.run([*argv, "conform"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, "no subject was named" in done.stderr) == (2, True), done.stderr


def run(command: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(command), *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def test_the_wheel_judges_the_fast_cache(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "conform", "fast", "--level", "range", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "conforms"


@pytest.mark.long
def test_the_wheel_makes_and_plays_vectors_and_writes_a_reader(installed: Path, tmp_path: Path) -> None:
    for arguments in (
        ["vectors", "consume", "small", "fast", "--system", "kafka-streams"],
        ["vectors", "fill", "--check", "--pack", "small"],
        ["init", "--lang", "go", "mine"],
    ):
        done = run(installed, *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"go.mod", "main.go", "vectors_test.go", "vectors"}
    assert {path.name for path in (tmp_path / "mine" / "vectors").iterdir()} == {"manifest.json", "small.jsonl.gz"}


@pytest.mark.long
def test_the_wheel_knows_the_rules_and_the_seeded_faults(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "rules", "R-EVICT-8", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (rule,) = json.loads(done.stdout)["rules"]
    assert rule == load_linked_rules("R-EVICT-8")[0]
    assert all(rule[name] for name in ("tests", "evidence", "trace_checks"))
    done = run(installed, "faults", "--json", cwd=tmp_path)
    assert len(json.loads(done.stdout)["exhibits"]) >= 10


@pytest.mark.parametrize("arguments", [["audit", "x"], ["prove"], ["policies"], ["trace", "inspect", "x"]])
def test_what_needs_an_extra_says_which(installed: Path, tmp_path: Path, arguments: list[str]) -> None:
    done = run(installed, *arguments, cwd=tmp_path)
    assert done.returncode == 4, done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"uv pip install --python {installed.parent / 'python'} " in done.stderr
    assert re.search(r"/entrycache-[0-9.]+-py3-none-any\.whl\[[a-z]+\]'$", done.stderr.strip())


def test_a_command_without_its_extra_still_says_what_it_is_for(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "audit", "--help", cwd=tmp_path)
    assert (done.returncode, "Check a recorded trace" in done.stdout, "[trace]" in done.stdout) == (0, True, True)


@pytest.mark.long
def test_the_line_that_is_advised_works(installed: Path, tmp_path: Path) -> None:
    advised = run(installed, "policies", cwd=tmp_path).stderr.partition(": uv ")[2].strip()
    subprocess.run([UV, *shlex.split(advised)], check=True)
    assert "extra league" not in run(installed, "doctor", cwd=tmp_path).stdout
    done = run(installed, "doctor", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["found"]["cachetools"] is not None


def test_the_wheel_holds_the_sources_of_the_drivers_and_nothing_built(installed: Path) -> None:
    packages = next((installed.parent.parent / "lib").glob("python*")) / "site-packages"
    names = {path.name for path in packages.iterdir()}
    assert not names & {"spec", "conformance", "reference", "tests", "docs", "pyspark", "pyarrow", "z3"}
    jvm = packages / "entrycache_conformance" / "jvm"
    assert (jvm / "pom.xml").is_file()
    assert list((packages / "entrycache_conformance" / "findings").glob("*/case.json"))
    schemas = (packages / "entrycache_conformance" / "spec").glob("*/case.schema.json")
    assert len({json.loads(path.read_text(encoding="utf-8"))["title"] for path in schemas}) == 4
    assert not list(jvm.rglob("*.class"))


@pytest.mark.long
def test_the_tutorial_is_true_of_the_wheel_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    python = installed.parent / "python"
    assert play(ROOT / "docs" / "tutorials/test-your-cache.md", tmp_path, python=str(python)) >= 8
