"""The command `entrycache`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

import click

from entrycache_cli.ending import OneLineErrors

OWN: Final = (
    *("conform", "campaign", "diff", "serve", "smoke", "replay", "museum", "prove", "bench", "doctor", "rules"),
    *("report", "versions", "init", "subjects", "vectors"),
)
"""The commands that have a module of their name."""


class Commands(OneLineErrors, click.Group):
    """Loads a command when it is asked for: a subject that is served does not wait for what searches and reports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all."""
        return sorted({*OWN, *_others()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name in OWN:
            found: click.Command = import_module(f"entrycache_cli.commands.{cmd_name}").command
            return found
        if cmd_name not in _others():
            # who is told of an unknown command is told of what is alike
            self.commands.update(_others(), **{name: click.Command(name) for name in OWN})
        return _others().get(cmd_name)


@cache
def _others() -> dict[str, click.Command]:
    """`trace` and `audit`, and what a single system has."""
    from entrycache_cli.commands import trace  # noqa: PLC0415
    from entrycache_cli.systems import CLI_PARTS  # noqa: PLC0415

    own = (command for parts in CLI_PARTS.values() for command in parts.commands)
    return {str(command.name): command for command in (*trace.commands(), *own)}


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="entrycache")
def main() -> None:
    """Hold a message broker's entry cache to its rules.

    Exit codes: 0 fine; 1 violations; 2 wrong usage, bad input or nothing checked; 3 a broken subject; 4 something
    that the command needs is missing; 70 an error of entrycache itself; 129, 130 and 143 stopped by SIGHUP, Ctrl-C or
    SIGTERM; 141 the reader of its output has gone. docs/ends.md has them all.
    """
