"""The commands of contributors: benchmarks, and released jars with one changed instruction.

`python -m entrycache_dev COMMAND` runs them. They need a source checkout and are not part of the wheel. Each command
imports what it measures only when it runs. `bench` and `bench-audit` print the numbers of two pages of the
site; `changed-jars` writes the jars that the page of seeded faults is about. The demo
(`python -m entrycache_dev.demo`, `make conform`) and the page generators (`entrycache_dev.pages`) are modules of
their own.
"""

# ruff: noqa: PLC0415 -- each command imports what it runs

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands import exit_codes, options
from entrycache_cli.report.terminal import echo, make_console
from entrycache_protocol import errors, files

if TYPE_CHECKING:
    from entrycache_dev.bench.result import BenchResult

MAX_SIZE: Final = 1_000_000_000
"""The largest number of events that `--sizes` accepts."""


class ContributorCommands(exit_codes.OneLineErrors, click.Group):
    """A group of commands whose errors are one line, as in `entrycache`."""


@click.group(cls=ContributorCommands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure, and write what only contributors need. Run it in a source checkout."""


@main.command("bench")
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
@options.json_option
@options.exits_with_code
def bench(
    rounds: int,
    operations: int,
    released: str | None,
    streams: str | None,
    source: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    """Measure the fast caches, the checked steps and the protocol; compare only numbers of one run.

    A run that is stopped prints the finished measurements and writes no page.
    Exit 1: a ratio misses its target; 4: cachetools, matplotlib (for --page) or a released jar is missing.
    """
    return _measure(rounds, operations, released, streams, source, page, as_json)


def _measure(
    rounds: int,
    operations: int,
    released: str | None,
    streams: str | None,
    source: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    from entrycache_dev.bench import result as results
    from entrycache_dev.bench.page import draw_picture
    from entrycache_dev.bench.page import render_page as page_of

    if page is not None:
        errors.import_matplotlib("bench")
    try:
        result = results.run_bench(rounds, operations, released) if source is None else results.read_result(source)
        if streams is not None:
            result = results.add_streams(result, rounds, operations, streams)
    except errors.Interrupted as stopped:
        if stopped.partial_result.measurements:
            _print_result(stopped.partial_result, as_json)
        raise
    _print_result(result, as_json)
    if page is not None:
        chart = page.with_suffix(".svg")
        files.write_text(page, page_of(result, chart.name))
        draw_picture(result, chart)
    return 1 if result.missed else 0


def _print_result(result: BenchResult, as_json: bool) -> None:
    """Print the measurements as a table or as one JSON object."""
    if as_json:
        echo(json.dumps(result.to_json()))
        return
    title = f"median of {result.rounds} interleaved rounds{', stopped' if result.stopped else ''}"
    table = Table(title=title, title_justify="left")
    for column in ("what", "value", "target", "note"):
        table.add_column(column, overflow="fold")
    for item in (*result.measurements, *(() if result.streams is None else result.streams.measurements)):
        style = "red" if item.missed else ""
        table.add_row(Text(item.what), Text(item.value_text, style=style), Text(item.target), Text(item.note))
    make_console().print(table)


@main.command("bench-audit")
@click.option("--sizes", default="1000000,5000000", show_default=True, help="Events of the traces, the smallest first.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Interleaved rounds.")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--profile", is_flag=True, help="Instead, each question of one audit, on DuckDB and on Spark's SQL.")
@click.option(
    "--page", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a page in Markdown."
)
@options.json_option
@options.exits_with_code
def bench_audit(sizes: str, rounds: int, master: str, profile: bool, page: Path | None, as_json: bool) -> int:
    """Measure audits on Spark; compare them with DuckDB alone and with trivial aggregates of the same files.

    Exit 1: a ratio misses its target.
    """
    from entrycache_cli.report.terminal import spinner
    from entrycache_dev.audit_bench import measure_audits

    wanted = [part.strip() for part in sizes.split(",")]
    if not all(part.isdigit() and 0 < int(part) <= MAX_SIZE for part in wanted):
        raise errors.UsageError(f"--sizes {sizes}: expected numbers of events up to {MAX_SIZE}, with commas between")
    if page is not None:
        errors.import_matplotlib("bench")
    events = sorted({int(part) for part in wanted})
    if profile:
        return _profile(events[0], master, page, as_json)
    with spinner("starting Spark") as say:
        numbers = measure_audits(events, rounds, master, say)
    if as_json:
        echo(json.dumps(numbers.to_json()))
    else:
        table = Table("what", "value", "target", "note", title=f"median of {rounds} rounds", title_justify="left")
        for item in numbers.measurements:
            table.add_row(
                Text(item.what), Text(item.value_text, style="red" if item.missed else ""), item.target, Text(item.note)
            )
        make_console().print(table)
    if page is not None:
        from entrycache_dev.audit_bench_page import draw_audit_costs
        from entrycache_dev.audit_bench_page import render_audit_page as page_of

        chart = page.with_suffix(".svg")
        files.write_text(page, page_of(numbers, chart.name))
        draw_audit_costs(numbers, chart)
    return 1 if numbers.missed else 0


def _profile(events: int, master: str, page: Path | None, as_json: bool) -> int:
    from entrycache_cli.report.terminal import spinner
    from entrycache_dev.audit_bench import measure_profile
    from entrycache_dev.audit_bench_page import profile_lines, profile_page

    with spinner("generating") as say:
        result = measure_profile(events, master, say)
    if page is not None:
        files.write_text(page, profile_page(result))
    echo(json.dumps(result.to_json()) if as_json else "\n".join(profile_lines(result)))
    return 0


@main.command("changed-jars")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@options.exits_with_code
def changed_jars(folder: Path) -> int:
    """Write every changed jar into FOLDER, and print a line each: the name of the change, a tab, the jar."""
    from entrycache_dev.changed_jars import ALL_CHANGES, write_changed_jars

    for name, jar in write_changed_jars(folder, ALL_CHANGES).items():
        echo(f"{name}\t{jar}")
    return 0
