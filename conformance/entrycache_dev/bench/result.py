"""The result of `python -m entrycache_dev bench` as a JSON object, and the benchmark of the suite itself.

`run_bench` measures everything and returns a `BenchResult`; a run that is stopped returns its finished measurements.
`read_result` reads such an object back for the page. `measure_suite` times checked steps in this process and steps that
are played through a child process.
"""

import dataclasses
import os
import platform
import random
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from entrycache_conformance import generate, judge, resolve, search
from entrycache_conformance.subjects.child import Child
from entrycache_dev.bench import kafka_streams, pulsar_cursors, pulsar_pip430
from entrycache_dev.bench.measurement import Measurement, bare_rate, interleaved, seconds_of
from entrycache_protocol import errors, files
from entrycache_protocol.strict_json import NUMBER, TEXT, Schema, check_shape, list_shape, nullable_shape, object_shape

CURSOR_ROUNDS_MAX = 3


@dataclasses.dataclass(frozen=True, slots=True)
class StreamsResult:
    """The measurements of a stream thread's cache, in rounds of their own; `released` is the compared version."""

    rounds: int
    operations: int
    measurements: list[Measurement]
    released: str | None = None
    load: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class BenchResult:
    """The measurements of one run, with the machine they were made on."""

    rounds: int
    operations: int
    python: str
    processors: int
    measurements: list[Measurement]
    cursors: list[pulsar_cursors.CursorCost]
    released: str | None = None
    """The version whose container of cursors was measured too."""
    load: float | None = None
    """The number of programs that wanted a processor at the start, if the operating system reports it."""
    streams: StreamsResult | None = None
    """The measurements of a stream thread's cache, if they were requested."""
    stopped: bool = False
    """True if the run was stopped before its end."""

    @property
    def missed(self) -> list[Measurement]:
        """The measurements that miss their target."""
        return [item for item in self.measurements if item.missed]

    @property
    def verdict(self) -> errors.Verdict:
        """The verdict: violates if a target is missed, and nothing-checked for a run that was stopped."""
        return (
            errors.Verdict.VIOLATES
            if self.missed
            else errors.Verdict.NOTHING_CHECKED
            if self.stopped
            else errors.Verdict.CONFORMS
        )

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        measurements = [{**dataclasses.asdict(item), "missed": item.missed} for item in self.measurements]
        return {
            "schema": 1,
            "verdict": self.verdict.value,
            "rounds": self.rounds,
            "operations": self.operations,
            "python": self.python,
            "processors": self.processors,
            "measurements": measurements,
            "cursors": [item._asdict() for item in self.cursors],
            "released": self.released,
            "load": self.load,
            "streams": None if self.streams is None else dataclasses.asdict(self.streams),
            "stopped": self.stopped,
        }


def run_bench(rounds: int, operations: int, released: str | None = None) -> BenchResult:
    """Measure everything, and the container of the version `released` if it is given.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: cachetools or the jars of that version are missing.
        Interrupted: the run was stopped; it holds the finished measurements.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    python = f"{platform.python_implementation()} {platform.python_version()}"
    measurements: list[Measurement] = []
    costs: list[pulsar_cursors.CursorCost] = []

    def partial_result(costs: list[pulsar_cursors.CursorCost], released: str | None, stopped: bool) -> BenchResult:
        measured = [*measurements, *pulsar_cursors.judge_costs(costs)]
        processors = os.cpu_count() or 1
        return BenchResult(rounds, operations, python, processors, measured, costs, released, load, stopped=stopped)

    with errors.keep_partial_result(lambda: partial_result(costs, None, True)):
        for part in (pulsar_pip430.measure_caches(rounds, operations), measure_suite(rounds)):
            for measured in part:
                measurements.append(measured)
        for cost in pulsar_cursors.measure_cursors(min(rounds, CURSOR_ROUNDS_MAX)):
            costs.append(cost)
        all_costs = costs if released is None else pulsar_cursors.add_released(costs, released, rounds)
        return partial_result(all_costs, released, False)


def add_streams(result: BenchResult, rounds: int, operations: int, released: str) -> BenchResult:
    """Measure the cache of a stream thread and add it to the result.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: cachetools or the jars of that version are missing.
        Interrupted: the run was stopped; it holds the result without this part.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with errors.keep_partial_result(lambda: dataclasses.replace(result, stopped=True)):
        measured = kafka_streams.measure_streams(rounds, operations, released)
    streams = StreamsResult(rounds, operations, measured, released, load)
    return dataclasses.replace(result, streams=streams)


