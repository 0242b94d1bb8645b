"""One run of `entrycache bench` as a JSON object, and back."""

from __future__ import annotations

import dataclasses
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from entrycache_bench.kafka_streams.costs import kafka_costs
from entrycache_bench.measurement import Measurement
from entrycache_bench.pulsar_pip430.cursors import CursorCost, cursor_costs, judged
from entrycache_bench.pulsar_pip430.measure import measure
from entrycache_bench.pulsar_pip430.released import with_released
from entrycache_bench.suite import suite
from entrycache_protocol.input import read_json
from entrycache_protocol.shape import NUMBER, TEXT, Schema, hold, many, or_null, record
from entrycache_protocol.stopped import keeping
from entrycache_protocol.verdict import Verdict

CURSOR_ROUNDS_MAX = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Streams:
    """What was measured of the cache of a stream thread, in rounds of its own; `released`: who stands beside ours."""

    rounds: int
    operations: int
    measurements: list[Measurement]
    released: str | None = None
    load: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What was measured, and where."""

    rounds: int
    operations: int
    python: str
    processors: int
    measurements: list[Measurement]
    cursors: list[CursorCost]
    released: str | None = None
    """The version whose container of cursors stands beside ours."""
    load: float | None = None
    """How many programs wanted a processor when it began, where the system tells."""
    streams: Streams | None = None
    """What was measured in rounds of its own, where it was asked for."""
    stopped: bool = False
    """Whether it was stopped, so that this is not all."""

    @property
    def missed(self) -> list[Measurement]:
        """The measurements that miss their target."""
        return [item for item in self.measurements if item.missed]

    @property
    def verdict(self) -> Verdict:
        """Whether a target is missed; what was stopped meets none as a whole."""
        return Verdict.VIOLATES if self.missed else Verdict.NOTHING_CHECKED if self.stopped else Verdict.CONFORMS

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
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


def run(rounds: int, operations: int, released: str | None = None) -> Result:
    """Measure everything; the container of the version `released` too.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: cachetools, or what that version needs, is not there.
        Stopped: with what was measured until then.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    python = f"{platform.python_implementation()} {platform.python_version()}"
    found: list[Measurement] = []
    costs: list[CursorCost] = []

    def so_far(costs: list[CursorCost], released: str | None, stopped: bool) -> Result:
        measured = [*found, *judged(costs)]
        processors = os.cpu_count() or 1
        return Result(rounds, operations, python, processors, measured, costs, released, load, stopped=stopped)

    with keeping(lambda: so_far(costs, None, True)):
        for part in (measure(rounds, operations), suite(rounds)):
            for measured in part:
                found.append(measured)
        for cost in cursor_costs(min(rounds, CURSOR_ROUNDS_MAX)):
            costs.append(cost)
        beside = costs if released is None else with_released(costs, released, rounds)
        return so_far(beside, released, False)


def with_streams(result: Result, rounds: int, operations: int, released: str) -> Result:
    """The result with the part about a stream thread's cache, which is measured now.

    Raises:
        UsageError: there is no driver for that version.
        MissingPrerequisite: cachetools, or what that version needs, is not there.
        Stopped: with the result as it was.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with keeping(lambda: dataclasses.replace(result, stopped=True)):
        measured = kafka_costs(rounds, operations, released)
    found = Streams(rounds, operations, measured, released, load)
    return dataclasses.replace(result, streams=found)


def read_result(path: Path) -> Result:
    """The result that `--json` has printed into a file.

    Raises:
        UsageError: there is no such file, or it holds something else.
    """
    value = read_json(path, "the result")
    hold(value, SHAPE, f"{path} is no whole result of entrycache bench --json of this version")
    cursors = [CursorCost(**item) for item in value["cursors"]]
    numbers = (value["rounds"], value["operations"], value["python"], value["processors"])
    released, load, part = value.get("released"), value.get("load"), value.get("streams")
    streamed = None if part is None else Streams(**{**part, "measurements": _measurements(part)})
    return Result(*numbers, _measurements(value), cursors, released, load, streamed)


def _measurements(value: Mapping[str, Any]) -> list[Measurement]:
    names = Measurement.__dataclass_fields__
    return [Measurement(**{key: part for key, part in item.items() if key in names}) for item in value["measurements"]]


def _closed(schema: Schema) -> Schema:
    """The same without other keys."""
    return {**schema, "additionalProperties": False}


_POSITIVE: Final = {"type": "integer", "minimum": 1}
_TIME: Final = {"type": "number", "exclusiveMinimum": 0}
_MEASUREMENT: Final = record(
    {"what": TEXT, "value": NUMBER, "unit": TEXT, "note": TEXT, "missed": {"type": "boolean"}}
    | dict.fromkeys(("at_least", "at_most"), or_null(NUMBER)),
    *("note", "missed", "at_least", "at_most"),
)
_CURSORS: Final = record(
    {"mix": TEXT, "pattern": TEXT, "cursors": _POSITIVE, "fast_nanos": _TIME, "linear_nanos": _TIME}
    | {"released_nanos": or_null(_TIME)},
    "released_nanos",
)
_ROUNDS: Final = {"rounds": _POSITIVE, "operations": _POSITIVE, "measurements": many(_closed(_MEASUREMENT))}
_BESIDE: Final = {"released": or_null(TEXT), "load": or_null(NUMBER)}
SHAPE: Final = record(
    {
        **_ROUNDS,
        **_BESIDE,
        "python": TEXT,
        "processors": _POSITIVE,
        "cursors": many(_closed(_CURSORS)),
        "streams": or_null(_closed(record({**_ROUNDS, **_BESIDE}, *_BESIDE))),
        "stopped": {"const": False},
    },
    *(*_BESIDE, "streams", "stopped"),
)
"""What `--json` prints of a run that was not stopped, as JSON Schema."""
