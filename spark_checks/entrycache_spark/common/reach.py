"""The rows that can make a row violate a rule, read from the windows of the rule's SQL.

A window relates a row to the rows of its partition. If every window of a rule partitions by the entry, rows of other
entries cannot make a row violate it. If every window ends at its row, later rows cannot either. `reach_of` returns
what holds for all windows that a rule's conditions use, by themselves or in a view. What it does not understand, such
as a join or a group, reaches the whole broker, unless `_STATED` says more. `columns_read` returns the columns that
these conditions and windows read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import sqlglot
from sqlglot import exp

from entrycache_spark.common import rule_files
from entrycache_spark.common.rule_files import KEYS, POSITION

ALL_LATER: Final = 1 << 62
NEXT_ROWS: Final = 3
"""The distance of the rows that `lead` over all events of a broker can show, in views that use one another."""

_PLAIN_TABLES: Final = frozenset({"events", "brokers", "marked"})
_BETWEEN_GAPS: Final = frozenset({"broker", "island"})
_COARSE: Final = (exp.Group, exp.Distinct, exp.Limit, exp.Exists, exp.Lateral, exp.Having, exp.Qualify)


class Reach(NamedTuple):
    """The rows that can make a row violate a rule.

    Attributes:
        key: Columns in which these rows have the same value as the violating row. With `seq` it is the row alone.
        later: The number of rows behind the violating row that may be among them.
        later_key: Further columns in which these later rows have the same value.
    """

    key: frozenset[str] = frozenset()
    later: int = ALL_LATER
    later_key: frozenset[str] = frozenset()

    def __and__(self, other: Reach) -> Reach:
        """Return the reach of two windows together."""
        return Reach(self.key & other.key, max(self.later, other.later), self.later_key & other.later_key)


ROW_ALONE: Final = Reach(KEYS, 0, KEYS)
WHOLE_BROKER: Final = Reach()

_EARLIER_ROWS: Final = Reach(later=0, later_key=KEYS)

_STATED: Final = {
    # An older slot is skipped if its entry has not left by then. A later row cannot show that it had left.
    "R-EVICT-8": _EARLIER_ROWS,
    # The sums run from the first row. An entry leaves with the size of its INSERT, which stands before that.
    "R-STATE-1": _EARLIER_ROWS,
    "L-STATE-1": _EARLIER_ROWS,
    # Each violation compares a row with earlier rows of its life, and a row without a life can be of any life there.
    "R-STATE-8": Reach(POSITION | {"life"}, 0, KEYS),
    # A call removes entries of one cache. Later rows matter only if they may belong to the call.
    "survivors": Reach(frozenset({"cache"}), ALL_LATER, frozenset({"call_id"})),
}
"""The reach of windows and views with joins or groups, by their rule or name."""


@cache
def reach_of(rule_id: str, system: str) -> Reach:
    """Return the reach of a rule; of several conditions it is that of all together."""
    reach = ROW_ALONE
    for name, query, conditions in _queries(rule_id, system):
        reach &= _STATED.get(name) or query.reach(conditions)
    return reach


@cache
def columns_read(rule_id: str, system: str) -> frozenset[str]:
    """Return the names of the columns that decide whether a row violates a rule."""
    return frozenset(
        name for _, query, conditions in _queries(rule_id, system) for name in query.columns_read(conditions)
    )


def _queries(rule_id: str, system: str) -> Iterator[tuple[str, _Query, tuple[str, ...]]]:
    """Yield the window of a rule and the views of its conditions: a name, the query, and the conditions on its rows."""
    rule = next(each for each in rule_files.all_rules(system) if each.id == rule_id)
    if rule.window is not None:
        yield rule.id, _Query(rule.window, system), ()
    for condition in rule.conditions:
        if condition.sure == "false":
            continue  # it accuses nobody
        query = _Query(f"select * from over_{condition.view}", system)
        yield condition.view, query, (condition.fails, condition.sure)


class _Query:
    """A query, together with the views that it uses."""

    def __init__(self, query: str, system: str) -> None:
        self._trees = [sqlglot.parse_one(text, read="spark") for text in _with_views(query, system)]
        self._definitions: defaultdict[str, list[Any]] = defaultdict(list)
        for tree in self._trees:
            for alias in tree.find_all(exp.Alias, exp.PropertyEQ):
                self._definitions[alias.alias or alias.name].append(alias)

    def reach(self, conditions: Iterable[str]) -> Reach:
        """Return the reach of these conditions on the query's rows; without conditions, of all that it selects."""
        if any(self._is_coarse(tree) for tree in self._trees):
            return WHOLE_BROKER
        windows = {id(window): window for part in self._deciding(conditions) for window in part.find_all(exp.Window)}
        reach = ROW_ALONE
        for window in windows.values():
            reach &= self._window_reach(window)
        return reach

    def columns_read(self, conditions: Iterable[str]) -> Iterator[str]:
        """Yield the names of the columns that decide these conditions; without conditions, all of the query."""
        coarse = any(self._is_coarse(tree) for tree in self._trees)
        for part in self._trees if coarse else self._deciding(conditions):
            yield from (column.name for column in part.find_all(exp.Column))

    def _deciding(self, conditions: Iterable[str]) -> list[Any]:
        """Return these conditions and all that they use; without conditions, the whole query."""
        texts = [sqlglot.parse_one(text, read="spark") for text in conditions]
        return list(self._used([*texts, *self._row_filters()] if texts else self._trees))

    def _is_coarse(self, tree: Any) -> bool:
        """Return whether rows are combined in other ways than by windows."""
        if tree.find(*_COARSE) is not None:
            return True
        names = {cte.alias for cte in tree.find_all(exp.CTE)}
        tables = [join.this for join in tree.find_all(exp.Join)]
        return any(not isinstance(table, exp.Table) or table.name != "brokers" for table in tables) or any(
            not (table.name in _PLAIN_TABLES | names or table.name.startswith("over_"))
            for table in tree.find_all(exp.Table)
        )

    def _row_filters(self) -> Iterator[Any]:
        """Yield the conditions that select rows in all views."""
        for tree in self._trees:
            yield from tree.find_all(exp.Where)

    def _used(self, parts: Iterable[Any]) -> Iterator[Any]:
        """Yield these expressions, and the definitions of all names that they use."""
        pending, named = list(parts), set[str]()
        while pending:
            part = pending.pop()
            yield part
            for column in part.find_all(exp.Column):
                for name in {column.name, column.table} - named - {""}:
                    named.add(name)
                    pending += self._definitions[name]
            for window in part.find_all(exp.Window):
                if window.alias:
                    pending.append(_specification(window))

    def _window_reach(self, window: Any) -> Reach:
        spec = _specification(window) if window.alias else window
        parts = spec.args.get("partition_by") or []
        names = {part.name for part in parts if isinstance(part, exp.Column)}
        key = {name for name in names & KEYS if self._is_a_column(name)}
        if "life" in key or "own_life" in names:
            key |= POSITION
        followed = names <= _BETWEEN_GAPS and len(names) == len(parts)
        return Reach(frozenset(key - {"seq"}), self._later(window, spec, followed), frozenset())

    def _is_a_column(self, name: str) -> bool:
        """Return whether a name is the column of the trace everywhere."""
        return all(
            isinstance(alias.this, exp.Column) and alias.this.name == name
            for alias in self._definitions[name]
            if isinstance(alias, exp.Alias) and isinstance(alias.parent, exp.Select)
        )

    @staticmethod
    def _later(window: Any, spec: Any, all_rows: bool) -> int:
        """Return how many rows behind its own a window shows; `all_rows`: its partition has all rows of a broker."""
        order = spec.args.get("order")
        columns = [] if order is None else [part.this.name for part in order.expressions if not part.args.get("desc")]
        if order is None or columns != ["seq"]:
            return ALL_LATER
        if window.find(exp.Lead) is not None:
            select = window.parent_select
            every_row = select is not None and select.args.get("where") is None
            return NEXT_ROWS if all_rows and every_row else ALL_LATER
        frame = spec.args.get("spec")
        ends = [] if frame is None else [str(frame.args.get(name)).upper() for name in ("end", "end_side")]
        return 0 if frame is None or ends[0] == "CURRENT ROW" or ends[1] == "PRECEDING" else ALL_LATER


def _with_views(query: str, system: str) -> list[str]:
    """Return a query, and the queries of the views that it uses."""
    pending, texts, visited = [query], [], set[str]()
    while pending:
        texts.append(pending.pop())
        for view in rule_files.referenced_views(texts[-1]):
            if view not in visited and view != rule_files.EVENTS_VIEW:
                visited.add(view)
                pending.append(rule_files.shared_view(system, view))
    return texts


def _specification(window: Any) -> Any:
    """Return the named window of the same query."""
    select = window.parent_select
    return next(each for each in select.args["windows"] if each.this.name == window.alias)
