"""The command `entrycache rules`: print the rules with their links, or check that text, code and tests agree."""

import json
from typing import Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import description_column, echo, make_console
from entrycache_evidence.core.rule_registry import Problem, find_rule, load_linked_rules
from entrycache_evidence.rulebook import agreement, examples, render
from entrycache_reference.rules import Rule


@click.command("rules")
@click.argument("rule", required=False)
@click.option("--check", is_flag=True, help="Check that text, code, tests, examples, faults and evidence agree.")
@click.option("--write", is_flag=True, help="Write the answers of spec/examples and the schemas of spec again.")
@json_option
@exits_with_code
def command(rule: str | None, check: bool, write: bool, as_json: bool) -> int:
    """Print the rules, or one RULE with its example and its links.

    --check exits 1 if a rule lacks a link, never fires, has an example that does not show it or a seeded fault that
    nothing catches. It writes nothing. With a RULE it checks that rule only.
    """
    if write:
        agreement.write_rules()
    if check:
        problems = _checked() if rule is None else agreement.check_rule(find_rule(rule))
        if as_json:
            problem_entries = [problem._asdict() for problem in problems]
            echo(
                json.dumps(
                    {"schema": 1, "verdict": "violates" if problems else "conforms", "problems": problem_entries}
                )
            )
        else:
            for problem in problems:
                echo(f"{problem.rule}: {problem.what}")
            echo(f"{len(problems)} problems")
        return 1 if problems else 0
    if write:
        return 0
    rule_entries = load_linked_rules(rule)
    if as_json:
        echo(json.dumps({"schema": 1, "rules": rule_entries}))
        return 0
    if rule is not None:
        for name, value in rule_entries[0].items():
            echo(f"{LABELS.get(name, name):14} {', '.join(value) if isinstance(value, list) else value}")
        _print_example(Rule(rule))
        return 0
    table = Table(title="rules", title_justify="left")
    for column in ("rule", "strength", "text"):
        table.add_column(column, overflow="fold")
    for item in rule_entries:
        table.add_row(*(Text(str(item[name])) for name in ("id", "level", "text")))
    make_console().print(table)
    return 0


LABELS: Final = {
    "level": "strength",
    "faults": "fault subjects",
    "mutants": "seeded faults",
    "trace_checks": "trace checks",
}
"""The words on the screen for keys of `--json` that mean something else in the rest of this project."""


def _checked() -> list[Problem]:
    """Check all rules, with a progress bar on a terminal; return the problems."""
    out = make_console(stderr=True)
    columns = (description_column(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("rules", total=None)
        return agreement.check_rules(lambda done, parts: progress.update(task, completed=done, total=parts))


def _print_example(rule: Rule) -> None:
    """Print the example of a rule: its scenario, a table of steps, and the seeded fault that it catches."""
    example = examples.load_example(rule)
    given, fault = render.describe_settings(example), render.describe_fault(example)
    echo(f"\n{examples.locate_example(rule).name}: {example.content.note}")
    table = Table(title=f"with {given}" if given else None, title_justify="left")
    for column in ("step", "asked", "answered"):
        table.add_column(column, overflow="fold")
    for line in render.tabulate_steps(example):
        table.add_row(*(Text(cell) for cell in line))
    make_console().print(table)
    if fault:
        echo(f"Seeded fault: {fault}")
