"""Themes of campaigns that a program in the JVM plays by itself; a system need not have any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.kafka_streams.kept_promises import promises, to_keep
from entrycache_conformance.systems.pulsar_pip430.containers import containers


class Program(NamedTuple):
    """A theme of campaigns that a program in the JVM plays by itself.

    `play` takes subjects, a seed and a number of cases, and gives the record; `kept`: what of it goes into a file.
    """

    play: Callable[[Sequence[str], int, int], dict[str, Any]]
    kept: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record


PROGRAMS: Final = {
    "containers": Program(containers),
    "promises": Program(promises, to_keep),
}
"""By theme: the containers of cursors alone; the caches of a thread, each step held to what is promised."""
