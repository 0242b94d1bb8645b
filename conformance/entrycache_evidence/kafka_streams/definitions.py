"""The definitions of `kafka-streams`: the result of each operation, as a change of the expected state.

`DOES` maps each operation to a function that changes an `ExpectedState` and returns the answer; those of the levels
`cache` and `store` stand in `cache_definitions`. `is_defined` compares a step with its definition and its frame; every
step inside a call is compared too. Definitions leave nothing open. A definition is checked only if no law of a rule is
broken. If the step differs, the rule of the operation is reported as broken. Where an open view leaves an answer to the
subject, other answers are compared too: those that are allowed guide the reference, and no others do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from entrycache_evidence.kafka_streams import expected_state
from entrycache_evidence.kafka_streams.cache_definitions import (
    CACHES,
    OF_STORE,
    STORES,
    Does,
    do_clear,
    do_close,
    encode_key,
    ensure_store,
    find_value,
    flush,
    list_between,
    node_size,
    put_entry,
    put_value,
    read_value,
)
from entrycache_evidence.kafka_streams.frame import BETWEEN_PARTS, MAY_CHANGE, changes_outside
from entrycache_reference.kafka_streams import ops, outcomes, view_ops
from entrycache_reference.kafka_streams.config import BackwardTombstone, CloseCheck, Config, RangeQuery, ViewTombstone
from entrycache_reference.kafka_streams.laws import is_for_another_kind
from entrycache_reference.kafka_streams.laws.stores import shown_by_dropping
from entrycache_reference.kafka_streams.laws.views import shown_backward
from entrycache_reference.kafka_streams.laws.windows import is_wanted, name_of, read_name
from entrycache_reference.kafka_streams.state import Node, OpenView, Part, Row, State, Step, Store, StoreSettings
from entrycache_reference.kafka_streams.view_ops import StoreKind
from entrycache_reference.kafka_streams.views import INSIDE_A_CALL, follow
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

REFUSED: Final = outcomes.ErrorKind.ILLEGAL_STATE


# Operations of level `views`.


def do_store_open(expected: expected_state.ExpectedState, event: view_ops.StoreOpen) -> outcomes.Answer:
    """Open a store, empty, unless one of that name is open."""
    if event.store in expected.stores and expected.stores[event.store].is_open:
        expected.error = REFUSED
        return outcomes.Done()
    kind = StoreKind.KEY_VALUE if event.kind is ABSENT else event.kind
    is_segmented = event.below is view_ops.Underlying.SEGMENTS
    settings = StoreSettings(
        kind,
        view_ops.Underlying.SEGMENTS if is_segmented else view_ops.Underlying.MEMORY,
        1_000_000 if event.retention is ABSENT else event.retention,
        (60 if event.segment_interval is ABSENT else event.segment_interval) if is_segmented else 1,
        event.listens is not False,
    )
    expected.stores[event.store] = Store(old_values=event.old_values, settings=settings)
    expected.open(event.store).listener = OF_STORE
    return outcomes.Done()


def keys_of_view(event: Any, keys: Any) -> list[str]:
    """Return the keys of a view, ascending."""
    if getattr(event, "prefix", None) is None:
        first, last = (None if bound is ABSENT else bound for bound in (event.from_, event.to))
        return list_between(keys, first, last)
    start = encode_key(event.prefix)
    return [key for key in list_between(keys, event.prefix, None) if encode_key(key)[: len(start)] == start]


def list_view(expected: expected_state.ExpectedState, event: Any, backward: bool) -> outcomes.Answer:
    """Look up the cached keys of a view in its order, and return what the plain map of the last writes holds."""
    ensure_store(expected, event.store)
    stored = dict(expected.stores[event.store].inner)
    nodes = dict(expected.open(event.store).nodes) if event.store in expected else {}
    order = -1 if backward else 1
    for key in keys_of_view(event, nodes)[::order]:
        expected_state.look_up(expected, event.store, key)
    keys = keys_of_view(event, {**stored, **nodes})[::order]
    if expected.config.variants.view_tombstone is ViewTombstone.DROPPED:
        return outcomes.Listing(shown_by_dropping(keys, nodes, stored))
    if backward and expected.config.variants.backward_tombstone is BackwardTombstone.SHOWS:
        return outcomes.Listing(shown_backward(keys, nodes, stored))
    view = {key: nodes[key].value if key in nodes else stored[key] for key in keys}
    return outcomes.Listing(tuple([(key, value) for key, value in view.items() if value is not None]))


def do_store_view(expected: expected_state.ExpectedState, event: view_ops.StoreView) -> outcomes.Answer:
    """Return a view, or by its isolation what lies below; a prefix stands alone."""
    if event.prefix is not None and (event.backward, event.from_, event.to) != (False, None, None):
        expected.error = REFUSED
        return outcomes.Done()
    if event.isolation is not view_ops.Isolation.COMMITTED:
        return list_view(expected, event, event.backward)
    ensure_store(expected, event.store)
    inner = expected.stores[event.store].inner
    keys = keys_of_view(event, inner)[:: -1 if event.backward else 1]
    return outcomes.Listing(tuple([(key, inner[key]) for key in keys]))


def do_store_put_if_absent(expected: expected_state.ExpectedState, event: view_ops.StorePutIfAbsent) -> outcomes.Answer:
    """Read a value, and write one if there is none."""
    value = read_value(expected, event.store, event.key)
    if value is None and expected.error is None and expected.is_right:
        put_value(expected, event.store, event.key, event.value, is_dirty=True)
    return outcomes.Value(value)


def do_store_put_all(expected: expected_state.ExpectedState, event: view_ops.StorePutAll) -> outcomes.Answer:
    """Write values one by one, up to the first error."""
    ensure_store(expected, event.store)
    for key, value in event.entries:
        if expected.error is None and expected.is_right:
            put_value(expected, event.store, key, value, is_dirty=True)
    return outcomes.Done()


def do_store_count(expected: expected_state.ExpectedState, event: view_ops.StoreCount) -> outcomes.Answer:
    """Count the keys of the underlying store."""
    ensure_store(expected, event.store)
    return outcomes.Counted(len(expected.stores[event.store].inner))


def do_store_query(expected: expected_state.ExpectedState, event: view_ops.StoreQuery) -> outcomes.Answer:
    """Return the last write, or what lies below; cache nothing."""
    if not event.skip_cache:
        return outcomes.Value(find_value(expected, event.store, event.key)[1])
    ensure_store(expected, event.store)
    return outcomes.Value(expected.stores[event.store].inner.get(event.key))


def do_store_query_range(expected: expected_state.ExpectedState, event: view_ops.StoreQueryRange) -> outcomes.Answer:
    """Return a forward view, or by a variant what lies below."""
    if expected.config.variants.range_query is RangeQuery.MERGED:
        return list_view(expected, event, backward=False)
    ensure_store(expected, event.store)
    inner = expected.stores[event.store].inner
    return outcomes.Listing(tuple([(key, inner[key]) for key in list_between(inner, event.from_, event.to)]))


def do_store_clear(expected: expected_state.ExpectedState, event: view_ops.StoreClear) -> outcomes.Answer:
    """Remove every cached entry."""
    ensure_store(expected, event.store)
    return do_clear(expected, ops.Clear(event.store))


def do_fail_forward(expected: expected_state.ExpectedState, event: view_ops.FailForward) -> outcomes.Answer:
    """Let the next forwards of one key throw."""
    ensure_store(expected, event.store)
    store = expected.stores[event.store]
    failing = {key: left for key, left in {**store.failing, event.key: event.n}.items() if left}
    expected.stores[event.store] = store._replace(failing=failing)
    return outcomes.Done()


def do_store_close(expected: expected_state.ExpectedState, event: view_ops.StoreClose) -> outcomes.Answer:
    """Flush everything dirty, then remove the namespace and what lies below, even if the flush fails."""
    ensure_store(expected, event.store)
    expected.flushes += 1
    handle = (event.store, expected.closings(event.store))
    flush(expected, event.store)
    if expected.is_right and handle not in expected.former:
        do_close(expected, ops.Close(event.store))
        left = expected.stores[event.store]
        if handle in expected.taking:
            expected.former[handle] = left._replace(inner={}, forwarded={}, owed=(), is_open=False)
        expected.stores[event.store] = Store(is_open=False, old_values=left.old_values, settings=left.settings)
        expected.views = {name: view for name, view in expected.views.items() if view.range.store != event.store}
    return outcomes.Done()


# Open views.


def last_writes(expected: expected_state.ExpectedState, event: view_ops.ViewOpen) -> dict[str, str]:
    """Return the last write of each key of a view's range that has one, in the view's order."""
    store = expected.stores[event.store]
    nodes = expected.open(event.store).nodes if event.store in expected else {}
    pairs = {key: node.value for key, node in nodes.items() if not is_hidden(expected, store, key)}
    view = {**store.inner, **pairs}
    keys = order_of_view(store, event, view)
    return {key: value for key in keys if (value := view[key]) is not None}


def order_of_view(store: Store, event: Any, keys: Any) -> list[str]:
    """Return the keys, windows or sessions of a view in its order."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return keys_of_view(event, keys)[:: -1 if event.backward else 1]
    names = [name for name in keys if is_wanted(event, name)]
    return sorted(names, key=lambda name: (place(store, name), read_name(name).start), reverse=event.backward)


