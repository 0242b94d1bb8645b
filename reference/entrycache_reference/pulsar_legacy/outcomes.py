"""The outcomes of steps of `pulsar-legacy`: those of `pulsar-pip430` where an operation of the same name has them."""

from dataclasses import dataclass

from entrycache_reference.pulsar_pip430.outcomes import (
    CacheView,
    Done,
    ErrorKind,
    Existing,
    Hit,
    Hits,
    Inserted,
    Refused,
    Removed,
    Served,
    Used,
)
from entrycache_reference.vocabulary import CacheName


@dataclass(frozen=True, slots=True)
class Observed:
    """The whole state without stamps: `caches` are those that hold entries."""

    now: int
    bytes: int
    caches: dict[CacheName, CacheView]


Outcome = Refused | Done | Inserted | Hit | Hits | Existing | Removed | Used | Observed | Served

__all__ = [
    "CacheView",
    "Done",
    "ErrorKind",
    "Existing",
    "Hit",
    "Hits",
    "Inserted",
    "Observed",
    "Outcome",
    "Refused",
    "Removed",
    "Served",
    "Used",
]
