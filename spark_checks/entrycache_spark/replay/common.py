"""The parts that the replays of all systems share.

`replay_each` reads the rows of one broker after the other, collects their `Facts`, counts the rows that each rule
applies to, and lets the system's `follow` report violations to a `ViolationCollector`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from entrycache_protocol.strict_json import parse_json
from entrycache_spark.common import results, rule_files, system, unknown_values
from entrycache_trace.files import Metadata, Part, read_mappings

Row = dict[str, Any]
S = TypeVar("S")
"""The effective settings at a row."""


@dataclass(frozen=True)
class Facts(Generic[S]):
    """The rows of one broker in the order of `seq`, and the facts that hold for all of them.

    `settings`: the effective settings at each row. `whole`: for each row, whether no event is missing since an empty
    begin. `untold`: for each row, the settings that its CONFIG does not name.
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
        """Return the next row, or None if it is missing."""
        if at + 1 == len(self.rows) or self.rows[at + 1]["seq"] != self.rows[at]["seq"] + 1:
            return None
        return self.rows[at + 1]

    def ends_call(self, at: int) -> bool:
        """Return whether another call begins right behind a row."""
        after = self.next_to(at)
        return after is not None and differ(after["call_id"], self.rows[at]["call_id"])

    @property
    def complete(self) -> bool:
        """True if the trace begins, ends and has no gap."""
        return self.starts and not self.gapped and bool(self.rows[-1]["op"] == "END")

    def missing(self) -> list[str]:
        """Return the reasons why a clean answer would claim too much."""
        reasons = []
        if self.gapped:
            reasons.append(f"broker {self.name!r}: events are missing")
        elif not self.starts:
            reasons.append(f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing")
        elif self.unread:
            reasons.append(f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known")
        elif self.rows[-1]["op"] != "END":
            reasons.append(f"broker {self.name!r}: the last event is not END, so the rest is missing")
        if self.opened:
            reasons.append(f"broker {self.name!r}: it begins with entries cached before")
        return reasons


class Settings(NamedTuple, Generic[S]):
    """The settings that a system's rules need: their types, the initial settings, and the effect of a CONFIG."""

    kinds: Mapping[str, type]
    nothing: S
    after: Callable[[system.ConfigObject | None, S], S]


def read_facts(name: str, rows: list[Row], metadata: Metadata, settings: Settings[S]) -> Facts[S]:
    """Return the facts of a broker's rows."""
    starts = rows[0]["op"] == "CONFIG"
    opened = any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows)
    first = rows[0]["seq"]
    whole = [starts and not opened and not metadata.sampled and row["seq"] == first + at for at, row in enumerate(rows)]
    effective, now = [], settings.nothing
    untold: list[tuple[str, ...]] = []
    lacks: tuple[str, ...] = ()
    unread = False
    for row in rows:
        if row["op"] == "CONFIG":
            config = system.parse_config(row["value"], settings.kinds, f"broker {name!r}, seq {row['seq']}")
            unread |= config is None
            lacks = () if config is None else tuple(system.unnamed_settings(config, settings.kinds))
            now = settings.after(config, now)
        effective.append(now)
        untold.append(lacks)
    gapped = metadata.sampled or rows[-1]["seq"] - first + 1 != len(rows)
    return Facts(name, rows, effective, whole, metadata.many_threads, starts, opened, gapped, unread, untold)


def differ(one: object, other: object) -> bool:
    """Return whether two known values differ."""
    return one is not None and other is not None and one != other


def is_event(row: Row | None, op: str, cause: str) -> bool:
    """Return whether there is a row, of this event."""
    return row is not None and (row["op"], row["cause"]) == (op, cause)


def seqs_of(*rows: Row | None) -> list[int | None]:
    """Return the events that show a violation."""
    return [None if row is None else row["seq"] for row in rows]


class ViolationCollector:
    """A collector of violations, and of violations that are not certain."""

    def __init__(self, facts: Facts[Any]) -> None:
        self._facts = facts
        self.violations: defaultdict[str, list[results.Violation]] = defaultdict(list)
        self.undecided: defaultdict[str, list[str]] = defaultdict(list)

    def report(
        self,
        rule: str,
        row: Row,
        expected: object,
        seqs: Iterable[int | None] = (),
        sure: bool | None = None,
        life: int | None = None,
    ) -> None:
        """Report a violation; with several threads it is certain only if `sure` says so."""
        if not (not self._facts.many if sure is None else sure):
            self.undecided[rule].append(f"{rule}: broker {self._facts.name!r}, seq {row['seq']}: not {expected}")
            return
        witnesses = tuple(seq for seq in seqs if seq is not None) or (row["seq"],)
        about = row["life"] if life is None else life
        observed = f"{row['op']} of life {row['life']}, {row['bytes_after']} bytes"
        self.violations[rule].append(
            results.Violation(rule, self._facts.name, row["seq"], about, str(expected), observed, witnesses)
        )


class ReplayPlan(NamedTuple, Generic[S]):
    """The replay of one system.

    `applicable_rules` returns the rules that apply to a row under its settings. `follow` replays the rows, and
    returns False if there were more live entries than replay is meant for.
    """

    columns: Sequence[str]
    settings: Settings[S]
    applicable_rules: Callable[[Row, S], Iterable[str]]
    follow: Callable[[Facts[S], ViolationCollector, int], bool]


class BrokerFindings(NamedTuple):
    """The findings of the replay of one broker by rule; `differences` holds pairs of a rule and a line.

    `gave_up` names what there was too much of; it is empty if the replay reached the end.
    """

    applicable: rule_files.Applicability
    gave_up: str = ""
    missing: Sequence[str] = ()
    violations: Mapping[str, Sequence[results.Violation]] = MappingProxyType({})
    undecided: Mapping[str, Sequence[str]] = MappingProxyType({})
    differences: Iterable[tuple[str, str]] = ()


def replay_brokers(
    columns: Sequence[str],
    play: Callable[[str, list[Row]], BrokerFindings],
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[rule_files.Need]],
    progress: Callable[[str], None],
) -> dict[str, results.RuleFinding]:
    """Return the findings of each broker; `play` replays those of one.

    Raises:
        UsageError: the trace holds events of another system.
    """
    checked: Counter[str] = Counter()
    violations: defaultdict[str, list[results.Violation]] = defaultdict(list)
    undecided: defaultdict[str, list[str]] = defaultdict(list)
    differences: defaultdict[str, list[str]] = defaultdict(list)
    unchecked: defaultdict[str, list[str]] = defaultdict(list)
    shared = ["the trace is sampled"] if metadata.sampled else []
    for name in sorted({part.broker for part in parts if part.rows}):
        progress(f"replaying broker {name}")
        rows = read_mappings([part for part in parts if part.broker == name], columns)
        _refuse_foreign_events(name, rows, metadata.system)
        suspects = unknown_values.RowsInMemory(rows, metadata, columns)  # before a replay, which completes rows
        played = play(name, rows)
        applicable = played.applicable
        checked.update(applicable.checked)
        if played.gave_up:
            shared.append(f"broker {name!r}: {played.gave_up} at once; replay stops there")
            continue
        shared += played.missing
        for rule, finding in _proved_findings(name, suspects, played, metadata).items():
            violations[rule] += finding.violations
            undecided[rule] += finding.undecided
        for rule in rules:
            unchecked[rule] += applicable.unchecked.get(rule, [])
            undecided[rule] += applicable.inconclusive.get(rule, [])
        for rule, line in played.differences:
            differences[rule].append(line)
        own = {
            rule: results.RuleFinding(
                applicable.checked[rule], tuple(violations[rule]), tuple(undecided[rule]), tuple(unchecked[rule])
            )
            for rule in rules
        }
        for rule, finding in unknown_values.doubt_clean_rules(own, name, suspects.own_counts, metadata).items():
            undecided[rule] = [*finding.undecided]
    return {
        rule: results.RuleFinding(
            checked[rule],
            tuple(violations[rule]),
            (*shared, *undecided[rule]),
            tuple(unchecked[rule]),
            tuple(differences[rule]),
        )
        for rule in rules
    }