def place(store: Store, name: str) -> tuple[int, bytes, int]:
    """Return where a key, a window or a session comes in the order of its store."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return 0, encode_key(name), 0
    key, _, end = read_name(name)
    return end // store.settings.segment_interval, encode_key(key), end


def is_hidden(expected: expected_state.ExpectedState, store: Store, name: str) -> bool:
    """Return whether a cached window or session is read by nothing."""
    return expected_state.has_expired(store, name) and not expected_state.shows_expired(expected)


def watch(expected: expected_state.ExpectedState, event: ops.Op | None = None) -> None:
    """Add the present values, and those that the operation wrote, to what each open view may show."""
    for name, view in expected.views.items():
        now = last_writes(expected, view.range)
        pairs = [(key, now.get(key)) for key in {**view.had, **now}]
        if isinstance(event, view_ops.StorePutAll) and event.store == view.range.store:
            pairs += [(key, value) for key, value in event.entries if keys_of_view(view.range, [key])]
        had = dict(view.had)
        for key, value in pairs:
            former = had.get(key, (None,))
            had[key] = former if value in former else (*former, value)
        expected.views[name] = view._replace(had=had)


def do_view_open(expected: expected_state.ExpectedState, event: view_ops.ViewOpen) -> outcomes.Answer:
    """Open a view, unless one of that name is open; a prefix stands alone."""
    bounds = {event.from_, event.to} - {ABSENT, None}
    has_more = event.prefix is not None and (event.backward or bool(bounds))
    if event.view in expected.views or has_more:
        expected.error = REFUSED
        return outcomes.Done()
    ensure_store(expected, event.store)
    had: dict[str, tuple[str | None, ...]] = {key: (value,) for key, value in last_writes(expected, event).items()}
    expected.views[event.view] = OpenView(event, had)
    loosen(expected, event.store)
    return outcomes.Done()


def loosen(expected: expected_state.ExpectedState, store: str) -> None:
    """Leave the order of use of a store to the subject."""
    if store in expected:
        expected.open(store).is_loose = True


def do_view_next(expected: expected_state.ExpectedState, event: view_ops.ViewNext) -> outcomes.Answer:
    """Return the least key behind the last one that had a value at the opening and has one now."""
    view = expected.views.get(event.view)
    if view is None:
        expected.error = REFUSED
        return outcomes.Done()
    store = expected.stores[view.range.store]
    left = [] if view.has_ended else list(last_writes(expected, view.range).items())
    left = [pair for pair in left if is_past(store, view, pair[0])]
    entry = next((pair for pair in left if view.had.get(pair[0], (None,))[0] is not None), None)
    ended = view._replace(has_ended=True)
    expected.views[event.view] = ended if entry is None else move_to(store, view, entry[0])
    loosen(expected, view.range.store)
    return outcomes.NextEntry(None if entry is None else show(store, view.range, *entry))


def is_past(store: Store, view: OpenView, name: str) -> bool:
    """Return whether a view has not come to this key, window or session."""
    if view.last is None:
        return True
    own, last = place(store, name), place(store, view.last)
    return name not in view.came if own == last else (own < last) == view.range.backward


def move_to(store: Store, view: OpenView, name: str) -> OpenView:
    """Return a view that has come to this key, window or session."""
    is_beside = view.last is not None and place(store, view.last) == place(store, name)
    return view._replace(last=name, came=(*view.came, name) if is_beside else (name,))


def show(store: Store, event: Any, name: str, value: str | None) -> Any:
    """Return an entry as a view of its store shows it."""
    if store.settings.kind is StoreKind.KEY_VALUE:
        return name, value
    key, start, end = read_name(name)
    if store.settings.kind is StoreKind.SESSION:
        return key, start, end, value
    return (key, start, value) if getattr(event, "key", ABSENT) is ABSENT else (start, value)


# Windows and sessions.


def do_window_put(expected: expected_state.ExpectedState, event: Any) -> outcomes.Answer:
    """Write a window or a session, unless it has expired, and evict the overflow."""
    store, name, value = expected.stores[event.store], name_of(event), getattr(event, "value", None)
    if not expected_state.shows_expired(expected):
        store = expected.stores[event.store] = expected_state.advance(store, name)
        if expected_state.has_expired(store, name):
            return outcomes.Done()
    of_times = 20 if store.settings.kind is StoreKind.WINDOW else 24
    size = node_size(event.key, value, "", ()) + of_times
    node = Node(value, True, size, outcomes.Context(), expected.writes)
    put_entry(expected, event.store, name, node)
    return outcomes.Done()


def do_window_get(expected: expected_state.ExpectedState, event: Any) -> outcomes.Answer:
    """Look a window or a session up, and return its last write unless it has expired."""
    name, store = name_of(event), expected.stores[event.store]
    expected.gets += 1
    node = expected_state.look_up(expected, event.store, name) if event.store in expected else None
    if is_hidden(expected, store, name):
        return outcomes.Value(None)
    return outcomes.Value(store.inner.get(name) if node is None else node.value)


def do_window_view(expected: expected_state.ExpectedState, event: Any) -> outcomes.Answer:
    """Return what the plain map of the last writes holds; the order of use is the subject's from then on."""
    store, variants = expected.stores[event.store], expected.config.variants
    cached = dict(expected.open(event.store).nodes) if event.store in expected else {}
    nodes = {name: node for name, node in cached.items() if not is_hidden(expected, store, name)}
    names = order_of_view(store, event, {**nodes, **store.inner})
    pairs = tuple((name, nodes[name].value if name in nodes else store.inner[name]) for name in names)
    if variants.view_tombstone is ViewTombstone.DROPPED:
        pairs = shown_by_dropping(names, nodes, store.inner)
    elif event.backward and variants.backward_tombstone is BackwardTombstone.SHOWS:
        pairs = shown_backward(names, nodes, store.inner)
    else:
        pairs = tuple((name, value) for name, value in pairs if value is not None)
    by_start = sorted(pairs, key=lambda pair: read_name(pair[0]).start)
    ordered = sorted(by_start, key=lambda pair: place(store, pair[0]), reverse=event.backward)
    loosen(expected, event.store)
    return outcomes.WindowListing(tuple([show(store, event, *pair) for pair in ordered]))


