"""`docs/reference/glossary.md` is sorted, and file names hold no word that another one replaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path
from typing import Final

from entrycache_evidence.core.checkout import locate_checkout

ROOT: Final = locate_checkout() or Path()
WORD: Final = re.compile(r"- \*\*(?P<word>[^*]+)\*\*: (?P<meaning>.*[^. ])")
FOLDERS: Final = ("reference", "conformance", "spark_checks")
MADE: Final = frozenset({"__pycache__", "target", "build"})
"""Folders that builds make."""

INSTEAD: Final = {
    "museum": "faults",
    "exhibit": "fault",
    "exhibits": "faults",
    "mutant": "fault",
    "mutants": "faults",
    "wrong": "fault",
    "reading": "variant",
    "readings": "variants",
    "stream": "kafka",
    "streams": "kafka",
    "machine": "search",
    "aim": "arguments",
    "readers": "cursors",
}
"""Words that names of files and folders do not hold, and the one that stands there instead."""

OF_THE_FIELD: Final = re.compile(r"kafka[-_]?streams|(?<=apache/kafka/)streams", re.IGNORECASE)
"""The system is called after Kafka Streams, and the drivers stand in its Java package."""

STAYS: Final = ("conformance/entrycache_cli/commands/museum.py", "*/mledger/impl/cache/Reading.java")
"""The command keeps its name; `Reading` is a read through the released cache."""

STILL: Final = (
    "*/Readings.java",
    "*/StreamCampaign.java",
    "*/StreamCosts.java",
    "conformance/entrycache_faults/cases/streams-*.json",
)
"""Names that still hold such a word. This list only gets shorter."""


ALIKE: Final = frozenset({("world", "worlds")})
"""Modules of one folder whose names differ by a letter, still."""


def words_of(path: str) -> set[str]:
    """The words of the last part of a path, in small letters."""
    name = OF_THE_FIELD.sub("", path + "/").rstrip("/").rpartition("/")[2]
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def misnamed(paths: Iterable[str]) -> dict[str, str]:
    """The paths whose last part holds a word that another one stands for."""
    found = {}
    for path in paths:
        for word in words_of(path) & INSTEAD.keys():
            found[path] = f"{word}: say {INSTEAD[word]}"
    return found


def differ_by_a_letter(one: str, other: str) -> bool:
    """Whether two names are the same but for one letter, changed or added."""
    short, long = sorted((one, other), key=len)
    if len(short) == len(long):
        return sum(left != right for left, right in zip(short, long, strict=True)) == 1
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def alike(modules: Iterable[str]) -> set[tuple[str, str]]:
    """The pairs of modules of one folder whose names differ by a letter."""
    folders: dict[Path, list[str]] = {}
    for module in map(Path, modules):
        folders.setdefault(module.parent, []).append(module.stem)
    pairs = (pair for names in folders.values() for pair in combinations(sorted(names), 2))
    return {pair for pair in pairs if differ_by_a_letter(*pair)}


def paths() -> Iterator[str]:
    """Every file and folder of the packages and the drivers, but what builds make."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if not MADE & set(path.parts):
                yield path.relative_to(ROOT).as_posix()


def listed() -> list[str]:
    """The lines of `docs/reference/glossary.md` from the first word on."""
    lines = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("- "))
    return lines[first:]


def test_every_word_is_one_line_in_order_and_once() -> None:
    lines = listed()
    assert [line for line in lines if not WORD.fullmatch(line) or len(line) > 130] == []
    words = [match["word"] for match in map(WORD.fullmatch, lines) if match]
    assert words == sorted(set(words), key=str.lower)
    assert len(words) > 100


def test_a_word_that_another_one_stands_for_is_none_of_ours() -> None:
    words = {match["word"] for match in map(WORD.fullmatch, listed()) if match}
    assert words & INSTEAD.keys() == {"museum"}, "the command"


def test_names_of_files_hold_the_words_of_the_list() -> None:
    found = misnamed(path for path in paths() if not any(fnmatch(path, known) for known in (*STAYS, *STILL)))
    assert found == {}


def test_a_misnamed_file_is_found() -> None:
    wrong = ("a/wrong_passes.py", "a/streams_other.py", "a/readers.py", "a/StreamTask.java", "a/Readings.java", "a/aim")
    assert misnamed(wrong).keys() == set(wrong)
    right = (
        "a/kafka_streams",
        "a/kafka-streams",
        "a/KafkaStreamsDriver.java",
        "org/apache/kafka/streams/state",
        "a/main.py",
    )
    assert misnamed(right) == {}


def test_no_two_modules_of_a_folder_differ_by_a_letter() -> None:
    assert alike(path for path in paths() if path.endswith(".py")) <= ALIKE


def test_modules_that_differ_by_a_letter_are_found() -> None:
    found = alike(("a/read.py", "a/reads.py", "a/space.py", "b/spaces.py", "a/cells.py", "a/calls.py"))
    assert found == {("read", "reads"), ("calls", "cells")}


def test_a_parameter_of_the_reference_that_holds_a_rule_is_called_rule() -> None:
    held = re.compile(r"\b(\w+): (?:tuple\[|frozenset\[)?Rule\b")
    names = {name for path in (ROOT / "reference").rglob("*.py") for name in held.findall(path.read_text("utf-8"))}
    assert not {name for name in names if "law" in name or name.endswith("_")}
