"""`entrycache rules`."""

from __future__ import annotations

import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.report.terminal import console
from entrycache_evidence.rulebook import check_rules, linked_rules


@click.command("rules")
@click.argument("rule", required=False)
@click.option("--check", is_flag=True, help="Check that text, code, tests, faults and evidence agree.")
@json_option
@ends_with_code
def command(rule: str | None, check: bool, as_json: bool) -> int:
    """Print the rules, or one RULE with all that is linked to it.

    --check exits 1 where a rule is missing a link, never fires, or has a planted fault that nothing catches.
    """
    if check:
        problems = check_rules()
        if as_json:
            found = [problem._asdict() for problem in problems]
            click.echo(json.dumps({"schema": 1, "verdict": "violates" if problems else "conforms", "problems": found}))
        else:
            for problem in problems:
                click.echo(f"{problem.rule}: {problem.what}")
            click.echo(f"{len(problems)} problems")
        return 1 if problems else 0
    shown = linked_rules(rule)
    if as_json:
        click.echo(json.dumps({"schema": 1, "rules": shown}))
        return 0
    if rule is not None:
        for name, value in shown[0].items():
            click.echo(f"{name:10} {', '.join(value) if isinstance(value, list) else value}")
        return 0
    table = Table(title="rules", title_justify="left")
    for column in ("rule", "level", "text"):
        table.add_column(column, overflow="fold")
    for item in shown:
        table.add_row(*(Text(str(item[name])) for name in ("id", "level", "text")))
    console().print(table)
    return 0
