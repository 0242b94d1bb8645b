"""Two caches that an author wrote from the protocol and the rules, without having seen this code, pass."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    command_lines = {}
    if shutil.which("node"):
        command_lines["node"] = f"node {HERE / 'cache.mjs'}"
    if shutil.which("go"):
        binary = tmp_path_factory.mktemp("go") / "cache"
        subprocess.run(["go", "build", "-o", str(binary), str(HERE / "cache.go")], check=True, cwd=HERE)
        command_lines["go"] = str(binary)
    return command_lines


@pytest.mark.parametrize("tool", ["node", "go"])
@pytest.mark.parametrize(
    "arguments", [["smoke"], pytest.param(["conform", "--profile", "dev", "--validate"], marks=pytest.mark.long)]
)
def test_an_outside_cache_passes(tool: str, arguments: list[str], commands: dict[str, str]) -> None:
    if tool not in commands:
        pytest.skip(f"{tool} is missing")
    argv = [sys.executable, "-m", "entrycache_cli", *arguments, "--command", commands[tool], "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["verdict"] == "conforms"
