"""Configurations that a simulation takes: those of a trace, and what is asked for instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from entrycache_protocol.errors import UsageError
from entrycache_protocol.shown import shown
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_simulate.checks import read_object

KEYS: Final = tuple(each.name for each in fields(Config) if each.name != "variants")
"""What a configuration may say."""


def recorded_config(text: str | None, where: str) -> dict[str, Any]:
    """The configuration in a CONFIG row, defaults filled in.

    Raises:
        UsageError: it is none.
    """
    value = read_object(text, f"{where}: the first CONFIG")
    return whole_config({key: part for key, part in value.items() if key in KEYS}, where)


def whole_config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A configuration with its defaults, as the fast cache takes it.

    Raises:
        UsageError: a key that there is not, or a value of the wrong type.
    """
    defaults = asdict(Config(**{}))
    for key, value in values.items():
        if key not in KEYS:
            raise UsageError(f"{where}: unknown setting {shown(key)}; expected one of {', '.join(KEYS)}")
        wanted = defaults[key]
        if not _fits(value, wanted, key):
            raise UsageError(f"{where}: {key} is {shown(value)}; expected {_expected(wanted, key)}")
    whole = {key: values.get(key, defaults[key]) for key in KEYS}
    whole["eviction"] = getattr(whole["eviction"], "value", whole["eviction"])
    if whole["grace_millis"] is None:
        whole["grace_millis"] = 2 * whole["ttl_nanos"] // 1_000_000
    return whole


def _fits(value: Any, default: Any, key: str) -> bool:
    if key == "eviction":
        return type(value) is str and value in {"inline", "manual"}
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(value, bool) or (key == "grace_millis" and value is None):
        return key == "grace_millis" and value is None
    if isinstance(default, float):
        return isinstance(value, int | float) and 0 <= value <= 1
    return isinstance(value, int) and 0 <= value < 1 << 53


def _expected(default: Any, key: str) -> str:
    if key == "eviction":
        return '"inline" or "manual"'
    if isinstance(default, bool):
        return "true or false"
    return "a number from 0 to 1" if isinstance(default, float) else "an integer of 0 or more"
