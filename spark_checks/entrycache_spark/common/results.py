"""The results of an audit: violations, findings by broker and rule, and verdicts.

A backend returns `Findings`: for each broker and rule a `RuleFinding`, with the violations and the reasons why a part
could not be decided. `merge_brokers` adds up the brokers, `verdict_of` turns a finding into a `Verdict`, and
`AuditResult` is what a caller of an audit receives.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """The verdict of one rule."""

    CONFORMS = "conforms"
    VIOLATES = "violates"
    INCONCLUSIVE = "inconclusive"
    NOTHING_CHECKED = "nothing-checked"


class Violation(NamedTuple):
    """One offending event, with the events that prove it."""

    rule: str
    broker: str
    seq: int
    life: int | None
    expected: str
    observed: str
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class RuleFinding:
    """The findings of one backend about one rule."""

    checked: int
    violations: tuple[Violation, ...]
    undecided: tuple[str, ...]
    """The reasons why a part of the trace could not be decided, one line each."""
    unchecked: tuple[str, ...] = ()
    """The events that the rule skipped because they lack a value it needs, one line each."""
    differences: tuple[str, ...] = ()
    """The differences between a row and the rows before it, one line each. Only replay reports them."""


Findings = Mapping[str, Mapping[str, RuleFinding]]
"""The findings of a backend: by broker name, then by rule."""


@dataclass(frozen=True)
class AuditResult:
    """The verdict of every rule, the violations in a fixed order, and the notes about what was not decided.

    `brokers` holds the verdicts of each broker. `evaluator` names what evaluated the rules, if a backend has several
    ways.
    `unwritten` says why the violations could not be written to a file; it is empty if they were. `judged` is set by an
    audit of a growing folder: the brokers that it judged. Then `violations` are only those not reported before.
    `without_rows` names the brokers that have a folder and no rows: nothing of them was checked.
    """

    rules: Mapping[str, Verdict]
    violations: tuple[Violation, ...]
    notes: tuple[str, ...]
    rows: int
    differences: tuple[str, ...] = ()
    unwritten: str = ""
    brokers: Mapping[str, Mapping[str, Verdict]] = field(default_factory=dict)
    evaluator: str = field(default="", compare=False)
    judged: tuple[str, ...] | None = None
    without_rows: tuple[str, ...] = ()

    @property
    def is_inconclusive(self) -> bool:
        """True if rules apply to events of the trace, and none of these rules was decided."""
        return set(self.rules.values()) - {Verdict.NOTHING_CHECKED} == {Verdict.INCONCLUSIVE}

    @property
    def undecided(self) -> tuple[str, ...]:
        """The brokers for which no rule was decided.

        Their events were checked, but no rule certainly holds or is certainly violated.
        """
        decided = {Verdict.CONFORMS, Verdict.VIOLATES}
        return tuple(broker for broker, own in self.brokers.items() if decided.isdisjoint(own.values()))

    @property
    def exit_code(self) -> int:
        """1 if a rule is violated, 2 if none was checked, else 0.

        For an audit of a growing folder: 1 if there is a new violation.
        """
        if self.judged is not None and self.brokers:
            return int(bool(self.violations))
        if Verdict.VIOLATES in self.rules.values():
            return 1
        return 2 if set(self.rules.values()) <= {Verdict.NOTHING_CHECKED} else 0


def verdict_of(finding: RuleFinding) -> Verdict:
    """Return the verdict of a finding.

    A violation counts even if events are missing. A rule that checked no event never conforms.
    """
    if finding.violations:
        return Verdict.VIOLATES
    if finding.checked == 0:
        return Verdict.NOTHING_CHECKED
    return Verdict.INCONCLUSIVE if finding.undecided else Verdict.CONFORMS


def merge_brokers(findings: Findings) -> dict[str, RuleFinding]:
    """Merge the findings of all brokers by rule, in the order of the broker names."""
    named = [findings[broker] for broker in sorted(findings)]
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
    """Return the violations in order, at most one for an event and rule."""
    first: dict[tuple[str, str, int], Violation] = {}
    for violation in sorted(violations, key=lambda v: (v.rule, v.broker, v.seq, v.expected, v.observed)):
        first.setdefault((violation.rule, violation.broker, violation.seq), violation)
    return tuple(first.values())
