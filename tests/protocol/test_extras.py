"""The advice for a missing extra fits the installation."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from entrycache_protocol import errors

WHEEL = {"url": "file:///some%20where/entrycache-0.1.0-py3-none-any.whl", "archive_info": {}}
CLONE = {"url": "file:///src/entrycache", "dir_info": {"editable": True}}
FOLDER = {"url": "file:///src/entrycache", "dir_info": {}}


class Installed:
    """A distribution that was installed from `source`."""

    requires = importlib.metadata.requires("entrycache")

    def __init__(self, source: dict[str, Any] | None) -> None:
        self.source = source

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.source is None else json.dumps(self.source)


@pytest.mark.parametrize(
    ("source", "prefix", "pip", "line"),
    [
        (WHEEL, "/home/a/venv", True, "pip install '/some where/entrycache-0.1.0-py3-none-any.whl[trace]'"),
        (CLONE, "/home/a/venv", True, "pip install -e '/src/entrycache[trace]'"),
        (FOLDER, "/home/a/venv", True, "pip install '/src/entrycache[trace]'"),
        (FOLDER, "/v", False, "uv pip install --python /v/bin/python '/src/entrycache[trace]'"),
        (FOLDER, "/home/a/.local/share/pipx/venvs/entrycache", True, "pipx install --force '/src/entrycache[trace]'"),
        (FOLDER, "/a/share/uv/tools/entrycache", False, "uv tool install --force '/src/entrycache[trace]'"),
        (
            WHEEL,
            "/a/uv/archive-v0/Xy",
            False,
            "uvx --from '/some where/entrycache-0.1.0-py3-none-any.whl[trace]' entrycache",
        ),
        (None, "/home/a/venv", True, "pip install 'entrycache[trace]'"),
    ],
)
def test_the_advice_fits_the_installation(
    source: dict[str, Any] | None, prefix: str, pip: bool, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Installed(source))
    monkeypatch.setattr(errors, "find_spec", lambda name: object() if pip else None)
    monkeypatch.setattr(Path, "exists", lambda path: True)
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "executable", f"{prefix}/bin/python")
    assert errors.install_command("trace") == line
    assert str(errors.missing_extra("audit", "duckdb", "trace")) == f"audit needs the Python package duckdb: {line}"


def test_without_the_sources_the_advice_names_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = {"url": (tmp_path / "src").as_uri(), "dir_info": {}}
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Installed(gone))
    monkeypatch.setattr(errors, "find_spec", lambda name: object())
    line = errors.install_command("spark")
    assert re.fullmatch(r"pip install( '[a-z]+[<>=][^' ]+')+", line)
    assert {"pyspark", "pandas", "duckdb", "pyarrow"} <= set(re.findall(r"'([a-z]+)", line))
