"""What an audit found, on a terminal or as JSON, with the rows around the first violations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from entrycache_cli.report.about import versions_with
from entrycache_cli.report.terminal import console, echo
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import printable
from entrycache_spark.verdict import AuditResult, Verdict, Violation
from entrycache_trace.around import around
from entrycache_trace.files import read_metadata, read_metadata_file

SHOWN_WITH_ROWS: Final = 3
"""Violations that a terminal shows with the rows around them."""

BROKERS_NAMED: Final = 5
"""Of those that leave no rule open, and of those that leave all."""


def say_audit(result: AuditResult, where: str, made: Mapping[str, Any], as_json: bool, trace: Path | None) -> None:
    """The verdicts, and of violations, notes and differences the first; `where` the violations are, see `made_of`.

    `trace`: what the rows around the first violations are read from; None: they are not shown.
    """
    if as_json:
        echo(json.dumps(audit_json(result, made)))
        return
    table = Table("rule", "verdict", "violations")
    for rule, verdict in result.rules.items():
        count = sum(violation.rule == rule for violation in result.violations)
        table.add_row(rule, verdict.value, str(count) if count else "")
    shown = console()
    shown.print(table)
    for violation in result.violations[:10]:
        place = f"{violation.rule}: broker {violation.broker}, seq {violation.seq}"
        shown.print(printable(f"{place}: expected {violation.expected}; observed {violation.observed}"))
    if trace is not None:
        for violation in result.violations[:SHOWN_WITH_ROWS]:
            shown.print(rows_around(trace, violation))
    for note in result.notes[:5]:
        shown.print(printable(f"not decided: {note}"))
    for line in whole_brokers(result):
        shown.print(printable(line))
    for difference in result.differences[:5]:
        shown.print(printable(f"differs from the rows before it: {difference}"))
    if result.judged is not None:
        shown.print(f"{len(result.judged)} of {len(result.brokers)} brokers judged anew; above are new violations only")
    by = f" by {result.kernel}" if result.kernel else ""
    shown.print(printable(f"{result.rows} events{by}; {len(result.violations)} violations, {where}"))


def whole_brokers(result: AuditResult) -> list[str]:
    """What is known of the brokers that lack nothing, where another one leaves rules open for all together."""
    whole = {broker: own for broker, own in result.brokers.items() if Verdict.INCONCLUSIVE not in own.values()}
    if not whole or len(whole) == len(result.brokers):
        return []
    names = ", ".join([*whole][:BROKERS_NAMED]) + (", .." if len(whole) > BROKERS_NAMED else "")
    found = [{own[rule] for own in whole.values()} for rule in result.rules]
    broken = sum(Verdict.VIOLATES in verdicts for verdicts in found)
    keep = sum(Verdict.CONFORMS in verdicts for verdicts in found if Verdict.VIOLATES not in verdicts)
    told = f"{len(whole)} of {len(result.brokers)} brokers leave no rule open ({names})"
    return [f"{told}: {keep} rules conform there, {broken} are violated; --json has the verdicts of each broker"]


def nothing_decided(result: AuditResult) -> str:
    """What `--strict` says of the brokers of which no rule was decided."""
    names = ", ".join(result.undecided[:BROKERS_NAMED]) + (", .." if len(result.undecided) > BROKERS_NAMED else "")
    why = f": {result.notes[0]}" if result.notes else ""
    return f"--strict: no rule was decided of {len(result.undecided)} of {len(result.brokers)} brokers ({names}){why}"


def audit_json(result: AuditResult, made: Mapping[str, Any]) -> dict[str, Any]:
    """The result as `--json` prints it; `made` as `made_of` answers."""
    answer = {"schema": 1, "rules": named(result.rules), "violations": len(result.violations)}
    more = {"differences": list(result.differences), "kernel": result.kernel}
    brokers = {broker: named(verdicts) for broker, verdicts in result.brokers.items()}
    judged = {} if result.judged is None else {"judged": list(result.judged)}
    return {**answer, **more, "brokers": brokers, **judged, **made}


def made_of(where: str, metadata: Path | None, engine: str) -> dict[str, Any]:
    """How an audit was made, and of what, where that can be read here; it draws no numbers, so it has no seed."""
    try:
        traced = read_metadata(Path(where)) if metadata is None else read_metadata_file(metadata)
        of = {"subject": traced.source, "system": traced.system}
    except UsageError:
        of = {}
    versions = versions_with("duckdb", "pyarrow", *(["pyspark"] if engine == "spark" else []))
    return {**of, "trace": where, "engine": engine, "versions": versions}


def rows_around(trace: Path, violation: Violation) -> Table:
    """The rows before and behind the one that breaks a rule, which is marked."""
    title = printable(f"{violation.rule}: the rows around seq {violation.seq} of broker {violation.broker}")
    table = Table("", "seq", "row", title=title, title_justify="left", title_style="")
    for row in around(trace, violation.broker, violation.seq):
        told = "  ".join(f"{name}={value}" for name, value in row.items() if name not in {"seq", "broker"})
        table.add_row(">" if row["seq"] == violation.seq else "", str(row["seq"]), Text(printable(told)))
    return table


def named(verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    """Verdicts as JSON has them."""
    return {rule: verdict.value for rule, verdict in verdicts.items()}
