"""The laws about stores of windows and sessions: a reader may see nothing but a plain map of the writes, which expires.

They compare with the last writes, restate orders and ranges with plain keys, and read ages from the names of windows.
`replay` repeats the writes of a step, and those inside its calls, on such a map, and checks every read among them.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from entrycache_reference.kafka_streams import ops, view_ops
from entrycache_reference.kafka_streams.config import (
    BackwardTombstone,
    CloseCheck,
    Config,
    Delivery,
    ExpiredWindows,
    FailedFlush,
    FlushedTombstone,
    UndeliveredEviction,
    ViewTombstone,
)
from entrycache_reference.kafka_streams.laws import law
from entrycache_reference.kafka_streams.laws.stores import agrees, is_on_closed, last_writes
from entrycache_reference.kafka_streams.laws.views import encode, store_of_view, underlying
from entrycache_reference.kafka_streams.outcomes import Done, Failed, NextEntry, Value, WindowListing
from entrycache_reference.kafka_streams.state import OpenView, Part, State, Step
from entrycache_reference.kafka_streams.view_ops import StoreKind, Underlying, ViewClose, ViewOpen
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import ABSENT

PUTS: Final = (view_ops.WindowPut, view_ops.SessionPut, view_ops.SessionRemove)
GETS: Final = (view_ops.WindowGet, view_ops.SessionGet)
VIEWS: Final = (view_ops.WindowView, view_ops.SessionView)
FAR: Final = 2**40
"""Milliseconds in a range that no store should walk through one segment after another."""


class Named(NamedTuple):
    """A window or a session, read from its name."""

    key: str
    start: int
    end: int


def read_name(name: str) -> Named:
    """Return the window or session of a name."""
    key, times = name.rsplit("@", 1)
    parts = [int(part) for part in times.split("-")]
    return Named(key, parts[0], parts[-1])


def name_of(event: Any) -> str:
    """Return the name of the window or session that an operation is about."""
    return f"{event.key}@{event.start}" + (f"-{event.end}" if hasattr(event, "end") else "")


def is_of_windows(state: State, store: str) -> bool:
    """Return whether a store has windows or sessions."""
    return law.kind_of(state, store) is not StoreKind.KEY_VALUE


def drops_expired(config: Config) -> bool:
    """Return whether an expired window is gone, cached or not."""
    return config.variants.expired_windows is ExpiredWindows.GONE


def hides_tombstones(config: Config, backward: bool) -> bool:
    """Return whether every cached tombstone hides in a view of this direction."""
    goes_well = not backward or config.variants.backward_tombstone is BackwardTombstone.HIDES
    return goes_well and config.variants.view_tombstone is ViewTombstone.HIDES


def shows_nothing_expired(config: Config, state: State, store: str) -> bool:
    """Return whether what has expired is in no view: by default, and by a variant if no such entry is cached."""
    names = law.space(state, store).nodes
    return drops_expired(config) or not any(law.has_expired(state, store, name) for name in names)


def merges_by_default(config: Config, state: State, event: Any) -> bool:
    """Return whether tombstones hide in a view of this direction, or none is cached, and nothing expired is in it."""
    nodes = law.space(state, event.store).nodes.values()
    hides = hides_tombstones(config, event.backward) or all(node.value is not None for node in nodes)
    return hides and shows_nothing_expired(config, state, event.store)


def name_entry(state: State, event: Any, entry: Any) -> str:
    """Return the name of an entry that a view of a store shows."""
    if law.kind_of(state, event.store) is StoreKind.SESSION:
        return f"{entry[0]}@{entry[1]}-{entry[2]}"
    given = getattr(event, "key", ABSENT)
    return f"{entry[0]}@{entry[1]}" if given is ABSENT else f"{given}@{entry[0]}"


def is_wanted(event: Any, name: str) -> bool:
    """Return whether a window or session lies in the range of a view."""
    key, start, end = read_name(name)

    def given(argument: str, default: Any) -> Any:
        value = getattr(event, argument, ABSENT)
        return default if value is ABSENT or value is None else value

    low, high = encode(given("from_", "")), given("to", None)
    in_keys = key == given("key", key) and low <= encode(key) and (high is None or encode(key) <= encode(high))
    in_times = given("time_from", start) <= start <= given("time_to", start)
    return in_keys and in_times and end >= given("earliest_end", end) and start <= given("latest_start", start)


def sort_key(state: State, store: str, name: str) -> tuple[int, bytes, int]:
    """Return where a window or session comes in the order of its store."""
    key, _, end = read_name(name)
    settings = state.stores[store].settings
    segment = end if settings.below is Underlying.MEMORY else end // settings.segment_interval
    return segment, encode(key), end


def expected_names(state: State, event: Any, values: dict[str, str]) -> list[str]:
    """Return the names that a view shows, in any order."""
    return [name for name in values if is_wanted(event, name)]


def is_far(event: Any) -> bool:
    """Return whether a view asks for a far range of times."""
    last = getattr(event, "time_to", ABSENT)
    first = getattr(event, "time_from", ABSENT)
    return last is not ABSENT and last - (0 if first is ABSENT else first) >= FAR


# Views and reads.


def _lists(config: Config, pre: State, event: Any, step: Step) -> bool:
    by_default = isinstance(event, ops.StoreInner) or merges_by_default(config, pre, event)
    return is_of_windows(pre, event.store) and not law.has_failed(step) and by_default


def comes_in_order(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-1."""
    answer = step.outcome.answer
    if not isinstance(answer, WindowListing):
        return not answer.entries if hasattr(answer, "entries") else False
    names = [name_entry(pre, event, entry) for entry in answer.entries]
    places = [sort_key(pre, event.store, name) for name in names]
    return places == sorted(places, reverse=getattr(event, "backward", False))


