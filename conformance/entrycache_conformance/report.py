"""The result of a conformance run: the one object behind its text, its JSON and every other format.

A `RunReport` holds a `LevelReport` per level, a `RuleReport` per rule at a level, the failures, and what was not
checked. The shape of `to_json` is a contract, and `from_json` reads what it has written. A report that was read back
has no failing cases, only the names of their files.

A run collects a `LevelResult` per level. `judge_rules` gives each rule its verdict, and `build_report` puts the results
together.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from entrycache_conformance.failure import FAILURE_SHAPE as FAILURE
from entrycache_conformance.failure import Failure
from entrycache_conformance.judge import MAX_PLAYED
from entrycache_protocol import errors
from entrycache_protocol.errors import Verdict
from entrycache_protocol.strict_json import COUNT, TEXT, TEXTS, list_shape, mapping_shape, object_shape

if TYPE_CHECKING:
    from entrycache_conformance.judge import Coverage
    from entrycache_protocol.declaration import Declaration
    from entrycache_protocol.subject import TestedSubject
    from entrycache_reference.rules import Rule

SCHEMA: Final = 1


def rule_order(rule: str) -> tuple[str, int]:
    """Return the sort key of a rule: its family by name, then its number."""
    family, _, number = rule.rpartition("-")
    return family, int(number)


class Exemption(NamedTuple):
    """Something that the verdict of a run does not cover: its kind, its name, and the reason."""

    kind: str
    what: str
    reason: str


WITH_EXCEPTIONS: Final = "conforms, with exceptions"
"""The word for a subject that conforms apart from what its exemptions leave out."""


class Skip(NamedTuple):
    """Something that was not checked, and the reason."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """The counts of the level of threads. A search for an order of the steps visits at most `states_max` states."""

    histories: int
    threads: int
    inconclusive: int
    states_max: int


class RuleReport(NamedTuple):
    """One rule at one level: the number of judged steps in which it fired, and the verdict.

    A rule that is not `detectable` has not been checked: with its seeded faults a subject would have given the same
    answers in the first `MAX_PLAYED` runs in which the rule fired. Otherwise the rule conforms if it fired and the
    level conforms. It also conforms if it fired as often as the profile demands before the search ended at a failure
    of another rule. It violates if a failure of the level names it.
    """

    fired: int
    verdict: Verdict
    detectable: bool = True

    @property
    def unchecked_reason(self) -> str:
        """The reason why the rule was not checked."""
        if not self.detectable:
            why = f"its seeded faults change no answer in the runs that were tried, at most {MAX_PLAYED}"
            return f"it fired in {self.fired} judged steps, but {why}"
        return f"it fired in {self.fired} judged steps, too few to say anything"

    def to_json(self) -> dict[str, Any]:
        """Return the object in `--json`."""
        value = {"fired": self.fired, "verdict": self.verdict.value}
        return value if self.detectable else {**value, "detectable": False}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RuleReport:
        """Read the rule from such an object."""
        return cls(value["fired"], Verdict(value["verdict"]), value.get("detectable", True))


@dataclass(frozen=True, slots=True)
class RunMetadata:
    """The metadata of a run: what repeats the same cases, the versions in use, and the duration."""

    seed: int
    profile: str
    search_name: str
    versions: Mapping[str, str]
    seconds: float | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the keys in `--json`."""
        value = {"engine" if name == "search_name" else name: part for name, part in asdict(self).items()}
        return {name: part for name, part in value.items() if part is not None}


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level: the counts, the verdict, and the operations that the subject does not offer.

    `rules` holds those that fired or that a failure names.
    """

    examples: int = 0
    steps: int = 0
    verdict: Verdict = Verdict.NOTHING_CHECKED
    missing: tuple[str, ...] = ()
    threads: ThreadCounts | None = None
    rules: Mapping[str, RuleReport] = field(default_factory=dict)
    seconds: float | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the object in `--json`."""
        return {
            "examples": self.examples,
            "steps": self.steps,
            "verdict": self.verdict.value,
            "missing": list(self.missing),
            **({} if self.threads is None else asdict(self.threads)),
            "rules": {rule: report.to_json() for rule, report in self.rules.items()},
            **({} if self.seconds is None else {"seconds": self.seconds}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LevelReport:
        """Read the level from such an object."""
        threads = _read_fields(ThreadCounts, value) if "histories" in value else None
        judged = Verdict(value["verdict"])
        rules = {rule: RuleReport.from_json(item) for rule, item in value.get("rules", {}).items()}
        missing = tuple(value["missing"])
        return cls(value["examples"], value["steps"], judged, missing, threads, rules, value.get("seconds"))


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of a run of one subject; `source` is what the subject says of its own sources.

    `rules` and `cells` count how often each rule and each decision-table entry was exercised. `about` is None if the
    caller has not added the metadata. `exceptions` are what the subject declares or the user asked for, and so limits
    the verdict; `skipped` is what the run could not check. `defaults` counts for each setting the runs that left it out
    and that another default would have changed. `given` is the subject as the command line names it,
    and `repaired` are waived findings that it does not show, so that the run applied the specification there.
    """

    subject: str
    source: Any
    system: str
    levels: Mapping[str, LevelReport]
    rules: Mapping[str, int]
    cells: Mapping[str, int]
    failures: tuple[Failure, ...]
    skipped: tuple[Skip, ...]
    about: RunMetadata | None = None
    exceptions: tuple[Exemption, ...] = ()
    given: str = ""
    repaired: tuple[str, ...] = ()
    defaults: Mapping[str, int] = field(default_factory=dict)

    def merged_with(self, later: RunReport) -> RunReport:
        """Return both rounds as one report: a level is judged by the first round that got through it."""
        levels = {
            name: later.levels[name] if judged.verdict is Verdict.VIOLATES else judged
            for name, judged in self.levels.items()
        }
        failures = (*self.failures, *later.failures)
        return replace(
            self,
            levels=levels,
            rules={name: count + later.rules[name] for name, count in self.rules.items()},
            cells={name: count + later.cells[name] for name, count in self.cells.items()},
            failures=tuple(sorted(failures, key=lambda failure: failure.failing_case is None)),
            skipped=(*later.skipped, *(one for one in self.skipped if one not in later.skipped)),
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict of all levels."""
        return errors.combine_verdicts(level.verdict for level in self.levels.values())

    @property
    def other_skipped(self) -> tuple[Skip, ...]:
        """The skipped parts that no exception names; each limit and variant that waives a finding is an exception."""
        named = {one.what.partition(" = ")[0] for one in self.exceptions}
        return tuple(skip for skip in self.skipped if skip.what not in named)

    @property
    def undetectable_rules(self) -> tuple[str, ...]:
        """The rules that fired, but whose seeded faults change no answer of the runs that were tried, at any level."""
        judged = [item for level in self.levels.values() for item in level.rules.items()]
        hidden = {rule for rule, one in judged if not one.detectable}
        return tuple(sorted(hidden - {rule for rule, one in judged if one.detectable}, key=rule_order))

    @property
    def headline(self) -> str:
        """The verdict in words: a subject with exceptions does not simply conform."""
        limited = self.verdict is Verdict.CONFORMS and (self.exceptions or self.skipped)
        return WITH_EXCEPTIONS if limited else self.verdict.value

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
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
            "exceptions": [one._asdict() for one in self.exceptions],
            **({"defaults": dict(sorted(self.defaults.items()))} if self.defaults else {}),
            **({"given": self.given} if self.given else {}),
            **({"repaired": list(self.repaired)} if self.repaired else {}),
            **({} if self.about is None else self.about.to_json()),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunReport:
        """Read the report from an object that fits `REPORT_SHAPE`. Details of rules and failures may be absent."""
        return cls(
            value["subject"],
            value.get("source"),
            value["system"],
            {name: LevelReport.from_json(level) for name, level in value["levels"].items()},
            {rule: item["fired"] for rule, item in value.get("rules", {}).items()},
            dict(value.get("cells", {})),
            tuple(Failure.from_json(failure) for failure in value.get("failures", ())),
            tuple(Skip(skip["what"], skip["reason"]) for skip in value.get("skipped", ())),
            _read_metadata(value),
            tuple(_read_exemptions(value)),
            value.get("given", ""),
            tuple(value.get("repaired", ())),
            dict(value.get("defaults", {})),
        )


_VERDICT_SHAPE: Final = {"enum": [one.value for one in Verdict]}
SECONDS_SHAPE: Final = {"type": "number", "minimum": 0}
_THREADS_SHAPE: Final = dict.fromkeys(ThreadCounts.__dataclass_fields__, COUNT)
_LEVEL_SHAPE: Final = object_shape(
    {
        **{"examples": COUNT, "steps": COUNT, "verdict": _VERDICT_SHAPE, "missing": TEXTS, "seconds": SECONDS_SHAPE},
        "rules": mapping_shape(
            object_shape({"fired": COUNT, "verdict": _VERDICT_SHAPE, "detectable": {"type": "boolean"}}, "detectable")
        ),
    },
    *("rules", "seconds"),
)
METADATA_SHAPE: Final = {
    "seed": {"type": "integer"},
    **{"profile": TEXT, "engine": TEXT, "versions": mapping_shape(TEXT), "seconds": SECONDS_SHAPE},
}
"""The keys of `RunMetadata` as JSON Schema; every result may have them."""

REPORT_SHAPE: Final = object_shape(
    {
        "subject": TEXT,
        "system": TEXT,
        "levels": mapping_shape(_LEVEL_SHAPE | {"dependentSchemas": {"histories": object_shape(_THREADS_SHAPE)}}),
        "rules": mapping_shape(object_shape({"fired": COUNT})),
        "cells": mapping_shape(COUNT),
        "failures": list_shape(FAILURE),
        "skipped": list_shape(object_shape({"what": TEXT, "reason": TEXT})),
        "given": TEXT,
        "repaired": TEXTS,
        "defaults": mapping_shape(COUNT),
        "exceptions": list_shape(object_shape({"kind": TEXT, "what": TEXT, "reason": TEXT})),
        "known": list_shape(object_shape(dict.fromkeys(("rule", "state", "reason", "issue"), TEXT))),
        **METADATA_SHAPE,
    },
    *("rules", "cells", "failures", "skipped", "exceptions", "given", "repaired", "defaults", "known", *METADATA_SHAPE),
)
"""The JSON Schema of what `RunReport.from_json` reads."""


def _read_metadata(value: Mapping[str, Any]) -> RunMetadata | None:
    """Read the metadata of the run, if it is complete."""
    if not value.keys() >= {"seed", "profile", "engine", "versions"}:
        return None
    return RunMetadata(value["seed"], value["profile"], value["engine"], value["versions"], value.get("seconds"))


def _read_exemptions(value: Mapping[str, Any]) -> Iterator[Exemption]:
    """Yield the exceptions of a result; an older one has them under its levels and known failures."""
    if "exceptions" in value:
        yield from (Exemption(one["kind"], one["what"], one["reason"]) for one in value["exceptions"])
        return
    for name, level in value["levels"].items():
        if level["missing"]:
            yield _not_offered(name, level["missing"])
    for entry in value.get("known", ()):
        if entry["state"] == "fails as known":
            yield Exemption("known failure", entry["rule"], " ".join(filter(None, (entry["reason"], entry["issue"]))))


def _not_offered(level: str, ops: Sequence[str]) -> Exemption:
    return Exemption("not offered", ", ".join(ops), f"the subject lacks these operations of {level}")


def _read_fields(kind: Any, value: Mapping[str, Any]) -> Any:
    """Build a dataclass from the keys that are its fields."""
    return kind(**{name: value[name] for name in kind.__dataclass_fields__})


class LevelResult(NamedTuple):
    """The result of one level. `hung` says that one of its cases never ended."""

    level: LevelReport
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Skip, ...] = ()
    hung: bool = False


def seconds_since(started_at: float) -> float:
    """Return the seconds since `started_at`, to the millisecond."""
    return round(time.monotonic() - started_at, 3)


def build_report(
    subject: TestedSubject, coverage: Coverage, parts: Mapping[str, LevelResult], skipped: Sequence[Skip]
) -> RunReport:
    """Put the results of the levels together; what the subject's waivers keep out counts as skipped."""
    declaration = subject.declaration
    waivers = sorted(
        (what, finding)
        for what, finding in declaration.findings.items()
        if _applies(declaration, what.partition(".")[2], parts)
    )
    skipped = [*skipped, *(Skip(what, f"waived by the finding {finding}") for what, finding in waivers)]
    laws = declaration.system.laws
    return RunReport(
        subject=subject.name,
        source=declaration.implementation.get("source"),
        system=declaration.system.name,
        levels={level: part.level for level, part in parts.items()},
        rules={rule.value: coverage.fired.get(rule, 0) for rule in laws.rules},
        cells={cell: coverage.cells.get(cell, 0) for cell in laws.cells},
        failures=tuple(failure for part in parts.values() for failure in part.failures),
        skipped=tuple(skipped),
        exceptions=tuple(find_exemptions(declaration, {level: part.level for level, part in parts.items()})),
        defaults=dict(coverage.defaults),
    )


def find_exemptions(declaration: Declaration, levels: Mapping[str, LevelReport]) -> Iterator[Exemption]:
    """Yield what a subject declares of itself that makes a run check less than the whole specification."""
    groups = {
        "limit": ("limits", declaration.limits, type(declaration.limits)()),
        "variant": ("variants", declaration.variants, declaration.system.model.variants()),
    }
    for kind, (key, values, defaults) in groups.items():
        for name in () if values is None else [one.name for one in fields(values)]:
            value = getattr(values, name)
            if value != getattr(defaults, name) and name not in CAPABILITIES and _applies(declaration, name, levels):
                what = f"{key}.{name}"
                finding = declaration.findings.get(what)
                findings = "findings" if ", " in (finding or "") else "finding"
                reason = "the subject declares it" if finding is None else f"it waives the {findings} {finding}"
                yield Exemption(kind, f"{what} = {getattr(value, 'value', value)}", reason)
    if declaration.order_slack:
        what = f"order_slack = {declaration.order_slack}"
        yield Exemption("limit", what, "a pass may leave so many live entries before the one that it takes")
    for name, value in sorted(declaration.fixed.items()):
        yield Exemption("fixed setting", f"{name} = {value}", "the subject has no other value of it")
    optional = declaration.limits.optional_arguments
    for op, given in sorted(declaration.arguments.items()):
        words = {name: word for name, word in given.items() if (op, name) not in optional}
        for word in sorted({*words.values()} if op in declaration.ops else ()):
            names = ", ".join(name for name, each in words.items() if each == word)
            yield Exemption("argument", f"{op}: {names} {word} sent", "the subject declares it")
    for op, keys in sorted(declaration.uncompared.items()):
        if op in declaration.ops:
            yield Exemption("uncompared", f"{op}: {', '.join(sorted(keys))}", "the subject does not give it")
    for op in sorted(declaration.uncompared_ops() - declaration.uncompared.keys()):
        yield Exemption("uncompared", op, "the subject declares no part of it under introspection")
    for name, level in levels.items():
        if level.missing:
            yield _not_offered(name, level.missing)


def _applies(declaration: Declaration, name: str, levels: Collection[str]) -> bool:
    """Return whether a limit or variant can leave something out at one of these levels; of none, at any."""
    return not levels or not set(declaration.limits.levels_of.get(name, levels)).isdisjoint(levels)


CAPABILITIES: Final = ("threads", "isolation_reads")
"""Limits whose default is the narrowest: another value lets a run check more."""


def build_partial_report(
    subject: TestedSubject, coverage: Coverage, parts: Mapping[str, LevelResult], levels: Sequence[str]
) -> RunReport:
    """Return the report of an interrupted run, which does not conform as a whole: its other levels are not judged."""
    unjudged = [level for level in levels if level not in parts]
    skipped = [skip for part in parts.values() for skip in part.skipped]
    skipped += [Skip(f"level {level}", "stopped before it was judged") for level in unjudged]
    whole = {**parts, **{level: LevelResult(LevelReport()) for level in unjudged}}
    return build_report(subject, coverage, whole, skipped)


def judge_rules(
    fired: Mapping[Rule, int],
    verdict: Verdict,
    failures: Sequence[Failure],
    rule_minimum: int,
    undetectable: frozenset[str] = frozenset(),
) -> dict[str, RuleReport]:
    """Return the verdict of each rule that fired at a level or that one of its failures names (see `RuleReport`)."""
    named = dict.fromkeys(rule for failure in failures for rule in failure.rules)
    counts = {rule.value: count for rule, count in fired.items() if count}
    enough = 1 if verdict is Verdict.CONFORMS else max(1, rule_minimum)

    def judged(rule: str) -> RuleReport:
        count = counts.get(rule, 0)
        detectable = rule in named or rule not in undetectable
        clean = Verdict.CONFORMS if count >= enough and detectable else Verdict.NOTHING_CHECKED
        return RuleReport(count, Verdict.VIOLATES if rule in named else clean, detectable)

    return {rule: judged(rule) for rule in sorted({*counts, *named}, key=rule_order)}
