"""A CONFIG that is unreadable, or leaves out settings, accuses no broker: what depends on a setting stays undecided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from entrycache_spark.common.results import AuditResult, Verdict
from entrycache_spark.folders import audit_folder
from tests.support.traces import plant
from tests.support.traces.checker_runs import audit_by_checker

BACKENDS: dict[str, Callable[[Path], AuditResult]] = {
    "local": lambda path: audit_folder(path, "local"),
    "checker": audit_by_checker,
    "replay": lambda path: audit_folder(path, "replay"),
}
PRESETS = {
    "pulsar-pip430": "tail-fanout",
    "kafka-streams": "windowed-aggregation",
    "pulsar-legacy": "unequal-topics",
    "pulsar-segmented": "ring-copies",
}
COMPUTED = "segments"
"""A setting whose absence means a number that follows from another one, so that other rows contradict it."""
UNREADABLE = ("null", "[]", "{")


@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("system", PRESETS)
def test_unknown_settings_accuse_nobody(system: str, backend: str, tmp_path: Path) -> None:
    """Each broker of one trace lacks another setting, all of them, or has a CONFIG that cannot be read."""
    rows = next(iter(plant.honest(tmp_path / "honest", 600, 4, preset=PRESETS[system]).values()))
    settings = json.loads(rows[0]["value"])
    values = {
        f"without {left_out}": {name: value for name, value in settings.items() if name != left_out}
        for left_out in settings
        if left_out != COMPUTED
    }
    texts = {name: json.dumps(value) for name, value in {"whole": settings, "empty": {}, **values}.items()}
    texts |= {f"unreadable {number}": text for number, text in enumerate(UNREADABLE)}
    changed = []
    for broker, text in texts.items():
        own = plant.renamed(rows, broker)
        changed += [{**row, "value": text} if row["op"] == "CONFIG" else row for row in own]
    result = BACKENDS[backend](plant.write(tmp_path / "trace", changed, system=system))
    assert set(result.brokers) == set(texts)
    violated = {
        broker: [rule for rule, verdict in own.items() if verdict is Verdict.VIOLATES]
        for broker, own in result.brokers.items()
    }
    assert violated == {broker: [] for broker in texts}
