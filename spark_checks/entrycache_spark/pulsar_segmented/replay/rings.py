"""Replay of `pulsar-segmented`: one broker after the other, one row after the other.

Nothing is taken from the rule files. Meant for small traces: above a number of live entries it gives up.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from entrycache_spark.pulsar_segmented.columns import COLUMNS
from entrycache_spark.pulsar_segmented.replay.entries import Entries
from entrycache_spark.pulsar_segmented.replay.mirror import Mirror
from entrycache_spark.pulsar_segmented.replay.told import SETTINGS, Facts, spoken
from entrycache_spark.pulsar_segmented.replay.turns import Turns
from entrycache_spark.replaying import Reading, Telling, replay_each


def _follow(facts: Facts, telling: Telling, max_live_slots: int) -> bool:
    """Go through the rows in order; whether there were never more entries than replay is meant for."""
    mirror = Mirror(facts)
    followers = (Turns(telling.tell, facts.many), Entries(telling.tell, mirror))
    for at, whole in enumerate(facts.whole):
        now = mirror.take(at)
        for follower in followers:
            follower.follow(now, whole)
        if mirror.live > max_live_slots:
            return False
    return True


replay: Final = partial(replay_each, Reading(COLUMNS, SETTINGS, spoken, _follow))
"""What the rows of each broker say about the rules."""
