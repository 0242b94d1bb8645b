"""`entrycache smoke`."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import choice_of, ends_with_code, json_option, say_nothing_checked, subject_options
from entrycache_cli.report.terminal import console, echo
from entrycache_conformance.smoke import Look, smoke, verdict_of
from entrycache_conformance.subjects.resolve import resolve
from entrycache_protocol.stopped import Stopped
from entrycache_protocol.text import arguments, compact
from entrycache_protocol.verdict import Verdict


@click.command("smoke")
@click.argument("subject", required=False)
@subject_options
@json_option
@ends_with_code
def command(subject: str | None, as_json: bool, **kwargs: Any) -> int:
    """Play one hand-made case an operation on SUBJECT: the first thing to run while writing an adapter.

    Exit 0: all that is offered passed; 1: something failed; 2: nothing could be played. Stopped, it tells the
    operations that were judged by then.
    """
    found = resolve(choice_of(subject, kwargs))
    try:
        looks = smoke(found)
    except Stopped as stopped:
        if stopped.so_far:
            _say(found.name, stopped.so_far, as_json)
        raise
    finally:
        found.close()
    _say(found.name, looks, as_json)
    verdict = verdict_of(looks)
    if verdict is Verdict.NOTHING_CHECKED:
        say_nothing_checked([f"{look.op}: {look.verdict}" for look in looks])
    return verdict.exit_code


def _say(name: str, looks: list[Look], as_json: bool) -> None:
    if as_json:
        ops = {look.op: {"verdict": look.verdict, "rules": list(look.rules)} for look in looks}
        echo(json.dumps({"schema": 1, "subject": name, "verdict": verdict_of(looks).value, "ops": ops}))
    else:
        _show(name, looks)


def _show(name: str, looks: list[Look]) -> None:
    table = Table(title=Text(f"{name}: one case an operation"), title_justify="left")
    for column in ("op", "verdict", "what"):
        table.add_column(column, overflow="fold")
    for look in looks:
        table.add_row(look.op, Text(look.verdict, style="red" if look.verdict == "failed" else ""), Text(_what(look)))
    console().print(table)


def _what(look: Look) -> str:
    if look.difference is None or look.case is None:
        return ""
    difference = look.difference
    got = (
        difference.failed.message if difference.failed else compact(look.case.system.wire.write_outcome(difference.got))
    )
    op = look.case.steps[difference.at]
    expected = compact(look.case.system.wire.write_outcome(difference.expected))
    rules = ", ".join(look.rules)
    return f"step {difference.at}, {type(op).name} {arguments(op)}: expected {expected}, got {got} ({rules})"
