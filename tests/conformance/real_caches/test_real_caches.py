"""Caches of other authors, behind the adapters that `entrycache init --kind` writes, at the level that fits them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import cachetools
import pytest

from entrycache import Subject
from entrycache_cli.commands.init import KIND_TEMPLATES, LANGUAGES, write_adapter
from tests.support.command import run
from tests.support.differences import first_difference

HERE = Path(__file__).parent


def adapter(kind: str) -> ModuleType:
    """Return the adapter in Python of a kind, as a module of its own."""
    path = KIND_TEMPLATES / kind / "python" / "my_cache.py.txt"
    module = ModuleType(f"adapter_{kind}")
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def conforms(subject: type[Subject], level: str) -> bool:
    """Return whether a class answers as the reference in seeded cases of a level."""
    return first_difference(subject, 120, level) is None


@pytest.mark.parametrize(
    ("kind", "name", "level"),
    [
        ("lru", "MyCache", "cache"),
        ("ttl-lru", "MyCache", "queue"),
        ("ttl-lru", "MyOrder", "cache"),
        ("log", "MyCache", "manager"),
    ],
)
def test_the_naive_cache_of_a_kind_conforms(kind: str, name: str, level: str) -> None:
    assert conforms(getattr(adapter(kind), name), level)


class CachetoolsLru:
    """`cachetools.LRUCache`."""

    def __init__(self, most: int) -> None:
        self.entries: cachetools.LRUCache[Any, Any] = cachetools.LRUCache(most)

    def put(self, key: Any, value: Any) -> None:
        self.entries[key] = value

    def get(self, key: Any) -> Any:
        return self.entries.get(key)

    def delete(self, key: Any) -> Any:
        return self.entries.pop(key, None)

    def items(self) -> list[tuple[Any, Any]]:
        return list(self.entries.items())

    def size(self) -> int:
        return len(self.entries)

    def clear(self) -> None:
        self.entries.clear()

    def evict(self) -> None:
        if self.entries:
            self.entries.popitem()


class CachetoolsTtl(CachetoolsLru):
    """`cachetools.TTLCache`: an entry of exactly its time to live is gone, so it gets one nanosecond more."""

    def __init__(self, most: int, ttl: int, clock: Callable[[], int]) -> None:
        self.entries: Any = cachetools.TTLCache(most, ttl + 1, timer=clock)

    def items(self) -> list[tuple[Any, Any]]:
        self.entries.expire()
        return [(key, self.entries[key]) for key in list(self.entries)]


class CachetoolsTtlAsIs(CachetoolsTtl):
    """The same with the time to live as it is."""

    def __init__(self, most: int, ttl: int, clock: Callable[[], int]) -> None:
        self.entries = cachetools.TTLCache(most, ttl, timer=clock)


def bound_to(subject: Any, cache: Any) -> type[Subject]:
    """Return the adapter's class with another cache behind it."""
    return type(cache.__name__, (subject,), {"new_cache": cache})


def test_cachetools_lru_conforms() -> None:
    assert conforms(bound_to(adapter("lru").MyCache, CachetoolsLru), "cache")


@pytest.mark.long
def test_cachetools_ttl_conforms_and_its_boundary_is_one_nanosecond_earlier() -> None:
    ttl = adapter("ttl-lru")
    assert conforms(bound_to(ttl.MyCache, CachetoolsTtl), "queue")
    assert conforms(bound_to(ttl.MyOrder, CachetoolsTtl), "cache")
    assert not conforms(bound_to(ttl.MyCache, CachetoolsTtlAsIs), "queue")


def test_cachetools_fifo_is_no_lru() -> None:
    class Fifo(CachetoolsLru):
        def __init__(self, most: int) -> None:
            self.entries = cachetools.FIFOCache(most)  # type: ignore[assignment]

    assert not conforms(bound_to(adapter("lru").MyCache, Fifo), "cache")


