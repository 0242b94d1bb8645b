"""The first rule that a failure names is one that the slip breaks, in 44 of 46 slips at least."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrycache_conformance import run
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.resolve import PythonSubject
from tests.support.wrong.slips import SLIPS, Plain


def first_rule(kind: type[Plain], level: str, folder: Path) -> str:
    report = run.conform(PythonSubject(kind), run.Options((level,), PROFILES["dev"], 0, 0.0, folder))
    return report.failures[0].rules[0] if report.failures else "none"


def test_the_cache_without_a_slip_conforms(tmp_path: Path) -> None:
    assert first_rule(Plain, "queue", tmp_path) == "none"


@pytest.mark.long
def test_the_first_rule_is_one_that_the_slip_breaks(tmp_path: Path) -> None:
    named = {kind: first_rule(kind, level, tmp_path) for kind, (level, _) in SLIPS.items()}
    wrong = {kind.__name__: rule for kind, rule in named.items() if rule not in SLIPS[kind][1]}
    assert "none" not in wrong.values()
    assert len(wrong) * 46 <= len(SLIPS) * 2, wrong