def _proved_findings(
    name: str, suspects: unknown_values.RowsInMemory, played: BrokerFindings, metadata: Metadata
) -> Mapping[str, results.RuleFinding]:
    """Return the violations and open questions of a broker by rule, without violations that prove nothing."""
    own = {
        rule: results.RuleFinding(0, tuple(played.violations.get(rule, ())), tuple(played.undecided.get(rule, ())))
        for rule in {*played.violations, *played.undecided} - played.applicable.inapplicable
    }
    return unknown_values.withdraw_violations({name: own}, metadata, suspects)[name]


def _refuse_foreign_events(broker: str, rows: Iterable[Row], name: str) -> None:
    for row in rows:
        if system.is_foreign_event(row["op"], row["cause"], name):
            raise system.foreign_event_error(broker, row["seq"], row["op"], row["cause"], name)
        if row["cache"] is None and row["op"] in system.ops_with_cache(name):
            raise system.nameless_event_error(broker, row["seq"], row["op"])


def replay_each(
    plan: ReplayPlan[S],
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[rule_files.Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, results.RuleFinding]:
    """Return the findings of each broker."""

    def play(name: str, rows: list[Row]) -> BrokerFindings:
        facts = read_facts(name, rows, metadata, plan.settings)
        rows_with_rules = (
            (row, facts.untold[at], plan.applicable_rules(row, facts.settings[at])) for at, row in enumerate(facts.rows)
        )
        applicable = count_applicable_rows(name, rows_with_rules, rules)
        collector = ViolationCollector(facts)
        if not plan.follow(facts, collector, max_live_slots):
            return BrokerFindings(applicable, f"more than {max_live_slots} entries")
        return BrokerFindings(applicable, "", facts.missing(), collector.violations, collector.undecided)

    return replay_brokers(plan.columns, play, parts, metadata, rules, progress)


# ---------- applicable rules


def read_counters(row: Mapping[str, Any]) -> dict[str, int]:
    """Return the counters in the value of a METRICS or END row, or none if it is no JSON object."""
    return {name: value for name, value in _read_value(row).items() if type(value) is int}


def read_texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts in the value of a VIEW row, or none if it is no JSON object."""
    return {name: value for name, value in _read_value(row).items() if isinstance(value, str)}


def _read_value(row: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        value = parse_json(row["value"] or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def count_applicable_rows(
    broker: str,
    rows: Iterable[tuple[Row, Container[str], Iterable[str]]],
    needs: Mapping[str, Sequence[rule_files.Need]],
) -> rule_files.Applicability:
    """Count the rows that each rule applies to, without those that lack a value the rule needs.

    A row comes with the settings that its CONFIG does not name, and the rules that apply to it.
    """
    checked: Counter[str] = Counter()
    applied: Counter[rule_files.Need] = Counter()
    lacking: Counter[rule_files.Need] = Counter()
    rules_by_need: dict[rule_files.Need, set[str]] = {}
    by_kind: dict[tuple[Any, ...], list[rule_files.Need]] = {}
    kinds: Counter[tuple[Any, ...]] = Counter()
    for rule, own in needs.items():
        for need in own:
            rules_by_need.setdefault(need, set()).add(rule)
    for row, untold, applicable_rules in rows:
        kind = (row["op"], row["cause"], row.get("origin"))
        kinds[kind] += 1
        if kind not in by_kind:
            by_kind[kind] = [need for need in rules_by_need if need.applies_to(row)]
        left_out: set[str] = set()
        for need in by_kind[kind]:
            if need.is_missing(row, untold, read_counters):
                lacking[need] += 1
                left_out |= set() if need.ever or need.once else rules_by_need[need]
        for rule in applicable_rules:
            if rule not in left_out:
                checked[rule] += 1
    for kind, times in kinds.items():
        applied.update(dict.fromkeys(by_kind[kind], times))
    counts_by_need = {need: rule_files.NeedCounts(applied[need], lacking[need]) for need in rules_by_need}
    return rule_files.apply_needs(broker, needs, counts_by_need, checked)
