"""A failure as data: the one object behind its text, its JSON and every page about it.

A `Failure` names the broken rules, the case file and the failing step. It carries a `Table` of the steps, with the
state before and after the failing one. `build_case_table` makes the table of a case. `build_history_table` makes that
of a history of several threads. Both objects are written to the result stream and read back; the `*_SHAPE` constants
are their JSON Schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from entrycache_conformance.judge import Coverage, run_reference
from entrycache_protocol import codec, subject
from entrycache_protocol.case import Case, History, config_to_json, variants_to_json
from entrycache_protocol.strict_json import COUNT, TEXT, TEXTS, list_shape, object_shape
from entrycache_protocol.system import AnySystem, Lane
from entrycache_reference.rules import BrokenPromise, Rule


class FailingHistory(NamedTuple):
    """A history that breaks a promise: the rules, the likeliest first, and the evidence.

    `said` describes the failure. `break_` is the step that shows it, or `failed` says how the history failed to answer.
    It failed `times` of `tries` times.
    """

    history: History
    rules: tuple[Rule, ...]
    said: str
    break_: BrokenPromise | None
    failed: subject.FailedRun | None
    tries: int = 1
    times: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text. `bad` is the row that shows the failure; None: no single row does.

    `config` holds the settings of the case that are not the default. `wrong` is the wrong column of the bad row; None
    means the whole row. For cases, `before` and `after` draw the expected state around that row.
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
        """Return the object in the result stream, without absent parts."""
        value = asdict(self) | {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}
        for name in ("before", "after"):
            lanes: tuple[Lane, ...] = getattr(self, name)
            value[name] = [{"name": lane.name, "boxes": [list(box) for box in lane.boxes]} for lane in lanes]
        return {name: part for name, part in value.items() if part not in (None, [], "") or name in ("columns", "rows")}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Table:
        """Read the table from such an object."""
        rows = tuple(tuple(row) for row in value["rows"])
        before, after = (tuple(map(_read_lane, value.get(name, ()))) for name in ("before", "after"))
        columns, config = tuple(value["columns"]), value.get("config", "")
        return cls(value["title"], columns, rows, config, value.get("bad"), value.get("wrong"), before, after)


_LANES_SHAPE: Final = list_shape(
    object_shape({"name": TEXT, "boxes": list_shape({**TEXTS, "minItems": 2, "maxItems": 2})})
)
TABLE_SHAPE: Final = object_shape(
    {
        "title": TEXT,
        "columns": TEXTS,
        "rows": list_shape(TEXTS),
        "config": TEXT,
        **dict.fromkeys(("bad", "wrong"), COUNT),
        **dict.fromkeys(("before", "after"), _LANES_SHAPE),
    },
    *("config", "bad", "wrong", "before", "after"),
)
"""The JSON Schema of what `Table.from_json` reads."""


def _read_lane(value: Mapping[str, Any]) -> Lane:
    return Lane(value["name"], tuple((text, mark) for text, mark in value["boxes"]))


NO_STEP: Final = "(none: a run with this configuration is enough)"
"""The text in place of an operation for a case that fails without any step."""


class _StateText(NamedTuple):
    """The parts of a state that a table shows, under one heading."""

    name: str
    text: Any
    lanes: Any


def _state_text(system: AnySystem, case: Case) -> _StateText:
    """Return the part of the state that every case shows, and the parts of the levels whose operations the case has."""
    text = system.text
    levels = {op.level for run in (*case.earlier, case) for op in run.steps}
    parts = tuple({part.name: part for level, part in text.at_level.items() if level in levels}.values())
    names = [text.name, *(part.name for part in parts)]

    def state_text(state: Any) -> str:
        return "\n".join([text.state(state), *(part.state(state) for part in parts)])

    def state_lanes(state: Any) -> tuple[Lane, ...]:
        return (*text.lanes(state), *(lane for part in parts for lane in part.lanes(state)))

    return _StateText(" and ".join(names), state_text, state_lanes)


def build_case_table(failing: subject.FailingCase, rules: tuple[str, ...]) -> Table:
    """Build the table of a case, one step per line. The last line shows where subject and reference differ."""
    case, difference = failing.case, failing.difference
    system, names, state_text = case.system, ", ".join(rules), _state_text(case.system, case)
    verb = "is broken" if len(rules) == 1 else "are broken"
    rows = [row for number, run in enumerate(case.earlier, 1) for row in _earlier_run_rows(run, number, state_text)]
    state = before = after = system.model.initial(case.config)
    write = system.wire.write_outcome
    for index, (op, done) in enumerate(zip(case.steps[: difference.at + 1], failing.path, strict=False)):
        bad = index == difference.at
        expected = codec.format_json(
            write(difference.expected if bad and difference.expected is not None else done.outcome)
        )
        got = codec.format_json(subject.answer_to_json(system, difference)) if bad else expected
        rule = names if bad else (done.rows[-1].rule.value if done.rows else "")
        rows.append(
            (str(index), _step_text(op), expected, got, rule, state_text.text(state), state_text.text(done.state))
        )
        before, after, state = state, done.state, done.state
    if not case.steps:  # it fails before the first one
        nothing = state_text.text(state)
        rows.append(
            ("", NO_STEP, "", codec.format_json(subject.answer_to_json(system, difference)), names, nothing, nothing)
        )
    columns = ("step", "op", "expected", "got", "rule", f"{state_text.name} before", f"{state_text.name} after")
    title = f"{names} {verb} at step {difference.at}" if case.steps else f"{names} {verb} before any step"
    bad_row = len(rows) - 1 if rows else None
    config = _config_text(system, case.config, case.omitted)
    return Table(title, columns, tuple(rows), config, bad_row, 3, state_text.lanes(before), state_text.lanes(after))


def _config_text(system: AnySystem, config: Any, omitted: Sequence[str] = ()) -> str:
    """Return the settings and variants that are not the default, as they stand in a case file."""
    usual = config_to_json(system, system.model.config())
    own = {name: value for name, value in config_to_json(system, config).items() if value != usual[name]}
    parts = [f"{name}={codec.format_json(value)}" for name, value in (own | variants_to_json(config)).items()]
    return "  ".join(parts + ([f"not sent: {', '.join(omitted)}"] if omitted else []))


def _step_text(op: Any) -> str:
    return f"{type(op).name}  {codec.format_arguments(op)}"


def _earlier_run_rows(run: Case, number: int, state_text: _StateText) -> Iterator[tuple[str, ...]]:
    """Yield the lines of an earlier run. Its answers were right, so they stand in both columns."""
    state = run.system.model.initial(run.config)
    if not run.steps:  # that there is such a run is enough
        yield f"earlier run {number}", "(no step)", "", "", "", state_text.text(state), state_text.text(state)
    for index, (op, done) in enumerate(zip(run.steps, run_reference(run, Coverage()), strict=True)):
        answer = codec.format_json(run.system.wire.write_outcome(done.outcome))
        rule = done.rows[-1].rule.value if done.rows else ""
        name = f"earlier run {number}, step {index}"
        yield name, _step_text(op), answer, answer, rule, state_text.text(state), state_text.text(done.state)
        state = done.state


def build_history_table(failing: FailingHistory) -> Table:
    """Build the table of a history, one step per line in the order of starts; one that did not end has no ticks."""
    history = failing.history
    names = ", ".join(rule.value for rule in failing.rules)
    events = {(event["client"], event["step"]): event for event in history.events}
    event = None if failing.break_ is None else failing.break_.event
    lines: list[tuple[int, tuple[str, ...], bool]] = []
    for client, steps in history.parts():
        name = "before" if client < 0 else "after" if client == len(history.clients) else str(client)
        for index, op in enumerate(steps):
            event_json: dict[str, Any] = events.get((client, index), {})
            answer = codec.format_json(event_json["outcome"]) if event_json else ""
            ticks = (str(event_json["start"]), str(event_json["end"])) if event_json else ("", "")
            bad = event is not None and (event.client, event.step) == (client, index)
            lines.append((event_json.get("start", len(lines)), (name, str(index), *ticks, _step_text(op), answer), bad))
    lines.sort(key=lambda line: line[0])
    bad_row = next((index for index, (_, _, bad) in enumerate(lines) if bad), None)
    title = f"{names} is broken by a history of {len(history.clients)} clients"
    columns = ("client", "step", "from", "to", "op", "answer")
    config = _config_text(history.system, history.config)
    return Table(title, columns, tuple(cells for _, cells, _ in lines), config, bad_row)


OPTIONAL_TEXTS: Final = ("level", "replay", "log", "finding", "unconfirmed", "hint")
"""The keys of a failure's object that are absent if they are empty."""


