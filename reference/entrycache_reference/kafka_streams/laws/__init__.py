"""The laws of `kafka-streams`: every MUST as a check of one step, written without the functions that it is about.

Each module of this folder holds the laws of a family. `LAWS` lists them in the order in which broken rules are
reported. `broken` applies the laws of one operation to a step: it counts each law whose guard holds, and returns the
rules that the step breaks. A step without an answer is not judged.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams import ops, outcomes, view_ops
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.laws import entries as entries_module
from entrycache_reference.kafka_streams.laws import namespaces, stores, views, windows
from entrycache_reference.kafka_streams.laws.law import Law, always, bytes_in, kind_of, loses_undelivered
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule

__all__ = ["LAWS", "Law", "broken", "count_fired"]

FAILING: Final[dict[type[ops.Op], frozenset[outcomes.ErrorKind]]] = {
    ops.Put: frozenset(outcomes.ErrorKind),
    ops.PutAll: frozenset(outcomes.ErrorKind),
    ops.PutIfAbsent: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.Flush: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.Evict: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.Resize: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.StorePut: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.StoreGet: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.StoreDelete: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    ops.StoreFlush: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    view_ops.StorePutIfAbsent: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    view_ops.StorePutAll: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    view_ops.StoreClose: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    view_ops.StoreOpen: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.StoreView: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.ViewOpen: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.ViewNext: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.ViewClose: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.WindowPut: frozenset(outcomes.ErrorKind) - {outcomes.ErrorKind.ILLEGAL_STATE},
    view_ops.SessionPut: frozenset(outcomes.ErrorKind),
    view_ops.SessionRemove: frozenset(outcomes.ErrorKind),
    view_ops.SessionGet: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.WindowView: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
    view_ops.SessionView: frozenset({outcomes.ErrorKind.ILLEGAL_STATE}),
}
"""The errors that an operation may end with; those of a store only if its namespace has another listener, or none."""


FOR_EVERY_KIND: Final = (
    *(ops.StoreFlush, ops.StoreInner, ops.OnForward, view_ops.StoreOpen, view_ops.StoreClose, view_ops.StoreClear),
    *(view_ops.ViewOpen, view_ops.FailForward),
)
"""The operations that a store of every kind takes."""


def is_for_another_kind(state: State, event: Any) -> bool:
    """Return whether an operation is about another kind of store than it names."""
    store = getattr(event, "store", None)
    if store is None or type(event) in FOR_EVERY_KIND:
        return False
    word = event.name.split("_")[0].replace("store", "kv")
    return bool(kind_of(state, store).value != word)


def answers_its_own(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-LIVENESS-2."""
    answer = step.outcome.answer
    if isinstance(answer, outcomes.Failed):
        is_refused = stores.is_on_closed(pre, event) or is_for_another_kind(pre, event)
        if (loses_undelivered(config) and type(event) in FAILING) or is_refused:
            return True
        return answer.error in FAILING.get(type(event), frozenset())
    return type(answer) in event.answers


def has_an_outcome(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-LIVENESS-1: there are at most as many evictions as entries, including those written meanwhile."""
    evicted = [row.op for row in step.rows].count("EVICT")
    if evicted:
        entries = sum([len(cached.nodes) for cached in pre.spaces.values()])
        written = [row.op for row in step.rows].count("PUT")
        if evicted > entries + written:
            return False
    return bytes_in(step.state) >= 0


LAWS: Final[tuple[Law, ...]] = (
    *entries_module.WRITE_LAWS,
    *entries_module.LOOKUP_LAWS,
    *namespaces.NAMESPACE_LAWS,
    *stores.STORE_LAWS,
    *views.VIEW_LAWS,
    *windows.WINDOW_LAWS,
    *namespaces.VARIANT_LAWS,
    Law(Rule.K_LIVENESS_1, (), always, has_an_outcome),
    Law(Rule.K_LIVENESS_2, (), always, answers_its_own),
)
"""One law for each rule."""

LAWS_OF: Final[dict[type[ops.Op], tuple[Law, ...]]] = {
    op: tuple(law for law in LAWS if not law.on or op in law.on) for op in ops.OPS
}
"""The laws that each operation can break."""


def broken(
    config: Config, pre: State, event: Any, step: Step, fired: dict[Rule, int] | None = None
) -> tuple[Rule, ...]:
    """Return the rules whose laws this step breaks; count in `fired` every law whose guard holds."""
    if isinstance(step.outcome.answer, outcomes.Unanswered):
        return ()
    counted = {} if fired is None else fired
    wrong: tuple[Rule, ...] = ()
    for rule, _, guard, holds in LAWS_OF[type(event)]:
        if guard(config, pre, event, step):
            counted[rule] = counted.get(rule, 0) + 1
            if not holds(config, pre, event, step):
                wrong = (*wrong, rule)
    return wrong


def count_fired(config: Config, pre: State, event: Any, step: Step, fired: dict[Rule, int]) -> None:
    """Count in `fired` every law whose guard holds, as `broken` does, and check none."""
    if isinstance(step.outcome.answer, outcomes.Unanswered):
        return
    for rule, _, guard, _ in LAWS_OF[type(event)]:
        if guard(config, pre, event, step):
            fired[rule] = fired.get(rule, 0) + 1
