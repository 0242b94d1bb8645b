"""Level `reads`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from entrycache_conformance.systems.pulsar_pip430.arguments.arguments import Aim
from entrycache_protocol.draw import choose
from entrycache_reference.pulsar_pip430 import ops
from entrycache_reference.pulsar_pip430.state import State
from entrycache_reference.vocabulary import ABSENT, Absent, HoldName, Position

COUNTS: Final = (1, 2, 0, 3, 1, -1)


def hold_of(aim: Aim, state: State) -> HoldName | Absent:
    """Half of the reads are held, mostly under a free name."""
    at = aim.draw(0, 8)
    if at < 4:
        return ABSENT
    free = [name for name in aim.holds if name not in state.holds]
    if at == 8 or not free:
        return aim.holds[at % len(aim.holds)] if at == 8 else ABSENT
    return free[at % len(free)]


def read(aim: Aim, state: State) -> ops.Read:
    """A range about a place, cached or not: whole hits, partial ones, misses; now and then a range that is refused."""
    cache, pos = aim.place(state, live_weight=3)
    first = Position(pos.ledger, max(0, pos.entry - (0, 0, 1, 2)[aim.draw(0, 3)]))
    last = Position(pos.ledger, first.entry + choose(aim.draw, aim.widths))
    odd = aim.draw(0, 19)
    if odd == 18:
        last = Position(pos.ledger + 1, last.entry)
    elif odd == 19:
        first, last = last, first
    count = choose(aim.draw, COUNTS)
    return ops.Read(cache, first, last, count, hold_of(aim, state))


def release(aim: Aim, state: State) -> ops.Release:
    """Mostly a hold that is open."""
    opened = list(state.holds)
    at = aim.draw(0, 4 * len(opened) + len(aim.holds) - 1)
    return ops.Release(opened[at % len(opened)] if at < 4 * len(opened) else aim.holds[at % len(aim.holds)])


MAKERS: Final[dict[str, Callable[[Aim, State], Any]]] = {
    "read": read,
    "read_one": lambda aim, state: ops.ReadOne(*aim.place(state), hold_of(aim, state)),
    "release": release,
}