@dataclass(frozen=True, slots=True)
class Schedules:
    """The parts that only a failure of several threads has: it failed `times` of `tries` times.

    `said` describes the failure. If it is `proved`, once is enough.
    """

    said: str
    clients: int
    tries: int
    times: int
    proved: bool

    @property
    def in_words(self) -> str:
        """The description of the failure and its frequency."""
        return f"{self.said} ({self.times} of {self.tries} tries)"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure: the broken rules, the likeliest first, the case file, and the failing step.

    `repeats` says that it failed again on a fresh process, and `earlier` how many runs in the file must come before it.
    `level` is the level that failed. `table` holds its steps, `replay` the command that plays it again, and `log` the
    cause that the subject named on stderr. `finding` is the finding whose own case it is. `unconfirmed` says why no
    fresh process could play it. `hint` says how the subject may be right after all.

    Two fields are not in the JSON: `source`, the failing case or history, and `unwritten`, the reason for a missing
    file (`case` is then empty).
    """

    rules: tuple[str, ...]
    case: str
    step: int
    expected: Any
    got: Any
    steps: int
    schedules: Schedules | None = None
    repeats: bool = True
    earlier: int = 0
    level: str = ""
    table: Table | None = None
    replay: str = ""
    log: str = ""
    finding: str = ""
    unconfirmed: str = ""
    hint: str = ""
    source: subject.FailingCase | FailingHistory | None = field(default=None, compare=False, repr=False)
    unwritten: str = field(default="", compare=False)

    @property
    def failing_case(self) -> Case | None:
        """The case that fails; None for a failure of several threads."""
        return self.source.case if isinstance(self.source, subject.FailingCase) else None

    def to_json(self) -> dict[str, Any]:
        """Return the object of the failure in `--json`."""
        return {
            "rule": self.rules[0],
            "rules": list(self.rules),
            "case": self.case,
            "step": self.step,
            "expected": self.expected,
            "got": self.got,
            "steps": self.steps,
            **({} if self.repeats else {"repeats": False}),
            **({"earlier": self.earlier} if self.earlier else {}),
            **({} if self.schedules is None else asdict(self.schedules)),
            **{name: value for name in OPTIONAL_TEXTS if (value := getattr(self, name))},
            **({} if self.table is None else {"table": self.table.to_json()}),
        }

    @classmethod
    def of(cls, failing: subject.FailingCase, rules: tuple[str, ...], case: str, unwritten: str = "") -> Failure:
        """Build the failure of a case that was written to the file `case`."""
        difference, system = failing.difference, failing.case.system
        expected, got = subject.expected_to_json(system, difference), subject.answer_to_json(system, difference)
        steps, earlier = len(failing.case.steps), len(failing.case.earlier)
        at = difference.at
        return cls(
            *(rules, case, at, expected, got, steps, None, failing.repeats, earlier),
            table=build_case_table(failing, rules),
            log="" if difference.failed is None else "\n".join(difference.failed.log),
            unconfirmed=failing.unconfirmed,
            source=failing,
            unwritten=unwritten,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Failure:
        """Read the failure from such an object."""
        fields = (value["case"], value["step"], value["expected"], value["got"], value["steps"])
        schedules = (
            Schedules(**{name: value[name] for name in Schedules.__dataclass_fields__}) if "clients" in value else None
        )
        table = Table.from_json(value["table"]) if "table" in value else None
        more = {name: value.get(name, "") for name in OPTIONAL_TEXTS}
        repeats, earlier = value.get("repeats", True), value.get("earlier", 0)
        return cls(tuple(value["rules"]), *fields, schedules, repeats, earlier, table=table, **more)


_SCHEDULES: Final = {"said": TEXT, "clients": COUNT, "tries": COUNT, "times": COUNT, "proved": {"type": "boolean"}}
_FAILURE: Final = object_shape(
    {
        **{"case": TEXT, "step": COUNT, "expected": {}, "got": {}, "steps": COUNT, "rules": {**TEXTS, "minItems": 1}},
        **{"repeats": {"type": "boolean"}, "earlier": COUNT, "table": TABLE_SHAPE},
        **dict.fromkeys(OPTIONAL_TEXTS, TEXT),
    },
    *("repeats", "earlier", "table", *OPTIONAL_TEXTS),
)
FAILURE_SHAPE: Final = _FAILURE | {"dependentSchemas": {"clients": object_shape(_SCHEDULES)}}
"""The JSON Schema of what `Failure.from_json` reads."""
