"""The command `entrycache smoke`: play one small case for each operation, the first thing to run for a new adapter."""

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands import options
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance import replay, resolve
from entrycache_protocol import codec, errors
from entrycache_protocol.subject import FailureKind


@click.command("smoke")
@click.argument("subject", required=False)
@options.subject_options
@options.json_option
@options.exits_with_code
def command(subject: str | None, as_json: bool, **kwargs: Any) -> int:
    """Play one small case for each operation on SUBJECT: the first thing to run while writing an adapter.

    A run that is stopped prints the operations judged so far. Exit 0: every offered operation passed of which something
    is compared; 1: one failed; 2: nothing could be played, or nothing is compared.
    """
    tested = resolve.resolve_subject(options.choose_subject(subject, kwargs))
    try:
        results = replay.run_smoke_cases(tested)
    except errors.Interrupted as stopped:
        if stopped.partial_result:
            _say(tested.name, stopped.partial_result, as_json)
        raise
    finally:
        options.close_subject(tested)
    _say(tested.name, results, as_json)
    verdict = replay.smoke_verdict(results)
    if verdict is errors.Verdict.NOTHING_CHECKED:
        options.print_nothing_checked([f"{result.op}: {result.verdict}" for result in results])
    return verdict.exit_code


def _say(name: str, results: list[replay.SmokeResult], as_json: bool) -> None:
    if as_json:
        ops = {result.op: {"verdict": result.verdict, "rules": list(result.rules)} for result in results}
        echo(json.dumps({"schema": 1, "subject": name, "verdict": replay.smoke_verdict(results).value, "ops": ops}))
    else:
        _show(name, results)


def _show(name: str, results: list[replay.SmokeResult]) -> None:
    table = Table(title=Text(f"{name}: one case for each operation"), title_justify="left")
    for column in ("op", "verdict", "what"):
        table.add_column(column, overflow="fold")
    for result in results:
        table.add_row(
            result.op, Text(result.verdict, style="red" if result.verdict == "failed" else ""), Text(_what(result))
        )
    make_console().print(table)


def _what(result: replay.SmokeResult) -> str:
    if result.difference is None or result.case is None:
        return ""
    difference = result.difference
    failed = difference.failed
    got = (
        f"{failed.trouble.value} ({failed.message})"
        if failed is not None and failed.trouble is FailureKind.HANG
        else failed.message
        if failed is not None
        else codec.format_json(result.case.system.wire.write_outcome(difference.got))
    )
    op = result.case.steps[difference.at]
    expected = codec.format_json(result.case.system.wire.write_outcome(difference.expected))
    rules = ", ".join(result.rules)
    return (
        f"step {difference.at}, {type(op).name} {codec.format_arguments(op)}: expected {expected}, got {got} ({rules})"
    )
