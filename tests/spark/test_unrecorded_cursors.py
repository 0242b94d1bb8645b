"""A trace that records no cursors leaves the rules about cursors inconclusive, in every backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_spark.check import check_trace
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.checker_runs import audit_by_checker
from tests.support.traces.script import MILLI, Script

BACKENDS: dict[str, Callable[[Path], AuditResult]] = {
    "local": lambda path: audit_folder(path, "local"),
    "checker": audit_by_checker,
    "replay": lambda path: audit_folder(path, "replay"),
}
NOTE = "broker '{}': cursor is missing in {} of {} events (CURSOR_ADD); inconclusive: {}"


def broker(name: str, cursors: bool, ranks: bool = True) -> list[plant.Row]:
    """Return a broker that caches and fills entries, and skips one, long after the grace period of its cache."""
    script = Script(name, evict_by_expected_reads=ranks, grace_millis=50)
    if cursors:
        script.cursor("ADD", "a", "c", (1, 0))
    script.offer(("a", 1, 0))
    script.now += 60 * MILLI
    for entry in range(1, 4):
        script.offer(("a", 1, entry))
    script.read([("a", 1, 9)], 1, "c")
    if not cursors:
        script.call().at("SKIP", ("a", 1, 8), cause="NOT_WANTED", size_bytes=10)
    return script.finish()


@pytest.mark.parametrize("clock", ["virtual", "monotonic"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_trace_without_cursors_is_inconclusive(tmp_path: Path, backend: str, clock: str) -> None:
    rows = [*broker("ranks", False), *broker("heap", False, ranks=False)]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", rows, clock=clock))
    assert not result.violations
    cursor_rules = {rule: verdict for rule, verdict in result.rules.items() if rule.startswith("R-CURSOR")}
    assert cursor_rules == dict.fromkeys(
        ("R-CURSOR-11", "R-CURSOR-12", "R-CURSOR-6", "R-CURSOR-7"), Verdict.INCONCLUSIVE
    )
    assert [note for note in result.notes if "cursor" in note] == [
        NOTE.format("ranks", 0, 0, "R-CURSOR-11, R-CURSOR-6, R-CURSOR-7"),
        NOTE.format("heap", 0, 0, "R-CURSOR-12"),
    ]
    assert Verdict.NOTHING_CHECKED is result.brokers["heap"]["R-CURSOR-11"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_trace_with_cursors_is_decided(tmp_path: Path, backend: str) -> None:
    trace = plant.write(tmp_path / "trace", broker("b", True), clock="monotonic")
    assert BACKENDS[backend](trace).rules["R-CURSOR-11"] is Verdict.CONFORMS
    lost = plant.write(tmp_path / "lost", [*broker("b", True), *broker("c", False)], clock="monotonic")
    result = BACKENDS[backend](lost)
    assert not result.violations
    assert result.brokers["b"]["R-CURSOR-11"] is Verdict.CONFORMS
    assert result.brokers["c"]["R-CURSOR-11"] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("backend", BACKENDS)
def test_rules_that_apply_to_no_event_stay_nothing_checked(tmp_path: Path, backend: str) -> None:
    script = Script("b")
    script.offer(("a", 1, 0))
    result = BACKENDS[backend](plant.write(tmp_path / "trace", script.finish()))
    assert result.rules["R-CURSOR-11"] is Verdict.NOTHING_CHECKED
    assert result.notes == ()


def test_the_check_of_a_trace_names_the_missing_cursors(tmp_path: Path) -> None:
    lost = check_trace(plant.write(tmp_path / "lost", broker("b", False)))
    assert lost.untold["cursor of CURSOR_ADD"] == ("R-CURSOR-11", "R-CURSOR-12", "R-CURSOR-6", "R-CURSOR-7")
    assert "cursor of CURSOR_ADD" not in check_trace(plant.write(tmp_path / "kept", broker("b", True))).untold
