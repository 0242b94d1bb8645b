"""The seeded faults that only an implementation of the cache of `pulsar-segmented` can have, each in one small method.

A model has no sum that drifts from the entries, and hands over no bytes of another entry. The fast cache has these
faults here, one a subclass. Their public names are those of their case files. All other seeded faults are faults of
the reference: see `entrycache_faults.reference.pulsar_segmented.ring`.
"""

from typing import Any, Final

from entrycache_fast.segmented import Segment, SegmentedCache


class BytesOfTheFirst(SegmentedCache):
    """Once the ring has turned, an entry hands over what lies at the start of its segment."""

    def get(self, cache: str, ledger: int, entry: int, default: Any = None) -> Any:
        """Read from the start."""
        segment = self.where.get((cache, ledger, entry))
        if segment is None or self.current == 0:
            return super().get(cache, ledger, entry, default)
        return next(iter(segment.entries.values())).value


class UsageKeepsGrowing(SegmentedCache):
    """The bytes in use still count the entries that a turn drops."""

    def _clear(self, segment: Segment) -> None:
        used = self.size_bytes
        super()._clear(segment)
        self.size_bytes = used


LOOKUPS: Final[dict[str, type[SegmentedCache]]] = {
    "segmented-bytes-of-the-first": BytesOfTheFirst,
    "segmented-usage-keeps-growing": UsageKeepsGrowing,
}
"""The faults of lookups and usage by public name."""

FAULTS: Final[dict[str, type[SegmentedCache]]] = LOOKUPS
"""All of them by public name."""
