"""The type of a law, and the questions that several laws ask about a state.

A `Law` has a rule, the operations that it is about, a guard and a check: whenever the guard is true, the check has to
be true. `REFUSABLE` states which events the protocol refuses. The functions at the end compare the entries of states;
they are written independently of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.outcomes import ErrorKind, Refused
from entrycache_reference.pulsar_pip430.state import Cache, Entry, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT, CacheName, Position

Check = Callable[[Config, State, Any, Step], bool]
"""A check of one step: it takes the configuration, the state before it, its event and the step."""

REFUSED: Final = Refused(ErrorKind.ILLEGAL_ARGUMENT)
"""The only refusal."""


class Law(NamedTuple):
    """A rule as a check of one step: whenever `guard` is true, `holds` has to be true.

    `on` names the operations that the law is about; empty means all of them. A step that names parts is held to the
    laws of each part. A law with `whole` looks at the step as a whole.
    """

    rule: Rule
    on: tuple[type[ops.Op], ...]
    guard: Check
    holds: Check
    whole: bool = False


def always(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return true: the guard of a law about every step of its operations."""
    return True


def refusable(config: Config, pre: State, event: ops.Op) -> bool:
    """Return whether the protocol refuses this event in this state."""
    is_refused = REFUSABLE.get(type(event))
    return is_refused is not None and is_refused(config, pre, event)


def _refused_age(config: Config, pre: State, event: ops.Expire) -> bool:
    return event.older_than_nanos is not ABSENT and event.older_than_nanos < 0


def _refused_settings(config: Config, pre: State, event: ops.Configure) -> bool:
    given = {name: getattr(event, name) for name in ops.Configure.__slots__ if getattr(event, name) is not ABSENT}
    if "max_size_bytes" in given and min(config.max_size_bytes, given["max_size_bytes"]) <= 0:
        return True
    if min((given.get("ttl_nanos", 0), given.get("max_requeues", 0))) < 0:
        return True
    return not 0 <= given.get("watermark", 0) <= 1


def _refused_read(config: Config, pre: State, event: ops.Read) -> bool:
    return event.first.ledger != event.last.ledger or event.first.entry > event.last.entry or event.hold in pre.holds


REFUSABLE: Final[dict[type[ops.Op], Callable[[Config, State, Any], bool]]] = {
    ops.Insert: lambda config, pre, event: event.size < 0,
    ops.Advance: lambda config, pre, event: event.nanos < 0,
    ops.Expire: _refused_age,
    ops.Evict: lambda config, pre, event: event.bytes <= 0,
    ops.Configure: _refused_settings,
    ops.Read: _refused_read,
    ops.ReadOne: lambda config, pre, event: event.hold in pre.holds,
    ops.Release: lambda config, pre, event: event.hold not in pre.holds,
    ops.CursorRank: lambda config, pre, event: not config.evict_by_expected_reads,
}
"""The operations that can be refused, and the condition."""


def cached_entry(state: State, name: CacheName, pos: Position) -> Entry | None:
    """Return the entry at a position of a cache, or None."""
    cache = state.caches.get(name)
    return None if cache is None else cache.entries.get(pos)


def entries_of(state: State, name: CacheName) -> dict[Position, Entry]:
    """Return a copy of the entries of a cache; none if the cache is unknown."""
    cache = state.caches.get(name)
    return {} if cache is None else dict(cache.entries)


def others_kept(pre: State, step: Step, name: CacheName) -> bool:
    """Return whether the entries of every cache but this one are unchanged."""
    after = step.state.caches
    if after is pre.caches:
        return True
    return all(
        other == name or after.get(other) is cache or entries_of(step.state, other) == cache.entries
        for other, cache in pre.caches.items()
    )


def nothing_touched(pre: State, step: Step) -> bool:
    """Return whether no entry, slot or sum differs; the step may have opened an empty cache."""
    after = step.state
    if after is pre:
        return True
    if (after.now_nanos, after.queue, after.size_bytes) != (pre.now_nanos, pre.queue, pre.size_bytes):
        return False
    if after.caches is pre.caches:
        return True
    return all(
        is_same_content(pre.caches.get(name, EMPTY_CACHE), after.caches.get(name, EMPTY_CACHE))
        for name in pre.caches.keys() | after.caches.keys()
    )


EMPTY_CACHE: Final = Cache({}, 0)


def is_same_content(before: Cache, after: Cache) -> bool:
    """Return whether two caches hold the same entries and have the same members."""
    return before is after or (before.entries, before.size_bytes, before.members) == (
        after.entries,
        after.size_bytes,
        after.members,
    )
