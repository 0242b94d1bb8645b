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
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, NamedTuple, Protocol

from entrycache_protocol.errors import UsageError
from entrycache_trace.files import Part
from entrycache_trace.schema import DEFAULT_SYSTEM

_LINE: Final = re.compile(r"(?P<ever>ever )?(?P<names>\S+(?: or \S+)*) of (?P<events>.+)")
_COLUMNS: Final = ("op", "cause", "origin")
CONFIG_PREFIX: Final = "CONFIG."
VALUE_PREFIX: Final = "value."

EventRow = Mapping[str, Any]


class Need(NamedTuple):
    """One line: any of `names` is enough in each of `events` (op, cause and origin; None: any)."""

    names: tuple[str, ...]
    events: tuple[tuple[str | None, ...], ...]
    ever: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings among the names."""
        return tuple(name.removeprefix(CONFIG_PREFIX) for name in self.names if name.startswith(CONFIG_PREFIX))

    @property
    def about(self) -> str:
        """The events, as SQL."""
        return " or ".join(f"({_event_sql(event)})" for event in self.events)

    def only(self, event: tuple[str | None, ...]) -> Need:
        """The same of one of its events."""
        return self._replace(events=(event,))

    @property
    def lacks(self) -> str:
        """Whether such an event is not told what is needed, as SQL."""
        return " and ".join(_missing_sql(name) for name in self.names)

    def speaks_of(self, row: EventRow) -> bool:
        """Whether it is about an event."""
        return any(
            all(part is None or row.get(column) == part for column, part in zip(_COLUMNS, event, strict=False))
            for event in self.events
        )

    def is_untold(
        self, row: EventRow, untold: Container[str], counters: Callable[[EventRow], Mapping[str, int]]
    ) -> bool:
        """Whether such an event is not told what is needed; `untold`: the settings that its CONFIG does not name."""
        for name in self.names:
            if name.startswith(CONFIG_PREFIX):
                told = name.removeprefix(CONFIG_PREFIX) not in untold
            elif name.startswith(VALUE_PREFIX):
                told = name.removeprefix(VALUE_PREFIX) in counters(row)
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


def _event_sql(event: tuple[str | None, ...]) -> str:
    told = [(column, part) for column, part in zip(_COLUMNS, event, strict=False) if part is not None]
    return " and ".join(f"{column} = '{part}'" for column, part in told)


def _missing_sql(name: str) -> str:
    if name.startswith(CONFIG_PREFIX):
        return f"coalesce(untold like '%,{name.removeprefix(CONFIG_PREFIX)},%', false)"
    if name.startswith(VALUE_PREFIX):
        return f"counter(value, '{name.removeprefix(VALUE_PREFIX)}') is null"
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


class NeedCounts(NamedTuple):
    """How many events of a broker a need is about, and how many lack it."""

    rows: int
    lacking: int

    @property
    def never(self) -> bool:
        """Whether none of them is told it."""
        return 0 < self.rows == self.lacking


def rules_without_needs(needs: Mapping[str, Iterable[Need]], told: Mapping[Need, NeedCounts]) -> frozenset[str]:
    """The rules that a broker is not asked about: none of their events is told one of their needs."""
    return frozenset(rule for rule, own in needs.items() if any(told[need].never for need in own if need in told))


def describe_missing(
    broker: str, needs: Mapping[str, Iterable[Need]], told: Mapping[Need, NeedCounts]
) -> dict[str, list[str]]:
    """What is said of a broker's events that lack something, by rule."""
    found: dict[str, list[str]] = {}
    for need, counts in told.items():
        rules = [rule for rule, own in needs.items() if need in own]
        for rule in rules if counts.never or (counts.lacking and not need.ever) else ():
            found.setdefault(rule, []).append(need.note(broker, rules, *counts))
    return found


