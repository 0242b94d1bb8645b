"""The failures of a run as people are told them: what several levels have found is one failure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from entrycache_conformance.failures import Failure
from entrycache_protocol.text import compact

ADDRESS: Final = re.compile(r"\b0x[0-9a-f]+|(?<=@)[0-9a-f]+\b")
"""Where something lies in memory: of Go's frames, of Java's objects; another one in every process."""


class Told(NamedTuple):
    """A failure, and the others that are the same one, as further levels have found it."""

    failure: Failure
    also: tuple[Failure, ...]


def told_once(failures: Iterable[Failure]) -> tuple[Told, ...]:
    """The failures in their order, each with those after it that are the same."""
    groups: dict[Any, list[Failure]] = {}
    for failure in failures:
        groups.setdefault(_what(failure), []).append(failure)
    return tuple(Told(group[0], tuple(group[1:])) for group in groups.values())


def _what(failure: Failure) -> Any:
    """What makes two failures the same: the rules they break; of a crash how it was, and what it said."""
    if isinstance(failure.got, dict) and "failed" in failure.got:
        said = ADDRESS.sub("", failure.log or str(failure.got.get("message")))
        return failure.got["failed"], said, failure.schedules is None
    return failure.rules, failure.finding, failure.schedules is None, failure.earlier > 0


def elsewhere(told: Told) -> str:
    """Where else it was found, with what replays it there; empty where nowhere."""
    places = [f"level {one.level or 'unknown'} ({one.case or 'no case file'})" for one in told.also]
    return f"the same failure was found at {', '.join(places)}" if places else ""


OWN_CASE = "the finding's own case: {}"
"""What is said of a failure that no search had to find."""

UNCONFIRMED = "not confirmed on a fresh process: {}"
"""What is said of a failure that could be met, and not met again."""

DEPENDS = "it depends on earlier runs: it fails after {} before it, which {} in the case file and above, and not alone"


def depends(runs: int) -> str:
    """What is told of a failure that needs the runs before it."""
    return DEPENDS.format(*(("the run", "stands") if runs == 1 else (f"the {runs} runs", "stand")))


def body(told: Told) -> str:
    """A failure as plain text: its table, what was expected and got, and how it is played again."""
    failure = told.failure
    lines = [] if failure.table is None else [failure.table.title]
    if failure.table is not None and failure.table.config:
        lines.append(f"config {failure.table.config}")
    for index, row in enumerate([] if failure.table is None else failure.table.rows):
        lines.append(f"{'>' if failure.table and index == failure.table.bad else ' '} {_one_line(row)}")
    lines += [f"expected: {compact(failure.expected)}", f"got:      {compact(failure.got)}"]
    lines += [failure.schedules.in_words] if failure.schedules is not None else []
    lines += [depends(failure.earlier)] if failure.earlier else []
    lines += [f"stderr: {line}" for line in failure.log.splitlines()]
    lines += [OWN_CASE.format(failure.finding)] if failure.finding else []
    lines += [UNCONFIRMED.format(failure.unconfirmed)] if failure.unconfirmed else []
    lines += [text for text in (elsewhere(told),) if text]
    lines += [f"case file: {failure.case}"] if failure.case else []
    lines += [f"replay it: {failure.replay}"] if failure.replay else []
    return "\n".join(lines)


def _one_line(row: tuple[str, ...]) -> str:
    """A row of a case: its step, its operation and what was expected; of a history: all."""
    cells = row[:3] if len(row) == CASE_COLUMNS else row
    return "  ".join(cell.replace("\n", "; ") for cell in cells)


CASE_COLUMNS = 7
"""A case has as many; the last ones tell the state."""
