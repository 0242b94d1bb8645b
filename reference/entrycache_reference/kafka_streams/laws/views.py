"""The laws about views, queries, and the emptying, closing and opening of stores.

They compare with a plain map of the last writes, and restate which keys a view holds by sorting encoded keys.
"""

from typing import Any, Final

from entrycache_reference.kafka_streams.config import BackwardTombstone, CloseCheck, Config, RangeQuery
from entrycache_reference.kafka_streams.laws import law
from entrycache_reference.kafka_streams.laws.stores import (
    EMPTY_STORE,
    agrees,
    hides,
    is_dropped_early,
    is_on_closed,
    last_writes,
    shown_by_dropping,
)
from entrycache_reference.kafka_streams.ops import StoreAll, StoreFlush, StoreRange
from entrycache_reference.kafka_streams.outcomes import Counted, Done, ErrorKind, Failed, Listing, NextEntry, Value
from entrycache_reference.kafka_streams.state import OpenView, State, Step
from entrycache_reference.kafka_streams.view_ops import (
    Isolation,
    StoreClear,
    StoreClose,
    StoreCount,
    StoreKind,
    StoreOpen,
    StorePutIfAbsent,
    StoreQuery,
    StoreQueryRange,
    StoreView,
    ViewClose,
    ViewNext,
    ViewOpen,
)
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

REFUSED: Final = Failed(ErrorKind.ILLEGAL_STATE)


def encode(key: str) -> bytes:
    """Return the bytes by which keys are ordered."""
    return key.encode("utf-8", "surrogatepass")


def keys_in_view(event: Any, keys: Any) -> list[str]:
    """Return the keys that belong to a view, in its order."""
    coded = sorted((encode(key), key) for key in keys)
    prefix = getattr(event, "prefix", None)
    if prefix is not None:
        start = encode(prefix)
        return [key for code, key in coded if code[: len(start)] == start]
    bounds = (getattr(event, "from_", None), getattr(event, "to", None))
    first, last = (None if bound is ABSENT else bound for bound in bounds)
    low = b"" if first is None else encode(first)
    inside = [key for code, key in coded if low <= code and (last is None or code <= encode(last))]
    return inside[::-1] if getattr(event, "backward", False) else inside


def underlying(state: State, name: str) -> dict[str, str]:
    """Return what lies below a store."""
    return dict(state.stores.get(name, EMPTY_STORE).inner)


def _answers(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step)


def _is_committed(event: Any) -> bool:
    """Return whether an operation reads committed data only."""
    return isinstance(event, StoreView) and event.isolation is Isolation.COMMITTED


