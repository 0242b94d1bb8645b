"""Test that the reference names the released classes and methods that `spec` gives as sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from entrycache_evidence.core import rule_registry
from entrycache_evidence.core.checkout import locate_checkout
from entrycache_reference.kafka_streams.step import FUNCTIONS as KAFKA
from entrycache_reference.pulsar_pip430.step import FUNCTIONS as PULSAR

ROOT = locate_checkout()
LINE = re.compile(r"^Beside: (?P<names>.+) \((?P<artifact>[a-z-]+) (?P<version>[\d.]+)\)$", re.MULTILINE)
VERSIONS = re.compile(r"(?P<artifact>managed-ledger|kafka-streams) (?P<versions>\d[\d., ]*\d)")


class Place(NamedTuple):
    """A released class, or a method of one, of a version of an artifact."""

    name: str
    artifact: str
    version: str


def named(parts: list[str]) -> Iterator[str]:
    """Return full names: a method without a class belongs to the class before it."""
    owner = ""
    for part in parts:
        if part[0].isupper():
            before, _, last = part.rpartition(".")
            owner = before if last[0].islower() else part
            yield part
        else:
            yield f"{owner}.{part.lstrip('.')}"


def sources() -> set[Place]:
    """Return every class and method that a *Source.* line of `spec` names."""
    places: set[Place] = set()
    for text in rule_registry.load_texts():
        names = list(named(re.findall(r"`([A-Za-z.]+)`", text.source)))
        for match in VERSIONS.finditer(text.source):
            for version in match["versions"].split(", "):
                places |= {Place(name, match["artifact"], version) for name in names}
    return places


def named_places(docstring: str) -> list[Place]:
    """Return the released code that a docstring names."""
    places: list[Place] = []
    for match in LINE.finditer(docstring):
        places += [Place(name, match["artifact"], match["version"]) for name in named(match["names"].split(", "))]
    return places


def docstrings() -> dict[str, str]:
    """Return the docstring of every module of the reference, by its path."""
    folder = ROOT / "reference/entrycache_reference"
    return {
        str(path.relative_to(folder)): ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for path in sorted(folder.rglob("*.py"))
    }


def test_every_line_names_a_source_of_the_rules() -> None:
    known = sources()
    unknown = {
        path: [place for place in named_places(text) if place not in known] for path, text in docstrings().items()
    }
    assert {path: places for path, places in unknown.items() if places} == {}


def test_a_line_that_names_no_source_is_reported() -> None:
    known = sources()
    assert set(named_places("A\n\nBeside: RangeCacheRemovalQueue.evictEntries (managed-ledger 4.2.4)")) <= known
    assert set(named_places("A\n\nBeside: ThreadCache.put, .maybeEvict (kafka-streams 4.3.1)")) <= known
    for wrong in (
        "Beside: RangeCacheRemovalQueue.evictAll (managed-ledger 4.2.4)",
        "Beside: RangeCacheRemovalQueue.evictEntries (managed-ledger 4.2.3)",
        "Beside: ThreadCache.put, .evictMaybe (kafka-streams 4.3.1)",
        "Beside: NamedCache.flush (managed-ledger 4.2.4)",
    ):
        assert not set(named_places(wrong)) <= known, wrong


def test_every_line_is_read() -> None:
    for path, text in docstrings().items():
        written = [line for line in text.splitlines() if "Beside" in line]
        assert len(LINE.findall(text)) == len(written), path


@pytest.mark.parametrize("functions", [PULSAR, KAFKA], ids=["pulsar-pip430", "kafka-streams"])
def test_every_module_of_an_operation_has_a_line(functions: dict[type, object]) -> None:
    texts = docstrings()
    folder = ROOT / "reference/entrycache_reference"
    paths = {Path(function.__code__.co_filename).relative_to(folder) for function in functions.values()}  # type: ignore[attr-defined]
    assert [str(path) for path in sorted(paths) if not named_places(texts[str(path)])] == []
