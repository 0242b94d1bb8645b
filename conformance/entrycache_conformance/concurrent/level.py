"""What the level `concurrent` has to know of a system: how its histories are made, and what is promised in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_conformance.systems.kafka_streams.histories import Kind, is_sound, make_history
from entrycache_protocol.case import outcome_to_json
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.draw import Draw
from entrycache_protocol.history import History
from entrycache_protocol.subject import Failed, Happened, Trouble
from entrycache_reference import kafka_streams
from entrycache_reference.kafka_streams import threads
from entrycache_reference.rules import Rule

LEVEL: Final = "concurrent"
DEADLOCK: Final = "deadlock:"
"""How the message of an errored history begins that the subject itself has found to wait for ever."""


class Promises(NamedTuple):
    """A system's histories: their kinds, how one is made, how one that ended is judged.

    `is_sound`: whether a shorter one is still about threads, and not about what one thread does wrong already.

    `ends`: the rule that a history which never ends breaks; `throws`: one in which a step throws; `rules`: all.
    `states_max`: the bound of the search for an order.
    """

    kinds: tuple[Any, ...]
    make: Callable[[Draw, Declaration, Any], History]
    judge: Callable[[History, Happened, Declaration], threads.Judged]
    is_sound: Callable[[History], bool]
    ends: Rule
    throws: Rule
    rules: tuple[Rule, ...]
    states_max: int


def _judge_streams(history: History, happened: Happened, declaration: Declaration) -> threads.Judged:
    steps = iter(history.steps)
    events = tuple(
        threads.Event(each.client, each.step, next(steps), each.start, each.end, _plain(outcome_to_json(each.outcome)))
        for each in happened.events
    )
    record = threads.Record(history.config, len(history.clients), events, declaration.introspection)
    return threads.judged(record, lambda outcome: _plain(outcome_to_json(outcome)), unasked(declaration))


def unasked(declaration: Declaration) -> frozenset[Rule]:
    """The rules that a limit keeps out."""
    return frozenset() if declaration.limits.exact_counts_under_threads else frozenset({Rule.K_CONCURRENCY_3})


def _plain(value: Any) -> Any:
    """The value as JSON would bring it: arrays are lists."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


PROMISES: Final[Mapping[str, Promises]] = {
    kafka_streams.NAME: Promises(
        tuple(Kind),
        make_history,
        _judge_streams,
        is_sound,
        Rule.K_CONCURRENCY_1,
        Rule.K_LIVENESS_2,
        tuple(rule for rule in Rule if rule.value.startswith("K-CONCURRENCY-")),
        threads.STATES_MAX,
    )
}
"""The systems that have the level."""


def offers(declaration: Declaration) -> bool:
    """Whether a subject takes histories."""
    return declaration.system.name in PROMISES and declaration.limits.threads > 1


def is_proved(failed: Failed) -> bool:
    """Whether a history that failed needs no second time: the subject found a deadlock, or a step threw."""
    return failed.trouble is Trouble.ERRORED


def rule_of(promises: Promises, failed: Failed) -> Rule:
    """The rule that a history without an answer breaks."""
    throws = failed.trouble is Trouble.ERRORED and not failed.message.startswith(DEADLOCK)
    return promises.throws if throws and "does not end" not in failed.message else promises.ends
