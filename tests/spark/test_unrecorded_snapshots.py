"""A trace that records no snapshots leaves the rules about them inconclusive, in every backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_cli.report.audit import headline
from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.checker_runs import audit_by_checker
from tests.support.traces.legacy_script import LegacyScript
from tests.support.traces.script import Script
from tests.support.traces.segmented_script import RingScript

BACKENDS: dict[str, Callable[[Path], AuditResult]] = {
    "local": lambda path: audit_folder(path, "local"),
    "checker": audit_by_checker,
    "replay": lambda path: audit_folder(path, "replay"),
}

RULES = {"pulsar-pip430": "R-STATE-2", "pulsar-legacy": "L-STATE-4", "pulsar-segmented": "S-STATE-2"}


def start_script(system: str, name: str) -> Script | LegacyScript | RingScript:
    """Return a broker that caches two entries, or none."""
    scripts: dict[str, Callable[[str], Script | LegacyScript | RingScript]]
    scripts = {"pulsar-pip430": Script, "pulsar-legacy": LegacyScript, "pulsar-segmented": RingScript}
    return scripts[system](name)


def broker(system: str, name: str, entries: int = 2) -> list[plant.Row]:
    script = start_script(system, name)
    for entry in range(entries):
        (script.insert if isinstance(script, RingScript) else script.offer)(("a", 1, entry))
    return script.finish()


def without_snapshots(rows: list[plant.Row]) -> list[plant.Row]:
    """Return the rows of a recorder that writes no snapshots."""
    kept = [row for row in rows if row["op"] != "SNAPSHOT"]
    last = kept[-2]["seq"] + 1
    return [*kept[:-1], {**kept[-1], "seq": last, "call_id": last}]


@pytest.mark.parametrize("system", RULES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_only_a_trace_that_shows_what_is_cached_at_the_end_is_decided(
    tmp_path: Path, backend: str, system: str
) -> None:
    rows = [
        *broker(system, "shown"),
        *broker(system, "empty", 0),
        *without_snapshots(broker(system, "lost")),
    ]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", rows, system=system))
    rule = RULES[system]
    assert not result.violations
    assert {name: rules[rule] for name, rules in result.brokers.items()} == {
        "shown": Verdict.CONFORMS,
        "empty": Verdict.CONFORMS,
        "lost": Verdict.INCONCLUSIVE,
    }
    (note,) = [note for note in result.notes if "SNAPSHOT" in note]
    assert note == f"broker 'lost': no SNAPSHOT END row shows what is cached; inconclusive: {rule}"
    assert headline(result, "in x") == f"0 violations, 1 rule was not decided ({rule}), in x"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_violation_counts_without_a_snapshot(tmp_path: Path, backend: str) -> None:
    rows = without_snapshots(broker("pulsar-pip430", "lost"))
    inserted = [row for row in rows if row["op"] == "INSERT"]
    inserted[-1]["tail_no"] += 1
    result = BACKENDS[backend](plant.write(tmp_path / "trace", rows))
    assert result.rules["R-STATE-2"] is Verdict.VIOLATES
