"""Rows of a trace that lack a value which their event must have.

The page of the trace format says which columns each event needs. Where a row lacks such a value, or where some rows of
an op have a cause, an origin or a call and others lack it, a rule that reads the column cannot tell a wrong event from
a badly recorded one. `withdraw_violations` makes such a rule inconclusive for the broker instead of violated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from entrycache_spark.common import results, rule_files
from entrycache_spark.common.system import AUDITED
from entrycache_trace.files import Metadata

_UNIFORM_COLUMNS: Final = ("cause", "origin", "call_id")
"""Columns that a recorder may leave out, but then of all rows of an op."""

_RACED_EVENTS: Final = frozenset({("HIT", "life")})
"""Values that a recorder of several threads cannot know: the slot of the entry may be used again meanwhile."""

_PLAIN: Final = ("seq",)
"""The column that every row has, whose count is the number of rows."""

Counts = Mapping[str, Mapping[str, int]]
"""The number of rows of a broker that have a value, by op and column."""


def counted_columns(system: str) -> tuple[str, ...]:
    """Return the columns whose values are counted, `seq` first."""
    needed = {name for event in AUDITED[system].format.events for name in event.needs}
    present = set(AUDITED[system].columns)
    return (*_PLAIN, *sorted((needed | set(_UNIFORM_COLUMNS)) & present - {"seq"}))


def count_rows(rows: Iterable[Mapping[str, Any]], system: str, read: Sequence[str]) -> Counts:
    """Count the values of the rows of one broker, of which only some columns were read."""
    columns = [name for name in counted_columns(system) if name in read]
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        own = counts.setdefault(row["op"], dict.fromkeys(columns, 0))
        for name in columns:
            own[name] += row.get(name) is not None
    return counts


def count_in_sql(backend: rule_files.SqlBackend, system: str, brokers: Sequence[str]) -> Mapping[str, Counts]:
    """Count the values of these brokers by a query over the trace."""
    columns = counted_columns(system)
    backend.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    counted = ", ".join(f"count({name})" for name in columns)
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for broker, op, *present in backend.rows(
        f"select broker, op, {counted} from trace where broker in (select broker from suspects) group by broker, op"
    ):
        counts.setdefault(broker, {})[op] = dict(zip(columns, present, strict=True))
    return counts


def find_unknown(counts: Counts, metadata: Metadata) -> dict[str, str]:
    """Return the columns that some row lacks although it should have them, each with the rows in words."""
    unknown: dict[str, str] = {}
    for op, event in AUDITED[metadata.system].format.by_op.items():
        present = counts.get(op)
        if present is None:
            continue
        rows = present["seq"]
        needs = {name for name in event.needs if not (metadata.many_threads and (op, name) in _RACED_EVENTS)}
        uniform = set() if metadata.many_threads else set(_UNIFORM_COLUMNS)
        for name, count in present.items():
            lacks = rows - count
            if lacks and (name in needs or (name in uniform and count)):
                unknown.setdefault(name, f"{lacks} of {rows} {op} rows have no {name}")
    return unknown


def columns_of(rule_id: str, system: str) -> frozenset[str]:
    """Return the counted columns that a rule reads, by itself or in a view."""
    return words_read(rule_id, system) & frozenset(counted_columns(system))


def ops_of(rule_id: str, system: str) -> frozenset[str]:
    """Return the ops whose rows a rule reads, by itself or in a view."""
    return words_read(rule_id, system) & AUDITED[system].format.by_op.keys()


@cache
def words_read(rule_id: str, system: str) -> frozenset[str]:
    """Return the words of a rule's SQL and of the views that it reads."""
    rule = next(each for each in rule_files.all_rules(system) if each.id == rule_id)
    texts = [rule.checked, rule.window or "", *(" ".join(condition) for condition in map(_texts, rule.conditions))]
    pending = [view for text in texts for view in rule_files.referenced_views(text)]
    pending += [condition.view for condition in rule.conditions]
    visited: set[str] = set()
    while pending:
        view = pending.pop()
        if view not in visited and view != rule_files.EVENTS_VIEW:
            visited.add(view)
            texts.append(rule_files.shared_view(system, view))
            pending += rule_files.referenced_views(texts[-1])
    return frozenset(rule_files.words_of("\n".join(texts)))


def _texts(condition: rule_files.Condition) -> tuple[str, ...]:
    return (condition.fails, condition.seqs, condition.life, condition.sure)


def withdraw_violations(
    findings: results.Findings, metadata: Metadata, counts_of: Callable[[Sequence[str]], Mapping[str, Counts]]
) -> results.Findings:
    """Return the findings without the violations of rules that read a value which some row of the broker lacks.

    `counts_of` counts the values of these brokers; it is asked only about brokers that have violations.
    """
    accused = [broker for broker, own in findings.items() if any(finding.violations for finding in own.values())]
    counts = counts_of(accused) if accused else {}
    unknown = {broker: find_unknown(own, metadata) for broker, own in counts.items()}
    return {
        broker: {
            rule: _withdraw(rule, broker, finding, unknown.get(broker, {}), metadata.system)
            for rule, finding in own.items()
        }
        for broker, own in findings.items()
    }


def _withdraw(
    rule: str, broker: str, finding: results.RuleFinding, unknown: Mapping[str, str], system: str
) -> results.RuleFinding:
    reasons = [unknown[name] for name in sorted(unknown) if name in columns_of(rule, system)] if unknown else []
    if not (reasons and finding.violations):
        return finding
    text = f"{rule}: broker {broker!r}: {'; '.join(reasons)}, so {len(finding.violations)} differences prove nothing"
    return replace(finding, violations=(), undecided=(*finding.undecided, text))
