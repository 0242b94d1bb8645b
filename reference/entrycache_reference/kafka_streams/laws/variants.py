"""The laws of the rules that hold under a variant only."""

from __future__ import annotations

from typing import Any, Final

from entrycache_reference.kafka_streams.config import Config, FlushedTombstone, Total
from entrycache_reference.kafka_streams.laws.law import Law, bytes_in, cleans, failed, loses, space, undisturbed, whole
from entrycache_reference.kafka_streams.ops import Close, Evict, Flush, Listen
from entrycache_reference.kafka_streams.outcomes import ErrorKind, Failed
from entrycache_reference.kafka_streams.state import State, Step
from entrycache_reference.rules import Rule


def _loses_the_eldest(config: Config, pre: State, event: Evict, step: Step) -> bool:
    own = space(pre, event.ns)
    deaf = own.listener is None or own.listener.fails > 0
    return loses(config) and deaf and bool(own.recent) and own.nodes[own.recent[-1]].is_dirty and whole(config, own)


def leaves_undelivered(config: Config, pre: State, event: Evict, step: Step) -> bool:
    """K-FLUSH-7: it is gone, and where nobody listens its key is still among the dirty ones."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    eldest = before.recent[-1]
    error = ErrorKind.ILLEGAL_ARGUMENT if before.listener is None else ErrorKind.LISTENER_FAILED
    return (
        step.outcome.answer == Failed(error)
        and after.recent == before.recent[:-1]
        and eldest not in after.nodes
        and (eldest in after.dirty) == (before.listener is None)
    )


def _throws(config: Config, pre: State, event: Any, step: Step) -> bool:
    own = space(pre, event.ns)
    if not cleans(config) or not whole(config, own) or own.listener is None or own.listener.fails == 0:
        return False
    return bool(own.dirty) if isinstance(event, Flush) else bool(own.recent) and own.nodes[own.recent[-1]].is_dirty


def leaves_the_others_clean(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-FLUSH-8."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    eldest = None if isinstance(event, Flush) else before.recent[-1]
    return (
        step.outcome.answer == Failed(ErrorKind.LISTENER_FAILED)
        and all(key == eldest for key in after.dirty)
        and all(key in after.nodes and not after.nodes[key].is_dirty for key in before.nodes if key != eldest)
    )


def _forgets_later_writes(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """A flush hands over under that variant, and nobody closes or hears anything new meanwhile."""
    own = space(pre, event.ns)
    if config.variants.flushed_tombstone is FlushedTombstone.SAME_WRITE or not whole(config, own):
        return False
    heard = own.listener is not None and own.listener.fails == 0 and not own.listener.of_store
    listeners = [other.listener for other in pre.spaces.values() if other.listener is not None]
    return heard and not any(isinstance(op, Close | Listen) for one in listeners for op in one.steps)


def drops_the_key(config: Config, pre: State, event: Flush, step: Step) -> bool:
    """K-FLUSH-9."""
    before, after = space(pre, event.ns), space(step.state, event.ns)
    return not any(before.nodes[key].value is None and key in after.nodes for key in before.dirty)


def _is_booked(config: Config, pre: State, event: Any, step: Step) -> bool:
    return config.variants.total is Total.RUNNING and undisturbed(step) and not failed(step)


def books_every_change(config: Config, pre: State, event: Any, step: Step) -> bool:
    """K-METRICS-4: what an undisturbed step changes in the sum of all sizes, it changes in the running total."""
    return step.state.running - pre.running == bytes_in(step.state) - bytes_in(pre)


LAWS: Final = (
    Law(Rule.K_FLUSH_7, (Evict,), _loses_the_eldest, leaves_undelivered),
    Law(Rule.K_FLUSH_8, (Flush, Evict), _throws, leaves_the_others_clean),
    Law(Rule.K_FLUSH_9, (Flush,), _forgets_later_writes, drops_the_key),
    Law(Rule.K_METRICS_4, (), _is_booked, books_every_change),
)
