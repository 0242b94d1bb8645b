"""One step: dispatch by the type of the event, one function an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.pulsar_pip430 import count, insert, look, ops, passes, read, remove
from entrycache_reference.pulsar_pip430.change import EMPTY
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.events import open_row
from entrycache_reference.pulsar_pip430.outcomes import Refused
from entrycache_reference.pulsar_pip430.state import State, Step
from entrycache_reference.rules import Rule, rule
from entrycache_reference.vocabulary import ABSENT, CacheName

FUNCTIONS: Final[dict[type[ops.Op], Callable[[State, Any, Config], Step]]] = {
    ops.Insert: insert.insert,
    ops.Get: read.get,
    ops.GetRange: read.get_range,
    ops.Exists: read.exists,
    ops.RemoveRange: remove.remove_range,
    ops.Clear: remove.clear,
    ops.Usage: look.usage,
    ops.Observe: look.observe,
    ops.Advance: look.advance,
    ops.Expire: passes.expire,
    ops.Evict: passes.evict,
    ops.MarkRead: count.mark_read,
    ops.ExpectRead: count.expect_read,
}
"""The function of each operation."""


@rule(Rule.STATE_9)
def opened(before: State, done: Step, name: CacheName) -> Step:
    """The same step, with the cache of that name there, whatever else the step did; its opening comes first."""
    after = done.state
    if name not in after.caches:
        after = after._replace(caches={**after.caches, name: EMPTY})
    return Step(after, done.outcome, (open_row(before, name), *done.rows))


@rule(Rule.STATE_9, Rule.STATE_5, Rule.LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """What one event makes of a state. Pure and total: the state that came in is never changed.

    The first event, not refused, that names a cache opens it.
    """
    done = FUNCTIONS[type(event)](state, event, config)
    name = getattr(event, "cache", ABSENT)
    if name is ABSENT or name in state.caches or isinstance(done.outcome, Refused):
        return done
    return opened(state, done, name)
