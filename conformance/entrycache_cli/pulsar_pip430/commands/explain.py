"""`entrycache trace explain`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.ending import say
from entrycache_cli.report.terminal import echo
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import from_json, write_case
from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import printable
from entrycache_reference.rules import Rule


@click.command("explain")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--seq", required=True, type=click.IntRange(min=0), help="The number of the event.")
@click.option("--broker", metavar="NAME", help="Whose event it is; needed where the trace has several.")
@click.option("--rule", metavar="R", help="The rule that an audit names there; kept in the case.")
@click.option("--out", default=".", type=click.Path(path_type=Path), help="The folder of the case file; default: here.")
@json_option
@ends_with_code
def command(directory: Path, seq: int, broker: str | None, rule: str | None, out: Path, as_json: bool) -> int:
    """Write the calls of a recorded trace, up to one event, as a case that `replay` runs.

    Also says which event up to there the calls do not give when they are made once more, if there is one. Exit 0: the
    case is written; 2: wrong usage or input.
    """
    from entrycache_simulate.explain import explain  # noqa: PLC0415 -- needs the extra `trace`

    if rule is not None and rule not in {each.value for each in Rule}:
        raise UsageError(f"--rule {printable(rule)} is no rule; `entrycache rules` lists them")
    found = explain(directory, broker, seq, () if rule is None else (rule,))
    case = from_json(found.case, SYSTEMS)
    path = printable(str(write_case(case, out, f"event-{seq}")))
    replay = f"entrycache replay {shlex.quote(path)} SUBJECT"
    if as_json:
        told = {"schema": 1, "case": path, "steps": len(case.steps), "replay": replay}
        echo(json.dumps({**told, "unlike": found.unlike or None, "assumed": list(found.assumed)}))
        return 0
    for line in found.assumed:
        say(f"note: {line}")
    echo(f"{len(case.steps)} steps in {path}")
    echo(f"unlike the calls: {found.unlike}" if found.unlike else "the calls give every event up to there again")
    echo(f"replay it: {replay}")
    return 0
