"""The commands `trace` and `audit`; the main command line adds them with `add_command`."""

# ruff: noqa: PLC0415 -- a command imports what it runs; pyarrow, DuckDB and Spark are extras

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from entrycache_cli.commands.options import print_nothing_checked
from entrycache_cli.commands.report import ReportFiles, report_options
from entrycache_cli.report.terminal import description_column, echo, make_console
from entrycache_protocol.errors import Interrupted, UsageError, WriteError
from entrycache_protocol.messages import escape_unprintable

if TYPE_CHECKING:
    from entrycache_spark.common.results import AuditResult

DEFAULT_OUT = Path("entrycache-audit")


@contextmanager
def spinner(first: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is going on and for how long."""
    columns = (SpinnerColumn(), description_column(), TimeElapsedColumn())
    out = make_console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(first, total=None)
        yield lambda text: progress.update(task, description=text)


@click.group()
def trace() -> None:
    """Make, convert and look at recorded traces."""


@trace.command("generate")
@click.argument("preset")
@click.option("--events", type=click.IntRange(min=1), required=True, help="At least so many events.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--brokers", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--master",
    help="Let tasks of this Spark write the brokers, one each, into a folder that they and this process share.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--json", "as_json_", is_flag=True, help="One JSON object instead of a line.")
def generate_command(
    preset: str,
    events: int,
    seed: int,
    brokers: int,
    master: str | None,
    out: Path,
    as_json_: bool,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write an honest trace of a made-up workload.

    Presets: tail-fanout, catch-up-fanout; windowed-aggregation of kafka-streams; unequal-topics of pulsar-legacy, and
    unequal-topics-late, whose size passes wait until they are run; ring-copies and ring-references of pulsar-segmented.
    """
    from entrycache_trace.generators.generate import generate

    with spinner(f"generating {events} events") as say:
        done = 0

        def count(more: int) -> None:
            nonlocal done
            done += more
            say(f"generated {done} of {events} events")

        if master is None:
            total = generate(preset, events, seed, out, brokers, count, settings)
        else:
            from entrycache_spark.locations import generate_in_tasks

            write = partial(generate_in_tasks, master=master)
            total = generate(preset, events, seed, out.absolute(), brokers, count, settings, write=write)
    if as_json_:
        echo(json.dumps({"schema": 1, "out": str(out), "events": total, "brokers": brokers, "seed": seed}))
    else:
        echo(f"{total} events of {brokers} broker(s) in {escape_unprintable(str(out))}")


@trace.command("convert")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
def convert_command(source: Path, target: Path) -> None:
    """Write a folder of Parquet as JSON Lines; or JSON Lines, or a recorder's folder, as a folder of Parquet."""
    from entrycache_trace.convert import convert

    with spinner(f"converting {source}"):
        total = convert(source, target)
    echo(f"{total} events in {escape_unprintable(str(target))}")


@trace.command("inspect")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--json", "as_json_", is_flag=True, help="One JSON object instead of tables.")
def inspect_command(directory: Path, as_json_: bool) -> None:
    """Show brokers, events by kind, gaps and metadata of a trace."""
    from entrycache_trace.inspect import print_summary, summarize, summary_json

    summary = summarize(directory)
    if as_json_:
        echo(json.dumps(summary_json(summary)))
    else:
        print_summary(summary, make_console())


@trace.command("check")
@click.argument("source", metavar="TRACE", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json_", is_flag=True, help="One JSON object instead of lines.")
@click.pass_context
def check_command(context: click.Context, source: Path, as_json_: bool) -> None:
    """Hold the rows of a folder of Parquet, or of a file of JSON Lines, to the format; exit 0 they are as it says, 1
    some are not, 2 TRACE cannot be read."""
    from entrycache_spark.check import check_trace

    with spinner(f"checking {source}"):
        found = check_trace(source)
    if as_json_:
        problems = [
            {"text": one.text, "rows": one.rows, "first": [{"broker": b, "seq": s} for b, s in one.first]}
            for one in found.problems
        ]
        about = {"schema": 1, "system": found.system, "rows": found.rows, "problems": problems}
        echo(json.dumps({**about, "notes": list(found.notes), "untold": found.untold}))
    else:
        for line in (*map(str, found.problems), *found.notes):
            echo(escape_unprintable(line))
        for name, rules in found.untold.items():
            echo(f"{name} is told in no row; an audit cannot check {', '.join(rules)}")
        verdict = "not as the format says" if found.problems else "as the format says"
        echo(f"{found.rows} events of {found.system}: {verdict}")
    context.exit(1 if found.problems else 0)


@click.command()
@click.argument("where", metavar="TRACE")
@click.option("--engine", type=click.Choice(["spark", "local", "replay"]), default="spark", show_default=True)
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option(
    "--kernel",
    type=click.Choice(["fold", "duckdb", "sql"]),
    help="What evaluates the rules on Spark: the fold in its tasks (default), DuckDB there, or its SQL.",
)
@click.option("--rules", multiple=True, help="Rule ids, separated by commas; default: all.")
@click.option("--out", type=click.Path(path_type=Path), default=DEFAULT_OUT, show_default=True)
@click.option(
    "--live-slots", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Replay gives up above."
)
@click.option(
    "--metadata",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The file that says what TRACE is, where Spark finds that; default: the _entrycache.json in or above it.",
)
@click.option(
    "--new-only",
    is_flag=True,
    help="Judge the brokers of a folder whose parts have changed since the last run into --out, and tell only "
    "violations that were not told; exit 1 if there are any.",
)
@click.option(
    "--strict", is_flag=True, help="Exit 2, not 0, where of some broker no rule was decided: all is inconclusive."
)
@click.option("--json", "as_json_", is_flag=True, help="One JSON object instead of a table.")
@report_options
@click.pass_context
def audit(
    context: click.Context,
    where: str,
    engine: str,
    master: str,
    kernel: str | None,
    rules: tuple[str, ...],
    out: Path,
    live_slots: int,
    metadata: Path | None,
    new_only: bool,
    strict: bool,
    as_json_: bool,
    junit: Path | None,
    html: Path | None,
) -> None:
    """Check a recorded trace; exit 0 conforms, 1 violations, 2 nothing checked or bad input.

    TRACE is a folder; with --engine spark also what Spark finds: s3a://.., hdfs://.., file:///.., a quoted pattern, or
    table:NAME with --metadata. An audit that is stopped while it looks for violations tells the rules that were decided
    by then, and writes nothing.
    """
    from entrycache_cli.report.audit import (
        audit_json,
        audit_provenance,
        print_audit,
        undecided_message,
        violations_with_rows,
    )
    from entrycache_spark.folders import VIOLATIONS_NAME, audit_new_brokers
    from entrycache_spark.folders import audit_folder as run_audit

    ids = tuple(part.strip() for item in rules for part in item.split(",") if part.strip())
    elsewhere = _for_spark(where, engine, kernel, metadata)
    if elsewhere is not None and new_only:
        raise UsageError(f"{where}: --new-only is for a folder of this machine; it compares the files of parts")
    try:
        with spinner("reading the trace") as say:
            if new_only:
                result = audit_new_brokers(
                    Path(where), engine, master, ids, out, kernel=kernel, max_live_slots=live_slots, progress=say
                )
            elif elsewhere is not None:
                result = elsewhere(where, master, ids, out, metadata=metadata, progress=say)
            else:
                result = run_audit(
                    Path(where), engine, master, ids, out, kernel=kernel, max_live_slots=live_slots, progress=say
                )
    except Interrupted as stopped:
        unwritten = "not written: the audit was stopped; these are the rules decided by then"
        print_audit(stopped.so_far, unwritten, audit_provenance(where, metadata, engine), as_json_, None)
        raise
    written = "not written" if result.unwritten else f"in {out / VIOLATIONS_NAME}"
    made = audit_provenance(where, metadata, engine)
    print_audit(result, written, made, as_json_, None if elsewhere else Path(where))
    if junit is not None or html is not None:
        rows = [] if elsewhere or html is None else violations_with_rows(Path(where), result.violations)
        ReportFiles({"junit": junit, "html": html}).write([{**audit_json(result, made), "shown": rows}])
    if result.unwritten:
        raise WriteError(result.unwritten)
    if result.exit_code == 2:
        print_nothing_checked(list(result.notes))
    if strict and result.exit_code == 0 and result.undecided:
        raise UsageError(undecided_message(result))
    context.exit(result.exit_code)


def _for_spark(where: str, engine: str, kernel: str | None, metadata: Path | None) -> Callable[..., AuditResult] | None:
    """What audits a trace that Spark is to find; None: it is a folder of this machine."""
    from entrycache_trace.files import is_spark_location

    if not is_spark_location(where):
        if metadata is not None:
            raise UsageError(f"--metadata is for a trace that Spark finds; {where} is a folder, which has its own")
        return None
    if engine != "spark" or kernel == "sql":
        chosen = f"--engine {engine}" if engine != "spark" else "--kernel sql"
        raise UsageError(f"{where}: {chosen} reads folders of this machine; expected --engine spark with DuckDB")
    from entrycache_spark.locations import audit_location

    return audit_location
