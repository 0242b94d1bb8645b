"""What a subject of this system cannot take."""

from __future__ import annotations

from dataclasses import dataclass

from entrycache_protocol import limits


@dataclass(frozen=True, slots=True)
class Limits(limits.Limits):
    """The limits of `kafka-streams`; all are about histories.

    `concurrent_resize` False: no client resizes where a listener has steps. `crossed_listeners` False: no ring of
    listeners that use one another's namespaces. `concurrent_clear` False: no client clears or closes.
    `exact_counts_under_threads` False: the thread's counters are not judged.
    """

    concurrent_resize: bool = True
    crossed_listeners: bool = True
    concurrent_clear: bool = True
    exact_counts_under_threads: bool = True
