"""The release: the sources, the wheel that is built from them alone, its licences and its parts."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support import ROOT

BIN = Path(sys.executable).parent


def ran(*argv: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(each) for each in argv], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.long
def test_the_licences_are_those_that_are_allowed_and_another_one_is_seen(tmp_path: Path) -> None:
    done = ran(BIN / "pip-licenses")
    assert done.returncode == 0, done.stderr
    assert "pyspark" in done.stdout
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert text.count(";PSF-2.0;") == 1
    (tmp_path / "pyproject.toml").write_text(text.replace(";PSF-2.0;", ";"), encoding="utf-8")
    done = ran(BIN / "pip-licenses", cwd=tmp_path)
    assert (done.returncode, "PSF-2.0" in done.stderr) == (1, True)


@pytest.mark.long
def test_the_bill_of_materials_names_what_is_installed() -> None:
    path = ROOT / "dist" / "sbom.json"
    done = ran("make", "sbom")
    assert done.returncode == 0, done.stderr
    bill = json.loads(path.read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "entrycache")
    parts = {part["name"].lower(): part for part in bill["components"]}
    for name in ("click", "duckdb", "hypothesis", "pyspark", "z3-solver"):
        assert parts[name]["version"] == version(name)
    # These name their licence where pip-licenses finds it, and CycloneDX does not.
    assert {name for name, part in parts.items() if not part.get("licenses")} <= {"protobuf", "z3-solver"}


def test_the_sources_hold_what_a_reader_of_them_needs() -> None:
    for name in ("LICENSE", "CITATION.cff", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "README.md"):
        assert (ROOT / name).stat().st_size > 100, name
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {project['version']}" in cited
    assert f"license: {project['license']}" in cited


@pytest.mark.long
def test_the_archive_of_sources_holds_them(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {"LICENSE", "CITATION.cff", "pyproject.toml", "spec/vectors/small.jsonl.gz", "tests/test_layers.py"}
    assert not [name for name in names if "/target/" in name or name.startswith((".venv", "dist", ".hypothesis"))]
