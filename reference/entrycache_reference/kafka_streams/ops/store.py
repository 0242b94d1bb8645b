"""Level `store`: caching key-value stores over in-memory stores, several in one thread's cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.ops.cache import Natural
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import INTEGER_MAX, Span

StoreName = str


@dataclass(frozen=True, slots=True)
class StorePut:
    """Write one value; None deletes."""

    name: ClassVar[str] = "store_put"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class StoreGet:
    """Read one value."""

    name: ClassVar[str] = "store_get"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str


@dataclass(frozen=True, slots=True)
class StoreDelete:
    """Delete one key and answer what it was."""

    name: ClassVar[str] = "store_delete"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_7
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Value,)
    store: StoreName
    key: str


@dataclass(frozen=True, slots=True)
class StoreRange:
    """Read the keys from `from_` to `to`, both included, cache and store below merged; None: unbounded."""

    name: ClassVar[str] = "store_range"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listed,)
    store: StoreName
    from_: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class StoreAll:
    """Read every key, cache and store below merged."""

    name: ClassVar[str] = "store_all"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_8
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listed,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class StoreFlush:
    """Write everything that is dirty to the store below, and forward it."""

    name: ClassVar[str] = "store_flush"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class StoreInner:
    """Ask for what lies in the store below."""

    name: ClassVar[str] = "store_inner"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_2
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Listed,)
    store: StoreName


@dataclass(frozen=True, slots=True)
class Share:
    """Ask for the bytes of one thread's cache."""

    name: ClassVar[str] = "share"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_SHARE_1
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Shared,)
    total_bytes: Natural
    threads: Annotated[int, Span(0, INTEGER_MAX)]
    global_thread: bool
