"""What an audit asks of a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from entrycache_spark.fold import Fold
from entrycache_spark.needs import Need
from entrycache_spark.verdict import RuleFinding
from entrycache_trace.calls import WriteCalls
from entrycache_trace.files import Metadata, Part
from entrycache_trace.format import Format

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


class Traced(NamedTuple):
    """The trace that a tour audits: of a workload, or where there is no preset of a long case of the generator.

    `not_shown`: the rules that it cannot show. `engines` audit it always, the others in a strict tour only.
    """

    preset: str | None
    not_shown: frozenset[str]
    engines: tuple[str, ...]


class AuditParts(NamedTuple):
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
    format: Format
    write: WriteCalls
    traced: Traced
    altered: tuple[tuple[str, int], ...]

    def fold(self) -> Fold:
        """Its fold, imported when it is asked for: a command that folds nothing does not wait for its compiler."""
        found: Fold = import_module(self.checker).fold
        return found

    def replay(self) -> Replay:
        """Its replay, imported when it is asked for, with the reference that it steps."""
        found: Replay = import_module(self.replayer).replay
        return found
