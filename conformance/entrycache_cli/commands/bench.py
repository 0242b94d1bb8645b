"""`entrycache bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.bench_audit import command as audits
from entrycache_cli.commands.options import json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_protocol.errors import Interrupted
from entrycache_protocol.files import write_text

if TYPE_CHECKING:
    from entrycache_dev.bench.result import BenchResult


@click.group("bench", invoke_without_command=True)
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Interleaved rounds.")
@click.option(
    "--operations", type=click.IntRange(min=1_000), default=1_000_000, show_default=True, help="Operations of a round."
)
@click.option("--released", metavar="VERSION", help="The cursors of that released broker beside ours, in its own JVM.")
@click.option(
    "--streams",
    metavar="VERSION",
    help="The fast cache of a stream thread too, beside the ThreadCache of that version in its own JVM.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Measure nothing but --streams; take the rest from what --json has printed into FILE.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page in Markdown, with its picture beside it.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    rounds: int,
    operations: int,
    released: str | None,
    streams: str | None,
    source: Path | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Measure the fast cache, its cursors, the checked steps and the protocol; ratios are of one run.

    One that is stopped tells what it has measured, and writes no page.
    Exit 1 where a ratio misses its target; 4 where cachetools, for a page matplotlib, or for a released cache
    its jars are missing.
    """
    if context.invoked_subcommand is None:
        context.exit(_measure(rounds, operations, released, streams, source, page, as_json))


command.add_command(audits)


def _measure(
    rounds: int,
    operations: int,
    released: str | None,
    streams: str | None,
    source: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    from entrycache_dev.bench import result as results  # noqa: PLC0415 - slow to import
    from entrycache_dev.bench.page import draw_picture, require_matplotlib  # noqa: PLC0415
    from entrycache_dev.bench.page import render_page as page_of  # noqa: PLC0415

    if page is not None:
        require_matplotlib()
    try:
        result = results.run_bench(rounds, operations, released) if source is None else results.read_result(source)
        if streams is not None:
            result = results.add_streams(result, rounds, operations, streams)
    except Interrupted as stopped:
        if stopped.so_far.measurements:
            _say(stopped.so_far, as_json)
        raise
    _say(result, as_json)
    if page is not None:
        picture = page.with_suffix(".svg")
        write_text(page, page_of(result, picture.name))
        draw_picture(result, picture)
    return 1 if result.missed else 0


def _say(result: BenchResult, as_json: bool) -> None:
    """What was measured."""
    if as_json:
        echo(json.dumps(result.to_json()))
        return
    title = f"median of {result.rounds} interleaved rounds{', stopped' if result.stopped else ''}"
    table = Table(title=title, title_justify="left")
    for column in ("what", "value", "target", "note"):
        table.add_column(column, overflow="fold")
    for item in (*result.measurements, *(() if result.streams is None else result.streams.measurements)):
        style = "red" if item.missed else ""
        table.add_row(Text(item.what), Text(item.shown, style=style), Text(item.target), Text(item.note))
    make_console().print(table)
