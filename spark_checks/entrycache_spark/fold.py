"""What a fold tells of one broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from entrycache_trace.files import Metadata


class GivenUp(Exception):
    """The fold does not decide a broker: another evaluator has to, and says why if the trace is broken."""


class Kind(NamedTuple):
    """Events that are told the same: one of them, what its CONFIG does not name, and how many there are.

    `row` has 1 where a number is told, and also what a rule asks of the settings in force.
    """

    row: Mapping[str, Any]
    untold: frozenset[str]
    events: int


class Folded(NamedTuple):
    """What the events are, and the rules that no event of the broker breaks: `clean`.

    Or the grounds that hold, by their names in the view `settled`: a rule that needs no other is clean, too. Of the
    others nothing is said: their windows have to look.
    """

    row_count: int
    first_seq: int
    last_seq: int
    starts: bool
    ended: bool
    numbered: bool
    unlinked: bool
    open_bytes: int
    opened: bool
    unread: bool
    kinds: tuple[Kind, ...]
    clean: frozenset[str]
    grounds: frozenset[str] = frozenset()


class Fold(Protocol):
    """A system's fold: the events of one broker in the order of seq, in batches of any size."""

    def __call__(self, batches: Iterator[pa.RecordBatch], metadata: Metadata) -> Folded:
        """Fold them.

        Raises:
            GivenUp: it cannot.
        """
