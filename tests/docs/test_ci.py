"""The page docs/how-to/ci.md: the action's script, and a bisection."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import case_from_json, write_case
from tests.support import ROOT
from tests.support.sandboxes import can

PAGE = (ROOT / "docs" / "how-to/ci.md").read_text("utf-8")
CACHE = """
import json, sys
removed = {"entries": int(sys.argv[1]), "bytes": int(sys.argv[1])}
print(json.dumps({"version": 1, "systems": {"pulsar-pip430": {"ops": ["insert", "expire"]}}}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "run":
        print(json.dumps({"id": asked["id"], "outcomes": [{"inserted": True}, removed]}), flush=True)
"""
"""A subject that answers one case and starts quickly."""
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def script() -> str:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    inputs = {name: str(one["default"]) for name, one in action["inputs"].items()}
    step = action["runs"]["steps"][1]
    assert set(re.findall(r"inputs\.([a-z]+)", str(action["runs"]))) == inputs.keys()
    assert all(f'"${name}"' in step["run"] for name in step["env"])
    return str(step["run"])


BROKEN = '{"broken": {"message": "a library is missing"}}'
"""The answer of an adapter that cannot work, such as a driver that does not fit its jar."""


def run_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    names = ("COMMAND", "SUBJECT", "CLASSPATH_IN_FRONT", "SYSTEM", "KNOWN")
    env = {**ENVIRONMENT, **dict.fromkeys(names, ""), "PROFILE": "dev", **given}
    env["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    return subprocess.run(
        ["bash", "-e", "-c", script()], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_the_action_fails_where_a_rule_is_broken(tmp_path: Path) -> None:
    done = run_action(tmp_path, SUBJECT="expire-at-the-cutoff")
    assert done.returncode == 1, done.stderr
    assert "R-EXPIRE-1" in (tmp_path / "summary.md").read_text("utf-8")
    assert "R-EXPIRE-1" in (tmp_path / "entrycache.xml").read_text("utf-8")
    assert (tmp_path / "entrycache.html").is_file()


def test_the_action_asks_a_command_and_says_that_it_is_broken(tmp_path: Path) -> None:
    assert run_action(tmp_path, COMMAND="false").returncode == 3
    assert run_action(tmp_path).returncode == 2


@pytest.mark.long
def test_the_bisection_finds_the_commit(tmp_path: Path) -> None:
    recipe = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert recipe is not None
    (tmp_path / "bisect.sh").write_text(recipe[1], "utf-8")
    steps = [
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1},
        {"op": "expire", "older_than_nanos": 0},
    ]
    case = case_from_json({"system": "pulsar-pip430", "config": {}, "steps": steps}, SYSTEMS)
    file = write_case(case, tmp_path / "kept", "case")
    repository = tmp_path / "repository"
    repository.mkdir()
    (tmp_path / "cache.py").write_text(CACHE, "utf-8")
    subjects = ["0", "0", "0", "no-number", "0", "1", "1"]
    git(repository, "init", "-q")
    for at, subject in enumerate(subjects):
        (repository / "run.sh").write_text(f"exec {sys.executable} -I -S ../cache.py {subject}\n# {at}\n", "utf-8")
        git(repository, "add", "run.sh")
        git(repository, "commit", "-q", "-m", f"commit {at}")
    git(repository, "bisect", "start", "HEAD", "HEAD~6")
    output = git(repository, "bisect", "run", "sh", str(tmp_path / "bisect.sh"), str(file), "sh run.sh")
    (tmp_path / "broken.py").write_text(f"input(); print({BROKEN!r})", "utf-8")
    for command in ("false", f"{sys.executable} broken.py"):
        skipped = subprocess.run(["sh", "bisect.sh", str(file), command], cwd=tmp_path, env=ENVIRONMENT, check=False)
        assert skipped.returncode == 125
    assert "is the first bad commit" in output
    assert "commit 5" in output.partition("is the first bad commit")[2]


def test_the_image_is_built_of_the_sources_alone_and_runs() -> None:
    copied = (ROOT / ".dockerignore").read_text("utf-8").split("\n")
    own = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text("utf-8").split() if "audit" not in line]
    assert {".git", ".venv", ".venv-lowest", "dist", "build"} <= {*own, ".git"} & {*copied}
    if not can("docker"):
        pytest.skip("docker is missing, or its engine does not answer")
    subprocess.run(["docker", "build", "-q", "-t", "entrycache-test", str(ROOT)], check=True)
    done = subprocess.run(
        ["docker", "run", "--rm", "--network", "none", "entrycache-test", "conform", "fast", "--level", "range"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def git(folder: Path, *arguments: str) -> str:
    options = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_every_variable_that_is_read_is_on_the_page() -> None:
    folders = ("conformance", "spark_checks")
    texts = [path.read_text("utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")]
    read = {name for text in texts for name in re.findall(r'environ(?:\.get\(|\.setdefault\(|\[)"([A-Z_]+)"', text)}
    assert "ENTRYCACHE_CACHE" in read
    assert {name for name in read - {"PYSPARK_PYTHON"} if f"`{name}`" not in PAGE} == set()
