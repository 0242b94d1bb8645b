"""The command `entrycache settings`, and the options of commands that run with a broker's settings.

`command` prints what each cache setting of a broker.conf does. `conform`, `trace generate` and `audit` take the same
file: `settings_options` adds the options, `given_settings` takes their values out of a command's arguments and reads
the file, and `config_for` returns the configuration for cases of the subject's system. The settings themselves are
read by `entrycache_cli.settings`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import click

from entrycache_cli.commands.options import F, exits_with_code, json_option
from entrycache_cli.report.terminal import echo, make_console
from entrycache_cli.settings.pulsar_effective import (
    DIRECT_MEMORY_BYTES,
    read_effective_settings,
    settings_json,
    settings_table,
)
from entrycache_cli.settings.pulsar_table import era_named
from entrycache_protocol.errors import UsageError
from entrycache_protocol.subject import TestedSubject


class GivenSettings(NamedTuple):
    """The settings of a file that a command line names.

    `config` has the names that cases of the system use; `reader` says which line of releases reads the file.
    """

    system: str
    path: Path
    reader: str
    config: dict[str, Any]

    @property
    def source(self) -> str:
        """The name of the settings in messages."""
        return f"{self.path} in {self.reader}"


direct_memory_option = click.option(
    "--direct-memory-mb",
    type=click.IntRange(min=1),
    default=DIRECT_MEMORY_BYTES >> 20,
    show_default=True,
    metavar="MB",
    help="The broker's -XX:MaxDirectMemorySize, on which a default depends.",
)


@click.command("settings")
@click.option("--broker-conf", required=True, type=click.Path(path_type=Path), help="A broker's configuration.")
@click.option("--era", required=True, metavar="4.0|4.2|5.0", help="The line of releases that reads it.")
@direct_memory_option
@json_option
@exits_with_code
def command(broker_conf: Path, era: str, direct_memory_mb: int, as_json: bool) -> int:
    """Show what each cache setting of a broker.conf does, and the effective configuration."""
    effective = read_effective_settings(broker_conf, era_named(era), direct_memory_mb << 20)
    if as_json:
        echo(json.dumps(settings_json(effective)))
        return 0
    out = make_console()
    out.print(settings_table(effective))
    out.print(f"effective configuration: {json.dumps(effective.config)}", soft_wrap=True)
    out.print(
        f"a scheduled pass every {effective.interval_millis} ms; direct memory {direct_memory_mb} MB; "
        f"{effective.passed_over} settings that are not the cache's were ignored",
        soft_wrap=True,
    )
    return 0


def settings_options(function: F) -> F:
    """Add --broker-conf, --era and --direct-memory-mb to a command that runs with a broker's settings."""
    for option in (
        direct_memory_option,
        click.option("--era", metavar="4.0|4.2|5.0", help="The line of releases that reads --broker-conf."),
        click.option("--broker-conf", type=click.Path(path_type=Path), help="Run with this broker's cache settings."),
    ):
        function = option(function)
    return function


def given_settings(kwargs: dict[str, Any]) -> GivenSettings | None:
    """Remove the options of `settings_options` from the arguments; return the settings that they name, if any.

    Raises:
        UsageError: --broker-conf or --era is missing, or the file cannot be read.
    """
    path, era = kwargs.pop("broker_conf"), kwargs.pop("era")
    memory = kwargs.pop("direct_memory_mb")
    if (path is None) != (era is None):
        raise UsageError("--broker-conf and --era go together: the same file means other things in other releases")
    if path is None:
        return None
    effective = read_effective_settings(path, era_named(era), memory << 20)
    return GivenSettings(effective.era.release.system, path, f"era {effective.era.value}", effective.config)


def config_for(given: GivenSettings, subject: TestedSubject) -> dict[str, Any]:
    """Return the configuration, with the names that cases of the subject's system use.

    Raises:
        UsageError: the settings are of another system.
    """
    if given.system != subject.declaration.system.name:
        raise UsageError(f"{given.reader} is system {given.system}; {subject.name} is another one")
    return given.config
