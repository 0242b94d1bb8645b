"""Explanation and drawing of the failures of `pulsar-legacy`.

`BLAME` gives `explain.py` the seeded faults, the state query (`observe`), and the subject's own state as that query
shows it. The functions at the end show the caches as text and as boxes, from the largest to the smallest, as a size
pass ranks them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.model import Fault
from entrycache_faults.reference.pulsar_legacy import SEEDED_FAULTS
from entrycache_protocol.system import Blame, Lane
from entrycache_reference import rules, vocabulary
from entrycache_reference.pulsar_legacy import change, ops
from entrycache_reference.pulsar_legacy.laws import ANSWER_LAWS
from entrycache_reference.pulsar_legacy.state import Cache, Entry, Row, State, Step


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """Return the seeded faults, in one group."""
    return (tuple(SEEDED_FAULTS),)


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """Return `observe`, which changes nothing, if the subject shows its caches."""
    shows = "observe" in declaration.ops and "caches" in declaration.introspection
    return (ops.Observe(),) if shows else ()


def own_step(
    pre: State, done: Step, op: Any, answer: Any, views: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """Return the reference's step, and the same with the subject's answer and content."""
    observed = views.get(ops.Observe())
    state = own_state(observed, pre, done.state, declaration.introspection) if observed is not None else done.state
    return pre, done, done._replace(outcome=answer, state=state)


def own_state(observed: ops.Observed, pre: State, after: State, shows: frozenset[str]) -> State:
    """Return the state that a subject shows, with what the reference knows of each position after the step, or before.

    Nothing else is known of a position that the reference never had.
    """
    caches: dict[Any, Cache] = {}
    for name, view in observed.caches.items():
        unknown = Entry(0, after.now_nanos, None)
        entries = {
            pos: change.entry_at(after, name, pos) or change.entry_at(pre, name, pos) or unknown for pos in view.entries
        }
        caches[name] = Cache(entries, view.bytes)
    kept = {name: cache for name, cache in caches.items() if cache != change.cache_of(after, name)}
    same = {name: cache for name, cache in after.caches.items() if name in caches and name not in kept}
    total = observed.bytes if "bytes" in shows else sum(cache.size_bytes for cache in caches.values())
    now = observed.now if "now" in shows else after.now_nanos
    return after._replace(now_nanos=now, caches={**same, **kept}, size_bytes=total)


def is_about_difference(expected: Any, got: Any, row: Row) -> bool:
    """Return whether a row is about a position that only one of two states shows."""
    if not (isinstance(expected, ops.Observed) and isinstance(got, ops.Observed)):
        return False
    one, other = (
        {(name, *pos) for name, view in observed.caches.items() for pos in view.entries} for observed in (expected, got)
    )
    return (row.cache, row.ledger_id, row.entry_id) in one ^ other


BLAME: Final = Blame(seeded_faults, state_queries, own_step, is_about_difference, ANSWER_LAWS, rules.Rule.L_READ_4)


def ranked_caches(state: State) -> list[vocabulary.CacheName]:
    """Return the names of the caches, the largest first, and by name among equals."""
    return sorted(state.caches, key=lambda name: (-state.caches[name].size_bytes, name))


def state_text(state: State) -> str:
    """Return one line per cache with its entries, lowest position first, then the scheduled pass."""
    lines = [
        f"{name} {state.caches[name].size_bytes}B: "
        + ", ".join(
            f"({pos.ledger},{pos.entry}) {entry.size_bytes}B age {state.now_nanos - entry.stamp_nanos}"
            for pos, entry in sorted(state.caches[name].entries.items())
        )
        for name in ranked_caches(state)
    ]
    if state.scheduled_bytes is not None:
        lines.append(f"a size pass of {state.scheduled_bytes}B is scheduled")
    return "\n".join(lines) if lines else "(empty)"


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the content of each cache in the order of positions, the largest cache first."""
    return tuple(
        Lane(
            f"cache {name}",
            tuple(
                (f"({pos.ledger},{pos.entry}) {entry.size_bytes}B", "entry")
                for pos, entry in sorted(state.caches[name].entries.items())
            ),
        )
        for name in ranked_caches(state)
    )
