"""The group `entrycache trace`: generate, record, convert, inspect and check traces.

`commands` returns the group and the command `audit`, or stand-ins that name the missing extra. The subcommands
`explain` and `simulate` stand in `entrycache_cli.commands.simulate` and are imported when they are asked for. `trace
record` plays a case on a subject and writes its rows (`entrycache_cli.commands.record`), or starts a real broker with a
recorder (`kafka_recording`, `pulsar_recording`).
"""

# ruff: noqa: PLC0415 -- a command imports what it runs; pyarrow, DuckDB and Spark are extras

import json
import re
import shlex
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from entrycache_cli.commands import COMMANDS, TRACE_COMMANDS, options
from entrycache_cli.report.run_text import failure_table
from entrycache_cli.report.terminal import echo, make_console, spinner
from entrycache_conformance import failure
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import read_case
from entrycache_protocol.errors import UsageError, describe_value, escape_unprintable, missing_extra

if TYPE_CHECKING:
    from entrycache_trace import entry_life

NEEDED = ("pyarrow", "duckdb", "sqlglot", "xxhash")
"""Packages that the extra `trace` brings."""

MESSAGES_MAX = 10_000_000
"""The largest number of messages that clients of a recorded broker send."""


@cache
def commands() -> dict[str, click.Command]:
    """Return the group `trace` and the command `audit`, or stand-ins that name the missing extra."""
    absent = next((name for name in NEEDED if find_spec(name) is None), None)
    if absent is not None:
        return {name: _missing_extra_command(name, absent) for name in ("trace", "audit")}
    from entrycache_cli.commands.audit import audit

    return {"trace": trace, "audit": audit}


