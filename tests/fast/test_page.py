"""docs/reference/fast-caches.md: its examples are true, and it has every argument and every call."""

from __future__ import annotations

import doctest
import inspect
import re
import time

import pytest

import entrycache_fast
from entrycache_fast import BrokerCache, kafka
from entrycache_fast.kafka import CachingStore, SessionStore, ThreadCache, WindowStore
from entrycache_fast.managed_ledger import ManagedLedgers
from entrycache_reference.rules import Rule
from tests.support import ROOT
from tests.support.pages import blocks

PAGE = ROOT / "docs" / "reference/fast-caches.md"
TEXT = PAGE.read_text(encoding="utf-8")
CODE = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```$", "", TEXT, flags=re.S | re.M))
"""All inline code of the page, outside of the examples."""
CACHES = [BrokerCache, ThreadCache, CachingStore, WindowStore]


def test_every_example_is_true() -> None:
    source = "\n".join(block.text for block in blocks(PAGE) if block.language == "python")
    test = doctest.DocTestParser().get_doctest(source, {}, PAGE.name, str(PAGE), 0)
    done = doctest.DocTestRunner().run(test)
    assert done.failed == 0
    assert done.attempted >= 40


def test_the_page_says_that_no_cache_is_safe_for_threads_and_shows_the_lock() -> None:
    own, threads = TEXT.split("\n## Threads\n")
    assert "The cache is not safe for several threads: [hold a lock around each call](#threads)." in own
    (example,) = re.findall(r"^```python\n(.*?)^```$", threads.split("\n## ")[0], flags=re.S | re.M)
    assert "threading.Lock(), BrokerCache()" in example
    assert "with lock:\n...             cache.insert(" in example


def test_a_wrong_character_in_an_example_is_seen() -> None:
    source = "\n".join(block.text for block in blocks(PAGE) if block.language == "python")
    wrong = source.replace("Removal(entries=2, size_bytes=20)", "Removal(entries=2, size_bytes=21)")
    test = doctest.DocTestParser().get_doctest(wrong, {}, PAGE.name, str(PAGE), 0)
    assert doctest.DocTestRunner().run(test, out=lambda text: None).failed == 1


@pytest.mark.parametrize("cache", CACHES)
def test_the_page_has_every_argument_of_a_constructor_with_its_default(cache: type) -> None:
    rows = re.findall(r"^\| (?:`([A-Z]\w+)` \| )?`(\w+)` \|[^|]*\| ([^|]*) \|", TEXT, re.M)
    defaults = {(kind or "BrokerCache", name): default.strip("`") for kind, name, default in rows}
    for name, parameter in inspect.signature(cache).parameters.items():
        default = "required" if parameter.default is parameter.empty else parameter.default
        if default is time.monotonic_ns:
            default = "time.monotonic_ns"
        assert defaults[cache.__name__, name].split(":")[0].strip('"') == str(default)


@pytest.mark.parametrize("cache", [*CACHES, SessionStore, ManagedLedgers])
def test_the_page_has_every_call_with_its_arguments(cache: type) -> None:
    calls = [name for name in dir(cache) if not name.startswith("_")]
    assert len(calls) >= 5
    for name in calls:
        member = inspect.getattr_static(cache, name)
        codes = [code for code in CODE if code.partition("(")[0] == name]
        assert codes, name
        if inspect.isfunction(member):
            names = [argument for argument in inspect.signature(member).parameters if argument != "self"]
            assert any(_arguments(code, names) == names for code in codes if "(" in code), (name, names, codes)


def _arguments(code: str, names: list[str]) -> list[str]:
    """Return the names of the arguments of a call on the page; `..` stands for the rest."""
    inside = code.partition("(")[2].rpartition(")")[0]
    arguments = [part.partition("=")[0].strip() for part in re.sub(r"\([^)]*\)", "", inside).split(",") if part.strip()]
    return [*arguments[:-1], *names[len(arguments) - 1 :]] if arguments and arguments[-1] == ".." else arguments


def test_every_named_rule_exists() -> None:
    named = set(re.findall(r"[RK]-[A-Z]+-\d+", TEXT))
    assert len(named) >= 60
    assert named <= {rule.value for rule in Rule}


@pytest.mark.parametrize("package", [entrycache_fast, kafka])
def test_every_name_of_a_package_has_a_docstring(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        member = getattr(package, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), name
