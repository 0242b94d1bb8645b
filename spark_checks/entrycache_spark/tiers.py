"""The two tiers of an audit in SQL: witnesses in one aggregate, windows only where those prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from entrycache_reference.errors import UsageError
from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.files import Metadata, duplicate_message
from entrycache_spark.rulefiles import RuleFile, all_rules
from entrycache_spark.verdict import RuleFinding, Violation

Progress = Callable[[str], None]

_CHAIN_RULE: Final = "R-STATE-1"
"""The rule whose witness also shows that no (broker, seq) is missing or doubled."""

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
}

_BROKER_COLUMNS: Final = {
    "broker": "string",
    "starts": "boolean",
    "gapped": "boolean",
    "first_island": "bigint",
    "numbered": "boolean",
    "unlinked": "boolean",
    "open_bytes": "bigint",
}


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
    checked: dict[str, int]
    proved: dict[str, bool]

    def row(self, any_gap: bool) -> tuple[Any, ...]:
        """The row of the table `brokers`."""
        first_island = self.first_seq - 1 if any_gap else 0
        return (self.name, self.starts, self.gapped, first_island, self.numbered, self.unlinked, self.open_bytes)

    def undecided(self) -> str | None:
        """Why a clean answer would claim too much, if it would."""
        if self.gapped:
            return f"broker {self.name!r}: events are missing between seq {self.first_seq} and {self.last_seq}"
        if not self.starts:
            return f"broker {self.name!r}: the first event is not CONFIG, so the beginning is missing"
        return None if self.ended else f"broker {self.name!r}: the last event is not END, so the rest is missing"


def constants(metadata: Metadata) -> str:
    """The columns that hold for the whole trace."""
    split = str(metadata.variants.get("requeue_budget", "shared")).lower() == "split"
    return f"{_boolean(metadata.many_threads)} as many, {_boolean(split)} as split_budget"


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def survey(engine: SqlEngine, metadata: Metadata, rules: Sequence[RuleFile]) -> tuple[Broker, ...]:
    """Tier one: a single aggregate over the trace."""
    chain = next(rule for rule in all_rules() if rule.id == _CHAIN_RULE)
    summed = [rule for rule in {rule.id: rule for rule in (*rules, chain)}.values() if rule.witness is not None]
    inner = [f"{expression} as {name}" for name, expression in _FACTS.items()]
    inner += [f"count_if({rule.checked}) as c_{rule.column}" for rule in rules]
    inner += [f"sum({rule.witness}) as w_{rule.column}" for rule in summed]
    balances = [f"w_{rule.column} - ({_without_dead(rule.balance)}) as d_{rule.column}" for rule in summed]
    outer = ["broker", *_FACTS, *(f"c_{rule.column}" for rule in rules), *balances]
    engine.define("marked", f"select *, {constants(metadata)} from trace")
    found = engine.rows(
        f"select {', '.join(outer)} from (select broker, {', '.join(inner)} from marked group by broker) as sums"
    )
    rows = [dict(zip(["broker", *_FACTS, *_names(rules, summed)], row, strict=True)) for row in found]
    dead = _dead_tokens(engine) if any(row["dead_at_end"] for row in rows) else {}
    suspects = [row["broker"] for row in rows if _span(row) != row["row_count"] or row[f"d_{chain.column}"] != 0]
    if suspects:
        _refuse_duplicates(engine, suspects)
    return tuple(sorted(_broker(row, dead, rules, summed) for row in rows))


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
) -> Broker:
    name = row["broker"]
    proved = {rule.id: _balances(row[f"d_{rule.column}"], rule, dead.get(name, 0)) for rule in summed}
    return Broker(
        name,
        row["row_count"],
        row["first_seq"],
        row["last_seq"],
        row["config_seq"] == row["first_seq"],
        row["end_seq"] == row["last_seq"],
        row["row_count"] != _span(row),
        row["unnumbered"] == 0,
        row["unlinked"] > 0,
        int(row["open_bytes"]),
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
) -> dict[str, RuleFinding]:
    """Both tiers. Without `witnesses` the windows decide everything."""
    progress("witnesses")
    brokers = survey(engine, metadata, rules)
    any_gap = any(broker.gapped for broker in brokers)
    island = "seq - row_number() over (partition by broker order by seq)" if any_gap else "cast(0 as bigint)"
    missing = [note for note in (broker.undecided() for broker in brokers) if note is not None]
    if metadata.sampled:
        missing.append("the trace is sampled")
    found: dict[str, RuleFinding] = {}
    for rule in rules:
        open_ones = [broker for broker in brokers if not (witnesses and broker.proved.get(rule.id, False))]
        violations: list[Violation] = []
        undecided = list(missing)
        if open_ones and any(broker.checked[rule.id] or _rows_alone_decide(rule) for broker in open_ones):
            progress(f"{rule.id}: windows over {len(open_ones)} of {len(brokers)} brokers")
            engine.table("brokers", _BROKER_COLUMNS, [broker.row(any_gap) for broker in open_ones])
            engine.define(
                "events",
                f"select *, {island} as island from marked where broker in (select broker from brokers)",
            )
            for broker, seq, life, expected, observed, seqs, sure in engine.rows(rule.window):
                if sure:
                    violations.append(Violation(rule.id, broker, seq, life, expected, observed, tuple(seqs)))
                else:
                    undecided.append(f"{rule.id}: broker {broker!r}, seq {seq}: {observed}")
        checked = sum(broker.checked[rule.id] for broker in brokers)
        found[rule.id] = RuleFinding(checked, tuple(violations), tuple(undecided))
    return found


def _rows_alone_decide(rule: RuleFile) -> bool:
    return rule.id == _CHAIN_RULE
