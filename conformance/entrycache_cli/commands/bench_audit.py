"""`entrycache bench audit`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import write_text

SIZES_MOST = 1_000_000_000


@click.command("audit")
@click.option("--sizes", default="1000000,5000000", show_default=True, help="Events of the traces, the smallest first.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Interleaved rounds.")
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--profile", is_flag=True, help="Instead, each question of one audit, on DuckDB and on Spark's SQL.")
@click.option(
    "--page", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a page in Markdown."
)
@json_option
@exits_with_code
def command(sizes: str, rounds: int, master: str, profile: bool, page: Path | None, as_json: bool) -> int:
    """Measure audits on Spark beside DuckDB alone and trivial aggregates of the same files.

    Exit 1 where a ratio misses its target.
    """
    from entrycache_cli.commands.audit import spinner  # noqa: PLC0415
    from entrycache_dev.audit_bench import measure_audits  # noqa: PLC0415
    from entrycache_dev.bench.page import require_matplotlib  # noqa: PLC0415

    wanted = [part.strip() for part in sizes.split(",")]
    if not all(part.isdigit() and 0 < int(part) <= SIZES_MOST for part in wanted):
        raise UsageError(f"--sizes {sizes}: expected numbers of events up to {SIZES_MOST}, with commas between")
    if page is not None:
        require_matplotlib()
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
                Text(item.what), Text(item.shown, style="red" if item.missed else ""), item.target, Text(item.note)
            )
        make_console().print(table)
    if page is not None:
        from entrycache_dev.audit_bench_page import draw_audit_costs  # noqa: PLC0415
        from entrycache_dev.audit_bench_page import render_audit_page as page_of  # noqa: PLC0415

        picture = page.with_suffix(".svg")
        write_text(page, page_of(numbers, picture.name))
        draw_audit_costs(numbers, picture)
    return 1 if numbers.missed else 0


def _profile(events: int, master: str, page: Path | None, as_json: bool) -> int:
    from entrycache_cli.commands.audit import spinner  # noqa: PLC0415
    from entrycache_dev.audit_bench import measure_profile  # noqa: PLC0415
    from entrycache_dev.audit_bench_page import profile_lines, profile_page  # noqa: PLC0415

    with spinner("generating") as say:
        found = measure_profile(events, master, say)
    if page is not None:
        write_text(page, profile_page(found))
    echo(json.dumps(found.to_json()) if as_json else "\n".join(profile_lines(found)))
    return 0
