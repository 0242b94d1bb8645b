"""The commands `entrycache trace simulate` and `entrycache trace explain`, which replay the calls of a recorded trace.

`simulate_command` replays the calls through the fast cache with other settings and prints how hits and bytes change.
`explain_command` writes the calls up to one event as a case file for `entrycache replay`. Both use
`entrycache_simulate`.
"""

import json
import shlex
from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands import exit_codes, options
from entrycache_cli.report.terminal import echo, make_console
from entrycache_cli.settings import pulsar_effective, pulsar_table
from entrycache_cli.settings.pulsar_table import era_named
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol import errors, files, strict_json
from entrycache_protocol.case import case_from_json, write_case
from entrycache_reference.pulsar_pip430 import NAME
from entrycache_reference.rules import Rule


@click.command("simulate")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="A",
    help="Other settings (repeatable): key=value,key=value, a JSON file, or broker.conf@ERA.",
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder for the tables and the pictures (SVG).")
@click.option("--no-retained", is_flag=True, help="Leave out the model of retained bytes.")
@click.option(
    "--receive-buffers",
    multiple=True,
    metavar="MIN,INITIAL,MAX",
    help="Sizes of the adaptive receive buffers in bytes (repeatable).",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="A limit of the curve (repeatable).",
)
@click.option(
    "--burst-micros",
    type=click.IntRange(min=0),
    default=1_000,
    show_default=True,
    help="Entries of a cache within this time count as one burst.",
)
@options.json_option
@options.exits_with_code
def simulate_command(
    directory: Path,
    configs: tuple[str, ...],
    out: Path | None,
    no_retained: bool,
    receive_buffers: tuple[str, ...],
    limits: tuple[int, ...],
    burst_micros: int,
    as_json: bool,
) -> int:
    """Replay the calls of a recorded trace through the fast cache with other settings.

    Exit 0: the trace's own settings reproduced its hits; 1: they did not; 2: wrong usage or input.
    """
    from entrycache_simulate import report, retained, run  # noqa: PLC0415
    from entrycache_simulate import retained as curves  # noqa: PLC0415

    given = [read_proposed_settings(text) for text in configs]
    kinds = curves.buffer_kinds([retained.ReceiveBuffers(*_receive_buffers(text)) for text in receive_buffers])
    proposed = [sizes for config in given for sizes in [config[2]] if sizes is not None]
    if proposed and not receive_buffers:
        kinds = curves.buffer_kinds(
            [retained.PUBLISH_BUFFERS, *(retained.ReceiveBuffers(*sizes) for sizes in proposed)]
        )
    simulation = run.simulate(directory, [(label, changes) for label, changes, _ in given])
    curve = None
    if not no_retained:
        curve = curves.compute_curve(simulation.brokers, simulation.metadata, kinds, burst_micros * 1_000, limits)
    if as_json:
        echo(json.dumps(report.simulation_json(simulation, curve)))
    else:
        for each in report.render_tables(simulation, curve):
            make_console().print(each)
    if out is not None:
        report.write_report(simulation, curve, out)
        if not as_json:
            echo(f"tables and pictures in {errors.escape_unprintable(str(out))}")
    return _report_self_check(simulation.differences, simulation.metadata.many_threads)


def _report_self_check(differences: tuple[str, ...], many_threads: bool) -> int:
    for line in differences[:5]:
        exit_codes.print_error(f"the trace's own settings do not reproduce it: {line}")
    if differences and many_threads:
        exit_codes.print_error("the calls of the trace's threads overlap: the numbers are estimates")
        return 0
    return 1 if differences else 0


ProposedSettings = tuple[str, dict[str, Any], tuple[int, int, int] | None]
"""Proposed settings: a label, the changed settings, and the receive buffers that a broker.conf proposes."""


