"""The second tier of an audit in SQL: windows, over brokers of which the first tier proves too little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from entrycache_spark.engines.base import SqlEngine
from entrycache_spark.rulefiles import ROWS, Condition, RuleFile, shared_view, views_in
from entrycache_spark.survey import Broker
from entrycache_trace.files import Metadata

TOLD_MOST: Final = 100_000
"""Rows of one question that are told as violations; of more, the first ones in the order of brokers and events."""

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

    def _define(self, view: str) -> None:
        """Let `over_VIEW` stand for a view, and for those that it asks."""
        joined = ", ".join(f"b.{name}" for name in _BROKER_COLUMNS if name != "broker")
        text = f"select e.*, {joined} from events e join brokers b on e.broker = b.broker"
        query = text if view == ROWS else shared_view(self._system, view)
        for other in views_in(query):
            self._define(other)
        self._engine.define(f"over_{view}", query)

    def over(
        self, view: str, conditions: Sequence[tuple[RuleFile, Condition]]
    ) -> tuple[list[tuple[str, tuple[Any, ...]]], bool]:
        """The rows of a shared view that fulfil a condition, each with the rule it breaks, in one scan; see `told`."""
        self._define(view)
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
