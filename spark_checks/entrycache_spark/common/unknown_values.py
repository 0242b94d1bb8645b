"""Rows of a trace that lack a value which their event must have.

The page of the trace format says which columns each event needs. Where a row lacks such a value, or where some rows of
a broker have a cause, an origin or a call and others lack it, a rule that reads the column cannot tell a wrong event
from a badly recorded one. `withdraw_violations` makes such a rule inconclusive for the broker instead of violated, as
far as such a row can explain the violations. `reach` says which rows can; a violation that no such row reaches stands.
A rule that nothing violates is inconclusive too if it reads a column that its event needs and that some row lacks:
what is not recorded may hide a violation. `doubt_clean_rules` adds these notes.

Some rows reach every violation of a broker: CONFIG and SNAPSHOT rows, because facts about the whole broker follow from
them. If more than `MAX_ROWS` rows lack values, or more than `MAX_VIOLATIONS` violations are in question, all are
withdrawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from entrycache_spark.common import results, rule_files
from entrycache_spark.common.system import AUDITED
from entrycache_trace.files import Metadata
from entrycache_trace.schema import EventFormat

if TYPE_CHECKING:
    from entrycache_spark.common.reach import Reach

_UNIFORM_COLUMNS: Final = ("cause", "origin", "call_id")
"""Columns that a recorder may leave out, but then of all rows of a broker."""

_UNIFORM_EVENTS: Final = frozenset({("READ_DONE", "life")})
"""Other values of which the same holds."""

_OF_CAUSE: Final = {("PERMIT", "tail_no"): "QUEUED"}
"""Values that an event needs only if it has this cause."""

_PAIRED_COLUMNS: Final = {
    (op, name): other
    for op in ("CURSOR_ADD", "CURSOR_MOVE")
    for name, other in (("ledger_id", "entry_id"), ("entry_id", "ledger_id"))
}
"""Values that an event needs only if it has the other one: a cursor without a position has neither."""

_SOMETIMES_NEEDED: Final = frozenset({("SNAPSHOT", "life"), *_OF_CAUSE, *_PAIRED_COLUMNS})
"""Values that an event needs, but not in every row of its op."""

_WITHOUT_LIFE_SQL: Final = "(coalesce(cause = 'REJECTED', false) or (op = 'SNAPSHOT' and cache is null))"
"""The rows about no entry, which have no life: of a rejected duplicate, and of a dead slot in a snapshot."""

_RACED_EVENTS: Final = frozenset({("HIT", "life")})
"""Values that a recorder of several threads cannot know: the slot of the entry may be used again meanwhile."""

_OF_BROKER: Final = frozenset({"CONFIG", "SNAPSHOT"})
"""The rows from which facts about the whole broker follow."""

_PLAIN: Final = ("seq",)
"""The column that every row has, whose count is the number of rows."""

Counts = Mapping[str, Mapping[str, int]]
"""The number of rows of a broker that have a value, by op and column."""


def counted_columns(system: str) -> tuple[str, ...]:
    """Return the columns whose values are counted, `seq` first."""
    needed = {name for event in AUDITED[system].format.events for name in event.needs}
    needed |= {name for op, name in _SOMETIMES_NEEDED if op in AUDITED[system].format.by_op}
    present = set(AUDITED[system].columns)
    return (*_PLAIN, *sorted((needed | set(_UNIFORM_COLUMNS)) & present - {"seq"}))


def known_columns(system: str) -> tuple[str, ...]:
    """Return the columns of a system's traces that can separate rows, `seq` first."""
    return ("seq", *sorted((rule_files.KEYS - {"seq"}) & set(AUDITED[system].columns)))


def count_rows(rows: Iterable[Mapping[str, Any]], system: str, read: Sequence[str]) -> Counts:
    """Count the values of the rows of one broker, of which only some columns were read."""
    columns = [name for name in counted_columns(system) if name in read]
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        own = counts.setdefault(row["op"], dict.fromkeys(columns, 0))
        for name in columns:
            own[name] += not _is_missing(row, name)
    return counts


def count_in_sql(backend: rule_files.SqlBackend, system: str, brokers: Sequence[str]) -> Mapping[str, Counts]:
    """Count the values of these brokers by a query over the trace."""
    columns = counted_columns(system)
    backend.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    counted = ", ".join(f"sum(case when {_missing_sql(name, columns)} then 0 else 1 end)" for name in columns)
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for broker, op, *present in backend.rows(
        f"select broker, op, {counted} from trace where broker in (select broker from suspects) group by broker, op"
    ):
        counts.setdefault(broker, {})[op] = dict(zip(columns, present, strict=True))
    return counts