def read_result(path: Path) -> BenchResult:
    """Read a result that `--json` has printed into a file.

    Raises:
        UsageError: the file does not exist or holds something else.
    """
    value = files.read_json(path, "the result")
    check_shape(
        value, SHAPE, f"{path} is not a complete result of `python -m entrycache_dev bench --json` of this version"
    )
    cursors = [pulsar_cursors.CursorCost(**item) for item in value["cursors"]]
    numbers = (value["rounds"], value["operations"], value["python"], value["processors"])
    released, load, part = value.get("released"), value.get("load"), value.get("streams")
    streamed = None if part is None else StreamsResult(**{**part, "measurements": _measurements(part)})
    return BenchResult(*numbers, _measurements(value), cursors, released, load, streamed)


def _measurements(value: Mapping[str, Any]) -> list[Measurement]:
    names = Measurement.__dataclass_fields__
    return [Measurement(**{key: part for key, part in item.items() if key in names}) for item in value["measurements"]]


def _closed(schema: Schema) -> Schema:
    """Return the schema without further keys."""
    return {**schema, "additionalProperties": False}


_POSITIVE: Final = {"type": "integer", "minimum": 1}
_TIME: Final = {"type": "number", "exclusiveMinimum": 0}
_MEASUREMENT: Final = object_shape(
    {"what": TEXT, "value": NUMBER, "unit": TEXT, "note": TEXT, "missed": {"type": "boolean"}}
    | dict.fromkeys(("at_least", "at_most"), nullable_shape(NUMBER)),
    *("note", "missed", "at_least", "at_most"),
)
_CURSORS: Final = object_shape(
    {"mix": TEXT, "pattern": TEXT, "cursors": _POSITIVE, "fast_nanos": _TIME, "linear_nanos": _TIME}
    | {"released_nanos": nullable_shape(_TIME)},
    "released_nanos",
)
_ROUNDS: Final = {"rounds": _POSITIVE, "operations": _POSITIVE, "measurements": list_shape(_closed(_MEASUREMENT))}
_RELEASE_AND_LOAD: Final = {"released": nullable_shape(TEXT), "load": nullable_shape(NUMBER)}
SHAPE: Final = object_shape(
    {
        **_ROUNDS,
        **_RELEASE_AND_LOAD,
        "python": TEXT,
        "processors": _POSITIVE,
        "cursors": list_shape(_closed(_CURSORS)),
        "streams": nullable_shape(_closed(object_shape({**_ROUNDS, **_RELEASE_AND_LOAD}, *_RELEASE_AND_LOAD))),
        "stopped": {"const": False},
    },
    *(*_RELEASE_AND_LOAD, "streams", "stopped"),
)
"""The shape of a complete result, as JSON Schema."""


SUITE_EXAMPLES = 150
SUITE_BATCHES = 5
PLAYED_CASES = 1_000
SUITE_LEVELS = ("queue", "cursors")
"""The measured levels; a case of a level uses the operations of lower levels too."""


def measure_suite(rounds: int) -> Iterator[Measurement]:
    """Measure the checked steps per second of a search and in bulk, and the played steps through the protocol."""
    return (item for level in SUITE_LEVELS for item in measure_suite_at(level, rounds))


def measure_suite_at(level: str, rounds: int) -> list[Measurement]:
    """Measure the cases of one level."""
    fast = resolve.open_in_process("fast")
    assert fast is not None
    menu = fast.declaration.system.cases.menu(fast.declaration.system.ops_up_to(level), level)
    steps: dict[str, int] = {}
    processors = os.cpu_count() or 1

    def in_search() -> float:
        coverage = judge.Coverage()
        seconds = seconds_of(lambda: search.find_failure(fast, menu, SUITE_EXAMPLES, 0, coverage))
        steps["search"] = coverage.steps
        return seconds

    def in_bulk(jobs: int) -> float:
        coverage = judge.Coverage()
        batches = iter(range(SUITE_BATCHES * jobs))
        bulk = search.BulkSearch(fast, menu, 0, coverage)
        start = perf_counter()
        bulk.search(lambda: next(batches, None) is None, jobs)
        steps[f"bulk with {jobs} workers"] = coverage.steps
        return perf_counter() - start

    source = random.Random(0)
    cases = [
        generate.make_case(source.randint, fast.declaration, menu, judge.Coverage()).case for _ in range(PLAYED_CASES)
    ]
    steps["protocol"] = sum(len(case.steps) for case in cases)
    child = Child([sys.executable, "-m", "entrycache_cli", "serve", "fast"])

    def played() -> float:
        start = perf_counter()
        child.play(cases)
        return perf_counter() - start

    try:
        bulk = {f"bulk with {jobs} workers": partial(in_bulk, jobs) for jobs in sorted({1, processors})}
        seconds = interleaved(rounds, {"search": in_search, **bulk, "protocol": played})
    finally:
        child.close()
    return [
        bare_rate(what, seconds, name, steps[name])
        for what, name in (
            (
                f"level {level}, judged steps of a search (goal 5,000)",
                "search",
            ),
            *((f"level {level}, judged steps in {name}, wall time (goal 50,000)", name) for name in bulk),
            (f"level {level}, steps played through a child process, wall time (goal 200,000)", "protocol"),
        )
    ]
