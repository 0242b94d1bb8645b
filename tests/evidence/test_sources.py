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


def test_every_source_is_linked() -> None:
    """Check that each class, proposal and pull request of a *Source.* line has an address, and that no text is lost."""
    for text in rule_registry.load_texts():
        pieces = rule_registry.link_source(text.source)
        assert "".join(piece for piece, _ in pieces).replace("`", "") == text.source.replace("`", "")
        unlinked = "".join(piece for piece, address in pieces if not address)
        assert not re.search(r"PR \d|PIP-|issue \d", unlinked), (text.id, unlinked)
        if VERSIONS.search(text.source):
            assert "`" not in unlinked, (text.id, unlinked)


def test_a_class_leads_to_its_file_in_the_named_release() -> None:
    ledger = "https://github.com/apache/pulsar/blob/v4.0.8/managed-ledger/src/main/java/org/apache/bookkeeper/mledger"
    kafka = "https://github.com/apache/kafka/blob/4.3.1/streams/src/main/java/org/apache/kafka/streams"
    assert rule_registry.link_source("`RangeCache.put`, `getSize`, managed-ledger 4.0.8; PR 24699.") == [
        ("RangeCache.put", f"{ledger}/util/RangeCache.java"),
        (", ", ""),
        ("getSize", f"{ledger}/util/RangeCache.java"),
        (", managed-ledger 4.0.8; ", ""),
        ("PR 24699", "https://github.com/apache/pulsar/pull/24699"),
        (".", ""),
    ]
    source = "`KafkaStreams.getCacheSizePerThread`, kafka-streams 3.9.2, 4.3.1."
    assert rule_registry.link_source(source)[0][1] == f"{kafka}/KafkaStreams.java"
    assert rule_registry.link_source("`Unknown.put`, managed-ledger 4.0.8.") == [
        ("`Unknown.put`, managed-ledger 4.0.8.", "")
    ]


@pytest.mark.parametrize("functions", [PULSAR, KAFKA], ids=["pulsar-pip430", "kafka-streams"])
def test_every_module_of_an_operation_has_a_line(functions: dict[type, object]) -> None:
    texts = docstrings()
    folder = ROOT / "reference/entrycache_reference"
    paths = {Path(function.__code__.co_filename).relative_to(folder) for function in functions.values()}  # type: ignore[attr-defined]
    assert [str(path) for path in sorted(paths) if not named_places(texts[str(path)])] == []
