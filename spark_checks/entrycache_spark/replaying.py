"""Replay of any system, one broker after the other, one row after the other: the facts of rows, and what is told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from entrycache_spark.asked import Asked, ask
from entrycache_spark.needs import Need
from entrycache_spark.parts import ConfigObject
from entrycache_spark.settings import config_of, untold_of
from entrycache_spark.verdict import RuleFinding, Violation
from entrycache_trace.files import Metadata, Part, read_mappings

Row = dict[str, Any]
S = TypeVar("S")
"""What is in force at a row."""


@dataclass(frozen=True)
class Facts(Generic[S]):
    """The rows of one broker in the order of `seq`, and what holds for all of them.

    `settings`: what is in force at each row. `whole`: of each row, whether nothing is missing since an empty begin.
    `untold`: for each row the settings that its CONFIG does not name.
    """

    name: str
    rows: list[Row]
    settings: list[S]
    whole: list[bool]
    many: bool
    starts: bool
    opened: bool
    gapped: bool
    unread: bool
    untold: list[tuple[str, ...]]

    def next_to(self, at: int) -> Row | None:
        """The row right behind, None where it is missing."""
        if at + 1 == len(self.rows) or self.rows[at + 1]["seq"] != self.rows[at]["seq"] + 1:
            return None
        return self.rows[at + 1]

    def ends_call(self, at: int) -> bool:
        """Whether another call begins right behind a row."""
        after = self.next_to(at)
        return after is not None and differ(after["call_id"], self.rows[at]["call_id"])

    @property
    def complete(self) -> bool:
        """Whether it begins, ends, and misses nothing."""
        return self.starts and not self.gapped and bool(self.rows[-1]["op"] == "END")

    def missing(self) -> list[str]:
        """Why a clean answer would claim too much."""
        found = []
        if self.gapped:
            found.append(f"broker {self.name!r}: events are missing")
        elif not self.starts:
            found.append(f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing")
        elif self.unread:
            found.append(f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known")
        elif self.rows[-1]["op"] != "END":
            found.append(f"broker {self.name!r}: the last event is not END, so the rest is missing")
        if self.opened:
            found.append(f"broker {self.name!r}: it begins with entries cached before")
        return found


class Settings(NamedTuple, Generic[S]):
    """The settings that a system's rules need: their types, what holds before any CONFIG, what each CONFIG changes."""

    kinds: Mapping[str, type]
    nothing: S
    after: Callable[[ConfigObject | None, S], S]


def facts_of(name: str, rows: list[Row], metadata: Metadata, settings: Settings[S]) -> Facts[S]:
    """The facts of a broker's rows."""
    starts = rows[0]["op"] == "CONFIG"
    opened = any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows)
    first = rows[0]["seq"]
    whole = [starts and not opened and not metadata.sampled and row["seq"] == first + at for at, row in enumerate(rows)]
    in_force, now = [], settings.nothing
    untold: list[tuple[str, ...]] = []
    lacks: tuple[str, ...] = ()
    unread = False
    for row in rows:
        if row["op"] == "CONFIG":
            config = config_of(row["value"], settings.kinds, f"broker {name!r}, seq {row['seq']}")
            unread |= config is None
            lacks = () if config is None else tuple(untold_of(config, settings.kinds))
            now = settings.after(config, now)
        in_force.append(now)
        untold.append(lacks)
    gapped = metadata.sampled or rows[-1]["seq"] - first + 1 != len(rows)
    return Facts(name, rows, in_force, whole, metadata.many_threads, starts, opened, gapped, unread, untold)


def differ(one: object, other: object) -> bool:
    """Whether two known values differ."""
    return one is not None and other is not None and one != other


