"""The description of an audited system, the interface of its checker and its replay, and its settings.

`AuditedSystem` says what an audit needs to know about a system. `AUDITED` maps system names to these descriptions and
imports each only on access. A `Checker` reads the events of one broker once, in the order of seq, and returns a
`CheckerResult`; if it cannot decide, it raises `CheckerGaveUp` and SQL decides. `Replay` is the interface of the
second opinion. The functions below read CONFIG events: from each one to the next, its settings are effective.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from entrycache_protocol import errors, strict_json
from entrycache_reference.vocabulary import INTEGER_MAX
from entrycache_spark.common import results, rule_files
from entrycache_trace import files, recording, schema


class CheckerGaveUp(Exception):
    """The checker cannot decide a broker.

    Another backend decides it, and reports the error if the trace is broken.
    """


class EventKind(NamedTuple):
    """A class of events that record the same columns: an example row, the settings its CONFIG lacks, and their number.

    `row` holds 1 for each number that is present, and the values of the settings that rules ask for.
    """

    row: Mapping[str, Any]
    untold: frozenset[str]
    events: int


class CheckerResult(NamedTuple):
    """The result of a single-pass checker for one broker.

    No event violates a rule in `clean`. About other rules the checker says nothing: their windows decide.
    """

    row_count: int
    first_seq: int
    last_seq: int
    starts: bool
    ended: bool
    numbered: bool
    unlinked: bool
    open_bytes: int
    opened: bool
    unread: bool
    kinds: tuple[EventKind, ...]
    clean: frozenset[str]


class Checker(Protocol):
    """The single-pass checker of a system: it reads the events of a broker once, in the order of seq.

    The result does not depend on the size of the batches.
    """

    def __call__(self, batches: Iterator[pa.RecordBatch], metadata: files.Metadata) -> CheckerResult:
        """Check the events.

        Raises:
            CheckerGaveUp: the checker cannot decide this broker.
        """


# ---------- the system's audit

ConfigObject = dict[str, Any]


class Replay(Protocol):
    """A replay of a trace: it judges each row of a broker after the rows before it."""

    def __call__(
        self,
        parts: Sequence[files.Part],
        metadata: files.Metadata,
        rules: Mapping[str, Sequence[rule_files.Need]],
        max_live_slots: int,
        progress: Callable[[str], None] = ...,
    ) -> dict[str, results.RuleFinding]:
        """Replay the trace; give up above `max_live_slots` live entries at once."""


class DemoTrace(NamedTuple):
    """The trace that the demo audits: a workload preset, or without one a long generated case up to a level.

    `not_shown` names the rules that the trace cannot exercise. The demo always uses `engines`; a strict demo uses all.
    """

    preset: str | None
    not_shown: frozenset[str]
    engines: tuple[str, ...]
    level: str = ""


class AuditedSystem(NamedTuple):
    """The description of one audited system.

    - `checker`, `replayer`: the modules of its single-pass checker and of its replay.
    - `columns`: the trace columns that an audit reads; a file that lacks one is rejected.
    - `kinds`: the settings that its rules need, with their types.
    - `setting_columns`: the columns that each event gets from its effective CONFIG besides the limit, with SQL types.
    - `setting_values`: computes these values, one row for a CONFIG object (None if unreadable; then they are null).
    - `constants`: the columns that hold for a whole trace.
    - `chain`: the rule about a sum that runs through all events, so that any event may break it, if there is one.
    - `numbers_slots`: True if its events number the slots of a removal queue.
    - `begins_empty`: True if nothing is clean in a trace that begins with cached entries.
    - `window_rows`: the rows that a window keeps in memory before it spills; None for no limit.
    - `format`: the format of its trace rows; `write` writes the calls of a case as a trace.
    - `traced`: the trace that the demo audits.
    - `mutation_presets`: workload presets and event counts for the audit mutations.
    """

    checker: str
    replayer: str
    columns: tuple[str, ...]
    kinds: Mapping[str, type]
    setting_columns: Mapping[str, str]
    setting_values: Callable[[Sequence[ConfigObject | None]], list[tuple[Any, ...]]]
    constants: Callable[[files.Metadata], dict[str, bool]]
    chain: str | None
    numbers_slots: bool
    begins_empty: bool
    window_rows: int | None
    format: schema.TraceFormat
    write: recording.WriteCaseTrace
    demo_trace: DemoTrace
    mutation_presets: tuple[tuple[str, int], ...]

    def load_checker(self) -> Checker:
        """Import and return the checker; commands that check nothing do not wait for its compiler."""
        check: Checker = import_module(self.checker).check_broker
        return check

    def load_replay(self) -> Replay:
        """Import and return the replay, with the reference that it steps."""
        function: Replay = import_module(self.replayer).replay
        return function


# ---------- settings

SHARED_SETTING_COLUMNS: Final = {
    "broker": "string",
    "config_seq": "bigint",
    "config_until": "bigint",
    "only_config": "boolean",
    "limit_now": "bigint",
    "limit_before": "bigint",
    "readable": "boolean",
    "untold": "string",
}
"""The columns that each event gets from its effective CONFIG, with SQL types; those of its system follow.

