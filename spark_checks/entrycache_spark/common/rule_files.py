"""The rule files: one SQL file a rule, written in Spark's SQL and divided into sections.

`checked` selects the rows that the rule applies to. `window` is a query over `events` and `brokers` that returns the
violations. `token(a, b)` is a 32-bit hash, and `counter(value, 'name')` and `text_of(value, 'name')` read a number
and a text from a JSON text.

`needs` lists what an event must record before the rule applies to it, one line each: `NAME of EVENTS`, or
`NAME or NAME of EVENTS` if one of them is enough. NAME is a column, `CONFIG.` and a setting, or `value.` and a
counter; `=0` after a counter asks that it is 0. An event is an op, an op and a cause, or an op, a cause and an origin
(`*` matches any). `ever` before NAME means that a null is information too: the value is missing only if no event has
it. An event that lacks a need is not checked. A broker in which no event has it is not checked at all. A note reports
both; neither is a violation. `once` before NAME means that one such event is enough to decide the rule: in a broker
without any, the rule is inconclusive. `clean` is like `once`, but without such an event the rule can still be violated;
it never conforms.

`over VIEW` is a condition on the rows of a shared view (`rules/SYSTEM/shared/VIEW.sql`; `rows` stands for `events`). A
row that fulfils it is a violation, described by `expected`, `observed`, `life`, `seqs` and `sure`. One scan decides all
rules over a view.

`as RULE of SYSTEM`, on a line of its own, takes the text of another rule: sections that this file lacks, and its
conditions in addition to those of this file. If a system lacks a view, it uses the view of the first system. A view may
use another one by its name, `over_VIEW`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, NamedTuple, Protocol

from entrycache_protocol.errors import UsageError
from entrycache_trace.files import Part
from entrycache_trace.schema import DEFAULT_SYSTEM

_LINE: Final = re.compile(r"(?P<mode>ever |once |clean )?(?P<names>\S+(?: or \S+)*) of (?P<events>.+)")
_COLUMNS: Final = ("op", "cause", "origin")
CONFIG_PREFIX: Final = "CONFIG."
VALUE_PREFIX: Final = "value."
ZERO: Final = "=0"
"""The end of a name that asks for a counter of 0."""

LAST_SNAPSHOT: Final = ("SNAPSHOT", "END")
"""The event that shows what is cached at the end."""

POSITION: Final = frozenset({"cache", "ledger_id", "entry_id", "key_hash"})
"""The columns that name an entry; a life has one entry."""

KEYS: Final = POSITION | {"life", "seq", "call_id", "pass_id"}
"""The columns that can separate rows from one another."""

EventRow = Mapping[str, Any]


class Need(NamedTuple):
    """One line of a section `needs`: one of `names` is enough in each of `events`.

    An event is an op, a cause and an origin; None matches any. See the page of rule files above for `ever`, `once` and
    `clean`; a need that is `clean` is `once` too.
    """

    names: tuple[str, ...]
    events: tuple[tuple[str | None, ...], ...]
    ever: bool = False
    once: bool = False
    clean: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings among the names."""
        return tuple(name.removeprefix(CONFIG_PREFIX) for name in self.names if name.startswith(CONFIG_PREFIX))

    @property
    def events_sql(self) -> str:
        """The SQL condition that selects the events."""
        return " or ".join(f"({_event_sql(event)})" for event in self.events)

    def only(self, event: tuple[str | None, ...]) -> Need:
        """Return the need for one of its events."""
        return self._replace(events=(event,))

    @property
    def missing_sql(self) -> str:
        """The SQL condition that holds if such an event lacks the need."""
        return " and ".join(_missing_sql(name) for name in self.names)

    def applies_to(self, row: EventRow) -> bool:
        """Return whether an event is one of the need's events."""
        return any(
            all(part is None or row.get(column) == part for column, part in zip(_COLUMNS, event, strict=False))
            for event in self.events
        )

    def is_missing(
        self, row: EventRow, untold: Container[str], counters: Callable[[EventRow], Mapping[str, int]]
    ) -> bool:
        """Return whether such an event lacks the need; `untold` are the settings that its CONFIG does not name."""
        for name in self.names:
            if name.startswith(CONFIG_PREFIX):
                present = name.removeprefix(CONFIG_PREFIX) not in untold
            elif name.startswith(VALUE_PREFIX):
                counter, own = name.removeprefix(VALUE_PREFIX), counters(row)
                present = counter in own or (counter.endswith(ZERO) and own.get(counter.removesuffix(ZERO)) == 0)
            else:
                present = row[name] is not None
            if present:
                return False
        return True

    def is_unmet(self, counts: NeedCounts) -> bool:
        """Return whether no event of a broker has the need."""
        return counts.rows == counts.lacking if self.once else counts.never

    def note(self, broker: str, rules: Iterable[str], rows: int, lacking: int) -> str:
        """Describe the events that lack the need."""
        ids = ", ".join(sorted(rules))
        if self.once and LAST_SNAPSHOT in self.events:
            return f"broker {broker!r}: no {' '.join(LAST_SNAPSHOT)} row shows what is cached; inconclusive: {ids}"
        outcome = "inconclusive" if self.once else "not checked there"
        events = ", ".join(" ".join(part or "*" for part in event) for event in self.events)
        name = " or ".join(self.names)
        return f"broker {broker!r}: {name} is missing in {lacking} of {rows} events ({events}); {outcome}: {ids}"


