"""The cache of a thread as people read it: a namespace a line, its entries from most to least recent."""

from __future__ import annotations

from entrycache_protocol.system import Lane
from entrycache_reference.kafka_streams.state import Space, State


def state_text(state: State) -> str:
    """The state: an entry that is dirty has a star, a tombstone a cross; below, what lies in the stores.

    Under the readings of releases also the dirty keys that have no entry, and the running total.
    """
    lines = [_space(ns, space) for ns, space in sorted(state.spaces.items())]
    lines += [
        f"below {name}: {' '.join(f'{key}={value}' for key, value in sorted(store.inner.items())) or '(empty)'}"
        for name, store in sorted(state.stores.items())
    ]
    if state.running:
        lines.append(f"running total: {state.running}B")
    return "\n".join(lines) if lines else "(empty)"


def _space(ns: str, space: Space) -> str:
    entries = [
        f"{key}={'✗' if space.nodes[key].value is None else space.nodes[key].value}"
        f"{'*' if space.nodes[key].is_dirty else ''}"
        for key in space.recent
    ]
    size = sum(node.size_bytes for node in space.nodes.values())
    heard = "" if space.listener is None else ", heard"
    lost = [key for key in space.dirty if key not in space.nodes]
    without = f", dirty without an entry: {' '.join(lost)}" if lost else ""
    return f"{ns}: {' '.join(entries) or '(empty)'} ({size}B{heard}{without})"


def lanes(state: State) -> tuple[Lane, ...]:
    """Each namespace from its most to its least recent key, then what lies below each store."""
    spaces = (Lane(ns, tuple(_box(space, key) for key in space.recent)) for ns, space in sorted(state.spaces.items()))
    below = (
        Lane(f"below {name}", tuple((f"{key}={value}", "entry") for key, value in sorted(store.inner.items())))
        for name, store in sorted(state.stores.items())
    )
    return (*spaces, *below)


def _box(space: Space, key: str) -> tuple[str, str]:
    node = space.nodes[key]
    return f"{key}={'✗' if node.value is None else node.value}", "dirty" if node.is_dirty else "entry"
