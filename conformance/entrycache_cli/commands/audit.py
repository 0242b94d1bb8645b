"""The command `entrycache audit`: check a recorded trace against the rules of its system.

`audit` passes the trace to `entrycache_spark`, which returns a result with a verdict for each rule. The result is
printed as a table or as JSON, and written as JUnit XML or HTML on request. A trace is a folder of this machine, or
something that only Spark finds, such as `s3a://..` or a table. `entrycache_cli.commands.trace` checks first that the
extra `trace` is installed.
"""

# ruff: noqa: PLC0415 -- a command imports what it runs; pyarrow, DuckDB and Spark are extras

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from entrycache_cli.commands import options
from entrycache_cli.report.terminal import spinner
from entrycache_protocol.errors import Interrupted, UsageError, WriteError

if TYPE_CHECKING:
    from entrycache_spark.common.results import AuditResult

DEFAULT_OUT = Path("entrycache-audit")
BACKENDS = ("spark", "spark-checker", "spark-duckdb", "sql", "local", "replay")
ONE_OPTION = "is now --backend NAME; expected one of " + ", ".join(BACKENDS)


def _refuse_former_option(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Name the option that replaces `--engine` and `--kernel`."""
    if value is not None:
        raise UsageError(f"{option.opts[0]} {ONE_OPTION}")


@click.command("audit")
@click.argument("where", metavar="TRACE")
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default="spark",
    show_default=True,
    help="The backend: Spark, with what its tasks have (spark), the single-pass checker or DuckDB in its tasks, or its "
    "SQL (sql); DuckDB on this machine (local); or the reference (replay).",
)
@click.option("--engine", hidden=True, expose_value=False, callback=_refuse_former_option)
@click.option("--kernel", hidden=True, expose_value=False, callback=_refuse_former_option)
@click.option("--master", default="local[*]", show_default=True, help="The Spark master.")
@click.option("--rules", multiple=True, help="Rule ids, separated by commas (default: all).")
@click.option("--out", type=click.Path(path_type=Path), default=DEFAULT_OUT, show_default=True)
@click.option(
    "--live-slots",
    type=click.IntRange(min=1),
    default=1_000_000,
    show_default=True,
    help="The largest number of live slots in a replay.",
)
@click.option(
    "--metadata",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The metadata of a trace that Spark finds (default: _entrycache.json in or above it).",
)
@click.option(
    "--new-only",
    is_flag=True,
    help="Check only brokers whose parts have changed since the last run into --out, and report only new violations; "
    "exit 1 if there are any.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit 2 instead of 0 if no rule was decided for some broker, or a broker has no rows.",
)
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object instead of a table.")
@options.report_options
@options.settings_options
@click.pass_context
def audit(
    context: click.Context,
    /,
    where: str,
    backend: str,
    master: str,
    rules: tuple[str, ...],
    out: Path,
    live_slots: int,
    metadata: Path | None,
    new_only: bool,
    strict: bool,
    as_json_: bool,
    junit: Path | None,
    html: Path | None,
    **kwargs: Any,
) -> None:
    """Check a recorded trace against the rules.

    TRACE is a folder. With the backend spark it may also be a place that Spark finds: s3a://.., hdfs://.., file:///..,
    a quoted pattern, or table:NAME with --metadata. An audit that is stopped prints the rules decided so far and writes
    no files. Exit 0: conforms; 1: violations; 2: nothing checked or bad input.
    """
    from entrycache_cli.report.audit import (
        audit_json,
        audit_provenance,
        print_audit,
        strict_message,
        violations_with_rows,
    )
    from entrycache_spark.folders import VIOLATIONS_NAME, audit_new_brokers
    from entrycache_spark.folders import audit_folder as run_audit

    given = options.given_settings(kwargs)
    if given is not None:
        _require_settings(given, Path(where))
    ids = tuple(part.strip() for item in rules for part in item.split(",") if part.strip())
    if rules and not ids:
        raise UsageError("--rules is empty; expected ids of rules such as R-EVICT-8, with commas")
    read_by_spark = _for_spark(where, backend, metadata)
    if read_by_spark is not None and new_only:
        raise UsageError(f"{where}: --new-only is for a folder of this machine; it compares the files of parts")
    try:
        with spinner("reading the trace") as say:
            if read_by_spark is not None:
                result = read_by_spark(where, master, ids, out, metadata=metadata, progress=say)
            else:
                judge = audit_new_brokers if new_only else run_audit
                result = judge(
                    Path(where),
                    backend,
                    master,
                    ids,
                    out,
                    max_live_slots=live_slots,
                    progress=say,
                )
    except Interrupted as stopped:
        unwritten = "not written: the audit was stopped; these are the rules decided by then"
        print_audit(stopped.partial_result, unwritten, audit_provenance(where, metadata, backend), as_json_)
        raise
    written = "not written" if result.unwritten else f"in {out / VIOLATIONS_NAME}"
    provenance = audit_provenance(where, metadata, backend)
    trace = None if read_by_spark else Path(where)
    rows = []
    if trace is not None and (as_json_ or html is not None):
        rows = violations_with_rows(trace, result.violations, str(provenance.get("system", "")))
    print_audit(result, written, provenance, as_json_, trace, rows)
    if junit is not None or html is not None:
        options.ReportFiles({"junit": junit, "html": html}).write([{**audit_json(result, provenance), "shown": rows}])
    if result.unwritten:
        raise WriteError(result.unwritten)
    if result.exit_code == 2:
        options.print_nothing_checked(list(result.notes) or ["no row of the trace decided a rule"])
    if strict and result.exit_code == 0 and (message := strict_message(result)):
        raise UsageError(message)
    context.exit(result.exit_code)


def _require_settings(given: options.GivenSettings, where: Path) -> None:
    """Refuse a trace that was not recorded with the given settings."""
    from entrycache_simulate.configs import require_settings

    require_settings(where, given.config, given.system, given.source)


def _for_spark(where: str, backend: str, metadata: Path | None) -> Callable[..., AuditResult] | None:
    """Return the function that audits a trace which only Spark finds; return None for a folder of this machine."""
    from entrycache_trace.files import is_spark_location

    if not is_spark_location(where):
        if metadata is not None:
            raise UsageError(f"--metadata is for a trace that Spark finds; {where} is a folder, which has its own")
        return None
    if backend != "spark":
        raise UsageError(f"{where}: --backend {backend} reads folders of this machine; expected --backend spark")
    from entrycache_spark.locations import audit_location

    return audit_location
