"""The eras of the broker's cache settings."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from entrycache_protocol.errors import UsageError


class Release(NamedTuple):
    """What an era stands on: the release whose classes were read, and the system that it implements."""

    version: str
    system: str


class Era(Enum):
    """A line of releases with the same settings; the value is its name on the command line."""

    PULSAR_4_0 = "4.0"
    PULSAR_4_2 = "4.2"
    PULSAR_5_0 = "5.0"

    @property
    def release(self) -> Release:
        """The release that stands for the era."""
        return RELEASES[self]


RELEASES = {
    Era.PULSAR_4_0: Release("4.0.8", "pulsar-legacy"),
    Era.PULSAR_4_2: Release("4.2.4", "pulsar-pip430"),
    Era.PULSAR_5_0: Release("5.0.1", "pulsar-pip430"),
}


def era_named(name: str) -> Era:
    """The era of that name.

    Raises:
        UsageError: there is no such era; the line names those that there are.
    """
    try:
        return Era(name)
    except ValueError:
        raise UsageError(f"unknown era {name!r}; expected one of: {', '.join(era.value for era in Era)}") from None
