"""What a rule needs to be told: columns of its events, settings of their CONFIG, counters in their value.

A rule file has one line a need in its section `-- needs`: NAME of EVENTS, or NAME or NAME of EVENTS where one of them
is enough. NAME is a column, `CONFIG.` and a setting, or `value.` and a counter; an event is an op, or an op with its
cause, or with cause and origin (`*`: any). `ever` before a NAME whose null says something too (an entry without a
count): it is lacking only where it is told in no event. All engines read the same lines.

An event that lacks one of its needs is not checked by the rule; a broker in which no event is told it is not checked at
all. That is said, and it is neither a violation nor does it make an answer inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

_LINE: Final = re.compile(r"(?P<ever>ever )?(?P<names>\S+(?: or \S+)*) of (?P<events>.+)")
_COLUMNS: Final = ("op", "cause", "origin")
CONFIG: Final = "CONFIG."
VALUE: Final = "value."

Row = Mapping[str, Any]


class Need(NamedTuple):
    """One line: any of `names` is enough in each of `events` (op, cause and origin; None: any)."""

    names: tuple[str, ...]
    events: tuple[tuple[str | None, ...], ...]
    ever: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings among the names."""
        return tuple(name.removeprefix(CONFIG) for name in self.names if name.startswith(CONFIG))

    @property
    def about(self) -> str:
        """The events, as SQL."""
        return " or ".join(f"({_event(event)})" for event in self.events)

    def only(self, event: tuple[str | None, ...]) -> Need:
        """The same of one of its events."""
        return self._replace(events=(event,))

    @property
    def lacks(self) -> str:
        """Whether such an event is not told what is needed, as SQL."""
        return " and ".join(_untold(name) for name in self.names)

    def speaks_of(self, row: Row) -> bool:
        """Whether it is about an event."""
        return any(
            all(part is None or row.get(column) == part for column, part in zip(_COLUMNS, event, strict=False))
            for event in self.events
        )

    def is_untold(self, row: Row, untold: Container[str], counters: Callable[[Row], Mapping[str, int]]) -> bool:
        """Whether such an event is not told what is needed; `untold`: the settings that its CONFIG does not name."""
        for name in self.names:
            if name.startswith(CONFIG):
                told = name.removeprefix(CONFIG) not in untold
            elif name.startswith(VALUE):
                told = name.removeprefix(VALUE) in counters(row)
            else:
                told = row[name] is not None
            if told:
                return False
        return True

    def note(self, broker: str, rules: Iterable[str], rows: int, lacking: int) -> str:
        """What is said of events that lack it."""
        events = ", ".join(" ".join(part or "*" for part in event) for event in self.events)
        name, ids = " or ".join(self.names), ", ".join(sorted(rules))
        return (
            f"broker {broker!r}: {name} is not told in {lacking} of {rows} events ({events}); not checked there: {ids}"
        )


def _event(event: tuple[str | None, ...]) -> str:
    told = [(column, part) for column, part in zip(_COLUMNS, event, strict=False) if part is not None]
    return " and ".join(f"{column} = '{part}'" for column, part in told)


def _untold(name: str) -> str:
    if name.startswith(CONFIG):
        return f"coalesce(untold like '%,{name.removeprefix(CONFIG)},%', false)"
    if name.startswith(VALUE):
        return f"counter(value, '{name.removeprefix(VALUE)}') is null"
    return f"{name} is null"


def parse_needs(text: str) -> tuple[Need, ...]:
    """The needs that the lines of a section say.

    Raises:
        ValueError: a line is none.
    """
    found = []
    for line in text.strip().splitlines():
        said = _LINE.fullmatch(line.strip())
        if said is None:
            raise ValueError(f"{line!r}: expected NAME of EVENTS")
        events = tuple(
            tuple(None if part == "*" else part for part in event.split()) for event in said["events"].split(", ")
        )
        found.append(Need(tuple(said["names"].split(" or ")), events, said["ever"] is not None))
    return tuple(found)


class Told(NamedTuple):
    """How many events of a broker a need is about, and how many lack it."""

    rows: int
    lacking: int

    @property
    def never(self) -> bool:
        """Whether none of them is told it."""
        return 0 < self.rows == self.lacking


def unasked(needs: Mapping[str, Iterable[Need]], told: Mapping[Need, Told]) -> frozenset[str]:
    """The rules that a broker is not asked about: none of their events is told one of their needs."""
    return frozenset(rule for rule, own in needs.items() if any(told[need].never for need in own if need in told))


def notes_of(broker: str, needs: Mapping[str, Iterable[Need]], told: Mapping[Need, Told]) -> dict[str, list[str]]:
    """What is said of a broker's events that lack something, by rule."""
    found: dict[str, list[str]] = {}
    for need, counts in told.items():
        rules = [rule for rule, own in needs.items() if need in own]
        for rule in rules if counts.never or (counts.lacking and not need.ever) else ():
            found.setdefault(rule, []).append(need.note(broker, rules, *counts))
    return found
