"""The caches as people read them: from the largest to the smallest, as a size pass ranks them."""

from __future__ import annotations

from entrycache_protocol.system import Lane
from entrycache_reference.pulsar_legacy.state import State
from entrycache_reference.vocabulary import CacheName


def ranked(state: State) -> list[CacheName]:
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
        for name in ranked(state)
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
        for name in ranked(state)
    )
