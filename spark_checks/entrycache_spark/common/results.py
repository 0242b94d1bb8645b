"""What an audit answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """The answer for one rule."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    INCONCLUSIVE = "inconclusive"
    NOTHING_CHECKED = "nothing-checked"


class Violation(NamedTuple):
    """One offending event, with what shows it."""

    rule: str
    broker: str
    seq: int
    life: int | None
    expected: str
    observed: str
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class RuleFinding:
    """What one engine found out about one rule."""

    checked: int
    violations: tuple[Violation, ...]
    undecided: tuple[str, ...]
    """Why a part of the trace could not be decided, one line each."""
    unchecked: tuple[str, ...] = ()
    """Which events the rule was not asked about, since they are not told what it needs, one line each."""
    differences: tuple[str, ...] = ()
    """What rows show of entries that the rows before them do not, one line each; replay alone tells them."""


Findings = Mapping[str, Mapping[str, RuleFinding]]
"""What an engine found out of each broker: by its name, then by the rule."""


@dataclass(frozen=True)
class AuditResult:
    """The verdict of every rule, the violations in a fixed order, and what was left undecided.

    `brokers`: the verdicts of each broker by itself. `kernel`: what evaluated the rules, where an engine has several.
    `unwritten`: why the violations could not be written into a file, empty where they were. `judged`: of an audit of
    what is new alone the brokers that it judged; then `violations` are those that were not told before.
    """

    rules: Mapping[str, Verdict]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]
    rows: int
    differences: tuple[str, ...] = ()
    unwritten: str = ""
    brokers: Mapping[str, Mapping[str, Verdict]] = field(default_factory=dict)
    kernel: str = field(default="", compare=False)
    judged: tuple[str, ...] | None = None

    @property
    def undecided(self) -> tuple[str, ...]:
        """The brokers of which no rule was decided: they were checked, and neither keep nor break one for certain."""
        decided = {Verdict.CONFORMS, Verdict.VIOLATES}
        return tuple(broker for broker, own in self.brokers.items() if decided.isdisjoint(own.values()))

    @property
    def exit_code(self) -> int:
        """1 if a rule is violated, 2 if none was checked, else 0; of what is new alone, 1 if a violation is."""
        if self.judged is not None and self.brokers:
            return int(bool(self.violations))
        if Verdict.VIOLATES in self.rules.values():
            return 1
        return 2 if set(self.rules.values()) <= {Verdict.NOTHING_CHECKED} else 0


def verdict_of(finding: RuleFinding) -> Verdict:
    """A violation is one whatever is missing; what was not checked at all is never called conforming."""
    if finding.violations:
        return Verdict.VIOLATES
    if finding.checked == 0:
        return Verdict.NOTHING_CHECKED
    return Verdict.INCONCLUSIVE if finding.undecided else Verdict.CONFORMS


def merge_brokers(found: Findings) -> dict[str, RuleFinding]:
    """What was found of all brokers, by rule: brokers in the order of their names."""
    named = [found[broker] for broker in sorted(found)]
    return {
        rule: RuleFinding(
            sum(own[rule].checked for own in named),
            tuple(violation for own in named for violation in own[rule].violations),
            tuple(dict.fromkeys(note for own in named for note in own[rule].undecided)),
            tuple(dict.fromkeys(note for own in named for note in own[rule].unchecked)),
            tuple(line for own in named for line in own[rule].differences),
        )
        for rule in (named[0] if named else ())
    }


def sort_violations(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """One violation an event and rule, sorted."""
    first: dict[tuple[str, str, int], Violation] = {}
    for found in sorted(violations, key=lambda v: (v.rule, v.broker, v.seq, v.expected, v.observed)):
        first.setdefault((found.rule, found.broker, found.seq), found)
    return tuple(first.values())
