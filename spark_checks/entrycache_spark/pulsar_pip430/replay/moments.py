"""What a replayed rule is shown: one event between its neighbours, and what is known of its broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from entrycache_reference.pulsar_pip430.config import Config, Settings
from entrycache_reference.pulsar_pip430.limits import target_bytes, trigger_bytes
from entrycache_reference.pulsar_pip430.state import initial
from entrycache_spark.pulsar_pip430.settings import DEFAULTS
from entrycache_spark.settings import config_of
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
    """The configuration in force, its thresholds computed by the reference."""

    seq: int
    config: Config
    grace_millis: int | None
    trigger_bytes: int
    target_bytes: int
    manual: bool


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
    shown = config_of(row["value"], DEFAULTS, f"broker {broker!r}, seq {row['seq']}")
    if shown is None:
        return None
    names = {*Settings._fields, "evict_by_expected_reads", "storage_entry_size"}
    config = Config(**{name: shown[name] for name in names})
    state = initial(config)
    grace = shown.get("grace_millis", config.effective_grace_millis)
    manual = shown["eviction"] == "manual"
    known = grace if type(grace) is int else None
    return InForce(row["seq"], config, known, trigger_bytes(state), target_bytes(state), manual)


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
    def manual(self) -> bool:
        """Whether passes wait for a call of their own."""
        return self.settings is not None and self.settings.manual


Tell = Callable[[str, Row, object, object, Iterable[int | None], bool], None]
"""Report a violation: rule, the event, what was expected, what was observed, what shows it, whether it is sure."""


def held_bytes(row: Row) -> int:
    """The manager's own bytes, or else the sum."""
    return int(row["bytes_after"] if row["manager_bytes"] is None else row["manager_bytes"])


def is_open(row: Row) -> bool:
    """Whether the row begins a life in the opening snapshot."""
    return bool(row["op"] == "SNAPSHOT" and row["cause"] == "OPEN")