def install(argv: list[str], folder: Path) -> None:
    """Run a command that downloads; skip the test if its program is missing."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is missing")
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)


def judge(capsys: pytest.CaptureFixture[str], command: str, folder: Path) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the result of `conform` at level `cache`."""
    words = ["--command", command, "--level", "cache", "--json", "--failures", str(folder / "failures")]
    code, out, err = run(capsys, "conform", *words)
    assert code in {0, 1}, err
    return code, json.loads(out)


@pytest.mark.long
def test_cachebox_conforms(tmp_path: Path) -> None:
    install(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path), "cachebox==6.2.10"],
        tmp_path,
    )
    spec = importlib.util.spec_from_file_location("cachebox", tmp_path / "cachebox" / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["cachebox"] = cachebox = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(cachebox)

        class Cachebox(CachetoolsLru):
            def __init__(self, most: int) -> None:
                self.entries = cachebox.LRUCache(most)

        assert conforms(bound_to(adapter("lru").MyCache, Cachebox), "cache")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "cachebox"]:
            del sys.modules[name]


@pytest.mark.long
def test_lru_cache_conforms_with_a_limit_that_its_arrays_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_adapter("node", tmp_path, "lru")
    install(["npm", "install", "--no-fund", "--no-audit", "lru-cache@11.5.3"], tmp_path)
    text = (tmp_path / "cache.mjs").read_text(encoding="utf-8")
    first, last = text.index("/** A naive cache"), text.index("/** The runner gives")
    imported = "import { LRUCache } from 'lru-cache';\n\n"
    text = (text[:first] + imported + text[last:]).replace(
        "zero_limit: false", "zero_limit: false, max_limit: 10485760"
    )
    (tmp_path / "cache.mjs").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert judge(capsys, LANGUAGES["node"].command, tmp_path)[0] == 0


def build(language: str, folder: Path) -> None:
    subprocess.run(LANGUAGES[language].build, shell=True, cwd=folder, check=True, capture_output=True)


@pytest.mark.long
def test_golang_lru_conforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_adapter("go", tmp_path, "lru")
    shutil.copy(HERE / "golang_lru.go", tmp_path / "cache.go")
    install(["go", "get", "github.com/hashicorp/golang-lru/v2@v2.0.7"], tmp_path)
    build("go", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert judge(capsys, LANGUAGES["go"].command, tmp_path)[0] == 0


@pytest.mark.long
def test_moka_conforms_with_its_lru_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_adapter("rust", tmp_path, "lru")
    shutil.copy(HERE / "moka.rs", tmp_path / "src" / "cache.rs")
    install(["cargo", "add", "-q", "moka@0.12.16", "--features", "sync"], tmp_path)
    build("rust", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert judge(capsys, LANGUAGES["rust"].command, tmp_path)[0] == 0


@pytest.mark.long
def test_caffeine_conforms_below_its_limit_and_evicts_another_entry_above_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_adapter("java", tmp_path, "lru")
    source = tmp_path / "src" / "main" / "java" / "mycache"
    shutil.copy(HERE / "Caffeine.java", source / "Lru.java")
    pom = (tmp_path / "pom.xml").read_text(encoding="utf-8")
    group = "<groupId>com.github.ben-manes.caffeine</groupId><artifactId>caffeine</artifactId>"
    added = f"<dependency>{group}<version>3.2.3</version></dependency>\n    <dependency><groupId>com.google"
    (tmp_path / "pom.xml").write_text(pom.replace("<dependency><groupId>com.google", added, 1), encoding="utf-8")
    install(["mvn", "-q", "package", "-DskipTests"], tmp_path)
    monkeypatch.chdir(tmp_path)
    code, result = judge(capsys, LANGUAGES["java"].command, tmp_path)
    assert code == 1
    failing = json.loads(Path(result["failures"][0]["case"]).read_text("utf-8"))
    assert failing["config"]["max_size_bytes"] < 10_485_760
    text = (source / "MyCache.java").read_text(encoding="utf-8")
    (source / "MyCache.java").write_text(text.replace('"config": ["max_size_bytes"]', '"config": []'), encoding="utf-8")
    build("java", tmp_path)
    assert judge(capsys, LANGUAGES["java"].command, tmp_path)[0] == 0
