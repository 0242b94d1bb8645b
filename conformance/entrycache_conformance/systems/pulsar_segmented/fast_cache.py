"""Our fast cache of `pulsar-segmented` as a subject.

`Adapter` turns operations into calls of the cache and results into outcomes, without any cache logic.
"""

from collections.abc import Callable
from typing import Any, Final

from entrycache_fast.segmented import Row, SegmentedCache
from entrycache_protocol.system import LocalSubject
from entrycache_reference.pulsar_segmented import ops, outcomes
from entrycache_reference.pulsar_segmented.config import Config, Mode
from entrycache_reference.pulsar_segmented.outcomes import EntryView, ErrorKind, Observed, Outcome, Refused, SegmentView
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

DECLARATION: Final[dict[str, Any]] = {
    "ops": [op.name for op in ops.OPS],
    "introspection": ["segments", "current"],
    "payload": True,
}
"""The offer of the fast cache as in a start answer: every key of the configuration varies."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)


class Adapter:
    """An instance of the fast cache: a function from an operation to its outcome. The value of an entry is its token.

    The cache answers a wrong argument with ValueError, which becomes a refusal.
    """

    def __init__(self, cache: SegmentedCache) -> None:
        self.cache = cache
        self._functions: dict[type[Any], Callable[[Any], Outcome]] = {
            ops.Insert: self.insert,
            ops.Get: self.get,
            ops.GetRange: self.get_range,
            ops.Usage: lambda op: outcomes.Usage(len(self.cache), self.cache.size_bytes),
            ops.Observe: self.observe,
        }

    def __call__(self, op: ops.Op) -> Outcome:
        """Return the outcome of one operation."""
        try:
            return self._functions[type(op)](op)
        except ValueError:
            return REFUSED

    def insert(self, op: ops.Insert) -> Outcome:
        """Insert one entry."""
        token = None if op.token is ABSENT else op.token
        return outcomes.Inserted(self.cache.insert(op.cache, *op.pos, op.size, token))

    def get(self, op: ops.Get) -> Outcome:
        """Look one entry up."""
        is_hit, token = self.cache.contains(op.cache, *op.pos), self.cache.get(op.cache, *op.pos)
        if not is_hit:
            return outcomes.Hit(False)
        return outcomes.Hit(True, None if token is None else (token,))

    def get_range(self, op: ops.GetRange) -> Outcome:
        """Look a range up; a range over two ledgers finds nothing."""
        first, last = op.first, op.last
        if first.ledger != last.ledger:
            self.cache.report_query(op.cache, first, last)
            return outcomes.Hits(())
        values = self.cache.get_range(op.cache, first.ledger, first.entry, last.entry)
        if values is None:
            return outcomes.Hits(())
        hits = tuple(Position(first.ledger, entry) for entry in range(first.entry, last.entry + 1))
        return outcomes.Hits(hits, None if None in values else tuple(values))

    def observe(self, op: ops.Observe) -> Outcome:
        """Return the ring."""
        segments = tuple(
            SegmentView(
                segment.offset,
                tuple(EntryView(CacheName(cache), Position(ledger, at)) for cache, ledger, at in segment.entries),
            )
            for segment in self.cache.ring
        )
        return Observed(segments, self.cache.current)


def open_cache(
    config: Config,
    cache_type: type[SegmentedCache] = SegmentedCache,
    on_row: Callable[[Row], None] | None = None,
) -> Adapter:
    """Open an empty instance."""
    return Adapter(cache_type(config.max_size_bytes, config.segments, config.mode is Mode.COPY, on_row))


FAST: Final = LocalSubject(
    DECLARATION, open_cache, open_with_rows=lambda config, on_row: open_cache(config, on_row=on_row)
)
"""The fast cache as a subject."""
