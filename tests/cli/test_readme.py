"""The README's commands run as a reader would run them, each with the exit code that the README names."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from entrycache_conformance.java.driver import jar_under_test
from entrycache_conformance.java.releases import example_release
from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.model import CASES_FOLDER
from tests.support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", README, re.S) for line in block.splitlines()]
ADAPTER_TEMPLATE = "conformance/entrycache_cli/templates/adapters/python/my_cache.py.txt"
ENTRYCACHE = [command for command in COMMANDS if command.startswith("entrycache ")]


def test_every_command_of_the_readme_is_known_here() -> None:
    others = [command for command in COMMANDS if command not in ENTRYCACHE]
    assert len(others) == 2  # clone, and make conform, which the test command runs as its last part
    assert len(ENTRYCACHE) >= 6


def params() -> list[ParameterSet]:
    """Leave out all subjects but a class, which other tests check, and policies, which have to be compiled."""
    dear = re.compile(r"entrycache (conform (?!my_cache).*?|policies .*?) *(#.*)?")
    return [pytest.param(line, marks=pytest.mark.long if dear.fullmatch(line) else ()) for line in ENTRYCACHE]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_table_of_systems_names_each_level_and_no_other(name: str) -> None:
    row = re.search(rf"^\| `{name}` \| .* \| (.*) \| .* \|$", README, re.MULTILINE)
    assert row is not None
    assert set(row[1].split(", ")) - {"concurrent"} == set(SYSTEMS[name].levels)


@pytest.mark.parametrize("line", params())
def test_a_command_of_the_readme_does_what_it_says(line: str, tmp_path: Path) -> None:
    words, _, comment = line.partition("#")
    if "node" in words and shutil.which("node") is None:
        pytest.skip("node is missing")
    if "pulsar:" in words and (shutil.which("mvn") is None or shutil.which("javac") is None):
        pytest.skip("mvn or javac is missing")
    arguments = shlex.split(words)[1:]
    standing_for = {
        "node cache.mjs": f"node {ROOT / 'tests/conformance/outside/cache.mjs'}",
        "FILE": str(CASES_FOLDER / "expire-at-the-cutoff.json"),
    }
    if "my.jar" in arguments:
        standing_for["my.jar"] = str(jar_under_test(example_release("pulsar").subject))
    if "audit" in arguments:
        generate = next(command for command in ENTRYCACHE if command.startswith("entrycache trace generate "))
        generate_argv = [sys.executable, "-m", "entrycache_cli", *shlex.split(generate.partition("#")[0])[1:]]
        subprocess.run(generate_argv, cwd=tmp_path, check=True)
    if "my_cache:MyCache" in arguments:
        shutil.copy(ROOT / ADAPTER_TEMPLATE, tmp_path / "my_cache.py")
    argv = [sys.executable, "-m", "entrycache_cli", *(standing_for.get(word, word) for word in arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    expected = 1 if "exits 1" in comment else 0
    assert done.returncode == expected, done.stdout + done.stderr
    assert done.stdout.strip()
