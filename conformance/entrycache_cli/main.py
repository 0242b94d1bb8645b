"""The command `entrycache`."""

from __future__ import annotations

import click

from entrycache_cli.commands import (
    bench,
    campaign,
    conform,
    diff,
    doctor,
    museum,
    prove,
    replay,
    report,
    rules,
    serve,
    smoke,
    trace,
    versions,
)
from entrycache_cli.commands.options import OneLineErrors
from entrycache_cli.systems import CLI_PARTS


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="entrycache")
def main() -> None:
    """Hold a message broker's entry cache to its rules.

    Exit codes: 0 fine; 1 violations; 2 wrong usage, bad input or nothing checked; 3 a broken subject; 4 something
    that the command needs is missing.
    """


for module in (
    conform,
    campaign,
    diff,
    serve,
    smoke,
    replay,
    museum,
    prove,
    bench,
    doctor,
    rules,
    report,
    versions,
):
    main.add_command(module.command)
for command in (*trace.commands(), *(own for parts in CLI_PARTS.values() for own in parts.commands)):
    main.add_command(command)
