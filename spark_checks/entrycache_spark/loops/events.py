"""The events of one broker as every fold takes them in, and what it tells of them whatever its rules are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

import pyarrow as pa

from entrycache_spark.fold import Folded
from entrycache_spark.loops.arrays import Names, R, rows_of
from entrycache_spark.loops.in_force import InForce
from entrycache_spark.loops.kinds import Kinds
from entrycache_spark.loops.span import Span, Whole
from entrycache_trace.compiled import Array


class Events(Generic[R]):
    """The names, the settings in force, the kinds of events, and where they begin and end; `rows`: their columns."""

    def __init__(self, rows: type[R], names: Mapping[str, Names], in_force: InForce, kinds: Kinds) -> None:
        self.names, self.in_force, self.kinds, self.span = names, in_force, kinds, Span()
        self._rows = rows

    def read(self, batch: pa.RecordBatch) -> tuple[R, Array]:
        """The arrays of a batch, and the table of the settings that are in force in it.

        Raises:
            GivenUp, UsageError: they are not what a fold decides.
        """
        c = rows_of(batch, self.names, self._rows)
        settings, numbers = self.in_force.follow(c, batch)
        c = c._replace(settings=numbers)
        self.span.follow(c)
        self.kinds.follow(c, settings)
        return c, settings

    def folded(
        self,
        whole: Whole,
        clean: frozenset[str],
        *,
        opened: bool,
        open_bytes: int = 0,
        numbered: bool = False,
        unlinked: bool = False,
        grounds: frozenset[str] = frozenset(),
    ) -> Folded:
        """What the fold tells, now that there are no more."""
        return Folded(
            row_count=self.span.rows,
            first_seq=self.span.first_seq,
            last_seq=self.span.last_seq,
            starts=whole.starts,
            ended=whole.ended,
            numbered=numbered,
            unlinked=unlinked,
            open_bytes=open_bytes,
            opened=opened,
            unread=self.in_force.unread,
            kinds=tuple(self.kinds.of(self.in_force)),
            clean=clean,
            grounds=grounds,
        )
