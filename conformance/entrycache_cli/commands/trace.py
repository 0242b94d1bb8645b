"""`entrycache trace ...` and `entrycache audit`: the commands of the audit package, and `trace record`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from entrycache_cli.commands import COMMANDS
from entrycache_cli.commands.options import choose_subject, exits_with_code, json_option, subject_options
from entrycache_cli.commands.settings_file import given_settings, settings_options
from entrycache_cli.parts import GivenSettings
from entrycache_cli.report.run_text import failure_table
from entrycache_cli.report.terminal import echo, make_console
from entrycache_cli.systems import CLI_PARTS
from entrycache_conformance.failure import build_case_table
from entrycache_conformance.resolve import resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.errors import UsageError, missing_extra
from entrycache_protocol.messages import escape_unprintable

NEEDED = ("pyarrow", "duckdb", "sqlglot", "xxhash")
"""What the extra `trace` brings."""

MESSAGES_MOST = 10_000_000
"""That clients of a recorded broker send."""


@cache
def commands() -> dict[str, click.Command]:
    """The group `trace` and the command `audit`, or stand-ins that say what they need."""
    absent = next((name for name in NEEDED if find_spec(name) is None), None)
    if absent is not None:
        return {name: _missing_extra_command(name, absent) for name in ("trace", "audit")}
    from entrycache_cli.commands import audit as cli  # noqa: PLC0415

    cli.trace.add_command(record_command)
    for parts in CLI_PARTS.values():
        for command in parts.trace_commands:
            cli.trace.add_command(command)
    _with_settings(cli.trace.commands["generate"], _generate_with_settings)
    _with_settings(cli.audit, _audit_with_settings)
    return {"trace": cli.trace, "audit": cli.audit}


def _with_settings(command: click.Command, use: Callable[[GivenSettings, dict[str, Any]], None]) -> None:
    """Give a command the options of settings; `use` says what it changes in the command's arguments."""
    run = command.callback
    assert run is not None

    def callback(**kwargs: Any) -> Any:
        settings = given_settings(kwargs)
        if settings is not None:
            use(settings, kwargs)
        return run(**kwargs)

    command.callback = callback
    command.params += click.command()(settings_options(lambda: None)).params


def _generate_with_settings(settings: GivenSettings, kwargs: dict[str, Any]) -> None:
    """A trace recorded with given settings."""
    from entrycache_trace.generators.generate import systems_with_settings  # noqa: PLC0415

    systems = systems_with_settings()
    if settings.system not in systems:
        raise UsageError(f"{settings.reader} is system {settings.system}; traces are generated of {', '.join(systems)}")
    kwargs["settings"] = settings.config


def _audit_with_settings(settings: GivenSettings, kwargs: dict[str, Any]) -> None:
    """A trace that must have been recorded with given settings."""
    from entrycache_simulate.configs import require_settings  # noqa: PLC0415

    require_settings(Path(kwargs["where"]), settings.config, settings.system, settings.source)


def _missing_extra_command(name: str, module: str) -> click.Command:
    """A command that says which extra it needs."""

    lacks = missing_extra(name, module, "trace")

    @click.command(
        name,
        help=f"{COMMANDS[name]} {lacks}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @exits_with_code
    def command() -> int:
        raise lacks

    return command


@click.command("record")
@click.argument("subject", required=False)
@subject_options
@click.option("--case", "case_file", type=click.Path(path_type=Path), help="The case to play.")
@click.option("--broker", is_flag=True, help="Record a real broker, started here, instead of a case.")
@click.option("--release", metavar="V", help="The broker's release; default: 4.2.4, of Kafka 4.3.1.")
@click.option("--preset", metavar="NAME", help="What the clients of a Pulsar broker do; default: mixed.")
@click.option("--messages", type=click.IntRange(min=100, max=MESSAGES_MOST), help="How many messages they send.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder for the trace.")
@json_option
@exits_with_code
def record_command(
    subject: str | None, case_file: Path | None, broker: bool, out: Path, as_json: bool, **kwargs: Any
) -> int:
    """Play a case on SUBJECT, or start a real broker (--broker), and write what happened as a trace.

    Our fast cache writes its own rows. Beside any other subject the rows are the reference's, every outcome is
    compared (exit 1 where they differ), and the trace says that it is no evidence about the subject.

    A broker is a standalone Pulsar on this machine's loopback with a recorder in it; real clients drive it by a preset:
    mixed, steady, tiny, deletion, full-rate. Of the other --system it is a KRaft broker and an application in one
    process.
    """
    if broker:
        if subject is not None or case_file is not None:
            raise UsageError("--broker records what the broker does by itself; expected no subject and no --case")
        return _record_broker(out, as_json, kwargs)
    if case_file is None:
        raise UsageError("nothing was named to record; expected --case FILE and a subject, or --broker")
    from entrycache_cli.commands.record import check_recorded, record  # noqa: PLC0415

    case = read_case(case_file, SYSTEMS)
    check_recorded(case, str(case_file))
    choice = choose_subject(subject, kwargs)
    found = resolve_subject(choice._replace(system=choice.system or case.system.name))
    try:
        recording = record(found, case, out)
    finally:
        found.close()
    if as_json:
        shown = {"schema": 1, "out": str(out), "events": recording.events, "own_rows": recording.own_rows}
        shown["rules"] = list(recording.rules)
        shown["verdict"] = "violates" if recording.failure else "conforms"
        echo(json.dumps(shown))
    else:
        if recording.failure is not None:
            make_console().print(failure_table(build_case_table(recording.failure, recording.rules)))
        whose = "its own rows" if recording.own_rows else "the reference's rows, no evidence about the subject"
        echo(f"{recording.events} events of {found.name} in {escape_unprintable(str(out))}: {whose}")
    return 1 if recording.failure is not None else 0


def _record_broker(out: Path, as_json: bool, kwargs: dict[str, Any]) -> int:
    """Record a broker; where the trace is, and how to audit it."""
    from entrycache_cli.commands.audit import spinner  # noqa: PLC0415

    there = {name: parts.broker for name, parts in CLI_PARTS.items() if parts.broker is not None}
    system = kwargs["system"] or next(iter(there))
    if system not in there:
        raise UsageError(f"there is no broker of system {system} to record; there are {', '.join(there)}")
    broker = there[system]
    release = kwargs["release"] or broker.release
    with spinner("recording a broker") as say:
        events = broker.record(release, kwargs["preset"], kwargs["messages"], out, say)
    if as_json:
        echo(json.dumps({"schema": 1, "out": str(out), "events": events, "system": system, "release": release}))
    else:
        echo(f"{events} events of a broker {release} in {escape_unprintable(str(out))}")
        echo(f"audit it: entrycache audit {shlex.quote(escape_unprintable(str(out)))} --engine local")
    return 0