def do_inner(expected: expected_state.ExpectedState, event: ops.StoreInner) -> outcomes.Answer:
    """Return the content of the underlying store, in its order."""
    if event.store not in expected.stores or expected.stores[event.store].settings.kind is StoreKind.KEY_VALUE:
        return STORES[ops.StoreInner](expected, event)
    store = expected.stores[event.store]
    names = sorted(store.inner, key=lambda name: (place(store, name), read_name(name).start))
    return outcomes.WindowListing(tuple([show(store, event, name, store.inner[name]) for name in names]))


def is_mismatched(expected: expected_state.ExpectedState, event: Any) -> bool:
    """Return whether a store is of another kind than an operation, or its arguments are those of another kind."""
    kind = expected.stores.get(getattr(event, "store", ""), Store()).settings.kind
    if is_for_another_kind(expected.state._replace(stores=expected.stores), event):
        return True
    if isinstance(event, view_ops.SessionPut | view_ops.SessionRemove | view_ops.SessionGet):
        return event.start > event.end
    if not isinstance(event, view_ops.ViewOpen | view_ops.WindowView | view_ops.SessionView):
        return False
    given = {name for name in VIEW_ARGUMENTS if getattr(event, name, ABSENT) is not ABSENT}
    given -= {"prefix"} if getattr(event, "prefix", None) is None else set()
    if not given <= VIEW_ARGUMENTS_OF[kind] or ("key" in given and given & {"from_", "to"}):
        return True
    return kind is StoreKind.SESSION and not given & {"key", "from_", "to"}


