"""The ids of the rules; their texts stand in the folder `spec`."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


class Rule(Enum):
    """One id a rule. The heading of the same name in `spec` holds its level, sentence, intent and source."""

    STATE_1 = "R-STATE-1"
    STATE_2 = "R-STATE-2"
    STATE_3 = "R-STATE-3"
    STATE_4 = "R-STATE-4"
    STATE_5 = "R-STATE-5"
    STATE_6 = "R-STATE-6"
    STATE_7 = "R-STATE-7"
    STATE_8 = "R-STATE-8"
    STATE_9 = "R-STATE-9"
    INSERT_1 = "R-INSERT-1"
    INSERT_2 = "R-INSERT-2"
    INSERT_3 = "R-INSERT-3"
    INSERT_4 = "R-INSERT-4"
    INSERT_5 = "R-INSERT-5"
    INSERT_6 = "R-INSERT-6"
    READ_1 = "R-READ-1"
    READ_2 = "R-READ-2"
    READ_3 = "R-READ-3"
    READ_4 = "R-READ-4"
    READ_5 = "R-READ-5"
    READ_6 = "R-READ-6"
    COUNT_1 = "R-COUNT-1"
    COUNT_2 = "R-COUNT-2"
    COUNT_3 = "R-COUNT-3"
    COUNT_4 = "R-COUNT-4"
    EXPIRE_1 = "R-EXPIRE-1"
    EXPIRE_2 = "R-EXPIRE-2"
    EXPIRE_3 = "R-EXPIRE-3"
    EXPIRE_4 = "R-EXPIRE-4"
    EXPIRE_5 = "R-EXPIRE-5"
    EVICT_1 = "R-EVICT-1"
    EVICT_2 = "R-EVICT-2"
    EVICT_3 = "R-EVICT-3"
    EVICT_4 = "R-EVICT-4"
    EVICT_5 = "R-EVICT-5"
    EVICT_6 = "R-EVICT-6"
    EVICT_7 = "R-EVICT-7"
    EVICT_8 = "R-EVICT-8"
    REQUEUE_1 = "R-REQUEUE-1"
    REQUEUE_2 = "R-REQUEUE-2"
    REQUEUE_3 = "R-REQUEUE-3"
    REQUEUE_4 = "R-REQUEUE-4"
    REQUEUE_5 = "R-REQUEUE-5"
    REQUEUE_6 = "R-REQUEUE-6"
    REQUEUE_7 = "R-REQUEUE-7"
    REQUEUE_8 = "R-REQUEUE-8"
    INVALIDATE_1 = "R-INVALIDATE-1"
    INVALIDATE_2 = "R-INVALIDATE-2"
    INVALIDATE_3 = "R-INVALIDATE-3"
    INVALIDATE_4 = "R-INVALIDATE-4"
    INVALIDATE_5 = "R-INVALIDATE-5"
    INVALIDATE_6 = "R-INVALIDATE-6"
    METRICS_1 = "R-METRICS-1"
    METRICS_2 = "R-METRICS-2"
    LIVENESS_1 = "R-LIVENESS-1"
    LIVENESS_2 = "R-LIVENESS-2"

    __hash__ = object.__hash__
    """Members are single objects; their identity is the quickest hash there is."""


def rule(*rules: Rule) -> Callable[[_Function], _Function]:
    """Mark a function with the rules that it carries out, the most general one first."""

    def mark(function: _Function) -> _Function:
        function.__dict__["rules"] = rules
        return function

    return mark
