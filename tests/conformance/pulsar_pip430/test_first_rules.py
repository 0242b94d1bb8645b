"""The first rule that a failure names is one that the slip breaks, in 44 of 46 slips at least.

Of the 13 slips in managed ledgers, reads in flight and limiters three are named by another rule that they show.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance import run
from entrycache_conformance.explain import explain_difference
from entrycache_conformance.judge import judge_case
from entrycache_conformance.levels import PROFILES
from entrycache_conformance.resolve import PythonSubject, open_in_process
from entrycache_fast import limiter, managed_ledger
from entrycache_protocol.case import Case
from entrycache_protocol.subject import TestedSubject
from entrycache_reference.pulsar_pip430 import Config, ops
from entrycache_reference.pulsar_pip430.config import Storage
from entrycache_reference.vocabulary import CacheName, CursorName, Position, ReadName, RequestName
from tests.support.wrong import ledgers
from tests.support.wrong.slips import SLIPS, Plain

M, S = CacheName("m"), CursorName("s")


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


SHORT: Final[dict[type[Any], tuple[dict[str, Any], tuple[Any, ...], str]]] = {
    ledgers.DropsOneMore: (
        {"evict_by_expected_reads": False},
        (
            ops.Append(M, Position(1, 0), 1),
            ops.CursorOpen(M, S, Position(1, 0)),
            ops.Append(M, Position(1, 1), 1),
            ops.CursorSeek(M, S, Position(1, 1)),
            ops.Observe(),
        ),
        "R-LEDGER-14",
    ),
    ledgers.NullForShort: (
        {"storage": Storage.HELD, "grace_millis": 0},
        (
            *(ops.Append(M, Position(1, entry), 1) for entry in range(2)),
            ops.CursorOpen(M, S, Position(1, 0)),
            ops.Append(M, Position(1, 2), 1),
            ops.ReadBegin(M, S, ReadName("f"), 3),
            ops.StorageAnswer(0, 1),
        ),
        "R-INFLIGHT-11",
    ),
    ledgers.PassesOver: (
        {"max_reads_in_flight_bytes": 10},
        (
            *(ops.Acquire(RequestName(name), size) for name, size in (("a", 5), ("b", 5), ("c", 8), ("d", 3))),
            ops.GiveBack(RequestName("a")),
        ),
        "R-LIMIT-5",
    ),
}
"""A short case of each of these slips: its settings, its steps, and the rule that the failure names first."""


NAMED_OTHERWISE: Final = (ledgers.CountsAtTheAsk, ledgers.ForgivesAPart, ledgers.GrantsWhatIsFree)
"""Slips whose first rule is not the one that they break: R-INSERT-6, R-INFLIGHT-1 and R-LIMIT-4 come first."""


def slip_subject(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> TestedSubject:
    """Return the fast cache with one class replaced."""
    module = managed_ledger if issubclass(kind, managed_ledger.ManagedLedgers) else limiter
    monkeypatch.setattr(module, kind.__base__.__name__, kind)
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    return subject


@pytest.mark.parametrize("kind", SHORT, ids=lambda kind: kind.__name__)
def test_a_short_case_names_the_rule_of_the_slip_first(kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    settings, steps, rule = SHORT[kind]
    subject = slip_subject(kind, monkeypatch)
    case = Case(subject.declaration.system, replace(Config(), **settings), steps)
    reference, _, difference = judge_case(subject, case)
    assert difference is not None
    assert explain_difference(subject, case, reference, difference)[0].value == rule


@pytest.mark.long
def test_the_first_rule_of_slips_in_managed_ledgers_is_one_that_the_slip_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {}
    for kind, (level, _) in ledgers.SLIPS.items():
        with monkeypatch.context() as changed:
            report = run.conform(
                slip_subject(kind, changed), run.Options((level,), PROFILES["dev"], 0, 0.0, tmp_path / kind.__name__)
            )
        named[kind.__name__] = report.failures[0].rules[0] if report.failures else "none"
    wrong = {
        kind.__name__: named[kind.__name__]
        for kind, (_, rules) in ledgers.SLIPS.items()
        if named[kind.__name__] not in rules
    }
    assert "none" not in wrong.values()
    assert wrong.keys() <= {kind.__name__ for kind in NAMED_OTHERWISE}, wrong
