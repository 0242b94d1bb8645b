"""`subjects` and `doctor`: what can run here, why the rest cannot, and what to install."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from entrycache_cli.commands import doctor
from entrycache_conformance.java import build
from entrycache_conformance.java.releases import all_releases
from entrycache_protocol.errors import install_command
from tests.support import ROOT
from tests.support.command import run


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine without Java, Maven, built drivers and extras."""

    def nothing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setenv("ENTRYCACHE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "_programs", lambda: iter(()))
    monkeypatch.setattr(doctor, "version", nothing)


@pytest.mark.usefixtures("bare")
def test_subjects_report_why_they_cannot_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "subjects", "--json")
    assert code == 0
    by_name = {(one["name"], one["system"]): one for one in json.loads(out)["subjects"]}
    assert {name for name, _ in by_name} >= {"reference", "fast", *(release.subject for release in all_releases())}
    for (name, _), one in by_name.items():
        assert one["runs"] is (":" not in name)
        assert ("Java" in one["lacks"]) is (":" in name)
    code, out, _ = run(capsys, "subjects")
    assert (code, "MODULE:CLASS" in out, "--command CMD" in out) == (0, True, True)


@pytest.mark.usefixtures("bare")
def test_without_maven_a_driver_that_is_not_built_cannot_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_programs", lambda: iter([("here", "java")]))
    monkeypatch.setattr(build, "_ask_version", lambda program: build.Java(program, 17))
    _, out, _ = run(capsys, "subjects", "--json")
    lacks = {one["name"]: one["lacks"] for one in json.loads(out)["subjects"]}
    assert "mvn is not on the path" in lacks["pulsar:4.2.4"]
    assert "Java 21 or later" in lacks["pulsar:5.0.1"]


@pytest.mark.usefixtures("bare")
def test_doctor_names_each_prerequisite_and_its_extra(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "doctor")
    assert code == 4
    lines = out.splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extra, packages in project["optional-dependencies"].items():
        for package in packages if extra in doctor.EXTRAS else ():
            name = package.split("[")[0].split("=")[0].split(">")[0]
            assert name in ("entrycache", *out.split())
        assert extra == "dev" or f"extra {extra}: {install_command(extra)}" in lines
    _, out, _ = run(capsys, "doctor", "--json")
    versions = json.loads(out)["found"]
    assert versions.keys() >= {"python", "pyarrow", "duckdb", "pyspark", "z3-solver", "java", "javac", "mvn", "java 21"}
    assert {name for name, version in versions.items() if version} == {"python"}
