"""The laws about flushes, listeners, evictions, closing and resizing, and the laws that only variants fire.

A listener that performs steps of its own disturbs what can be predicted; most laws are therefore guarded by
`is_undisturbed`. The rules of variants restate the behavior of releases.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams.config import Config, FlushedTombstone, Total
from entrycache_reference.kafka_streams.laws import law
from entrycache_reference.kafka_streams.ops import Clear, Close, Evict, Flush, Listen, Resize
from entrycache_reference.kafka_streams.outcomes import Done, ErrorKind, Failed
from entrycache_reference.kafka_streams.state import Listener, Space, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT


def _cannot_deliver(cached: Space) -> bool:
    """Return whether there is no listener, or its next call throws."""
    return cached.listener is None or cached.listener.fails > 0


def _eldest_is_dirty(pre: State, event: Evict) -> bool:
    namespace = law.space(pre, event.ns)
    return bool(namespace.recent) and namespace.nodes[namespace.recent[-1]].is_dirty


def _can_deliver(cached: Space) -> bool:
    """Return whether there is a listener that is no store and does not throw."""
    return cached.listener is not None and cached.listener.fails == 0 and not cached.listener.of_store


def takes_the_eldest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check K-EVICT-1."""
    recent = law.space(pre, event.ns).recent
    if law.has_failed(step):
        return bool(recent)
    if not recent:
        return law.is_uncalled(step) and step.state.spaces == pre.spaces
    return law.evicted_keys(step)[:1] == [recent[-1]]


def _clean_eldest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    return bool(law.space(pre, event.ns).recent) and not _eldest_is_dirty(pre, event)


def drops_it(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check K-EVICT-2."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    return law.is_uncalled(step) and after == before._replace(
        nodes={key: node for key, node in before.nodes.items() if key != before.recent[-1]},
        recent=before.recent[:-1],
    )


def _dirty_eldest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    namespace = law.space(pre, event.ns)
    return _eldest_is_dirty(pre, event) and _can_deliver(namespace) and law.is_consistent(config, namespace)


