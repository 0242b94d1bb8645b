"""The table of what is seen of changed traces, and the reasons of what is not, as data."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from entrycache_spark.mutations.changes import WAYS, Change
from entrycache_spark.mutations.judged import Seen

Lines = dict[tuple[str, Change], Seen]
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


def reasons() -> tuple[Reason, ...]:
    """All of them, in the order in which they are asked."""
    told = tomllib.loads(Path(__file__).with_name("audit_mutations.toml").read_text(encoding="utf-8"))["reason"]
    names = ("columns", "ways", "events", "systems")
    return tuple(Reason(item["id"], item["why"], *(tuple(item.get(name, ())) for name in names)) for item in told)


def reason_of(system: str, change: Change, known: Sequence[Reason]) -> str | None:
    """The id of the first reason that fits."""
    return next((reason.id for reason in known if reason.fits(system, change)), None)


def system_of(trace: str) -> str:
    """The system of a trace of the table."""
    return trace.partition(" ")[0]


def holes(lines: Mapping[tuple[str, Change], Seen]) -> list[tuple[str, Change]]:
    """What no rule sees, and no reason explains."""
    known = reasons()
    return [
        (trace, change)
        for (trace, change), seen in lines.items()
        if not seen.is_caught and reason_of(system_of(trace), change, known) is None
    ]


def to_json(lines: Mapping[tuple[str, Change], Seen]) -> str:
    """The table as it is committed."""
    told: dict[str, dict[str, list[list[str]]]] = {}
    for (trace, change), seen in sorted(lines.items(), key=str):
        key = " / ".join((change.op, change.cause or "", change.column, change.way))
        told.setdefault(trace, {})[key] = [list(seen.here), list(seen.there)]
    return json.dumps({"schema": 1, "traces": told}, indent=0) + "\n"


def from_json(text: str) -> Lines:
    """The table that was committed."""
    found: Lines = {}
    for trace, told in json.loads(text)["traces"].items():
        for key, (here, there) in told.items():
            op, cause, column, way = key.split(" / ")
            found[trace, Change(op, cause or None, column, way)] = Seen(tuple(here), tuple(there), False)
    return found


_HEAD: Final = """# What an audit sees of one changed value

Written by `python -m entrycache_spark.mutations --write`: one value of one event of a recorded trace is changed, in
each column of each kind of event, and the copy is audited by engine local (with witnesses, and by its windows alone)
and by replay, which have to say the same. A cell names the rules that are violated: **bold** where they name the very
event, else at another one that shows it; a word in italics says why none is.

Without being asked: a null in `seq`, `ts_ns`, `op` or `bytes_after` and a `seq` twice are refused; a row left out is a
gap, and makes what it could change inconclusive.
"""


def page(lines: Mapping[tuple[str, Change], Seen]) -> str:
    """The table as people read it."""
    known, caught = reasons(), sum(seen.is_caught for seen in lines.values())
    named = sum(bool(seen.here) for seen in lines.values())
    told = f"{len(lines)} changes: {caught} are seen, {named} of them at the very event"
    text = [_HEAD, f"{told}; {len(holes(lines))} are not explained.", ""]
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


def _cell(trace: str, change: Change, seen: Seen, known: Sequence[Reason]) -> str:
    if seen.is_caught:
        return ", ".join((*_bold(seen.here), *seen.there))
    return f"*{reason_of(system_of(trace), change, known) or 'HOLE'}*"


def _bold(rules: Iterable[str]) -> list[str]:
    return [f"**{rule}**" for rule in rules]
