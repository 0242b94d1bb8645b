"""What the engines say of changed traces: hundreds of copies in one trace, a broker each, judged by one audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_protocol.leftovers import scratch
from entrycache_spark.folder import audit
from entrycache_spark.mutations.changes import Change, Row, changed, renamed
from entrycache_spark.systems import AUDITED
from entrycache_trace.files import Metadata, iterate_rows, list_parts, read_metadata, write_rows
from entrycache_trace.generate import generate

ROWS_MOST: Final = 250_000
"""Of the copies that are judged in one audit."""

ENGINES: Final[Mapping[str, tuple[str, bool]]] = {
    "local": ("local", True),
    "local windows": ("local", False),
    "replay": ("replay", True),
}
"""Each with whether the witnesses may prove."""


class Base(NamedTuple):
    """A trace of a system: one that is generated, of so many events, or one that was recorded, a folder."""

    system: str
    preset: str
    events: int
    folder: Path | None = None

    @property
    def name(self) -> str:
        """As the table names it."""
        return f"{self.system} {self.preset}"

    @property
    def metadata(self) -> Metadata:
        """That of the trace, and so of its copies."""
        return Metadata(system=self.system) if self.folder is None else read_metadata(self.folder)


def recorded_in(folder: Path) -> Base:
    """A recorded trace."""
    return Base(read_metadata(folder).system, folder.name, 0, folder)


BASES: Final = tuple(
    Base(system, preset, events) for system, parts in AUDITED.items() for preset, events in parts.altered
)
SEED: Final = 7


class Seen(NamedTuple):
    """What was said of one change: rules that name the very event, rules that name others, whether a note does."""

    here: tuple[str, ...]
    there: tuple[str, ...]
    noted: bool

    @property
    def is_caught(self) -> bool:
        """Whether a rule is violated."""
        return bool(self.here or self.there)


class Disagreement(Exception):
    """Two engines say different things of the same trace."""


def rows_of(base: Base) -> list[Row]:
    """The rows of a base, one broker."""
    with ExitStack() as stack:
        if base.folder is not None:
            return list(iterate_rows(list_parts(base.folder)))
        folder = Path(stack.enter_context(scratch())) / "base"
        generate(base.preset, base.events, SEED, folder, 1)
        return list(iterate_rows(list_parts(folder)))


def judge(
    base: Base,
    rows: Sequence[Row],
    changes: Sequence[Change],
    seed: int,
    engines: Mapping[str, tuple[str, bool]] = ENGINES,
) -> Iterator[tuple[Change, Seen]]:
    """What is said of each change that can be made.

    Raises:
        Disagreement: naming the engines and the first change.
    """
    many = max(1, ROWS_MOST // len(rows))
    for start in range(0, len(changes), many):
        made: dict[str, tuple[Change, int]] = {}
        copies: list[Row] = []
        for number, change in enumerate(changes[start : start + many]):
            copy = changed(rows, change, seed)
            if copy is not None:
                made[f"{number:03}"] = (change, copy[1])
                copies += renamed(copy[0], f"{number:03}")
        if made:
            yield from _batch(base, copies, made, engines)


def _batch(
    base: Base, copies: Sequence[Row], made: Mapping[str, tuple[Change, int]], engines: Mapping[str, tuple[str, bool]]
) -> Iterator[tuple[Change, Seen]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(scratch())) / "trace"
        write_rows(folder, base.metadata, copies)
        said = {name: _said(folder, *how) for name, how in engines.items()}
    first, *others = said
    for name in others:
        for broker, (change, seq) in made.items():
            if said[name][0][broker] != said[first][0][broker]:
                apart = sorted(said[name][0][broker] ^ said[first][0][broker])
                raise Disagreement(f"{base.system}, {change}, seq {seq}: {first} and {name} differ in {apart}")
    violations, notes = said[first]
    for broker, (change, seq) in made.items():
        here = tuple(sorted(rule for rule, at in violations[broker] if at == seq))
        there = tuple(sorted({rule for rule, _ in violations[broker]} - set(here)))
        yield change, Seen(here, there, any(f"broker '{broker}'" in note for note in notes))


def _said(folder: Path, engine: str, witnesses: bool) -> tuple[defaultdict[str, set[tuple[str, int]]], tuple[str, ...]]:
    result = audit(folder, engine, witnesses=witnesses)
    found: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in result.violations:
        found[row.broker].add((row.rule, row.seq))
    return found, result.notes
