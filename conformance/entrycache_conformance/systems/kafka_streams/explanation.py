"""Explanation and drawing of the failures of `kafka-streams`.

`BLAME` gives `explain.py` the seeded faults, the state queries (`metrics` of the thread and of each namespace), and the
subject's step as those queries show it. The functions at the end show the cache of a thread as text and as boxes, one
namespace per line, entries from most to least recent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from entrycache_conformance.systems.kafka_streams import wire, workload
from entrycache_faults.model import Fault
from entrycache_faults.reference.kafka_streams import SEEDED_FAULTS
from entrycache_protocol import codec, system
from entrycache_reference import rules, vocabulary
from entrycache_reference.kafka_streams import ops, outcomes, view_ops, views
from entrycache_reference.kafka_streams.state import Node, Part, Row, Space, State, Step, space_of
from entrycache_reference.kafka_streams.step import has_loose_order
from entrycache_reference.kafka_streams.stores import store_of

GENERAL_LAWS: Final = workload.VARIANT_RULES | {
    rules.Rule.K_PUT_1,
    rules.Rule.K_PUT_6,
    rules.Rule.K_RANGE_2,
    rules.Rule.K_EVICT_6,
    rules.Rule.K_LIVENESS_2,
}
"""Laws of all writes, of all iterations and of variants. Almost any difference breaks them, so other laws say more."""


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """Return the seeded faults by function, and the variants of releases."""
    return (tuple(SEEDED_FAULTS),)


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """Return `metrics` of the thread and of each namespace of the case, which counts nothing and uses nothing."""
    if "metrics" not in declaration.ops or not {"dirty", "lru"} <= declaration.introspection:
        return ()
    return (ops.Metrics(), *(ops.Metrics(name) for name in sorted(set(_namespaces(steps)))))


def _namespaces(steps: Sequence[Any]) -> Iterator[str]:
    """Yield every namespace that a step names, or a step inside it."""
    for op in steps:
        yield from (name for name in (getattr(op, "ns", None), getattr(op, "store", None)) if isinstance(name, str))
        for held in ("on_flush", "steps"):
            inner = getattr(op, held, ())
            yield from _namespaces(inner) if isinstance(inner, tuple) else ()


def own_step(
    pre: State, done: Step, op: Any, answer: Any, views: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """Return the reference's step, and the subject's own with the state that its queries show."""
    state = own_state(pre, done.state, views) if views else done.state
    return pre, done, done._replace(state=state, outcome=read_typed_outcome(op, answer))


def own_state(pre: State, right: State, views: Mapping[Any, Any]) -> State:
    """Return the subject's state after a step from what it shows of the thread and of each namespace."""
    spaces = dict(right.spaces)
    for name, view in ((op.ns, view) for op, view in views.items() if op.ns is not vocabulary.ABSENT):
        if name in right.spaces or view["lru"]:
            space = right.spaces.get(name, Space())
            nodes = {**pre.spaces.get(name, Space()).nodes, **space.nodes}
            dirty, lru = tuple(view["dirty"]), tuple(view["lru"])
            spaces[name] = space._replace(
                nodes={key: _with_flag(nodes[key], key in dirty) for key in lru if key in nodes},
                recent=lru,
                dirty=dirty,
                **{field: view[field] for field in ("hits", "misses", "overwrites", "flushes")},
            )
    thread = views[ops.Metrics()]
    return right._replace(spaces=spaces, **{field: thread[field] for field in ("puts", "gets", "evicts", "flushes")})


def _with_flag(node: Node, is_dirty: bool) -> Node:
    return node if node.is_dirty is is_dirty else node._replace(is_dirty=is_dirty)


def read_typed_outcome(op: Any, value: Any) -> outcomes.Outcome:
    """Read an outcome from its JSON object. The answers of steps inside calls stay as they are."""
    if isinstance(value, outcomes.Outcome):
        return value
    answer = {name: part for name, part in value.items() if name not in {"flushed", "forwarded"}}
    kind = outcomes.Failed if "error" in answer else wire.answer_type(op, answer)
    calls = tuple(
        outcomes.Call(call["ns"], tuple(_read_handed(*entry) for entry in call["entries"]), tuple(call["inner"]))
        for call in value.get("flushed", ())
    )
    forwards = tuple(
        outcomes.Forward(
            call["store"],
            call["key"],
            call["value"],
            tuple(call["inner"]),
            **{name: call.get(name, vocabulary.ABSENT) for name in ("old", "start", "end")},
        )
        for call in value.get("forwarded", ())
    )
    return outcomes.Outcome(codec.decode_object(kind, answer), calls, forwards)


def follow_answer(state: State, op: Any, config: Any, own: Step, got: Any) -> Step | None:
    """Return the step that a subject's answer leads to, if an open view allows several answers."""
    return (
        None
        if not (state.views or has_loose_order(state) or state.is_unjudged)
        else views.follow(state, op, config, own, read_typed_outcome(op, got))
    )


