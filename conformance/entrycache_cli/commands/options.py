"""Options that several commands share, and how errors end a command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from entrycache_conformance.subjects.resolve import Choice
from entrycache_protocol.errors import EntrycacheError, OurError
from entrycache_protocol.wire import cut

F = TypeVar("F", bound=Callable[..., Any])


class OneLineErrors(click.Group):
    """The whole command line: a user's error becomes one line on stderr and its exit code, in every command."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and end the process with its exit code."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = 2
        except click.exceptions.Abort:
            code = 130
        except click.ClickException as error:
            print(f"entrycache: {' '.join(error.format_message().split()).rstrip('.')}; see --help", file=sys.stderr)
            code = 2
        except EntrycacheError as error:
            print(f"entrycache: {error}", file=sys.stderr)
            code = error.exit_code
        except OurError as error:
            said = cut(" ".join(str(error).split()), 500)
            print(f"entrycache: an error of entrycache itself, not of the subject; report it: {said}", file=sys.stderr)
            code = 70
        except BrokenPipeError:
            sys.stderr.close()
            code = 0
        sys.exit(code if isinstance(code, int) else 0)


def ends_with_code(function: Callable[..., int | None]) -> Callable[..., None]:
    """A command that answers its exit code."""

    @wraps(function)
    def command(*args: Any, **kwargs: Any) -> None:
        sys.exit(function(*args, **kwargs) or 0)

    return command


def say_nothing_checked(reasons: list[str]) -> None:
    """One line on stderr for exit 2 where the usage was right: what kept the command from checking."""
    why = cut(" ".join(reasons[0].split()), 300) if reasons else "no run was judged"
    print(f"entrycache: nothing was checked: {why}", file=sys.stderr)


def subject_options(function: F) -> F:
    """--system, --command, --classpath and --timeout, wherever a subject may stand."""
    for option in (
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
                     metavar="S", help="Seconds for an answer of a child process, beside 1 ms a step."),
        click.option("--classpath", metavar="PATH", help="Jars or folders in front of a released jar's dependencies."),
        click.option("--command", metavar="CMD", help="A program that speaks the protocol on stdin and stdout."),
        click.option("--system", metavar="S", help="The system, where a subject offers several."),
    ):  # fmt: skip
        function = option(function)
    return function


def choice_of(subject: str | None, kwargs: dict[str, Any]) -> Choice:
    """The subject that the command line means."""
    return Choice(subject, kwargs["command"], kwargs["classpath"], kwargs["system"], kwargs["timeout"])


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
file_argument = click.argument("file", type=click.Path(path_type=Path))
