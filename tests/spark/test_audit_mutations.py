"""A sample of the changes of audit_mutations.json is detected as the table says, by backends that agree."""

from __future__ import annotations

import random

import pytest

from entrycache_dev.audit_mutations import (
    BASES,
    SEED,
    BaseTrace,
    Change,
    Disagreement,
    change_row,
    committed_table,
    judge_changes,
    list_changes,
    load_reasons,
    read_base,
    render_page,
    table_from_json,
    table_to_json,
    unexplained_changes,
)


@pytest.mark.long
@pytest.mark.parametrize("base", [*BASES[1:], pytest.param(BASES[0], marks=pytest.mark.long)])
def test_a_sample_is_detected_as_the_table_says(base, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    rows = read_base(base)
    chosen = random.Random("sample").sample(list_changes(rows, base.system), 25)
    table = committed_table()
    for change, detected in judge_changes(base, rows, chosen, SEED):
        assert detected[:2] == table[f"{base.system} {base.preset}", change][:2], change


@pytest.mark.long
@pytest.mark.parametrize("base", BASES)
def test_each_renamed_op_is_detected_as_the_table_says(base: BaseTrace) -> None:
    """A renamed op shows which rows an audit takes for badly recorded, and tells that the table is out of date."""
    rows = read_base(base)
    changes = [each for each in list_changes(rows, base.system) if (each.column, each.way) == ("op", "renamed")]
    table = committed_table()
    for change, detected in judge_changes(base, rows, changes, SEED):
        assert detected[:2] == table[base.name, change][:2], change


def test_every_change_is_detected_or_explained() -> None:
    table = committed_table()
    assert unexplained_changes(table) == []
    assert table_from_json(table_to_json(table)) == table
    assert all(f"*{reason.id}*" in render_page(table) for reason in load_reasons())


def test_disagreeing_engines_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    base = BASES[2]
    rows = read_base(base)
    change = Change("PUT", None, "life", "+1")
    monkeypatch.setattr("entrycache_spark.replay.kafka_streams.entries.differ", lambda one, other: True)
    with pytest.raises(Disagreement, match="local and replay differ"):
        list(judge_changes(base, rows, [change], SEED))


def test_a_change_is_of_one_row() -> None:
    rows = read_base(BASES[2])
    copy, seq = change_row(rows, Change("PUT", None, "size_bytes", "+1"), 1) or ([], 0)
    other = [(a, b) for a, b in zip(rows, copy, strict=True) if a != b]
    assert [(a["seq"], b["size_bytes"] - a["size_bytes"]) for a, b in other] == [(seq, 1)]


def test_a_life_that_another_insert_shows_is_named_alike() -> None:
    """A lookup is compared with the life that the INSERT before it shows, right or wrong."""
    base = next(each for each in BASES if each.preset == "ring-copies")
    change = Change("INSERT", "ADD", "life", "swapped")
    ((_, detected),) = judge_changes(base, read_base(base), [change], SEED)
    assert detected[:2] == (("S-INSERT-1",), ("S-GET-1",))


def test_a_stray_value_explains_no_violation_of_other_rows() -> None:
    """A row under another name has a cause or an origin that its new op never has; the other rows lack nothing."""
    base = next(each for each in BASES if each.preset == "tail-fanout")
    changes = [Change(op, cause, "op", "renamed") for op, cause in (("REQUEUE", "ACCESSED"), ("PASS_BEGIN", "TIME"))]
    table = committed_table()
    detected = dict(judge_changes(base, read_base(base), changes, SEED))
    assert {change: own[:2] for change, own in detected.items()} == {
        changes[0]: (("R-STATE-4",), ("R-EVICT-8", "R-INSERT-1", "R-READ-2", "R-REQUEUE-5", "R-STATE-2")),
        changes[1]: ((), ("R-STATE-4",)),
    }
    assert all(table[base.name, change][:2] == own[:2] for change, own in detected.items())
