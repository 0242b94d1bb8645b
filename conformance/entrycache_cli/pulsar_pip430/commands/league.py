"""`entrycache league`."""

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

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.report.terminal import console, description, echo
from entrycache_protocol.errors import UsageError
from entrycache_protocol.extras import missing
from entrycache_protocol.shown import printable

if TYPE_CHECKING:
    from entrycache_league.league import League
    from entrycache_league.requests import Requests

REQUESTS = 200_000
REQUESTS_MOST = 100_000_000
NEEDED = ("numba", "matplotlib", "pyarrow")
"""What the extra `league` brings."""

PAGE_STEPS = 200
"""About what the page takes: presets, and a line a policy and preset or number of topics."""


@click.command("league")
@click.argument("traces", nargs=-1, type=click.Path(path_type=Path), metavar="[TRACE]...")
@click.option("--preset", "presets", multiple=True, metavar="P", help="Requests made up here (again for more).")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="Only these policies (again for more).")
@click.option("--capacity", type=click.IntRange(min=1), metavar="BYTES", help="Default: a twentieth of all bytes.")
@click.option(
    "--requests", type=click.IntRange(min=100, max=REQUESTS_MOST), help="Of a preset, about so many. [default: 200000]"
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the presets.")
@click.option("--ttl-millis", type=click.IntRange(min=1), default=1_000, show_default=True, help="Of Pulsar's caches.")
@click.option("--no-curve", is_flag=True, help="Only the table, no other capacities.")
@click.option("--costs", "with_costs", is_flag=True, help="Also what a request costs with 10 to 100,000 topics.")
@click.option("--out", type=click.Path(path_type=Path), help="A folder for the JSON and the pictures (SVG).")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write the requests as oracleGeneral.")
@click.option("--page", type=click.Path(path_type=Path, dir_okay=False), help="All presets, as a page with pictures.")
@json_option
@ends_with_code
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
    """Replay the same requests through the caches of Pulsar and through other policies.

    TRACE is a folder of a recorded trace, or a file *.oracleGeneral. Exit 2: wrong usage or input; 4: the extra
    `league` is missing.
    """
    _require()
    from entrycache_league.cost import costs
    from entrycache_league.league import play_league
    from entrycache_league.policies import Broker, named
    from entrycache_league.show import cost_table, table, to_json

    if page is not None:
        return _page(page, traces, presets)
    names = named(policies)
    if not traces and not presets and not with_costs:
        raise UsageError("nothing was named to replay; expected a trace, --preset P, --costs or --page FILE")
    asked = _requests(traces, presets, requests or REQUESTS, seed)
    if write is not None:
        return _write(asked, write)
    broker = Broker(ttl_nanos=ttl_millis * 1_000_000)
    with _bar(len(names) * (len(asked) + 3 * with_costs)) as progress:
        leagues = [play_league(each, names, capacity, not no_curve, broker, progress) for each in asked]
        found = costs([name for name in names if name != "belady"], progress) if with_costs else []
    if as_json:
        echo(json.dumps(to_json(leagues, found)))
    else:
        for league in leagues:
            console().print(table(league))
        if found:
            console().print(cost_table(found))
    if out is not None:
        _pictures(leagues, out, json.dumps(to_json(leagues, found), indent=1))
        if not as_json:
            echo(f"numbers and pictures in {printable(str(out))}")
    return 0


def _require() -> None:
    absent = next((name for name in NEEDED if find_spec(name) is None), None)
    if absent is not None:
        raise missing("league", absent, "league")


@contextmanager
def _bar(steps: int) -> Iterator[Callable[[str], None]]:
    """A bar on stderr, of a terminal alone, that goes on at each policy."""
    out = console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), description())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task("", total=steps)
        yield lambda text: progress.update(task, description=text, advance=1)


def _requests(traces: tuple[Path, ...], presets: tuple[str, ...], count: int, seed: int) -> list[Requests]:
    from entrycache_league.oracle_general import SUFFIX, read_oracle_general
    from entrycache_league.presets import preset
    from entrycache_league.recorded import read_trace

    found: list[Requests] = []
    for name in presets:
        found += preset(name, count, seed)
    for path in traces:
        if path.is_dir() or path.suffix != SUFFIX:
            found += read_trace(path)
        else:
            found.append(read_oracle_general(path))
    return found


def _write(asked: list[Requests], path: Path) -> int:
    from entrycache_league.oracle_general import write_oracle_general

    if len(asked) != 1:
        raise UsageError(f"--write takes the requests of one broker; {len(asked)} were named")
    echo(f"{write_oracle_general(asked[0], path)} requests in {printable(str(path))}")
    return 0


def _page(path: Path, traces: tuple[Path, ...], presets: tuple[str, ...]) -> int:
    from entrycache_league.page import numbers_of, write_page

    if traces or presets:
        raise UsageError("--page tells of all presets; expected no trace and no --preset beside it")
    with _bar(PAGE_STEPS) as progress:
        numbers = numbers_of(progress)
    write_page(numbers, path)
    echo(f"{printable(str(path))} and its pictures are written")
    return 0


def _pictures(leagues: list[League], out: Path, text: str) -> None:
    from entrycache_league.picture import draw_curves
    from entrycache_protocol.output import write_text

    write_text(out / "league.json", text + "\n")
    for league in leagues:
        if league.curve:
            draw_curves(league, out / f"{league.name.replace('/', '-').replace(' ', '-')}.svg")
