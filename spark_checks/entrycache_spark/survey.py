"""The facts about each broker of a trace, from one aggregate.

`define_marked` defines the view `marked`: each event with its effective settings. `survey_brokers` returns
`BrokerFacts` for each broker: its extent, its gaps, and the events that each rule applies to. Where events lack a value
that a rule needs, `count_applicable` counts again without these events.
"""

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_spark.common import rule_files, system, unknown_values
from entrycache_trace.files import Metadata, duplicate_message

_QUEUE_FACTS: Final = ("unnumbered", "unlinked")
"""Facts that are 0 for a cache without a removal queue."""

_FEW_CONFIGS: Final = 8
_MIN_SECTION_SEQS: Final = 4_096
_MAX_SECTIONS: Final = 100_000
"""The approximate maximum number of sections of seqs, however far apart the seqs are."""

_ALL_SEQS: Final = 1 << 62

MAX_CONFIGS: Final = 100_000
"""The maximum number of CONFIG events in a trace; each becomes a row of settings."""

# Sums, counts and numbers only: a string in an aggregate would make Spark sort the whole trace. `links` equals `ends`
# if each seq from the first to the last is there once.
_FACTS: Final = {
    "row_count": "count(*)",
    "first_seq": "min(seq)",
    "last_seq": "max(seq)",
    "config_seq": "min(case when op = 'CONFIG' then seq end)",
    "end_seq": "max(case when op = 'END' then seq end)",
    "links": "sum(token(seq, 0) - token(seq - 1, 0))",
    "ends": "token(max(seq), 0) - token(min(seq) - 1, 0)",
    "open_bytes": "coalesce(sum(case when op = 'SNAPSHOT' and cause = 'OPEN' then size_bytes end), 0)",
    "unnumbered": """count_if(
        (op in ('INSERT', 'REQUEUE') and tail_no is null)
        or (op in ('EVICT', 'REQUEUE', 'TOMBSTONE') and (ticket is null or head_no is null)))""",
    "unlinked": "count_if(op = 'REMOVE' and ticket is not null)",
    "opening": "count_if(op = 'SNAPSHOT' and cause = 'OPEN')",
    "unread": "count_if(op = 'CONFIG' and not coalesce(readable, false))",
}


class BrokerFacts(NamedTuple):
    """The facts about a broker's rows from one scan, and the rules that a single-pass checker has proved.

    `incomplete`: some row lacks a value that its event needs.
    """

    name: str
    row_count: int
    first_seq: int
    last_seq: int
    starts: bool
    ended: bool
    gapped: bool
    numbered: bool
    unlinked: bool
    open_bytes: int
    opened: bool
    unread: bool
    incomplete: bool
    checked: dict[str, int]
    proved: Set[str] = frozenset()
    inapplicable: frozenset[str] = frozenset()
    unchecked: Mapping[str, Sequence[str]] = MappingProxyType({})
    inconclusive: Mapping[str, Sequence[str]] = MappingProxyType({})

    def row(self, any_gap: bool) -> tuple[Any, ...]:
        """Return the row of the table `brokers`."""
        first_island = self.first_seq - 1 if any_gap else 0
        fresh = self.starts and not self.opened
        complete = self.starts and self.ended and not self.gapped
        slots = (self.numbered, self.unlinked, self.open_bytes)
        return (self.name, self.starts, self.gapped, first_island, *slots, self.first_seq, fresh, complete)

    def undecided(self) -> str | None:
        """Return the reason why a clean answer would claim too much, or None."""
        if self.gapped:
            return f"broker {self.name!r}: events are missing between seq {self.first_seq} and {self.last_seq}"
        if not self.starts:
            return f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing"
        if self.unread:
            return f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known"
        return None if self.ended else f"broker {self.name!r}: the last event is not END, so the rest is missing"


