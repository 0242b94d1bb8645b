"""Replay of `kafka-streams`: one thread after the other, one row after the other.

Each row is applied with the reference's own functions of a namespace (write, look up, remove), once as the writes
and ends tell it and once as the rows show it; nothing is taken from the rule files. Meant for small traces: above a
number of live entries it gives up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from entrycache_spark.asked import ask
from entrycache_spark.kafka_streams.columns import COLUMNS
from entrycache_spark.kafka_streams.replay.calls import Calls
from entrycache_spark.kafka_streams.replay.counters import Counters
from entrycache_spark.kafka_streams.replay.entries import Entries
from entrycache_spark.kafka_streams.replay.facts import Facts, Telling, as_followed, facts_of, spoken
from entrycache_spark.kafka_streams.replay.order import Order
from entrycache_spark.needs import Need
from entrycache_spark.verdict import RuleFinding, Violation
from entrycache_trace.files import Metadata, Part, read_mappings


def replay(
    parts: Sequence[Part],
    metadata: Metadata,
    rules: Mapping[str, Sequence[Need]],
    max_live_slots: int,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, RuleFinding]:
    """What the rows of each thread say about the rules."""
    checked: Counter[str] = Counter()
    violations: defaultdict[str, list[Violation]] = defaultdict(list)
    undecided: defaultdict[str, list[str]] = defaultdict(list)
    unchecked: defaultdict[str, list[str]] = defaultdict(list)
    shared = ["the trace is sampled"] if metadata.sampled else []
    for name in sorted({part.broker for part in parts if part.rows}):
        progress(f"replaying broker {name}")
        rows = read_mappings([part for part in parts if part.broker == name], COLUMNS)
        facts = facts_of(name, rows, metadata)
        told = ((row, facts.untold[at], spoken(row, facts.limits[at])) for at, row in enumerate(facts.rows))
        asked = ask(name, told, rules)
        checked.update({rule: count for rule, count in asked.checked.items() if rule not in asked.never})
        telling = Telling(facts)
        if not _follow(facts, telling, max_live_slots):
            shared.append(f"broker {name!r}: more than {max_live_slots} entries at once; replay stops there")
            continue
        shared += facts.missing()
        for rule in rules:
            unchecked[rule] += asked.notes.get(rule, [])
            if rule not in asked.never:
                violations[rule] += telling.violations[rule]
                undecided[rule] += telling.undecided[rule]
    return {
        rule: RuleFinding(checked[rule], tuple(violations[rule]), (*shared, *undecided[rule]), tuple(unchecked[rule]))
        for rule in rules
    }


def _follow(facts: Facts, telling: Telling, max_live_slots: int) -> bool:
    """Go through the rows in order; whether there were never more entries than replay is meant for."""
    as_followed(facts.rows)
    entries = Entries(facts, telling.tell)
    calls = Calls(facts, telling.tell, entries)
    followers: tuple[Order | Calls | Counters, ...] = (
        Order(facts, telling.tell, entries),
        calls,
        Counters(facts, telling.tell, entries, calls),
    )
    for at, row in enumerate(facts.rows):
        entries.follow(at, row)
        for follower in followers:
            follower.follow(at, row)
        if entries.live_in_all > max_live_slots:
            return False
    return True
