"""Changes of one row of a trace: each column of each kind of event, in each of a few ways."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from entrycache_protocol.errors import UsageError
from entrycache_protocol.files import scratch_folder, write_text
from entrycache_spark.common.system import AUDITED
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts, read_metadata, write_rows
from entrycache_trace.generators.generate import generate
from entrycache_trace.schema import ROW_SCHEMA

Row = dict[str, Any]

REQUIRED_COLUMNS: Final = tuple(column.name for column in ROW_SCHEMA if not column.nullable)
FAR_STEP: Final = 1_000
MAX_DOUBLED: Final = 1 << 51
UNCHANGED_COLUMNS: Final = frozenset({"seq", "value"})
"""`seq` twice is refused and a gap is told (docs/how-to/audit-a-trace.md); `value` is changed number by number."""


class Change(NamedTuple):
    """One way to change one column of events of one op and cause."""

    op: str
    cause: str | None
    column: str
    way: str

    @property
    def event(self) -> str:
        """The events, as a table names them."""
        return self.op if self.cause is None else f"{self.op} {self.cause}"


def _more(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value + 1 if type(value) is int else None


def _less(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value - 1 if type(value) is int else None


def _far(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return value + FAR_STEP if type(value) is int else None


def _doubled(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return 2 * value if type(value) is int and 0 < abs(value) < MAX_DOUBLED else None


def _flipped(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    return not value if type(value) is bool else None


def _shifted(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    """The value of the event of the same op before it."""
    own = (row[column] for row in reversed(rows[:at]) if row["op"] == rows[at]["op"])
    return next((other for other in own if other is not None and other != value), None)


def _renamed(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    """Another name that stands in the same column."""
    if type(value) is not str:
        return None
    others = sorted({row[column] for row in rows if row[column] is not None} - {value, "CONFIG", "END"})
    return random.Random(f"{at} {column}").choice(others) if others else None


VALUE_CHANGES: Final[Mapping[str, Callable[[Any, Sequence[Row], int, str], Any]]] = {
    "+1": _more,
    "-1": _less,
    f"+{FAR_STEP}": _far,
    "doubled": _doubled,
    "flipped": _flipped,
    "shifted": _shifted,
    "renamed": _renamed,
}
"""How a value becomes another one; None where it cannot."""
WAYS: Final = (*VALUE_CHANGES, "swapped", "dropped")


def list_changes(rows: Sequence[Row]) -> list[Change]:
    """All changes that the events of a trace allow, in a fixed order."""
    told = Counter(
        (row["op"], row["cause"], column)
        for row in rows
        for column, value in row.items()
        if value is not None and column not in UNCHANGED_COLUMNS and column != "broker"
    )
    kinds = sorted(told, key=str)
    return [Change(*kind, way) for kind in kinds for way in WAYS if way != "dropped" or kind[2] not in REQUIRED_COLUMNS]


def change_row(rows: Sequence[Row], change: Change, seed: int) -> tuple[list[Row], int] | None:
    """A copy of the rows with one of them changed, and its seq; None where no row can be changed so."""
    fit = [
        at for at, row in enumerate(rows) if (row["op"], row["cause"]) == change[:2] and row[change.column] is not None
    ]
    random.Random(f"{seed} {change}").shuffle(fit)
    for at in fit:
        own = [dict(row) for row in rows]
        if _apply(own, at, change):
            return own, own[at]["seq"]
    return None


def _apply(rows: list[Row], at: int, change: Change) -> bool:
    column, value = change.column, rows[at][change.column]
    if change.way == "dropped":
        rows[at][column] = None
        return True
    if change.way == "swapped":
        return _swap(rows, at, change)
    new = VALUE_CHANGES[change.way](value, rows, at, column)
    if new is None:
        return False
    rows[at][column] = new
    return True


def _swap(rows: list[Row], at: int, change: Change) -> bool:
    """Exchange the value with that of the next event of the same kind that has another one."""
    column, value = change.column, rows[at][change.column]
    for row in rows[at + 1 :]:
        if (row["op"], row["cause"]) == change[:2] and row[column] not in (None, value):
            rows[at][column], row[column] = row[column], value
            return True
    return False


def rename_broker(rows: Iterable[Row], broker: str) -> list[Row]:
    """The rows as those of another broker."""
    return [{**row, "broker": broker} for row in rows]


# ---------- audits of the changed copies

MAX_ROWS: Final = 250_000
"""Of the copies that are judged in one audit."""

ENGINES: Final[Mapping[str, tuple[str, bool]]] = {
    "local": ("local", True),
    "local windows": ("local", False),
    "replay": ("replay", True),
}
"""Each with whether the witnesses may prove."""


class BaseTrace(NamedTuple):
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


def recorded_trace(folder: Path) -> BaseTrace:
    """A recorded trace."""
    return BaseTrace(read_metadata(folder).system, folder.name, 0, folder)


BASES: Final = tuple(
    BaseTrace(system, preset, events) for system, parts in AUDITED.items() for preset, events in parts.mutation_presets
)
SEED: Final = 7


class Detection(NamedTuple):
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


def read_base(base: BaseTrace) -> list[Row]:
    """The rows of a base, one broker."""
    with ExitStack() as stack:
        if base.folder is not None:
            return list(iterate_rows(list_parts(base.folder)))
        folder = Path(stack.enter_context(scratch_folder())) / "base"
        generate(base.preset, base.events, SEED, folder, 1)
        return list(iterate_rows(list_parts(folder)))


def judge_changes(
    base: BaseTrace,
    rows: Sequence[Row],
    changes: Sequence[Change],
    seed: int,
    engines: Mapping[str, tuple[str, bool]] = ENGINES,
) -> Iterator[tuple[Change, Detection]]:
    """What is said of each change that can be made.

    Raises:
        Disagreement: naming the engines and the first change.
    """
    many = max(1, MAX_ROWS // len(rows))
    for start in range(0, len(changes), many):
        made: dict[str, tuple[Change, int]] = {}
        copies: list[Row] = []
        for number, change in enumerate(changes[start : start + many]):
            copy = change_row(rows, change, seed)
            if copy is not None:
                made[f"{number:03}"] = (change, copy[1])
                copies += rename_broker(copy[0], f"{number:03}")
        if made:
            yield from _judge_batch(base, copies, made, engines)


def _judge_batch(
    base: BaseTrace,
    copies: Sequence[Row],
    made: Mapping[str, tuple[Change, int]],
    engines: Mapping[str, tuple[str, bool]],
) -> Iterator[tuple[Change, Detection]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(scratch_folder())) / "trace"
        write_rows(folder, base.metadata, copies)
        said = {name: _audit_copies(folder, *how) for name, how in engines.items()}
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
        yield change, Detection(here, there, any(f"broker '{broker}'" in note for note in notes))


def _audit_copies(
    folder: Path, engine: str, witnesses: bool
) -> tuple[defaultdict[str, set[tuple[str, int]]], tuple[str, ...]]:
    result = audit_folder(folder, engine, witnesses=witnesses)
    found: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in result.violations:
        found[row.broker].add((row.rule, row.seq))
    return found, result.notes


# ---------- the table of detections

Table = dict[tuple[str, Change], Detection]
"""What was seen, by system (with its preset) and change."""


class Reason(NamedTuple):
    """Why some changes are seen by no rule; an empty part fits all."""

    id: str
    why: str
    columns: tuple[str, ...]
    ways: tuple[str, ...]
    events: tuple[str, ...]
    systems: tuple[str, ...]

    def fits(self, system: str, change: Change) -> bool:
        """Whether a change is of this class."""
        return (
            (not self.columns or change.column in self.columns)
            and (not self.ways or change.way in self.ways)
            and (not self.events or change.op in self.events or change.event in self.events)
            and (not self.systems or system in self.systems)
        )


def load_reasons() -> tuple[Reason, ...]:
    """All of them, in the order in which they are asked."""
    told = tomllib.loads(Path(__file__).with_name("audit_mutations.toml").read_text(encoding="utf-8"))["reason"]
    names = ("columns", "ways", "events", "systems")
    return tuple(Reason(item["id"], item["why"], *(tuple(item.get(name, ())) for name in names)) for item in told)


def find_reason(system: str, change: Change, known: Sequence[Reason]) -> str | None:
    """The id of the first reason that fits."""
    return next((reason.id for reason in known if reason.fits(system, change)), None)


def system_of(trace: str) -> str:
    """The system of a trace of the table."""
    return trace.partition(" ")[0]


def unexplained_changes(lines: Mapping[tuple[str, Change], Detection]) -> list[tuple[str, Change]]:
    """What no rule sees, and no reason explains."""
    known = load_reasons()
    return [
        (trace, change)
        for (trace, change), seen in lines.items()
        if not seen.is_caught and find_reason(system_of(trace), change, known) is None
    ]


def table_to_json(lines: Mapping[tuple[str, Change], Detection]) -> str:
    """The table as it is committed."""
    told: dict[str, dict[str, list[list[str]]]] = {}
    for (trace, change), seen in sorted(lines.items(), key=str):
        key = " / ".join((change.op, change.cause or "", change.column, change.way))
        told.setdefault(trace, {})[key] = [list(seen.here), list(seen.there)]
    return json.dumps({"schema": 1, "traces": told}, indent=0) + "\n"


def table_from_json(text: str) -> Table:
    """The table that was committed."""
    found: Table = {}
    for trace, told in json.loads(text)["traces"].items():
        for key, (here, there) in told.items():
            op, cause, column, way = key.split(" / ")
            found[trace, Change(op, cause or None, column, way)] = Detection(tuple(here), tuple(there), False)
    return found


_PAGE_HEAD: Final = """# What an audit sees of one changed value

