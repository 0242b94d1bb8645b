"""What the replayed rules of `pulsar-legacy` are shown: the settings in force, and what each position holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from entrycache_reference.pulsar_legacy.config import Config
from entrycache_reference.pulsar_legacy.thresholds import target_bytes, trigger_bytes
from entrycache_spark.pulsar_legacy.settings import KINDS
from entrycache_spark.pulsar_pip430.replay.moments import Facts, Row, is_open
from entrycache_spark.pulsar_pip430.settings import IS_MANUAL
from entrycache_spark.settings import config_of, untold_of


class InForce(NamedTuple):
    """The settings in force, the thresholds computed by the reference; None for what is not told."""

    untold: frozenset[str]
    limit_bytes: int | None
    trigger_bytes: int | None
    target_bytes: int | None
    manual: bool | None


class Held(NamedTuple):
    """What a position held before an event; None: not known. `changed`: the event that put it there or took it."""

    is_in: bool | None
    changed: Row | None


@dataclass(frozen=True)
class Moment:
    """One event. `before` and `after` are its neighbours, None where events are missing between."""

    row: Row
    before: Row | None
    after: Row | None
    island: int
    whole: bool
    """Nothing is missing since the first event, that is CONFIG, and nothing was cached before."""
    settings: InForce | None
    held: Held


def settings_by_row(broker: str, rows: Iterable[Row]) -> list[InForce | None]:
    """What is in force at each row."""
    found: list[InForce | None] = []
    now: InForce | None = None
    for row in rows:
        if row["op"] == "CONFIG":
            now = _in_force(broker, row)
        found.append(now)
    return found


def _in_force(broker: str, row: Row) -> InForce | None:
    shown = config_of(row["value"], KINDS, f"broker {broker!r}, seq {row['seq']}")
    if shown is None:
        return None
    limit, watermark = shown["max_size_bytes"], shown["watermark"]
    told = {"max_size_bytes": limit, "watermark": watermark}
    config = Config(**{name: value for name, value in told.items() if value is not None})
    return InForce(
        frozenset(untold_of(shown, KINDS)),
        limit,
        None if limit is None else trigger_bytes(config),
        None if limit is None or watermark is None else target_bytes(config),
        IS_MANUAL.get(shown["eviction"]),
    )


def moments_of(name: str, rows: list[Row], facts: Facts, sampled: bool) -> list[Moment]:
    """The events of a broker, each beside what it meets."""
    settings = settings_by_row(name, rows)
    found: list[Moment] = []
    changes: dict[object, Row] = {}
    island = 0
    for at, row in enumerate(rows):
        before, after = (rows[at - 1] if at else None), (rows[at + 1] if at + 1 < len(rows) else None)
        if before is not None and (sampled or before["seq"] + 1 != row["seq"]):
            island, before = island + 1, None
            changes.clear()
        if after is not None and (sampled or row["seq"] + 1 != after["seq"]):
            after = None
        place = (row["cache"], row["ledger_id"], row["entry_id"])
        changed = changes.get(place)
        is_in = None if changed is not None else False if facts.starts and island == 0 else None
        is_in = is_in if changed is None else changed["op"] in ("INSERT", "SNAPSHOT")
        whole = facts.fresh and island == 0
        found.append(Moment(row, before, after, island, whole, settings[at], Held(is_in, changed)))
        begins = row["op"] == "INSERT" or (is_open(row) and row["life"] is not None)
        if row["entry_id"] is not None and (begins or row["op"] in ("EVICT", "REMOVE")):
            changes[place] = row
    return found


def is_offer(row: Row | None) -> bool:
    """Whether an entry was offered to the cache."""
    if row is None:
        return False
    return row["op"] in ("INSERT", "REJECT") or (row["op"] == "SKIP" and row["cause"] in ("FULL", "DISABLED"))


def is_triggered(row: Row | None, op: str) -> bool:
    """Whether it begins or ends a size pass that was asked for."""
    return row is not None and (row["op"], row["cause"], row["origin"]) == (op, "SIZE", "TRIGGER")


def known(*values: object) -> bool:
    """Whether all of them are told."""
    return None not in values


def ascends(row: Row, before: Row) -> bool:
    """Whether a position lies behind another one, as far as they are told."""
    if not known(row["ledger_id"], before["ledger_id"]):
        return True
    if row["ledger_id"] != before["ledger_id"]:
        return bool(row["ledger_id"] > before["ledger_id"])
    return not known(row["entry_id"], before["entry_id"]) or bool(row["entry_id"] > before["entry_id"])
