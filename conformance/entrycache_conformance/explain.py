"""The rule that a difference breaks."""

from __future__ import annotations

from typing import Any

from entrycache_protocol.case import Case
from entrycache_protocol.failure import Difference
from entrycache_protocol.subject import Trouble, UnderTest
from entrycache_reference.rules import Rule


def explain(subject: UnderTest, case: Case, steps: list[Any], difference: Difference) -> tuple[Rule, ...]:
    """The rules that explain a difference, the likeliest first."""
    if difference.is_silent:
        hang = difference.failed is not None and difference.failed.trouble is Trouble.HANG
        return (case.system.laws.liveness[0 if hang else 1],)
    return case.system.blame(subject, case, steps, difference)
