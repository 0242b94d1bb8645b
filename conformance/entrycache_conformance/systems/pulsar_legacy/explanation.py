"""What `pulsar-legacy` says for explaining a difference: its look, and the subject's state as that tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entrycache_faults.reference.pulsar_legacy import SEEDED_FAULTS
from entrycache_faults.seeded import Fault
from entrycache_protocol.system import Blame, Lane
from entrycache_reference.pulsar_legacy.change import cache_of, entry_at
from entrycache_reference.pulsar_legacy.laws import ANSWER_LAWS
from entrycache_reference.pulsar_legacy.ops import Observe
from entrycache_reference.pulsar_legacy.outcomes import Observed
from entrycache_reference.pulsar_legacy.state import Cache, Entry, Row, State, Step
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName


def seeded_faults() -> Sequence[Sequence[Fault]]:
    """One group."""
    return (tuple(SEEDED_FAULTS),)


def state_queries(declaration: Any, steps: Sequence[Any]) -> Sequence[Any]:
    """`observe`, which changes nothing, where a subject shows its caches."""
    shows = "observe" in declaration.ops and "caches" in declaration.introspection
    return (Observe(),) if shows else ()


def own_step(
    pre: State, done: Step, op: Any, answer: Any, shown: Mapping[Any, Any], declaration: Any
) -> tuple[State, Step, Step]:
    """The subject's step is the reference's with the answer and the content that the subject has."""
    observed = shown.get(Observe())
    state = own_state(observed, pre, done.state, declaration.introspection) if observed is not None else done.state
    return pre, done, done._replace(outcome=answer, state=state)


def own_state(observed: Observed, pre: State, after: State, shows: frozenset[str]) -> State:
    """The state that a subject shows: its positions, with what the reference knows of them after the step, or before.

    Of a position that the reference never had nothing is known but that it is there.
    """
    caches: dict[Any, Cache] = {}
    for name, view in observed.caches.items():
        unknown = Entry(0, after.now_nanos, None)
        entries = {pos: entry_at(after, name, pos) or entry_at(pre, name, pos) or unknown for pos in view.entries}
        caches[name] = Cache(entries, view.bytes)
    kept = {name: cache for name, cache in caches.items() if cache != cache_of(after, name)}
    same = {name: cache for name, cache in after.caches.items() if name in caches and name not in kept}
    total = observed.bytes if "bytes" in shows else sum(cache.size_bytes for cache in caches.values())
    now = observed.now if "now" in shows else after.now_nanos
    return after._replace(now_nanos=now, caches={**same, **kept}, size_bytes=total)


def is_about_difference(expected: Any, got: Any, row: Row) -> bool:
    """Whether a row is about a position that only one of two states shows."""
    if not (isinstance(expected, Observed) and isinstance(got, Observed)):
        return False
    one, other = (
        {(name, *pos) for name, view in observed.caches.items() for pos in view.entries} for observed in (expected, got)
    )
    return (row.cache, row.ledger_id, row.entry_id) in one ^ other


BLAME: Final = Blame(seeded_faults, state_queries, own_step, is_about_difference, ANSWER_LAWS, Rule.L_READ_4)


def ranked_caches(state: State) -> list[CacheName]:
    """The names of the caches, the largest first, those of one size by name."""
    return sorted(state.caches, key=lambda name: (-state.caches[name].size_bytes, name))


def state_text(state: State) -> str:
    """A line for each cache with its entries, lowest position first; then the pass that is scheduled."""
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
    """What each cache holds in the order of positions, the largest cache first."""
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