def _merges(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and merges_by_default(config, pre, event) and not is_far(event)


def shows_the_last_writes(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-2; that nothing expired comes is K-WINDOW-5, and in which order K-WINDOW-1."""
    answer, values = step.outcome.answer, last_writes(pre, event.store)
    if not isinstance(answer, WindowListing):
        return False
    pairs = [(name_entry(pre, event, entry), entry[-1]) for entry in answer.entries]
    fresh = [entry for entry in pairs if not law.has_expired(pre, event.store, entry[0])]
    return sorted(fresh) == sorted((name, values[name]) for name in expected_names(pre, event, values))


def _reads_far(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and merges_by_default(config, pre, event) and is_far(event)


def _answers(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step)


def _reads_fresh(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and not law.has_expired(pre, event.store, name_of(event))


def reads_its_own_write(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-3."""
    return step.outcome.answer == Value(last_writes(pre, event.store).get(name_of(event)))


def caches_nothing(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-7. A namespace that was closed counts no miss."""
    before, after, name = law.space(pre, event.store), law.space(step.state, event.store), name_of(event)
    is_cached = name in before.nodes
    is_missed = not is_cached and event.store in pre.spaces
    recent = (name, *(other for other in before.recent if other != name)) if is_cached else before.recent
    return (
        law.is_uncalled(step)
        and (after.nodes, after.dirty, after.recent) == (before.nodes, before.dirty, recent)
        and (after.hits, after.misses) == (before.hits + is_cached, before.misses + is_missed)
        and (step.state.puts, step.state.gets) == (pre.puts, pre.gets + 1)
    )


def touches_no_more_than_the_order(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-11. A namespace that was closed has no order."""
    before, after = law.space(pre, event.store), law.space(step.state, event.store)
    return (
        law.is_uncalled(step)
        and not step.rows
        and (after.is_loose or event.store not in pre.spaces)
        and (after.nodes, after.dirty, sorted(after.recent)) == (before.nodes, before.dirty, sorted(before.recent))
        and (step.state.puts, step.state.gets, step.state.evicts) == (pre.puts, pre.gets, pre.evicts)
        and underlying(step.state, event.store) == underlying(pre, event.store)
    )


# Time, and what expires.


def _writes(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and law.is_undisturbed(step) and drops_expired(config)


def takes_the_greatest_time(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-4."""
    times = (pre.stores[event.store].stream_time, read_name(name_of(event)).end)
    return step.state.stores[event.store].stream_time == max(times)


def _is_late(pre: State, event: Any) -> bool:
    """Return whether an operation is about a window or session that has expired, or a view while one is cached."""
    if isinstance(event, VIEWS):
        return any(law.has_expired(pre, event.store, name) for name in law.space(pre, event.store).nodes)
    return law.has_expired(pre, event.store, name_of(event))


def _asks_late(config: Config, pre: State, event: Any, step: Step) -> bool:
    return not law.has_failed(step) and drops_expired(config) and _is_late(pre, event)


def is_gone(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-5."""
    answer = step.outcome.answer
    if isinstance(event, PUTS):
        return step.state == pre and not step.rows and law.is_uncalled(step)
    if isinstance(event, GETS):
        return answer == Value(None)
    entries = answer.entries if isinstance(answer, WindowListing) else ()
    return not any(law.has_expired(pre, event.store, name_entry(pre, event, entry)) for entry in entries)


def _late_names(pre: State, step: Step) -> set[tuple[str, str]]:
    """Return the windows and sessions of the cache that have expired, by the time after the step."""
    names = {(store, name) for store in pre.stores for name in law.space(pre, store).nodes}
    return {(store, name) for store, name in names if law.has_expired(step.state, store, name)}


def _hands_over_late(config: Config, pre: State, event: Any, step: Step) -> bool:
    handed = {(row.ns, row.key) for row in step.rows if row.op == "FLUSH" and row.cause != "FAILED"}
    return drops_expired(config) and law.is_undisturbed(step) and bool(handed & _late_names(pre, step))


def is_dropped_unheard(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-6."""
    late = _late_names(pre, step)
    if any((call.store, law.place(call)) in late for call in step.outcome.forwarded):
        return False
    return not any(name in underlying(step.state, store) for store, name in late)


# Writes and forwards.


def _puts(config: Config, pre: State, event: Any, step: Step) -> bool:
    if law.has_failed(step) or not law.is_undisturbed(step):
        return False
    if isinstance(event, ops.StoreFlush):
        return is_of_windows(pre, event.store) and pre.stores[event.store].settings.listens and agrees(pre)
    is_late = law.has_expired(step.state, event.store, name_of(event))
    return not (drops_expired(config) and is_late)


def hands_over_in_order(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-8: a put is one dirty write of its bytes; a flush forwards in the order of the last writes."""
    if isinstance(event, ops.StoreFlush):
        own, stored = law.space(pre, event.store), underlying(pre, event.store)
        fresh = [name for name in own.dirty if not law.has_expired(step.state, event.store, name)]
        known = [(name, own.nodes[name].value) for name in fresh if name in stored or own.nodes[name].value is not None]
        calls = [(law.place(call), call.value) for call in step.outcome.forwarded]
        pairs = [call for call in calls if not law.has_expired(step.state, event.store, call[0])]
        return [call for call in pairs if call[1] is not None or call[0] in stored] == known
    first = next((row for row in step.rows if row.op == "PUT"), None)
    value = getattr(event, "value", None)
    time_bytes = 20 if law.kind_of(pre, event.store) is StoreKind.WINDOW else 24
    size = 45 + time_bytes + len(encode(event.key)) + (0 if value is None else len(encode(value)))
    expected = (event.store, name_of(event), True, size)
    return first is not None and (first.ns, first.key, first.dirty, first.size_bytes) == expected


def _deletes_unknown(config: Config, pre: State, event: Any, step: Step) -> bool:
    if isinstance(event, ops.StoreFlush) and law.is_undisturbed(step) and is_of_windows(pre, event.store):
        return bool(_unknown_tombstones(pre, event.store)) or not pre.stores[event.store].settings.listens
    return False


def _unknown_tombstones(pre: State, name: str) -> set[str]:
    own, known = law.space(pre, name), {*underlying(pre, name), *pre.stores[name].owed}
    return {key for key in own.dirty if key in own.nodes and own.nodes[key].value is None and key not in known}


def is_not_forwarded(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-10."""
    calls = [call for call in step.outcome.forwarded if call.store == event.store]
    unknown = _unknown_tombstones(pre, event.store)
    return (pre.stores[event.store].settings.listens or not calls) and not any(
        law.place(call) in unknown for call in calls
    )


def _has_another_store(config: Config, pre: State, event: Any, step: Step) -> bool:
    others = any(name != event.store and cached.nodes for name, cached in pre.spaces.items())
    return others and is_of_windows(pre, event.store) and law.is_undisturbed(step) and not law.has_failed(step)


def leaves_the_others(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-14."""
    names = {*pre.spaces, *step.state.spaces} - {event.store}
    return all(law.content(law.space(pre, name)) == law.content(law.space(step.state, name)) for name in names)


# Steps inside forwards.

REPLAYED: Final = (*PUTS, *GETS, *VIEWS, ops.StoreFlush, ops.StoreInner, ops.Usage, ops.Metrics, ops.Evict, ops.Flush)
"""The operations whose effect on the last writes `replay` knows."""


def _by_default(config: Config) -> bool:
    variants = config.variants
    return (
        variants.delivery is Delivery.BELOW_FIRST
        and drops_expired(config)
        and variants.undelivered_eviction is UndeliveredEviction.KEPT
        and variants.failed_flush is FailedFlush.DIRTY
        and variants.flushed_tombstone is FlushedTombstone.SAME_WRITE
        and variants.view_tombstone is ViewTombstone.HIDES
        and variants.backward_tombstone is BackwardTombstone.HIDES
    )


def list_parts(parts: tuple[Part, ...]) -> Iterator[Part]:
    """Return the steps inside calls, each before those inside its own calls."""
    for part in parts:
        yield part
        yield from list_parts(part.parts)


def _delivers_one(config: Config, event: Any, pre: State, step: Step, parts: list[Part]) -> bool:
    """Return whether one entry is delivered, the steps inside only read and put, and nothing expires.

    No variant shows in such a step.
    """
    if not isinstance(event, (*PUTS, ops.StoreFlush)) or len(step.outcome.forwarded) != 1:
        return False
    puts = [one for one in (event, *[part.event for part in parts]) if isinstance(one, PUTS)]
    views = [part.event for part in parts if isinstance(part.event, VIEWS)]
    if not all(isinstance(part.event, (*PUTS, *GETS, *VIEWS)) and part.event.store == event.store for part in parts):
        return False
    if event.store not in pre.stores or not all(hides_tombstones(config, view.backward) for view in views):
        return False
    cached, store = law.space(pre, event.store), pre.stores[event.store]
    dirty = {*cached.dirty, name_of(event)} if isinstance(event, PUTS) else {*cached.dirty}
    times = [read_name(name).end for name in (*cached.nodes, *store.inner, *map(name_of, puts))]
    oldest = max([store.stream_time, *times]) - store.settings.retention
    return len(dirty) == 1 and min(times) > oldest


def _reads_inside(config: Config, pre: State, event: Any, step: Step) -> bool:
    if not step.parts or not agrees(pre):
        return False
    parts = list(list_parts(step.parts))
    if not (_by_default(config) or _delivers_one(config, event, pre, step, parts)):
        return False
    reads = any(isinstance(part.event, (*GETS, *VIEWS)) and not isinstance(part.answer, Failed) for part in parts)
    return reads and all(isinstance(one, REPLAYED) for one in (event, *[part.event for part in parts]))


def reads_the_last_write_inside(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-9."""
    writes = {name: last_writes(pre, name) for name in pre.stores}
    times = {name: store.stream_time for name, store in pre.stores.items()}
    _write(pre, event, writes, times)
    for part in list_parts(step.parts):
        if isinstance(part.answer, Failed):
            continue
        _write(pre, part.event, writes, times)
        if isinstance(part.event, (*GETS, *VIEWS)) and not _is_last(pre, part, writes, times):
            return False
    return True


def _write(pre: State, event: Any, writes: dict[str, dict[str, str]], times: dict[str, int]) -> None:
    if not isinstance(event, PUTS) or event.store not in pre.stores:
        return
    name, value = name_of(event), getattr(event, "value", None)
    times[event.store] = max(times[event.store], read_name(name).end)
    writes[event.store].pop(name, None)
    if value is not None:
        writes[event.store][name] = value


def _is_last(pre: State, part: Part, writes: dict[str, dict[str, str]], times: dict[str, int]) -> bool:
    event, answer = part.event, part.answer
    assert isinstance(event, (*GETS, *VIEWS))
    oldest = times[event.store] - pre.stores[event.store].settings.retention
    values = {name: value for name, value in writes[event.store].items() if read_name(name).end > oldest}
    if isinstance(event, GETS):
        return answer == Value(values.get(name_of(event)))
    if not isinstance(answer, WindowListing):
        return False
    pairs = [(name_entry(pre, event, entry), entry[-1]) for entry in answer.entries]
    return sorted(pairs) == sorted((name, values[name]) for name in expected_names(pre, event, values))


# Open views.


def _opens_windows(config: Config, pre: State, event: Any, step: Step) -> bool:
    store = store_of_view(pre, event)
    if law.has_failed(step) or not is_of_windows(pre, store):
        return False
    if isinstance(event, ViewOpen):
        return shows_nothing_expired(config, step.state, store)
    return isinstance(event, ViewClose) or hides_tombstones(config, pre.views[event.view].range.backward)


def keeps_the_promise(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-12."""
    if isinstance(event, ViewClose):
        return event.view not in step.state.views
    view = step.state.views.get(event.view)
    if view is None:
        return False
    if isinstance(event, ViewOpen):
        values = last_writes(step.state, event.store)
        held = {name: (values[name],) for name in expected_names(step.state, event, values)}
        return (view.range, dict(view.had), view.last, view.has_ended) == (event, held, None, False)
    answer = step.outcome.answer
    return isinstance(answer, NextEntry) and _comes_next(pre, pre.views[event.view], view, answer.entry)


def _comes_next(pre: State, before: OpenView, after: OpenView, entry: Any) -> bool:
    """Return whether an entry, or the end, is allowed where a view is, and the view has gone on behind it."""
    store, back = before.range.store, before.range.backward

    def is_ahead(view: OpenView, name: str) -> bool:
        if view.last is None:
            return True
        place, last = sort_key(pre, store, name), sort_key(pre, store, view.last)
        return (name not in view.came) if place == last else (place < last) is back

    left = [name for name in before.had if not before.has_ended and is_ahead(before, name)]
    if entry is None:
        return after.has_ended and all(None in before.had[name] for name in left)
    name = name_entry(pre, before.range, entry)
    passed = [other for other in left if not is_ahead(after, other) and other != name]
    return (
        (after.last, after.has_ended) == (name, False)
        and name in left
        and entry[-1] is not None
        and entry[-1] in before.had[name]
        and all(None in before.had[other] for other in passed)
    )


# Variants of the releases.


def _shows_cached(config: Config, pre: State, event: Any, step: Step) -> bool:
    return law.shows_expired(config, pre, event.store) and not law.has_failed(step) and _is_late(pre, event)


def is_answered_from_the_cache(config: Config, pre: State, event: Any, step: Step) -> bool:
    """Check K-WINDOW-15 for a read of one window or session, and for a put."""
    nodes, name = law.space(pre, event.store).nodes, name_of(event)
    if isinstance(event, GETS):
        return step.outcome.answer == Value(nodes[name].value if name in nodes else None)
    return any((row.ns, row.key, row.op) == (event.store, name, "PUT") for row in step.rows)


def _flushes_closed(config: Config, pre: State, event: ops.StoreFlush, step: Step) -> bool:
    is_released = config.variants.close_check is CloseCheck.KEY_VALUE
    return is_released and is_on_closed(pre, event) and is_of_windows(pre, event.store)


def answers_nothing(config: Config, pre: State, event: ops.StoreFlush, step: Step) -> bool:
    """Check K-WINDOW-16."""
    return step.outcome.answer == Done() and step.state == pre._replace(flushes=pre.flushes + 1)


WINDOW_LAWS: Final = (
    law.Law(Rule.K_WINDOW_1, (*VIEWS, ops.StoreInner), _lists, comes_in_order),
    law.Law(Rule.K_WINDOW_2, VIEWS, _merges, shows_the_last_writes),
    law.Law(Rule.K_WINDOW_3, GETS, _reads_fresh, reads_its_own_write),
    law.Law(Rule.K_WINDOW_4, PUTS, _writes, takes_the_greatest_time),
    law.Law(Rule.K_WINDOW_5, (*PUTS, *GETS, *VIEWS), _asks_late, is_gone),
    law.Law(Rule.K_WINDOW_6, (), _hands_over_late, is_dropped_unheard),
    law.Law(Rule.K_WINDOW_7, GETS, _answers, caches_nothing),
    law.Law(Rule.K_WINDOW_8, (*PUTS, ops.StoreFlush), _puts, hands_over_in_order),
    law.Law(Rule.K_WINDOW_9, (), _reads_inside, reads_the_last_write_inside),
    law.Law(Rule.K_WINDOW_10, (ops.StoreFlush,), _deletes_unknown, is_not_forwarded),
    law.Law(Rule.K_WINDOW_11, VIEWS, _answers, touches_no_more_than_the_order),
    law.Law(Rule.K_WINDOW_12, (ViewOpen, view_ops.ViewNext, ViewClose), _opens_windows, keeps_the_promise),
    law.Law(Rule.K_WINDOW_13, VIEWS, _reads_far, shows_the_last_writes),
    law.Law(Rule.K_WINDOW_14, (*PUTS, ops.StoreFlush, view_ops.StoreClose), _has_another_store, leaves_the_others),
    law.Law(Rule.K_WINDOW_15, (*PUTS, *GETS), _shows_cached, is_answered_from_the_cache),
    law.Law(Rule.K_WINDOW_16, (ops.StoreFlush,), _flushes_closed, answers_nothing),
)
