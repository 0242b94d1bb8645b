"""The published schema of an answer: answers of the reference fit it, and wrong answers do not."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from entrycache_conformance.generate import make_seeded_cases
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.schema import _define_objects, answer_schema
from entrycache_protocol.system import AnySystem
from tests.support import ROOT


def fits(schema: Any, value: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(value))


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: str(system.name))
def test_right_answers_fit_and_wrong_ones_do_not(system: AnySystem) -> None:
    schema = json.loads((ROOT / "spec" / system.name / "answer.schema.json").read_text("utf-8"))
    assert schema == answer_schema(system)
    Draft202012Validator.check_schema(schema)
    menu = system.cases.menu(system.ops_up_to(system.levels[0]), system.levels[0])
    for generated in islice(make_seeded_cases(reference_subject(system).declaration, menu, 100, 3), 20):
        outcomes = [system.wire.write_outcome(done.outcome) for done in generated.steps]
        answer = json.loads(json.dumps({"id": 1, "outcomes": outcomes}))
        assert fits(schema, answer) and fits(schema, {**answer, "leaked": 0})
        assert not fits(schema, {**answer, "outcomes": [*answer["outcomes"], {"insertd": True}]})
        assert not fits(schema, {"outcomes": answer["outcomes"]}) and not fits(schema, {**answer, "more": 1})
    assert fits(schema, {"id": 1, "skipped": {"reason": "no", "issue_url": "https://example.org/1"}})
    assert fits(schema, {"id": 1, "errored": {"step": 0, "message": "no"}})
    assert not fits(schema, {"id": 1, "skipped": {}}) and not fits(schema, {"id": 1, "errored": {"step": -1}})


def test_objects_of_one_title_are_defined_once_and_must_be_equal() -> None:
    one = {"title": "One", "type": "object", "properties": {"bytes": {"type": "integer"}}}
    definitions: dict[str, Any] = {}
    assert _define_objects([one, {"items": one}], definitions) == [
        {"$ref": "#/$defs/One"},
        {"items": {"$ref": "#/$defs/One"}},
    ]
    assert definitions == {"One": {key: part for key, part in one.items() if key != "title"}}
    with pytest.raises(AssertionError, match="two objects have the title One"):
        _define_objects({**one, "properties": {}}, definitions)