# --- rulefiles
# The rule files: one SQL text a rule, written for Spark, in sections.
#
# `checked` says which rows the rule speaks about. `witness` is a number a row; a broker conforms where its sum
# equals `balance` (default 0); `same witness` names another rule whose witness proves this one too. `window` is a
# query over `events` and `brokers` that returns the violations; it decides wherever the witnesses do not prove
# the rule. `token(a, b)` is a 32-bit hash, `counter(value, 'name')` a number in a JSON text.
#
# `unless` is a query over `marked` for the brokers of which a balanced sum proves nothing: what sums cannot show, such as
# an order in time, by a few columns of a few events.
#
# `settled` names grounds, joined by `and`: columns of the one row a broker of the view `settled`, built without windows
# that grow with the trace, or what a fold calls by these names. Where they hold, the broker conforms. They say nothing
# where they do not, nor where events are missing.
#
# `needs` says what an event must be told for the rule to be asked about it (entrycache_spark.common.rule_files).
#
# `over VIEW` is a condition on the rows of a view that several rules share (`rules/SYSTEM/shared/VIEW.sql`; `rows` stands
# for `events` itself): a row that fulfils it is a violation, described by `expected`, `observed`, `life`, `seqs` and
# `sure`. All rules over one view are decided in one scan of it. A condition over `rows` is its own witness.
#
# `as RULE of SYSTEM`, a line of its own: the rule says what that one says, so that its text stands once. Its sections
# are taken where the file has none of that name, its conditions besides those of the file; its witness only where nothing
# is added to it. There may be several such lines. A view that a system has not is that of the first system; a view may
# ask another one by its name, `over_VIEW`.

_HEADING: Final = re.compile(
    r"^-- (as \S+ of \S+|checked|needs|settled|witness|same witness|balance|unless|window|over \w+|expected|observed|"
    r"life|seqs|sure)\b[^\n]*\n",
    re.MULTILINE,
)
_OTHER: Final = re.compile(r"as (?P<rule>\S+) of (?P<system>\S+)")
_PROVING: Final = ("settled", "witness", "same witness", "balance", "unless")
_VIEW: Final = re.compile(r"\bover_(\w+)")
EVENTS_VIEW: Final = "rows"
"""The view that is `events` itself."""


@dataclass(frozen=True)
class Condition:
    """What makes a row of a shared view a violation, and how it is described."""

    view: str
    fails: str
    expected: str
    observed: str
    life: str
    seqs: str
    sure: str


@dataclass(frozen=True)
class RuleFile:
    """One rule as SQL."""

    id: str
    checked: str
    settled: str | None
    witness: str | None
    balance: str
    window: str | None
    conditions: tuple[Condition, ...]
    needs: tuple[Need, ...] = ()
    unless: str | None = None

    @property
    def column(self) -> str:
        """The id as part of a column name."""
        return self.id.lower().replace("-", "_")

    def holds(self, grounds: Set[str]) -> bool:
        """Whether the rule is settled by the grounds that hold."""
        return self.settled is not None and set(self.settled.split()) - {"and"} <= grounds


def parse_rule(rule_id: str, text: str, same: dict[str, RuleFile] | None = None) -> RuleFile:
    """The sections of a rule file; `same` holds the rules whose witness it may name."""
    sections, found = _sections(text)
    conditions = tuple(_condition(view, own) for view, own in found)
    witness, balance, unless = sections.get("witness"), sections.get("balance", "0"), sections.get("unless")
    if "same witness" in sections:
        other = (same or {})[sections["same witness"]]
        witness, balance, unless = other.witness, other.balance, other.unless
    elif witness is None and conditions and all(condition.view == EVENTS_VIEW for condition in conditions):
        witness = " + ".join(f"case when {condition.fails} then 1 else 0 end" for condition in conditions)
    parts = (sections["checked"], sections.get("settled"), witness, balance, sections.get("window"))
    return RuleFile(rule_id, *parts, conditions, parse_needs(sections.get("needs", "")), unless)


