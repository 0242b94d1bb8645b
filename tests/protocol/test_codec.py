"""Cases and outcomes as JSON: lossless, strict, and in agreement with the schema."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from entrycache_conformance.generate import make_case
from entrycache_conformance.judge import Coverage
from entrycache_conformance.subjects.wrappers import _as_json
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.pulsar_pip430.system import ANSWERS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_faults.model import CASES_FOLDER, load_catalogue
from entrycache_protocol.case import Case, case_from_json, case_to_json, encode_outcome, format_case, read_case
from entrycache_protocol.codec import MalformedValue, OrderedOutcome, decode_op, encode_op
from entrycache_protocol.declaration import read_declaration
from entrycache_protocol.errors import BrokenSubject, UsageError
from entrycache_protocol.schema import case_schema
from entrycache_reference.pulsar_pip430.ops import Evict
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.vocabulary import Position

SYSTEM = SYSTEMS["pulsar-pip430"]


def make_steps(seed: int) -> tuple[Case, list[Any]]:
    subject = reference_subject(SYSTEM)
    generated = make_case(random.Random(seed).randint, subject.declaration, SYSTEM.cases.menu(SYSTEM.ops), Coverage())
    return generated.case, generated.steps


@pytest.mark.parametrize("seed", range(30))
def test_a_case_survives_its_file(seed: int, tmp_path: Path) -> None:
    case, steps = make_steps(seed)
    path = tmp_path / "case.json"
    path.write_text(format_case(case))
    again = read_case(path, SYSTEMS)
    assert again.steps == case.steps
    assert case_to_json(again) == case_to_json(case)
    declaration = reference_subject(SYSTEM).declaration
    for op, done in zip(case.steps, steps, strict=True):
        outcome = json.loads(json.dumps(encode_outcome(done.outcome)))
        assert ANSWERS.read_outcome(op, outcome, declaration) == done.outcome


@pytest.mark.parametrize("seed", range(10))
def test_generated_cases_and_outcomes_fit_their_schemas(seed: int) -> None:
    case, steps = make_steps(seed)
    assert not list(Draft202012Validator(case_schema(SYSTEM)).iter_errors(_as_json(case_to_json(case))))
    for op, done in zip(case.steps, steps, strict=True):
        outcome = _as_json(encode_outcome(done.outcome))
        assert not list(Draft202012Validator(SYSTEM.wire.outcome_schema(type(op))).iter_errors(outcome))


BAD_STEPS = [
    {"op": "insert", "cache": "a", "pos": [1, 0]},
    {"op": "insert", "cache": "a", "pos": [1, -1], "size": 1},
    {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1.0},
    {"op": "insert", "cache": "a", "pos": [1, 0], "size": True},
    {"op": "insert", "cache": "a", "pos": [1, 0], "size": 2**53},
    {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1, "expected_reads": 2**31},
    {"op": "insert", "cache": "a", "pos": [1, 0, 0], "size": 1},
    {"op": "insert", "cache": 1, "pos": [1, 0], "size": 1},
    {"op": "expire", "older_than_nanos": None},
    {"op": "usage", "cache": None},
    {"op": "get", "cache": "a", "pos": [1, 0], "mark": False},
    {"op": "remove_range", "cache": "a", "first": [-2, 0], "last": [1, 0], "last_inclusive": True},
    {"op": "remove_range", "cache": "a", "first": [0, 0], "last": [1, 0], "last_inclusive": 1},
    {"op": "nothing"},
    {"op": ["get"]},
    {},
    [],
]


@pytest.mark.parametrize("step", BAD_STEPS, ids=lambda step: json.dumps(step)[:60])
def test_the_reader_refuses_a_step_that_the_schema_refuses(step: Any) -> None:
    with pytest.raises(MalformedValue):
        decode_op(SYSTEM.ops, step)
    # In JSON Schema 1.0 is an integer; the reader is stricter, as the page says integers.
    if step != BAD_STEPS[2]:
        value = {"system": "pulsar-pip430", "steps": [step]}
        assert list(Draft202012Validator(case_schema(SYSTEM)).iter_errors(value))


def test_null_and_absent_expected_reads_are_both_kept() -> None:
    for step in (
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1, "expected_reads": None},
        {"op": "insert", "cache": "a", "pos": [1, 0], "size": 1},
    ):
        assert json.loads(json.dumps(encode_op(decode_op(SYSTEM.ops, step)))) == step


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "a JSON object"),
        ({}, "no 'system'"),
        ({"system": "nope", "steps": []}, "not built"),
        ({"system": "pulsar-pip430", "steps": {}}, "not an array"),
        ({"system": "pulsar-pip430", "steps": [], "more": 1}, "unknown key 'more'"),
        ({"system": "pulsar-pip430", "steps": [], "outcomes": [{}, 7]}, "item 1 of the outcomes of the case is 7"),
        ({"system": "pulsar-pip430", "steps": [], "got": [None]}, "item 0 of the got of the case is null"),
        ({"system": "pulsar-pip430", "steps": [], "config": {"watermark": 2}}, "watermark: expected 0 to 1"),
        ({"system": "pulsar-pip430", "steps": [], "variants": {"x": 1}}, "unknown key 'x'"),
        (
            {"system": "pulsar-pip430", "steps": [{"op": "get"}]},
            "step 0 of the case: op get: the key 'cache' is missing",
        ),
    ],
)
def test_a_bad_case_is_refused_in_one_line(value: Any, said: str) -> None:
    with pytest.raises(UsageError) as error:
        case_from_json(value, SYSTEMS)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_cases_of_seeded_faults_hold_the_whole_configuration() -> None:
    for name, case in load_catalogue(SYSTEMS).items():
        assert (CASES_FOLDER / f"{name}.json").read_text(encoding="utf-8") == format_case(case)


@pytest.mark.parametrize(
    "offer",
    [
        {},
        {"ops": "insert"},
        {"ops": [1]},
        {"ops": ["fly"]},
        {"ops": ["insert"], "config": ["colour"]},
        {"ops": ["insert"], "fixed": {"ttl_nanos": "1"}},
        {"ops": ["insert"], "introspection": ["soul"]},
        {"ops": ["insert"], "variants": {"requeue_budget": "none"}},
        {"ops": ["insert"], "payload": 1},
        {"ops": ["insert"], "limits": {"max_steps": 0}},
        {"ops": ["insert"], "limits": {"max_size": -1}},
        {"ops": ["insert"], "order_slack": -1},
    ],
)
def test_a_false_declaration_makes_a_broken_subject(offer: Any) -> None:
    with pytest.raises(BrokenSubject):
        read_declaration({"version": 1, "systems": {"pulsar-pip430": offer}}, SYSTEMS)


def test_only_a_removal_queue_has_order_slack() -> None:
    answer: dict[str, Any] = {"version": 1, "systems": {"pulsar-pip430": {"ops": ["insert"], "order_slack": 2}}}
    assert read_declaration(answer, SYSTEMS).order_slack == 2
    answer["systems"] = {"kafka-streams": {"ops": ["put"], "order_slack": 2}}
    with pytest.raises(UsageError, match="order_slack is 2, and passes of kafka-streams have one order; expected 0"):
        read_declaration(answer, SYSTEMS)


def test_an_outcome_has_what_passes_did_under_order_slack_alone() -> None:
    offer: dict[str, Any] = {"ops": ["evict"], "order_slack": 1}
    answer = {"version": 1, "systems": {"pulsar-pip430": offer}}
    evict, value = Evict(5), {"entries": 1, "bytes": 5, "seen": [["a", [1, 0], "removed"]]}
    slack = read_declaration(answer, SYSTEMS)
    read = slack.read_outcome(evict, value)
    assert read == OrderedOutcome(Removed(1, 5), (("a", Position(1, 0), "removed"),))
    assert slack.system.wire.write_outcome(read) == value
    assert slack.read_outcome(evict, {**value, "seen": []}) == Removed(1, 5)
    for wrong in ([["a", [1, 0], "gone"]], [["a", [1, 0]]], [["a", 1, "removed"]], {}):
        with pytest.raises(MalformedValue, match="seen: "):
            slack.read_outcome(evict, {**value, "seen": wrong})
    offer["order_slack"] = 0
    with pytest.raises(MalformedValue, match="unknown key 'seen'"):
        read_declaration(answer, SYSTEMS).read_outcome(evict, value)