def _reads_cache(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    return not law.has_failed(step) and not _is_committed(event)


def _merges(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    by_default = config.variants.backward_tombstone is BackwardTombstone.HIDES
    is_default = hides(config) and (by_default or not event.backward)
    return _reads_cache(config, pre, event, step) and event.prefix != "" and is_default


def shows_the_last_writes(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-VIEW-1."""
    view = last_writes(pre, event.store)
    return step.outcome.answer == Listing(tuple((key, view[key]) for key in keys_in_view(event, view)))


def touches_its_cached_keys(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-VIEW-2."""
    before, after = law.space(pre, event.store), law.space(step.state, event.store)
    touched = keys_in_view(event, before.nodes)
    recent = (*touched[::-1], *(key for key in before.recent if key not in touched))
    return (
        law.is_uncalled(step)
        and (after.recent, after.hits, after.misses) == (recent, before.hits + len(touched), before.misses)
        and (after.nodes, after.dirty) == (before.nodes, before.dirty)
        and underlying(step.state, event.store) == underlying(pre, event.store)
        and law.are_others_unchanged(pre, step, event.store)
        and (step.state.puts, step.state.gets, step.state.evicts) == (pre.puts, pre.gets, pre.evicts)
    )


def _has_an_empty_prefix(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    return event.prefix == "" and hides(config) and _reads_cache(config, pre, event, step)


def shows_every_key(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    """Check K-VIEW-3."""
    view = last_writes(pre, event.store)
    return step.outcome.answer == Listing(tuple((key, view[key]) for key in sorted(view, key=encode)))


def counts_what_lies_below(config: Config, pre: State, event: StoreCount, step: Step) -> bool:
    """Check K-VIEW-4."""
    is_counted = step.outcome.answer == Counted(len(underlying(pre, event.store)))
    return is_counted and law.are_others_unchanged(pre, step, event.store)


def _offers(config: Config, pre: State, event: StorePutIfAbsent, step: Step) -> bool:
    return not law.has_failed(step) and law.is_undisturbed(step)


def writes_only_where_nothing_is(config: Config, pre: State, event: StorePutIfAbsent, step: Step) -> bool:
    """Check K-VIEW-5: what it finds below is cached, clean; it writes only if it finds nothing."""
    node = law.node_at(pre, event.store, event.key)
    value = underlying(pre, event.store).get(event.key) if node is None else node.value
    dirty = value is None
    expected = [(event.key, dirty)] if node is None or dirty else []
    written = [(row.key, row.dirty) for row in step.rows if row.op == "PUT"]
    return step.outcome.answer == Value(value) and written == expected


def caches_nothing(config: Config, pre: State, event: StoreQuery, step: Step) -> bool:
    """Check K-VIEW-8 for a query of one key."""
    before, after = law.space(pre, event.store), law.space(step.state, event.store)
    node = None if event.skip_cache else before.nodes.get(event.key)
    value = underlying(pre, event.store).get(event.key) if node is None else node.value
    requests = 0 if event.skip_cache else 1
    recent = before.recent
    if node is not None:
        recent = (event.key, *(key for key in recent if key != event.key))
    return (
        step.outcome.answer == Value(value)
        and law.is_uncalled(step)
        and (after.nodes, after.recent, after.hits) == (before.nodes, recent, before.hits + (node is not None))
        and (step.state.puts, step.state.gets) == (pre.puts, pre.gets + requests)
    )


def _queries(config: Config, pre: State, event: Any, step: Step) -> bool:
    if law.has_failed(step):
        return False
    return isinstance(event, StoreQuery) or (config.variants.range_query is RangeQuery.MERGED and hides(config))


def answers_like_a_read(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-VIEW-8."""
    if isinstance(event, StoreQuery):
        return caches_nothing(config, pre, event, step)
    return shows_the_last_writes(config, pre, event, step) and touches_its_cached_keys(config, pre, event, step)


def _opens_or_closes(config: Config, pre: State, event: Any, step: Step) -> bool:
    by_default = config.variants.close_check is CloseCheck.ALL or not isinstance(event, StoreFlush)
    return isinstance(event, StoreOpen | StoreClose) or (by_default and is_on_closed(pre, event))


def refuses_what_is_closed(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-CLOSE-3."""
    if isinstance(event, StoreClose):
        return _closes(pre, event, step)
    if isinstance(event, StoreOpen):
        return _opens(pre, event, step)
    return step.outcome.answer == REFUSED and step.state == pre


def _closes(pre: State, event: StoreClose, step: Step) -> bool:
    """Return whether a store was flushed, and is gone with everything below it; a failed flush is K-CLOSE-4's."""
    if not law.is_undisturbed(step) or (law.has_failed(step) and step.outcome.forwarded):
        return True
    own = law.space(pre, event.store)
    after = step.state.stores[event.store]
    forwarded = {law.place(call): call.value for call in step.outcome.forwarded}
    last = last_writes(pre, event.store)
    dirty = {key: last[key] for key in own.dirty if key in last}
    hears_nothing = event.store in pre.stores and not pre.stores[event.store].settings.listens
    is_forwarded = law.has_failed(step) or hears_nothing or not agrees(pre) or dirty.items() <= forwarded.items()
    is_gone = event.store not in step.state.spaces and not after.is_open and not after.inner
    return is_gone and is_forwarded and law.are_others_unchanged(pre, step, event.store)


def _opens(pre: State, event: StoreOpen, step: Step) -> bool:
    """Return whether a store was opened, empty; one that was open is refused."""
    if event.store in pre.stores and not is_on_closed(pre, event):
        return step.outcome.answer == REFUSED and step.state == pre
    after = step.state.stores.get(event.store)
    listener = law.space(step.state, event.store).listener
    is_empty = after is not None and (after.is_open, dict(after.inner), after.stream_time) == (True, {}, -1)
    return step.outcome.answer == Done() and is_empty and listener is not None and listener.of_store


def drops_what_is_cached(config: Config, pre: State, event: StoreClear, step: Step) -> bool:
    """Check K-CLEAR-1: reads answer what lies below from now on."""
    cleared = law.content(law.space(step.state, event.store)) == ({}, (), ())
    stored = underlying(step.state, event.store)
    reads = stored == last_writes(step.state, event.store)
    return cleared and reads and law.is_uncalled(step) and stored == underlying(pre, event.store)


def _shows(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    shows = config.variants.backward_tombstone is BackwardTombstone.SHOWS
    return event.backward and shows and hides(config) and _reads_cache(config, pre, event, step)


def shows_what_a_later_tombstone_hides(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    """Check K-VIEW-9."""
    nodes, stored = law.space(pre, event.store).nodes, underlying(pre, event.store)
    return step.outcome.answer == Listing(shown_backward(keys_in_view(event, {**nodes, **stored}), nodes, stored))


def shown_backward(keys: list[str], nodes: Any, stored: Any) -> tuple[tuple[str, str | None], ...]:
    """Return what a released backward view shows, key by key from the greatest one down."""
    expected: list[tuple[str, str | None]] = []
    for at, key in enumerate(keys):
        hides = key in nodes and nodes[key].value is None
        is_early = is_dropped_early(keys[:at], nodes)
        if not hides:
            expected.append((key, nodes[key].value if key in nodes else stored[key]))
        elif key in stored and is_early:
            expected.append((key, stored[key]))
        elif key not in stored and not is_early and any(other in stored for other in keys[at:]):
            expected.append((key, None))
    return tuple(expected)


def _drops(config: Config, pre: State, event: Any, step: Step) -> bool:
    asks_below = isinstance(event, StoreQueryRange) and config.variants.range_query is RangeQuery.BELOW
    return not hides(config) and not asks_below and not _is_committed(event) and not law.has_failed(step)


def shows_what_a_dropped_tombstone_hides(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-STORE-11."""
    nodes, stored = law.space(pre, event.store).nodes, underlying(pre, event.store)
    return step.outcome.answer == Listing(shown_by_dropping(keys_in_view(event, {**nodes, **stored}), nodes, stored))


def _asks_below(config: Config, pre: State, event: StoreQueryRange, step: Step) -> bool:
    return not law.has_failed(step) and config.variants.range_query is RangeQuery.BELOW


def shows_what_lies_below(config: Config, pre: State, event: StoreQueryRange, step: Step) -> bool:
    """Check K-VIEW-10."""
    stored = underlying(pre, event.store)
    expected = Listing(tuple((key, stored[key]) for key in keys_in_view(event, stored)))
    return step.outcome.answer == expected and not step.rows


def _passes_the_cache_by(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    return _is_committed(event) and not law.has_failed(step)


def shows_committed_data_alone(config: Config, pre: State, event: StoreView, step: Step) -> bool:
    """Check K-VIEW-11."""
    stored = underlying(pre, event.store)
    expected = Listing(tuple((key, stored[key]) for key in keys_in_view(event, stored)))
    before, after = law.space(pre, event.store), law.space(step.state, event.store)
    counters = (step.state.puts, step.state.gets, step.state.evicts)
    return (
        step.outcome.answer == expected
        and after == before._replace(listener=after.listener)
        and law.is_uncalled(step)
        and counters == (pre.puts, pre.gets, pre.evicts)
        and underlying(step.state, event.store) == stored
        and law.are_others_unchanged(pre, step, event.store)
    )


def _is_of_views(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Return whether a step opens, reads or closes a view of keys."""
    return not law.has_failed(step) and law.kind_of(pre, store_of_view(pre, event)) is StoreKind.KEY_VALUE


def store_of_view(pre: State, event: Any) -> str:
    """Return the store of a view that is opened, read or closed."""
    if isinstance(event, ViewOpen):
        return event.store
    return pre.views[event.view].range.store if event.view in pre.views else ""


def keeps_the_promise(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-VIEW-6."""
    if isinstance(event, ViewClose):
        return event.view not in step.state.views
    view = step.state.views.get(event.view)
    if view is None:
        return False
    if isinstance(event, ViewOpen):
        written = last_writes(step.state, event.store)
        held = {key: (written[key],) for key in keys_in_view(event, written)}
        return (view.range, dict(view.had), view.last, view.has_ended) == (event, held, None, False)
    answer = step.outcome.answer
    return isinstance(answer, NextEntry) and _comes_next(pre.views[event.view], view, answer.entry)


def _comes_next(before: OpenView, after: OpenView, entry: Any) -> bool:
    """Return whether an entry, or the end, is allowed where a view is, and the view has gone on behind it."""
    if entry is None:
        left = [] if before.has_ended else [key for key in before.had if _is_ahead(before, key)]
        return after.has_ended and all(None in before.had[key] for key in left)
    key, value = entry
    passed = [other for other in before.had if _is_ahead(before, other) and _is_ahead(after, other, back=True)]
    values = before.had.get(key, ())
    return (
        (after.last, after.has_ended, before.has_ended) == (key, False, False)
        and value is not None
        and value in values
        and _is_ahead(before, key)
        and all(None in before.had[other] for other in passed)
    )


def _is_ahead(view: OpenView, key: str, back: bool = False) -> bool:
    """Return whether a key comes behind the last one of a view, or with `back` before it."""
    if view.last is None:
        return not back
    at, last = encode(key), encode(view.last)
    return at != last and (at < last) == (view.range.backward != back)


def touches_no_more_than_the_order(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-VIEW-7: nothing is cached, evicted, written or forwarded."""
    if not (law.is_uncalled(step) and not step.rows):
        return False
    store = store_of_view(pre, event)
    before, after = law.space(pre, store), law.space(step.state, store)
    keeps = (after.nodes, after.dirty, sorted(after.recent)) == (before.nodes, before.dirty, sorted(before.recent))
    is_known = isinstance(event, ViewClose) or store not in step.state.spaces or after.is_loose
    counters = (step.state.puts, step.state.gets, step.state.evicts)
    return (
        keeps
        and is_known
        and counters == (pre.puts, pre.gets, pre.evicts)
        and underlying(step.state, store) == underlying(pre, store)
        and law.are_others_unchanged(pre, step, store)
    )


MERGED: Final = (StoreRange, StoreAll, StoreView, StoreQueryRange)

VIEW_LAWS: Final = (
    law.Law(Rule.K_STORE_11, MERGED, _drops, shows_what_a_dropped_tombstone_hides),
    law.Law(Rule.K_VIEW_1, (StoreView,), _merges, shows_the_last_writes),
    law.Law(Rule.K_VIEW_2, (StoreView,), _reads_cache, touches_its_cached_keys),
    law.Law(Rule.K_VIEW_3, (StoreView,), _has_an_empty_prefix, shows_every_key),
    law.Law(Rule.K_VIEW_4, (StoreCount,), _answers, counts_what_lies_below),
    law.Law(Rule.K_VIEW_5, (StorePutIfAbsent,), _offers, writes_only_where_nothing_is),
    law.Law(Rule.K_VIEW_6, (ViewOpen, ViewNext, ViewClose), _is_of_views, keeps_the_promise),
    law.Law(Rule.K_VIEW_7, (ViewOpen, ViewNext, ViewClose), _answers, touches_no_more_than_the_order),
    law.Law(Rule.K_VIEW_8, (StoreQuery, StoreQueryRange), _queries, answers_like_a_read),
    law.Law(Rule.K_VIEW_9, (StoreView,), _shows, shows_what_a_later_tombstone_hides),
    law.Law(Rule.K_VIEW_10, (StoreQueryRange,), _asks_below, shows_what_lies_below),
    law.Law(Rule.K_VIEW_11, (StoreView,), _passes_the_cache_by, shows_committed_data_alone),
    law.Law(Rule.K_CLEAR_1, (StoreClear,), _answers, drops_what_is_cached),
    law.Law(Rule.K_CLOSE_3, (), _opens_or_closes, refuses_what_is_closed),
)
