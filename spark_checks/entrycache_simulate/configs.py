"""Configurations of a simulation: those of a trace, and the changes that a user asks for.

`parse_recorded_config` reads the configuration of a CONFIG row, and `complete_config` fills in defaults and checks
every value. `require_settings` refuses a trace that was recorded with other settings.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import Enum
from inspect import signature
from pathlib import Path
from typing import Any, Final

from entrycache_fast import BrokerCache
from entrycache_protocol.errors import UsageError, describe_value
from entrycache_reference.pulsar_pip430.config import Config
from entrycache_trace import files, pulsar_pip430_calls

SETTING_NAMES: Final = tuple(
    each.name
    for each in fields(Config)
    if each.name in signature(BrokerCache.__init__).parameters and each.name != "storage"
)
"""The settings of a configuration that the fast cache takes; those of a whole ledger are not among them.

`storage` of the fast cache is a function that reads entries, and no setting.
"""


def parse_recorded_config(text: str | None, where: str) -> dict[str, Any]:
    """Parse the configuration of a CONFIG row and fill in the defaults.

    Raises:
        UsageError: the text is no configuration.
    """
    value = pulsar_pip430_calls.parse_object(text, f"{where}: the first CONFIG")
    return complete_config({key: part for key, part in value.items() if key in SETTING_NAMES}, where)


def complete_config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Complete a configuration with its defaults, as the fast cache takes it.

    Raises:
        UsageError: a key is unknown, or a value has the wrong type.
    """
    defaults = asdict(Config(**{}))
    for key, value in values.items():
        if key not in SETTING_NAMES:
            raise UsageError(
                f"{where}: unknown setting {describe_value(key)}; expected one of {', '.join(SETTING_NAMES)}"
            )
        wanted = defaults[key]
        if not _is_valid(value, wanted, key):
            raise UsageError(f"{where}: {key} is {describe_value(value)}; expected {_describe_expected(wanted)}")
    complete = {key: values.get(key, defaults[key]) for key in SETTING_NAMES}
    complete = {key: part.value if isinstance(part, Enum) else part for key, part in complete.items()}
    if complete["grace_millis"] is None:
        complete["grace_millis"] = 2 * complete["ttl_nanos"] // 1_000_000
    return complete


def _is_valid(value: Any, default: Any, key: str) -> bool:
    if isinstance(default, Enum):
        return type(value) is str and value in [member.value for member in type(default)]
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(value, bool) or (key == "grace_millis" and value is None):
        return key == "grace_millis" and value is None
    if isinstance(default, float):
        return isinstance(value, int | float) and 0 <= value <= 1
    return isinstance(value, int) and 0 <= value < 1 << 53


def _describe_expected(default: Any) -> str:
    if isinstance(default, Enum):
        return " or ".join(f'"{member.value}"' for member in type(default))
    if isinstance(default, bool):
        return "true or false"
    return "a number from 0 to 1" if isinstance(default, float) else "an integer of 0 or more"


CONFIG_COLUMNS = ("broker", "seq", "op", "value")


def require_settings(directory: Path, settings: Mapping[str, Any], system: str, source: str) -> None:
    """Refuse a trace whose brokers started with other settings than these.

    A later CONFIG is a change while the broker ran, and no difference.

    Raises:
        UsageError: a broker recorded other settings, or none; the message names the first difference.
    """
    recorded_system = files.read_metadata(directory).system
    if recorded_system != system:
        raise UsageError(f"{directory}: the trace is of {recorded_system}, {source} is read as one of {system}")
    parts = files.list_parts(directory, CONFIG_COLUMNS)
    for name in sorted({part.broker for part in parts}):
        table = files.read_broker([part for part in parts if part.broker == name], CONFIG_COLUMNS)
        first = next((row for row in table.slice(0, 1).to_pylist() if row["op"] == "CONFIG"), None)
        where = f"{directory}: broker {name!r}"
        if first is None:
            raise UsageError(f"{where}: the first event is no CONFIG, so nothing says that {source} was effective")
        recorded = parse_recorded_config(first["value"], where)
        for key, value in settings.items():
            if recorded[key] != value:
                here, there = json.dumps(recorded[key]), json.dumps(value)
                raise UsageError(f"{where}: {key} was {here} when it was recorded, {source} makes it {there}")
