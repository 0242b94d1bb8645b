"""Level `manager`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.limits import trigger_bytes
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import Position

LIMITS: Final = (100, 10, 50, 1, 30, 2, 0, -1)
WATERMARKS: Final = (0.9, 0.5, 0.0, 0.98, 0.99, 1.0, 1.5, -0.1)
TTLS: Final = (5, 0, 1_000_000, -1)
BUDGETS: Final = (1, 0, 2, 5, 3, -1)


def limit_of(aim: Aim, state: State) -> int:
    """A new limit, half of them with the trigger, or the target, at the present bytes."""
    at = aim.draw(0, 2 * len(LIMITS) - 1)
    if at < len(LIMITS):
        return LIMITS[at]
    share = state.settings.watermark or 1.0
    return max(1, aim.near([int(state.size_bytes / 0.98), int(state.size_bytes / share), state.size_bytes]))


def ttl_of(aim: Aim, state: State) -> int:
    """A new time to live, half of them the age of an entry."""
    at = aim.draw(0, 2 * len(TTLS) - 1)
    return TTLS[at] if at < len(TTLS) else max(0, aim.near(aim.ages(state)))


def budget_of(aim: Aim, state: State) -> int:
    """A new budget, half of them what an entry has used up."""
    at = aim.draw(0, 2 * len(BUDGETS) - 1)
    if at < len(BUDGETS):
        return BUDGETS[at]
    used = {0}
    for slot in state.queue:
        if slot is not None:
            used.add(state.caches[slot.cache].entries[slot.pos].requeues)
    return max(0, aim.near(sorted(used)))


SETTINGS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "max_size_bytes": limit_of,
    "watermark": lambda aim, state: choose(aim.draw, WATERMARKS),
    "ttl_nanos": ttl_of,
    "max_requeues": budget_of,
    "extend_recently_accessed": lambda aim, state: aim.draw(0, 1) == 1,
}


WRONG: Final[dict[str, Any]] = {"watermark": 1.5, "ttl_nanos": -1, "max_requeues": -1, "max_size_bytes": 0}


def configure(aim: Aim, state: State) -> ops.Configure:
    """One setting, often, of those that the subject lets vary; now and then two, or none at all.

    One in five is refused for one setting, mostly with another that is to be refused with it.
    Where there are cursors mostly the time to live: the grace period is not to follow it.
    """
    varied = [key for key in SETTINGS if aim.declaration.varies(key)]
    if aim.cursors and "ttl_nanos" in varied:
        varied = ["ttl_nanos"] * 3 + varied
    changes: dict[str, Any] = {}
    for _ in range((1, 1, 1, 2, 0)[aim.draw(0, 4)] if varied else 0):
        key = choose(aim.draw, varied)
        changes[key] = SETTINGS[key](aim, state)
    wrong = [key for key in WRONG if key in varied]
    if wrong and aim.draw(0, 4) == 4:
        key = choose(aim.draw, wrong)
        changes.pop(key, None)
        if not changes:
            other = choose(aim.draw, varied)
            changes[other] = SETTINGS[other](aim, state)
        changes[key] = WRONG[key]
    return ops.Configure(**changes)


def cycle(aim: Aim, state: State) -> ops.Cycle:
    """A cycle; where a pass is scheduled it is asked for now and then once the limit has been lowered."""
    wanted = {"configure", "run_scheduled"} <= aim.declaration.ops and aim.declaration.varies("max_size_bytes")
    if state.is_scheduled and wanted and aim.draw(0, 3) == 3:
        aim.to_come += [ops.RunScheduled(), ops.Configure(max_size_bytes=1)]
    return ops.Cycle()


def run_scheduled(aim: Aim, state: State) -> Any:
    """What is scheduled, if anything; where the bytes are at the trigger, and nothing is, below a lowered limit too."""
    lowers = "configure" in aim.declaration.ops and aim.declaration.varies("max_size_bytes")
    is_at_trigger = state.size_bytes > 0 and state.size_bytes == trigger_bytes(state)
    if is_at_trigger and not state.is_scheduled and lowers and aim.draw(0, 1) == 1:
        aim.to_come.append(ops.RunScheduled())
        return ops.Configure(max_size_bytes=1)
    return ops.RunScheduled()


def invalidate_before(aim: Aim, state: State) -> ops.InvalidateBefore:
    """A bound at a cached position, next to one, or at an end of everything."""
    cache, pos = aim.place(state, live_weight=8)
    at = aim.draw(0, 5)
    if at == 4:
        return ops.InvalidateBefore(cache, Position(pos.ledger + 1, -1))
    if at == 5:
        return ops.InvalidateBefore(cache, Position(-1, -1))
    return ops.InvalidateBefore(cache, Position(pos.ledger, pos.entry + (0, 1, 1, -1)[at]))


def invalidate_ledger(aim: Aim, state: State) -> ops.InvalidateLedger:
    """A ledger of a cached entry, or another one."""
    cache, pos = aim.place(state, live_weight=8)
    return ops.InvalidateLedger(cache, (pos.ledger, pos.ledger, pos.ledger, 3, 0, -1)[aim.draw(0, 5)])


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "cycle": cycle,
    "run_scheduled": run_scheduled,
    "configure": configure,
    "invalidate_before": invalidate_before,
    "invalidate_ledger": invalidate_ledger,
    "remove_cache": lambda aim, state: ops.RemoveCache(aim.cache()),
    "metrics": lambda aim, state: ops.Metrics(),
}
