"""The constants of a run of `pulsar-legacy`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from entrycache_reference.pulsar_pip430.config import Eviction, Fraction, Size

STORED_BYTES: Final = 100
"""The bytes of an entry that a read fetches from storage."""


class SingleLookup(Enum):
    """Variant `single_lookup` (L-READ-7): whether an entry is found by its position, or by the object that it has."""

    POSITION = "position"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Variants:
    """What differs between releases; the defaults are the norm."""

    single_lookup: SingleLookup = SingleLookup.POSITION


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run; the defaults are those of Pulsar 4.0. With `max_size_bytes` 0 nothing is cached."""

    max_size_bytes: Size = 134_217_728
    watermark: Fraction = 0.9
    ttl_nanos: Size = 1_000_000_000
    eviction: Eviction = Eviction.INLINE
    variants: Variants = Variants()


__all__ = ["STORED_BYTES", "Config", "Eviction", "SingleLookup", "Variants"]