def _is_missing(row: Mapping[str, Any], name: str) -> bool:
    """Return whether a row lacks a value that it could have."""
    if row.get(name) is not None:
        return False
    event = (row["op"], name)
    if event in _OF_CAUSE:
        return bool(row["cause"] == _OF_CAUSE[event])
    if event in _PAIRED_COLUMNS:
        return row.get(_PAIRED_COLUMNS[event]) is not None
    without_life = row["cause"] == "REJECTED" or (row["op"] == "SNAPSHOT" and row["cache"] is None)
    return not (name == "life" and without_life)


def _missing_sql(name: str, columns: Sequence[str]) -> str:
    """Return the same condition in SQL, for a trace that has these columns."""
    unneeded = [_WITHOUT_LIFE_SQL] if name == "life" else []
    unneeded += [
        f"(op = '{op}' and coalesce(cause <> '{cause}', true))" for (op, own), cause in _OF_CAUSE.items() if own == name
    ]
    unneeded += [
        f"(op = '{op}' and {other} is null)"
        for (op, own), other in _PAIRED_COLUMNS.items()
        if own == name and other in columns
    ]
    return " and not ".join([f"{name} is null", *unneeded])


def incomplete_sql(metadata: Metadata) -> str:
    """Return the SQL that counts the rows without a value that their event needs."""
    form, columns = AUDITED[metadata.system].format, counted_columns(metadata.system)
    conditions = {op: [_missing_sql(name, columns) for name in sorted(_needed(op, metadata))] for op in form.by_op}
    arms = " ".join(
        f"when '{op}' then {' or '.join(f'({text})' for text in texts)}" for op, texts in conditions.items() if texts
    )
    return f"count_if(case op {arms} else false end)"


def is_incomplete(row: Mapping[str, Any], metadata: Metadata) -> bool:
    """Return whether a row lacks a value that its event needs, as far as its columns were read."""
    return any(_is_missing(row, name) for name in _needed(row["op"], metadata) if name in row)


def _needed(op: str, metadata: Metadata) -> frozenset[str]:
    """Return the counted columns that each row of an op needs."""
    event = AUDITED[metadata.system].format.by_op.get(op)
    raced = {name for own, name in _RACED_EVENTS if own == op and metadata.many_threads}
    needs = () if event is None else event.needs
    return frozenset(needs).intersection(counted_columns(metadata.system)) - raced


class Lack(NamedTuple):
    """The rows of an op that lack a value which they should have: the op, the column, and the rows in words."""

    op: str
    column: str
    text: str


class LackingRow(NamedTuple):
    """A row without values that it should have: its place in the trace, and the names of these columns."""

    place: Mapping[str, Any]
    columns: frozenset[str]


class SuspectRows(Protocol):
    """The rows of brokers that have violations."""

    def counts(self, brokers: Sequence[str]) -> Mapping[str, Counts]:
        """Count the values of these brokers."""

    def lacking(self, broker: str, lacks: Sequence[Lack]) -> list[LackingRow] | None:
        """Return the rows of a broker that lack these values, or None if there are more than `MAX_ROWS`."""

    def places(self, broker: str, seqs: Collection[int]) -> Mapping[int, Mapping[str, Any]]:
        """Return the columns that can separate rows, for these rows of a broker."""


MAX_ROWS: Final = 1_000
"""The most rows without values that are compared with violations."""

MAX_VIOLATIONS: Final = 10_000
"""The most violations of a broker that are compared with such rows."""


