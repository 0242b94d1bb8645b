"""`entrycache bench`."""

from __future__ import annotations

import dataclasses
import json

import click
from rich.table import Table
from rich.text import Text

from entrycache_conformance.commands.options import ends_with_code, json_option
from entrycache_conformance.report.terminal import console


@click.command("bench")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Interleaved rounds.")
@click.option(
    "--operations", type=click.IntRange(min=1_000), default=1_000_000, show_default=True, help="Operations of a round."
)
@json_option
@ends_with_code
def command(rounds: int, operations: int, as_json: bool) -> int:
    """Measure the fast cache, the checked steps and the protocol; ratios are of one run.

    Exit 1 where a ratio misses its target.
    """
    from entrycache_conformance.bench import measure  # noqa: PLC0415 - slow to import
    from entrycache_conformance.bench.suite import suite  # noqa: PLC0415

    measurements = [*measure(rounds, operations), *suite(rounds)]
    missed = [item for item in measurements if item.missed]
    if as_json:
        shown = [{**dataclasses.asdict(item), "missed": item.missed} for item in measurements]
        click.echo(json.dumps({"schema": 1, "verdict": "violates" if missed else "conforms", "measurements": shown}))
        return 1 if missed else 0
    table = Table(title=f"median of {rounds} interleaved rounds", title_justify="left")
    for column in ("what", "value", "target", "note"):
        table.add_column(column, overflow="fold")
    for item in measurements:
        style = "red" if item.missed else ""
        table.add_row(Text(item.what), Text(item.shown, style=style), Text(item.target), Text(item.note))
    console().print(table)
    return 1 if missed else 0
