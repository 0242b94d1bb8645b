"""What a fold tells of one broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from entrycache_protocol.errors import UsageError
from entrycache_protocol.messages import describe_value
from entrycache_protocol.strict_json import AmbiguousJson, parse_json
from entrycache_reference.vocabulary import INTEGER_MAX
from entrycache_spark.common.results import RuleFinding
from entrycache_spark.common.rule_files import Need
from entrycache_trace.files import Metadata, Part
from entrycache_trace.recording import WriteCaseTrace
from entrycache_trace.schema import TraceFormat


class CheckerGaveUp(Exception):
    """The fold does not decide a broker: another evaluator has to, and says why if the trace is broken."""


class EventKind(NamedTuple):
    """Events that are told the same: one of them, what its CONFIG does not name, and how many there are.

    `row` has 1 where a number is told, and also what a rule asks of the settings in force.
    """

    row: Mapping[str, Any]
    untold: frozenset[str]
    events: int


class CheckerResult(NamedTuple):
    """What the events are, and the rules that no event of the broker breaks: `clean`.

    Or the grounds that hold, by their names in the view `settled`: a rule that needs no other is clean, too. Of the
    others nothing is said: their windows have to look.
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
    grounds: frozenset[str] = frozenset()


class Checker(Protocol):
    """A system's fold: the events of one broker in the order of seq, in batches of any size."""

    def __call__(self, batches: Iterator[pa.RecordBatch], metadata: Metadata) -> CheckerResult:
        """Fold them.

        Raises:
            GivenUp: it cannot.
        """


# --- parts
# What an audit asks of a system.

ConfigObject = dict[str, Any]


class Replay(Protocol):
    """What the rows of each broker say about the rules, given with what they need, one row after the other."""

    def __call__(
        self,
        parts: Sequence[Part],
        metadata: Metadata,
        rules: Mapping[str, Sequence[Need]],
        max_live_slots: int,
        progress: Callable[[str], None] = ...,
    ) -> dict[str, RuleFinding]:
        """Above so many live entries at once it gives up."""


class DemoTrace(NamedTuple):
    """The trace that a tour audits: of a workload, or where there is no preset of a long case of the generator.

    `not_shown`: the rules that it cannot show. `engines` audit it always, the others in a strict tour only.
    """

    preset: str | None
    not_shown: frozenset[str]
    engines: tuple[str, ...]


class AuditedSystem(NamedTuple):
    """One system as audits know it.

    `checker` and `replayer` are the modules that hold its single-pass checker and its replay.
    `columns`: those of a trace that an audit reads; a file that lacks one is rejected. `kinds`: the settings that its
    rules need, with their types. `setting_columns`: what each event gets from the CONFIG in force besides the limit,
    with SQL types; `setting_values` gives their values, a row a config object (None: it cannot be read), nulls for
    those. `constants`: what holds for a whole trace. `chain`: the rule whose witness also shows that no (broker, seq)
    is missing or doubled, if there is one. `numbers_slots`: its events number the slots of a removal queue.
    `begins_empty`: of a trace that begins with cached entries nothing is clean. `window_rows`: so many rows one window
    keeps in memory before it goes to disk; None: as many as there are. `format`: what its rows say. `write` writes the
    calls of a case as a trace; `traced` is the trace that a tour audits; `altered`: presets of workloads, each with the
    events of the trace in which every value is changed once.
    """

    checker: str
    replayer: str
    columns: tuple[str, ...]
    kinds: Mapping[str, type]
    setting_columns: Mapping[str, str]
    setting_values: Callable[[Sequence[ConfigObject | None]], list[tuple[Any, ...]]]
    constants: Callable[[Metadata], dict[str, bool]]
    chain: str | None
    numbers_slots: bool
    begins_empty: bool
    window_rows: int | None
    format: TraceFormat
    write: WriteCaseTrace
    traced: DemoTrace
    altered: tuple[tuple[str, int], ...]

    def fold(self) -> Checker:
        """Its fold, imported when it is asked for: a command that folds nothing does not wait for its compiler."""
        found: Checker = import_module(self.checker).fold
        return found

    def replay(self) -> Replay:
        """Its replay, imported when it is asked for, with the reference that it steps."""
        found: Replay = import_module(self.replayer).replay
        return found