def _event_sql(event: tuple[str | None, ...]) -> str:
    parts = [(column, part) for column, part in zip(_COLUMNS, event, strict=False) if part is not None]
    return " and ".join(f"{column} = '{part}'" for column, part in parts)


def _missing_sql(name: str) -> str:
    if name.startswith(CONFIG_PREFIX):
        return f"coalesce(untold like '%,{name.removeprefix(CONFIG_PREFIX)},%', false)"
    if name.startswith(VALUE_PREFIX) and name.endswith(ZERO):
        return f"coalesce(counter(value, '{name.removeprefix(VALUE_PREFIX).removesuffix(ZERO)}') <> 0, true)"
    if name.startswith(VALUE_PREFIX):
        return f"counter(value, '{name.removeprefix(VALUE_PREFIX)}') is null"
    return f"{name} is null"


def parse_needs(text: str) -> tuple[Need, ...]:
    """Parse the lines of a section `needs`.

    Raises:
        ValueError: a line does not have the form of a need.
    """
    needs = []
    for line in text.strip().splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"{line!r}: expected NAME of EVENTS")
        events = tuple(
            tuple(None if part == "*" else part for part in event.split()) for event in match["events"].split(", ")
        )
        mode = match["mode"]
        names, once = tuple(match["names"].split(" or ")), mode in {"once ", "clean "}
        needs.append(Need(names, events, mode == "ever ", once, mode == "clean "))
    return tuple(needs)


class NeedCounts(NamedTuple):
    """The number of a broker's events that a need applies to, and the number of those that lack it."""

    rows: int
    lacking: int

    @property
    def never(self) -> bool:
        """True if all events that the need applies to lack it."""
        return 0 < self.rows == self.lacking


def rules_without_needs(needs: Mapping[str, Iterable[Need]], counts: Mapping[Need, NeedCounts]) -> frozenset[str]:
    """Return the rules that do not apply to a broker, because all events lack one of their needs."""
    return frozenset(
        rule
        for rule, own in needs.items()
        if any(need.is_unmet(counts[need]) for need in own if need in counts and not need.clean)
    )


def describe_missing(
    broker: str, needs: Mapping[str, Iterable[Need]], counts_by_need: Mapping[Need, NeedCounts]
) -> dict[str, list[str]]:
    """Describe, by rule, the events of a broker that lack a need."""
    notes: dict[str, list[str]] = {}
    for need, counts in counts_by_need.items():
        rules = [rule for rule, own in needs.items() if need in own]
        for rule in rules if counts.never or (counts.lacking and not need.ever) else ():
            notes.setdefault(rule, []).append(need.note(broker, rules, *counts))
    return notes


class Applicability(NamedTuple):
    """The events of a broker that each rule applies to.

    - `checked`: the number of events by rule.
    - `inapplicable`: the rules that are not evaluated, because all events lack a value that they need.
    - `unchecked`: the notes about events that were skipped, by rule.
    - `inconclusive`: the notes about rules that apply to events and that the trace cannot decide, by rule.
    """

    checked: dict[str, int]
    inapplicable: frozenset[str]
    unchecked: Mapping[str, Sequence[str]]
    inconclusive: Mapping[str, Sequence[str]]


def apply_needs(
    broker: str,
    needs: Mapping[str, Sequence[Need]],
    counts_by_need: Mapping[Need, NeedCounts],
    checked: Mapping[str, int],
) -> Applicability:
    """Return what the counts of a broker leave of its rules; `checked` counts the events by rule before that."""
    unmet = {need for need, counts in counts_by_need.items() if need.is_unmet(counts)}
    never = rules_without_needs(needs, counts_by_need)
    unchecked = {rule for rule in never if any(need in unmet and not need.once for need in needs[rule])}
    inconclusive: dict[str, list[str]] = {}
    for need in counts_by_need:
        if need in unmet and need.once:
            rules = [rule for rule in needs if need in needs[rule] and rule not in unchecked and checked.get(rule)]
            for rule in rules:
                inconclusive.setdefault(rule, []).append(need.note(broker, rules, *counts_by_need[need]))
    plain = {need: counts for need, counts in counts_by_need.items() if not need.once}
    return Applicability(
        {rule: 0 if rule in unchecked else checked.get(rule, 0) for rule in needs},
        never,
        describe_missing(broker, needs, plain),
        inconclusive,
    )


# ---------- rule files

_HEADING: Final = re.compile(
    r"^-- (as \S+ of \S+|checked|needs|window|over \w+|expected|observed|life|seqs|sure)\b[^\n]*\n",
    re.MULTILINE,
)
_OTHER: Final = re.compile(r"as (?P<rule>\S+) of (?P<system>\S+)")
_VIEW: Final = re.compile(r"\bover_(\w+)")
EVENTS_VIEW: Final = "rows"
"""The view that is `events` itself."""


