"""The result of an audit on a terminal, as JSON, and for the HTML page.

`print_audit` prints the verdicts, the first violations with the rows around them, and notes. `audit_json` is the object
of `--json`, to which `violations_with_rows` adds what the HTML page draws: the rows and bytes around a violation. Rows
are read from the trace again, so nothing of them is kept in the result.
"""

import contextlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from entrycache_cli.report import content, terminal
from entrycache_protocol.errors import UsageError, escape_unprintable
from entrycache_protocol.strict_json import seal_json
from entrycache_spark.common.results import AuditResult, Verdict, Violation
from entrycache_spark.common.rule_files import named_columns
from entrycache_trace import files, inspect

SHOWN_WITH_ROWS: Final = 3
"""The number of violations that a terminal shows with the rows around them."""

NOTES_MAX: Final = 20
"""The number of reasons for undecided rules in a result."""

BROKERS_NAMED: Final = 5
"""The number of broker names in a line."""


def print_audit(
    result: AuditResult,
    where: str,
    provenance: Mapping[str, Any],
    as_json: bool,
    trace: Path | None = None,
    excerpts: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Print the verdicts, and the first violations, notes and differences; `where` says where all violations stand.

    Rows around violations are read from `trace`; with None they are not shown. JSON has the `excerpts`.
    `provenance`: see `audit_provenance`.
    """
    if as_json:
        terminal.echo(json.dumps(seal_json({**audit_json(result, provenance), "shown": list(excerpts)})))
        return
    table = Table("rule", "verdict", "violations")
    for rule, verdict in result.rules.items():
        count = sum(violation.rule == rule for violation in result.violations)
        table.add_row(rule, verdict.value, str(count) if count else "")
    out = terminal.make_console()
    out.print(table)
    for violation in result.violations[:10]:
        place = f"{violation.rule}: broker {violation.broker}, seq {violation.seq}"
        out.print(
            escape_unprintable(f"{place}: expected {violation.expected}; observed {violation.observed}"), soft_wrap=True
        )
    if trace is not None:
        for violation in result.violations[:SHOWN_WITH_ROWS]:
            out.print(rows_table(trace, violation))
    for note in result.notes[:5]:
        out.print(escape_unprintable(f"not decided: {note}"), soft_wrap=True)
    for line in complete_brokers(result):
        out.print(escape_unprintable(line), soft_wrap=True)
    for difference in result.differences[:5]:
        out.print(escape_unprintable(f"differs from the rows before it: {difference}"), soft_wrap=True)
    if result.judged is not None:
        out.print(f"{len(result.judged)} of {len(result.brokers)} brokers judged anew; above are new violations only")
    if result.without_rows:
        out.print(escape_unprintable(f"{missing_rows_message(result)}; nothing of them was checked"), soft_wrap=True)
    by = f" by {result.evaluator}" if result.evaluator else ""
    out.print(escape_unprintable(f"{result.rows} events{by}; {headline(result, where)}"), soft_wrap=True)


MAX_RULES: Final = 3
"""The number of undecided rules that the headline names."""


def headline(result: AuditResult, where: str) -> str:
    """Return the outcome of an audit: the number of violations, and the rules that were not decided.

    `where` says where the violations stand.
    """
    if result.is_inconclusive and not result.violations:
        applied = sum(verdict is Verdict.INCONCLUSIVE for verdict in result.rules.values())
        return f"inconclusive: none of {applied} rules that apply was decided; table of violations {where}"
    undecided = [rule for rule, verdict in result.rules.items() if verdict is Verdict.INCONCLUSIVE]
    number = "1 rule was" if len(undecided) == 1 else f"{len(undecided)} rules were"
    names = [*undecided[:MAX_RULES], *([".."] if len(undecided) > MAX_RULES else [])]
    rest = f"{number} not decided ({', '.join(names)}), " if undecided else ""
    return f"{len(result.violations)} violations, {rest}{where}"


def complete_brokers(result: AuditResult) -> list[str]:
    """Describe the verdicts of brokers without open rules, if another broker leaves rules open for all together."""
    whole = {broker: own for broker, own in result.brokers.items() if Verdict.INCONCLUSIVE not in own.values()}
    if not whole or len(whole) == len(result.brokers):
        return []
    names = _names([*whole])
    verdict_sets = [{own[rule] for own in whole.values()} for rule in result.rules]
    broken = sum(Verdict.VIOLATES in verdicts for verdicts in verdict_sets)
    keep = sum(Verdict.CONFORMS in verdicts for verdicts in verdict_sets if Verdict.VIOLATES not in verdicts)
    summary = f"{len(whole)} of {len(result.brokers)} brokers leave no rule open ({names})"
    return [f"{summary}: {keep} rules conform there, {broken} are violated; --json has the verdicts of each broker"]


def strict_message(result: AuditResult) -> str:
    """Describe for `--strict` the brokers that were not checked; return an empty text if there are none."""
    messages = []
    if result.undecided:
        number = f"{len(result.undecided)} of {len(result.brokers)} brokers ({_names(result.undecided)})"
        why = f": {result.notes[0]}" if result.notes else ""
        messages.append(f"no rule was decided of {number}{why}")
    if result.without_rows:
        messages.append(missing_rows_message(result))
    return f"--strict: {'; '.join(messages)}" if messages else ""


def missing_rows_message(result: AuditResult) -> str:
    """Name the brokers that have a folder and no rows."""
    every = len({*result.brokers, *result.without_rows})
    return f"no rows of {len(result.without_rows)} of {every} brokers ({_names(result.without_rows)})"


def _names(brokers: Sequence[str]) -> str:
    return ", ".join(brokers[:BROKERS_NAMED]) + (", .." if len(brokers) > BROKERS_NAMED else "")


def audit_json(result: AuditResult, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result as `--json` prints it; `provenance` comes from `audit_provenance`."""
    answer = {"schema": 1, "rules": verdict_names(result.rules), "violations": len(result.violations)}
    more = {"differences": list(result.differences), "kernel": result.evaluator}
    brokers = {broker: verdict_names(verdicts) for broker, verdicts in result.brokers.items()}
    judged = {} if result.judged is None else {"judged": list(result.judged)}
    empty = {"brokers_without_rows": list(result.without_rows)}
    counts = {"violation_counts": _violation_counts(result.violations), "notes": list(result.notes[:NOTES_MAX])}
    return {**answer, **more, "brokers": brokers, **counts, **empty, **judged, **provenance}


def _violation_counts(violations: Iterable[Violation]) -> dict[str, dict[str, int]]:
    """Return the number of violations by broker and rule."""
    counts: dict[str, dict[str, int]] = {}
    for (broker, rule), number in sorted(Counter((one.broker, one.rule) for one in violations).items()):
        counts.setdefault(broker, {})[rule] = number
    return counts


def audit_provenance(where: str, metadata: Path | None, backend: str) -> dict[str, Any]:
    """Return the provenance of an audit, as far as it can be read here; an audit has no seed."""
    try:
        traced = files.read_metadata(Path(where)) if metadata is None else files.read_metadata_file(metadata)
        of = {"subject": traced.source, "system": traced.system}
    except UsageError:
        of = {}
    on_spark = backend not in ("local", "replay")
    versions = content.tool_versions_with("duckdb", "pyarrow", *(["pyspark"] if on_spark else []))
    names = {"backend": backend, "engine": "spark" if on_spark else backend}
    return {**of, "trace": where, **names, "versions": versions}


def rows_table(trace: Path, violation: Violation) -> Table:
    """Return a table of the rows around a violation, with the violating row marked."""
    title = escape_unprintable(f"{violation.rule}: the rows around seq {violation.seq} of broker {violation.broker}")
    table = Table("", "seq", "row", title=title, title_justify="left", title_style="")
    for row in inspect.rows_near(trace, violation.broker, violation.seq):
        text = "  ".join(f"{name}={value}" for name, value in row.items() if name not in {"seq", "broker"})
        table.add_row(">" if row["seq"] == violation.seq else "", str(row["seq"]), Text(escape_unprintable(text)))
    return table


def verdict_names(verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    """Return verdicts by rule as JSON names them."""
    return {rule: verdict.value for rule, verdict in verdicts.items()}


VIOLATIONS_MAX: Final = 50
"""The number of violations that a page shows with their rows; each one reads parts of its broker again."""

TIMELINE_EVENTS: Final = 60
"""The number of events before and after a violation that the page draws."""

EVENT_COLUMNS: Final = ("seq", "op", "cause")
"""The columns that say which event a row is."""

HIDDEN_COLUMNS: Final = frozenset({"broker", "value"})
"""Columns that a table of rows leaves out."""


def violations_with_rows(trace: Path, violations: Iterable[Violation], system: str) -> list[dict[str, Any]]:
    """Return some violations with the rows around them, as JSON; `system` is that of the trace.

    They are the first of each rule and broker, then the second of each, and so on, because one mistake of a cache may
    break a rule a thousand times. A part that cannot be read any more ends the list: the audit has read it, and its
    result counts.
    """
    excerpts: list[dict[str, Any]] = []
    with contextlib.suppress(UsageError):
        for violation in itertools.islice(_in_turns(violations), VIOLATIONS_MAX):
            excerpts.append(_violation_with_rows(trace, violation, system))
    return excerpts


def _in_turns(violations: Iterable[Violation]) -> list[Violation]:
    """Return the violations in turns: the first of each rule and broker, then the second of each, and so on."""
    counts: Counter[tuple[str, str]] = Counter()
    turns: list[tuple[int, Violation]] = []
    for violation in violations:
        turns.append((counts[violation.rule, violation.broker], violation))
        counts[violation.rule, violation.broker] += 1
    return [violation for _, violation in sorted(turns, key=lambda one: one[0])]


def _violation_with_rows(trace: Path, violation: Violation, system: str) -> dict[str, Any]:
    near = inspect.rows_near(trace, violation.broker, violation.seq, TIMELINE_EVENTS)
    rows = [row for row in near if abs(row["seq"] - violation.seq) <= inspect.ROWS_EACH_SIDE]
    columns, needed = _ordered_columns(rows, violation, system)
    return {
        "rule": violation.rule,
        "broker": violation.broker,
        "seq": violation.seq,
        "expected": violation.expected,
        "observed": violation.observed,
        "columns": columns,
        "needed": needed,
        "rows": [[str(row.get(name, "")) for name in columns] for row in rows],
        "bad": next((at for at, row in enumerate(rows) if row["seq"] == violation.seq), -1),
        "bytes": [[row["seq"], row["bytes_after"]] for row in near],
        **inspect.bounds_at(trace, violation.broker, violation.seq),
    }


def _ordered_columns(rows: list[dict[str, Any]], violation: Violation, system: str) -> tuple[list[str], int]:
    """Return the columns of the rows, and how many of them the verdict needs; these come first.

    The verdict needs the event, the columns that its text names, and the columns that the file of the rule names.
    """
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in HIDDEN_COLUMNS]
    words = set(re.findall(r"\w+", f"{violation.expected} {violation.observed}"))
    in_text = [name for name in columns if name in words]
    needed = [name for name in dict.fromkeys([*EVENT_COLUMNS, *in_text]) if name in columns]
    needed += [name for name in named_columns(violation.rule, system, columns) if name not in needed]
    return [*needed, *(name for name in columns if name not in needed)], len(needed)
