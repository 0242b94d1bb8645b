"""Passes in the order of a subject: the reference takes entries as the subject tells, within its `order_slack`.

A sharded removal queue has no single head. A subject with `order_slack` k says in `seen` which entries each pass took,
and the reference plays these entries on its own queue:

- A pass may take an entry if at most k live entries stand before it. With k = 0 that is the head.
- The decision table says what happens to the entry, with the bytes freed so far and the cutoff of the pass. A requeued
  entry goes to the tail.
- A time pass may end if one of the first k + 1 live entries is not expired. A size pass ends as soon as it has freed
  enough.

Where a subject tells something else, the reference goes on with its own order, so that the outcomes differ. In a
`cycle` the entries of the time pass come first; the reference tries every place where it may have ended.

`follow_order` makes such steps of the reference, or of one with a seeded fault.
"""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from entrycache_faults.model import Model
from entrycache_protocol import codec, system
from entrycache_reference.pulsar_pip430 import decision, ops, passes
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.passes import Copies, Origin, Pass, PassEvent, PassKind
from entrycache_reference.pulsar_pip430.state import Slot, State, Step
from entrycache_reference.vocabulary import CacheName

PACKAGE: Final = "entrycache_reference.pulsar_pip430"

TakenEntry = tuple[str, Any, str]
"""An entry that a pass took: its cache, its position, and "removed" or "requeued"."""


class Order:
    """The order that a subject tells for one step, and what the passes of the reference have done so far.

    `timed` is the number of entries that belong to the time pass of the step.
    """

    def __init__(self, wanted: Sequence[TakenEntry], timed: int) -> None:
        self.wanted = deque(wanted)
        self.timed = timed
        self.taken: list[TakenEntry] = []

    def next_slot(self, kind: PassKind) -> Slot | None:
        """Return the slot that the subject takes next in a pass of this kind; None if it tells none."""
        if not self.wanted or (kind is PassKind.TIME and self.timed <= len(self.taken)):
            return None
        return Slot(CacheName(self.wanted[0][0]), self.wanted[0][1])

    def note(self, slot: Slot, action: decision.Action) -> None:
        """Note what a pass did with an entry. An order that names another entry is given up."""
        if self.wanted and self.wanted[0][:2] == slot:
            self.wanted.popleft()
        else:
            self.wanted.clear()
        self.taken.append((*slot, "removed" if action is decision.Action.REMOVE else "requeued"))


class Turn(NamedTuple):
    """One turn of a pass: the place in the queue of its slot, and whether the pass has to end there."""

    at: int
    halts: bool


def _entry(own: Copies, slot: Slot | None) -> Any:
    return None if slot is None else own.caches[slot.cache].entries[slot.pos]


class OrderedPasses:
    """The passes of a model in the order of a subject: they stand in place of `passes.run_pass`."""

    def __init__(self, base: Any, slack: int) -> None:
        self.slack = slack
        self.order = Order((), 0)
        self.model = Model(PACKAGE, {**getattr(base, "replaced", {}), "passes.run_pass": self.run_pass})
        self._passes: Any = self.model.own(passes)

    def step(self, state: State, event: Any, config: Config, answer: Any) -> Step:
        """Return the step that follows the subject's answer, with what its passes did."""
        wanted = answer.taken if isinstance(answer, codec.OrderedOutcome) else ()
        ends = range(len(wanted), -1, -1) if isinstance(event, ops.Cycle) and wanted else (len(wanted),)
        steps = (self._play(state, event, config, Order(wanted, timed)) for timed in ends)
        first = next(steps)
        return first if first.outcome == answer else next((one for one in steps if one.outcome == answer), first)

    def _play(self, state: State, event: Any, config: Config, order: Order) -> Step:
        self.order = order
        done: Step = self.model.step(state, event, config)
        outcome: Any = codec.OrderedOutcome(done.outcome, tuple(order.taken)) if order.taken else done.outcome
        return done._replace(outcome=outcome)

    def run_pass(self, state: State, kind: PassKind, bound: int, config: Config, origin: Origin = Origin.CALL) -> Step:
        """Take entries in the order that the subject tells until the pass has to end; see `passes.run_pass`."""
        own = Copies(dict(state.caches), deque(state.queue))
        events: list[PassEvent] = []
        freed_bytes = 0
        while own.queue and not (events and events[-1].halted):
            bound_now = self._passes.remaining_bound(kind, bound, freed_bytes)
            turn = self._next_turn(own, kind, bound_now)
            slot, entry = own.queue[turn.at], _entry(own, own.queue[turn.at])
            line = self._passes.decide(entry, turn.halts, state.settings)
            if self._passes.is_late(kind, len(events) + 1, len(state.queue), config):
                line = self._passes.deny_requeue(line)
            again = None
            if line.action is not decision.Action.STOP:
                del own.queue[turn.at]
                if slot is not None:
                    again = self._passes.carry_out(line, state, config, own, slot)
                    freed_bytes += entry.size_bytes if again is None else 0
                    self.order.note(slot, line.action)
            events.append(PassEvent(line, bound_now, freed_bytes, slot, entry, again))
        left = self._passes.remaining_bound(kind, bound, freed_bytes)
        done: Step = self._passes.end_pass(Pass(state, kind, origin, bound, left, tuple(events)), own, freed_bytes)
        return done

    def _next_turn(self, own: Copies, kind: PassKind, bound: int) -> Turn:
        """Return the next turn of a pass.

        It is a dead head, or the slot that the subject tells if it may take it. Else the pass ends if it may, or takes
        the oldest entry.
        """
        has_to_halt = self._passes.has_to_halt
        if own.queue[0] is None:
            return Turn(0, has_to_halt(kind, bound, None))
        reachable = [at for at, slot in enumerate(own.queue) if slot is not None][: self.slack + 1]
        halting = [at for at in reachable if has_to_halt(kind, bound, _entry(own, own.queue[at]))]
        wanted = self.order.next_slot(kind)
        at = next((at for at in reachable if wanted is not None and own.queue[at] == wanted), None)
        if at is not None and at not in halting:
            return Turn(at, False)
        return Turn(halting[0], True) if halting else Turn(0, False)


@lru_cache(maxsize=1024)
def follow_order(base: Any, slack: int) -> system.OrderedStep:
    """Return the steps of a model whose passes take at most so many entries out of order, as a subject tells."""
    return OrderedPasses(base, slack).step
