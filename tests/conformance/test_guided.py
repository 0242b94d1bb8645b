"""Promises that allow several answers: the subject's answer is checked against the promise and guides the reference.

The promise of the first tests is made up: `put_if_absent` may turn a write down with `present` true and no value. Those
of state machines and of blame have the open views of Kafka Streams.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache import Refuse, Subject, state_machine
from entrycache_conformance import explain
from entrycache_conformance.judge import Coverage, judge, judge_case, run_reference
from entrycache_conformance.resolve import PythonSubject
from entrycache_conformance.state_machine import AnswerDiffers
from entrycache_conformance.systems.kafka_streams.system import SYSTEM, write_outcome
from entrycache_protocol.case import Case, case_from_json, case_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import FailingCase, RunResult
from entrycache_reference.kafka_streams import Config, State, Step, ops, view_ops
from entrycache_reference.rules import Rule

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


class Snapshots(Subject):
    """A store without a cache whose open views show what it held when they were opened."""

    system = "kafka-streams"
    settings = ()

    def __init__(self, config: Any) -> None:
        self.entries: dict[str, str] = {}
        self.views: dict[str, list[list[str]]] = {}

    def store_put(self, store: str, key: str, value: str | None) -> dict[str, Any]:
        self.entries.pop(key, None)
        if value is not None:
            self.entries[key] = value
        return {}

    def store_view(self, store: str, prefix: str | None = None, backward: bool = False, **bounds: Any) -> Any:
        if prefix is not None and (backward or any(bound is not None for bound in bounds.values())):
            raise Refuse("illegal-state")
        first, last = bounds.get("from_"), bounds.get("to")
        keys = [key for key in sorted(self.entries) if prefix is None or key.startswith(prefix)]
        keys = [key for key in keys if (first is None or first <= key) and (last is None or key <= last)]
        return {"entries": [[key, self.entries[key]] for key in keys[:: -1 if backward else 1]]}

    def view_open(self, view: str, **bounds: Any) -> dict[str, Any]:
        if view in self.views:
            raise Refuse("illegal-state")
        self.views[view] = self.store_view(**bounds)["entries"]
        return {}

    def view_next(self, view: str) -> dict[str, Any]:
        if view not in self.views:
            raise Refuse("illegal-state")
        return {"entry": self.views[view].pop(0) if self.views[view] else None}

    def view_close(self, view: str) -> dict[str, Any]:
        if self.views.pop(view, None) is None:
            raise Refuse("illegal-state")
        return {}


class Nulls(Snapshots):
    """The store whose open views show a key that was deleted meanwhile with null."""

    def view_next(self, view: str) -> dict[str, Any]:
        entry = super().view_next(view)["entry"]
        return {"entry": entry and [entry[0], self.entries.get(entry[0])]}


class WithoutEnd(Snapshots):
    """The store whose views leave out the end of their range."""

    def store_view(self, store: str, **bounds: Any) -> Any:
        entries = super().store_view(store, **bounds)["entries"]
        is_forward = not bounds.get("backward")
        return {"entries": [entry for entry in entries if not is_forward or entry[0] != bounds.get("to")]}


BEFORE: Final = (
    ops.StorePut("s", "x", "1"),
    view_ops.ViewOpen("v", "s"),
    ops.StorePut("s", "x", "9"),
    view_ops.ViewNext("v"),
)
"""Its last answer is guided: the view may show x with 1 or with 9."""


def test_a_state_machine_follows_an_allowed_answer(tmp_path: Path) -> None:
    state_machine(Snapshots, failures=tmp_path).play(Case(SYSTEM, Config(), (*BEFORE, *BEFORE[3:])))
    assert not list(tmp_path.iterdir())


def test_a_state_machine_refuses_an_answer_that_the_promise_forbids(tmp_path: Path) -> None:
    deleted = (*BEFORE[:2], ops.StorePut("s", "x", None), BEFORE[3])
    with pytest.raises(AnswerDiffers, match=r"view_next(.|\n)*K-VIEW-6"):
        state_machine(Nulls, failures=tmp_path).play(Case(SYSTEM, Config(), deleted))


def test_blame_follows_an_allowed_answer_to_the_fault_that_answers_alike() -> None:
    subject = PythonSubject(WithoutEnd)
    case = Case(SYSTEM, Config(), (*BEFORE, view_ops.StoreView("s", None, "x")))
    judged = judge_case(subject, case)
    assert judged.difference is not None
    assert (judged.difference.at, judged.difference.expected) == (4, {"entries": [["x", "9"]]})
    failing = FailingCase(case, judged.steps, judged.difference)
    assert write_outcome(failing.path[3].outcome) == {"entry": ["x", "1"]}
    assert failing.as_reported().got[3:] == ({"entry": ["x", "1"]}, {"entries": []})
    observed = explain._observe_failure(subject, case, failing.path, judged.difference)
    assert Rule.K_VIEW_1 in {fault.rule for fault in explain._matching_faults(observed)}
    assert explain.explain_difference(subject, case, failing.path, judged.difference)[0] is Rule.K_VIEW_1
