"""`entrycache museum`."""

from __future__ import annotations

import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.seeded import load_catalogue


@click.command("museum")
@json_option
@exits_with_code
def command(as_json: bool) -> int:
    """List the planted faults of our caches, each with its rule and a case that shows it."""
    shown = load_catalogue(SYSTEMS)
    if as_json:
        found = {
            name: {"rules": list(case.rules), "note": case.note, "steps": len(case.steps)}
            for name, case in shown.items()
        }
        echo(json.dumps({"schema": 1, "exhibits": found}))
        return 0
    table = Table(title="planted faults: entrycache conform NAME", title_justify="left")
    for column in ("name", "rule", "what is wrong", "steps"):
        table.add_column(column, overflow="fold")
    for name, case in shown.items():
        table.add_row(Text(name), Text(", ".join(case.rules)), Text(case.note), str(len(case.steps)))
    make_console().print(table)
    return 0