def _missing_extra_command(name: str, module: str) -> click.Command:
    """Return a command that only says which extra it needs."""

    error = missing_extra(name, module, "trace")

    @click.command(
        name,
        help=f"{COMMANDS[name]} {error}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @options.exits_with_code
    def command() -> int:
        raise error

    return command


class TraceCommands(click.Group):
    """The group `trace`, which imports the commands of other modules when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all its commands."""
        return sorted({*self.commands, *TRACE_COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of a name; return None if there is none."""
        if cmd_name in TRACE_COMMANDS:
            module, _, name = TRACE_COMMANDS[cmd_name].partition(":")
            command: click.Command = getattr(import_module(module), name)
            return command
        return self.commands.get(cmd_name)


@click.group("trace", cls=TraceCommands)
def trace() -> None:
    """Generate, record, convert and inspect traces."""


@trace.command("generate")
@click.argument("preset")
@click.option("--events", type=click.IntRange(min=1), required=True, help="The least number of events.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--brokers", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--master",
    help="Let tasks of this Spark write a broker each, into a folder that they share with this process.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object instead of a line.")
@options.settings_options
def generate_command(
    preset: str,
    events: int,
    seed: int,
    brokers: int,
    master: str | None,
    out: Path,
    as_json_: bool,
    **kwargs: Any,
) -> None:
    """Write a conforming trace of a generated workload.

    Presets: tail-fanout, catch-up-fanout; windowed-aggregation of kafka-streams; unequal-topics of pulsar-legacy, and
    unequal-topics-late, whose size passes run later; ring-copies and ring-references of pulsar-segmented.
    """
    from entrycache_trace.generators.generate import generate

    settings = _given_config(kwargs)
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


def _given_config(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Return the configuration of the settings that a command line names, if any.

    Raises:
        UsageError: traces of that system are not generated with settings.
    """
    settings = options.given_settings(kwargs)
    if settings is None:
        return None
    from entrycache_trace.generators.generate import systems_with_settings

    systems = systems_with_settings()
    if settings.system not in systems:
        raise UsageError(f"{settings.reader} is system {settings.system}; traces are generated of {', '.join(systems)}")
    return settings.config


@trace.command("convert")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
def convert_command(source: Path, target: Path) -> None:
    """Convert a folder of Parquet to JSON Lines, or JSON Lines or a recorder's folder to Parquet."""
    from entrycache_trace.convert import convert

    with spinner(f"converting {source}"):
        total = convert(source, target)
    echo(f"{total} events in {escape_unprintable(str(target))}")


@trace.command("inspect")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object instead of tables.")
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
@click.option("--json", "as_json_", is_flag=True, help="Print one JSON object instead of lines.")
@click.pass_context
def check_command(context: click.Context, source: Path, as_json_: bool) -> None:
    """Check the format of the rows in a folder of Parquet or a file of JSON Lines.

    Exit 0: all rows have the format; 1: some do not; 2: TRACE cannot be read.
    """
    from entrycache_spark.check import check_trace

    with spinner(f"checking {source}"):
        check = check_trace(source)
    if as_json_:
        problems = [
            {"text": one.text, "rows": one.rows, "first": [{"broker": b, "seq": s} for b, s in one.first]}
            for one in check.problems
        ]
        about = {"schema": 1, "system": check.system, "rows": check.rows, "problems": problems}
        echo(json.dumps({**about, "notes": list(check.notes), "untold": check.untold}))
    else:
        for line in (*map(str, check.problems), *check.notes):
            echo(escape_unprintable(line))
        for name, rules in check.untold.items():
            echo(f"{name} is in no row; an audit cannot check {', '.join(rules)}")
        verdict = "not as the format says" if check.problems else "as the format says"
        echo(f"{check.rows} events of {check.system}: {verdict}")
    context.exit(1 if check.problems else 0)


@trace.command("why")
@click.argument("directory", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "--cache", "cache_name", required=True, metavar="C", help="The managed ledger, or the namespace of a store."
)
@click.option("--position", metavar="L:E", help="The entry's ledger and entry numbers.")
@click.option("--key", metavar="TEXT", help="The entry's key (Kafka Streams), as UTF-8 text.")
@click.option("--key-hash", type=int, metavar="N", help="Its `key_hash` in the trace, for a key that is no text.")
@click.option("--broker", metavar="NAME", help="Only this broker. [default: each that has the cache]")
@options.json_option
@options.exits_with_code
def why_command(
    directory: Path,
    cache_name: str,
    position: str | None,
    key: str | None,
    key_hash: int | None,
    broker: str | None,
    as_json: bool,
) -> int:
    """Tell in plain sentences why an entry was in the cache or not.

    Each insertion, hit, requeue, removal and miss is a sentence, with the settings that decided it. Exit 0: also
    if the trace has no event of the entry; 2: TRACE cannot be read or has no such cache.
    """
    from entrycache_trace import entry_life

    entry = _entry_named(directory, cache_name, position, key, key_hash)
    lives = entry_life.read_entry(directory, entry, broker)
    if as_json:
        echo(json.dumps(entry_life.life_json(entry, lives)))
    else:
        echo("\n".join(map(escape_unprintable, entry_life.life_lines(entry, lives))))
    return 0


POSITION = re.compile(r"(-?[0-9]{1,18}):(-?[0-9]{1,18})", re.ASCII)


def _entry_named(
    directory: Path, cache_name: str, position: str | None, key: str | None, key_hash: int | None
) -> "entry_life.Entry":
    """Return the entry that the options of `trace why` name.

    Raises:
        UsageError: they name none or several, or not in the way of the trace's system.
    """
    from entrycache_spark.common.system import AUDITED
    from entrycache_trace import entry_life, files
    from entrycache_trace.formats.kafka_streams import key_hash as hash_of_key

    system = files.read_metadata(directory).system
    if system not in AUDITED:
        raise UsageError(f"{directory}: no format of traces of {system}; there are of {', '.join(AUDITED)}")
    if not any("entry_id" in event.needs for event in AUDITED[system].format.events):
        if position is not None or (key is None) == (key_hash is None):
            raise UsageError(f"{directory}: entries of {system} have keys; expected --key TEXT or --key-hash N")
        named = key_hash if key is None else hash_of_key(key)
        label = f"key_hash {key_hash}" if key is None else f"key {describe_value(key)}"
        return entry_life.Entry(cache_name, label, key_hash=named)
    if position is None or key is not None or key_hash is not None:
        raise UsageError(f"{directory}: entries of {system} have positions; expected --position LEDGER:ENTRY")
    match = POSITION.fullmatch(position)
    if match is None:
        raise UsageError(f"--position is {describe_value(position)}; expected LEDGER:ENTRY, such as 12:345")
    return entry_life.Entry(cache_name, f"position {position}", position=(int(match[1]), int(match[2])))


@trace.command("record")
@click.argument("subject", required=False)
@options.subject_options
@click.option("--case", "case_file", type=click.Path(path_type=Path), help="The case to play.")
@click.option("--broker", is_flag=True, help="Start and record a real broker instead of a case.")
@click.option("--release", metavar="V", help="The broker's release (default: 4.2.4; Kafka: 4.3.1).")
@click.option("--preset", metavar="NAME", help="The workload of a Pulsar broker's clients (default: mixed).")
@click.option(
    "--messages", type=click.IntRange(min=100, max=MESSAGES_MAX), help="The number of messages that they send."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder for the trace.")
@options.json_option
@options.exits_with_code
def record_command(
    subject: str | None, case_file: Path | None, broker: bool, out: Path, as_json: bool, **kwargs: Any
) -> int:
    """Play a case on SUBJECT, or start a real broker (--broker), and write the events as a trace.

    Our fast cache writes its own rows. For any other subject the rows are the reference's and every outcome is compared
    (exit 1: they differ); the trace says that it is no evidence about the subject.

    A broker is a standalone Pulsar on this machine's loopback interface with a recorder in it. Real clients use it with
    a preset: mixed, steady, tiny, deletion, full-rate. For Kafka Streams (--system) it is a KRaft broker and an
    application in one process.
    """
    if broker:
        if subject is not None or case_file is not None:
            raise UsageError("--broker records the broker alone; expected neither a subject nor --case")
        return _record_broker(out, as_json, kwargs)
    if case_file is None:
        raise UsageError("nothing to record; expected --case FILE and a subject, or --broker")
    from entrycache_cli.commands.kafka_recording import PLAYERS
    from entrycache_cli.commands.record import record, require_traces

    case = read_case(case_file, SYSTEMS)
    require_traces(case, str(case_file))
    choice = options.choose_subject(subject, kwargs)
    tested = options.open_subject_of_case(case_file, choice, case.system.name)
    try:
        recording = record(tested, case, out, PLAYERS)
    finally:
        tested.close()
    if as_json:
        summary = {"schema": 1, "out": str(out), "events": recording.events, "own_rows": recording.own_rows}
        summary["rules"] = list(recording.rules)
        summary["verdict"] = "violates" if recording.failure else "conforms"
        echo(json.dumps(summary))
    else:
        if recording.failure is not None:
            make_console().print(failure_table(failure.build_case_table(recording.failure, recording.rules)))
        whose = "its own rows" if recording.own_rows else "the reference's rows, no evidence about the subject"
        echo(f"{recording.events} events of {tested.name} in {escape_unprintable(str(out))}: {whose}")
    return 1 if recording.failure is not None else 0


def _record_broker(out: Path, as_json: bool, kwargs: dict[str, Any]) -> int:
    """Record a broker, and print where its trace is and how to audit it."""
    from entrycache_cli.commands import kafka_recording, pulsar_recording

    brokers = {broker.system: broker for broker in (pulsar_recording.BROKER, kafka_recording.BROKER)}
    system = kwargs["system"] or next(iter(brokers))
    if system not in brokers:
        raise UsageError(f"there is no broker of system {system} to record; there are {', '.join(brokers)}")
    broker = brokers[system]
    release = kwargs["release"] or broker.release
    with spinner("recording a broker") as say:
        events = broker.record(release, kwargs["preset"], kwargs["messages"], out, say)
    if as_json:
        echo(json.dumps({"schema": 1, "out": str(out), "events": events, "system": system, "release": release}))
    else:
        echo(f"{events} events of a broker {release} in {escape_unprintable(str(out))}")
        echo(f"audit it: entrycache audit {shlex.quote(escape_unprintable(str(out)))} --backend local")
    return 0