VIEW_ARGUMENTS: Final = ("prefix", "from_", "to", "key", "time_from", "time_to", "earliest_end", "latest_start")
VIEW_ARGUMENTS_OF: Final = {
    StoreKind.KEY_VALUE: {"prefix", "from_", "to"},
    StoreKind.WINDOW: {"from_", "to", "key", "time_from", "time_to"},
    StoreKind.SESSION: {"from_", "to", "key", "earliest_end", "latest_start"},
}
"""The arguments of a view, by the kind of its store."""


def do_view_close(expected: expected_state.ExpectedState, event: view_ops.ViewClose) -> outcomes.Answer:
    """Close an open view."""
    if expected.views.pop(event.view, None) is None:
        expected.error = REFUSED
    return outcomes.Done()


def leaves_open(expected: expected_state.ExpectedState, event: ops.Op) -> bool:
    """Return whether an operation inside a call asks for what an open view leaves to the subject."""
    if isinstance(event, ops.Metrics):
        ns = event.ns if isinstance(event.ns, str) else None
        return ns is not None and ns in expected and expected.open(ns).is_loose
    is_loose = any(space.is_loose for space in expected.state.spaces.values())
    return isinstance(event, view_ops.ViewNext) and (bool(expected.views) or is_loose)


VIEWS: Final[dict[type[ops.Op], Does]] = {
    view_ops.StoreOpen: do_store_open,
    view_ops.StoreView: do_store_view,
    view_ops.StorePutIfAbsent: do_store_put_if_absent,
    view_ops.StorePutAll: do_store_put_all,
    view_ops.StoreCount: do_store_count,
    view_ops.StoreQuery: do_store_query,
    view_ops.StoreQueryRange: do_store_query_range,
    view_ops.StoreClear: do_store_clear,
    view_ops.FailForward: do_fail_forward,
    view_ops.StoreClose: do_store_close,
    view_ops.ViewOpen: do_view_open,
    view_ops.ViewNext: do_view_next,
    view_ops.ViewClose: do_view_close,
    **dict.fromkeys((view_ops.WindowPut, view_ops.SessionPut, view_ops.SessionRemove), do_window_put),
    **dict.fromkeys((view_ops.WindowGet, view_ops.SessionGet), do_window_get),
    **dict.fromkeys((view_ops.WindowView, view_ops.SessionView), do_window_view),
    ops.StoreInner: do_inner,
}
"""The definitions of the levels `views` and `windows`, by operation."""


