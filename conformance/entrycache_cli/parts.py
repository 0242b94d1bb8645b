"""What the commands ask of a system besides what the suite knows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from entrycache_cli.commands.options import F


class GivenSettings(NamedTuple):
    """The settings in a file that a command line names.

    `config` is what comes out, under the names that cases of the system have for it; `reader`: who reads the file.
    """

    system: str
    path: Path
    reader: str
    config: dict[str, Any]

    @property
    def source(self) -> str:
        """How messages name them."""
        return f"{self.path} in {self.reader}"


class SettingsFile(NamedTuple):
    """A file of settings that commands take.

    `options` are theirs; `given` takes the values of these options out of a command's arguments, and reads the file if
    there is one.
    """

    options: Callable[[F], F]
    given: Callable[[dict[str, Any]], GivenSettings | None]


class Program(NamedTuple):
    """A theme of campaigns that a program in the JVM plays by itself.

    `play` takes subjects, a seed and a number of cases, and gives the record; `kept`: what of it goes into a file.
    """

    play: Callable[[Sequence[str], int, int], dict[str, Any]]
    kept: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record


class JavaText(NamedTuple):
    """How a case becomes a Java file.

    `templates`: the folder of them, in this package; `test.java.j2` is the file's. `call` is the call of the template's
    method for a step; `fill` gives what stands in the template, for a case.
    """

    templates: str
    call: Callable[[Mapping[str, Any]], str]
    fill: Callable[[Mapping[str, Any]], dict[str, Any]]


class Traced(NamedTuple):
    """The trace that a tour audits: of a workload, or where there is no preset of a long case of the generator.

    `not_shown`: the rules that it cannot show. `engines` audit it always, the others in a strict tour only.
    """

    preset: str | None
    not_shown: frozenset[str]
    engines: tuple[str, ...]


class CliParts(NamedTuple):
    """One system as the commands know it. `commands` are its own, `trace_commands` those in the group `trace`."""

    commands: tuple[click.Command, ...]
    java: JavaText
    traced: Traced
    campaigns: Mapping[str, Program]
    trace_commands: tuple[click.Command, ...] = ()
    settings_file: SettingsFile | None = None
