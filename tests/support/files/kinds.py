"""Every kind of file that a command reads: valid files, how they are broken, and the commands that read them."""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import click

from entrycache_cli.commands.exit_codes import OneLineErrors
from entrycache_conformance.known import check_entry, identify_run, read_known_failures
from entrycache_conformance.report import RunReport
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from tests.support import ROOT
from tests.support.files.changes import change_bytes, change_json, change_lines, encoded, text_of
from tests.support.files.disputed import no_json, no_results, no_toml
from tests.support.files.runs import Ended, ended

BYTES_OFTEN: Final = 0.2
"""The share of files that are broken without regard to their content."""


class Kind(NamedTuple):
    """A kind of file: its name, valid texts, their changes, and its readers, of which any may be used."""

    name: str
    valid: Callable[[], tuple[str, ...]]
    change: Callable[[str, Random], str]
    readers: tuple[Callable[[Path], Ended], ...]
    refused: Callable[[bytes], bool] = lambda raw: False
    """Return whether every reader must refuse a file."""


def broken(kind: Kind, chance: Random) -> bytes:
    """Return a broken file of a kind."""
    text = chance.choice(kind.valid())
    raw = encoded(text) if chance.random() < BYTES_OFTEN else encoded(kind.change(text, chance))
    return change_bytes(raw, chance) if chance.random() < BYTES_OFTEN else raw


def _files(*patterns: str) -> Callable[[], tuple[str, ...]]:
    @functools.cache
    def read() -> tuple[str, ...]:
        texts = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        assert texts, patterns
        return tuple(path.read_text("utf-8") for path in texts)

    return read


def changed_json(text: str, chance: Random) -> str:
    """Change one JSON value."""
    return text_of(change_json(json.loads(text), chance), chance)


def changed_json_lines(text: str, chance: Random) -> str:
    """Change a file with a JSON value a line."""
    lines = text.splitlines()
    at = chance.randrange(len(lines))
    new = changed_json(lines[at], chance).replace("\n", " ")
    lines[at : at + 1] = chance.choice(([new], [new], [new], [], [lines[at]] * 2, [new, lines[at]], ["", new, " "]))
    return "\n".join(lines) + "\n"


def _reads(*argv: str) -> Callable[[Path], Ended]:
    """Return a command line in which FILE, FOLDER and NEW stand for the file, its folder, and a new path."""

    def run(path: Path) -> Ended:
        new = str(path.parent.parent / "new" / path.stem)
        stands = {
            "NEW.md": f"{new}.md",
            "UP": str(path.parent.parent),
            "FILE": str(path),
            "FOLDER": str(path.parent),
            "NEW": new,
        }
        return ended([stands.get(word, word.replace("FILE", str(path))) for word in argv])

    return run


@click.command("known", cls=OneLineErrors)
@click.argument("path", type=click.Path(path_type=Path))
def known(path: Path) -> None:
    """Look at each known failure beside the fast cache, as `conform --known` does before it searches."""
    subject = resolve_subject(SubjectChoice("fast"))
    for entry in read_known_failures(path):
        check_entry(entry, path.parent, subject, identify_run(subject))


@functools.cache
def known_failures() -> tuple[str, ...]:
    """Generate a file of known failures."""
    case = (ROOT / "conformance/entrycache_faults/cases/evict-one-too-many.json").read_text("utf-8")
    entry = (
        '[[known]]\nrule = "R-EXPIRE-1"\nsystem = "pulsar-pip430"\nsubject = "fast"\nversions = ["*"]\n'
        f"case = '''\n{case}'''\nexpected = '{{\"entries\": 0, \"bytes\": 0}}'\ngot = '{{\"entries\": 1}}'\n"
        'reason = "because"\nissue = "https://example.org/1"\n'
    )
    tables = entry.replace("expected = '", "expected = {entries = 0, bytes = 0}\n# '")
    texts = (entry, entry + "\n" + tables, entry.replace('"fast"', '"my-cache"'))
    assert all(tomllib.loads(text)["known"] for text in texts)
    return texts