def is_on_closed(expected: expected_state.ExpectedState, event: ops.Op) -> bool:
    """Return whether an operation is on a closed store, and neither opens nor closes it."""
    store = expected.stores.get(getattr(event, "store", ""), Store())
    is_checked = expected.config.variants.close_check is CloseCheck.ALL or store.settings.kind is StoreKind.KEY_VALUE
    if isinstance(event, ops.StoreFlush) and not is_checked:
        return False
    return not store.is_open and not isinstance(event, view_ops.StoreOpen | view_ops.StoreClose)


def refuse(expected: expected_state.ExpectedState, event: ops.Op) -> outcomes.Answer:
    """Refuse an operation on a closed store."""
    expected.error = REFUSED
    return outcomes.Done()


# Answers of a subject that guide the reference.

CANDIDATES: Final = 24
"""The greatest number of other answers that are compared at one step."""

Guided = tuple[State, outcomes.Answer] | None
"""The state and the answer to go on with after an answer of a subject; None if it is not allowed."""


def may_show(view: OpenView, store: Store, entry: outcomes.Pair | None, config: Config) -> bool:
    """Return whether a view may answer this entry, or its end: no key that had a value all the time is left out."""
    if view.has_ended:
        return entry is None
    had, is_backward = dict(view.had), view.range.backward
    variants = config.variants
    shows = is_backward and variants.backward_tombstone is BackwardTombstone.SHOWS
    shows = shows or (variants.view_tombstone is ViewTombstone.DROPPED and (entry is None or entry[1] is not None))
    if entry is not None and shows and order_of_view(store, view.range, [entry[0]]):
        had.setdefault(entry[0], (None,))
    ahead = [key for key in had if is_past(store, view, key)]
    required = [place(store, key) for key in ahead if None not in had[key]]
    if entry is None:
        return not required
    own = place(store, entry[0])
    if entry[0] not in ahead or any((at < own) != is_backward and at != own for at in required):
        return False
    values = had[entry[0]]
    return (shows and None in values) or (entry[1] is not None and entry[1] in values)


