"""What a conformance run says: the one object that its text, its JSON and every other form are made from.

The shape of `to_json` is a contract; `from_json` reads what it has written. A report that was read back lacks the
failing cases themselves, whose files it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from entrycache_conformance.concurrent.search import Found
from entrycache_protocol import verdict
from entrycache_protocol.failure import FailingCase, expected_json, got_json
from entrycache_protocol.shape import COUNT, TEXT, TEXTS, each, many, record
from entrycache_protocol.verdict import Verdict

SCHEMA: Final = 1


class Skip(NamedTuple):
    """Something that was not checked, and why."""

    what: str
    reason: str


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

    `repeats`: it failed once more on a fresh process; `earlier`: after so many runs, which stand in the file. `found`
    is what the search has found, `unwritten` why there is no file (then `case` is empty); JSON has neither.
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
        }

    @classmethod
    def of(cls, failing: FailingCase, rules: tuple[str, ...], case: str, unwritten: str = "") -> Failure:
        """The failure of a case that stands in that file."""
        difference, system = failing.difference, failing.case.system
        expected, got = expected_json(system, difference), got_json(system, difference)
        steps, earlier = len(failing.case.steps), len(failing.case.earlier)
        at = difference.at
        return cls(rules, case, at, expected, got, steps, None, failing.repeats, earlier, failing, unwritten)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Failure:
        """The failure of such an object."""
        fields = (value["case"], value["step"], value["expected"], value["got"], value["steps"])
        schedules = _read(Schedules, value) if "clients" in value else None
        return cls(tuple(value["rules"]), *fields, schedules, value.get("repeats", True), value.get("earlier", 0))


@dataclass(frozen=True, slots=True)
class Threads:
    """What only the level of threads counts; a search for an order enters at most `states_max` states."""

    histories: int
    threads: int
    inconclusive: int
    states_max: int


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level: what was judged, the verdict, and the operations that the subject does not offer."""

    examples: int = 0
    steps: int = 0
    verdict: Verdict = Verdict.NOTHING_CHECKED
    missing: tuple[str, ...] = ()
    threads: Threads | None = None

    def to_json(self) -> dict[str, Any]:
        """Its object in the contract."""
        return {
            "examples": self.examples,
            "steps": self.steps,
            "verdict": self.verdict.value,
            "missing": list(self.missing),
            **({} if self.threads is None else asdict(self.threads)),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LevelReport:
        """The level of such an object."""
        threads = _read(Threads, value) if "histories" in value else None
        judged = Verdict(value["verdict"])
        return cls(value["examples"], value["steps"], judged, tuple(value["missing"]), threads)


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run of one subject; `source` is what it says of itself. `rules`: how often each fired; `cells` the same."""

    subject: str
    source: Any
    system: str
    levels: Mapping[str, LevelReport]
    rules: Mapping[str, int]
    cells: Mapping[str, int]
    failures: tuple[Failure, ...]
    skipped: tuple[Skip, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all levels."""
        return verdict.of(level.verdict for level in self.levels.values())

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "schema": SCHEMA,
            "subject": self.subject,
            "source": self.source,
            "system": self.system,
            "verdict": self.verdict.value,
            "levels": {name: level.to_json() for name, level in self.levels.items()},
            "rules": {rule: {"fired": count} for rule, count in self.rules.items()},
            "cells": dict(self.cells),
            "failures": [failure.to_json() for failure in self.failures],
            "skipped": [skip._asdict() for skip in self.skipped],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunReport:
        """The report of such an object, in which what tells of single rules and failures may be absent.

        It is one that fits `SHAPE`.
        """
        return cls(
            value["subject"],
            value.get("source"),
            value["system"],
            {name: LevelReport.from_json(level) for name, level in value["levels"].items()},
            {rule: told["fired"] for rule, told in value.get("rules", {}).items()},
            dict(value.get("cells", {})),
            tuple(Failure.from_json(failure) for failure in value.get("failures", ())),
            tuple(Skip(skip["what"], skip["reason"]) for skip in value.get("skipped", ())),
        )


_THREADS: Final = dict.fromkeys(Threads.__dataclass_fields__, COUNT)
_SCHEDULES: Final = {"said": TEXT, "clients": COUNT, "tries": COUNT, "times": COUNT, "proved": {"type": "boolean"}}
_LEVEL: Final = record(
    {"examples": COUNT, "steps": COUNT, "verdict": {"enum": [one.value for one in Verdict]}, "missing": TEXTS}
)
_FAILURE: Final = record(
    {"case": TEXT, "step": COUNT, "expected": {}, "got": {}, "steps": COUNT, "rules": {**TEXTS, "minItems": 1}}
    | {"repeats": {"type": "boolean"}, "earlier": COUNT},
    *("repeats", "earlier"),
)
SHAPE: Final = record(
    {
        "subject": TEXT,
        "system": TEXT,
        "levels": each(_LEVEL | {"dependentSchemas": {"histories": record(_THREADS)}}),
        "rules": each(record({"fired": COUNT})),
        "cells": each(COUNT),
        "failures": many(_FAILURE | {"dependentSchemas": {"clients": record(_SCHEDULES)}}),
        "skipped": many(record({"what": TEXT, "reason": TEXT})),
        "seed": {"type": "integer"},
    },
    *("rules", "cells", "failures", "skipped", "seed"),
)
"""What `RunReport.from_json` reads, as JSON Schema."""


def _read(kind: Any, value: Mapping[str, Any]) -> Any:
    """The dataclass of the keys that are its fields."""
    return kind(**{name: value[name] for name in kind.__dataclass_fields__})