def _sections(text: str) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """The sections of a rule file, and its conditions with the view of each; with those of the rules that it names."""
    pieces = _HEADING.split(text)
    sections: dict[str, str] = {}
    found: list[tuple[str, dict[str, str]]] = []
    others: list[str] = []
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if name.startswith("as "):
            others.append(name)
        elif name.startswith("over "):
            found.append((name.removeprefix("over "), {"fails": body.strip()}))
        else:
            (found[-1][1] if found and name in _DESCRIBING else sections)[name] = body.strip()
    alone = len(others) == 1 and not found and "window" not in sections
    for other in others:
        named = _OTHER.fullmatch(other)
        assert named is not None
        theirs, conditions = _sections(_text_of(named["rule"], named["system"]))
        sections = {name: body for name, body in theirs.items() if alone or name not in _PROVING} | sections
        found += conditions
    return sections, found


def _text_of(rule_id: str, system: str) -> str:
    name = rule_id.lower().replace("-", "_")
    return (_folder(system) / f"{name}.sql").read_text(encoding="utf-8")


_DESCRIBING: Final = ("expected", "observed", "life", "seqs", "sure")


def _condition(view: str, own: dict[str, str]) -> Condition:
    return Condition(
        view,
        own["fails"],
        own["expected"],
        own["observed"],
        own.get("life", "life"),
        own.get("seqs", "array(seq)"),
        own.get("sure", "true"),
    )


@cache
def all_rules(system: str = DEFAULT_SYSTEM) -> tuple[RuleFile, ...]:
    """Every rule that traces of a system are checked for, by id."""
    folder = _folder(system)
    texts = {
        item.name.removesuffix(".sql").upper().replace("_", "-"): item.read_text(encoding="utf-8")
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    }
    rules: dict[str, RuleFile] = {}
    for rule_id in sorted(texts, key=lambda rule_id: ("-- same witness" in texts[rule_id], rule_id)):
        rules[rule_id] = parse_rule(rule_id, texts[rule_id], rules)
    return tuple(rules[rule_id] for rule_id in sorted(rules))


@cache
def shared_view(system: str, name: str) -> str:
    """The query of a view that rules of a system share: its own, or that of the first system."""
    own, first = (_folder(each) / "shared" / f"{name}.sql" for each in (system, DEFAULT_SYSTEM))
    return (own if own.is_file() else first).read_text(encoding="utf-8")


def referenced_views(query: str) -> tuple[str, ...]:
    """The views that a query asks by their names."""
    return tuple(dict.fromkeys(_VIEW.findall(query)))


def _folder(system: str) -> Traversable:
    """The folder of a system's rules; that of the first system where it has none."""
    own = {folder.name: folder for folder in (files("entrycache_spark") / "rules").iterdir()}
    return own.get(system.replace("-", "_"), own[DEFAULT_SYSTEM.replace("-", "_")])


def select_rules(ids: tuple[str, ...], system: str = DEFAULT_SYSTEM) -> tuple[RuleFile, ...]:
    """The rules of these ids (none: all of the system)."""
    known = {rule.id: rule for rule in all_rules(system)}
    for rule_id in ids:
        if rule_id.upper() not in known:
            raise UsageError(f"{rule_id}: no trace check of that id for {system}; there are {', '.join(known)}")
    wanted = {rule_id.upper() for rule_id in ids} or set(known)
    return tuple(rule for rule in all_rules(system) if rule.id in wanted)


# --- base
# What the tiers need of an SQL engine. SQL is written for Spark.

MAX_KEPT_ROWS: Final = 500_000
MAX_KEPT_BYTES: Final = 256 << 20


def fits_in_memory(parts: Sequence[Part]) -> bool:
    """Whether a trace is read once and kept in memory; of a larger one each query reads the columns that it needs."""
    return (
        sum(part.rows for part in parts) <= MAX_KEPT_ROWS and sum(part.data_bytes for part in parts) <= MAX_KEPT_BYTES
    )


class SqlBackend(Protocol):
    """An engine in which the view `trace` stands for the rows of the trace, `broker` first."""

    def define(self, name: str, query: str) -> None:
        """Give a query a name."""

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Give a few rows a name; columns map to SQL types."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def close(self) -> None:
        """Free what was taken."""