def allowed_answers(state: State, op: Any, config: Any, own: Step) -> tuple[dict[str, Any], ...]:
    """Return the answers that an open view allows, without keys that may have any value."""
    if state.is_unjudged or isinstance(own.outcome.answer, outcomes.Unanswered):
        return ({},)
    if isinstance(op, view_ops.ViewNext) and op.view in state.views:
        view = views.watch(state, config).views[op.view]
        store = store_of(state, view.range.store)
        if view.range.backward and config.variants.backward_tombstone.value == "shows":
            return ({},)
        values = [(key, value) for key in views.keys_ahead(view, store.settings) for value in view.had[key]]
        allowed = [entry for entry in (*values, None) if views.may_come_next(view, store, entry, config)]
        return tuple({"entry": codec.encode(views.shown_entry(state, view, entry))} for entry in allowed)
    if isinstance(op, ops.Metrics) and op.ns is not vocabulary.ABSENT and space_of(state, op.ns).is_loose:
        written = wire.outcome_json(own.outcome)
        return ({name: part for name, part in written.items() if name not in {"hits", "misses", "lru"}},)
    return ()


def _read_handed(key: str, value: str | None, context: dict[str, int] | None = None) -> outcomes.Handed:
    return outcomes.Handed(key, value, outcomes.Context(**(context or {})))


def is_about_difference(expected: Any, got: Any, row: Row) -> bool:
    """Return whether a row is about the difference. Lookups are part of many steps, so other rules say more."""
    return row.rule is not rules.Rule.K_GET_1


READS_OF_WINDOWS: Final = (view_ops.WindowGet, view_ops.SessionGet, view_ops.WindowView, view_ops.SessionView)


def rule_of_inner_read(done: Step, answer: Any) -> rules.Rule | None:
    """Return K-WINDOW-9 if the first difference is the answer of a read of windows inside a forward."""
    written = wire.outcome_json(answer) if isinstance(answer, outcomes.Outcome) else answer
    forwards = zip(wire.outcome_json(done.outcome).get("forwarded", ()), written.get("forwarded", ()), strict=False)
    different = next((pair for pair in forwards if pair[0] != pair[1]), None)
    if different is None or {**different[0], "inner": different[1]["inner"]} != different[1]:
        return None
    answers = zip(different[0]["inner"], different[1]["inner"], strict=False)
    expected = next((one for one, other in answers if one != other), None)
    reads = (part for part in _all_parts(done.parts) if _reads_windows(part))
    is_read = expected is not None and any(wire.answer_json(part.answer) == expected for part in reads)
    return rules.Rule.K_WINDOW_9 if is_read else None


def _all_parts(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from _all_parts(part.parts)


def _reads_windows(part: Part) -> bool:
    """Return whether a step inside a call reads windows or sessions."""
    if isinstance(part.event, view_ops.ViewNext) and part.event.view in part.pre.views:
        store = store_of(part.pre, part.pre.views[part.event.view].range.store)
        return store.settings.kind is not view_ops.StoreKind.KEY_VALUE
    return isinstance(part.event, READS_OF_WINDOWS)


BLAME: Final = system.Blame(
    seeded_faults,
    state_queries,
    own_step,
    is_about_difference,
    GENERAL_LAWS,
    rules.Rule.K_LIVENESS_2,
    inner_rule=rule_of_inner_read,
)


def state_text(state: State) -> str:
    """Return the state as text. A dirty entry has a star, a tombstone a cross; the content of the stores comes last.

    Under the variants of releases the text also has the dirty keys without an entry, and the running total.
    """
    lines = [_namespace_text(ns, space) for ns, space in sorted(state.spaces.items())]
    lines += [
        f"below {name}: {' '.join(f'{key}={value}' for key, value in sorted(store.inner.items())) or '(empty)'}"
        if store.is_open
        else f"{name} is closed"
        for name, store in sorted(state.stores.items())
    ]
    lines += [
        f"open view {name} of {view.range.store}: {'at its end' if view.has_ended else f'behind {view.last}'}"
        if view.has_ended or view.last is not None
        else f"open view {name} of {view.range.store}: at its beginning"
        for name, view in sorted(state.views.items())
    ]
    if state.running:
        lines.append(f"running total: {state.running}B")
    return "\n".join(lines) if lines else "(empty)"


def _namespace_text(ns: str, space: Space) -> str:
    entries = [
        f"{key}={'✗' if space.nodes[key].value is None else space.nodes[key].value}"
        f"{'*' if space.nodes[key].is_dirty else ''}"
        for key in space.recent
    ]
    size = sum(node.size_bytes for node in space.nodes.values())
    listener = "" if space.listener is None else ", heard"
    lost = [key for key in space.dirty if key not in space.nodes]
    without = f", dirty without an entry: {' '.join(lost)}" if lost else ""
    return f"{ns}: {' '.join(entries) or '(empty)'} ({size}B{listener}{without})"


def lanes(state: State) -> tuple[system.Lane, ...]:
    """Return each namespace from its most to its least recent key, then the underlying content of each store."""
    spaces = (
        system.Lane(ns, tuple(_box(space, key) for key in space.recent)) for ns, space in sorted(state.spaces.items())
    )
    below = (
        system.Lane(f"below {name}", tuple((f"{key}={value}", "entry") for key, value in sorted(store.inner.items())))
        for name, store in sorted(state.stores.items())
    )
    return (*spaces, *below)


def _box(space: Space, key: str) -> tuple[str, str]:
    node = space.nodes[key]
    return f"{key}={'✗' if node.value is None else node.value}", "dirty" if node.is_dirty else "entry"
