"""Cases and outcomes of kafka-streams as JSON: round trips, schemas and refusals."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_conformance.systems.kafka_streams.workload import WorkloadProfile
from entrycache_protocol.case import Case, case_from_json, case_to_json, format_case
from entrycache_protocol.codec import MalformedValue
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.schema import case_schema
from entrycache_reference.kafka_streams import ops

SYSTEM: Final = SYSTEMS["kafka-streams"]
DECLARATION: Final = Declaration(SYSTEM, frozenset(SYSTEM.ops), introspection=SYSTEM.wire.introspection)
MENU: Final = SYSTEM.cases.menu(SYSTEM.ops)


def _make_steps(seed: int) -> tuple[Case, list[Any]]:
    source = random.Random(seed)
    workload = list(WorkloadProfile)[seed % len(WorkloadProfile)]
    generated = make_case(source.randint, DECLARATION, MENU, Coverage(), 30, workload=workload)
    return generated.case, generated.steps


@pytest.mark.parametrize("seed", range(20))
def test_a_case_survives_its_text(seed: int) -> None:
    case, _ = _make_steps(seed)
    value = json.loads(format_case(case))
    assert not list(Draft202012Validator(case_schema(SYSTEM)).iter_errors(value))
    assert case_from_json(value, SYSTEMS) == case


@pytest.mark.parametrize("seed", range(20))
def test_an_outcome_survives_its_text_and_fits_its_schema(seed: int) -> None:
    case, steps = _make_steps(seed)
    for op, done in zip(case.steps, steps, strict=True):
        value = json.loads(json.dumps(write_outcome(done.outcome)))
        assert not list(Draft202012Validator(SYSTEM.wire.outcome_schema(type(op))).iter_errors(value))
        read = SYSTEM.wire.read_outcome(op, value, DECLARATION)
        assert SYSTEM.wire.declared_part(read, SYSTEM.wire.introspection) == value
        assert write_outcome(read) == value


def test_bounds_and_steps_within_steps_have_the_names_of_the_protocol() -> None:
    inner = ops.Listen("b", (ops.Range("a", None, "x"),), 1)
    case = Case(SYSTEM, SYSTEM.model.config(), (ops.OnForward("s", "x", (inner,)),))
    value = case_to_json(case)["steps"][0]
    range_ = {"op": "range", "ns": "a", "from": None, "to": "x", "to_inclusive": True}
    listen = {"op": "listen", "ns": "b", "on_flush": [range_], "fails": 1}
    assert value == {"op": "on_forward", "store": "s", "key": "x", "steps": [listen]}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"op": "get", "ns": "a"}, "key"),
        ({"op": "range", "ns": "a", "from_": None, "to": None}, "from"),
        ({"op": "put", "ns": "a", "key": "x", "value": 1}, "expected a string"),
        ({"op": "put", "ns": "a", "key": "x", "value": "1", "timestamp": None}, "expected an integer"),
        ({"op": "put", "ns": "a", "key": "x", "value": "1", "headers": [["h"]]}, "an array of 2"),
        ({"op": "put_all", "ns": "a", "entries": [{"key": "x"}]}, "the key 'value' is missing"),
        ({"op": "listen", "ns": "a", "on_flush": [{"op": "insert"}]}, "unknown op 'insert'"),
        ({"op": "listen", "ns": "a", "on_flush": {}}, "expected an array"),
        ({"op": "resize", "max_size_bytes": -1}, "expected 0 to"),
    ],
)
def test_a_step_of_another_shape_is_refused(step: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        case_from_json({"system": "kafka-streams", "steps": [step]}, SYSTEMS)


def test_steps_nested_too_deeply_are_refused_in_one_line() -> None:
    step: dict[str, Any] = {"op": "get", "ns": "a", "key": "x"}
    for _ in range(5_000):
        step = {"op": "listen", "ns": "a", "on_flush": [step]}
    with pytest.raises(UsageError, match="steps within steps"):
        case_from_json({"system": "kafka-streams", "steps": [step]}, SYSTEMS)


PUT: Final = ops.Put("a", "x", "1")


@pytest.mark.parametrize(
    ("op", "value"),
    [
        (PUT, []),
        (PUT, {"present": True}),
        (PUT, {"error": "refused"}),
        (PUT, {"flushed": []}),
        (PUT, {"flushed": [{"ns": "a", "entries": []}]}),
        (PUT, {"flushed": [{"ns": "a", "entries": [["x"]], "inner": []}]}),
        (PUT, {"flushed": [{"ns": "a", "entries": [["x", "1", {}]], "inner": []}]}),
        (PUT, {"flushed": [{"ns": "a", "entries": [], "inner": [1]}]}),
        (ops.Get("a", "x"), {"hit": 1, "value": None}),
        (ops.Metrics("a"), {"hits": 0, "misses": 0, "overwrites": 0, "flushes": 0, "dirty": []}),
        (ops.Metrics(), {"puts": 0, "gets": 0, "evicts": 0}),
        (ops.All("a"), {"entries": [["x", "1", "2"]]}),
    ],
)
def test_an_outcome_of_another_shape_is_malformed(op: Any, value: Any) -> None:
    with pytest.raises(MalformedValue):
        SYSTEM.wire.read_outcome(op, value, DECLARATION)


def test_undeclared_parts_are_neither_requested_nor_compared() -> None:
    less = Declaration(SYSTEM, frozenset(SYSTEM.ops))
    counters = {"hits": 0, "misses": 0, "overwrites": 0, "flushes": 0}
    assert SYSTEM.wire.read_outcome(ops.Metrics("a"), counters, less)["hits"] == 0
    declared = SYSTEM.wire.declared_part({**counters, "dirty": ["x"], "lru": []}, less.introspection)
    assert declared == counters
    call = {"ns": "a", "entries": [["x", "1"]], "inner": [{"entries": 0, "bytes": 0, "tracked": 9}]}
    assert SYSTEM.wire.declared_part({"flushed": [call]}, frozenset())["flushed"][0]["inner"] == [
        {"entries": 0, "bytes": 0}
    ]
