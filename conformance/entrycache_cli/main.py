"""The command `entrycache`: which commands there are, each loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

import click

from entrycache_cli.commands import COMMANDS, ELSEWHERE
from entrycache_cli.commands.exit_codes import OneLineErrors


class Commands(OneLineErrors, click.Group):
    """Loads a command when it is asked for: a subject that is served does not wait for what searches and reports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            # who is told of an unknown command is told of what is alike
            self.commands.update({name: click.Command(name) for name in COMMANDS})
            return None
        if cmd_name in ("trace", "audit"):
            return _of_traces(cmd_name)
        found: click.Command = import_module(ELSEWHERE.get(cmd_name, f"entrycache_cli.commands.{cmd_name}")).command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def _of_traces(name: str) -> click.Command:
    from entrycache_cli.commands import trace  # noqa: PLC0415

    return trace.commands()[name]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="entrycache")
def main() -> None:
    """Hold a message broker's entry cache to its rules.

    Exit codes: 0 fine; 1 violations; 2 wrong usage, bad input or nothing checked; 3 a broken subject; 4 something
    that the command needs is missing; 70 an error of entrycache itself; 129, 130 and 143 stopped by SIGHUP, Ctrl-C or
    SIGTERM; 141 the reader of its output has gone. docs/reference/exit-codes.md has them all.
    """