def read_proposed_settings(text: str) -> ProposedSettings:
    """Read the settings that a --config names.

    Raises:
        UsageError: they cannot be read.
    """
    path, at, era = text.rpartition("@")
    if at:
        effective = pulsar_effective.read_effective_settings(Path(path), era_named(era))
        if effective.era.release.system != NAME:
            raise errors.UsageError(f"--config {text}: era {era} is system {effective.era.release.system}, not {NAME}")
        lines = {line.setting.name: line for line in effective.lines}
        names = (pulsar_table.RECEIVE_MINIMUM, pulsar_table.RECEIVE_INITIAL, pulsar_table.RECEIVE_MAXIMUM)
        sizes = [lines[name].value for name in names]
        has_sizes = any(lines[name].line is not None for name in names)
        return text, effective.config, tuple(map(int, sizes)) if has_sizes else None  # type: ignore[arg-type, return-value]
    if "=" in text:
        return text, _inline(text), None
    return text, _json_file(Path(text)), None


def _inline(text: str) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise errors.UsageError(f"--config {text}: {part!r} is no key=value")
        if key.strip() in changes:
            raise errors.UsageError(f"--config {text}: {key.strip()} is given twice")
        try:
            changes[key.strip()] = strict_json.parse_json(
                value.replace("_", "") if value.strip()[:1].isdigit() else value
            )
        except ValueError:
            changes[key.strip()] = value.strip()
    return changes


def _json_file(path: Path) -> dict[str, Any]:
    try:
        text = files.read_text(path, "--config")
    except errors.UsageError as error:
        raise errors.UsageError(f"{error}; expected key=value, a JSON file, or broker.conf@ERA") from None
    try:
        value = strict_json.parse_json(text)
    except ValueError as error:
        raise errors.UsageError(
            f"--config {path}: it is not JSON ({error}); a broker.conf is given as {path}@ERA"
        ) from None
    if type(value) is not dict:
        raise errors.UsageError(f"--config {path}: it is no JSON object of settings")
    return value


def _receive_buffers(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise errors.UsageError(f"--receive-buffers {text}: expected three sizes in bytes, MIN,INITIAL,MAX")
    least, initial, most = map(int, parts)
    return least, initial, most


@click.command("explain")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--seq", required=True, type=click.IntRange(min=0), help="The number of the event.")
@click.option("--broker", metavar="NAME", help="The broker of the event, if the trace has several.")
@click.option("--rule", metavar="R", help="The rule that an audit names there; the case keeps it.")
@click.option(
    "--out", default=".", type=click.Path(path_type=Path), help="The folder of the case file (default: here)."
)
@options.json_option
@options.exits_with_code
def explain_command(directory: Path, seq: int, broker: str | None, rule: str | None, out: Path, as_json: bool) -> int:
    """Write the calls of a recorded trace up to one event as a case that `replay` runs.

    Also name the first event that the calls do not produce when they are made again, if there is one. Exit 0: the case
    is written; 2: wrong usage or input.
    """
    from entrycache_simulate.explain import explain_event  # noqa: PLC0415 -- needs the extra `trace`

    if rule is not None and rule not in {each.value for each in Rule}:
        raise errors.UsageError(f"--rule {errors.escape_unprintable(rule)} is no rule; `entrycache rules` lists them")
    explanation = explain_event(directory, broker, seq, () if rule is None else (rule,))
    case = case_from_json(explanation.case, SYSTEMS)
    path = errors.escape_unprintable(str(write_case(case, out, f"event-{seq}")))
    replay = f"entrycache replay {shlex.quote(path)} SUBJECT"
    if as_json:
        value = {"schema": 1, "case": path, "steps": len(case.steps), "replay": replay}
        echo(json.dumps({**value, "unlike": explanation.difference or None, "assumed": list(explanation.assumptions)}))
        return 0
    for line in explanation.assumptions:
        exit_codes.print_error(f"note: {line}")
    echo(f"{len(case.steps)} steps in {path}")
    echo(
        f"unlike the calls: {explanation.difference}"
        if explanation.difference
        else "the calls give every event up to there again"
    )
    echo(f"replay it: {replay}")
    return 0
