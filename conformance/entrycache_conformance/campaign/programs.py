"""Themes of campaigns that a program in the JVM plays by itself; a system need not have any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_conformance.campaign.kafka_streams import compact_record, run_promise_campaign
from entrycache_conformance.campaign.pulsar_pip430 import run_container_campaign


class Program(NamedTuple):
    """A theme of campaigns that a program in the JVM plays by itself.

    `play` takes subjects, a seed and a number of cases, and gives the record; `kept`: what of it goes into a file.
    """

    play: Callable[[Sequence[str], int, int], dict[str, Any]]
    kept: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record


PROGRAMS: Final = {
    "containers": Program(run_container_campaign),
    "promises": Program(run_promise_campaign, compact_record),
}
"""By theme: the containers of cursors alone; the caches of a thread, each step held to what is promised."""
