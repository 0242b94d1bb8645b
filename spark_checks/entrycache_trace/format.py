"""What a row of a trace says: of each event which columns it needs, and which it may leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """The rows of one op.

    `causes`: what `cause` may be; empty: it is null. `when` the row is written. `needs`: the columns without which the
    row says nothing, beside `broker`, `seq`, `ts_ns`, `op` and `bytes_after`, which every row has; with causes `cause`
    is one. `may`: those that it has where the recorder knows them.
    """

    op: str
    causes: tuple[str, ...]
    when: str
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """The rows of one system's traces.

    `means`: of each column that they use what it holds; `example`: the rule whose example shows a trace.
    """

    events: tuple[Event, ...]
    means: Mapping[str, str]
    example: str

    @property
    def by_op(self) -> dict[str, Event]:
        """The events by their op."""
        return {event.op: event for event in self.events}


ALWAYS = ("broker", "seq", "ts_ns", "op", "bytes_after")
"""What every row has."""

ANYWHERE = ("call_id", "manager_bytes")
"""What every row may have."""
