"""Limits of subjects of kafka-streams keep what they name out of the cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from entrycache_conformance.generate import make_seeded_cases
from entrycache_conformance.report import LevelReport, find_exemptions
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.limits import LastPlayed, unsupported_reason
from entrycache_protocol.case import case_from_json
from entrycache_protocol.declaration import read_declaration
from entrycache_reference.kafka_streams.view_ops import StoreView
from entrycache_reference.vocabulary import ABSENT

SYSTEM = SYSTEMS["kafka-streams"]


@pytest.mark.parametrize("limits", [{}, {"isolation_reads": True}], ids=["undeclared", "declared"])
def test_a_view_has_an_isolation_only_if_the_subject_declares_it(limits: dict[str, Any]) -> None:
    offer = {"ops": [*SYSTEM.ops], "introspection": sorted(SYSTEM.wire.introspection), "limits": limits}
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    menu = SYSTEM.cases.menu(declaration.ops_up_to("views"), "views")
    cases = [generated.case for generated in make_seeded_cases(declaration, menu, 60, 0)]
    isolations = {op.isolation for case in cases for op in case.steps if isinstance(op, StoreView)}
    assert ABSENT in isolations
    assert (len(isolations) > 1) is bool(limits)
    assert [each for each in find_exemptions(declaration, {}) if "isolation" in each.what] == []


OPEN: Final = {"op": "store_open", "store": "s", "kind": "session", "below": "segments", "segment_interval": 1}
PUT: Final = {"op": "session_put", "store": "s", "key": "x", "value": "1"}
BEYOND: Final = {
    "far_fetch": [
        {**OPEN, "retention": 20_000},
        {**PUT, "start": 10_001, "end": 10_001, "value": None},
        {"op": "session_view", "store": "s", "key": "x"},
    ],
    "views_in_put_forward": [
        {**OPEN, "retention": 10},
        {**PUT, "start": 0, "end": 0},
        {"op": "fail_forward", "store": "s", "key": "x", "n": 1},
        {**PUT, "start": 5, "end": 5},
        {"op": "session_view", "store": "s", "key": "x"},
    ],
}


@pytest.mark.parametrize("limit", BEYOND)
@pytest.mark.parametrize("is_declared", [True, False])
def test_a_step_beyond_a_limit_is_named_where_the_limit_is_declared(limit: str, is_declared: bool) -> None:
    offer = {"ops": [*SYSTEM.ops], "limits": {limit: not is_declared}}
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    case = case_from_json({"system": SYSTEM.name, "config": {"max_size_bytes": 100}, "steps": BEYOND[limit]}, SYSTEMS)
    reason = declaration.unsupported_reason(case.config, case.steps)
    assert (f"limits.{limit}" in reason) is is_declared


DELETED_WINDOW: Final = [
    {"op": "store_open", "store": "s", "kind": "window"},
    {"op": "window_put", "store": "s", "key": "x", "start": 0, "value": None},
    {"op": "view_open", "view": "v", "store": "s", "key": "x"},
    {"op": "store_flush", "store": "s"},
]


@pytest.mark.parametrize("is_declared", [True, False])
@pytest.mark.parametrize("is_viewed", [True, False])
def test_no_deleted_window_leaves_the_cache_under_a_view_of_a_limited_subject(
    is_viewed: bool, is_declared: bool
) -> None:
    offer = {"ops": [*SYSTEM.ops], "limits": {"open_views_overflow": not is_declared}}
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    steps = [step for step in DELETED_WINDOW if is_viewed or step["op"] != "view_open"]
    case = case_from_json({"system": SYSTEM.name, "steps": steps}, SYSTEMS)
    reason = declaration.unsupported_reason(case.config, case.steps)
    assert ("drops the deletion of a window" in reason) is (is_declared and is_viewed)


def reasons(steps: Sequence[Any], config: Any, is_fresh: bool) -> list[str]:
    """Return why a subject cannot play the first step of a case, the first two, and so on."""
    no_views = {"views_in_put_forward": False, "reversed_times": False, "equal_ends": False, "delete_under_view": False}
    offer = {"ops": [*SYSTEM.ops], "introspection": sorted(SYSTEM.wire.introspection), "limits": no_views}
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    answers = []
    for end in range(len(steps)):
        if is_fresh:
            LastPlayed.case = None
        answers.append(unsupported_reason(declaration, config, steps[: end + 1]))
    return answers


def test_a_case_that_grows_is_judged_as_a_new_one() -> None:
    """A generator asks again after each step; the steps before are not played again, also after a step beyond."""
    declaration = read_declaration(
        {"version": 1, "systems": {SYSTEM.name: {"ops": [*SYSTEM.ops], "introspection": []}}}, SYSTEMS
    )
    menu = SYSTEM.cases.menu(declaration.ops_up_to("windows"), "windows")
    cases = [generated.case for generated in make_seeded_cases(declaration, menu, 25, 3)]
    answers = [reasons(case.steps, case.config, is_fresh=True) for case in cases]
    assert len({text.partition("limits.")[2] for own in answers for text in own}) > 2
    assert [reasons(case.steps, case.config, is_fresh=False) for case in cases] == answers


@pytest.mark.parametrize(
    ("levels", "absent"),
    [
        (("cache", "store"), {"open_views_overflow", "equal_ends", "concurrent_clear", "close_check"}),
        (("views",), {"equal_ends", "concurrent_clear", "close_check"}),
        (("windows",), {"concurrent_clear"}),
        (("concurrent",), {"open_views_overflow", "equal_ends", "close_check"}),
        ((), set()),
    ],
)
def test_an_exception_stands_where_it_can_leave_something_out(levels: tuple[str, ...], absent: set[str]) -> None:
    limits = ("open_views_overflow", "equal_ends", "concurrent_clear")
    offer = {
        "ops": [*SYSTEM.ops],
        "limits": dict.fromkeys(limits, False),
        "variants": {"close_check": "keyvalue", "total": "running"},
    }
    declaration = read_declaration({"version": 1, "systems": {SYSTEM.name: offer}}, SYSTEMS)
    exceptions = find_exemptions(declaration, dict.fromkeys(levels, LevelReport()))
    names = {one.what.partition(" = ")[0].partition(".")[2] for one in exceptions if one.kind in ("limit", "variant")}
    assert names == {*limits, "close_check", "total"} - absent
