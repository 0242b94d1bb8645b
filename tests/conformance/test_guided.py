"""Promises that allow several answers: the subject's answer is checked against the promise and guides the reference.

The promise of these tests is made up: `put_if_absent` may turn a write down with `present` true and no value.
"""

import json
from typing import Any, Final

import pytest

from entrycache_conformance.judge import Coverage, judge, run_reference
from entrycache_conformance.systems.kafka_streams.system import SYSTEM
from entrycache_protocol.case import Case, case_from_json, case_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import RunResult
from entrycache_reference.kafka_streams import Config, State, Step, ops

TURNED_DOWN: Final = {"present": True, "existing": None}
ACCEPTED: Final = {"present": False, "existing": None}
MISS: Final = {"hit": False, "value": None}
HIT: Final = {"hit": True, "value": "1"}


def follow(state: State, op: Any, config: Config, own: Step, got: Any) -> Step | None:
    """Return the step of a cache that turns the write down."""
    if not isinstance(op, ops.PutIfAbsent) or got != TURNED_DOWN:
        return None
    return own._replace(state=state, outcome=got)


GUIDED: Final = SYSTEM._replace(model=SYSTEM.model._replace(follow=follow, guiding=frozenset({"put_if_absent"})))
CASE: Final = Case(
    GUIDED,
    Config(),
    (ops.PutIfAbsent("a", "x", "1"), ops.Get("a", "x"), ops.PutIfAbsent("a", "x", "1"), ops.Get("a", "x")),
)


def first_difference(*answers: Any) -> int | None:
    """Return the step of the first difference."""
    declaration = Declaration(GUIDED, frozenset(GUIDED.ops))
    difference = judge(CASE, run_reference(CASE, Coverage()), RunResult(answers), declaration)
    return None if difference is None else difference.at


@pytest.mark.parametrize(
    ("answers", "at"),
    [
        ((ACCEPTED, HIT, {"present": True, "existing": "1"}, HIT), None),
        ((TURNED_DOWN, MISS, ACCEPTED, HIT), None),
        ((TURNED_DOWN, MISS, TURNED_DOWN, MISS), None),
        ((TURNED_DOWN, HIT, ACCEPTED, HIT), 1),
        ((TURNED_DOWN, MISS, TURNED_DOWN, HIT), 3),
        ((TURNED_DOWN, MISS, {"present": True, "existing": "1"}, HIT), 2),
        ((ACCEPTED, MISS, ACCEPTED, HIT), 1),
    ],
)
def test_an_allowed_answer_guides_the_reference(answers: tuple[Any, ...], at: int | None) -> None:
    assert first_difference(*answers) == at


def test_a_guided_case_says_so_in_its_file() -> None:
    written = case_to_json(Case(GUIDED, Config(), CASE.steps, outcomes=(ACCEPTED, HIT, ACCEPTED, HIT)))
    value = json.loads(json.dumps(written))
    assert value["guided"] is True
    assert case_from_json(value, {GUIDED.name: GUIDED}).steps == CASE.steps
    with pytest.raises(UsageError, match="'guided' is neither true nor false"):
        case_from_json({**value, "guided": "yes"}, {GUIDED.name: GUIDED})
    assert "guided" not in case_to_json(Case(GUIDED, Config(), (ops.Get("a", "x"),), outcomes=(MISS,)))
