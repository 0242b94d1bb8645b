"""The moments at which a step had to ask whether a size pass is due, and what it did there."""

from __future__ import annotations

from typing import NamedTuple

from entrycache_reference.pulsar_pip430.ops import Cycle, Evict, Insert, Op, RunScheduled
from entrycache_reference.pulsar_pip430.outcomes import Inserted
from entrycache_reference.pulsar_pip430.state import Part, State, Step


class Moment(NamedTuple):
    """A state whose bytes had to be compared with the trigger.

    `offer` and `added`: the insert that made it and what that alone did, None in `cycle` and `run_scheduled`.
    `passes`: the size passes that followed at once; `left`: the state after them.
    """

    state: State
    offer: Insert | None
    added: Step | None
    passes: tuple[Part, ...]
    left: State

    @property
    def took(self) -> bool:
        """Whether the insert took its entry."""
        return self.added is not None and was_taken(self.added)


def was_taken(added: Step) -> bool:
    """Whether an insert answers true."""
    return type(added.outcome) is Inserted and added.outcome.inserted


_memo: list[tuple[State, Step, tuple[Moment, ...]]] = []


def moments(pre: State, event: Op, step: Step) -> tuple[Moment, ...]:
    """The moments of a step, in order; the last answer is kept, as many laws ask for it."""
    if _memo and _memo[0][0] is pre and _memo[0][1] is step:
        return _memo[0][2]
    found = _found(pre, event, step)
    _memo[:] = [(pre, step, found)]
    return found


def _found(pre: State, event: Op, step: Step) -> tuple[Moment, ...]:
    parts = step.parts
    if type(event) is Insert and not parts:
        return (Moment(step.state, event, step, (), step.state),)
    if type(event) is RunScheduled:
        return (Moment(pre, None, None, parts, step.state),) if pre.is_scheduled else ()
    if type(event) is Cycle:
        return (Moment(parts[0].step.state, None, None, parts[1:], step.state),) if parts else ()
    found: list[Moment] = []
    for at, part in enumerate(parts):
        if type(part.event) is Insert:
            end = at + 1
            while end < len(parts) and type(parts[end].event) is Evict:
                end += 1
            left = parts[end].pre if end < len(parts) else step.state
            found.append(Moment(part.step.state, part.event, part.step, parts[at + 1 : end], left))
    return tuple(found)


def trigger_of(state: State) -> int:
    """The trigger that the settings of a state give."""
    return int(float(state.settings.max_size_bytes) * 0.98)


def target_of(state: State) -> int:
    """The target that the settings of a state give."""
    return int(float(state.settings.max_size_bytes) * state.settings.watermark)


def shown(part: Part) -> tuple[int, int]:
    """The trigger and the target that a size pass shows."""
    first = part.step.rows[0]
    return first.trigger_bytes or 0, first.target_bytes or 0


def same_content(before: State, after: State) -> bool:
    """Whether two states hold the same entries, slots and bytes, and have the same time and settings."""
    return before is after or (
        (before.caches is after.caches or before.caches == after.caches)
        and (before.queue is after.queue or before.queue == after.queue)
        and before.size_bytes == after.size_bytes
        and before.now_nanos == after.now_nanos
        and before.settings == after.settings
    )


def due_and_right(moment: Moment, origin: str) -> bool:
    """Whether one pass ran if one was due, for what lies above the target, and none if not.

    A pass is judged by the thresholds that it shows (R-TRIGGER-1 judges those), its absence by those of the
    settings. Bytes above the trigger but not above the target are left to R-TRIGGER-8.
    """
    state, passes = moment.state, moment.passes
    if not passes:
        due = state.size_bytes > trigger_of(state) and state.size_bytes > target_of(state)
        return not due and same_content(state, moment.left)
    trigger, target = shown(passes[0])
    if state.size_bytes <= target and state.size_bytes > trigger:
        return True
    event = passes[0].event
    return (
        len(passes) == 1
        and type(event) is Evict
        and state.size_bytes > trigger
        and event.bytes == state.size_bytes - target
        and passes[0].step.rows[0].origin == origin
        and same_content(state, passes[0].pre)
        and same_content(passes[0].step.state, moment.left)
    )
