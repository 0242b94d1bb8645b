"""A sample of the changes of docs/audit-mutations.json is seen as it says, by engines that agree."""

from __future__ import annotations

import random

import pytest

from entrycache_spark.mutations.__main__ import committed
from entrycache_spark.mutations.changes import Change, changed, changes_of
from entrycache_spark.mutations.judged import BASES, ENGINES, SEED, Disagreement, judge, rows_of
from entrycache_spark.mutations.table import from_json, holes, page, reasons, to_json

QUICK = {name: ENGINES[name] for name in ("local", "replay")}


@pytest.mark.parametrize("base", [*BASES[1:], pytest.param(BASES[0], marks=pytest.mark.long)])
def test_a_sample_is_seen_as_the_table_says(base, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    rows = rows_of(base)
    asked = random.Random("sample").sample(changes_of(rows), 25)
    table = committed()
    for change, seen in judge(base, rows, asked, SEED, QUICK):
        assert seen[:2] == table[f"{base.system} {base.preset}", change][:2], change


def test_every_change_is_seen_or_explained() -> None:
    table = committed()
    assert holes(table) == []
    assert from_json(to_json(table)) == table
    assert all(f"*{reason.id}*" in page(table) for reason in reasons())


def test_engines_that_differ_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    base = BASES[2]
    rows = rows_of(base)
    change = Change("PUT", None, "life", "+1")
    monkeypatch.setattr("entrycache_spark.kafka_streams.replay.entries.differ", lambda one, other: True)
    with pytest.raises(Disagreement, match="local and replay differ"):
        list(judge(base, rows, [change], SEED, QUICK))


def test_a_change_is_of_one_row() -> None:
    rows = rows_of(BASES[2])
    copy, seq = changed(rows, Change("PUT", None, "size_bytes", "+1"), 1) or ([], 0)
    other = [(a, b) for a, b in zip(rows, copy, strict=True) if a != b]
    assert [(a["seq"], b["size_bytes"] - a["size_bytes"]) for a, b in other] == [(seq, 1)]
