"""Replay of offers: whether they are taken, and which size passes they ask for (L-INSERT-*, L-TRIGGER-*)."""

from __future__ import annotations

from entrycache_spark.pulsar_legacy.replay.moments import InForce, Moment, is_offer, is_triggered, known
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row, Tell, held_bytes


class Offers:
    """The bytes at the beginning of each offer, and what has been asked for since the last pass."""

    def __init__(self, facts: Facts, tell: Tell) -> None:
        self._tell = tell
        self._sure = not facts.many and not facts.gapped
        self._one = not facts.many
        self._island = -1
        self._forget()

    def _forget(self) -> None:
        self._begun: Row | None = None
        self._asked: list[tuple[Row, int]] = []

    def follow(self, now: Moment) -> None:
        """Take in one event."""
        if now.island != self._island:
            self._island = now.island
            self._forget()
        row, settings = now.row, now.settings or InForce(frozenset(), None, None, None, None)
        if is_offer(row):
            self._offered(now, settings)
        if is_triggered(row, "PASS_BEGIN"):
            self._begins(now, settings)
            self._begun, self._asked = row, []
        if is_triggered(row, "PASS_END") and settings.manual is False and now.after is not None:
            follows = is_offer(now.after) and known(row["call_id"]) and now.after["call_id"] == row["call_id"]
            if not follows:
                self._tell("L-TRIGGER-2", row, "the offer that asked for it", now.after["op"], [], self._one)

    def _offered(self, now: Moment, settings: InForce) -> None:
        row, before = now.row, now.before
        if before is None:
            return
        own_pass = is_triggered(before, "PASS_END") and known(row["call_id"]) and before["call_id"] == row["call_id"]
        met = self._begun if own_pass else before
        if met is None:
            return
        found, seqs = held_bytes(met), [met["seq"], row["seq"]]
        limit, trigger, target = settings.limit_bytes, settings.trigger_bytes, settings.target_bytes
        if limit is not None and row["op"] == "INSERT" and found >= limit:
            self._tell("L-INSERT-3", row, "SKIP FULL", found, seqs, self._sure)
        if limit is not None and (row["op"], row["cause"]) == ("SKIP", "FULL") and found < limit:
            self._tell("L-INSERT-4", row, "INSERT", found, seqs, self._sure)
        if trigger is None or target is None or found <= trigger:
            return
        if settings.manual:
            self._asked.append((row, found - target))
        elif settings.manual is False and not own_pass and found > target:
            rule = "L-TRIGGER-2" if row["op"] == "INSERT" else "L-TRIGGER-7"
            self._tell(rule, row, "a size pass before it", found, seqs, self._sure)

    def _begins(self, now: Moment, settings: InForce) -> None:
        """A size pass that was asked for."""
        row = now.row
        if settings.manual:
            self._scheduled(now)
            return
        if settings.manual is None:
            return
        held = held_bytes(row)
        stated = row["trigger_bytes"] is not None
        trigger = row["trigger_bytes"] if stated else settings.trigger_bytes
        if trigger is not None and held <= trigger:
            self._tell("L-TRIGGER-2", row, f"no pass at {held}", trigger, [], self._one and (self._sure or stated))
        stated = row["target_bytes"] is not None
        target = row["target_bytes"] if stated else settings.target_bytes
        if target is not None and row["bound"] not in (None, held - target):
            self._tell("L-TRIGGER-1", row, held - target, row["bound"], [], self._one and (self._sure or stated))

    def _scheduled(self, now: Moment) -> None:
        row, bound = now.row, now.row["bound"]
        if not now.whole:
            return
        amounts = [(asked["seq"], amount) for asked, amount in self._asked if amount > 0]
        sure = self._one and len(amounts) == len(self._asked)
        if not amounts:
            self._tell("L-TRIGGER-5", row, "no pass", bound, [], sure)
        elif bound is not None and bound != amounts[0][1]:
            rule = "L-TRIGGER-4" if bound == amounts[-1][1] else "L-TRIGGER-5"
            self._tell(rule, row, amounts[0][1], bound, [amounts[0][0], row["seq"]], sure)
