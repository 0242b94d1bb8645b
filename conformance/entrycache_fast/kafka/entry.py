"""One cached entry, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

Header = tuple[str, bytes]
"""A header of a record: its name, its content."""

PLAIN_BYTES: Final = 45
"""What every entry counts besides its key, value, topic and headers: flag 1, timestamp 8, offset 8, partition 4,
and three references of 8 for its place in the order of use."""


class Context(NamedTuple):
    """What the write of an entry carried; None: it did not."""

    timestamp: int | None = None
    offset: int | None = None
    partition: int | None = None


NO_CONTEXT: Final = Context()


class Entry:
    """One cached write; its identity is that of the write. `value` None: a tombstone.

    There is no `__init__`: `ThreadCache`, the only maker, sets every field itself, which takes half the time.
    """

    __slots__ = ("context", "dirty", "size_bytes", "value")

    value: bytes | None
    dirty: bool
    size_bytes: int
    context: Context


class Handed(NamedTuple):
    """One entry as a listener gets it."""

    key: bytes
    entry: Entry


Listener = Callable[[list[Handed]], None]
"""Who gets the dirty entries of a namespace, in one call."""


def utf16_units(text: str) -> int:
    """The code units of a text in UTF-16: what names of topics and headers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def extra_bytes(topic: str, headers: Sequence[Header]) -> int:
    """What topic and headers of an entry count."""
    return utf16_units(topic) + sum(utf16_units(name) + len(content) for name, content in headers)
