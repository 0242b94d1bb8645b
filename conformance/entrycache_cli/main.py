"""The command line `entrycache`: it lists the commands and imports the one that is asked for.

`Commands` is a click group over the table of `entrycache_cli.commands`. A served subject does not wait for the modules
that search and report, and `--help` imports no command. Every command ends with an exit code of
`entrycache_cli.commands.exit_codes`. A former name of a command still works, or says in one line where it went.
"""

from importlib import import_module

import click

from entrycache_cli.commands import ALIASES, COMMANDS, MOVED, exit_codes
from entrycache_protocol.errors import UsageError

IN_TRACE_MODULE = frozenset({"audit", "trace"})
"""Commands that `entrycache_cli.commands.trace` assembles, because they need the extra `trace`."""


class Commands(exit_codes.OneLineErrors, click.Group):
    """The group of all commands, each imported at its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands that are not hidden."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of a name; return None if there is none."""
        name = ALIASES.get(cmd_name, cmd_name)
        if name in MOVED:
            return _moved_command(name)
        if name not in COMMANDS:
            # click suggests similar names from this mapping
            self.commands.update({each: click.Command(each) for each in COMMANDS})
            return None
        if name in IN_TRACE_MODULE:
            from entrycache_cli.commands import trace  # noqa: PLC0415

            return trace.commands()[name]
        command: click.Command = import_module(f"entrycache_cli.commands.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def _moved_command(name: str) -> click.Command:
    """Return a hidden command that says in one line where the former command went."""

    def callback() -> None:
        raise UsageError(f"{name} is not part of the package; run `python -m entrycache_dev {MOVED[name]}` in a clone")

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=callback, hidden=True, context_settings=settings)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="entrycache")
def main() -> None:
    """Check a message broker's entry cache against its rules.

    Exit codes: 0 success; 1 violations; 2 wrong usage, bad input or nothing checked; 3 a broken subject; 4 a missing
    prerequisite; 70 an internal error of entrycache; 129, 130 and 143 stopped by SIGHUP, Ctrl-C or SIGTERM; 141 the
    reader of the output has gone. See docs/reference/exit-codes.md.
    """
