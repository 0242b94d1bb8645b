"""The driver of the caches before PIP-430, on cases worked out by hand from the protocol, release by release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.java.driver import released_command
from entrycache_conformance.java.releases import Release, releases
from entrycache_protocol.errors import MissingPrerequisite
from tests.support.jvm.driver import Step, run_request, talk
from tests.support.jvm.params import newest_in_every_run

FAMILY: Final = "pulsar-legacy"
RELEASES: Final = releases(FAMILY)
BY_OBJECT: Final = "4.0.0"
"""The release that finds no single entry."""


def insert(cache: str, entry: int, size: int) -> Step:
    return {"op": "insert", "cache": cache, "pos": [1, entry], "size": size}


def filled(cache: str, *sizes: int) -> list[tuple[Step, Step]]:
    return [(insert(cache, entry, size), {"inserted": True}) for entry, size in enumerate(sizes)]


def removed(entries: int, size: int) -> Step:
    return {"entries": entries, "bytes": size}


CASES: Final[dict[str, tuple[Step, list[tuple[Step, Step]]]]] = {
    "the sixth insert meets a full cache: its pass makes room, and it is refused all the same": (
        {"max_size_bytes": 10, "watermark": 0.8},
        [
            *filled("a", 3, 4),
            *filled("b", 1, 1, 1),
            (insert("b", 3, 1), {"inserted": False}),
            ({"op": "usage"}, removed(4, 7)),
            ({"op": "exists", "cache": "a", "pos": [1, 0]}, {"exists": False}),
        ],
    ),
    "shares are products of doubles, and of caches of one size the first by name gives": (
        {},
        [
            *filled("d", *[1] * 15),
            *filled("c", *[1] * 7),
            *filled("b", *[1] * 7),
            *filled("a", *[1] * 3),
            ({"op": "evict", "bytes": 22}, removed(21, 21)),
            ({"op": "usage", "cache": "d"}, removed(1, 1)),
            ({"op": "usage", "cache": "b"}, removed(0, 0)),
            ({"op": "usage", "cache": "c"}, removed(7, 7)),
        ],
    ),
    "an entry as old as the cutoff leaves, and one behind a younger one stays": (
        {"ttl_nanos": 5},
        [
            (insert("a", 1, 1), {"inserted": True}),
            ({"op": "advance", "nanos": 1}, {}),
            (insert("a", 0, 1), {"inserted": True}),
            ({"op": "advance", "nanos": 4}, {}),
            ({"op": "expire", "cache": "a"}, removed(0, 0)),
            ({"op": "expire", "cache": "a", "older_than_nanos": 4}, removed(2, 2)),
        ],
    ),
    "a pass that waits keeps the amount that it was asked for": (
        {"max_size_bytes": 100, "eviction": "manual"},
        [
            *filled("a", 50, 30, 19),
            (insert("a", 0, 1), {"inserted": False}),
            ({"op": "clear", "cache": "a"}, removed(3, 99)),
            *filled("a", 5, 5, 5),
            ({"op": "run_scheduled"}, removed(2, 10)),
            ({"op": "run_scheduled"}, removed(0, 0)),
        ],
    ),
    "a range with a gap comes from storage, and what is cached stays": (
        {},
        [
            (insert("a", 1, 7), {"inserted": True}),
            (
                {"op": "read", "cache": "a", "first": [1, 0], "last": [1, 1]},
                {"hits": [], "fills": [[1, 0], [1, 1]], "tokens": [0, 1]},
            ),
            ({"op": "usage"}, removed(2, 107)),
            ({"op": "read_one", "cache": "a", "pos": [1, 2]}, {"hits": [], "fills": [[1, 2]]}),
            ({"op": "usage"}, removed(2, 107)),
        ],
    ),
    "a pass with nothing to free is no error, and a full cache stays full": (
        {"max_size_bytes": 10, "watermark": 1},
        [*filled("a", 10), (insert("a", 1, 1), {"inserted": False}), ({"op": "usage"}, removed(1, 10))],
    ),
    "what the released code throws for is refused or empty": (
        {},
        [
            ({"op": "evict", "bytes": 1}, removed(0, 0)),
            ({"op": "evict", "bytes": 0}, {"error": "illegal-argument"}),
            ({"op": "evict_cache", "cache": "a", "bytes": 0}, {"error": "illegal-argument"}),
            ({"op": "get_range", "cache": "a", "first": [1, 1], "last": [1, 0]}, {"hits": []}),
            ({"op": "read", "cache": "a", "first": [1, 1], "last": [1, 0]}, {"error": "illegal-argument"}),
        ],
    ),
}


@pytest.fixture(scope="module", params=newest_in_every_run(RELEASES), ids=str)
def answers(request: pytest.FixtureRequest) -> dict[str, list[Step]]:
    """Return a release's answers to all cases, sent at once; no run leaks."""
    try:
        command = released_command(request.param.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    requests = [_request(number, *case) for number, case in enumerate(CASES.values())]
    outcomes = talk(command, {"cmd": "start", "version": 1}, *requests)[1:]
    assert [answer.get("leaked") for answer in outcomes] == [0] * len(CASES)
    return {name: answer["outcomes"] for name, answer in zip(CASES, outcomes, strict=True)}


def _request(number: int, config: Step, steps: list[tuple[Step, Step]]) -> dict[str, Any]:
    return {**run_request(number, config, [step for step, _ in steps]), "system": FAMILY}


def hold(outcomes: list[Step], steps: list[tuple[Step, Step]]) -> None:
    for got, (step, expected) in zip(outcomes, steps, strict=True):
        assert {key: got.get(key) for key in expected} == expected, step


@pytest.mark.parametrize("name", CASES)
def test_a_case_worked_out_by_hand(name: str, answers: dict[str, list[Step]]) -> None:
    hold(answers[name], CASES[name][1])


def test_one_byte_more_is_seen(answers: dict[str, list[Step]]) -> None:
    name = next(name for name in CASES if name.startswith("shares are products of doubles"))
    wrong = [(step, removed(22, 22) if step["op"] == "evict" else expected) for step, expected in CASES[name][1]]
    with pytest.raises(AssertionError):
        hold(answers[name], wrong)


@pytest.mark.long
@pytest.mark.parametrize("release", newest_in_every_run(RELEASES), ids=str)
def test_a_release_conforms_and_its_version_picks_the_system(release: Release, tmp_path: Path) -> None:
    try:
        released_command(release.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    argv = [sys.executable, "-m", "entrycache_cli", "conform", release.subject]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{release.subject} beside the reference, {FAMILY}" in done.stdout
    assert ("waived by the finding legacy-single-read-misses" in done.stdout) == (release.version == BY_OBJECT)


@pytest.mark.long
def test_without_its_waiver_the_release_that_differs_violates(tmp_path: Path) -> None:
    release = next(release for release in RELEASES if release.version == BY_OBJECT)
    argv = [sys.executable, "-m", "entrycache_cli", "conform", release.subject, "--unmask", "legacy-single-read-misses"]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "L-READ-6" in done.stdout
