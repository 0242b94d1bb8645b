"""The campaign of promises of Kafka Streams caches.

It has too many steps for the protocol, so a Java program runs it inside the JVM of the released classes. The program
plays random runs of a grid (what listeners do, where, and when they are called). It checks every step against what is
promised: exact totals, nothing is lost, every read is the last write, every step ends. It keeps the last write of each
key and no model of the cache.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.run import Program, artifact_of
from entrycache_conformance.java.program import Program as JavaProgram
from entrycache_conformance.java.program import build_program
from entrycache_conformance.java.releases import newest_release, releases
from entrycache_protocol.errors import UsageError, keep_partial_result

FAMILY: Final = "kafka-streams"
MODULE: Final = "campaign"
MAIN: Final = "org.apache.kafka.streams.state.internals.StreamCampaign"
"""The program, in that module of the Maven project."""

MAX_STEPS: Final = 3_000
"""The steps of the longest run of a grid cell in which no promise was broken so far."""

WRITING_OPS: Final = frozenset({"put", "put_clean", "put_null", "put_if_absent"})
CHANGING_OPS: Final = WRITING_OPS | {"delete", "evict", "clear", "close", "resize", "mixed"}
UNDELIVERED: Final = frozenset({"none", "close", "throws", "absent", "mixed"})
STORE_WRITES: Final = frozenset({"put", "put_null", "delete", "mixed"})
MIXED: Final = frozenset({"mixed"})


class KnownBreak(NamedTuple):
    """The promises that a known finding breaks, and where."""

    level: str
    promises: frozenset[str]
    ops: frozenset[str]
    findings: tuple[str, ...]


COUNTED_TWICE: Final = "kafka-nested-change-counts-twice"
LOST_ENTRY: Final = "kafka-undelivered-eviction-loses-entry"
KNOWN_BREAKS: Final = (
    KnownBreak("cache", frozenset({"total", "limit"}), CHANGING_OPS, (COUNTED_TWICE,)),
    KnownBreak("cache", frozenset({"evicted without need"}), WRITING_OPS | MIXED, (COUNTED_TWICE,)),
    KnownBreak("cache", frozenset({"every step ends"}), frozenset({"resize", "mixed"}), ("kafka-resize-never-ends",)),
    KnownBreak("cache", frozenset({"total", "dirty"}), UNDELIVERED, (LOST_ENTRY,)),
    KnownBreak(
        "cache",
        frozenset({"nothing is lost"}),
        frozenset({"throws", "mixed"}),
        ("kafka-failed-flush-leaves-clean", LOST_ENTRY),
    ),
    KnownBreak("cache", frozenset({"nothing is lost"}), WRITING_OPS | MIXED, ("kafka-rewritten-tombstone-is-dropped",)),
    KnownBreak(
        "cache",
        frozenset({"read", "throws", "clean over dirty"}),
        MIXED,
        (LOST_ENTRY, "kafka-failed-flush-leaves-clean"),
    ),
    KnownBreak("store", frozenset({"total"}), STORE_WRITES | {"get"}, (COUNTED_TWICE,)),
    KnownBreak("store", frozenset({"read", "view"}), STORE_WRITES | {"get"}, ("kafka-stale-read-in-forward",)),
    KnownBreak("store", frozenset({"below"}), STORE_WRITES, ("kafka-older-value-written-last",)),
    KnownBreak("store", frozenset({"reverse view"}), frozenset({"reverse"}), ("kafka-reverse-view-shows-deleted",)),
)


def explaining_findings(cell: dict[str, Any], promise: str) -> tuple[str, ...]:
    """Return the findings that explain a broken promise in a grid cell; empty if none does, which is a difference."""
    findings = (
        known.findings
        for known in KNOWN_BREAKS
        if known.level == cell["level"] and promise in known.promises and cell["op"] in known.ops
    )
    return tuple(dict.fromkeys(finding for each in findings for finding in each))


def run_promise_campaign(names: Sequence[str], seed: int, worlds: int, longest: int = MAX_STEPS) -> dict[str, Any]:
    """Run every cell of the grid on every subject and return the record.

    A broken promise that no finding explains is a difference.

    Raises:
        UsageError: a subject is no released jar of Kafka Streams.
        MissingPrerequisite: Java or the jars are not there.
        Interrupted: with the record of the subjects that were over.
    """
    records: list[dict[str, Any]] = []
    with keep_partial_result(lambda: {**_promise_record(records, seed, worlds, longest), "stopped": True}):
        for name in names:
            records.append(_run_on_subject(name, seed, worlds, longest))
        return _promise_record(records, seed, worlds, longest)


def _run_on_subject(name: str, seed: int, worlds: int, longest: int) -> dict[str, Any]:
    """Return the record of one subject."""
    if name not in {release.subject for release in releases(FAMILY)}:
        example = newest_release(FAMILY).subject
        raise UsageError(f"the promises of {name} are not played; give a pinned release such as {example}")
    results = run_program(build_program(name, MODULE), seed, worlds, longest)
    findings = {one for cell in results["cells"] for broken in cell["broken"].values() for one in broken["findings"]}
    return {
        "name": name,
        "artifact": artifact_of(name),
        "findings": {f"promises.{finding}": finding for finding in sorted(findings)},
        **results,
    }


def _promise_record(records: list[dict[str, Any]], seed: int, worlds: int, longest: int) -> dict[str, Any]:
    """Return the record of these subjects."""
    cells = [(record["name"], cell) for record in records for cell in record["cells"]]
    return {
        "schema": 1,
        "system": FAMILY,
        "theme": "promises",
        "seed": seed,
        "cases": sum(cell["worlds"] for _, cell in cells),
        "worlds_a_cell": worlds,
        "longest_world": longest,
        "cpu_seconds": round(sum(record["cpu_seconds"] for record in records), 1),
        "judged_steps": sum(record["steps"] for record in records),
        "judged": "each step, also inside calls, against what is promised, by a program that runs in the JVM of the "
        "released classes, not through the protocol",
        "subjects": records,
        "laws": {"rules": {}},
        "differences": [
            {"subject": name, "level": cell["level"], "op": cell["op"], "promise": promise, **broken}
            for name, cell in cells
            for promise, broken in cell["broken"].items()
            if not broken["findings"]
        ],
    }


def compact_record(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record as it is written: only the number of steps of each shortest run."""
    kept: dict[str, Any] = json.loads(json.dumps(record))
    for subject in kept["subjects"]:
        for cell in subject["cells"]:
            for broken in cell["broken"].values():
                broken["shortest"] = len(broken["shortest"]["steps"])
    return kept


def run_program(program: JavaProgram, seed: int, worlds: int, longest: int) -> dict[str, Any]:
    """Run the program once."""
    done = program.run(MAIN, seed, worlds, longest, options=["-Xss16m"])
    done.check_returncode()
    output = json.loads(done.stdout)
    for cell in output["cells"]:
        for promise, broken in cell["broken"].items():
            broken["findings"] = list(explaining_findings(cell, promise))
    return {"cpu_seconds": output["cpu_millis"] / 1000, "steps": output["steps"], "cells": output["cells"]}


PROGRAM: Final = Program(run_promise_campaign, compact_record)
"""The campaign as `load_program` returns it."""
