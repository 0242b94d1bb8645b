"""The two tiers of an audit in SQL: witnesses in one aggregate, windows only where those prove nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_protocol.stopped import keeping
from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.lacking import asked, lacking
from entrycache_spark.rulefiles import ROWS, Condition, RuleFile, all_rules, shared_view
from entrycache_spark.settings import columns_of, settings_of
from entrycache_spark.systems import parts_of
from entrycache_spark.verdict import Findings, RuleFinding, Violation
from entrycache_trace.files import Metadata, duplicate_message

Progress = Callable[[str], None]

_CHAIN: Final = RuleFile(
    "CHAIN",
    "false",
    None,
    "token(seq, 0) - token(seq - 1, 0)",
    "token(last_seq, 0) - token(first_seq - 1, 0)",
    None,
    (),
)
"""Shows that no (broker, seq) is missing or doubled, for systems without a rule that does."""

_OF_QUEUE: Final = ("unnumbered", "unlinked", "dead_at_end")
"""The facts that a cache without a removal queue has none of."""

_FEW_CONFIGS: Final = 8
_STRETCH_SEQS: Final = 4_096
_STRETCHES: Final = 100_000
"""As many stretches of seqs there are at most, about, however far apart seqs are."""

_ALL_SEQS: Final = 1 << 62

CONFIGS_MOST: Final = 100_000
"""CONFIG events of a trace; each is read, and each is a row of settings."""

TOLD_MOST: Final = 100_000
"""Rows of one question that are told as violations; of more, the first ones in the order of brokers and events."""

# Sums, counts and numbers only: a string in an aggregate would make Spark sort the whole trace.
_FACTS: Final = {
    "row_count": "count(*)",
    "first_seq": "min(seq)",
    "last_seq": "max(seq)",
    "config_seq": "min(case when op = 'CONFIG' then seq end)",
    "end_seq": "max(case when op = 'END' then seq end)",
    "last_bytes": "max_by(bytes_after, seq)",
    "open_bytes": "coalesce(sum(case when op = 'SNAPSHOT' and cause = 'OPEN' then size_bytes end), 0)",
    "unnumbered": """count_if(
        (op in ('INSERT', 'REQUEUE') and tail_no is null)
        or (op in ('EVICT', 'REQUEUE', 'TOMBSTONE') and (ticket is null or head_no is null)))""",
    "unlinked": "count_if(op = 'REMOVE' and ticket is not null)",
    "dead_at_end": "count_if(op = 'SNAPSHOT' and cause = 'END' and life is null)",
    "opening": "count_if(op = 'SNAPSHOT' and cause = 'OPEN')",
    "unread": "count_if(op = 'CONFIG' and not coalesce(readable, false))",
}

_BROKER_COLUMNS: Final = {
    "broker": "string",
    "starts": "boolean",
    "gapped": "boolean",
    "first_island": "bigint",
    "numbered": "boolean",
    "unlinked": "boolean",
    "open_bytes": "bigint",
    "first_seq": "bigint",
    "fresh": "boolean",
    "complete": "boolean",
}
"""`fresh`: the trace begins with an empty cache; `complete`: it begins, ends, and misses nothing."""


class Broker(NamedTuple):
    """What one scan tells of a broker's rows, and whether each rule's witnesses prove it."""

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
    checked: dict[str, int]
    proved: dict[str, bool]
    unasked: frozenset[str] = frozenset()
    unchecked: Mapping[str, Sequence[str]] = MappingProxyType({})

    def row(self, any_gap: bool) -> tuple[Any, ...]:
        """The row of the table `brokers`."""
        first_island = self.first_seq - 1 if any_gap else 0
        fresh = self.starts and not self.opened
        complete = self.starts and self.ended and not self.gapped
        slots = (self.numbered, self.unlinked, self.open_bytes)
        return (self.name, self.starts, self.gapped, first_island, *slots, self.first_seq, fresh, complete)

    def undecided(self) -> str | None:
        """Why a clean answer would claim too much, if it would."""
        if self.gapped:
            return f"broker {self.name!r}: events are missing between seq {self.first_seq} and {self.last_seq}"
        if not self.starts:
            return f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing"
        if self.unread:
            return f"broker {self.name!r}: a CONFIG event cannot be read, so the settings are not known"
        return None if self.ended else f"broker {self.name!r}: the last event is not END, so the rest is missing"


def mark(engine: SqlEngine, metadata: Metadata) -> frozenset[str]:
    """Define `marked`: each event with what holds for the trace, and the settings in force.

    The settings that some CONFIG does not name.
    """
    configs: dict[str, list[tuple[int, str | None]]] = {}
    changes = engine.rows(f"select broker, seq, value from trace where op = 'CONFIG' limit {CONFIGS_MOST + 1}")
    if len(changes) > CONFIGS_MOST:
        raise UsageError(f"more than {CONFIGS_MOST} events are CONFIG; expected a change of settings now and then")
    for broker, seq, value in changes:
        configs.setdefault(broker, []).append((seq, value))
    parts = parts_of(metadata.system)
    columns = columns_of(parts)
    found = [row for broker, own in sorted(configs.items()) for row in settings_of(broker, own, parts)]
    # Where settings change often, each event is compared with those of its own stretch of seqs only.
    often = any(len(own) > _FEW_CONFIGS for own in configs.values())
    last = dict(engine.rows("select broker, max(seq) from trace group by broker")) if often else {}
    stretch = max(_STRETCH_SEQS, sum(last.values()) // _STRETCHES) if often else _ALL_SEQS
    rows = [
        (number, *row.row())
        for row in found
        for number in range(
            row.config_seq // stretch, min(row.config_until - 1, last.get(row.broker, 0)) // stretch + 1
        )
    ]
    engine.table("settings", {"stretch": "bigint", **columns}, rows)
    constants = {
        "many": metadata.many_threads,
        "virtual": metadata.clock == "virtual",
        **parts.constants(metadata),
    }
    fixed = ", ".join(f"{str(value).lower()} as {name}" for name, value in constants.items())
    shown = ", ".join(f"s.{name}" for name in columns if name != "broker")
    engine.define(
        "marked",
        f"select /*+ BROADCAST(s) */ t.*, {fixed}, {shown} from trace t left join settings s "
        f"on t.broker = s.broker and t.seq div {stretch} = s.stretch "
        "and t.seq >= s.config_seq and t.seq < s.config_until",
    )
    return frozenset(name for row in found for name in (row.untold or "").split(",") if name)


def survey(engine: SqlEngine, metadata: Metadata, rules: Sequence[RuleFile]) -> tuple[Broker, ...]:
    """Tier one: a single aggregate over the trace."""
    parts = parts_of(metadata.system)
    chain = next((rule for rule in all_rules(metadata.system) if rule.id == parts.chain), _CHAIN)
    proving = {rule.id: rule for rule in (*rules, chain) if rule.witness is not None}
    summed = list({(rule.witness, rule.balance): rule for rule in proving.values()}.values())
    chained = next(rule for rule in summed if rule.witness == chain.witness)
    facts = {name: text if parts.numbers_slots or name not in _OF_QUEUE else "0" for name, text in _FACTS.items()}
    untold = mark(engine, metadata)
    facts["lacking"] = lacking(rules, untold)
    inner = [f"{expression} as {name}" for name, expression in facts.items()]
    inner += [f"count_if({rule.checked}) as c_{rule.column}" for rule in rules]
    inner += [f"sum({rule.witness}) as w_{rule.column}" for rule in summed]
    balances = [f"w_{rule.column} - ({_without_dead(rule.balance)}) as d_{rule.column}" for rule in summed]
    outer = ["broker", *facts, *(f"c_{rule.column}" for rule in rules), *balances]
    found = engine.rows(
        f"select {', '.join(outer)} from (select broker, {', '.join(inner)} from marked group by broker) as sums"
    )
    rows = [dict(zip(["broker", *facts, *_names(rules, summed)], row, strict=True)) for row in found]
    dead = _dead_tokens(engine) if any(row["dead_at_end"] for row in rows) else {}
    suspects = [row["broker"] for row in rows if _span(row) != row["row_count"] or row[f"d_{chained.column}"] != 0]
    if suspects:
        _refuse_duplicates(engine, suspects)
    found_brokers = [_broker(row, dead, rules, summed, metadata.sampled) for row in rows]
    answers = asked(engine, rules, [row["broker"] for row in rows if row["lacking"]])
    found_brokers = [
        broker._replace(**answers[broker.name]._asdict()) if broker.name in answers else broker
        for broker in found_brokers
    ]
    return tuple(sorted(found_brokers, key=lambda broker: broker.name))


def _span(row: dict[str, Any]) -> int:
    return int(row["last_seq"] - row["first_seq"] + 1)


def _names(rules: Sequence[RuleFile], summed: Sequence[RuleFile]) -> list[str]:
    return [*(f"c_{rule.column}" for rule in rules), *(f"d_{rule.column}" for rule in summed)]


def _without_dead(balance: str) -> str:
    return "0" if balance == "dead_tokens" else balance


def _dead_tokens(engine: SqlEngine) -> dict[str, int]:
    """The tokens of the entries whose slots are dead at the end: their snapshot rows do not name them."""
    query = """
        with dead as (
          select broker, tail_no from marked where op = 'SNAPSHOT' and cause = 'END' and life is null
        )
        select /*+ BROADCAST(dead) */ m.broker, sum(token(m.life, m.tail_no))
        from marked m join dead on m.broker = dead.broker and m.tail_no = dead.tail_no
        where m.op in ('INSERT', 'REQUEUE') or (m.op = 'SNAPSHOT' and m.cause = 'OPEN' and m.life is not null)
        group by m.broker
    """
    return {broker: int(tokens or 0) for broker, tokens in engine.rows(query)}


def _broker(
    row: dict[str, Any],
    dead: dict[str, int],
    rules: Sequence[RuleFile],
    summed: Sequence[RuleFile],
    sampled: bool,
) -> Broker:
    name = row["broker"]
    sums = {rule.witness: _balances(row[f"d_{rule.column}"], rule, dead.get(name, 0)) for rule in summed}
    proved = {rule.id: sums[rule.witness] for rule in rules if rule.witness is not None}
    return Broker(
        name,
        row["row_count"],
        row["first_seq"],
        row["last_seq"],
        row["config_seq"] == row["first_seq"],
        row["end_seq"] == row["last_seq"],
        sampled or row["row_count"] != _span(row),
        row["unnumbered"] == 0,
        row["unlinked"] > 0,
        int(row["open_bytes"]),
        row["opening"] > 0,
        row["unread"] > 0,
        {rule.id: row[f"c_{rule.column}"] for rule in rules},
        proved,
    )


def _balances(difference: int | None, rule: RuleFile, dead_tokens: int) -> bool:
    return difference is not None and int(difference) == (dead_tokens if rule.balance == "dead_tokens" else 0)


def _refuse_duplicates(engine: SqlEngine, brokers: Sequence[str]) -> None:
    """Where sums do not show that each seq is there once, count."""
    engine.table("suspects", {"broker": "string"}, [(broker,) for broker in brokers])
    owned = "select broker, seq from marked where broker in (select broker from suspects)"
    twice = engine.rows(
        f"select broker, seq from ({owned}) as owned group by broker, seq having count(*) > 1 order by 1, 2 limit 1"
    )
    if twice:
        raise UsageError(duplicate_message(*twice[0]))


def evaluate(
    engine: SqlEngine,
    metadata: Metadata,
    rules: Sequence[RuleFile],
    progress: Progress = lambda text: None,
    witnesses: bool = True,
) -> Findings:
    """Both tiers. Without `witnesses` the windows decide everything.

    Raises:
        Stopped: the second tier was; with what was found of the rules that were decided.
    """
    progress("witnesses")
    brokers = survey(engine, metadata, rules)
    windows = Windows(engine, brokers, metadata)
    if witnesses:
        doubt(engine, brokers, rules)
    if witnesses and any(rule.settled is not None for rule in rules):
        progress("grounds")
        windows.settle([rule for rule in rules if rule.settled is not None])
    chain = parts_of(metadata.system).chain
    # Each broker by itself, so that it is all one which others are looked at with it.
    unproved = {
        rule.id: [
            broker
            for broker in brokers
            if (broker.checked[rule.id] or rule.id == chain)
            and rule.id not in broker.unasked
            and not (witnesses and broker.proved.get(rule.id, False))
        ]
        for rule in rules
    }
    left = [rule for rule in rules if unproved[rule.id]]
    found = Found(rules, brokers, unproved, metadata)
    waits = {rule.id: {rule.window, *(condition.view for condition in rule.conditions)} - {None} for rule in left}
    with keeping(lambda: found.of([rule for rule in rules if not waits.get(rule.id)])):
        for rule in left:
            if rule.window is not None:
                progress(f"{rule.id}: windows over {len(unproved[rule.id])} of {len(brokers)} brokers")
                windows.open(unproved[rule.id])
                answered, whole = told(engine, rule.window, "sure desc, broker, seq")
                found.add([rule], [(rule.id, row) for row in answered], whole)
                waits[rule.id].discard(rule.window)
        for view in sorted({condition.view for rule in left for condition in rule.conditions}):
            over = [(rule, condition) for rule in left for condition in rule.conditions if condition.view == view]
            names = {broker.name for rule, _ in over for broker in unproved[rule.id]}
            progress(f"{view}: {len(over)} conditions over {len(names)} of {len(brokers)} brokers")
            windows.open([broker for broker in brokers if broker.name in names])
            found.add([rule for rule, _ in over], *windows.over(view, over))
            for rule, _ in over:
                waits[rule.id].discard(view)
    return found.of(rules)


def doubt(engine: SqlEngine, brokers: Sequence[Broker], rules: Sequence[RuleFile]) -> None:
    """Take back what balanced sums have proved of brokers where what they cannot show is otherwise."""
    for query in dict.fromkeys(rule.unless for rule in rules if rule.unless is not None):
        own = [rule for rule in rules if rule.unless == query]
        if any(broker.proved[rule.id] and broker.checked[rule.id] for broker in brokers for rule in own):
            doubtful = {name for (name,) in engine.rows(f"select distinct broker from (\n{query}\n) as doubtful")}
            for broker in brokers:
                if broker.name in doubtful:
                    broker.proved.update(dict.fromkeys((rule.id for rule in own), False))


class Found:
    """What the windows tell, by broker and rule, and what keeps a clean answer from being one."""

    def __init__(
        self,
        rules: Sequence[RuleFile],
        brokers: Sequence[Broker],
        unproved: Mapping[str, Sequence[Broker]],
        metadata: Metadata,
    ) -> None:
        self._brokers = brokers
        self._open = {rule.id: {broker.name for broker in unproved[rule.id]} for rule in rules}
        self._violations: defaultdict[tuple[str, str], list[Violation]] = defaultdict(list)
        self._cut: defaultdict[str, list[str]] = defaultdict(list)
        self._undecided: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        self._missing = {broker.name: missing(broker, metadata) for broker in brokers}

    def add(self, asked: Sequence[RuleFile], rows: Sequence[tuple[str, tuple[Any, ...]]], whole: bool) -> None:
        """The rows that a question about these rules was answered with; `whole`: there are no more."""
        for rule in () if whole else asked:
            self._cut[rule.id].append(f"{rule.id}: more than {TOLD_MOST} rows tell of violations; these are the first")
        for rule_id, (broker, seq, life, expected, observed, seqs, sure) in rows:
            if broker not in self._open[rule_id]:
                continue
            if sure:
                violation = Violation(rule_id, broker, seq, life, expected, observed, tuple(seqs))
                self._violations[broker, rule_id].append(violation)
            else:
                self._undecided[broker, rule_id].append(f"{rule_id}: broker {broker!r}, seq {seq}: {observed}")

    def of(self, rules: Sequence[RuleFile]) -> Findings:
        """What was found of these rules."""
        return {broker.name: {rule.id: self._finding(broker, rule.id) for rule in rules} for broker in self._brokers}

    def _finding(self, broker: Broker, rule_id: str) -> RuleFinding:
        asked = broker.name in self._open[rule_id]
        return RuleFinding(
            broker.checked[rule_id],
            tuple(self._violations[broker.name, rule_id]),
            (
                *self._missing[broker.name],
                *(self._cut[rule_id] if asked else ()),
                *self._undecided[broker.name, rule_id],
            ),
            tuple(broker.unchecked.get(rule_id, ())),
        )


def missing(broker: Broker, metadata: Metadata) -> tuple[str, ...]:
    """Why nothing of this broker is clean, one line each."""
    notes = [broker.undecided()]
    if metadata.sampled:
        notes.append("the trace is sampled")
    if parts_of(metadata.system).begins_empty and broker.opened:
        notes.append(f"broker {broker.name!r}: it begins with entries cached before")
    return tuple(note for note in notes if note is not None)


def told(engine: SqlEngine, query: str, order: str) -> tuple[list[tuple[Any, ...]], bool]:
    """The first rows of a query, and whether these are all: a trace may break a rule in each of its events."""
    rows = engine.rows(f"select * from (\n{query}\n) as told order by {order} limit {TOLD_MOST + 1}")
    return rows[:TOLD_MOST], len(rows) <= TOLD_MOST


class Windows:
    """The second tier over some brokers at a time: their rows are the view `events`."""

    def __init__(self, engine: SqlEngine, brokers: Sequence[Broker], metadata: Metadata) -> None:
        self._engine = engine
        self._system = metadata.system
        self._brokers = brokers
        self._gap = metadata.sampled or any(broker.gapped for broker in brokers)
        island = "seq - row_number() over (partition by broker order by seq)" if self._gap else "cast(0 as bigint)"
        # Of a sampled trace no two rows are known to follow one another.
        self._island = "seq - 1" if metadata.sampled else island
        self._opened: tuple[str, ...] | None = None

    def open(self, brokers: Sequence[Broker]) -> None:
        """Let `brokers` and `events` stand for these."""
        names = tuple(broker.name for broker in brokers)
        if names == self._opened:
            return
        self._opened = names
        self._engine.table("brokers", _BROKER_COLUMNS, [broker.row(self._gap) for broker in brokers])
        self._engine.define(
            "events",
            f"select *, {self._island} as island from marked where broker in (select broker from brokers)",
        )

    def settle(self, asked: Sequence[RuleFile]) -> None:
        """Note as proved what brokers that begin empty and miss nothing show by grounds alone."""
        whole = [
            broker
            for broker in self._brokers
            if broker.starts
            and not broker.opened
            and not broker.gapped
            and any(broker.checked[rule.id] for rule in asked)
        ]
        if not whole:
            return
        self.open(whole)
        self._engine.define("settled", shared_view(self._system, "settled"))
        columns = ", ".join(f"coalesce({rule.settled}, false)" for rule in asked)
        by_name = {broker.name: broker for broker in whole}
        for name, *held in self._engine.rows(f"select broker, {columns} from settled"):
            by_name[name].proved.update(zip((rule.id for rule in asked), held, strict=True))

    def over(
        self, view: str, conditions: Sequence[tuple[RuleFile, Condition]]
    ) -> tuple[list[tuple[str, tuple[Any, ...]]], bool]:
        """The rows of a shared view that fulfil a condition, each with the rule it breaks, in one scan; see `told`."""
        joined = ", ".join(f"b.{name}" for name in _BROKER_COLUMNS if name != "broker")
        text = f"select e.*, {joined} from events e join brokers b on e.broker = b.broker"
        self._engine.define(f"over_{view}", text if view == ROWS else shared_view(self._system, view))
        columns = ["broker", "seq"]
        for number, (_, own) in enumerate(conditions):
            columns.append(f"coalesce({own.fails}, false) as fails_{number}")
            for name in ("life", "expected", "observed", "seqs", "sure"):
                columns.append(f"case when {own.fails} then {getattr(own, name)} end as {name}_{number}")
        where = " or ".join(f"({own.fails})" for _, own in conditions)
        found = []
        query = f"select {', '.join(columns)} from over_{view} where {where}"
        answered, whole = told(self._engine, query, "broker, seq")
        for broker, seq, *parts in answered:
            for number, (rule, _) in enumerate(conditions):
                fails, *described = parts[6 * number : 6 * number + 6]
                if fails:
                    found.append((rule.id, (broker, seq, *described)))
        return found, whole