def define_marked(backend: rule_files.SqlBackend, metadata: Metadata) -> frozenset[str]:
    """Define the view `marked`: each event with the constants of the trace and its effective settings.

    Return the settings that some CONFIG does not name.
    """
    configs: dict[str, list[tuple[int, str | None]]] = {}
    changes = backend.rows(f"select broker, seq, value from trace where op = 'CONFIG' limit {MAX_CONFIGS + 1}")
    if len(changes) > MAX_CONFIGS:
        raise UsageError(f"more than {MAX_CONFIGS} events are CONFIG; expected a change of settings now and then")
    for broker, seq, value in changes:
        configs.setdefault(broker, []).append((seq, value))
    parts = system.audited_system(metadata.system)
    columns = system.setting_columns_of(parts)
    settings = [row for broker, own in sorted(configs.items()) for row in system.read_settings(broker, own, parts)]
    # Where settings change often, each event is compared with those of its own section of seqs only.
    often = any(len(own) > _FEW_CONFIGS for own in configs.values())
    last = dict(backend.rows("select broker, max(seq) from trace group by broker")) if often else {}
    section = max(_MIN_SECTION_SEQS, sum(last.values()) // _MAX_SECTIONS) if often else _ALL_SEQS
    rows = [
        (number, *row.row())
        for row in settings
        for number in range(
            row.config_seq // section, min(row.config_until - 1, last.get(row.broker, 0)) // section + 1
        )
    ]
    backend.table("settings", {"section": "bigint", **columns}, rows)
    constants = {
        "many": metadata.many_threads,
        "virtual": metadata.clock == "virtual",
        **parts.constants(metadata),
    }
    fixed = ", ".join(f"{str(value).lower()} as {name}" for name, value in constants.items())
    selected = ", ".join(f"s.{name}" for name in columns if name != "broker")
    backend.define(
        "marked",
        f"select /*+ BROADCAST(s) */ t.*, {fixed}, {selected} from trace t left join settings s "
        f"on t.broker = s.broker and t.seq div {section} = s.section "
        "and t.seq >= s.config_seq and t.seq < s.config_until",
    )
    return frozenset(name for row in settings for name in (row.untold or "").split(",") if name)


def survey_brokers(
    backend: rule_files.SqlBackend, metadata: Metadata, rules: Sequence[rule_files.RuleFile]
) -> tuple[BrokerFacts, ...]:
    """Return the facts about each broker, by a single aggregate over the trace.

    Raises:
        UsageError: the trace holds events of another system or without their cache, or an event twice.
    """
    parts = system.audited_system(metadata.system)
    facts = {name: text if parts.numbers_slots or name not in _QUEUE_FACTS else "0" for name, text in _FACTS.items()}
    untold = define_marked(backend, metadata)
    facts["lacking"] = missing_count_sql(rules, untold)
    facts["incomplete"] = unknown_values.incomplete_sql(metadata)
    facts["foreign_seq"] = f"min(case when {system.foreign_events_sql(metadata.system)} then seq end)"
    facts["nameless_seq"] = f"min(case when {system.nameless_events_sql(metadata.system)} then seq end)"
    facts |= {f"c_{rule.column}": f"count_if({rule.checked})" for rule in rules}
    selected = ", ".join(f"{expression} as {name}" for name, expression in facts.items())
    sums = backend.rows(f"select broker, {selected} from marked group by broker")
    rows = [dict(zip(["broker", *facts], row, strict=True)) for row in sums]
    _refuse_foreign_events(backend, [(row["broker"], row["foreign_seq"]) for row in rows], metadata.system)
    _refuse_nameless_events(backend, [(row["broker"], row["nameless_seq"]) for row in rows])
    suspects = [row["broker"] for row in rows if _span(row) != row["row_count"] or row["links"] != row["ends"]]
    if suspects:
        _refuse_duplicates(backend, suspects)
    brokers = [_broker_facts(row, rules, metadata) for row in rows]
    applicability = count_applicable(backend, rules, [row["broker"] for row in rows if row["lacking"]])
    brokers = [
        broker._replace(**applicability[broker.name]._asdict()) if broker.name in applicability else broker
        for broker in brokers
    ]
    return tuple(sorted(brokers, key=lambda broker: broker.name))


def _span(row: dict[str, Any]) -> int:
    return int(row["last_seq"] - row["first_seq"] + 1)


def _broker_facts(row: dict[str, Any], rules: Sequence[rule_files.RuleFile], metadata: Metadata) -> BrokerFacts:
    return BrokerFacts(
        row["broker"],
        row["row_count"],
        row["first_seq"],
        row["last_seq"],
        row["config_seq"] == row["first_seq"],
        row["end_seq"] == row["last_seq"],
        metadata.sampled or row["row_count"] != _span(row),
        system.audited_system(metadata.system).numbers_slots and row["unnumbered"] == 0,
        row["unlinked"] > 0,
        int(row["open_bytes"]),
        row["opening"] > 0,
        row["unread"] > 0,
        row["incomplete"] > 0,
        {rule.id: row[f"c_{rule.column}"] for rule in rules},
    )


def _refuse_foreign_events(
    backend: rule_files.SqlBackend, first_seqs: Sequence[tuple[str, int | None]], name: str
) -> None:
    """Refuse a trace with events of another system; `first_seqs` names the first such event of each broker."""
    for broker, seq in sorted((broker, seq) for broker, seq in first_seqs if seq is not None):
        backend.table("suspects", {"broker": "string"}, [(broker,)])
        condition = f"broker in (select broker from suspects) and seq = {seq} and ({system.foreign_events_sql(name)})"
        op, cause = backend.rows(f"select op, cause from trace where {condition} limit 1")[0]
        raise system.foreign_event_error(broker, seq, op, cause, name)


def _refuse_nameless_events(backend: rule_files.SqlBackend, first_seqs: Sequence[tuple[str, int | None]]) -> None:
    """Refuse a trace with events that do not name their cache; `first_seqs` are as above."""
    for broker, seq in sorted((broker, seq) for broker, seq in first_seqs if seq is not None):
        backend.table("suspects", {"broker": "string"}, [(broker,)])
        condition = f"broker in (select broker from suspects) and seq = {seq} and cache is null"
        raise system.nameless_event_error(
            broker, seq, backend.rows(f"select op from trace where {condition} limit 1")[0][0]
        )


def _refuse_duplicates(backend: rule_files.SqlBackend, brokers: Sequence[str]) -> None:
    """Count the events of brokers that may hold a seq twice.

    Raises:
        UsageError: an event is there twice.
    """
    backend.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    owned = "select broker, seq from marked where broker in (select broker from suspects)"
    twice = backend.rows(
        f"select broker, seq from ({owned}) as owned group by broker, seq having count(*) > 1 order by 1, 2 limit 1"
    )
    if twice:
        raise UsageError(duplicate_message(*twice[0]))


# ---------- applicability


def missing_count_sql(rules: Sequence[rule_files.RuleFile], untold: Container[str]) -> str:
    """Return the SQL that counts events without a value that a rule needs.

    `untold` holds the settings that some CONFIG lacks. A need of one event (`once`) counts 1 if no event has it, and a
    rule with that need applies to some event.
    """
    needs = dict.fromkeys(
        need for rule in rules for need in rule.needs if all(name in untold for name in need.settings) and not need.once
    )
    by_op: dict[str | None, list[str]] = {}
    for need in needs:
        for event in need.events:
            by_op.setdefault(event[0], []).append(f"({need.only(event).events_sql}) and {need.missing_sql}")
    arms = " ".join(f"when '{op}' then {' or '.join(f'({text})' for text in texts)}" for op, texts in by_op.items())
    each = f"count_if(case op {arms} else false end)" if arms else "0"
    return " + ".join((each, *_unmet_once_sql(rules)))


def _unmet_once_sql(rules: Sequence[rule_files.RuleFile]) -> Iterator[str]:
    for need in dict.fromkeys(need for rule in rules for need in rule.needs if need.once):
        there = f"count_if(({need.events_sql}) and not ({need.missing_sql}))"
        applied = " or ".join(f"({rule.checked})" for rule in rules if need in rule.needs)
        yield f"case when {there} = 0 and count_if({applied}) > 0 then 1 else 0 end"


def count_applicable(
    backend: rule_files.SqlBackend, rules: Sequence[rule_files.RuleFile], brokers: Sequence[str]
) -> dict[str, rule_files.Applicability]:
    """Count the events that each rule applies to, in brokers whose events lack something."""
    if not brokers:
        return {}
    needs = {rule.id: rule.needs for rule in rules}
    each = list(dict.fromkeys(need for own in needs.values() for need in own))
    counts = [f"count_if({need.events_sql}), count_if(({need.events_sql}) and {need.missing_sql})" for need in each]
    known = [f"count_if(({rule.checked}) and not coalesce({_left_out_sql(rule)}, false))" for rule in rules]
    backend.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    rows = backend.rows(
        f"select broker, {', '.join((*counts, *known))} from marked "
        "where broker in (select broker from suspects) group by broker"
    )
    return {broker: _applicability(broker, needs, each, row) for broker, *row in rows}


def _left_out_sql(rule: rule_files.RuleFile) -> str:
    return (
        " or ".join(
            f"(({need.events_sql}) and {need.missing_sql})" for need in rule.needs if not (need.ever or need.once)
        )
        or "false"
    )


def _applicability(
    broker: str, needs: Mapping[str, Sequence[rule_files.Need]], each: Sequence[rule_files.Need], row: Sequence[int]
) -> rule_files.Applicability:
    counts = {need: rule_files.NeedCounts(*row[2 * at : 2 * at + 2]) for at, need in enumerate(each)}
    return rule_files.apply_needs(broker, needs, counts, dict(zip(needs, row[2 * len(each) :], strict=True)))
