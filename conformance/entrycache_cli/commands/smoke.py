"""The command `entrycache smoke`: play one small case for each operation, the first thing to run for a new adapter."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import (
    choose_subject,
    exits_with_code,
    json_option,
    print_nothing_checked,
    subject_options,
)
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.replay import SmokeResult, run_smoke_cases, smoke_verdict
from entrycache_conformance.resolve import resolve_subject
from entrycache_protocol.codec import format_arguments, format_json
from entrycache_protocol.errors import Interrupted, Verdict


@click.command("smoke")
@click.argument("subject", required=False)
@subject_options
@json_option
@exits_with_code
def command(subject: str | None, as_json: bool, **kwargs: Any) -> int:
    """Play one small case for each operation on SUBJECT: the first thing to run while writing an adapter.

    A run that is stopped prints the operations judged so far. Exit 0: every offered operation passed; 1: one failed;
    2: nothing could be played.
    """
    tested = resolve_subject(choose_subject(subject, kwargs))
    try:
        results = run_smoke_cases(tested)
    except Interrupted as stopped:
        if stopped.partial_result:
            _say(tested.name, stopped.partial_result, as_json)
        raise
    finally:
        tested.close()
    _say(tested.name, results, as_json)
    verdict = smoke_verdict(results)
    if verdict is Verdict.NOTHING_CHECKED:
        print_nothing_checked([f"{result.op}: {result.verdict}" for result in results])
    return verdict.exit_code


def _say(name: str, results: list[SmokeResult], as_json: bool) -> None:
    if as_json:
        ops = {result.op: {"verdict": result.verdict, "rules": list(result.rules)} for result in results}
        echo(json.dumps({"schema": 1, "subject": name, "verdict": smoke_verdict(results).value, "ops": ops}))
    else:
        _show(name, results)


def _show(name: str, results: list[SmokeResult]) -> None:
    table = Table(title=Text(f"{name}: one case for each operation"), title_justify="left")
    for column in ("op", "verdict", "what"):
        table.add_column(column, overflow="fold")
    for result in results:
        table.add_row(
            result.op, Text(result.verdict, style="red" if result.verdict == "failed" else ""), Text(_what(result))
        )
    make_console().print(table)


def _what(result: SmokeResult) -> str:
    if result.difference is None or result.case is None:
        return ""
    difference = result.difference
    got = (
        difference.failed.message
        if difference.failed
        else format_json(result.case.system.wire.write_outcome(difference.got))
    )
    op = result.case.steps[difference.at]
    expected = format_json(result.case.system.wire.write_outcome(difference.expected))
    rules = ", ".join(result.rules)
    return f"step {difference.at}, {type(op).name} {format_arguments(op)}: expected {expected}, got {got} ({rules})"