class RowsInSql(NamedTuple):
    """The rows of a trace that SQL reads."""

    backend: rule_files.SqlBackend
    system: str

    def counts(self, brokers: Sequence[str]) -> Mapping[str, Counts]:
        """Count the values of these brokers."""
        return count_in_sql(self.backend, self.system, brokers)

    def lacking(self, broker: str, lacks: Sequence[Lack]) -> list[LackingRow] | None:
        """Return the rows of a broker that lack these values, or None if there are too many."""
        known = known_columns(self.system)
        columns = sorted({lack.column for lack in lacks})
        self.backend.table("suspects", {"broker": "string"}, [(broker,)])
        present = counted_columns(self.system)
        where = " or ".join(f"(op = '{lack.op}' and {_missing_sql(lack.column, present)})" for lack in lacks)
        selected = ", ".join(["op", *known, *(f"{_missing_sql(name, present)} as no_{name}" for name in columns)])
        rows = self.backend.rows(
            f"select {selected} from trace where broker in (select broker from suspects) and ({where}) "
            f"limit {MAX_ROWS + 1}"
        )
        if len(rows) > MAX_ROWS:
            return None
        wanted = {(lack.op, lack.column) for lack in lacks}
        return [
            LackingRow(
                dict(zip(("op", *known), row, strict=False)),
                frozenset(
                    name
                    for name, lacks_it in zip(columns, row[1 + len(known) :], strict=True)
                    if lacks_it and (row[0], name) in wanted
                ),
            )
            for row in rows
        ]

    def places(self, broker: str, seqs: Collection[int]) -> Mapping[int, Mapping[str, Any]]:
        """Return the columns that can separate rows, for these rows of a broker."""
        known = known_columns(self.system)
        columns = {"broker": "string", "at": "bigint"}
        self.backend.table("accused", columns, [(broker, seq) for seq in sorted(seqs)])
        rows = self.backend.rows(
            f"select {', '.join(known)} from trace t join accused a on t.broker = a.broker and t.seq = a.at"
        )
        return {row[0]: dict(zip(known, row, strict=True)) for row in rows}


class RowsInMemory:
    """The rows of one broker that are in memory; a replay may complete them afterwards."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], metadata: Metadata, read: Sequence[str]) -> None:
        self._rows, self._system = rows, metadata.system
        self.own_counts = count_rows(rows, metadata.system, read)
        wanted: defaultdict[str, list[str]] = defaultdict(list)
        for lack in find_unknown(self.own_counts, metadata):
            wanted[lack.op].append(lack.column)
        missing = ((row, frozenset(name for name in wanted[row["op"]] if _is_missing(row, name))) for row in rows)
        self._lacking = [LackingRow({**self._place(row), "op": row["op"]}, names) for row, names in missing if names]

    def _place(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: row[name] for name in known_columns(self._system)}

    def counts(self, brokers: Sequence[str]) -> Mapping[str, Counts]:
        """Count the values of this broker."""
        return dict.fromkeys(brokers, self.own_counts)

    def lacking(self, broker: str, lacks: Sequence[Lack]) -> list[LackingRow] | None:
        """Return the rows that lack a value, or None if there are too many."""
        return None if len(self._lacking) > MAX_ROWS else self._lacking

    def places(self, broker: str, seqs: Collection[int]) -> Mapping[int, Mapping[str, Any]]:
        """Return the columns that can separate rows, for these rows."""
        return {row["seq"]: self._place(row) for row in self._rows if row["seq"] in seqs}


def find_unknown(counts: Counts, metadata: Metadata) -> list[Lack]:
    """Return the values that some rows lack although they should have them."""
    unknown: list[Lack] = []
    known = {name for present in counts.values() for name, count in present.items() if count}
    for op, event in AUDITED[metadata.system].format.by_op.items():
        present = counts.get(op)
        if present is None:
            continue
        rows = present["seq"]
        needs = _needed(op, metadata) | {name for own, name in _SOMETIMES_NEEDED if own == op}
        uniform = set() if metadata.many_threads else _uniform_columns(event)
        for name, count in present.items():
            lacks = rows - count
            uniform_here = name in uniform or (not metadata.many_threads and (op, name) in _UNIFORM_EVENTS)
            if lacks and (name in needs or (uniform_here and name in known)):
                unknown.append(Lack(op, name, f"{lacks} of {rows} {op} rows have no {name}"))
    return unknown


def _uniform_columns(event: EventFormat) -> set[str]:
    """Return the columns that all rows of an event have or none.

    A value in a column that the event never has is the fault of its own row. The other rows lack nothing.
    """
    known = {*event.needs, *(set(event.may) - {"cause"}), "call_id"}
    if event.causes and "cause" not in event.may:
        known.add("cause")
    return known.intersection(_UNIFORM_COLUMNS)


def columns_of(rule_id: str, system: str) -> frozenset[str]:
    """Return the counted columns that decide whether a row violates a rule."""
    from entrycache_spark.common.reach import columns_read  # noqa: PLC0415 -- sqlglot is an extra

    return columns_read(rule_id, system) & frozenset(counted_columns(system))


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


def withdraw_violations(findings: results.Findings, metadata: Metadata, rows: SuspectRows) -> results.Findings:
    """Return the findings without the violations that a row explains because it lacks a value that their rule reads."""
    accused = [broker for broker, own in findings.items() if any(finding.violations for finding in own.values())]
    counts = rows.counts(accused) if accused else {}
    unknown = {broker: find_unknown(own, metadata) for broker, own in counts.items()}
    return {
        broker: _withdraw_explained(broker, own, unknown[broker], metadata.system, rows) if unknown.get(broker) else own
        for broker, own in findings.items()
    }


def doubt_clean_rules(
    findings: Mapping[str, results.RuleFinding], broker: str, counts: Counts, metadata: Metadata
) -> Mapping[str, results.RuleFinding]:
    """Return the findings of a broker, with a note for each clean rule whose rows lack a value that it reads."""
    clean = [rule for rule, own in findings.items() if own.checked and not (own.violations or own.undecided)]
    lacks = [lack for lack in find_unknown(counts, metadata) if lack.column in _needed(lack.op, metadata)]
    doubts: defaultdict[str, list[str]] = defaultdict(list)
    for lack in lacks if clean else ():
        rules = [rule for rule in clean if _reads(rule, lack, metadata.system)]
        for rule in rules:
            doubts[rule].append(f"broker {broker!r}: {lack.text}; inconclusive: {', '.join(rules)}")
    return {
        rule: replace(own, undecided=tuple(doubts[rule])) if rule in doubts else own for rule, own in findings.items()
    }


def _reads(rule: str, lack: Lack, system: str) -> bool:
    """Return whether a rule reads the column of rows that lack it."""
    return lack.op in ops_of(rule, system) and lack.column in columns_of(rule, system)


def _withdraw_explained(
    broker: str, findings: Mapping[str, results.RuleFinding], lacks: Sequence[Lack], system: str, rows: SuspectRows
) -> Mapping[str, results.RuleFinding]:
    """Return the findings of one broker without the violations that rows without values explain."""
    from entrycache_spark.common.reach import reach_of  # noqa: PLC0415 -- sqlglot is an extra

    read = {rule: columns_of(rule, system) for rule, finding in findings.items() if finding.violations}
    relevant = {rule: [lack for lack in lacks if lack.column in names] for rule, names in read.items()}
    seqs = {one.seq for rule, own in relevant.items() if own for one in findings[rule].violations}
    if not seqs:
        return findings
    explaining = rows.lacking(broker, lacks) if len(seqs) <= MAX_VIOLATIONS else None
    places = {} if explaining is None else rows.places(broker, seqs)

    def explains(rule: str, one: results.Violation) -> bool:
        """Return whether some row without a value that the rule reads can explain a violation."""
        if explaining is None or one.seq not in places:
            return True
        within = reach_of(rule, system)
        suspects = (row.place for row in explaining if row.columns & read[rule])
        return any(_reaches(place, within, one, places[one.seq]) for place in suspects)

    def left(rule: str, finding: results.RuleFinding) -> results.RuleFinding:
        kept = tuple(one for one in finding.violations if not explains(rule, one))
        if len(kept) == len(finding.violations):
            return finding
        reasons = "; ".join(dict.fromkeys(lack.text for lack in sorted(relevant[rule], key=lambda lack: lack.column)))
        number = len(finding.violations) - len(kept)
        text = f"{rule}: broker {broker!r}: {reasons}, so {number} differences prove nothing"
        return replace(finding, violations=kept, undecided=(*finding.undecided, text))

    return {rule: left(rule, finding) if relevant.get(rule) else finding for rule, finding in findings.items()}


def _reaches(place: Mapping[str, Any], within: Reach, violation: results.Violation, accused: Mapping[str, Any]) -> bool:
    """Return whether a row can explain a violation, which stands at the row `accused`."""
    if place["op"] in _OF_BROKER or place["seq"] in violation.seqs:
        return True
    if place["seq"] > violation.seq + within.later:
        return False
    key = within.key | within.later_key if place["seq"] > violation.seq else within.key
    return all(place.get(name) is None or accused.get(name) is None or place[name] == accused[name] for name in key)