def hands_over_all_eldest_first(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check K-EVICT-3."""
    before = law.space(pre, event.ns)
    eldest = before.recent[-1]
    calls = step.outcome.flushed
    expected = (eldest, *(key for key in before.dirty if key != eldest))
    if not calls or calls[0].ns != event.ns or tuple(entry.key for entry in calls[0].entries) != expected:
        return False
    return not law.is_undisturbed(step) or eldest not in law.space(step.state, event.ns).nodes


def _undisturbed(config: Config, pre: State, event: Any, step: Step) -> bool:
    return law.is_undisturbed(step)


def thread_counts_nothing(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check K-EVICT-7."""
    return step.state.evicts == pre.evicts


def _hands_over(config: Config, pre: State, event: Any, step: Step) -> bool:
    if not _can_deliver(law.space(pre, event.ns)) or not law.is_consistent(config, law.space(pre, event.ns)):
        return False
    return bool(law.space(pre, event.ns).dirty) if isinstance(event, Flush) else _eldest_is_dirty(pre, event)


def hands_over_in_order(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-FLUSH-1."""
    calls = step.outcome.flushed
    return bool(calls) and (calls[0].ns, tuple(entry.key for entry in calls[0].entries)) == (
        event.ns,
        law.space(pre, event.ns).dirty,
    )


def _hands_over_undisturbed(config: Config, pre: State, event: Any, step: Step) -> bool:
    return _hands_over(config, pre, event, step) and law.is_undisturbed(step)


def leaves_them_clean(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FLUSH-2."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    evicted = None if isinstance(event, Flush) else before.recent[-1]
    return not after.dirty and all(
        key in after.nodes and after.nodes[key] == node._replace(is_dirty=False)
        for key, node in before.nodes.items()
        if node.value is not None and key != evicted
    )


def _is_undeliverable(config: Config, pre: State, event: Any, step: Step) -> bool:
    namespace = law.space(pre, event.ns)
    if isinstance(event, Flush) and namespace.listener is None:
        return event.ns in pre.spaces
    if namespace.listener is not None and law.cleans_refused(config):
        return False
    if isinstance(event, Flush):
        return (
            namespace.listener is not None
            and namespace.listener.fails > 0
            and bool(namespace.dirty)
            and law.is_consistent(config, namespace)
        )
    return _eldest_is_dirty(pre, event) and _cannot_deliver(namespace) and not law.loses_undelivered(config)


def loses_nothing(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FLUSH-3."""
    namespace = law.space(pre, event.ns)
    error = ErrorKind.ILLEGAL_ARGUMENT if namespace.listener is None else ErrorKind.LISTENER_FAILED
    return (
        step.outcome.answer == Failed(error)
        and law.content(law.space(step.state, event.ns)) == law.content(namespace)
        and law.are_others_unchanged(pre, step, event.ns)
    )


def _hands_over_writes(config: Config, pre: State, event: Any, step: Step) -> bool:
    same_write = config.variants.flushed_tombstone is FlushedTombstone.SAME_WRITE
    return _hands_over(config, pre, event, step) and (same_write or law.is_undisturbed(step))


def drops_tombstones(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-FLUSH-4: delivered tombstones are dropped, but not writes to their keys during the call."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    handed = {key for key in before.dirty if before.nodes[key].value is None}
    if not law.is_undisturbed(step):
        events = [row for row in step.rows if row.ns == event.ns and row.cause not in {"GET", "FLUSH"}]
        last = {row.key: row.op for row in events}
        return all(key in after.nodes for key in handed if last.get(key) == "PUT")
    return after.recent == tuple(key for key in before.recent if key not in handed)


def _counted(config: Config, pre: State, event: Any, step: Step) -> bool:
    if not law.is_undisturbed(step) or event.ns not in pre.spaces:
        return False
    namespace = law.space(pre, event.ns)
    if not law.is_consistent(config, namespace):
        return False
    of_store = namespace.listener is not None and namespace.listener.of_store
    return not of_store and (isinstance(event, Flush) or _eldest_is_dirty(pre, event))


def counts_what_it_looked_up(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FLUSH-5."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    evicted = None if isinstance(event, Flush) else before.recent[-1]
    looked_up = len([key for key in before.dirty if key != evicted])
    if before.listener is None:
        looked_up = 0
    if (after.flushes, after.hits) != (before.flushes + 1, before.hits + looked_up):
        return False
    return after.recent == tuple(key for key in before.recent if key in after.nodes)


def counts_the_request(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-FLUSH-6."""
    if event.ns not in pre.spaces:
        return step.state == pre._replace(flushes=pre.flushes + 1) and step.outcome.answer == Done()
    return not law.is_undisturbed(step) or step.state.flushes == pre.flushes + 1


def hands_over_the_context(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-LISTEN-1."""
    nodes = law.space(pre, event.ns).nodes
    return bool(step.outcome.flushed) and all(
        entry.key in nodes and (entry.value, entry.context) == (nodes[entry.key].value, nodes[entry.key].context)
        for entry in step.outcome.flushed[0].entries
    )


def _within_budget(config: Config, pre: State, event: Any, step: Step) -> bool:
    return _hands_over(config, pre, event, step) and config.reentry_budget > 0


def performs_its_steps(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-LISTEN-2."""
    listener = law.space(pre, event.ns).listener
    calls = step.outcome.flushed
    return bool(calls) and listener is not None and len(calls[0].inner) == len(listener.steps)


def _beyond_budget(config: Config, pre: State, event: Any, step: Step) -> bool:
    return len(step.outcome.flushed) + len(step.outcome.forwarded) > config.reentry_budget


def performs_no_more(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-LISTEN-3."""
    calls, forwards = step.outcome.flushed, step.outcome.forwarded
    performing = sum([1 for call in calls if call.inner]) + sum([1 for forward in forwards if forward.inner])
    if performing > config.reentry_budget:
        return False
    return bool(forwards) or not any(call.inner for call in calls[config.reentry_budget :])


def _throws(config: Config, pre: State, event: Flush, step: Step) -> bool:
    namespace = law.space(pre, event.ns)
    return (
        bool(namespace.dirty)
        and namespace.listener is not None
        and namespace.listener.fails > 0
        and law.is_consistent(config, namespace)
    )


def throws_once(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-LISTEN-4."""
    before, after = law.space(pre, event.ns).listener, law.space(step.state, event.ns).listener
    calls = step.outcome.flushed
    return (
        before is not None
        and after == before._replace(fails=before.fails - 1)
        and step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED)
        and [call.inner for call in calls] == [()]
    )


def is_the_listener(config: Config, pre: State, event: Listen, step: Step) -> bool:
    """Check K-LISTEN-5."""
    steps = () if event.on_flush is ABSENT else event.on_flush
    expected = Listener(steps, 0 if event.fails is ABSENT else event.fails)
    after = law.space(step.state, event.ns)
    return after == law.space(pre, event.ns)._replace(listener=expected) and event.ns in step.state.spaces


def empties_it(config: Config, pre: State, event: Clear, step: Step) -> bool:
    """Check K-CLOSE-1."""
    expected = law.space(pre, event.ns)._replace(nodes={}, recent=(), dirty=())
    exists = event.ns in pre.spaces
    return (
        law.is_uncalled(step)
        and law.are_others_unchanged(pre, step, event.ns)
        and step.state.spaces.get(event.ns) == (expected if exists else None)
    )


def forgets_it(config: Config, pre: State, event: Close, step: Step) -> bool:
    """Check K-CLOSE-2."""
    return law.is_uncalled(step) and event.ns not in step.state.spaces and law.are_others_unchanged(pre, step, event.ns)


def sets_the_limit(config: Config, pre: State, event: Resize, step: Step) -> bool:
    """Check K-RESIZE-1."""
    if law.is_undisturbed(step) and step.state.max_size_bytes != event.max_size_bytes:
        return False
    if event.max_size_bytes < pre.max_size_bytes:
        return True
    return step.state.spaces == pre.spaces and step.state.evicts == pre.evicts


def _shrinks(config: Config, pre: State, event: Resize, step: Step) -> bool:
    return event.max_size_bytes < pre.max_size_bytes and law.is_undisturbed(step) and not law.has_failed(step)


def comes_within_it(config: Config, pre: State, event: Resize, step: Step) -> bool:
    """Check K-RESIZE-2: it goes no further than needed, and no namespace pays two turns more than another."""
    if pre.spaces and law.limited_bytes(config, step.state) > event.max_size_bytes:
        return False
    order = [row.ns for row in step.rows if row.op == "EVICT"]
    if not order:
        return step.state.spaces == pre.spaces
    turns = {ns: order.count(ns) for ns in order}
    still = [ns for ns in pre.spaces if law.space(step.state, ns).nodes]
    return all(turns.get(ns, 0) + 1 >= max(turns.values()) for ns in still)


def counts_each_turn(config: Config, pre: State, event: Resize, step: Step) -> bool:
    """Check K-RESIZE-3."""
    turns = step.state.evicts - pre.evicts
    return turns == len(law.evicted_keys(step)) if len(pre.spaces) == 1 else turns >= len(law.evicted_keys(step))


NAMESPACE_LAWS: Final = (
    law.Law(Rule.K_EVICT_1, (Evict,), law.always, takes_the_eldest),
    law.Law(Rule.K_EVICT_2, (Evict,), _clean_eldest, drops_it),
    law.Law(Rule.K_EVICT_3, (Evict,), _dirty_eldest, hands_over_all_eldest_first),
    law.Law(Rule.K_EVICT_7, (Evict,), _undisturbed, thread_counts_nothing),
    law.Law(Rule.K_FLUSH_1, (Flush,), _hands_over, hands_over_in_order),
    law.Law(Rule.K_FLUSH_2, (Flush, Evict), _hands_over_undisturbed, leaves_them_clean),
    law.Law(Rule.K_FLUSH_3, (Flush, Evict), _is_undeliverable, loses_nothing),
    law.Law(Rule.K_FLUSH_4, (Flush,), _hands_over_writes, drops_tombstones),
    law.Law(Rule.K_FLUSH_5, (Flush, Evict), _counted, counts_what_it_looked_up),
    law.Law(Rule.K_FLUSH_6, (Flush,), law.always, counts_the_request),
    law.Law(Rule.K_LISTEN_1, (Flush,), _hands_over, hands_over_the_context),
    law.Law(Rule.K_LISTEN_2, (Flush, Evict), _within_budget, performs_its_steps),
    law.Law(Rule.K_LISTEN_3, (), _beyond_budget, performs_no_more),
    law.Law(Rule.K_LISTEN_4, (Flush,), _throws, throws_once),
    law.Law(Rule.K_LISTEN_5, (Listen,), law.always, is_the_listener),
    law.Law(Rule.K_CLOSE_1, (Clear,), law.always, empties_it),
    law.Law(Rule.K_CLOSE_2, (Close,), law.always, forgets_it),
    law.Law(Rule.K_RESIZE_1, (Resize,), law.always, sets_the_limit),
    law.Law(Rule.K_RESIZE_2, (Resize,), _shrinks, comes_within_it),
    law.Law(Rule.K_RESIZE_3, (Resize,), _shrinks, counts_each_turn),
)


# Laws of rules that only variants fire.


def _loses_the_eldest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    namespace = law.space(pre, event.ns)
    deaf = namespace.listener is None or namespace.listener.fails > 0
    return (
        law.loses_undelivered(config)
        and deaf
        and bool(namespace.recent)
        and namespace.nodes[namespace.recent[-1]].is_dirty
        and law.is_consistent(config, namespace)
    )


def leaves_undelivered(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """Check K-FLUSH-7: the entry is gone, and without a listener its key stays among the dirty keys."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    eldest = before.recent[-1]
    error = ErrorKind.ILLEGAL_ARGUMENT if before.listener is None else ErrorKind.LISTENER_FAILED
    return (
        step.outcome.answer == Failed(error)
        and after.recent == before.recent[:-1]
        and eldest not in after.nodes
        and (eldest in after.dirty) == (before.listener is None)
    )


def _throws_and_cleans(config: Config, pre: State, event: Any, step: Step) -> bool:
    namespace = law.space(pre, event.ns)
    if (
        not law.cleans_refused(config)
        or not law.is_consistent(config, namespace)
        or namespace.listener is None
        or namespace.listener.fails == 0
    ):
        return False
    return (
        bool(namespace.dirty)
        if isinstance(event, Flush)
        else bool(namespace.recent) and namespace.nodes[namespace.recent[-1]].is_dirty
    )


def leaves_the_others_clean(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-FLUSH-8."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    eldest = None if isinstance(event, Flush) else before.recent[-1]
    return (
        step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED)
        and all(key == eldest for key in after.dirty)
        and all(key in after.nodes and not after.nodes[key].is_dirty for key in before.nodes if key != eldest)
    )


def _forgets_later_writes(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Return whether a flush delivers under that variant, and no listener closes or listens meanwhile."""
    namespace = law.space(pre, event.ns)
    if config.variants.flushed_tombstone is FlushedTombstone.SAME_WRITE or not law.is_consistent(config, namespace):
        return False
    is_delivered = namespace.listener is not None and namespace.listener.fails == 0 and not namespace.listener.of_store
    listeners = [other.listener for other in pre.spaces.values() if other.listener is not None]
    return is_delivered and not any(isinstance(op, Close | Listen) for one in listeners for op in one.steps)


def drops_the_key(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """Check K-FLUSH-9."""
    before, after = law.space(pre, event.ns), law.space(step.state, event.ns)
    return not any(before.nodes[key].value is None and key in after.nodes for key in before.dirty)


def _is_booked(config: Config, pre: State, event: Any, step: Step) -> bool:
    return config.variants.total is Total.RUNNING and law.is_undisturbed(step) and not law.has_failed(step)


def books_every_change(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-METRICS-4: an undisturbed step changes the running total by the change of the sum of sizes."""
    return step.state.running - pre.running == law.bytes_in(step.state) - law.bytes_in(pre)


VARIANT_LAWS: Final = (
    law.Law(Rule.K_FLUSH_7, (Evict,), _loses_the_eldest, leaves_undelivered),
    law.Law(Rule.K_FLUSH_8, (Flush, Evict), _throws_and_cleans, leaves_the_others_clean),
    law.Law(Rule.K_FLUSH_9, (Flush,), _forgets_later_writes, drops_the_key),
    law.Law(Rule.K_METRICS_4, (), _is_booked, books_every_change),
)