TOML: Final = (
    *(
        "1",
        "-1",
        "1.5",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "true",
        '""',
        "''",
        '"x"',
        "[]",
        "{}",
        "[[]]",
        "[1, 2]",
        "0x" + "F" * 5_000,
    ),
    *(
        "9" * 5_000,
        "1979-05-27",
        "1979-05-27T07:32:00Z",
        "07:32:00",
        '"\\u0000"',
        '"\\ud800"',
        "{a = nan}",
        "{a.b.c = 1}",
    ),
    *(
        "[" * 2_000,
        "{a=" * 500 + "1" + "}" * 500,
        "a." * 3_000 + "b = 1",
        "[[known]]",
        "[known]",
        "[x]",
        "'''",
        '"/dev/zero"',
    ),
    *('"../"', '"{"', "'{}'", "'[1]'", "'NaN'", "'" + "[" * 50_000 + "'", '"' + "x" * 100_000 + '"'),
)


OUTCOMES: Final = (
    "{entries = 1979-05-27, bytes = 0}",
    "{entries = inf}",
    "{entries = 0xFF, bytes = 0o7}",
    "{entries = [07:32:00]}",
    "{entries = 1979-05-27 07:32:00.999999-07:00}",
    "{entries = 0b11, bytes = 1_000}",
    '{system = "pulsar-pip430", steps = [{op = "usage", at = 1979-05-27}]}',
    '{system = "pulsar-pip430", steps = [{op = "usage"}], config = {watermark = nan}}',
    '"""\nseveral\nlines\\\n   """',
    "'''{\n\"entries\": 0}'''",
    '\'{"entries": "\\ud800"}\'',
    '\'\'\'{"system": "pulsar-pip430", "note": "\\udc00", "steps": [{"op": "usage"}]}\'\'\'',
)
"""Values in place of an outcome or a case: some are not JSON, or JSON writes them otherwise."""


def changed_toml(text: str, chance: Random) -> str:
    """Change a file of known failures; often change one value to another kind."""
    if chance.random() < 0.3:
        name = chance.choice(("expected", "got", "case"))
        value = "'''.*?'''" if name == "case" else "[^\\n]*"
        outcome = chance.choice(OUTCOMES)
        return re.sub(f"(?ms)^{name} = {value}$", lambda _: f"{name} = {outcome}", text, count=1)
    return change_lines(text, chance, (*TOML, *OUTCOMES))


@functools.cache
def properties() -> tuple[str, ...]:
    """Generate a broker.conf."""
    return (
        "# a broker\nmanagedLedgerCacheSizeMB=64\nmanagedLedgerCacheEvictionWatermark=0.9\n"
        "managedLedgerCacheEvictionTimeThresholdMillis : 1000\ncacheEvictionByExpectedReadCount true\n"
        "zookeeperServers=\nmetadataStoreUrl=zk:a\\\n  b,c\nmanagedLedgerMaxReadsInFlightSizeInMB=\n",
    )


@functools.cache
def client_properties() -> tuple[str, ...]:
    """Generate the properties of a Kafka Streams client."""
    return ("application.id=x\nstatestore.cache.max.bytes=1048576\nnum.stream.threads=3\n",)


PROPERTIES: Final = (
    *(
        "",
        "0",
        "-1",
        "1",
        "1e3",
        "0x10",
        "true",
        "yes",
        "NaN",
        "Infinity",
        "1e400",
        "9" * 5_000,
        "\\u00e9",
        "\\u12",
        "\\uD800",
    ),
    *("2147483648", "9223372036854775808", "  ", "=", ":", "\\", "#", "!", "x" * 5_000, "managedLedgerCacheSizeMb=1"),
    *("a=b\\\n" * 1_500, "managedLedgerCachSize", "\x00", "é", "١٢", "1_000", "+5", " 5 ", "5 MB"),
)