def shown_answers(
    config: Config, pre: State, event: view_ops.ViewNext, step: Step
) -> Iterator[tuple[outcomes.Answer, Guided]]:
    """Yield answers that a view might give, each with the state that it leads to."""
    expected = expected_state.ExpectedState(config, pre, (), ())
    watch(expected)
    view = expected.views[event.view]
    store = expected.stores[view.range.store]
    pairs = [(key, value) for key, values in view.had.items() for value in (values[0], values[-1], None, "?")]
    others = (("", "1"), ("b", None)) if store.settings.kind is StoreKind.KEY_VALUE else ()
    for entry in (None, *others, *pairs):
        answer = outcomes.NextEntry(None if entry is None else show(store, view.range, *entry))
        own = step.state.views[event.view]._replace(last=view.last, has_ended=view.has_ended, came=view.came)
        moved = own._replace(has_ended=True) if entry is None else move_to(store, own, entry[0])
        state = step.state._replace(views={**step.state.views, event.view: moved})
        yield answer, (state, answer) if may_show(view, store, entry, config) else None


def order_answers(
    pre: State, event: ops.Metrics, step: Step, own: outcomes.NamespaceCounters
) -> Iterator[tuple[outcomes.Answer, Guided]]:
    """Yield counters and orders of use that a subject might answer, each with the state that it leads to."""
    assert isinstance(event.ns, str)
    space = pre.spaces[event.ns]
    for more, lru in ((0, own.lru[::-1]), (1, own.lru), (-1, own.lru), (2, ()), (0, own.lru[1:]), (0, (*own.lru, "?"))):
        order = lru or space.recent
        answer = replace(own, hits=own.hits + more, misses=own.misses + more, lru=lru)
        is_open = bool(space.recent) and not lru
        used = space._replace(recent=order, hits=answer.hits, misses=answer.misses, is_loose=is_open)
        state = step.state._replace(spaces={**step.state.spaces, event.ns: used})
        is_allowed = more >= 0 and sorted(order) == sorted(space.recent)
        yield answer, (state, replace(answer, lru=order)) if is_allowed else None