`untold` lists the settings that the CONFIG lacks, each between commas. It is null if none is missing, or if the CONFIG
cannot be read.
"""

MAX_SHARE: Final = 1_000
"""The largest accepted share of the limit; it keeps limit times share within 64 bits."""

OPTIONAL_SETTINGS: Final = ("grace_millis",)
"""Settings without a default of their own."""

LAST_SEQ: Final = (1 << 63) - 1


class ConfigSettings(NamedTuple):
    """The settings of one CONFIG event: the limit, the limit before it, and the system's own settings.

    A setting that the CONFIG does not name is null: an audit uses what the trace says, never defaults.
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
        """Return the values of all columns."""
        return (*self[:-1], *self.others)


def setting_columns_of(parts: AuditedSystem) -> dict[str, str]:
    """Return all columns that each event of a system gets from its CONFIG, with SQL types."""
    return {**SHARED_SETTING_COLUMNS, **parts.setting_columns}


def read_settings(broker: str, configs: Iterable[tuple[int, str | None]], parts: AuditedSystem) -> list[ConfigSettings]:
    """Return the settings of one broker from its CONFIG events (seq, value); unreadable ones have null settings.

    Raises:
        UsageError: see `parse_config`.
    """
    ordered = sorted(configs, key=lambda config: config[0])
    read = [parse_config(value, parts.kinds, f"broker {broker!r}, seq {seq}") for seq, value in ordered]
    limits = [None if config is None else config["max_size_bytes"] for config in read]
    settings = []
    for number, others in enumerate(parts.setting_values(read)):
        until = ordered[number + 1][0] if number + 1 < len(ordered) else LAST_SEQ
        before = limits[number - 1] if number else None
        config = read[number]
        untold = None if config is None else ",".join(unnamed_settings(config, parts.kinds))
        known = (config is not None, f",{untold}," if untold else None)
        settings.append(
            ConfigSettings(broker, ordered[number][0], until, len(ordered) == 1, limits[number], before, *known, others)
        )
    return settings


def unnamed_settings(config: ConfigObject, kinds: Mapping[str, type]) -> list[str]:
    """Return the settings that a config object does not name."""
    return [name for name in (*kinds, *OPTIONAL_SETTINGS) if config.get(name) is None]


def parse_config(value: str | None, kinds: Mapping[str, type], where: str) -> ConfigObject | None:
    """Parse the config object of a CONFIG event; settings that it does not name are None.

    Return None if the text is no JSON object or a value has the wrong type.

    Raises:
        UsageError: backends would read it differently: disputed JSON, or a number that is too large.
    """
    try:
        value_object = strict_json.parse_json(value or "")
    except strict_json.AmbiguousJson as error:
        raise errors.UsageError(f"{where}: CONFIG is not JSON: {error}") from None
    except ValueError:
        return None
    if not isinstance(value_object, dict):
        return None
    config = {**dict.fromkeys(kinds), **value_object}
    if not all(config[name] is None or _has_type(config[name], kind) for name, kind in kinds.items()):
        return None
    for name in (*kinds, *OPTIONAL_SETTINGS):
        number, most = config.get(name), MAX_SHARE if kinds.get(name) is float else INTEGER_MAX
        if isinstance(number, int | float) and abs(number) > most:
            raise errors.UsageError(
                f"{where}: CONFIG says {name} is {errors.describe_value(number)}; expected {-most} to {most}"
            )
    return config


