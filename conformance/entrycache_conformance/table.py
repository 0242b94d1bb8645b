"""A failure as a table: data that every text and page of it is made from, and that the result stream carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.search import Found
from entrycache_conformance.judge import Coverage, trajectory
from entrycache_protocol.case import Case, config_to_json, variants_to_json
from entrycache_protocol.failure import FailingCase, got_json
from entrycache_protocol.shape import COUNT, TEXT, TEXTS, many, record
from entrycache_protocol.system import AnySystem, Lane
from entrycache_protocol.text import arguments, compact


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under columns. `bad` is the row that shows the failure; None: no single one does.

    `config` are the settings of the case that are not the default. `wrong` is the column of that row that is wrong;
    None: the whole row. `before` and `after` draw the state around that row as it should be, for cases.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    config: str = ""
    bad: int | None = None
    wrong: int | None = None
    before: tuple[Lane, ...] = ()
    after: tuple[Lane, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Its object in the result stream; what is absent is left out."""
        value = asdict(self) | {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}
        for name in ("before", "after"):
            lanes: tuple[Lane, ...] = getattr(self, name)
            value[name] = [{"name": lane.name, "boxes": [list(box) for box in lane.boxes]} for lane in lanes]
        return {name: part for name, part in value.items() if part not in (None, [], "") or name in ("columns", "rows")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Table:
        """The table of such an object."""
        rows = tuple(tuple(row) for row in value["rows"])
        before, after = (tuple(map(_lane, value.get(name, ()))) for name in ("before", "after"))
        columns, config = tuple(value["columns"]), value.get("config", "")
        return cls(value["title"], columns, rows, config, value.get("bad"), value.get("wrong"), before, after)


_LANES: Final = many(record({"name": TEXT, "boxes": many({**TEXTS, "minItems": 2, "maxItems": 2})}))
SHAPE: Final = record(
    {
        "title": TEXT,
        "columns": TEXTS,
        "rows": many(TEXTS),
        "config": TEXT,
        **dict.fromkeys(("bad", "wrong"), COUNT),
        **dict.fromkeys(("before", "after"), _LANES),
    },
    *("config", "bad", "wrong", "before", "after"),
)
"""What `Table.from_json` reads, as JSON Schema."""


def _lane(value: Mapping[str, Any]) -> Lane:
    return Lane(value["name"], tuple((text, mark) for text, mark in value["boxes"]))


NO_STEP: Final = "(none: a run with this configuration is enough)"
"""What stands for the operation of a case that fails without one."""


class _Shown(NamedTuple):
    """Which parts of a state a table shows, under one heading."""

    name: str
    text: Any
    lanes: Any


def _shown(system: AnySystem, case: Case) -> _Shown:
    """The part of the state that every case shows, and what operations of a level of its own are about."""
    text = system.text
    levels = {op.level for run in (*case.earlier, case) for op in run.steps}
    parts = [part for level, part in text.at_level.items() if level in levels]
    names = [text.name, *(part.name for part in parts)]

    def told(state: Any) -> str:
        return "\n".join([text.state(state), *(part.state(state) for part in parts)])

    def drawn(state: Any) -> tuple[Lane, ...]:
        return (*text.lanes(state), *(lane for part in parts for lane in part.lanes(state)))

    return _Shown(" and ".join(names), told, drawn)


def table_of_case(failing: FailingCase, rules: tuple[str, ...]) -> Table:
    """The shortest sequence, a step a line; the last line is where subject and reference part."""
    case, difference = failing.case, failing.difference
    system, names, shown = case.system, ", ".join(rules), _shown(case.system, case)
    verb = "is broken" if len(rules) == 1 else "are broken"
    rows = [row for number, run in enumerate(case.earlier, 1) for row in _right(run, number, shown)]
    state = before = after = system.model.initial(case.config)
    write = system.wire.write_outcome
    for index, (op, done) in enumerate(zip(case.steps[: difference.at + 1], failing.steps, strict=False)):
        bad = index == difference.at
        expected = compact(write(difference.expected if bad and difference.expected is not None else done.outcome))
        got = compact(got_json(system, difference)) if bad else expected
        rule = names if bad else (done.rows[-1].rule.value if done.rows else "")
        rows.append((str(index), _step(op), expected, got, rule, shown.text(state), shown.text(done.state)))
        before, after, state = state, done.state, done.state
    if not case.steps:  # it fails before the first one
        nothing = shown.text(state)
        rows.append(("", NO_STEP, "", compact(got_json(system, difference)), names, nothing, nothing))
    columns = ("step", "op", "expected", "got", "rule", f"{shown.name} before", f"{shown.name} after")
    title = f"{names} {verb} at step {difference.at}" if case.steps else f"{names} {verb} before any step"
    bad_row = len(rows) - 1 if rows else None
    config = _config(system, case.config)
    return Table(title, columns, tuple(rows), config, bad_row, 3, shown.lanes(before), shown.lanes(after))


def _config(system: AnySystem, config: Any) -> str:
    """The settings and variants that are not the default, as they stand in a case file."""
    usual = config_to_json(system, system.model.config())
    own = {name: value for name, value in config_to_json(system, config).items() if value != usual[name]}
    return "  ".join(f"{name}={compact(value)}" for name, value in (own | variants_to_json(config)).items())


def _step(op: Any) -> str:
    return f"{type(op).name}  {arguments(op)}"


def _right(run: Case, number: int, shown: _Shown) -> Iterator[tuple[str, ...]]:
    """The lines of a run that the failure needs before it; its answers were right, so they stand in both columns."""
    state = run.system.model.initial(run.config)
    if not run.steps:  # that there is such a run is enough
        yield f"earlier run {number}", "(no step)", "", "", "", shown.text(state), shown.text(state)
    for index, (op, done) in enumerate(zip(run.steps, trajectory(run, Coverage()), strict=True)):
        answer = compact(run.system.wire.write_outcome(done.outcome))
        rule = done.rows[-1].rule.value if done.rows else ""
        name = f"earlier run {number}, step {index}"
        yield name, _step(op), answer, answer, rule, shown.text(state), shown.text(done.state)
        state = done.state


def table_of_history(found: Found) -> Table:
    """One line a step, between its two ticks, in the order of the starts; a history that did not end has none."""
    history = found.history
    names = ", ".join(rule.value for rule in found.rules)
    events = {(event["client"], event["step"]): event for event in history.events}
    event = None if found.break_ is None else found.break_.event
    lines: list[tuple[int, tuple[str, ...], bool]] = []
    for client, steps in history.parts():
        name = "before" if client < 0 else "after" if client == len(history.clients) else str(client)
        for index, op in enumerate(steps):
            told: dict[str, Any] = events.get((client, index), {})
            shown = compact(told["outcome"]) if told else ""
            ticks = (str(told["start"]), str(told["end"])) if told else ("", "")
            bad = event is not None and (event.client, event.step) == (client, index)
            lines.append((told.get("start", len(lines)), (name, str(index), *ticks, _step(op), shown), bad))
    lines.sort(key=lambda line: line[0])
    bad_row = next((index for index, (_, _, bad) in enumerate(lines) if bad), None)
    title = f"{names} is broken by a history of {len(history.clients)} clients"
    columns = ("client", "step", "from", "to", "op", "answer")
    config = _config(history.system, history.config)
    return Table(title, columns, tuple(cells for _, cells, _ in lines), config, bad_row)
