"""Replay applies each row with the reference's functions, and reports rows that show something else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from entrycache_spark.folders import audit_folder
from entrycache_spark.replay.pulsar_pip430.trigger_points import READ_BY
from tests.support.traces import plant


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[plant.Row]:
    return plant.honest(tmp_path_factory.mktemp("honest") / "trace", 6_000, 21)["broker-0"]


def differences(tmp_path: Path, rows: list[plant.Row], **metadata: object) -> tuple[str, ...]:
    return audit_folder(plant.write(tmp_path / "trace", rows, **metadata), "replay").differences


def shows_entry(row: plant.Row) -> bool:
    return row["op"] in ("HIT", "READ_DONE", "EXPECT", "REQUEUE", "EVICT", "REMOVE")


def test_an_honest_trace_agrees_with_the_reference(tmp_path: Path, rows: list[plant.Row]) -> None:
    assert {row["op"] for row in rows if shows_entry(row)} == {
        "HIT",
        "READ_DONE",
        "EXPECT",
        "REQUEUE",
        "EVICT",
        "REMOVE",
    }
    assert differences(tmp_path, rows) == ()


def test_a_trace_that_opens_midway_or_has_gaps_shows_no_difference(tmp_path: Path, rows: list[plant.Row]) -> None:
    opened = plant.opened_midway(rows, 1_500)
    assert differences(tmp_path / "opened", opened) == ()
    assert differences(tmp_path / "gapped", [row for row in opened if row["seq"] % 300]) == ()


@pytest.mark.long
@pytest.mark.parametrize("column", READ_BY)
def test_a_changed_value_is_reported_at_its_row(tmp_path: Path, rows: list[plant.Row], column: str) -> None:
    own, changed = plant.renamed(rows, "b"), []
    for op in ("HIT", "REQUEUE", "EVICT", "REMOVE"):
        fit = [row for row in own if row["op"] == op and row[column] is not None]
        assert fit, op
        changed += random.Random(column + op).sample(fit, min(3, len(fit)))
    for row in changed:
        row[column] = not row[column] if column == "accessed" else row[column] + 1
    lines = differences(tmp_path, own)
    assert len(lines) == len(changed)
    for row in changed:
        assert any(f"seq {row['seq']}: {column} is {row[column]}," in line for line in lines)
    assert differences(tmp_path / "many", own, threads="many") == ()


def test_a_lost_mark_is_reported_at_the_next_row_of_the_life(tmp_path: Path, rows: list[plant.Row]) -> None:
    """No row shows the hit. Each row alone is plausible, but no earlier row explains the requeue for access."""
    hits: dict[int, list[plant.Row]] = {}
    own = plant.renamed(rows, "b")
    for row in own:
        if row["op"] == "HIT":
            hits.setdefault(row["life"], []).append(row)
        if row["op"] == "REQUEUE" and row["cause"] == "ACCESSED" and len(hits.get(row["life"], [])) == 1:
            break
    life = row["life"]
    lost = hits[life][0]
    lost.update(
        {**dict.fromkeys(lost), **{name: lost[name] for name in ("broker", "cache", "seq", "ts_ns", "bytes_after")}}
    )
    miss = next(row for row in own if row["op"] == "MISS")
    lost.update(op="MISS", call_id=lost["seq"], ledger_id=1 << 40, entry_id=0, cause=miss["cause"])
    result = audit_folder(plant.write(tmp_path / "trace", own), "replay")
    after = next(row for row in own if row["seq"] > lost["seq"] and row["life"] == life)
    assert [line.split(", ")[1] for line in result.differences] == [f"seq {after['seq']}: accessed is True"]
    assert [(row.rule, row.seq) for row in result.violations] == [("R-READ-2", after["seq"])]
