"""Replay of `kafka-streams`: one thread after the other, one row after the other.

Each row is applied with the reference's own functions of a namespace (write, look up, remove), once as the writes
and ends tell it and once as the rows show it; nothing is taken from the rule files. Meant for small traces: above a
number of live entries it gives up.
"""

from __future__ import annotations

from functools import partial

from entrycache_spark.kafka_streams.columns import COLUMNS
from entrycache_spark.kafka_streams.replay.calls import Calls
from entrycache_spark.kafka_streams.replay.counters import Counters
from entrycache_spark.kafka_streams.replay.entries import Entries
from entrycache_spark.kafka_streams.replay.facts import LIMITS, Facts, as_followed, spoken
from entrycache_spark.kafka_streams.replay.order import Order
from entrycache_spark.replaying import Reading, Telling, replay_each


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


replay = partial(replay_each, Reading(COLUMNS, LIMITS, spoken, _follow))
"""What the rows of each thread say about the rules."""
