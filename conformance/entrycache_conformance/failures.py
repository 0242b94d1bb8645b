"""A failure as a run tells it: the one object that its text, its JSON and every page are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from entrycache_conformance.concurrent.search import Found
from entrycache_conformance.table import SHAPE as TABLE
from entrycache_conformance.table import Table, table_of_case
from entrycache_protocol.failure import FailingCase, expected_json, got_json
from entrycache_protocol.shape import COUNT, TEXT, TEXTS, record

TEXTS_MORE: Final = ("level", "replay", "log", "finding", "unconfirmed")
"""Keys of its object that are absent where they are empty."""


@dataclass(frozen=True, slots=True)
class Schedules:
    """What only failures of several threads have: it failed `times` of `tries` times.

    `said` is the failure in words; `proved`: that it needs no second time.
    """

    said: str
    clients: int
    tries: int
    times: int
    proved: bool

    @property
    def in_words(self) -> str:
        """What happened, and how often."""
        return f"{self.said} ({self.times} of {self.tries} tries)"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure: the rules it breaks, the likeliest first, the file of its case, and the step that shows it.

    `repeats`: it failed once more on a fresh process; `earlier`: after so many runs, which stand in the file. `level`
    is where it was found, `table` its steps, `replay` the line that plays it again, `log` the telling part of what the
    subject has said on stderr, `finding` the one whose own case it is, `unconfirmed` why no fresh process played it.
    `found` is what the search has found, `unwritten` why there is no file (then `case` is empty); JSON has neither.
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
    found: FailingCase | Found | None = field(default=None, compare=False, repr=False)
    unwritten: str = field(default="", compare=False)

    def to_json(self) -> dict[str, Any]:
        """Its object in the contract."""
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
            **{name: value for name in TEXTS_MORE if (value := getattr(self, name))},
            **({} if self.table is None else {"table": self.table.to_json()}),
        }

    @classmethod
    def of(cls, failing: FailingCase, rules: tuple[str, ...], case: str, unwritten: str = "") -> Failure:
        """The failure of a case that stands in that file."""
        difference, system = failing.difference, failing.case.system
        expected, got = expected_json(system, difference), got_json(system, difference)
        steps, earlier = len(failing.case.steps), len(failing.case.earlier)
        at = difference.at
        return cls(
            *(rules, case, at, expected, got, steps, None, failing.repeats, earlier),
            table=table_of_case(failing, rules),
            log="" if difference.failed is None else "\n".join(difference.failed.log),
            unconfirmed=failing.unconfirmed,
            found=failing,
            unwritten=unwritten,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Failure:
        """The failure of such an object."""
        fields = (value["case"], value["step"], value["expected"], value["got"], value["steps"])
        schedules = (
            Schedules(**{name: value[name] for name in Schedules.__dataclass_fields__}) if "clients" in value else None
        )
        table = Table.from_json(value["table"]) if "table" in value else None
        more = {name: value.get(name, "") for name in TEXTS_MORE}
        repeats, earlier = value.get("repeats", True), value.get("earlier", 0)
        return cls(tuple(value["rules"]), *fields, schedules, repeats, earlier, table=table, **more)


_SCHEDULES: Final = {"said": TEXT, "clients": COUNT, "tries": COUNT, "times": COUNT, "proved": {"type": "boolean"}}
_FAILURE: Final = record(
    {
        **{"case": TEXT, "step": COUNT, "expected": {}, "got": {}, "steps": COUNT, "rules": {**TEXTS, "minItems": 1}},
        **{"repeats": {"type": "boolean"}, "earlier": COUNT, "table": TABLE},
        **dict.fromkeys(TEXTS_MORE, TEXT),
    },
    *("repeats", "earlier", "table", *TEXTS_MORE),
)
SHAPE: Final = _FAILURE | {"dependentSchemas": {"clients": record(_SCHEDULES)}}
"""What `Failure.from_json` reads, as JSON Schema."""
