"""Any pass that keeps what `fold` shows of the loop of `run_pass`, in place of the loop; and laws to ask of terms."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from entrycache_evidence.induction.on_terms import on_terms
from entrycache_evidence.induction.symbolic import Term
from entrycache_evidence.pulsar_pip430.induction.shapes import TARGET, TRIGGER, asking, flag, number
from entrycache_evidence.pulsar_pip430.induction.table import PULSAR
from entrycache_faults.model import Model
from entrycache_reference.pulsar_pip430 import ops, passes
from entrycache_reference.pulsar_pip430.change import without_claims
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_reference.pulsar_pip430.laws.law import Law
from entrycache_reference.pulsar_pip430.outcomes import Removed
from entrycache_reference.pulsar_pip430.pass_events import Origin, Pass, PassKind
from entrycache_reference.pulsar_pip430.state import Row, Slot, State, Step
from entrycache_reference.rules import Rule

SHOWN_BY_FOLD: Final = (ops.Expire, ops.Evict)
"""The parts of a step that are passes: laws about those are shown of the loop."""

_made: list[None] = []
"""As many as passes were made on the present way."""


def begin() -> None:
    """Another way is gone: its first pass is the first again."""
    _made.clear()


def _taken(queue: tuple[Slot | None, ...], name: str) -> tuple[Slot | None, ...]:
    """What a pass takes: any number of heads."""
    for number_of, _ in enumerate(queue):
        if flag(f"{name} takes {number_of} slots"):
            return queue[:number_of]
    return queue


def any_pass(rows_of: Callable[[Pass], tuple[Row, ...]]) -> Callable[..., Step]:
    """Any pass: of the heads that it takes, any leave; the others stand at the tail, in their order, as if requeued."""

    def passed(state: State, kind: PassKind, bound: Any, config: Config, origin: Origin = Origin.CALL) -> Step:
        _made.append(None)
        name = f"pass {len(_made)}"
        own = passes.Copies(dict(state.caches), deque(state.queue))
        gone: list[Slot] = []
        freed: Any = 0
        for slot in _taken(state.queue, name):
            own.queue.popleft()
            if slot is None:
                continue
            entry = own.caches[slot.cache].entries[slot.pos]
            if flag(f"{name} removes {slot}"):
                passes.without(own.caches, slot)
                gone.append(slot)
                freed = entry.size_bytes + freed
            else:
                again = entry._replace(
                    stamp_nanos=state.now_nanos, accessed=False, requeues=number(f"{name} requeues {slot}")
                )
                passes.replaced(own.caches, slot, again)
                own.queue.append(slot)
        left = state._replace(
            caches=own.caches,
            queue=tuple(own.queue),
            size_bytes=state.size_bytes - freed,
            holds=without_claims(state.holds, frozenset(gone)),
            counts=state.counts._replace(evicted_entries=state.counts.evicted_entries + len(gone)),
        )
        told = rows_of(Pass(state, kind, origin, bound, bound, ()))
        return Step(left, Removed(len(gone), freed), told)

    return passed


@cache
def relieving(model: Model) -> Model:
    """The model, so that it can be run on terms, with any pass for each that it runs."""
    return asking(model, {"passes.run_pass": any_pass(asking(model)["pass_events.rows_of"])})


class _Forgetful(list[Any]):
    """What a law remembers of the step before: nothing, as each way through a step has another answer."""

    def __bool__(self) -> bool:
        return False


def _is_number(value: object, kind: Any) -> bool:
    return kind is int if isinstance(value, Term) else isinstance(value, kind)


@cache
def laws() -> Mapping[Rule, Law]:
    """The first law of each rule, so that it can be asked of terms: any trigger, any target."""
    asked = on_terms(
        PULSAR,
        {
            "laws.thresholds.trigger_of": lambda state: Term(TRIGGER),
            "laws.thresholds.target_of": lambda state: Term(TARGET),
            "laws.thresholds._memo": _Forgetful(),
            "laws.walk._memo": _Forgetful(),
            "laws.insert.isinstance": _is_number,
        },
    )
    return {law.rule: law for law in reversed(asked["laws.LAWS"])}


RELIEVED: Final[tuple[ops.Op, ...]] = (ops.Cycle(), ops.RunScheduled())
"""The operations that run passes of their own accord."""
