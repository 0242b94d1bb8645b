"""The command `entrycache faults`: list the seeded faults that the suite can be tested on.

Each fault has a name that `conform` and `serve` take, a rule that it breaks, and a short case that shows it. The cases
come from `entrycache_faults`.
"""

import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_conformance.systems import SYSTEMS
from entrycache_faults.model import load_catalogue


@click.command("faults")
@json_option
@exits_with_code
def command(as_json: bool) -> int:
    """List the seeded faults, each with its rule and the length of a case that shows it."""
    cases = load_catalogue(SYSTEMS)
    if as_json:
        exhibits = {
            name: {"rules": list(case.rules), "note": case.note, "steps": len(case.steps)}
            for name, case in cases.items()
        }
        echo(json.dumps({"schema": 1, "exhibits": exhibits}))
        return 0
    table = Table(title="seeded faults: entrycache conform NAME", title_justify="left")
    for column in ("name", "rule", "what is wrong", "steps"):
        table.add_column(column, overflow="fold")
    for name, case in cases.items():
        table.add_row(Text(name), Text(", ".join(case.rules)), Text(case.note), str(len(case.steps)))
    make_console().print(table)
    return 0
