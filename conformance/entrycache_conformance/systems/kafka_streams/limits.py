"""The limits of a subject of `kafka-streams`, the bounds of a case, and the coverage of the cache limit.

`Limits` are about histories, dirty entries and views. `unsupported_reason` finds steps that give no answer that can be
judged, steps beyond the limits of a subject, and entries that do not have its size or are larger than it takes.
`only_answered` keeps the generator from making such steps. `cost_bound` bounds what playing a case costs.
`count_cells` counts how often a step lands one byte below the cache limit, at it, or above it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_protocol import system
from entrycache_protocol.declaration import Declaration
from entrycache_reference.kafka_streams import Config, initial, ops, outcomes, step, view_ops
from entrycache_reference.kafka_streams.change import parse_window, size_bytes
from entrycache_reference.kafka_streams.config import Total
from entrycache_reference.kafka_streams.state import Part, State, Step, Store, space_of, total_bytes
from entrycache_reference.kafka_streams.stores import store_of
from entrycache_reference.kafka_streams.windows import KEY_BYTES, KIND_OF
from entrycache_reference.vocabulary import ABSENT

OF_HISTORIES: Final = ("concurrent_resize", "crossed_listeners", "concurrent_clear", "exact_counts_under_threads")
OF_VIEWS: Final = ("empty_prefix", "open_views_overflow", "delete_under_view")
OF_WINDOWS: Final = (
    *("backward_sessions", "open_bounds", "reversed_times", "equal_ends", "zero_bytes", "views_in_put_forward"),
    *("far_fetch", "expiry_under_view", "close_check"),
)
LEVELS_OF: Final = MappingProxyType(
    {
        **dict.fromkeys(OF_HISTORIES, frozenset({"concurrent"})),
        **dict.fromkeys(OF_VIEWS, frozenset({"views", "windows"})),
        **dict.fromkeys(OF_WINDOWS, frozenset({"windows"})),
    }
)
"""The levels at which the limits, and the variant `close_check`, leave something out of a run."""


@dataclass(frozen=True, slots=True)
class Limits(system.Limits):
    """The limits of `kafka-streams`; all but `dirty` and those about views are about histories.

    Without `dirty` no write is dirty. No view has an isolation, unless the subject declares `isolation_reads` true.
    Without `empty_prefix` no view has an empty prefix. Without `open_views_overflow` nothing is evicted or cleared
    under an open view, and no deletion of a window or session leaves the cache. Without `delete_under_view` no key
    leaves the underlying store while a view of it is open. Without `concurrent_resize` no client resizes while a
    listener has steps. Without `crossed_listeners` there is no ring of listeners that use each other's namespaces.
    Without `concurrent_clear` no client clears or closes. Without `exact_counts_under_threads` the thread's counters
    are not judged.

    Seven limits are about windows and sessions, five of them about stores over "segments". Without `backward_sessions`
    no view of the sessions of one key goes backward. Without `open_bounds` no view of windows has a null bound. Without
    `reversed_times` no view asks for times in reverse, or behind all that there are. Without `far_fetch` no view has
    more than 10,000 segments. Over "memory", without `equal_ends` no two sessions of one key have one end. Without
    `zero_bytes` no key of a window or a session has U+0000. Without `views_in_put_forward` no put evicts what a forward
    then views. Without `expiry_under_view` no session may expire while a view of its store is open.
    """

    concurrent_resize: bool = True
    crossed_listeners: bool = True
    concurrent_clear: bool = True
    exact_counts_under_threads: bool = True
    dirty: bool = system.step_field(True)
    isolation_reads: bool = system.option_field()
    empty_prefix: bool = True
    open_views_overflow: bool = True
    delete_under_view: bool = True
    backward_sessions: bool = True
    open_bounds: bool = True
    reversed_times: bool = True
    equal_ends: bool = True
    zero_bytes: bool = True
    views_in_put_forward: bool = True
    far_fetch: bool = True
    expiry_under_view: bool = True

    optional_arguments = frozenset({("store_view", "isolation")})
    levels_of = LEVELS_OF

    @property
    def hides_rules(self) -> bool:
        """Return whether K-VIEW-3 or K-VIEW-11 cannot be met, or rules about larger entries perhaps cannot."""
        return not (self.empty_prefix and self.isolation_reads) or self.max_size < system.MAX_SIZE_BYTES

    @property
    def takes_histories(self) -> bool:
        """Return whether the subject takes several threads, and entries as large as those of histories."""
        return self.threads > 1 and self.max_size >= HISTORY_ENTRY_BYTES

    @property
    def arguments(self) -> Mapping[str, Mapping[str, str]]:
        """A cache without dirty entries takes no `dirty`, a store without isolated reads no `isolation`."""
        isolated = {} if self.isolation_reads else {"store_view": {"isolation": "never"}}
        puts = {} if self.dirty else {name: {"dirty": "never"} for name in ("put", "put_all", "put_if_absent")}
        return {**isolated, **puts}


HISTORY_ENTRY_BYTES: Final = size_bytes("x", "inner", "", ())
"""The size of the largest entry that a history writes."""

WRITES: Final = (
    *(ops.Put, ops.PutAll, ops.PutIfAbsent, ops.StorePut, view_ops.StorePutIfAbsent, view_ops.StorePutAll),
    *(view_ops.WindowPut, view_ops.SessionPut),
)


def _find_wrong_size(declaration: Declaration, steps: Sequence[Any]) -> str:
    """Return the first entry whose size the subject does not take; empty if there is none."""
    size, most = declaration.limits.entry_size, declaration.limits.max_size
    has_limit = size is not None or most < system.MAX_SIZE_BYTES
    for at, op in enumerate(steps if has_limit else ()):
        for one in (inner for inner in _all_ops(op) if isinstance(inner, WRITES)):
            for write in _writes_of(one):
                given = size_bytes(write.key, write.value, getattr(write, "topic", ""), getattr(write, "headers", ()))
                given += KEY_BYTES[KIND_OF.get(type(one), view_ops.StoreKind.KEY_VALUE)]
                entry = f"step {at} of the case: an entry has {given} bytes"
                if size is not None and given != size:
                    return f"{entry}, and every one of the subject has {size}"
                if given > most:
                    return f"{entry}, and the subject takes at most {most}"
    return ""


def _writes_of(op: Any) -> Sequence[Any]:
    """Return the writes of an operation, each with its key and its value."""
    if isinstance(op, view_ops.StorePutAll):
        return [ops.StorePut(op.store, key, value) for key, value in op.entries]
    return op.entries if isinstance(op, ops.PutAll) else (op,)


def _find_empty_prefix(declaration: Declaration, steps: Sequence[Any]) -> str:
    """Return the first step with an empty prefix, if the subject takes none; else nothing."""
    if declaration.limits.empty_prefix:
        return ""
    empty = (at for at, op in enumerate(steps) for one in _all_ops(op) if getattr(one, "prefix", None) == "")
    return next((f"step {at} of the case has an empty prefix, and the subject takes none" for at in empty), "")


def _opens_view(op: Any) -> bool:
    """Return whether an operation opens a view, or views windows or sessions, itself or inside a call."""
    return any(isinstance(one, LOOSENING) for one in _all_ops(op))


LOOSENING: Final = (view_ops.ViewOpen, view_ops.WindowView, view_ops.SessionView)
"""The operations after which the subject alone knows the order of use."""

FAR_SEGMENTS: Final = 10_000


def _find_window_limit(limits: Any, state: State, op: Any, done: Step) -> str:
    """Return the limit about windows and sessions that a step is beyond; empty if there is none."""
    for one in _all_ops(op):
        store = state.stores.get(getattr(one, "store", ""))
        if store is None or store.settings.kind is view_ops.StoreKind.KEY_VALUE:
            continue
        in_memory = store.settings.below is view_ops.Underlying.MEMORY
        if not limits.zero_bytes and "\0" in str(getattr(one, "key", "")):
            return "zero_bytes"
        if not in_memory and not limits.far_fetch and _is_far(store, one):
            return "far_fetch"
        if isinstance(one, LOOSENING) and not in_memory:
            names = {*store.inner, *space_of(state, one.store).nodes}
            reason = _find_range_limit(limits, store, [parse_window(name).end for name in names], one)
            if reason:
                return reason
    if not limits.views_in_put_forward and _views_in_put(op, done.outcome.answer, done.parts):
        return "views_in_put_forward"
    if not limits.expiry_under_view and _may_expire_under_view(state, done.state):
        return "expiry_under_view"
    return "" if limits.equal_ends or not any(map(_has_equal_ends, _stored_names(done.state))) else "equal_ends"


def _may_expire_under_view(before: State, after: State) -> bool:
    """Return whether a step moves the last time that has expired in a store of sessions with an open view."""
    for view in after.views.values():
        was, now = (store_of(state, view.range.store) for state in (before, after))
        last_expired = now.stream_time - now.settings.retention
        is_session = now.settings.kind is view_ops.StoreKind.SESSION
        if is_session and last_expired > max(was.stream_time - was.settings.retention, -1):
            return True
    return False


def _find_range_limit(limits: Any, store: Store, times: Sequence[int], view: Any) -> str:
    """Return the limit that the range of a view over segments is beyond."""
    is_session, interval = store.settings.kind is view_ops.StoreKind.SESSION, store.settings.segment_interval
    if not limits.backward_sessions and is_session and view.backward and view.key is not ABSENT:
        return "backward_sessions"
    if not limits.open_bounds and not is_session and (view.from_ is None or view.to is None):
        return "open_bounds"
    ends = ("earliest_end", "latest_start") if is_session else ("time_from", "time_to")
    first, last = (0 if at is ABSENT else at for at in (getattr(view, name) for name in ends))
    has_last = getattr(view, ends[1]) is not ABSENT
    is_behind = first > max(times, default=-1) or (not is_session and has_last and first > last)
    if not limits.reversed_times and is_behind:
        return "reversed_times"
    latest = max(times, default=-1)
    is_far = (min(last if has_last and not is_session else latest, latest) - first) // interval > FAR_SEGMENTS
    return "far_fetch" if is_far and not limits.far_fetch else ""


PUTS: Final = (view_ops.WindowPut, view_ops.SessionPut, view_ops.SessionRemove)


def _is_far(store: Store, op: Any) -> bool:
    """Return whether a put is so late that a later view has too many segments, even if its entry is gone by then."""
    if isinstance(op, view_ops.SessionPut | view_ops.SessionRemove):
        return op.end // store.settings.segment_interval > FAR_SEGMENTS
    return isinstance(op, view_ops.WindowPut) and op.start // store.settings.segment_interval > FAR_SEGMENTS


def _views_in_put(op: Any, answer: Any, parts: Sequence[Part]) -> bool:
    """Return whether a put of a window or a session brings a forward about that views some, or that throws.

    A put that throws does not move the time up to which a release looks for cached windows either.
    """
    throws = isinstance(answer, outcomes.Failed) and answer.error is outcomes.ErrorKind.LISTENER_FAILED
    views = isinstance(op, PUTS) and (throws or any(_has_view(part) for part in parts))
    return views or any(_views_in_put(part.event, part.answer, part.parts) for part in parts)


def _has_view(part: Part) -> bool:
    return isinstance(part.event, LOOSENING) or any(map(_has_view, part.parts))


def _stored_names(state: State) -> Iterator[set[str]]:
    """Yield the sessions of each store in memory, cached or below."""
    for name, store in state.stores.items():
        settings = store.settings
        if settings.kind is view_ops.StoreKind.SESSION and settings.below is view_ops.Underlying.MEMORY:
            yield {*store.inner, *space_of(state, name).nodes}


def _has_equal_ends(names: set[str]) -> bool:
    places = {(window.key, window.end) for window in map(parse_window, names)}
    return len(places) < len(names)


def _has_window_limits(limits: Any) -> bool:
    """Return whether a subject has a limit about windows or sessions."""
    return not all(getattr(limits, name, True) for name in OF_WINDOWS)


def _find_unplayable(limits: Any, state: State, done: Step) -> str:
    """Return why a step of a case with open views cannot be played or judged; empty if it can."""
    if isinstance(done.outcome.answer, outcomes.Unanswered):
        return f"gives no answer that can be judged: {done.outcome.answer.reason}"
    leaves = any(row.op == "EVICT" or row.cause == "CLEAR" for row in done.rows) and done.state.views
    if not limits.open_views_overflow and leaves:
        return "evicts or clears under an open view, and the subject takes no such step"
    if not limits.open_views_overflow and _drops_window_tombstone(done):
        return "drops the deletion of a window or session under an open view, and the subject takes no such step"
    read = {view.range.store for name, view in done.state.views.items() if name in state.views}
    if not limits.delete_under_view and any(_loses_key(state.stores[name], done.state.stores[name]) for name in read):
        return "deletes a key under an open view, and the subject takes no such step"
    return ""


def _loses_key(before: Store, after: Store) -> bool:
    """Return whether a key leaves the underlying store, or a window or session because it expires."""
    lost = before.inner.keys() - after.inner.keys()
    if after.settings.kind is view_ops.StoreKind.KEY_VALUE:
        return bool(lost)
    return any(parse_window(name).end <= after.stream_time - after.settings.retention for name in lost)


def _drops_window_tombstone(done: Step) -> bool:
    """Return whether a deletion leaves the cache that an open view of windows or sessions reads."""
    viewed = {view.range.store for view in done.state.views.values()}
    timed = {name for name in viewed if store_of(done.state, name).settings.kind is not view_ops.StoreKind.KEY_VALUE}
    return any(row.op == "DELETE" and row.ns in timed for row in done.rows)


class PlayedCase(NamedTuple):
    """The steps of a case that a subject can play, and the states of the reference: before the first and after each."""

    declaration: Declaration
    config: Config
    steps: tuple[Any, ...]
    states: tuple[State, ...]


class LastPlayed:
    """The case that was played last. A generator asks about it again with one more step, after each step."""

    case: PlayedCase | None = None


def _known_states(declaration: Declaration, config: Config, steps: Sequence[Any]) -> list[State]:
    """Return the states of the first steps of a case, as far as they are those of the case that was played last."""
    last = LastPlayed.case
    if last is None or last.declaration is not declaration or last.config != config:
        return [initial(config)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(last.steps, steps, strict=False)))
    return list(last.states[: same + 1])


def unsupported_reason(declaration: Declaration, config: Config, steps: Sequence[Any]) -> str:
    """Return the reason why the subject cannot play the case; empty if it can."""
    excess = _find_wrong_size(declaration, steps) or _find_empty_prefix(declaration, steps)
    if excess:
        return excess
    opened = next((at for at, op in enumerate(steps) if _opens_view(op)), len(steps))
    has_limits = _has_window_limits(declaration.limits)
    if config.variants.total is Total.EXACT and opened == len(steps) and not has_limits:
        return ""
    states = _known_states(declaration, config, steps)
    reason = ""
    for at in range(len(states) - 1, len(steps)):
        done = step(states[at], steps[at], config)
        if at < opened and isinstance(done.outcome.answer, outcomes.Unanswered):
            reason = f"under the declared variants step {at} of the case gives no answer: {done.outcome.answer.reason}"
            break
        excess = _find_unplayable(declaration.limits, states[at], done) if at >= opened else ""
        limit = _find_window_limit(declaration.limits, states[at], steps[at], done) if has_limits else ""
        excess = f"is beyond limits.{limit} of the subject" if limit else excess
        if excess:
            reason = f"step {at} of the case {excess}"
            break
        states.append(done.state)
    LastPlayed.case = PlayedCase(declaration, config, tuple(steps[: len(states) - 1]), tuple(states))
    return reason


def keep_offered(op: Any, menu: frozenset[str], otherwise: ops.Usage | None) -> Any:
    """Return an operation without the steps that the subject does not offer, or `otherwise` if it does not offer it."""
    if op is None or op.name not in menu:
        return op and otherwise
    if not isinstance(op, ops.OnForward) or all(step.name in menu for step in op.steps):
        return op
    inner = (keep_offered(step, menu, None) for step in op.steps)
    return replace(op, steps=tuple(step for step in inner if step is not None))


def only_answered(
    make: Callable[[str, State], Any],
    config: Config,
    limits: Any,
    menu: Iterable[str],
    otherwise: ops.Usage | None,
) -> Callable[[str, State], Any]:
    """Return the maker of operations with `otherwise` in place of each operation that cannot be played or judged.

    A case ends at None: the subject offers no `usage`.
    """
    offered = frozenset(menu)
    is_exact, has_views, has_limits = config.variants.total is Total.EXACT, False, _has_window_limits(limits)

    def make_answered(name: str, state: State) -> Any:
        nonlocal has_views
        op = keep_offered(make(name, state), offered, otherwise)
        has_views = has_views or (op is not None and _opens_view(op))
        if op is None or (is_exact and not has_views and not has_limits):
            return op
        done = step(state, op, config)
        if has_limits and _find_window_limit(limits, state, op, done):
            return otherwise
        if has_views:
            return otherwise if _find_unplayable(limits, state, done) else op
        return otherwise if isinstance(done.outcome.answer, outcomes.Unanswered) else op

    return make_answered


def cost_bound(config: Config, steps: Sequence[Any]) -> int:
    """Return how many entries the reference copies at most: each step, and each step of a listener, copies all once.

    In one step listeners perform their steps as often as the reentry budget allows.
    """
    every = [inner for op in steps for inner in _all_ops(op)]
    most = max((len(nested_ops(op)) for op in every), default=0)
    entries = {place for op in every for place in _written_places(op)}
    return len(steps) * (1 + most * config.reentry_budget) * (1 + len(entries))


def nested_ops(op: Any) -> tuple[Any, ...]:
    """Return the operations that an operation holds."""
    held = op.on_flush if isinstance(op, ops.Listen) else op.steps if isinstance(op, ops.OnForward) else ABSENT
    return () if held is ABSENT else held


def _all_ops(op: Any) -> Iterator[Any]:
    yield op
    for inner in nested_ops(op):
        yield from _all_ops(inner)


def _written_places(op: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the places that an operation may write to: namespace or store, and key."""
    if isinstance(op, ops.PutAll):
        yield from ((op.ns, write.key) for write in op.entries)
    elif isinstance(op, view_ops.StorePutAll):
        yield from ((None, key) for key, _ in op.entries)
    elif hasattr(op, "key"):
        yield (getattr(op, "ns", None), op.key)


SIDES: Final = {-1: "BELOW", 0: "AT", 1: "ABOVE"}

COVERAGE_CELLS: Final = ("LIMIT/BELOW", "LIMIT/AT", "RESIZE/BELOW", "RESIZE/AT", "RESIZE/ABOVE")
"""The sides: what a write leaves next to the limit, never more than it, and what is cached next to a new limit."""


def count_cells(config: Config, state: State, op: Any, done: Any, cells: dict[str, int]) -> None:
    """Count the sides of the limit that a step lands on."""
    if isinstance(op, WRITES):
        name, distance = "LIMIT", total_bytes(done.state) - state.max_size_bytes
    elif isinstance(op, ops.Resize):
        name, distance = "RESIZE", total_bytes(state) - op.max_size_bytes
    else:
        return
    cell = f"{name}/{SIDES.get(distance)}"
    if cell in COVERAGE_CELLS:
        cells[cell] = cells.get(cell, 0) + 1
