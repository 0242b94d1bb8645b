"""The SQL for DuckDB contains nothing quadratic in the length of a trace where values are missing."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from entrycache_spark.common.rule_files import all_rules, referenced_views, shared_view
from entrycache_spark.common.system import AUDITED
from entrycache_spark.duckdb_backend import NARROW_COLUMNS, to_duckdb

LAST = "last_value(case when op = 'A' then n end, true)"
OVER = "(partition by broker order by seq rows between unbounded preceding and 1 preceding)"


def test_in_a_long_partition_the_last_value_is_that_of_the_greatest_seq() -> None:
    text = to_duckdb(f"select {LAST} over {OVER} as x from t")
    assert "ARG_MAX(CASE WHEN op = 'A' THEN n END, seq) OVER (PARTITION BY broker ORDER BY seq" in text
    named = to_duckdb(f"select {LAST} over past as x from t window past as {OVER}")
    assert "ARG_MAX(CASE WHEN op = 'A' THEN n END, seq) OVER past" in named


@pytest.mark.parametrize("narrow", sorted(NARROW_COLUMNS))
def test_a_short_partition_is_searched(narrow: str) -> None:
    text = to_duckdb(f"select {LAST} over {OVER.replace('by broker', f'by broker, {narrow}')} as x from t")
    assert "LAST_VALUE(" in text
    assert "ARG_MAX" not in text


def test_both_give_the_same_values() -> None:
    """The values are numbers, texts and structs, some of them null, at both ends of a window."""
    connection = duckdb.connect()
    connection.execute(
        "create table t as select range % 2 as broker, range as seq, case when range % 5 < 2 then 'A' end as op, "
        "case when range % 7 <> 3 then range * 3 % 11 end as n from range(60)"
    )
    for value in ("n", "cast(n as string)", "struct(n as n, seq as at)"):
        for end in ("1 preceding", "current row"):
            over = f"(partition by broker order by seq rows between unbounded preceding and {end})"
            for edge, least in (("last", 6), ("first", 2)):
                found_by = f"{edge}_value(case when op = 'A' then {value} end, true)"
                query = f"select {found_by} over {over} as x from t order by seq"
                walking = sqlglot.transpile(query, read="spark", write="duckdb")[0]
                assert walking != to_duckdb(query)
                result = connection.execute(to_duckdb(query)).fetchall()
                assert result == connection.execute(walking).fetchall()
                assert len({str(row) for row in result}) >= least


def test_missing_values_are_counted_as_0() -> None:
    rows = "(select cast(null as string) as cause union all select null) as t"
    text = to_duckdb(
        f"select count_if(cause = 'OPEN') as x, count_if(cause is null) + count_if(cause = 'A') as y from {rows}"
    )
    assert duckdb.sql(text).fetchall() == [(0, 2)]


@pytest.mark.parametrize("system", AUDITED)
def test_no_rule_looks_for_a_value_in_a_long_partition(system: str) -> None:
    views = {condition.view for rule in all_rules(system) for condition in rule.conditions} - {"rows"}
    texts = [
        shared_view(system, name) for view in views for name in (view, *referenced_views(shared_view(system, view)))
    ]
    texts += [rule.window for rule in all_rules(system) if rule.window]
    trees = [sqlglot.parse_one(to_duckdb(text), read="duckdb") for text in texts]
    windows = [window for tree in trees for window in tree.find_all(exp.Window)]
    assert len(windows) > 10
    assert not [window.sql() for window in windows if window.find(exp.IgnoreNulls) and _is_long(window)]


def _is_long(window: exp.Window) -> bool:
    spec: Any = window
    if window.alias:
        select = window.parent_select
        assert isinstance(select, exp.Select)
        spec = next(each for each in select.args["windows"] if each.this.name == window.alias)
    columns = {column.name for part in spec.args["partition_by"] for column in part.find_all(exp.Column)}
    return not columns & NARROW_COLUMNS and len(spec.args["order"].expressions) == 1
