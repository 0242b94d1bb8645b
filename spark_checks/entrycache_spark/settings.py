"""The settings that a trace says are in force: one row a CONFIG event, from it to the next one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import shown
from entrycache_protocol.strict_json import Disputed, parse
from entrycache_reference.vocabulary import INTEGER_MAX
from entrycache_spark.parts import AuditParts, ConfigObject

SETTING_COLUMNS: Final = {
    "broker": "string",
    "config_seq": "bigint",
    "config_until": "bigint",
    "only_config": "boolean",
    "limit_now": "bigint",
    "limit_before": "bigint",
    "readable": "boolean",
    "untold": "string",
}
"""The columns that each event gets from the CONFIG in force, with their SQL types; those of its system follow.

`untold`: the settings that the CONFIG does not name, each between commas; null where it names all of them, or is none.
"""

SHARE_MOST: Final = 1_000
"""Of a share of the limit, far above all that make sense: a limit times it has 64 bits."""

OPTIONAL: Final = ("grace_millis",)
"""Settings that have no default of their own."""

LAST_SEQ: Final = (1 << 63) - 1


class Settings(NamedTuple):
    """The settings of one CONFIG event: the limit, that of the CONFIG event before, and what its system has besides.

    A setting that is not named is null: an audit knows what the trace says, and no defaults.
    """

    broker: str
    config_seq: int
    config_until: int
    only_config: bool
    limit_bytes: int | None
    limit_before: int | None
    readable: bool
    untold: str | None
    others: tuple[Any, ...]

    def row(self) -> tuple[Any, ...]:
        """The values of all columns."""
        return (*self[:-1], *self.others)


def columns_of(parts: AuditParts) -> dict[str, str]:
    """All columns that each event of a system gets, with their SQL types."""
    return {**SETTING_COLUMNS, **parts.setting_columns}


def settings_of(broker: str, configs: Iterable[tuple[int, str | None]], parts: AuditParts) -> list[Settings]:
    """The settings of one broker, from its CONFIG events (seq, value); unreadable ones say nothing.

    Raises:
        UsageError: see `config_of`.
    """
    ordered = sorted(configs, key=lambda config: config[0])
    read = [config_of(value, parts.kinds, f"broker {broker!r}, seq {seq}") for seq, value in ordered]
    limits = [None if config is None else config["max_size_bytes"] for config in read]
    found = []
    for number, others in enumerate(parts.setting_values(read)):
        until = ordered[number + 1][0] if number + 1 < len(ordered) else LAST_SEQ
        before = limits[number - 1] if number else None
        config = read[number]
        untold = None if config is None else ",".join(untold_of(config, parts.kinds))
        known = (config is not None, f",{untold}," if untold else None)
        found.append(
            Settings(broker, ordered[number][0], until, len(ordered) == 1, limits[number], before, *known, others)
        )
    return found


def untold_of(config: ConfigObject, kinds: Mapping[str, type]) -> list[str]:
    """The settings that a config object does not name."""
    return [name for name in (*kinds, *OPTIONAL) if config.get(name) is None]


def config_of(value: str | None, kinds: Mapping[str, type], where: str) -> ConfigObject | None:
    """The config object of a CONFIG event, None for each setting that it does not name; None if it is none.

    Raises:
        UsageError: engines would take it for different things: JSON that is no JSON to some, or a number too large.
    """
    try:
        told = parse(value or "")
    except Disputed as error:
        raise UsageError(f"{where}: CONFIG is not JSON: {error}") from None
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    config = {**dict.fromkeys(kinds), **told}
    if not all(config[name] is None or _fits(config[name], kind) for name, kind in kinds.items()):
        return None
    for name in (*kinds, *OPTIONAL):
        number, most = config.get(name), SHARE_MOST if kinds.get(name) is float else INTEGER_MAX
        if isinstance(number, int | float) and abs(number) > most:
            raise UsageError(f"{where}: CONFIG says {name} is {shown(number)}; expected {-most} to {most}")
    return config


def _fits(value: object, kind: type) -> bool:
    """Whether a value is of its setting's type; a share may be written as an integer."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind
