"""A check of a trace against its format, before an audit.

`check_trace` reads a trace folder or a file of JSON Lines with DuckDB and returns a `TraceCheck`. Its problems are rows
that contradict the format: unknown ops and causes, required columns that are null, and rows out of order. Its notes
are no errors, but make an audit inconclusive: gaps, and a trace without an END.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_protocol import errors, files
from entrycache_spark.common.rule_files import SqlBackend, all_rules
from entrycache_spark.common.system import AUDITED
from entrycache_spark.duckdb_backend import DuckDbBackend
from entrycache_trace.convert import convert
from entrycache_trace.files import list_parts, read_metadata
from entrycache_trace.schema import REQUIRED_COLUMNS, ROW_COLUMNS, EventFormat, TraceFormat

MAX_SHOWN: Final = 3
"""The number of rows that a problem shows."""

_ORDER_PROBLEMS: Final = {
    "ts_ns falls; expected one that never does with seq": "ts_ns < lag(ts_ns) over in_order",
    "the seq of the row before once more; expected one row each": "seq = lag(seq) over in_order",
    "a row before the first CONFIG; expected the settings first": "lag(seq) over in_order is null and op <> 'CONFIG'",
}
_OWN_SEQ_COLUMNS: Final = {
    "life": ("INSERT", "PUT"),
    "pass_id": ("PASS_BEGIN", "VIEW"),
    "read_id": ("READ_BEGIN",),
    "ask_id": ("ASK",),
}
"""Columns that repeat the row's own `seq`, and the ops for which they do."""


class Problem(NamedTuple):
    """Rows that contradict the format: their number, and the first of them as (broker, seq)."""

    text: str
    rows: int
    first: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        """Return the problem as one line."""
        places = ", ".join(f"broker {broker!r} seq {seq}" for broker, seq in self.first)
        return f"{self.text} ({self.rows} rows: {places}{', ..' if self.rows > len(self.first) else ''})"


class TraceCheck(NamedTuple):
    """The result of a check.

    `untold` maps columns that are null in every row to the rules that need them for events of the trace. `cursor of
    CURSOR_ADD` is such a column of one event.
    """

    system: str
    rows: int
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    untold: dict[str, tuple[str, ...]]


def check_trace(trace: Path) -> TraceCheck:
    """Check a folder of Parquet files, or a file of JSON Lines.

    Raises:
        UsageError: the trace cannot be read, or its system has no trace format.
    """
    if trace.is_dir():
        return _check(trace)
    with files.scratch_folder() as folder:
        convert(trace, folder / "trace")
        return _check(folder / "trace")


def _check(directory: Path) -> TraceCheck:
    metadata = read_metadata(directory)
    if metadata.system not in AUDITED:
        raise errors.UsageError(
            f"{directory}: no format of traces of {metadata.system}; there are of {', '.join(AUDITED)}"
        )
    parts = list_parts(directory, REQUIRED_COLUMNS)
    rows = sum(part.rows for part in parts)
    if not rows:
        raise errors.UsageError(f"{directory}: the trace has no rows; expected at least a CONFIG")
    backend = DuckDbBackend(parts, columns=("broker", *ROW_COLUMNS))
    try:
        problems = (*_event_problems(backend, AUDITED[metadata.system].format), *_order_problems(backend))
        return TraceCheck(
            metadata.system, rows, problems, _incompleteness_notes(backend), _null_columns(backend, metadata.system)
        )
    finally:
        backend.close()


def _event_problems(backend: SqlBackend, form: TraceFormat) -> Iterator[Problem]:
    """Yield ops and causes that the format does not know, and required columns that are null."""
    kinds = backend.rows("select distinct op, cause from trace order by op, cause")
    for op, cause in kinds:
        event = form.by_op.get(op)
        where = f"op = {_sql_text(op)} and cause {'is null' if cause is None else f'= {_sql_text(cause)}'}"
        if event is None:
            yield _where_problem(backend, f"op {op}; expected one of {', '.join(form.by_op)}", where)
        elif event.causes and cause not in event.causes and not (cause is None and "cause" in event.may):
            yield _where_problem(backend, f"{op} with cause {cause}; expected one of {', '.join(event.causes)}", where)
        else:
            yield from _column_problems(backend, event, where, form)


def _column_problems(backend: SqlBackend, event: EventFormat, where: str, form: TraceFormat) -> Iterator[Problem]:
    counted = ", ".join(f"count({name})" for name in ("seq", *event.needs))
    there = backend.rows(f"select {counted} from trace where {where}")[0]
    for name, count in zip(event.needs, there[1:], strict=True):
        if count < there[0]:
            text = f"{event.op} without {name}; expected {form.means[name]}"
            yield _where_problem(backend, text, f"{where} and {name} is null")
    for name, ops in _OWN_SEQ_COLUMNS.items():
        if event.op in ops and name in event.needs:
            broken = f"{where} and {name} <> seq"
            if backend.rows(f"select 1 from trace where {broken} limit 1"):
                yield _where_problem(backend, f"{event.op} whose {name} is another seq than its own", broken)


def _order_problems(backend: SqlBackend) -> Iterator[Problem]:
    for text, condition in _ORDER_PROBLEMS.items():
        query = (
            f"select broker, seq from (select broker, seq, {condition} as wrong from trace "
            "window in_order as (partition by broker order by seq)) as looked where wrong"
        )
        if backend.rows(f"{query} limit 1"):
            yield _counted_problem(backend, text, query)


def _where_problem(backend: SqlBackend, text: str, where: str) -> Problem:
    return _counted_problem(backend, text, f"select broker, seq from trace where {where}")


def _counted_problem(backend: SqlBackend, text: str, query: str) -> Problem:
    count = backend.rows(f"select count(*) from ({query}) as problems")[0][0]
    first = backend.rows(f"select broker, seq from ({query}) as problems order by broker, seq limit {MAX_SHOWN}")
    return Problem(text, count, tuple((str(broker), int(seq)) for broker, seq in first))


def _incompleteness_notes(backend: SqlBackend) -> tuple[str, ...]:
    """Return the notes about gaps and missing ends."""
    incomplete = backend.rows(
        "select broker, max(seq) - min(seq) + 1 - count(*), max_by(op, seq) from trace group by broker order by broker"
    )
    gaps = [
        f"broker {broker!r}: {missing} events are missing between its first and its last"
        for broker, missing, _ in incomplete
        if missing > 0
    ]
    ends = [
        f"broker {broker!r}: the last event is not END, so the rest is missing"
        for broker, _, op in incomplete
        if op != "END"
    ]
    return (*gaps, *ends)


def _null_columns(backend: SqlBackend, system: str) -> dict[str, tuple[str, ...]]:
    """Return the columns that are null in every row although a rule needs them for an event of the trace."""
    ops = {op for (op,) in backend.rows("select distinct op from trace")}
    counts = backend.rows(f"select {', '.join(f'count({name})' for name in ROW_COLUMNS)} from trace")[0]
    recorded = {name for name, count in zip(ROW_COLUMNS, counts, strict=True) if count}
    wanting: dict[str, list[str]] = {}
    for rule in all_rules(system):
        happens = any(event[0] in ops for need in rule.needs if not need.once for event in need.events)
        for need in rule.needs:
            if need.once:
                there = f"select 1 from trace where ({need.events_sql}) and not ({need.missing_sql}) limit 1"
                if happens and not backend.rows(there):
                    events = ", ".join(" ".join(part or "*" for part in event) for event in need.events)
                    wanting.setdefault(f"{' or '.join(need.names)} of {events}", []).append(rule.id)
                continue
            lacks = recorded.isdisjoint(need.names) and not any("." in name for name in need.names)
            if lacks and any(event[0] is None or event[0] in ops for event in need.events):
                wanting.setdefault(" or ".join(need.names), []).append(rule.id)
    return {name: tuple(dict.fromkeys(rules)) for name, rules in sorted(wanting.items())}


def _sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
