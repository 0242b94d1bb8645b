"""A first look at an adapter: a handful of hand-made cases, one an operation, before any fuzzing."""

from __future__ import annotations

from typing import Any, NamedTuple

from entrycache_conformance.explain import explain
from entrycache_conformance.judge import Coverage, judge, play, trajectory
from entrycache_protocol import verdict
from entrycache_protocol.case import Case, from_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.failure import Difference
from entrycache_protocol.stopped import keeping
from entrycache_protocol.subject import Skipped, Trouble, UnderTest
from entrycache_protocol.verdict import Verdict


class Look(NamedTuple):
    """The verdict about one operation: passed, failed, skipped, not offered, beyond its limits, or not played."""

    op: str
    verdict: str
    rules: tuple[str, ...] = ()
    difference: Difference | None = None
    case: Case | None = None


def smoke(subject: UnderTest) -> list[Look]:
    """Play each case that the subject can be asked, and judge it; after one that hangs no more are played.

    Raises:
        Stopped: with what was judged by then.
    """
    looks: list[Look] = []
    with keeping(lambda: looks):
        for name, steps in subject.declaration.system.cases.smoke.items():
            hung = any(look.difference and look.difference.failed and look.difference.failed.trouble is Trouble.HANG
                       for look in looks)  # fmt: skip
            looks.append(Look(name, "not played") if hung else _look(subject, name, steps))
    return looks


def verdict_of(looks: list[Look]) -> Verdict:
    """The verdict of those operations that were judged."""
    judged = {"passed": Verdict.CONFORMS, "failed": Verdict.VIOLATES}
    return verdict.of(judged[look.verdict] for look in looks if look.verdict in judged)


def _look(subject: UnderTest, name: str, steps: list[dict[str, Any]]) -> Look:
    declaration = subject.declaration
    if not {step["op"] for step in steps} <= declaration.ops:
        return Look(name, "not offered")
    if declaration.payload:
        steps = [{**step, "token": 100 + at} if step["op"] == "insert" else step for at, step in enumerate(steps)]
    read = from_json({"system": declaration.system.name, "steps": steps}, {declaration.system.name: declaration.system})
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
    if declaration.system.cases.unfit(declaration, case.config, case.steps):
        return False
    sizes = [step.size for step in case.steps if hasattr(step, "size")]
    return len(case.steps) <= (limits.max_steps or len(case.steps)) and max(sizes, default=0) <= limits.max_size
