"""Test the expression that a change alters, and the comparison of its values."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from entrycache_dev.matrix import probes
from entrycache_dev.matrix.generate import Change
from entrycache_dev.matrix.probes import are_identical, build_probe, changed_expression, node_at

SOURCE = """
LIMIT = 3

def pick(items, limit):
    found = [one for one in items if one.size <= limit and one.is_free]
    if any(one.size < 2 for one in found):
        found[limit - 1] = f"{limit + 1}"
    limit += 1
    while (item := found.pop()) is not None and limit < 9:
        limit = limit + 1
    return sorted(found)[1:limit]
"""


def changed(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str] | None:
    """Return an expression before and after one text of the source is replaced."""
    assert SOURCE.count(old) == 1
    monkeypatch.setattr(probes, "_tree", lambda module: ast.parse(SOURCE))
    change = Change(f"{old} {new}", "any", "pick", "", 1, old, new, SOURCE.replace(old, new))
    difference = changed_expression(change)
    return (
        None
        if difference is None
        else (ast.unparse(node_at(ast.parse(SOURCE), difference.path)), ast.unparse(difference.new))
    )


@pytest.mark.parametrize(
    ("old", "new", "was", "becomes"),
    [
        ("LIMIT = 3", "LIMIT = 4", "3", "4"),
        ("one.size <= limit", "one.size < limit", "one.size <= limit", "one.size < limit"),
        ("one.size <= limit and", "one.size <= limit or", "one.size <= limit and one.is_free", None),
        ("one.size <= limit and one.is_free", "True", "one.size <= limit and one.is_free", "True"),
        ("any(", "all(", "any((one.size < 2 for one in found))", "all((one.size < 2 for one in found))"),
        ("found[limit - 1]", "found[limit + 1]", "limit - 1", "limit + 1"),
        ('f"{limit + 1}"', 'f"{limit - 1}"', "limit + 1", "limit - 1"),
        ("[1:limit]", "[2:limit]", "1", "2"),
        ("[1:limit]", "[1:]", "sorted(found)[1:limit]", "sorted(found)[1:]"),
    ],
)
def test_the_smallest_expression_is_found(
    old: str, new: str, was: str, becomes: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(old, new, monkeypatch) == (was, was.replace(old, new) if becomes is None else becomes)


@pytest.mark.parametrize(("old", "new"), [("limit += 1", "limit -= 1"), ("is not None and", "is not None or")])
def test_other_syntax_and_a_bound_name_give_no_expression(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(old, new, monkeypatch) is None


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ((1, {"a": [2]}), (1, {"a": [2]}), True),
        (1, True, False),
        (0.0, -0.0, False),
        ((1, 2), [1, 2], False),
        ((1, 2), (1,), False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
        (frozenset({1}), frozenset({1}), True),
        (iter(()), iter(()), False),
    ],
)
def test_values_are_equal_in_order_and_in_types(one: Any, two: Any, same: bool) -> None:
    assert are_identical(one, two) is same


def test_a_shared_value_is_compared_once() -> None:
    """Each level holds the one below twice, so comparing every path would take too long."""

    def deep(levels: int) -> Any:
        value: Any = (1,)
        for _ in range(levels):
            value = (value, value)
        return value

    assert are_identical(deep(200), deep(200))


def test_a_probe_notes_changes_with_another_value_and_returns_the_requested_one() -> None:
    numbers: set[int] = set()
    ask = build_probe(numbers)
    assert ask(lambda: 1, (2, lambda: 1), (4, lambda: True), (8, lambda: 1 // 0)) == 1
    assert numbers == {4, 8}


def test_if_the_value_itself_is_an_error_all_changes_are_noted() -> None:
    numbers: set[int] = set()
    with pytest.raises(ZeroDivisionError):
        build_probe(numbers)(lambda: 1 // 0, (2, lambda: 1), (4, lambda: 1 // 0))
    assert numbers == {2, 4}


def test_nested_probes_note_nothing() -> None:
    numbers: set[int] = set()
    ask = build_probe(numbers)

    def inner() -> int:
        return ask(lambda: 1, (2, lambda: 2))  # type: ignore[no-any-return]

    assert ask(lambda: 1, (4, inner)) == 1
    assert numbers == set()
    assert ask(inner, (4, inner)) == 1
    assert numbers == {2}
