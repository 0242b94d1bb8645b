"""Options that several commands share, and the decorator of commands that return their exit code.

`subject_options` adds the options of every command that takes a subject, and `choose_subject` turns their values into a
`SubjectChoice`. `exits_with_code` wraps a command that returns its exit code. `report_options` adds the options that
write results to files, and `ReportFiles` writes them. `settings_options` adds the options of a run with a broker's
settings: `given_settings` takes their values out of a command's arguments and reads the file, and `config_for` returns
the configuration for cases of the subject's system. Formats and settings are imported only if a file is named.
"""

import math
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from entrycache_cli.commands import exit_codes
from entrycache_cli.commands.exit_codes import print_error
from entrycache_cli.report.terminal import echo
from entrycache_cli.settings import DIRECT_MEMORY_BYTES
from entrycache_conformance import judge, resolve
from entrycache_conformance.subjects.processes import StderrListener, SubjectLog
from entrycache_conformance.systems.reference import REFERENCE_NAME
from entrycache_protocol import errors, files
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


def close_subject(subject: TestedSubject) -> None:
    """Close a subject, and say on stderr if its process did not end as it should.

    Raises:
        BrokenSubject: the subject has written more than its answers.
    """
    try:
        subject.close()
    finally:
        if subject.closing_note:
            print_error(subject.closing_note)


def print_nothing_checked(reasons: list[str]) -> None:
    """Print the reason of exit 2 for a command that was used correctly and could check nothing."""
    why = errors.shorten(" ".join(reasons[0].split()), 300) if reasons else "no run was judged"
    print_error(f"nothing was checked: {why}")


def subject_options(function: F) -> F:
    """Add --system, --command, --classpath, --subject-log and --timeout to a command."""
    for option in (
        click.option("--timeout", type=SecondsRange(min_open=True), default=resolve.TIMEOUT_SECONDS,
                     show_default=True, metavar="S",
                     help="Seconds that a run may take, plus 1 ms a step."),
        click.option("--subject-log", type=click.Path(path_type=Path), metavar="FILE",
                     help="Keep what the subject writes to stderr, at most 16 MiB."),
        click.option("--classpath", metavar="PATH", help="Jars or folders that precede a released jar's dependencies."),
        click.option("--command", metavar="CMD",
                     help="A program that speaks the protocol on stdin and stdout; stands in place of SUBJECT."),
        click.option("--system", metavar="S", help="The system, if the subject offers several."),
    ):  # fmt: skip
        function = option(function)
    return function


def open_subject_of_case(file: Path, choice: resolve.SubjectChoice, system: str) -> TestedSubject:
    """Open the subject that is to play a case; an error about the system of the case names the file."""
    try:
        return resolve.resolve_subject(choice._replace(system=choice.system or system))
    except errors.UsageError as error:
        if choice.system is None and str(error).startswith(system):
            raise errors.UsageError(f"{file}: {error}") from None
        raise


def choose_subject(subject: str | None, kwargs: dict[str, Any]) -> resolve.SubjectChoice:
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
    return resolve.SubjectChoice(*named, echo_chunk if sinks else None)


def echo_subject_output(chunk: bytes) -> None:
    """Print on our stderr what a subject writes to its own."""
    for line in chunk.decode("utf-8", "replace").splitlines():
        echo(f"subject: {errors.escape_unprintable(line)}", err=True)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
file_argument = click.argument("file", type=click.Path(path_type=Path))


def definition_for(subject: TestedSubject) -> judge.Definition | None:
    """Return the definition that a run compares a system's reference with; return None for any other subject."""
    if subject.name != REFERENCE_NAME:
        return None
    from entrycache_evidence.core.models import find_definition  # noqa: PLC0415 - only the reference needs it

    return find_definition(subject.declaration.system)


class ReportFiles(NamedTuple):
    """The files to which results are written, by format; None for a format that is not requested."""

    paths: Mapping[str, Path | None]

    def write(self, results: list[dict[str, Any]]) -> None:
        """Write each requested format.

        Raises:
            Unwritten: a file cannot be written.
        """
        requested = [(form, path) for form, path in self.paths.items() if path is not None]
        if not requested:
            return
        with exit_codes.writing_report():
            from entrycache_cli.report.formats import FORMATS  # noqa: PLC0415 - most runs write no report

            for form, path in requested:
                files.write_text(path, FORMATS[form](results))


def report_options(function: F) -> F:
    """Add --junit and --html to a command."""
    kinds = {"html": "one page that needs no network", "junit": "JUnit XML, a test case for each rule and level"}
    for form, what in kinds.items():
        text = f"Also write the result to FILE, as {what}."
        function = click.option(f"--{form}", type=click.Path(path_type=Path), metavar="FILE", help=text)(function)
    return function


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
        raise errors.UsageError(
            "--broker-conf and --era go together: the same file means other things in other releases"
        )
    if path is None:
        return None
    from entrycache_cli.settings.pulsar_effective import read_effective_settings  # noqa: PLC0415 - few runs need it
    from entrycache_cli.settings.pulsar_table import era_named  # noqa: PLC0415

    effective = read_effective_settings(path, era_named(era), memory << 20)
    return GivenSettings(effective.era.release.system, path, f"era {effective.era.value}", effective.config)


def config_for(given: GivenSettings, subject: TestedSubject) -> dict[str, Any]:
    """Return the configuration, with the names that cases of the subject's system use.

    Raises:
        UsageError: the settings are of another system.
    """
    if given.system != subject.declaration.system.name:
        raise errors.UsageError(f"{given.reader} is system {given.system}; {subject.name} is another one")
    return given.config
