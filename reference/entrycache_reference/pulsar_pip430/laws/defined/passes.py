"""What a pass makes of a state, in closed form: no queue is walked, and nothing is taken one by one.

Put every live slot at its place in the queue, from 0. An entry is spared a number of times that is known before the
pass begins: once if access extends its stay, and then as often as its budget allows while reads are expected. So it
leaves in the round of that number, if the pass comes so far. Whoever is sorted by round, then by place, leaves in that
order; the sums of the sizes in that order tell where a size pass has freed enough. A time pass ends in round 0, at
the last entry that is old enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from entrycache_reference.pulsar_pip430.config import Config, RequeueBudget, SizePassRounds
from entrycache_reference.pulsar_pip430.laws.law import cached
from entrycache_reference.pulsar_pip430.ops import Evict, Expire
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.state import Entry, Slot, State, Step
from entrycache_reference.vocabulary import ABSENT


class Turn(NamedTuple):
    """The look that a pass takes at a place of the queue, in one of its rounds; sorted, the order of these looks."""

    round: int
    place: int


class Placed(NamedTuple):
    """A live slot at its place, with its entry, and when it leaves if the pass comes so far."""

    slot: Slot
    entry: Entry
    leaves: Turn


class Reach(NamedTuple):
    """How far a pass comes: up to the turn `last`, that one included. `bound`: its cutoff, or the bytes to free."""

    bound: int
    placed: tuple[Placed, ...]
    last: Turn

    def is_gone(self, one: Placed) -> bool:
        """Whether the entry leaves."""
        return one.leaves <= self.last

    def times(self, one: Placed) -> int:
        """How often the entry is requeued: in each round in which its turn comes, but the one in which it leaves."""
        if self.is_gone(one):
            return one.leaves.round
        return self.last.round + (one.leaves.place <= self.last.place)


BEFORE_ALL = Turn(0, -1)


def is_touched(state: State, entry: Entry) -> bool:
    """Access extends the stay of the entry."""
    return entry.accessed and state.settings.extend_recently_accessed


def uses_budget(config: Config, entry: Entry, touched: bool, times: int) -> int:
    """What these requeues use up of the budget: one each, with a split budget all but the one for access."""
    is_split = config.variants.requeue_budget is RequeueBudget.SPLIT
    return times - (is_split and touched and times > 0)


def spared(config: Config, state: State, event: Expire | Evict, entry: Entry) -> int:
    """How often the entry would be requeued by a pass without an end."""
    touched = is_touched(state, entry)
    times = int(touched)
    if entry.expected_reads is not None and entry.expected_reads > 0:
        left = state.settings.max_requeues - entry.requeues - uses_budget(config, entry, touched, times)
        times += max(0, left)
    is_one_round = config.variants.size_pass_rounds is SizePassRounds.ONE and type(event) is Evict
    return min(times, 1) if is_one_round else times


_memo: list[tuple[Config, State, Expire | Evict, Reach]] = []


def reach(config: Config, pre: State, event: Expire | Evict) -> Reach:
    """How far this pass comes in this state; the last answer is kept, as its rows ask for it too."""
    if _memo and _memo[0][0] is config and _memo[0][1] is pre and _memo[0][2] is event:
        return _memo[0][3]
    found = _reached(config, pre, event)
    _memo[:] = [(config, pre, event, found)]
    return found


def _reached(config: Config, pre: State, event: Expire | Evict) -> Reach:
    placed = []
    for place, slot in enumerate(pre.queue):
        entry = None if slot is None else cached(pre, slot.cache, slot.pos)
        if slot is not None and entry is not None:
            placed.append(Placed(slot, entry, Turn(spared(config, pre, event, entry), place)))
    if type(event) is Evict:
        order = sorted(placed, key=lambda one: one.leaves)
        freed = accumulate(one.entry.size_bytes for one in order)
        enough = [one.leaves for one, sum_so_far in zip(order, freed, strict=True) if sum_so_far >= event.bytes]
        last = enough[0] if enough else max((one.leaves for one in placed), default=BEFORE_ALL)
        return Reach(event.bytes, tuple(placed), last)
    assert type(event) is Expire
    age = pre.settings.ttl_nanos if event.older_than_nanos is ABSENT else event.older_than_nanos
    cutoff = pre.now_nanos - age
    old = [one.leaves.place for one in placed if one.entry.stamp_nanos < cutoff]
    return Reach(cutoff, tuple(placed), Turn(0, max(old, default=-1)))


def left_over(pre: State, done: Reach) -> tuple[Slot | None, ...]:
    """The queue after the pass: what it has still to reach in its round, then what it has requeued in it.

    Dead slots stay where they are while no pass has come to them, so in round 0 only; at the head there is none.
    """
    live = {one.leaves.place: one for one in done.placed}
    ahead: list[Slot | None] = []
    behind: list[Slot | None] = []
    for place, slot in enumerate(pre.queue):
        one = live.get(place)
        if one is not None and not done.is_gone(one):
            (behind if place <= done.last.place else ahead).append(slot)
        elif one is None and ahead and done.last.round == 0:
            ahead.append(slot)
    return (*ahead, *behind)


def entry_after(config: Config, pre: State, done: Reach, one: Placed) -> Entry | None:
    """The entry after the pass, None: it has left."""
    times = done.times(one)
    if done.is_gone(one):
        return None
    if not times:
        return one.entry
    used = uses_budget(config, one.entry, is_touched(pre, one.entry), times)
    size, _, requeues, _, count, payload = one.entry
    return Entry(size, pre.now_nanos, requeues + used, False, count, payload)


def turns(pre: State, done: Reach) -> Iterator[tuple[Turn, Placed | None]]:
    """Every slot that the pass takes, in the order in which it does; None: a dead one."""
    taken: list[tuple[Turn, Placed | None]] = []
    for one in done.placed:
        place = one.leaves.place
        rounds = done.times(one) + done.is_gone(one)
        taken += [(Turn(number, place), one) for number in range(rounds)]
    first = next((one.leaves.place for one in done.placed if one.leaves.place > done.last.place), len(pre.queue))
    reached = len(pre.queue) if done.last.round else first
    taken += [(Turn(0, place), None) for place in range(reached) if pre.queue[place] is None]
    return iter(sorted(taken, key=lambda pair: pair[0]))


def is_that_pass(config: Config, pre: State, event: Expire | Evict, step: Step) -> bool:
    """Whether entries, queue and answer are those of the pass; that all else is as it was is a matter of frames."""
    done = reach(config, pre, event)
    gone = [one.entry.size_bytes for one in done.placed if done.is_gone(one)]
    return (
        step.outcome == Removed(len(gone), sum(gone))
        and step.state.queue == left_over(pre, done)
        and all(
            cached(step.state, one.slot.cache, one.slot.pos) == entry_after(config, pre, done, one)
            for one in done.placed
        )
    )