Written by `python -m entrycache_dev.audit_mutations --write`: one value of one event of a recorded trace is changed, in
each column of each kind of event, and the copy is audited by engine local (with witnesses, and by its windows alone)
and by replay, which have to say the same. A cell names the rules that are violated: **bold** where they name the very
event, else at another one that shows it; a word in italics says why none is.

Without being asked: a null in `seq`, `ts_ns`, `op` or `bytes_after` and a `seq` twice are refused; a row left out is a
gap, and makes what it could change inconclusive.
"""


def render_page(lines: Mapping[tuple[str, Change], Detection]) -> str:
    """The table as people read it."""
    known, caught = load_reasons(), sum(seen.is_caught for seen in lines.values())
    named = sum(bool(seen.here) for seen in lines.values())
    told = f"{len(lines)} changes: {caught} are seen, {named} of them at the very event"
    text = [_PAGE_HEAD, f"{told}; {len(unexplained_changes(lines))} are not explained.", ""]
    text += [f"- *{reason.id}*: {reason.why}." for reason in known]
    for trace in dict.fromkeys(trace for trace, _ in lines):
        own = {change: seen for (name, change), seen in lines.items() if name == trace}
        text += ["", f"## {trace}", "", f"| event | column | {' | '.join(WAYS)} |", f"|---|---|{'---|' * len(WAYS)}"]
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for change, seen in own.items():
            rows.setdefault((change.event, change.column), {})[change.way] = _cell(trace, change, seen, known)
        for (event, column), cells in rows.items():
            text.append(f"| {event} | `{column}` | {' | '.join(cells.get(way, '') for way in WAYS)} |")
    return "\n".join(text) + "\n"


def _cell(trace: str, change: Change, seen: Detection, known: Sequence[Reason]) -> str:
    if seen.is_caught:
        return ", ".join((*_bold(seen.here), *seen.there))
    return f"*{find_reason(system_of(trace), change, known) or 'HOLE'}*"


def _bold(rules: Iterable[str]) -> list[str]:
    return [f"**{rule}**" for rule in rules]


# ---------- the command

TABLE_NAME = "audit-mutations"


def docs_folder() -> Path:
    """Where the table is committed.

    Raises:
        UsageError: this is not a source checkout.
    """
    found = next((folder / "docs" for folder in Path(__file__).resolve().parents if (folder / "docs").is_dir()), None)
    if found is None:
        raise UsageError("the table of changed traces is part of a source checkout; expected to run in one")
    return found


def committed_table() -> Table:
    """The table as it is committed."""
    path = docs_folder() / f"{TABLE_NAME}.json"
    return table_from_json(path.read_text(encoding="utf-8")) if path.is_file() else {}


def detect_changes(bases: Sequence[BaseTrace], sample: int | None, seed: int) -> Table:
    """What is seen of all changes, or of so many of each trace."""
    found: Table = {}
    for base in bases:
        rows = read_base(base)
        changes = list_changes(rows)
        if sample is not None:
            changes = random.Random(seed).sample(changes, min(sample, len(changes)))
        for change, seen in judge_changes(base, rows, changes, SEED):
            found[base.name, change] = seen
        if sys.stderr.isatty():
            print(f"{base.preset}: {len(found)} changes", file=sys.stderr)
    return found


def changed_detections(found: Table, former: Table) -> list[str]:
    """The changes that are seen otherwise than the table says."""
    return [
        f"{trace}, {change}: {seen.here} {seen.there}, the table says {former[trace, change][:2]}"
        for (trace, change), seen in found.items()
        if (trace, change) in former and former[trace, change][:2] != seen[:2]
    ]


def main() -> int:
    """Ask; 1 where engines disagree, a change is seen by no rule and not explained, or the table says otherwise."""
    parser = argparse.ArgumentParser(prog="python -m entrycache_dev.audit_mutations", description=__doc__)
    parser.add_argument("--sample", type=int, help="so many changes of each trace instead of all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument(
        "--trace", type=Path, help="a recorded trace, instead of those of the table; few thousand events"
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write docs/reference/{TABLE_NAME}.md and docs/{TABLE_NAME}.json"
    )
    asked = parser.parse_args()
    bases = BASES if asked.trace is None else (recorded_trace(asked.trace),)
    found = detect_changes(bases, asked.sample, asked.seed)
    if asked.write and asked.trace is None:
        write_text(docs_folder() / f"{TABLE_NAME}.json", table_to_json(found))
        write_text(docs_folder() / "reference" / f"{TABLE_NAME}.md", render_page(found))
    told = [f"{trace}, {change}: seen by no rule" for trace, change in unexplained_changes(found)] + changed_detections(
        found, committed_table()
    )
    for line in told:
        print(line)
    print(f"{len(found)} changes, {sum(seen.is_caught for seen in found.values())} seen, {len(told)} to look at")
    return int(bool(told))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Disagreement as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(1)
    except UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
