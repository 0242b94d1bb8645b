"""Test the check of examples: each kind of bad example is reported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from entrycache_evidence.rulebook import examples, render
from entrycache_evidence.rulebook.render import describe_fault, describe_settings, tabulate_steps
from entrycache_protocol.errors import UsageError
from entrycache_reference.rules import Rule

Value = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the examples."""
    copy = tmp_path / "examples"
    shutil.copytree(examples.locate_examples(), copy)
    monkeypatch.setattr(examples, "locate_examples", lambda: copy)
    return copy


def problems_of(rule: Rule) -> str:
    return "; ".join(problem.what for problem in examples.check_example(rule))


def change(rule: Rule, edit: Callable[[Value], object]) -> str:
    """Return the problems of an example after an edit, with new answers."""
    value = json.loads(examples.locate_example(rule).read_text(encoding="utf-8"))
    edit(value)
    path = examples.locate_example(rule)
    path.write_text(json.dumps(value), encoding="utf-8")
    path.write_text(examples.render_example_file(examples.load_example(rule)), encoding="utf-8")
    return problems_of(rule)


def test_every_rule_has_an_example_that_shows_it() -> None:
    assert [problem for rule in Rule for problem in examples.check_example(rule)] == []
    assert examples.check_strays() == []


def test_a_rule_without_an_example_and_an_example_without_a_rule_are_reported(folder: Path) -> None:
    (folder / "R-EVICT-3.json").rename(folder / "R-EVICT-99.json")
    assert problems_of(Rule.EVICT_3) == "has no example: spec/examples/R-EVICT-3.json"
    assert [problem.rule for problem in examples.check_strays()] == ["spec/examples/R-EVICT-99.json"]


def test_a_file_that_holds_no_case_is_reported(folder: Path) -> None:
    (folder / "R-EVICT-3.json").write_text("{", encoding="utf-8")
    assert problems_of(Rule.EVICT_3).startswith("its example cannot be read: ")


@pytest.mark.parametrize("rule", [Rule.EVICT_3, Rule.K_FLUSH_2, Rule.K_CONCURRENCY_3])
def test_an_answer_that_is_not_the_references_is_reported_and_written_again(folder: Path, rule: Rule) -> None:
    path = folder / f"{rule.value}.json"
    before = path.read_text(encoding="utf-8")
    value = json.loads(before)
    value["events" if "clients" in value else "outcomes"][-1] = {}
    path.write_text(json.dumps(value), encoding="utf-8")
    assert "does not hold the reference's answers; `entrycache rules --write` writes them" in problems_of(rule)
    examples.write_answers()
    assert path.read_text(encoding="utf-8") == before


def test_an_example_that_another_rule_would_do_for_is_reported(folder: Path) -> None:
    problems = change(Rule.EVICT_3, lambda value: value.update(steps=[{"op": "advance", "nanos": 1}]))
    assert "never fires the rule" in problems
    assert "with every seeded fault of it the answers are the same" in problems


def test_a_history_that_no_faulty_reference_breaks_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "TRIES", 5)
    alone: Value = {"clients": [[{"op": "get", "ns": "a", "key": "x"}]]}
    assert "no faulty reference breaks it" in change(Rule.K_CONCURRENCY_7, lambda value: value.update(alone))


def test_a_history_that_is_not_about_its_rule_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "TRIES", 5)
    problems = change(Rule.K_CONCURRENCY_3, lambda value: value.update(after=[]))
    assert "never fires the rule" in problems


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"note": ""}, "has no note"),
        ({"rules": ["R-EVICT-2"]}, "names R-EVICT-2 in `rules`"),
        ({"config": {"max_requeues": 5}}, "gives max_requeues at its default"),
        ({"steps": [{"op": "advance", "nanos": 1}] * 11}, "has 11 steps, expected at most 10"),
    ],
)
def test_an_example_that_is_no_lesson_is_reported(folder: Path, edit: Value, problem: str) -> None:
    assert problem in change(Rule.EVICT_3, lambda value: value.update(edit))


def test_an_example_whose_outcomes_are_no_objects_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="item 0 of the got of the case is 5, expected an object"):
        change(Rule.EVICT_3, lambda value: value.update(got=[5]))


def test_an_example_that_does_not_fit_the_schema_is_reported(folder: Path) -> None:
    example = examples.load_example(Rule.EVICT_3)
    assert examples._fits(example) == []
    assert examples._fits(example._replace(value={**example.value, "note": 5})) == [
        "does not fit the schema: 5 is not of type 'string'"
    ]


@pytest.mark.parametrize("rule", [Rule.STATE_8, Rule.EVICT_3])
def test_a_note_says_where_only_rows_show_the_rule(folder: Path, rule: Rule) -> None:
    note = "" if rule is Rule.STATE_8 else f"It shows {examples.ROWS}."
    assert "its note says otherwise" in change(rule, lambda value: value.update(note=note))


def test_a_fault_shows_at_the_first_step_with_another_answer() -> None:
    effect = examples.find_first_effect(examples.load_example(Rule.EVICT_5))
    assert effect is not None
    assert (effect.at, effect.right, effect.wrong) == (2, {"entries": 1, "bytes": 10}, {"entries": 2, "bytes": 20})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"op": "insert", "cache": "a", "pos": [1, 0], "size": 10}, "insert a 1:0, size 10"),
        ({"op": "put", "ns": "a", "key": "x", "value": None}, "put a x, value null"),
        ({"op": "listen", "ns": "a", "on_flush": [{"op": "flush", "ns": "b"}, {"op": "usage"}]},
         "listen a, on_flush [flush b; usage]"),
        ({"op": "put", "ns": "a", "key": "x", "value": "1", "headers": [["h", "2"]]},
         "put a x, value 1, headers [h = 2]"),
        ({}, "done"),
        ({"hits": [[1, 0]], "fills": [], "tokens": [0, 7]}, "hits [1:0], fills [], tokens [0, 7]"),
        ({"pos": None}, "null"),
        ({"entries": [["x", "1", {"timestamp": 5}], ["y", None]]}, "entries [x = 1 (timestamp 5), y = null]"),
        ({"caches": {}, "queue": []}, "caches none, queue []"),
    ],
)  # fmt: skip
def test_steps_and_answers_in_words(value: Value, said: str) -> None:
    assert render.describe_json(value) == said


def test_an_example_as_a_table() -> None:
    example = examples.load_example(Rule.REQUEUE_3)
    assert describe_settings(example) == "max_requeues 1"
    assert tabulate_steps(example)[-1] == ("4", "expire, older_than_nanos 5", "entries 1, bytes 10")
    assert describe_fault(example).endswith("Step 4 then answers: entries 0, bytes 0.")


def test_a_history_as_a_table() -> None:
    example = examples.load_example(Rule.K_CONCURRENCY_6)
    assert [line.who for line in tabulate_steps(example)] == ["before", "thread 0", "thread 1", "after"]
    assert describe_settings(example) == ""
