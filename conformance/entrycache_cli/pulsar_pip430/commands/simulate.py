"""`entrycache trace simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands.options import ends_with_code, json_option
from entrycache_cli.ending import say
from entrycache_cli.pulsar_pip430.settings import table
from entrycache_cli.pulsar_pip430.settings.effective import read_effective
from entrycache_cli.pulsar_pip430.settings.era import era_named
from entrycache_cli.report.terminal import console, echo
from entrycache_protocol.errors import UsageError
from entrycache_protocol.input import read_text
from entrycache_protocol.shown import printable
from entrycache_protocol.strict_json import parse
from entrycache_reference.pulsar_pip430 import NAME


@click.command("simulate")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="A",
    help="Other settings (again for more): key=value,key=value, a JSON file, or broker.conf@ERA.",
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder for the tables and the pictures (SVG).")
@click.option("--no-retained", is_flag=True, help="Leave out the model of retained bytes.")
@click.option(
    "--receive-buffers",
    multiple=True,
    metavar="MIN,INITIAL,MAX",
    help="Sizes of the adaptive receive buffers in bytes (again for more).",
)
@click.option(
    "--limit", "limits", multiple=True, type=click.IntRange(min=1), metavar="BYTES", help="A limit of the curve."
)
@click.option(
    "--burst-micros",
    type=click.IntRange(min=0),
    default=1_000,
    show_default=True,
    help="Entries of a cache within this time arrive together.",
)
@json_option
@ends_with_code
def command(
    directory: Path,
    configs: tuple[str, ...],
    out: Path | None,
    no_retained: bool,
    receive_buffers: tuple[str, ...],
    limits: tuple[int, ...],
    burst_micros: int,
    as_json: bool,
) -> int:
    """Replay the calls of a recorded trace through the fast cache under other settings.

    Exit 0: the trace's own settings gave its own hits again, as they must; 1: they did not; 2: wrong usage or input.
    """
    from entrycache_simulate import curve as curves  # noqa: PLC0415
    from entrycache_simulate import receive, run, show  # noqa: PLC0415

    given = [config_of(text) for text in configs]
    kinds = curves.kinds_of([receive.ReceiveBuffers(*_three(text)) for text in receive_buffers])
    proposed = [sizes for config in given for sizes in [config[2]] if sizes is not None]
    if proposed and not receive_buffers:
        kinds = curves.kinds_of([receive.BROKER, *(receive.ReceiveBuffers(*sizes) for sizes in proposed)])
    simulation = run.simulate(directory, [(label, changes) for label, changes, _ in given])
    curve = None
    if not no_retained:
        curve = curves.curve_of(simulation.brokers, simulation.metadata, kinds, burst_micros * 1_000, limits)
    if as_json:
        echo(json.dumps(show.to_json(simulation, curve)))
    else:
        for each in show.tables(simulation, curve):
            console().print(each)
    if out is not None:
        show.write(simulation, curve, out)
        if not as_json:
            echo(f"tables and pictures in {printable(str(out))}")
    return _self_check(simulation.unlike, simulation.metadata.many_threads)


def _self_check(unlike: tuple[str, ...], many_threads: bool) -> int:
    for line in unlike[:5]:
        say(f"the trace's own settings do not give it again: {line}")
    if unlike and many_threads:
        say("the trace is of many threads, whose calls overlap: read the numbers as estimates")
        return 0
    return 1 if unlike else 0


Given = tuple[str, dict[str, Any], tuple[int, int, int] | None]
"""Settings: their label, the changes, and the receive buffers that a broker.conf proposes."""


def config_of(text: str) -> Given:
    """The settings that a --config names.

    Raises:
        UsageError: they cannot be read.
    """
    path, at, era = text.rpartition("@")
    if at:
        effective = read_effective(Path(path), era_named(era))
        if effective.era.release.system != NAME:
            raise UsageError(f"--config {text}: era {era} is system {effective.era.release.system}, not {NAME}")
        lines = {line.setting.name: line for line in effective.lines}
        names = (table.RECEIVE_MINIMUM, table.RECEIVE_INITIAL, table.RECEIVE_MAXIMUM)
        sizes = [lines[name].value for name in names]
        asked = any(lines[name].line is not None for name in names)
        return text, effective.config, tuple(map(int, sizes)) if asked else None  # type: ignore[arg-type, return-value]
    if "=" in text:
        return text, _inline(text), None
    return text, _json_file(Path(text)), None


def _inline(text: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--config {text}: {part!r} is no key=value")
        if key.strip() in changes:
            raise UsageError(f"--config {text}: {key.strip()} is given twice")
        try:
            changes[key.strip()] = parse(value.replace("_", "") if value.strip()[:1].isdigit() else value)
        except ValueError:
            changes[key.strip()] = value.strip()
    return changes


def _json_file(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path, "--config")
    except UsageError as error:
        raise UsageError(f"{error}; expected key=value, a JSON file, or broker.conf@ERA") from None
    try:
        value = parse(text)
    except ValueError as error:
        raise UsageError(f"--config {path}: it is not JSON ({error}); a broker.conf is given as {path}@ERA") from None
    if type(value) is not dict:
        raise UsageError(f"--config {path}: it is no JSON object of settings")
    return value


def _three(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise UsageError(f"--receive-buffers {text}: expected three sizes in bytes, MIN,INITIAL,MAX")
    least, initial, most = map(int, parts)
    return least, initial, most
