"""Options that several commands share, and the decorator of commands that return their exit code.

`subject_options` adds the options of every command that takes a subject, and `choose_subject` turns their values into a
`SubjectChoice`. `exits_with_code` wraps a command that returns its exit code.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from entrycache_cli.commands.exit_codes import print_error
from entrycache_cli.report.terminal import echo
from entrycache_conformance.judge import Definition
from entrycache_conformance.resolve import TIMEOUT_SECONDS, SubjectChoice
from entrycache_conformance.subjects.processes import StderrListener, SubjectLog
from entrycache_conformance.systems.reference import REFERENCE_NAME
from entrycache_protocol.messages import escape_unprintable, shorten
from entrycache_protocol.subject import TestedSubject

F = TypeVar("F", bound=Callable[..., Any])

SECONDS_MOST: Final = 1_000_000
"""About eleven days, the longest time that a command waits."""


class SecondsRange(click.FloatRange):
    """A click type for seconds; it rejects `nan`, which every comparison lets through."""

    def __init__(self, min_open: bool) -> None:
        super().__init__(min=0, max=SECONDS_MOST, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number if it lies in the range."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number", param, ctx)
        return seconds


def exits_with_code(function: Callable[..., int | None]) -> Callable[..., None]:
    """Wrap a function that returns an exit code as a command that ends with it."""

    @wraps(function)
    def command(*args: Any, **kwargs: Any) -> None:
        sys.exit(function(*args, **kwargs) or 0)

    return command


def print_nothing_checked(reasons: list[str]) -> None:
    """Print the reason of exit 2 for a command that was used correctly and could check nothing."""
    why = shorten(" ".join(reasons[0].split()), 300) if reasons else "no run was judged"
    print_error(f"nothing was checked: {why}")


def subject_options(function: F) -> F:
    """Add --system, --command, --classpath, --subject-log and --timeout to a command."""
    for option in (
        click.option("--timeout", type=SecondsRange(min_open=True), default=TIMEOUT_SECONDS,
                     show_default=True, metavar="S",
                     help="Seconds to wait for a child process, plus 1 ms a step."),
        click.option("--subject-log", type=click.Path(path_type=Path), metavar="FILE",
                     help="Keep what the subject writes to stderr, at most 16 MiB."),
        click.option("--classpath", metavar="PATH", help="Jars or folders that precede a released jar's dependencies."),
        click.option("--command", metavar="CMD", help="A program that speaks the protocol on stdin and stdout."),
        click.option("--system", metavar="S", help="The system, if the subject offers several."),
    ):  # fmt: skip
        function = option(function)
    return function


def choose_subject(subject: str | None, kwargs: dict[str, Any]) -> SubjectChoice:
    """Return the subject that a command line names; what it writes to stderr goes where the options say.

    Raises:
        WriteError: the file of --subject-log cannot be written.
    """
    log = kwargs["subject_log"]
    sinks: list[StderrListener] = [] if log is None else [SubjectLog(log)]
    sinks += [echo_subject_output] if kwargs.get("verbose") else []

    def echo_chunk(chunk: bytes) -> None:
        for sink in sinks:
            sink(chunk)

    named = (subject, kwargs["command"], kwargs["classpath"], kwargs["system"], kwargs["timeout"])
    return SubjectChoice(*named, echo_chunk if sinks else None)


def echo_subject_output(chunk: bytes) -> None:
    """Print on our stderr what a subject writes to its own."""
    for line in chunk.decode("utf-8", "replace").splitlines():
        echo(f"subject: {escape_unprintable(line)}", err=True)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
file_argument = click.argument("file", type=click.Path(path_type=Path))


def definition_for(subject: TestedSubject) -> Definition | None:
    """Return the definition that a run compares a system's reference with; return None for any other subject."""
    if subject.name != REFERENCE_NAME:
        return None
    from entrycache_evidence.core.definitions import find_definition  # noqa: PLC0415 - only the reference needs it

    return find_definition(subject.declaration.system)
