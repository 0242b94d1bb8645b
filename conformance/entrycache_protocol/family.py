"""What a family of released jars is: an adapter, and the releases that it is built for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Absent(NamedTuple):
    """A release that was asked for and is not run; `coordinates` are empty where there never was one."""

    subject: str
    coordinates: str
    resolves: bool
    reason: str


class JavaText(NamedTuple):
    """How a case becomes a Java file.

    `templates`: the folder of them, in `entrycache_conformance`; `test.java.j2` is the file's. `call` is the call of
    the template's method for a step; `fill` gives what stands in the template, for a case. A template that is not in
    the folder is looked for in `like`, that of a related system. `eras`: those of the releases that the file fits;
    none: all.
    """

    templates: str
    call: Callable[[Mapping[str, Any]], str]
    fill: Callable[[Mapping[str, Any]], dict[str, Any]]
    like: str = ""
    eras: tuple[str, ...] = ()


class Family(NamedTuple):
    """A folder of the Maven project with one adapter, and a folder in it for each release."""

    name: str
    """The folder, and the name of a subject before its colon where there is no alias: ``pulsar``."""
    title: str
    """What people call it."""
    system: str
    """The system that its releases implement."""
    coordinates: str
    """Group and artifact of the jar under test."""
    main: str
    """The class that serves the protocol."""
    modules: tuple[str, ...]
    """What else of the Maven project a driver is made of."""
    options: tuple[str, ...] = ()
    """What a driver's JVM is told besides."""
    absent: tuple[Absent, ...] = ()
    """Releases that were asked for and are not run."""
    text: JavaText | None = None
    """How a case becomes a stand-alone test of its jars."""
    alias: str = ""
    """The name of a subject before its colon, where it is another family's: each version belongs to one of them."""
    shares: tuple[str, ...] = ()
    """Files and folders of other families that its drivers are built from."""

    @property
    def called(self) -> str:
        """The name of a subject before its colon: ``pulsar``."""
        return self.alias or self.name

    @property
    def artifact(self) -> str:
        """The name of the jar under test, without its version."""
        return self.coordinates.partition(":")[2]

    @property
    def has_agent(self) -> bool:
        """Whether the released classes are given a virtual clock."""
        return "agent" in self.modules
