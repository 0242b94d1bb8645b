"""Audit mutations: `python -m entrycache_dev.audit_mutations` changes one value of one event and audits the copy.

Each value of each kind of event in a trace is changed in a few ways (`Change`). Hundreds of copies form one trace, a
broker each, and are audited at once by DuckDB, by its windows alone, and by replay, which must agree. The table of
detections is committed as audit_mutations.json; `audit_mutations.toml` explains changes that no rule detects.
"""

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

from entrycache_protocol import errors, files
from entrycache_spark.common.system import AUDITED, ops_with_cache
from entrycache_spark.folders import audit_folder
from entrycache_trace.files import Metadata, iterate_rows, list_parts, read_metadata, write_rows
from entrycache_trace.generators.generate import generate
from entrycache_trace.schema import ROW_SCHEMA

Row = dict[str, Any]

REQUIRED_COLUMNS: Final = tuple(column.name for column in ROW_SCHEMA if not column.nullable)
FAR_STEP: Final = 1_000
MAX_DOUBLED: Final = 1 << 51
UNCHANGED_COLUMNS: Final = frozenset({"seq", "value"})
"""Columns that are not changed: a `seq` twice is refused, a gap is reported; `value` is changed number by number."""


class Change(NamedTuple):
    """One way to change one column of events of one op and cause."""

    op: str
    cause: str | None
    column: str
    way: str

    @property
    def event(self) -> str:
        """The events, as the table names them."""
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
    """Return the value of the previous event of the same op."""
    own = (row[column] for row in reversed(rows[:at]) if row["op"] == rows[at]["op"])
    return next((other for other in own if other is not None and other != value), None)


def _renamed(value: Any, rows: Sequence[Row], at: int, column: str) -> Any:
    """Return another name of the same column."""
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
"""The functions that change a value; they return None if they cannot."""
WAYS: Final = (*VALUE_CHANGES, "swapped", "dropped")


def list_changes(rows: Sequence[Row], system: str) -> list[Change]:
    """Return all changes that the events of a trace allow, in a fixed order."""
    named = ops_with_cache(system)
    values = Counter(
        (row["op"], row["cause"], column)
        for row in rows
        for column, value in row.items()
        if value is not None and column not in UNCHANGED_COLUMNS and column != "broker"
    )
    kinds = sorted(values, key=str)
    return [
        Change(op, cause, column, way)
        for op, cause, column in kinds
        for way in WAYS
        if way != "dropped" or not (column in REQUIRED_COLUMNS or (column == "cache" and op in named))
    ]


def change_row(
    rows: Sequence[Row], change: Change, seed: int, named: frozenset[str] = frozenset()
) -> tuple[list[Row], int] | None:
    """Return a copy of the rows with one row changed, and its seq; None if no row can be changed this way.

    Events of the ops `named` must name a cache: an audit refuses a trace in which one does not.
    """
    fit = [
        at for at, row in enumerate(rows) if (row["op"], row["cause"]) == change[:2] and row[change.column] is not None
    ]
    random.Random(f"{seed} {change}").shuffle(fit)
    for at in fit:
        own = [dict(row) for row in rows]
        if _apply(own, at, change) and not any(row["op"] in named and row["cache"] is None for row in own):
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
    """Return the rows under another broker name."""
    return [{**row, "broker": broker} for row in rows]


# ---------- audits of the changed copies

MAX_ROWS: Final = 250_000
"""The maximum number of rows that are judged in one audit."""

BACKENDS: Final = ("local", "replay")


class BaseTrace(NamedTuple):
    """A trace to change: one that is generated with so many events, or a recorded folder."""

    system: str
    preset: str
    events: int
    folder: Path | None = None

    @property
    def name(self) -> str:
        """The name in the table."""
        return f"{self.system} {self.preset}"

    @property
    def metadata(self) -> Metadata:
        """The metadata of the trace and of its copies."""
        return Metadata(system=self.system) if self.folder is None else read_metadata(self.folder)


def recorded_trace(folder: Path) -> BaseTrace:
    """Return the base for a recorded trace."""
    return BaseTrace(read_metadata(folder).system, folder.name, 0, folder)


BASES: Final = tuple(
    BaseTrace(system, preset, events) for system, parts in AUDITED.items() for preset, events in parts.mutation_presets
)
SEED: Final = 7


class Detection(NamedTuple):
    """The answer to one change: the rules that name the changed event, those that name others, and if a note exists."""

    here: tuple[str, ...]
    there: tuple[str, ...]
    noted: bool

    @property
    def is_caught(self) -> bool:
        """True if a rule is violated."""
        return bool(self.here or self.there)


class Disagreement(Exception):
    """An error: two backends disagree about a trace."""


def read_base(base: BaseTrace) -> list[Row]:
    """Return the rows of a base, which has one broker."""
    with ExitStack() as stack:
        if base.folder is not None:
            return list(iterate_rows(list_parts(base.folder)))
        folder = Path(stack.enter_context(files.scratch_folder())) / "base"
        generate(base.preset, base.events, SEED, folder, 1)
        return list(iterate_rows(list_parts(folder)))


