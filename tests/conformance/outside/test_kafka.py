"""A cache for `kafka-streams` that was written from the rules alone passes; a changed one does not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SOURCE = Path(__file__).with_name("kafka.mjs")
STEPS_MOST = 8

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is missing")


class Slip(NamedTuple):
    """One change of the source, and the rule that forbids it."""

    level: str
    right: str
    wrong: str
    rule: str


SLIPS = {
    "a key counts UTF-16 units": Slip("cache", "utf8(key) + utf8(value)", "key.length + utf8(value)", "K-SIZE-1"),
    "an evicted entry comes last": Slip("cache", "keys.unshift(evicted)", "keys.push(evicted)", "K-EVICT-3"),
    "an overtaken entry is forwarded": Slip("store", "passed.get(key) > write", "false", "K-STORE-4"),
}


def run(source: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    argv = [sys.executable, "-m", "entrycache_cli", *arguments, "--command", f"node {source}", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=source.parent)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["smoke"], ["conform", "--profile", "dev"]])
def test_an_outside_cache_passes(arguments: list[str], tmp_path: Path) -> None:
    code, report = run(Path(shutil.copy(SOURCE, tmp_path)), *arguments)
    assert code == 0, report
    assert report["verdict"] == "conforms"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if at else ()) for at, name in enumerate(SLIPS)]
)
def test_a_slip_is_caught_shrunk_and_named(name: str, tmp_path: Path) -> None:
    slip = SLIPS[name]
    text = SOURCE.read_text(encoding="utf-8")
    assert text.count(slip.right) == 1
    changed = tmp_path / "changed.mjs"
    changed.write_text(text.replace(slip.right, slip.wrong), encoding="utf-8")
    code, report = run(changed, "conform", "--level", slip.level)
    assert code == 1
    failure = report["failures"][0]
    assert failure["rule"] == slip.rule
    assert failure["steps"] <= STEPS_MOST
