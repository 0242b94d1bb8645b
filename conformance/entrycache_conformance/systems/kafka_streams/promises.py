"""What is promised of a history: the judge of the reference, and what limits keep out of it."""

from __future__ import annotations

from typing import Any

from entrycache_conformance.systems.kafka_streams.answers import shown
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.history import History
from entrycache_protocol.subject import Happened
from entrycache_reference.kafka_streams import threads
from entrycache_reference.kafka_streams.outcomes import Outcome
from entrycache_reference.rules import Rule


def judge(history: History, happened: Happened, declaration: Declaration) -> threads.Judged:
    """Which promises a history that ended keeps."""
    steps = iter(history.steps)
    events = tuple(
        threads.Event(each.client, each.step, next(steps), each.start, each.end, in_json(each.outcome))
        for each in happened.events
    )
    record = threads.Record(history.config, len(history.clients), events, declaration.introspection)
    return threads.judged(record, in_json, unasked(declaration))


def unasked(declaration: Declaration) -> frozenset[Rule]:
    """The rules that a limit keeps out."""
    return frozenset() if declaration.limits.exact_counts_under_threads else frozenset({Rule.K_CONCURRENCY_3})


def in_json(outcome: Any) -> Any:
    """An outcome of the reference or of a subject as JSON would bring it."""
    return _plain(shown(outcome) if isinstance(outcome, Outcome) else outcome)


def _plain(value: Any) -> Any:
    """The value with arrays as lists."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value
