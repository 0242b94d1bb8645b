"""The command `entrycache settings`, which prints what each cache setting of a broker.conf does.

The settings are read by `entrycache_cli.settings`. Other commands run with them: see `settings_options`.
"""

import json
from pathlib import Path

import click

from entrycache_cli.commands.options import direct_memory_option, exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_cli.settings import pulsar_effective, pulsar_table


@click.command("settings")
@click.option("--broker-conf", required=True, type=click.Path(path_type=Path), help="A broker's configuration.")
@click.option("--era", required=True, metavar="4.0|4.2|5.0", help="The line of releases that reads it.")
@direct_memory_option
@json_option
@exits_with_code
def command(broker_conf: Path, era: str, direct_memory_mb: int, as_json: bool) -> int:
    """Show what each cache setting of a broker.conf does, and the effective configuration."""
    effective = pulsar_effective.read_effective_settings(
        broker_conf, pulsar_table.era_named(era), direct_memory_mb << 20
    )
    if as_json:
        echo(json.dumps(pulsar_effective.settings_json(effective)))
        return 0
    out = make_console()
    out.print(pulsar_effective.settings_table(effective))
    out.print(f"effective configuration: {json.dumps(effective.config)}", soft_wrap=True)
    out.print(
        f"a scheduled pass every {effective.interval_millis} ms; direct memory {direct_memory_mb} MB; "
        f"{effective.passed_over} settings that are not the cache's were ignored",
        soft_wrap=True,
    )
    for warning in effective.memory.warnings():
        out.print(f"warning: {warning}", soft_wrap=True)
    return 0
