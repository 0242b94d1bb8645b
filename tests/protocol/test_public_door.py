"""The package `entrycache`: all that it exports is there, and importing it loads nothing heavy."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

import entrycache
from entrycache_faults.model import CASES_FOLDER
from entrycache_protocol.errors import EntrycacheError, MissingPrerequisite
from tests.support import ROOT

HEAVY = ("hypothesis", "pyarrow", "pyspark", "duckdb", "entrycache_conformance", "entrycache_spark", "click")


class Empty(entrycache.Subject):
    """A cache that never keeps anything."""

    system = "pulsar-pip430"

    def insert(self, cache: str, pos: tuple[int, int], size: int, **rest: object) -> dict[str, bool]:
        return {"inserted": False}

    def exists(self, cache: str, pos: tuple[int, int]) -> dict[str, bool]:
        return {"exists": False}


def test_every_exported_name_is_there_and_has_a_docstring() -> None:
    for name in entrycache.__all__:
        assert getattr(entrycache, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        entrycache.nothing  # noqa: B018


def test_importing_the_door_loads_nothing_heavy() -> None:
    code = f"import entrycache, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_caches_and_an_adapter_need_only_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "sortedcontainers.py").write_text("SortedList = list", encoding="utf-8")
    code = """if True:
        from entrycache import BrokerCache, SegmentedCache, StoredEntry, Subject, Refuse, Skip, serve, load_case
        BrokerCache().insert("a", 1, 0, 10), SegmentedCache(1_000).insert("a", 1, 0, 10)
        from entrycache import CachingStore, ThreadCache  # with sortedcontainers, as the page says
        """
    where = os.pathsep.join([str(Path(entrycache.__path__[0]).parent), str(ROOT / "reference"), str(tmp_path)])
    command = [sys.executable, "-S", "-c", code]  # -S: no installed package is found
    subprocess.run(command, env={**os.environ, "PYTHONPATH": where}, check=True)
    page = (ROOT / "docs/reference/fast-caches.md").read_text(encoding="utf-8")
    assert "pip install --no-deps dist/*.whl" in page


def test_the_example_of_the_docstring() -> None:
    assert doctest.testmod(entrycache).failed == 0


def test_a_case_is_loaded_and_played_on_a_name_and_on_a_class() -> None:
    case = entrycache.load_case(CASES_FOLDER / "expire-at-the-cutoff.json")
    assert entrycache.play(case) == list(case.outcomes)
    assert entrycache.play(case, "fast") == list(case.outcomes)
    with pytest.raises(EntrycacheError, match="does not offer expire"):
        entrycache.play(case, Empty)
    with pytest.raises(EntrycacheError, match="nosuch"):
        entrycache.load_case("nosuch.json")


def test_check_tells_what_a_class_breaks() -> None:
    with pytest.raises(AssertionError, match="Empty breaks R-"):
        entrycache.check(Empty, levels=["range"], examples=60)


def test_an_audit_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "entrycache_spark.folders", None)
    with pytest.raises(MissingPrerequisite, match=r"^audit needs the Python package [^\n]+\[trace\]'?$"):
        entrycache.audit(tmp_path)
