"""The command `entrycache policies`: replay the same requests through Pulsar's caches and other cache policies.

Requests come from recorded traces, from files in the oracleGeneral format, or from presets that are made up here. The
work is done by `entrycache_league`, whose packages (numba, matplotlib, pyarrow) are an extra. The results are tables,
JSON, or a page with pictures.
"""

# ruff: noqa: PLC0415 -- numba, numpy, pyarrow and matplotlib are extras

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, Progress, TimeElapsedColumn

from entrycache_cli.commands.options import exits_with_code, json_option
from entrycache_cli.report.terminal import description_column, echo, make_console
from entrycache_protocol.errors import UsageError, escape_unprintable, missing_extra

if TYPE_CHECKING:
    from entrycache_league.comparison import PolicyComparison
    from entrycache_league.requests import Requests

REQUESTS = 200_000
REQUESTS_MOST = 100_000_000
NEEDED_PACKAGES = ("numba", "matplotlib", "pyarrow")
"""Packages that the extra `league` brings."""

PAGE_STEPS = 200
"""About how many steps the page takes: one for each policy and preset, or each number of topics."""


@click.command("policies")
@click.argument("traces", nargs=-1, type=click.Path(path_type=Path), metavar="[TRACE]...")
@click.option("--preset", "presets", multiple=True, metavar="P", help="Generated requests (repeatable).")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="Only these policies (repeatable).")
@click.option(
    "--capacity", type=click.IntRange(min=1), metavar="BYTES", help="The capacity (default: a twentieth of all bytes)."
)
@click.option(
    "--requests",
    type=click.IntRange(min=100, max=REQUESTS_MOST),
    help="The approximate number of requests of a preset. [default: 200000]",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The seed of the presets.")
@click.option(
    "--ttl-millis",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="The time to live of Pulsar's caches.",
)
@click.option("--no-curve", is_flag=True, help="Print only the table, for one capacity.")
@click.option("--costs", "with_costs", is_flag=True, help="Also measure a request's cost with 10 to 100,000 topics.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for the JSON and the pictures (SVG).")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write the requests as oracleGeneral.")
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page with pictures for all presets and TRACEs; into FILE.json, its numbers alone.",
)
@json_option
@exits_with_code
def command(
    traces: tuple[Path, ...],
    presets: tuple[str, ...],
    policies: tuple[str, ...],
    capacity: int | None,
    requests: int | None,
    seed: int,
    ttl_millis: int,
    no_curve: bool,
    with_costs: bool,
    out: Path | None,
    write: Path | None,
    page: Path | None,
    as_json: bool,
) -> int:
    """Replay the same requests through the caches of Pulsar and through other cache policies.

    TRACE is a folder of a recorded trace, a file *.oracleGeneral or *.oracleGeneral.bin, also with .zst, or a CSV of
    requests as libCacheSim publishes them. Exit 2: wrong usage or input; 4: the extra `league` is missing.
    """
    _require_extra()
    from entrycache_league.comparison import compare_policies, measure_costs
    from entrycache_league.policies import BrokerSettings, select_policies
    from entrycache_league.report import comparison_table, comparisons_json, cost_table

    if page is not None:
        return _write_comparison_page(page, traces, presets)
    names = select_policies(policies)
    if not traces and not presets and not with_costs:
        raise UsageError("nothing to replay; expected a trace, --preset P, --costs or --page FILE")
    inputs = _read_requests(traces, presets, requests or REQUESTS, seed)
    if write is not None:
        return _write_requests(inputs, write)
    broker = BrokerSettings(ttl_nanos=ttl_millis * 1_000_000)
    with _progress_bar(len(names) * (len(inputs) + 3 * with_costs)) as progress:
        leagues = [compare_policies(each, names, capacity, not no_curve, broker, progress) for each in inputs]
        costs_found = measure_costs([name for name in names if name != "belady"], progress) if with_costs else []
    if as_json:
        echo(json.dumps(comparisons_json(leagues, costs_found)))
    else:
        for league in leagues:
            make_console().print(comparison_table(league))
        if costs_found:
            make_console().print(cost_table(costs_found))
    if out is not None:
        _write_pictures(leagues, out, json.dumps(comparisons_json(leagues, costs_found), indent=1))
        if not as_json:
            echo(f"numbers and pictures in {escape_unprintable(str(out))}")
    return 0


def _require_extra() -> None:
    absent = next((name for name in NEEDED_PACKAGES if find_spec(name) is None), None)
    if absent is not None:
        raise missing_extra("policies", absent, "league")


@contextmanager
def _progress_bar(steps: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on stderr if that is a terminal; yield a function that advances it by one policy."""
    out = make_console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), description_column())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("", total=steps)
        yield lambda text: progress.update(task, description=text, advance=1)


def _read_requests(traces: tuple[Path, ...], presets: tuple[str, ...], count: int, seed: int) -> list[Requests]:
    from entrycache_league.sources import preset_requests, read_requests

    costs_found: list[Requests] = []
    for name in presets:
        costs_found += preset_requests(name, count, seed)
    for path in traces:
        costs_found += read_requests(path)
    return costs_found


def _write_requests(requests: list[Requests], path: Path) -> int:
    from entrycache_league.sources import write_oracle_general

    if len(requests) != 1:
        raise UsageError(f"--write takes the requests of one broker; {len(requests)} were given")
    echo(f"{write_oracle_general(requests[0], path)} requests in {escape_unprintable(str(path))}")
    return 0


def _write_comparison_page(path: Path, traces: tuple[Path, ...], presets: tuple[str, ...]) -> int:
    from entrycache_league.page import measure_page, write_page

    if presets:
        raise UsageError("--page covers all presets; expected traces, but no --preset")
    inputs = _read_requests(traces, (), REQUESTS, 0)
    with _progress_bar(PAGE_STEPS) as progress:
        numbers = measure_page(inputs, progress)
    write_page(numbers, path)
    echo(f"{escape_unprintable(str(path))} is written")
    return 0


def _write_pictures(leagues: list[PolicyComparison], out: Path, text: str) -> None:
    from entrycache_league.report import draw_curves
    from entrycache_protocol.files import write_text

    write_text(out / "league.json", text + "\n")
    for league in leagues:
        if league.curve:
            draw_curves(league, out / f"{league.name.replace('/', '-').replace(' ', '-')}.svg")
