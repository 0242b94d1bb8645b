"""The constants of a run of `pulsar-legacy`: the limit, the watermark, the time to live, and the variant."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from entrycache_reference.pulsar_pip430.config import Eviction, Fraction, Size

STORED_BYTES: Final = 100
"""The bytes of an entry that a read fetches from storage."""


class SingleLookup(Enum):
    """Variant `single_lookup` (L-READ-7): how an entry is found, by its position or by its object."""

    POSITION = "position"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Variants:
    """The differences between releases; the defaults are the specification."""

    single_lookup: SingleLookup = SingleLookup.POSITION


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run; the defaults are those of Pulsar 4.0. A `max_size_bytes` of 0 caches nothing."""

    max_size_bytes: Size = 134_217_728
    watermark: Fraction = 0.9
    ttl_nanos: Size = 1_000_000_000
    eviction: Eviction = Eviction.INLINE
    variants: Variants = Variants()


__all__ = ["STORED_BYTES", "Config", "Eviction", "SingleLookup", "Variants"]