# --- settings
# The settings that a trace says are in force: one row a CONFIG event, from it to the next one.

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
"""The columns that each event gets from the CONFIG in force, with their SQL types; those of its system follow.

`untold`: the settings that the CONFIG does not name, each between commas; null where it names all of them, or is none.
"""

MAX_SHARE: Final = 1_000
"""Of a share of the limit, far above all that make sense: a limit times it has 64 bits."""

OPTIONAL_SETTINGS: Final = ("grace_millis",)
"""Settings that have no default of their own."""

LAST_SEQ: Final = (1 << 63) - 1


class ConfigSettings(NamedTuple):
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


def setting_columns_of(parts: AuditedSystem) -> dict[str, str]:
    """All columns that each event of a system gets, with their SQL types."""
    return {**SHARED_SETTING_COLUMNS, **parts.setting_columns}


def read_settings(broker: str, configs: Iterable[tuple[int, str | None]], parts: AuditedSystem) -> list[ConfigSettings]:
    """The settings of one broker, from its CONFIG events (seq, value); unreadable ones say nothing.

    Raises:
        UsageError: see `config_of`.
    """
    ordered = sorted(configs, key=lambda config: config[0])
    read = [parse_config(value, parts.kinds, f"broker {broker!r}, seq {seq}") for seq, value in ordered]
    limits = [None if config is None else config["max_size_bytes"] for config in read]
    found = []
    for number, others in enumerate(parts.setting_values(read)):
        until = ordered[number + 1][0] if number + 1 < len(ordered) else LAST_SEQ
        before = limits[number - 1] if number else None
        config = read[number]
        untold = None if config is None else ",".join(unnamed_settings(config, parts.kinds))
        known = (config is not None, f",{untold}," if untold else None)
        found.append(
            ConfigSettings(broker, ordered[number][0], until, len(ordered) == 1, limits[number], before, *known, others)
        )
    return found


def unnamed_settings(config: ConfigObject, kinds: Mapping[str, type]) -> list[str]:
    """The settings that a config object does not name."""
    return [name for name in (*kinds, *OPTIONAL_SETTINGS) if config.get(name) is None]


def parse_config(value: str | None, kinds: Mapping[str, type], where: str) -> ConfigObject | None:
    """The config object of a CONFIG event, None for each setting that it does not name; None if it is none.

    Raises:
        UsageError: engines would take it for different things: JSON that is no JSON to some, or a number too large.
    """
    try:
        told = parse_json(value or "")
    except AmbiguousJson as error:
        raise UsageError(f"{where}: CONFIG is not JSON: {error}") from None
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    config = {**dict.fromkeys(kinds), **told}
    if not all(config[name] is None or _has_type(config[name], kind) for name, kind in kinds.items()):
        return None
    for name in (*kinds, *OPTIONAL_SETTINGS):
        number, most = config.get(name), MAX_SHARE if kinds.get(name) is float else INTEGER_MAX
        if isinstance(number, int | float) and abs(number) > most:
            raise UsageError(f"{where}: CONFIG says {name} is {describe_value(number)}; expected {-most} to {most}")
    return config


def _has_type(value: object, kind: type) -> bool:
    """Whether a value is of its setting's type; a share may be written as an integer."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind


# --- systems
# The systems whose traces are audited, each with its parts.

_SYSTEM_MODULES: Final = {
    "pulsar_pip430": "entrycache_spark.systems.pulsar_pip430",
    "kafka_streams": "entrycache_spark.systems.kafka_streams",
    "pulsar_legacy": "entrycache_spark.systems.pulsar_legacy",
    "pulsar_segmented": "entrycache_spark.systems.pulsar_segmented",
}
"""The module that describes the audit of each system."""


class AuditedSystems(Mapping[str, AuditedSystem]):
    """The audits by the names of their systems, each imported when it is asked for."""

    def __getitem__(self, system: str) -> AuditedSystem:
        name = system.replace("-", "_")
        if name not in _SYSTEM_MODULES or name == system:
            raise KeyError(system)
        found: AuditedSystem = import_module(_SYSTEM_MODULES[name]).AUDIT
        return found

    def __contains__(self, system: object) -> bool:
        return system in tuple(self)

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", "-") for name in _SYSTEM_MODULES)

    def __len__(self) -> int:
        return len(_SYSTEM_MODULES)


AUDITED: Final = AuditedSystems()


def audited_system(system: str) -> AuditedSystem:
    """The parts of a system; those of the first one where the system is not audited."""
    return AUDITED.get(system, next(iter(AUDITED.values())))