class Telling:
    """Takes in violations, and what would be one if it were sure."""

    def __init__(self, facts: Facts[Any]) -> None:
        self._facts = facts
        self.violations: defaultdict[str, list[Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)

    def tell(
        self,
        rule: str,
        row: Row,
        expected: object,
        seqs: Iterable[int | None] = (),
        sure: bool | None = None,
        life: int | None = None,
    ) -> None:
        """Report one; with several threads nothing is sure that does not say so."""
        if not (not self._facts.many if sure is None else sure):
            self.undecided[rule].append(f"{rule}: broker {self._facts.name!r}, seq {row['seq']}: not {expected}")
            return
        shown = tuple(seq for seq in seqs if seq is not None) or (row["seq"],)
        about = row["life"] if life is None else life
        observed = f"{row['op']} of life {row['life']}, {row['bytes_after']} bytes"
        self.violations[rule].append(
            Violation(rule, self._facts.name, row["seq"], about, str(expected), observed, shown)
        )


class Reading(NamedTuple, Generic[S]):
    """How the rows of one system are replayed.

    `spoken`: the rules that speak about a row under the settings in force. `follow`: go through the rows in order, and
    say whether there were never more live entries than replay is meant for.
    """

    columns: Sequence[str]
    settings: Settings[S]
    spoken: Callable[[Row, S], Iterable[str]]
    follow: Callable[[Facts[S], Telling, int], bool]


class Played(NamedTuple):
    """What the replay of one broker has found, by rule; `differences`: pairs of a rule and a line.

    `gave_up`: of what there was too much at once, empty where the rows were replayed to the end.
    """

    asked: Asked
    gave_up: str = ""
    missing: Sequence[str] = ()
    violations: Mapping[str, Sequence[Violation]] = MappingProxyType({})
    undecided: Mapping[str, Sequence[str]] = MappingProxyType({})
    differences: Iterable[tuple[str, str]] = ()


def broker_by_broker(
    columns: Sequence[str],
    play: Callable[[str, list[Row]], Played],
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[Need]],
    progress: Callable[[str], None],
) -> dict[str, RuleFinding]:
    """What the rows of each broker say about the rules; `play` replays those of one."""
    checked: Counter[str] = Counter()
    violations: defaultdict[str, list[Violation]] = defaultdict(list)
    undecided: defaultdict[str, list[str]] = defaultdict(list)
    differences: defaultdict[str, list[str]] = defaultdict(list)
    unchecked: defaultdict[str, list[str]] = defaultdict(list)
    shared = ["the trace is sampled"] if metadata.sampled else []
    for name in sorted({part.broker for part in parts if part.rows}):
        progress(f"replaying broker {name}")
        played = play(name, read_mappings([part for part in parts if part.broker == name], columns))
        asked = played.asked
        checked.update({rule: count for rule, count in asked.checked.items() if rule not in asked.never})
        if played.gave_up:
            shared.append(f"broker {name!r}: {played.gave_up} at once; replay stops there")
            continue
        shared += played.missing
        for rule in rules:
            unchecked[rule] += asked.notes.get(rule, [])
            if rule not in asked.never:
                violations[rule] += played.violations.get(rule, [])
                undecided[rule] += played.undecided.get(rule, [])
        for rule, line in played.differences:
            differences[rule].append(line)
    return {
        rule: RuleFinding(
            checked[rule],
            tuple(violations[rule]),
            (*shared, *undecided[rule]),
            tuple(unchecked[rule]),
            tuple(differences[rule]),
        )
        for rule in rules
    }


def replay_each(
    reading: Reading[S],
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, RuleFinding]:
    """What the rows of each broker say about the rules."""

    def play(name: str, rows: list[Row]) -> Played:
        facts = facts_of(name, rows, metadata, reading.settings)
        told = ((row, facts.untold[at], reading.spoken(row, facts.settings[at])) for at, row in enumerate(facts.rows))
        asked = ask(name, told, rules)
        telling = Telling(facts)
        if not reading.follow(facts, telling, max_live_slots):
            return Played(asked, f"more than {max_live_slots} entries")
        return Played(asked, "", facts.missing(), telling.violations, telling.undecided)

    return broker_by_broker(reading.columns, play, parts, metadata, rules, progress)