@dataclass(frozen=True)
class Condition:
    """A condition that makes a row of a shared view a violation, with the expressions that describe the violation."""

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
    window: str | None
    conditions: tuple[Condition, ...]
    needs: tuple[Need, ...] = ()

    @property
    def column(self) -> str:
        """The rule id as part of a column name."""
        return self.id.lower().replace("-", "_")


def parse_rule(rule_id: str, text: str) -> RuleFile:
    """Parse a rule file."""
    sections, conditions_by_view = _sections(text)
    conditions = tuple(_condition(view, own) for view, own in conditions_by_view)
    needs = parse_needs(sections.get("needs", ""))
    return RuleFile(rule_id, sections["checked"], sections.get("window"), conditions, needs)


def _sections(text: str) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]]]:
    """Return the sections of a rule file and its conditions by view, including those of the rules that it names."""
    pieces = _HEADING.split(text)
    sections: dict[str, str] = {}
    conditions_found: list[tuple[str, dict[str, str]]] = []
    others: list[str] = []
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if name.startswith("as "):
            others.append(name)
        elif name.startswith("over "):
            conditions_found.append((name.removeprefix("over "), {"fails": body.strip()}))
        else:
            (conditions_found[-1][1] if conditions_found and name in _DESCRIBING else sections)[name] = body.strip()
    for other in others:
        named = _OTHER.fullmatch(other)
        assert named is not None
        theirs, conditions = _sections(_text_of(named["rule"], named["system"]))
        sections = theirs | sections
        conditions_found += conditions
    return sections, conditions_found


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
    """Return every rule that traces of a system are checked for, ordered by id."""
    folder = _folder(system)
    texts = {
        item.name.removesuffix(".sql").upper().replace("_", "-"): item.read_text(encoding="utf-8")
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    }
    return tuple(parse_rule(rule_id, texts[rule_id]) for rule_id in sorted(texts))


def named_columns(rule_id: str, system: str, columns: Iterable[str]) -> list[str]:
    """Return those of the columns that the file of a rule names, and none for a rule without a file."""
    try:
        text = _text_of(rule_id, system)
    except FileNotFoundError:
        return []
    others = map(_OTHER.fullmatch, _HEADING.split(text)[1::2])
    text += "".join(_text_of(other["rule"], other["system"]) for other in others if other)
    words = words_of(text)
    return [name for name in columns if name in words]


def words_of(text: str) -> set[str]:
    """Return the words of a piece of SQL, without its comments."""
    return set(re.findall(r"\w+", re.sub(r"--.*", "", text)))


@cache
def shared_view(system: str, name: str) -> str:
    """Return the query of a shared view: the system's own, or that of the first system."""
    own, first = (_folder(each) / "shared" / f"{name}.sql" for each in (system, DEFAULT_SYSTEM))
    return (own if own.is_file() else first).read_text(encoding="utf-8")


def referenced_views(query: str) -> tuple[str, ...]:
    """Return the views that a query uses by name."""
    return tuple(dict.fromkeys(_VIEW.findall(query)))


def _folder(system: str) -> Traversable:
    """Return the rule folder of a system, or that of the first system if it has none."""
    own = {folder.name: folder for folder in (files("entrycache_spark") / "rules").iterdir()}
    return own.get(system.replace("-", "_"), own[DEFAULT_SYSTEM.replace("-", "_")])


def select_rules(ids: tuple[str, ...], system: str = DEFAULT_SYSTEM) -> tuple[RuleFile, ...]:
    """Return the rules with these ids, or all rules of the system if no id is given.

    Raises:
        UsageError: the system has no such rule.
    """
    known = {rule.id: rule for rule in all_rules(system)}
    for rule_id in ids:
        if rule_id.upper() not in known:
            raise UsageError(f"{rule_id}: no trace check of that id for {system}; there are {', '.join(known)}")
    wanted = {rule_id.upper() for rule_id in ids} or set(known)
    return tuple(rule for rule in all_rules(system) if rule.id in wanted)


# ---------- SQL backends

MAX_KEPT_ROWS: Final = 500_000
MAX_KEPT_BYTES: Final = 256 << 20


def fits_in_memory(parts: Sequence[Part]) -> bool:
    """Return whether a trace is read once and kept in memory.

    Of a larger trace each query reads only the columns that it needs.
    """
    return (
        sum(part.rows for part in parts) <= MAX_KEPT_ROWS and sum(part.data_bytes for part in parts) <= MAX_KEPT_BYTES
    )


class SqlBackend(Protocol):
    """A backend that evaluates Spark's SQL; its view `trace` holds the rows of the trace, `broker` first."""

    def define(self, name: str, query: str) -> None:
        """Define a view."""

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Create a small table; `columns` maps names to SQL types."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    def close(self) -> None:
        """Release the resources of the backend."""
