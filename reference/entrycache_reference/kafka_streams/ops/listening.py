"""The operations that hold operations: what a listener, or a processor downstream, does when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from entrycache_reference.kafka_streams.ops.cache import Namespace, Natural
from entrycache_reference.kafka_streams.ops.store import StoreName
from entrycache_reference.vocabulary import ABSENT, Absent

if TYPE_CHECKING:
    from entrycache_reference.kafka_streams.ops import Op


@dataclass(frozen=True, slots=True)
class Listen:
    """Register the listener of a namespace: it performs `on_flush` inside each call; its first `fails` calls throw."""

    name: ClassVar[str] = "listen"
    level: ClassVar[str] = "cache"
    ns: Namespace
    on_flush: tuple[Op, ...] | Absent = ABSENT
    fails: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class OnForward:
    """What is done downstream whenever an entry with that key is forwarded from that store."""

    name: ClassVar[str] = "on_forward"
    level: ClassVar[str] = "store"
    store: StoreName
    key: str
    steps: tuple[Op, ...]
