"""One broker's batches, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from entrycache_protocol.errors import UsageError
from entrycache_spark.fold import Folded, GivenUp


class Kept(Protocol):
    """What is kept of one broker between two batches."""

    def follow(self, batch: pa.RecordBatch) -> None:
        """Take in a batch."""

    def end(self) -> Folded:
        """What the events tell, now that there are no more."""


def fold_each(broker: Kept, batches: Iterator[pa.RecordBatch]) -> Folded:
    """Fold them.

    Raises:
        GivenUp: the events are too many, too varied, or not what a trace holds.
    """
    try:
        for batch in batches:
            if len(batch):
                broker.follow(batch)
    except (UsageError, pa.ArrowException, UnicodeDecodeError) as error:
        raise GivenUp(str(error) or type(error).__name__) from None
    return broker.end()
