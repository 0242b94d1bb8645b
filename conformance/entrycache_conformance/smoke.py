"""A first look at an adapter: a handful of hand-made cases, one an operation, before any fuzzing."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_conformance.case import Case, check_trigger, from_json
from entrycache_conformance.declaration import Declaration, meets_trigger
from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, Difference, judge, play, trajectory
from entrycache_conformance.subjects.subject import Skipped, Subject, Trouble
from entrycache_reference.errors import UsageError

A = {"cache": "a"}
INSERTS: list[dict[str, Any]] = [
    {"op": "insert", **A, "pos": [1, 0], "size": 10},
    {"op": "insert", **A, "pos": [1, 1], "size": 0, "expected_reads": 2},
    {"op": "insert", "cache": "b", "pos": [2, 0], "size": 7, "expected_reads": None},
]

CASES: dict[str, list[dict[str, Any]]] = {
    "insert": [
        *INSERTS,
        {"op": "insert", **A, "pos": [1, 0], "size": 3},
        {"op": "insert", **A, "pos": [1, 2], "size": -1},
    ],
    "get": [*INSERTS, {"op": "get", **A, "pos": [1, 1]}, {"op": "get", **A, "pos": [9, 9]}],
    "get_range": [
        *INSERTS,
        {"op": "get_range", **A, "first": [-1, -1], "last": [1, 1]},
        {"op": "get_range", **A, "first": [1, 1], "last": [1, 0]},
    ],
    "exists": [*INSERTS, {"op": "exists", **A, "pos": [1, 0]}, {"op": "exists", "cache": "none", "pos": [1, 0]}],
    "remove_range": [
        *INSERTS,
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": False},
        {"op": "remove_range", **A, "first": [1, 0], "last": [1, 1], "last_inclusive": True},
    ],
    "clear": [*INSERTS, {"op": "clear", **A}, {"op": "clear", **A}],
    "usage": [*INSERTS, {"op": "usage"}, {"op": "usage", **A}, {"op": "usage", "cache": "none"}],
    "observe": [*INSERTS, {"op": "observe"}],
    "advance": [*INSERTS, {"op": "advance", "nanos": 5}, {"op": "advance", "nanos": -1}],
    "expire": [
        *INSERTS,
        {"op": "advance", "nanos": 2_000_000_000},
        {"op": "expire"},
        {"op": "expire", "older_than_nanos": 0},
        {"op": "expire", "older_than_nanos": -1},
    ],
    "evict": [*INSERTS, {"op": "evict", "bytes": 11}, {"op": "evict", "bytes": 1}, {"op": "evict", "bytes": 0}],
    "mark_read": [*INSERTS, {"op": "mark_read", **A, "pos": [1, 1]}, {"op": "mark_read", **A, "pos": [1, 0]}],
    "expect_read": [*INSERTS, {"op": "expect_read", **A, "pos": [1, 1]}, {"op": "expect_read", **A, "pos": [5, 5]}],
}
"""One case an operation; it runs where all its operations are declared."""


class Look(NamedTuple):
    """The verdict about one operation: passed, failed, skipped, not offered, beyond its limits, or not played."""

    op: str
    verdict: str
    rules: tuple[str, ...] = ()
    difference: Difference | None = None
    case: Case | None = None


def smoke(subject: Subject) -> list[Look]:
    """Play each case that the subject can be asked, and judge it; after one that hangs no more are played."""
    looks: list[Look] = []
    for name, steps in CASES.items():
        hung = any(look.difference and look.difference.failed and look.difference.failed.trouble is Trouble.HANG
                   for look in looks)  # fmt: skip
        looks.append(Look(name, "not played") if hung else _look(subject, name, steps))
    return looks


def _look(subject: Subject, name: str, steps: list[dict[str, Any]]) -> Look:
    declaration = subject.declaration
    if not {step["op"] for step in steps} <= declaration.ops:
        return Look(name, "not offered")
    if declaration.payload:
        steps = [{**step, "token": 100 + at} if step["op"] == "insert" else step for at, step in enumerate(steps)]
    read = from_json({"system": declaration.system.name, "steps": steps})
    case = Case(read.system, declaration.base_config(), read.steps)
    if not _within_limits(case, declaration):
        return Look(name, "beyond its limits")
    trail = trajectory(case, Coverage())
    answer = play(subject, case)
    if isinstance(answer, Skipped):
        return Look(name, "skipped")
    difference = judge(case, trail, answer, declaration)
    if difference is None:
        return Look(name, "passed")
    rules = tuple(rule.value for rule in explain(subject, case, trail, difference))
    return Look(name, "failed", rules, difference, case)


def _within_limits(case: Case, declaration: Declaration) -> bool:
    """Whether the subject takes so many steps and such sizes, and no insert crosses its trigger."""
    limits = declaration.limits
    if not meets_trigger(declaration):
        try:
            check_trigger(case.config, case.steps, "it")
        except UsageError:
            return False
    sizes = [step.size for step in case.steps if step.name == "insert"]
    return len(case.steps) <= (limits.max_steps or len(case.steps)) and max(sizes) <= limits.max_size
