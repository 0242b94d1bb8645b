"""The operations that hold operations: what a listener, or a processor downstream, does when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from entrycache_reference.kafka_streams import outcomes
from entrycache_reference.kafka_streams.ops.cache import Namespace, Natural
from entrycache_reference.kafka_streams.ops.store import StoreName
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, Absent, StepsOf

Steps = Annotated[tuple[Any, ...], StepsOf(__package__)]
"""Operations of this system, performed in their order."""


@dataclass(frozen=True, slots=True)
class Listen:
    """Register the listener of a namespace: it performs `on_flush` inside each call; its first `fails` calls throw."""

    name: ClassVar[str] = "listen"
    level: ClassVar[str] = "cache"
    rule: ClassVar[Rule] = Rule.K_LISTEN_5
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    ns: Namespace
    on_flush: Steps | Absent = ABSENT
    fails: Natural | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class OnForward:
    """What is done downstream whenever an entry with that key is forwarded from that store."""

    name: ClassVar[str] = "on_forward"
    level: ClassVar[str] = "store"
    rule: ClassVar[Rule] = Rule.K_STORE_5
    answers: ClassVar[tuple[type[outcomes.Answer], ...]] = (outcomes.Done,)
    store: StoreName
    key: str
    steps: Steps