def _has_type(value: object, kind: type) -> bool:
    """Return whether a value has its setting's type; a share may be written as an integer."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind


# ---------- the audited systems

_SYSTEM_MODULES: Final = {
    "pulsar_pip430": "entrycache_spark.systems.pulsar_pip430",
    "kafka_streams": "entrycache_spark.systems.kafka_streams",
    "pulsar_legacy": "entrycache_spark.systems.pulsar_legacy",
    "pulsar_segmented": "entrycache_spark.systems.pulsar_segmented",
}
"""The module that describes each system."""


class AuditedSystems(Mapping[str, AuditedSystem]):
    """The audited systems by name, each imported on access."""

    def __getitem__(self, system: str) -> AuditedSystem:
        name = system.replace("-", "_")
        if name not in _SYSTEM_MODULES or name == system:
            raise KeyError(system)
        audited: AuditedSystem = import_module(_SYSTEM_MODULES[name]).AUDIT
        return audited

    def __contains__(self, system: object) -> bool:
        return system in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", "-") for name in _SYSTEM_MODULES)

    def __len__(self) -> int:
        return len(_SYSTEM_MODULES)


AUDITED: Final = AuditedSystems()


ForeignEvents = Mapping[str, frozenset[str]]
"""Ops with the causes that are foreign to a system; no cause means that the whole op is foreign."""


@cache
def foreign_events(system: str) -> ForeignEvents:
    """Return the events that only traces of other systems hold.

    An op is foreign if only another system records it. Causes of a shared op are foreign if no cause of the op is
    common to both systems.
    """
    own = AUDITED[system].format.by_op
    foreign: dict[str, frozenset[str]] = {}
    for other in AUDITED.values():
        for op, event in other.format.by_op.items():
            if op not in own:
                foreign[op] = frozenset()
            elif own[op].causes and set(own[op].causes).isdisjoint(event.causes):
                foreign[op] = foreign.get(op, frozenset()).union(event.causes)
    return {op: causes for op, causes in sorted(foreign.items()) if causes or op not in own}


def is_foreign_event(op: str, cause: str | None, system: str) -> bool:
    """Return whether only traces of other systems hold such an event."""
    causes = foreign_events(system).get(op)
    return causes is not None and (not causes or cause in causes)


def foreign_events_sql(system: str) -> str:
    """Return the SQL condition that selects the events of `foreign_events`."""
    conditions = []
    for op, causes in foreign_events(system).items():
        named = ", ".join(f"'{cause}'" for cause in sorted(causes))
        conditions.append(f"op = '{op}' and cause in ({named})" if causes else f"op = '{op}'")
    return " or ".join(f"({condition})" for condition in conditions)


def foreign_event_error(broker: str, seq: int, op: str, cause: str | None, system: str) -> errors.UsageError:
    """Return the error that refuses a trace because of an event of another system."""
    others = [name for name in AUDITED if name != system and _records_event(name, op, cause)]
    event = op if cause is None else f"{op} {cause}"
    return errors.UsageError(
        f"broker {broker!r}, seq {seq}: {event} is an event of {' or '.join(others)}; "
        f"the metadata say that the trace is of {system}"
    )


@cache
def ops_with_cache(system: str) -> frozenset[str]:
    """Return the ops of a system whose events must name a cache."""
    return frozenset(op for op, event in AUDITED[system].format.by_op.items() if "cache" in event.needs)


def nameless_events_sql(system: str) -> str:
    """Return the SQL condition that selects the events that must name a cache and do not."""
    ops = ", ".join(f"'{op}'" for op in sorted(ops_with_cache(system)))
    return f"cache is null and op in ({ops})"


def nameless_event_error(broker: str, seq: int, op: str) -> errors.UsageError:
    """Return the error that refuses a trace because an event does not name its cache."""
    return errors.UsageError(
        f"broker {broker!r}, seq {seq}: {op} without cache; expected the cache of the entry, without which rows of "
        "several caches cannot be distinguished; trace check lists all such rows"
    )


def _records_event(system: str, op: str, cause: str | None) -> bool:
    event = AUDITED[system].format.by_op.get(op)
    return event is not None and (not event.causes or cause is None or cause in event.causes)


def audited_system(system: str) -> AuditedSystem:
    """Return the description of a system, or that of the first one if the system is not audited."""
    return AUDITED.get(system, next(iter(AUDITED.values())))
