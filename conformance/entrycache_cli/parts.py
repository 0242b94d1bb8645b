"""What the commands ask of a system besides what the suite knows of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from entrycache_cli.commands.options import F
from entrycache_dev.changed_jars import JarChange
from entrycache_protocol.case import Case


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


class FaultsPart(NamedTuple):
    """What the page of faults tells of a system.

    `groups`: planted faults of `of` by what they are about, with the level at which they are looked for; None: the
    `level_of` their case. `changes` of a released jar, which `changed` tells of.
    """

    groups: Mapping[str, tuple[Collection[str], str | None]]
    level_of: Callable[[Case], str]
    changed: str = ""
    changes: Mapping[str, JarChange] = MappingProxyType({})
    of: str = "our fast cache"


class RecordedBroker(NamedTuple):
    """A real broker that `trace record --broker` starts.

    `record` takes release, preset, messages, the folder of the trace, and what is told how far it is.
    """

    release: str
    """The one that is taken where none is named."""
    record: Callable[[str, str | None, int | None, Path, Callable[[str], None]], int]


class CliParts(NamedTuple):
    """What commands know of one system: its own in the group `trace`, the settings of its brokers, its page of faults.

    A system needs none of them.
    """

    trace_commands: tuple[click.Command, ...] = ()
    settings_file: SettingsFile | None = None
    faults: FaultsPart | None = None
    broker: RecordedBroker | None = None
