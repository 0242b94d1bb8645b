"""What a replayed rule is shown: one event between its neighbours, and what is known of its broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_spark.pulsar_pip430.settings import IS_MANUAL, KINDS
from entrycache_spark.settings import config_of, untold_of
from entrycache_trace.files import Metadata

Row = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """What holds for all events of a broker."""

    name: str
    many: bool
    virtual: bool
    starts: bool
    gapped: bool
    fresh: bool
    complete: bool
    first_seq: int
    only_config: bool


def facts_of(name: str, rows: list[Row], metadata: Metadata) -> Facts:
    """The facts of a broker's rows, in the order of `seq`."""
    starts = rows[0]["op"] == "CONFIG"
    gapped = metadata.sampled or rows[-1]["seq"] - rows[0]["seq"] + 1 != len(rows)
    opens = any(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN" for row in rows)
    return Facts(
        name,
        metadata.many_threads,
        metadata.clock == "virtual",
        starts,
        gapped,
        starts and not opens,
        starts and rows[-1]["op"] == "END" and not gapped,
        rows[0]["seq"],
        sum(row["op"] == "CONFIG" for row in rows) == 1,
    )


@dataclass(frozen=True)
class InForce:
    """The configuration in force, its thresholds computed by the reference; None for what it does not tell."""

    seq: int
    untold: frozenset[str]
    grace_millis: int | None
    trigger_bytes: int | None
    target_bytes: int | None
    manual: bool | None
    ranks: bool | None
    ttl_nanos: int | None
    max_requeues: int | None
    extend_accessed: bool | None
    storage_bytes: int | None


def settings_by_row(broker: str, rows: Iterable[Row]) -> list[InForce | None]:
    """What is in force at each row; the grace period is that of the first CONFIG (R-CONFIG-4)."""
    found: list[InForce | None] = []
    now: InForce | None = None
    grace: int | None = None
    configs = 0
    for row in rows:
        if row["op"] == "CONFIG":
            now = _in_force(broker, row)
            grace = (None if now is None else now.grace_millis) if configs == 0 else grace
            now = None if now is None else replace(now, grace_millis=grace)
            configs += 1
        found.append(now)
    return found


def _in_force(broker: str, row: Row) -> InForce | None:
    """What a CONFIG event puts in force; None if it cannot be read."""
    shown = config_of(row["value"], KINDS, f"broker {broker!r}, seq {row['seq']}")
    if shown is None:
        return None
    names = {*Settings._fields, "evict_by_expected_reads", "storage_entry_size"}
    told = {name for name in names if shown[name] is not None}
    config = Config(**{name: shown[name] for name in told})
    state = initial(config)
    grace = shown.get("grace_millis", config.effective_grace_millis if "ttl_nanos" in told else None)
    limited = "max_size_bytes" in told
    return InForce(
        seq=row["seq"],
        untold=frozenset(untold_of(shown, KINDS)),
        grace_millis=grace if type(grace) is int else None,
        trigger_bytes=trigger_bytes(state) if limited else None,
        target_bytes=target_bytes(state) if limited and "watermark" in told else None,
        manual=IS_MANUAL.get(shown["eviction"]),
        ranks=shown["evict_by_expected_reads"],
        ttl_nanos=shown["ttl_nanos"],
        max_requeues=shown["max_requeues"],
        extend_accessed=shown["extend_recently_accessed"],
        storage_bytes=shown["storage_entry_size"],
    )


@dataclass(frozen=True)
class Moment:
    """One event. `before` and `after` are its neighbours, None where events are missing between."""

    row: Row
    before: Row | None
    after: Row | None
    island: int
    whole: bool
    """Nothing is missing since the first event, and that is CONFIG."""
    settings: InForce | None

    @property
    def manual(self) -> bool | None:
        """Whether passes wait for a call of their own; None where that is not told."""
        return None if self.settings is None else self.settings.manual


Tell = Callable[[str, Row, object, object, Iterable[int | None], bool], None]
"""Report a violation: rule, the event, what was expected, what was observed, what shows it, whether it is sure."""


def held_bytes(row: Row) -> int:
    """The manager's own bytes, or else the sum."""
    return int(row["bytes_after"] if row["manager_bytes"] is None else row["manager_bytes"])


def is_open(row: Row) -> bool:
    """Whether the row begins a life in the opening snapshot."""
    return bool(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN")
