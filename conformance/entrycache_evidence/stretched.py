"""A case at another magnitude: the same steps with greater ids, sizes, times, names and values, and with many entries.

It is another case, not an equal one: what it is for is that laws are asked where drawn cases are never. Which field is
of what kind is told by its name, since units stand last in a name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, NamedTuple

from entrycache_reference.vocabulary import INTEGER_MAX, Position

SIZES: Final = frozenset({"size", "bytes", "max_size_bytes", "total_bytes", "storage_entry_size"})
TIMES: Final = frozenset({"nanos", "older_than_nanos", "ttl_nanos", "grace_millis"})
POSITIONS: Final = frozenset({"pos", "first", "last"})
LEDGERS: Final = frozenset({"ledger"})
NAMES: Final = frozenset({"cache", "cursor", "hold", "ns", "store", "topic"})
KEYS: Final = frozenset({"key", "from_", "to"})
TEXTS: Final = frozenset({"value"})
NUMBERS: Final = frozenset({"token", "timestamp", "offset", "partition"})
NESTED: Final = frozenset({"entries", "on_flush", "steps"})
COUNTS: Final = frozenset({"expected_reads"})
AS_THEY_ARE: Final = frozenset(
    {
        *("dirty", "fails", "global_thread", "headers", "last_inclusive", "threads", "to_inclusive"),
        *("eviction", "evict_by_expected_reads", "evict_by_mark_deleted", "extend_recently_accessed", "max_requeues"),
        *("mode", "reentry_budget", "segments", "variants", "watermark"),
    }
)

FACTORS: Final = (1, 1, 7, 1_009, 86_400, 2**20, 3_600_007, 2**31 + 1)
ROOM: Final = INTEGER_MAX // 8
"""What all times, and the sizes of all copies, of a stretched case may add up to."""
LEDGER_BITS: Final = (0, 0, 16, 31, 32, 40)
ENTRY_SHIFTS: Final = (0, 0, 1, 2**16, 2**31 - 2, 2**33)
NUMBER_SHIFTS: Final = (0, 0, 2**31, 2**40)
COUNT_SHIFTS: Final = (0, 0, 0, 0, 98, 70_000)
LENGTHS: Final = (1, 1, 1, 3, 200)
LONGEST: Final = 20_000
"""Characters of a value, more of which are not made of a shorter one."""
COPIES: Final = (1, 1, 1, 2, 3, 17, 60, 140)
GROUPS_MOST: Final = 12
"""Copies of a cache or a namespace: laws compare each with each."""
STEPS_MOST: Final = 700
UNDIVIDED_MOST: Final = 2**37
"""A limit that is divided into segments of a gibibyte, where a configuration does not say into how many."""

Text = Callable[[str], str]
RENAMED: Final[tuple[Text, ...]] = (
    lambda name: name,
    lambda name: name,
    lambda name: "public/default/persistent/" + name,
    lambda name: name + "-" * (sum(map(ord, name)) % 5),
    lambda name: "\U0001f600" + name if sum(map(ord, name)) % 2 else "\ufb00" + name,
    lambda name: name * 40,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """By how much; of positions `ledger << bits`, where it is not below 0, and `entry + shift`."""

    sizes: int
    times: int
    ledger_bits: int
    entry_shift: int
    number_shift: int
    count_shift: int
    length: int
    name: Text
    key: Text

    def field(self, name: str, value: Any) -> Any:
        """A field's value at the other magnitude."""
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, Position):
            return Position(self._ledger(value.ledger), value.entry + self.entry_shift)
        if isinstance(value, tuple) and name in NESTED:
            return tuple(self.whole(one) for one in value)
        if type(value) is not int:
            return value
        if name in COUNTS:
            return value + self.count_shift if value > 0 else value
        if name in LEDGERS:
            return self._ledger(value)
        factor = self.sizes if name in SIZES else self.times if name in TIMES else 1
        return value * factor + (self.number_shift if name in NUMBERS else 0)

    def whole(self, record: Any) -> Any:
        """Every field of a configuration or of an operation."""
        names = [field.name for field in fields(record)]
        return replace(record, **{name: self.field(name, getattr(record, name)) for name in names})

    def _text(self, name: str, value: str) -> str:
        if name in TEXTS:
            return value * max(1, min(self.length, LONGEST // max(1, len(value))))
        return self.key(value) if name in KEYS else self.name(value) if name in NAMES else value

    def _ledger(self, ledger: int) -> int:
        return ledger << self.ledger_bits if ledger >= 0 else ledger


class Echo(NamedTuple):
    """What the copies of a step about one entry differ in."""

    field: str
    copy: Callable[[Any, int], Any]


LEDGERS_OF_COPIES: Final = Echo("pos", lambda pos, at: Position(pos.ledger + 16 * at, pos.entry))
ENTRIES_OF_COPIES: Final = Echo("pos", lambda pos, at: Position(pos.ledger, pos.entry + at))
CACHES_OF_COPIES: Final = Echo("cache", lambda name, at: f"{name}{at}" if at else name)
KEYS_OF_COPIES: Final = Echo("key", lambda key, at: f"{key}{at}" if at else key)
SPACES_OF_COPIES: Final = Echo("ns", lambda name, at: f"{name}{at}" if at else name)
ECHOES: Final = (LEDGERS_OF_COPIES, ENTRIES_OF_COPIES, CACHES_OF_COPIES, KEYS_OF_COPIES, SPACES_OF_COPIES)
WIDENED: Final[Mapping[str, str]] = {"last": "pos", "to": "key"}
"""The end of a range that may be that of the last copy, and the field that is copied."""


def stretched(config: Any, steps: Sequence[Any], source: random.Random) -> tuple[Any, tuple[Any, ...]]:
    """A configuration and steps at another magnitude, which the source chooses."""
    stretch = Stretch(
        _factor(source, SIZES, config, steps, max(COPIES)),
        _factor(source, TIMES, config, steps, 1),
        source.choice(LEDGER_BITS),
        source.choice(ENTRY_SHIFTS),
        source.choice(NUMBER_SHIFTS),
        source.choice(COUNT_SHIFTS),
        source.choice(LENGTHS),
        source.choice(RENAMED),
        source.choice(RENAMED),
    )
    copies = source.choice(COPIES)
    echo = source.choice([one for one in ECHOES if any(hasattr(step, one.field) for step in steps)] or ECHOES[:1])
    if echo in (CACHES_OF_COPIES, SPACES_OF_COPIES):
        copies = min(copies, GROUPS_MOST)
    changed = [stretch.whole(step) for step in steps]
    room = config.max_size_bytes * stretch.sizes * source.choice((1, copies)) * source.choice((1, 1, stretch.length))
    most = UNDIVIDED_MOST if getattr(config, "segments", 1) is None else INTEGER_MAX
    return (
        replace(stretch.whole(config), max_size_bytes=min(room, most)),
        tuple(_echoed(changed, echo, copies, source)),
    )


def _echoed(steps: Sequence[Any], echo: Echo, copies: int, source: random.Random) -> Iterator[Any]:
    """Most steps about one entry are taken by so many copies of it, most ranges go as far as the last one."""
    made = 0
    for step in steps:
        if made >= STEPS_MOST:
            return
        fits = isinstance(getattr(step, echo.field, None), str | Position)  # else it is about none, or about all
        number = copies if fits and source.random() < 0.7 else 1
        if fits:
            value = getattr(step, echo.field)
            yield from (replace(step, **{echo.field: echo.copy(value, at)}) for at in range(number))
        else:
            yield _far(step, echo, copies, source)
        made += number


def _far(step: Any, echo: Echo, copies: int, source: random.Random) -> Any:
    """A step about no single entry: by chance its range, or its amount, is that of all copies."""
    if source.random() < 0.5:
        return step
    ends = {name: echo.copy(getattr(step, name), copies - 1) for name, of in WIDENED.items()
            if of == echo.field and getattr(step, name, None) is not None}  # fmt: skip
    amount = {"bytes": step.bytes * copies} if getattr(step, "bytes", 0) else {}
    return replace(step, **ends, **amount)


def _factor(source: random.Random, names: frozenset[str], config: Any, steps: Sequence[Any], copies: int) -> int:
    """A factor by which all that has these names, so often, stays within the room that there is."""
    told = sum(abs(value) for record in (config, *steps) for value in _numbers(record, names))
    fit = [factor for factor in FACTORS if told * factor * copies <= ROOM]
    return source.choice(fit or [1])


def _numbers(record: Any, names: frozenset[str]) -> Iterator[int]:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in names and type(value) is int:
            yield value
        if field.name in NESTED and isinstance(value, tuple):
            for one in value:
                yield from _numbers(one, names) if is_dataclass(one) else ()
