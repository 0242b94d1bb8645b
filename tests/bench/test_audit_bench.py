"""The benchmark of audits: ratios with targets, rates, pages, and the profile of an audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from entrycache_dev.audit_bench import (
    ALONE,
    AUDIT,
    BY_COLUMN,
    BY_OP,
    THREADS,
    AuditNumbers,
    AuditProfile,
    Cost,
    Run,
    cost_of,
    judge_runs,
    profile_audit,
)
from entrycache_dev.audit_bench_page import draw_audit_costs, profile_page, render_audit_page
from entrycache_dev.commands import main
from entrycache_trace.generators.generate import generate

EACH = {BY_OP: 0.3, BY_COLUMN: 1.0, AUDIT: 2.0, ALONE: 1.0, THREADS: 1.5}


def run(events: int, brokers: int, way: str, each: float) -> Run:
    return Run(events, brokers, way, Cost(each * events / 1e6, 1.0, 500.0, 400.0))


def of(giant: float = 2.0, longer: float = 2.0) -> list[Run]:
    runs = [run(1_000_000, brokers, way, each) for brokers in (1, 8) for way, each in EACH.items()]
    runs = [one._replace(cost=run(1_000_000, 1, AUDIT, giant).cost) if one[1:3] == (1, AUDIT) else one for one in runs]
    long = {BY_COLUMN: 1.0, AUDIT: longer, ALONE: 1.0}
    return runs + [run(5_000_000, brokers, way, each) for brokers in (1, 8) for way, each in long.items()]


def test_ratios_are_held_to_their_targets() -> None:
    assert not [item.what for item in judge_runs(of(), 2) if item.missed]
    rates = {item.what: item.value for item in judge_runs(of(), 2) if "events a second" in item.what}
    assert rates["1.0 M events, one broker: audit, events a second"] == pytest.approx(1_000_000)
    slow = [item.what for item in judge_runs(of(giant=6.0, longer=6.0), 2) if item.missed]
    assert any("one giant broker, times many" in what for what in slow)
    assert any("times DuckDB alone" in what for what in slow)
    grown = [item.what for item in judge_runs(of(longer=3.0), 2) if item.missed]
    assert grown == ["an event of 5.0 M, times one of 1.0 M"]


def test_the_page_shows_every_way(tmp_path: Path) -> None:
    # DuckDB alone is not measured of the longest ones.
    longest = [run(100_000_000, brokers, way, 1.0) for brokers in (1, 8) for way in (BY_COLUMN, AUDIT)]
    runs = [*of(), *longest]
    numbers = AuditNumbers((1_000_000, 5_000_000), 1, "local[2]", 2, 3.0, tuple(runs), tuple(judge_runs(runs, 2)))
    text = render_audit_page(numbers, "x.svg")
    assert all(f"| {way} |" in text for way in EACH)
    assert "100.0 M events, one broker: audit, times trivial" in text
    assert "100.0 M events, one broker: audit, times DuckDB" not in text
    draw_audit_costs(numbers, tmp_path / "x.svg")
    assert "processor seconds a million events" in (tmp_path / "x.svg").read_text()


@pytest.mark.long
def test_a_profile_reports_each_query_of_an_audit(tmp_path: Path) -> None:
    generate("tail-fanout", 300, 1, tmp_path / "trace")
    questions = profile_audit(tmp_path / "trace", "local", "local[1]")
    about = {question.about for question in questions}
    assert {"survey", "R-EVICT-8", "ordered", "placed"} <= about
    assert all(question.cpu_seconds >= 0 for question in questions)
    text = profile_page(
        AuditProfile(300, 300, "local[1]", tuple(questions), (questions[0]._replace(method_bytes=9_000),))
    )
    assert "| R-EVICT-8 |" in text
    assert "9,000 (not compiled)" in text


def test_a_processor_that_works_is_measured() -> None:
    cost = cost_of(lambda: sum(range(3_000_000)))
    assert 0 < cost.cpu_seconds < 10


def test_sizes_that_are_none_are_one_line() -> None:
    done = CliRunner().invoke(main, ["bench-audit", "--sizes", "1,x"])
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert "expected numbers of events" in done.output
