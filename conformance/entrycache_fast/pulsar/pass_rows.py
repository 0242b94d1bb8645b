"""The rows of passes, one function a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from entrycache_fast.pulsar.row import Row, entry_row

if TYPE_CHECKING:
    from entrycache_fast.pulsar.store import Entry


class PassSettings(NamedTuple):
    """What every row of one pass repeats."""

    kind: str
    origin: str
    now_nanos: int
    max_requeues: int
    extend_accessed: bool
    trigger_bytes: int | None
    target_bytes: int | None


def taken_row(op: str, cause: str, settings: PassSettings, bound: int, size_bytes: int, entry: Entry) -> Row:
    """A pass took the slot of a live entry."""
    return entry_row(op, cause, settings.now_nanos, size_bytes, entry)._replace(
        bound=bound, max_requeues=settings.max_requeues, extend_accessed=settings.extend_accessed
    )


def edge_row(op: str, settings: PassSettings, bound: int, size_bytes: int, head_nanos: int | None) -> Row:
    """A pass began or ended; `head_nanos` is the stamp of the live head at which it stopped."""
    return Row(
        op,
        settings.kind,
        settings.now_nanos,
        size_bytes,
        origin=settings.origin,
        stamp_ns=head_nanos,
        bound=bound,
        max_requeues=settings.max_requeues,
        extend_accessed=settings.extend_accessed,
        trigger_bytes=settings.trigger_bytes,
        target_bytes=settings.target_bytes,
        manager_bytes=size_bytes,
    )


def tombstone_row(settings: PassSettings, bound: int, size_bytes: int) -> Row:
    """A pass dropped a dead slot."""
    return Row(
        "TOMBSTONE",
        settings.kind,
        settings.now_nanos,
        size_bytes,
        bound=bound,
        max_requeues=settings.max_requeues,
        extend_accessed=settings.extend_accessed,
        manager_bytes=size_bytes,
    )
