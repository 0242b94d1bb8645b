"""The SQL of the rule files as DuckDB takes it, translated by sqlglot.

`last_value(.., true)`, the last value that is not null, costs DuckDB a walk back to that value from every row: of a
long partition in which there is none, the square of its rows; so does the first one. Over windows that an entry, a life
or a call does not narrow they are asked as the values of the greatest and of the least `seq` instead, which are the
same, as the rows are in that order.

`count_if` of rows of which none is told is 0 to Spark, and null to DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from entrycache_protocol.extras import missing

try:
    import sqlglot
    from sqlglot import exp
except ImportError as error:  # pragma: no cover
    raise missing("engine local", f"{error.name}", "trace") from None

NARROW: Final = frozenset({"entry_id", "key_hash", "life", "own_life", "call_id"})
"""A window by one of these has few rows."""

WALKING: Final = {exp.LastValue: exp.ArgMax, exp.FirstValue: exp.ArgMin}
"""What is looked for row by row, and what finds the same."""


@cache
def to_duckdb(query: str) -> str:
    """The text of a query in Spark's SQL for DuckDB."""
    tree = sqlglot.parse_one(query, read="spark")
    for window, order in list(_walking_back(tree)):
        asked = window.this.this
        window.this.replace(WALKING[type(asked)](this=asked.this, expression=order.copy()))
    for count in list(tree.find_all(exp.CountIf)):
        count.replace(exp.Coalesce(this=count.copy(), expressions=[exp.Literal.number(0)]))
    return tree.sql("duckdb", unsupported_level=sqlglot.ErrorLevel.IGNORE)


def _walking_back(tree: Any) -> Iterator[tuple[exp.Window, Any]]:
    """The values that are looked for in long partitions, with the column that these are in the order of."""
    for window in tree.find_all(exp.Window):
        if not isinstance(window.this, exp.IgnoreNulls) or type(window.this.this) not in WALKING:
            continue
        spec = _named(window) if window.alias else window
        columns = {column.name for part in spec.args["partition_by"] for column in part.find_all(exp.Column)}
        order = [ordered.this for ordered in spec.args["order"].expressions]
        if not columns & NARROW and len(order) == 1:
            yield window, order[0]


def _named(window: exp.Window) -> Any:
    """The window of that name in the same query."""
    select = window.parent_select
    assert isinstance(select, exp.Select)
    return next(each for each in select.args["windows"] if each.this.name == window.alias)
