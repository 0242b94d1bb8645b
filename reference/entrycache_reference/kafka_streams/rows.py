"""The rows of a trace, made of the events of a step."""

from __future__ import annotations

from entrycache_reference.kafka_streams.state import Event, Row


def rows_of(events: tuple[Event, ...]) -> tuple[Row, ...]:
    """One row an event, in their order."""
    return tuple([row_of(event) for event in events])


def row_of(event: Event) -> Row:
    """The row of one event: of its entry the size and the flag."""
    node = event.node
    return Row(
        event.rule,
        event.op,
        event.cause,
        event.total_bytes,
        event.ns,
        event.key,
        None if node is None else node.size_bytes,
        None if node is None else node.is_dirty,
        event.value,
    )