def are_other_answers_defined(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Check that exactly the allowed answers guide the reference, each to the state that follows from it."""
    own = step.outcome.answer
    candidates: Iterator[tuple[outcomes.Answer, Guided]] = iter(())
    if pre.is_unjudged or isinstance(own, outcomes.Unanswered):
        return True
    if isinstance(event, view_ops.ViewNext) and event.view in pre.views:
        candidates = shown_answers(config, pre, event, step)
    elif isinstance(event, ops.Metrics) and isinstance(own, outcomes.NamespaceCounters):
        candidates = (
            order_answers(pre, event, step, own) if event.ns in pre.spaces and is_loose(pre, event) else candidates
        )
    for answer, guided in islice(candidates, CANDIDATES):
        done = follow(pre, event, config, step, replace(step.outcome, answer=answer))
        wanted = None if answer == own else guided
        if (None if done is None else (done.state, done.outcome.answer)) != wanted:
            return False
    return True


def is_loose(state: State, event: ops.Metrics) -> bool:
    """Return whether an open view has left the order of use of a namespace open."""
    return isinstance(event.ns, str) and state.spaces[event.ns].is_loose


# The whole definition.

DOES: Final[Mapping[type[ops.Op], Does]] = {**CACHES, **STORES, **VIEWS}


def check_definition(config: Config, pre: State, event: ops.Op, step: Step) -> tuple[Rule, ...]:
    """Return the rule of the operation if the step differs from its definition or leaves its frame."""
    return () if is_defined(config, pre, event, step) else (event.rule,)


def is_defined(config: Config, pre: State, event: ops.Op, step: Step) -> bool:
    """Return whether a step equals its definition and keeps to its frame.

    A step without an answer is compared in everything else, up to where it ends or throws.
    """
    expected = expected_state.ExpectedState(config, pre, step.parts, step.rows)
    answer = step.outcome.answer
    if changes_outside(pre, event, step.state, step.parts) or not matches_definition(expected, event, answer):
        return False
    return (
        (expected.no_answer_reason or None) == (answer.reason if isinstance(answer, outcomes.Unanswered) else None)
        and expected.to_state() == step.state
        and tuple(expected.rows) == step.rows
        and tuple(expected.calls) == step.outcome.flushed
        and tuple(expected.forwards) == step.outcome.forwarded
        and all(is_part_defined(config, part, step.rows) for part in step.parts)
        and are_other_answers_defined(config, pre, event, step)
    )


def is_part_defined(config: Config, part: Part, rows: tuple[Row, ...]) -> bool:
    """Return whether a step inside a call equals its definition; `rows` are those of the whole step."""
    expected = expected_state.ExpectedState(config, part.pre, part.parts, rows)
    return (
        matches_definition(expected, part.event, part.answer)
        and expected.no_answer_reason == part.after.in_progress.no_answer_reason
        and expected.equals(part.after)
        and all(is_part_defined(config, inner, rows) for inner in part.parts)
    )


def matches_definition(expected: expected_state.ExpectedState, event: ops.Op, answer: object) -> bool:
    """Apply the definition; return whether the answer equals it and every inner step was performed."""
    if is_on_closed(expected, event) or is_mismatched(expected, event):
        defined_answer = refuse(expected, event)
    else:
        if expected.called and leaves_open(expected, event):
            expected.no_answer_reason = INSIDE_A_CALL
        watch(expected)
        defined_answer = DOES[type(event)](expected, event)
        watch(expected, event)
    expected_answer = defined_answer if expected.error is None else outcomes.Failed(expected.error)
    answers = isinstance(answer, outcomes.Unanswered) or expected_answer == answer
    return expected.is_right and answers and next(expected.parts, None) is None


__all__ = ["BETWEEN_PARTS", "MAY_CHANGE", "check_definition", "is_defined"]