@functools.cache
def results() -> tuple[str, ...]:
    """Generate results as `--json` prints them, one a line."""
    level = {
        "examples": 3,
        "steps": 9,
        "verdict": "conforms",
        "missing": ["get"],
        "rules": {"R-EVICT-1": {"fired": 3, "verdict": "conforms"}},
    }
    threads = {**level, "histories": 3, "threads": 4, "inconclusive": 0, "states_max": 10}
    failure = {"rule": "R-EXPIRE-1", "rules": ["R-EXPIRE-1"], "case": "x.json", "step": 1, "steps": 2}
    failure |= {"expected": {"entries": 0}, "got": None}
    by_threads = {**failure, "said": "x", "clients": 2, "tries": 5, "times": 2, "proved": False}
    run = {
        "schema": 1, "subject": "mine", "source": None, "system": "pulsar-pip430", "verdict": "violates",
        "levels": {"range": level, "threads": {**threads, "verdict": "violates"}}, "rules": {"R-EVICT-1": {"fired": 9}},
        "cells": {"TIME/EVICT_1": 2},
        "failures": [failure, by_threads], "skipped": [{"what": "level queue", "reason": "no op"}],
    }  # fmt: skip
    assert RunReport.from_json(run).to_json()["levels"] == run["levels"]
    audit = {"schema": 1, "rules": {"R-EVICT-8": "violates", "R-STATE-1": "inconclusive"}, "violations": 1}
    proof = {"rule": "R-LIVENESS-1", "grade": "proved", "bounds": "1", "refuted_mutant": "none"}
    lines = (run, audit, {"schema": 1, "evidence": [proof]}, {"schema": 1, "skipped": [{"what": "x", "reason": "y"}]})
    return ("".join(json.dumps(line) + "\n" for line in lines), json.dumps(run) + "\n")


@functools.cache
def records() -> tuple[str, ...]:
    """Generate records of campaigns and of a run."""
    run = results()[1]
    return (*_files("docs/campaigns/*.json")()[:3], *_files("docs/campaigns/kafka-streams/*.json")()[:4], run)


@functools.cache
def settings_json() -> tuple[str, ...]:
    """Generate settings for a simulation."""
    return ('{"max_size_bytes": 1000, "watermark": 0.5, "ttl_nanos": 5, "eviction": "inline", "grace_millis": null}',)


REPLAYED: Final = ("replay", "FILE", "fast")

KINDS: Final = (
    Kind(
        "case.json",
        _files("docs/findings/*/case.json", "conformance/entrycache_faults/cases/*.json", "spec/examples/*-1.json"),
        changed_json,
        (
            _reads(*REPLAYED),
            _reads(*REPLAYED, "--json"),
            _reads(*REPLAYED, "--as", "pytest"),
            _reads("replay", "FILE", "--as", "java"),
            _reads("trace", "record", "fast", "--case", "FILE", "--out", "NEW"),
            _reads("versions", "--findings", "UP", "--results", str(ROOT / "docs/campaigns")),
        ),
        no_json,
    ),
    Kind("history.json", _files("tests/conformance/kafka_streams/histories/*.json"), changed_json,
         (_reads("replay", "FILE", "fast"),), no_json),
    Kind("known.toml", known_failures, changed_toml,
         (lambda path: ended([str(path)], known),), no_toml),
    Kind("broker.conf", properties, lambda text, chance: change_lines(text, chance, PROPERTIES),
         tuple(_reads("settings", "--broker-conf", "FILE", "--era", era, "--json") for era in ("4.0", "4.2", "5.0"))),
    Kind("client.properties", client_properties, lambda text, chance: change_lines(text, chance, PROPERTIES),
         (_reads("share", "--config", "FILE"), _reads("share", "--config", "FILE", "--json"))),
    Kind("results.jsonl", results, changed_json_lines,
         tuple(_reads("report", "FILE", "--to", form) for form in ("terminal", "junit", "markdown", "html", "badge")),
         no_results),
    Kind("record.json", records, changed_json,
         (_reads("versions", "--results", "FOLDER", "--findings", str(ROOT / "docs/findings"), "--json"),), no_json),
    Kind("numbers.json", _files("conformance/entrycache_dev/bench/numbers.json"), changed_json,
         (_reads("bench", "--from", "FILE"), _reads("bench", "--from", "FILE", "--json"),
          _reads("bench", "--from", "FILE", "--page", "NEW.md")), no_json),
)  # fmt: skip


def kind_named(name: str) -> Kind:
    """Return the kind whose files have this name."""
    return next(kind for kind in KINDS if kind.name == name)


def try_broken_file(kind: Kind, seed: str, folder: Path) -> tuple[Path, Ended]:
    """Make the broken file of a seed in a folder of its own, and read it; how that ended."""
    chance = Random(f"{kind.name}/{seed}")
    path = folder / seed.replace("/", "-") / kind.name
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = broken(kind, chance)
    path.write_bytes(raw)
    end = chance.choice(kind.readers)(path)
    return path, end._replace(taken=end.code != 2 and kind.refused(raw))
