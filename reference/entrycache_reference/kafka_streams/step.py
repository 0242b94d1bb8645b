"""The dispatch: one step calls the function of its operation; listeners perform steps inside it.

`FUNCTIONS` maps each operation to its function. `step` runs one event and turns the step in progress into the outcome
and the rows. `build_environment` gives rule functions the means to perform steps inside calls.
"""

from collections.abc import Callable
from typing import Any, Final

from entrycache_reference.kafka_streams import entries, namespaces, ops, stores, view_ops, views, windows
from entrycache_reference.kafka_streams.change import build_rows
from entrycache_reference.kafka_streams.config import Config
from entrycache_reference.kafka_streams.flush import Environment
from entrycache_reference.kafka_streams.outcomes import Answer, Outcome, Unanswered
from entrycache_reference.kafka_streams.state import IDLE, State, Step
from entrycache_reference.rules import Rule, rule

FUNCTIONS: Final[dict[type[ops.Op], Callable[..., tuple[State, Answer]]]] = {
    ops.Put: entries.put,
    ops.PutAll: entries.put_all,
    ops.PutIfAbsent: entries.put_if_absent,
    ops.Get: entries.get,
    ops.Delete: entries.delete,
    ops.Range: entries.range_,
    ops.ReverseRange: entries.reverse_range,
    ops.All: entries.all_,
    ops.ReverseAll: entries.reverse_all,
    ops.Listen: namespaces.listen,
    ops.Flush: namespaces.flush,
    ops.Evict: namespaces.evict,
    ops.Clear: namespaces.clear,
    ops.Close: namespaces.close,
    ops.Resize: namespaces.resize,
    ops.Usage: entries.usage,
    ops.Metrics: entries.metrics,
    ops.StorePut: stores.store_put,
    ops.StoreGet: stores.store_get,
    ops.StoreDelete: stores.store_delete,
    ops.StoreRange: stores.store_range,
    ops.StoreAll: stores.store_all,
    ops.StoreFlush: stores.store_flush,
    ops.StoreInner: windows.list_below,
    ops.OnForward: stores.on_forward,
    ops.Share: stores.share,
    view_ops.StoreOpen: views.store_open,
    view_ops.StoreView: views.store_view,
    view_ops.StorePutIfAbsent: views.store_put_if_absent,
    view_ops.StorePutAll: views.store_put_all,
    view_ops.StoreCount: views.store_count,
    view_ops.StoreQuery: views.store_query,
    view_ops.StoreQueryRange: views.store_query_range,
    view_ops.StoreClear: views.store_clear,
    view_ops.FailForward: stores.fail_forward,
    view_ops.StoreClose: views.store_close,
    view_ops.ViewOpen: views.view_open,
    view_ops.ViewNext: views.view_next,
    view_ops.ViewClose: views.view_close,
    view_ops.WindowPut: windows.window_put,
    view_ops.WindowGet: windows.window_get,
    view_ops.SessionPut: windows.session_put,
    view_ops.SessionRemove: windows.session_remove,
    view_ops.SessionGet: windows.session_get,
    view_ops.WindowView: views.window_view,
    view_ops.SessionView: views.session_view,
}
"""The function of each operation."""


@rule(Rule.K_LISTEN_2, Rule.K_CLOSE_3)
def perform(state: State, event: Any, config: Config) -> tuple[State, Answer]:
    """Perform one operation, in a step of its own or inside a call; refuse what its store does not take."""
    if views.is_refused(state, event, config):
        return state, windows.REFUSED
    function = FUNCTIONS[type(event)]
    if not (state.views or has_loose_order(state)):
        return function(state, event, config, build_environment())
    marked = views.watch(views.mark_open_answer(state, event), config)
    after, answer = function(marked, event, config, build_environment())
    return views.watch(after, config, event), answer


def has_loose_order(state: State) -> bool:
    """Return whether an open view has left the order of use of a namespace open."""
    return any(space.is_loose for space in state.spaces.values())


def build_environment() -> Environment:
    """Return the environment of a step: each step inside a call is performed here again."""
    return Environment(perform, stores.receive)


@rule(Rule.K_LIVENESS_1, Rule.K_LIVENESS_2)
def step(state: State, event: ops.Op, config: Config) -> Step:
    """Return the result of one event. Pure and total: the given state is never changed."""
    after, answer = perform(state, event, config)
    progress = after.in_progress
    answered = Unanswered(progress.no_answer_reason) if progress.no_answer_reason else answer
    outcome = Outcome(answered, progress.calls, progress.forwards)
    return Step(after._replace(in_progress=IDLE), outcome, build_rows(progress.events), progress.parts)