def judge_changes(
    base: BaseTrace,
    rows: Sequence[Row],
    changes: Sequence[Change],
    seed: int,
    backends: Sequence[str] = BACKENDS,
) -> Iterator[tuple[Change, Detection]]:
    """Audit the copy of each possible change, and yield its detection.

    Raises:
        Disagreement: two backends disagree; it names them and the first change.
    """
    many = max(1, MAX_ROWS // len(rows))
    for start in range(0, len(changes), many):
        numbered: dict[str, tuple[Change, int]] = {}
        copies: list[Row] = []
        for number, change in enumerate(changes[start : start + many]):
            copy = change_row(rows, change, seed, ops_with_cache(base.system))
            if copy is not None:
                numbered[f"{number:03}"] = (change, copy[1])
                copies += rename_broker(copy[0], f"{number:03}")
        if numbered:
            yield from _judge_batch(base, copies, numbered, backends)


def _judge_batch(
    base: BaseTrace,
    copies: Sequence[Row],
    numbered: Mapping[str, tuple[Change, int]],
    backends: Sequence[str],
) -> Iterator[tuple[Change, Detection]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(files.scratch_folder())) / "trace"
        write_rows(folder, base.metadata, copies)
        said = {name: _audit_copies(folder, name) for name in backends}
    first, *others = said
    for name in others:
        for broker, (change, seq) in numbered.items():
            if said[name][0][broker] != said[first][0][broker]:
                apart = sorted(said[name][0][broker] ^ said[first][0][broker])
                raise Disagreement(f"{base.system}, {change}, seq {seq}: {first} and {name} differ in {apart}")
    violations, notes = said[first]
    for broker, (change, seq) in numbered.items():
        here = tuple(sorted(rule for rule, at in violations[broker] if at == seq))
        there = tuple(sorted({rule for rule, _ in violations[broker]} - set(here)))
        yield change, Detection(here, there, any(f"broker '{broker}'" in note for note in notes))


def _audit_copies(folder: Path, backend: str) -> tuple[defaultdict[str, set[tuple[str, int]]], tuple[str, ...]]:
    result = audit_folder(folder, backend)
    violations: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in result.violations:
        violations[row.broker].add((row.rule, row.seq))
    return violations, result.notes


# ---------- the table of detections

Table = dict[tuple[str, Change], Detection]
"""The detections, by trace (system and preset) and change."""


class Reason(NamedTuple):
    """The reason why some changes are detected by no rule; an empty part matches everything."""

    id: str
    why: str
    columns: tuple[str, ...]
    ways: tuple[str, ...]
    events: tuple[str, ...]
    systems: tuple[str, ...]

    def fits(self, system: str, change: Change) -> bool:
        """Return whether a change belongs to this class."""
        return (
            (not self.columns or change.column in self.columns)
            and (not self.ways or change.way in self.ways)
            and (not self.events or change.op in self.events or change.event in self.events)
            and (not self.systems or system in self.systems)
        )


def load_reasons() -> tuple[Reason, ...]:
    """Load all reasons, in the order in which they are tried."""
    items = tomllib.loads(Path(__file__).with_name("audit_mutations.toml").read_text(encoding="utf-8"))["reason"]
    names = ("columns", "ways", "events", "systems")
    return tuple(Reason(item["id"], item["why"], *(tuple(item.get(name, ())) for name in names)) for item in items)


def find_reason(system: str, change: Change, known: Sequence[Reason]) -> str | None:
    """Return the id of the first reason that fits."""
    return next((reason.id for reason in known if reason.fits(system, change)), None)


def system_of(trace: str) -> str:
    """Return the system of a trace of the table."""
    return trace.partition(" ")[0]


def unexplained_changes(lines: Mapping[tuple[str, Change], Detection]) -> list[tuple[str, Change]]:
    """Return the changes that no rule detects and no reason explains."""
    known = load_reasons()
    return [
        (trace, change)
        for (trace, change), detection in lines.items()
        if not detection.is_caught and find_reason(system_of(trace), change, known) is None
    ]


def table_to_json(lines: Mapping[tuple[str, Change], Detection]) -> str:
    """Return the table as JSON for the repository."""
    traces: dict[str, dict[str, list[list[str]]]] = {}
    for (trace, change), detection in sorted(lines.items(), key=str):
        key = " / ".join((change.op, change.cause or "", change.column, change.way))
        traces.setdefault(trace, {})[key] = [list(detection.here), list(detection.there)]
    parts = []
    for trace, changes in traces.items():
        detections = (f"  {json.dumps(key)}: {json.dumps(own)}" for key, own in changes.items())
        parts.append(f" {json.dumps(trace)}: {{\n" + ",\n".join(detections) + "\n }")
    return '{"schema": 1, "traces": {\n' + ",\n".join(parts) + "\n}}\n"


def table_from_json(text: str) -> Table:
    """Parse the table from JSON."""
    table: Table = {}
    for trace, changes in json.loads(text)["traces"].items():
        for key, (here, there) in changes.items():
            op, cause, column, way = key.split(" / ")
            table[trace, Change(op, cause or None, column, way)] = Detection(tuple(here), tuple(there), False)
    return table


_PAGE_HEAD: Final = """# Audit mutations: which rule detects which changed value

`python -m entrycache_dev.audit_mutations` changes one value of one event of a generated trace, for each column of each
kind of event, and audits the copy by backend `local` and by replay. Both must give the same answer. With `--write` it
writes `conformance/entrycache_dev/audit_mutations.json`, from which this page is rendered. A cell names the violated
rules: in **bold** if they name the changed event, else they name another event that shows the change. A word in
*italics* says why no rule is violated.

Some changes need no audit: a null in `seq`, `ts_ns`, `op` or `bytes_after`, an event without the cache that it is about
and a duplicate `seq` are refused. A missing row is a gap, which makes the rules that it may affect inconclusive.
"""


def render_page(lines: Mapping[tuple[str, Change], Detection]) -> str:
    """Render the table as a Markdown page."""
    known, caught = load_reasons(), sum(detection.is_caught for detection in lines.values())
    named = sum(bool(detection.here) for detection in lines.values())
    summary = f"{len(lines)} changes: {caught} are detected, {named} of them at the changed event"
    text = [_PAGE_HEAD, f"{summary}; {len(unexplained_changes(lines))} are unexplained.", ""]
    text += [f"- *{reason.id}*: {reason.why}." for reason in known]
    for trace in dict.fromkeys(trace for trace, _ in lines):
        own = {change: detection for (name, change), detection in lines.items() if name == trace}
        text += ["", f"## {trace}", "", f"| event | column | {' | '.join(WAYS)} |", f"|---|---|{'---|' * len(WAYS)}"]
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for change, detection in own.items():
            rows.setdefault((change.event, change.column), {})[change.way] = _table_entry(
                trace, change, detection, known
            )
        for (event, column), cells in rows.items():
            text.append(f"| {event} | `{column}` | {' | '.join(cells.get(way, '') for way in WAYS)} |")
    return "\n".join(text) + "\n"


def _table_entry(trace: str, change: Change, detection: Detection, known: Sequence[Reason]) -> str:
    if detection.is_caught:
        return ", ".join((*_bold(detection.here), *detection.there))
    return f"*{find_reason(system_of(trace), change, known) or 'HOLE'}*"


def _bold(rules: Iterable[str]) -> list[str]:
    return [f"**{rule}**" for rule in rules]


# ---------- the command

TABLE: Final = Path(__file__).with_suffix(".json")


def committed_table() -> Table:
    """Return the table as committed."""
    return table_from_json(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}


def render_committed() -> str:
    """Render the site's page of the committed table."""
    return render_page(committed_table())


def detect_changes(bases: Sequence[BaseTrace], sample: int | None, seed: int) -> Table:
    """Return the detections of all changes, or of a sample of each trace."""
    table: Table = {}
    for base in bases:
        rows = read_base(base)
        changes = list_changes(rows, base.system)
        if sample is not None:
            changes = random.Random(seed).sample(changes, min(sample, len(changes)))
        for change, detection in judge_changes(base, rows, changes, SEED):
            table[base.name, change] = detection
        if sys.stderr.isatty():
            print(f"{base.preset}: {len(table)} changes", file=sys.stderr)
    return table


def changed_detections(table: Table, former: Table) -> list[str]:
    """Describe the changes that are detected differently from the table."""
    return [
        f"{trace}, {change}: {detection.here} {detection.there}, the table says {former[trace, change][:2]}"
        for (trace, change), detection in table.items()
        if (trace, change) in former and former[trace, change][:2] != detection[:2]
    ]


def main() -> int:
    """Run the command; return 1 if backends disagree, a change is unexplained, or the table says otherwise."""
    parser = argparse.ArgumentParser(prog="python -m entrycache_dev.audit_mutations", description=__doc__)
    parser.add_argument("--sample", type=int, help="test this many changes of each trace instead of all")
    parser.add_argument("--seed", type=int, default=1, help="the seed that selects them")
    parser.add_argument(
        "--trace", type=Path, help="test a recorded trace of a few thousand events instead of those of the table"
    )
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    arguments = parser.parse_args()
    bases = BASES if arguments.trace is None else (recorded_trace(arguments.trace),)
    table = detect_changes(bases, arguments.sample, arguments.seed)
    if arguments.write and arguments.trace is None:
        files.write_text(TABLE, table_to_json(table))
    problems = [
        f"{trace}, {change}: detected by no rule" for trace, change in unexplained_changes(table)
    ] + changed_detections(table, committed_table())
    for line in problems:
        print(line)
    detected = sum(detection.is_caught for detection in table.values())
    print(f"{len(table)} changes, {detected} detected, {len(problems)} to look at")
    return int(bool(problems))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Disagreement as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(1)
    except errors.UsageError as error:
        print(f"entrycache: {error}", file=sys.stderr)
        sys.exit(2)
