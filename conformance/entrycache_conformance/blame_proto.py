"""The rule that a difference breaks.

Three questions, in this order; the first that has an answer names the rules:

1. Which planted faults make the reference answer exactly as the subject did, to the end of the case? Those whose law
   the subject's own step breaks come first, then the order in which they are planted.
2. Which laws does the step at fault break, with the subject's own outcome and state?
3. What says the reference's last row about what differs? Where there is none: of which rule is the operation?

The case is played once more for that, with looks at the state after every step, where the subject allows it: a fault
often shows steps after it happened, and faults that answer alike leave different states.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from entrycache_protocol.case import Case
from entrycache_protocol.declaration import Declaration
from entrycache_conformance.judge import Coverage, Difference, judge, same_without_tokens, trajectory
from entrycache_protocol.subject import Played, Subject, Trouble
from entrycache_faults.planted import Fault
from entrycache_protocol.errors import BrokenSubject
from entrycache_reference.rules import Rule


class Seen(NamedTuple):
    """A failing case as it was played once more, up to a first difference.

    `steps` are the reference's, `answers` the subject's, one a step; `at` is the step at fault, `looks` how many
    looks come after each step of the case. `difference` may lie in one of them.
    """

    case: Case
    steps: Sequence[Any]
    answers: Sequence[Any]
    difference: Difference
    declaration: Declaration
    looks: int

    @property
    def at(self) -> int:
        """The step at fault."""
        return self.difference.at - self.difference.at % (1 + self.looks)

    @property
    def pre(self) -> Any:
        """The reference's state before the step at fault."""
        return self.steps[self.at - 1].state if self.at else self.case.system.initial(self.case.config)

    @property
    def shown(self) -> Sequence[Any]:
        """What the subject showed in the looks after the step at fault."""
        return self.answers[self.at + 1 : self.at + 1 + self.looks]


class Blame(NamedTuple):
    """What a system says for explaining a difference.

    `faults` are planted in its reference, the likeliest first. `looks`: operations that show a state and change none,
    as far as a subject offers them, for a case with these steps. `told`: the state before the step at fault, the
    reference's step and the subject's own, as laws are asked about them. `about`: whether a row is about what
    differs. `general`: laws that almost any difference breaks. `leak`: the rule of what was not given back.
    """

    faults: Callable[[], Iterable[Fault]]
    looks: Callable[[Declaration, Sequence[Any]], Sequence[Any]]
    told: Callable[[Seen], tuple[Any, Any, Any]]
    about: Callable[[Seen, Any], bool]
    general: frozenset[Rule]
    leak: Rule


def explain(subject: Subject, case: Case, steps: list[Any], difference: Difference) -> tuple[Rule, ...]:
    """The rules that explain a difference, the likeliest first."""
    system = case.system
    if difference.is_silent:
        hang = difference.failed is not None and difference.failed.trouble is Trouble.HANG
        return (system.liveness[0 if hang else 1],)
    if difference.failed is not None:
        return (system.blame.leak,)
    seen = _seen(subject, case, steps, difference)
    broken = _broken(seen)
    alike = [fault.rule for fault in system.blame.faults() if _answers_alike(fault, seen)]
    found = sorted(alike, key=lambda rule: rule not in broken) or broken or [_of_step(seen)]
    return tuple(dict.fromkeys(found))


def _seen(subject: Subject, case: Case, steps: list[Any], difference: Difference) -> Seen:
    """The case with looks, else as it is, else as it was when it failed, up to the difference."""
    looks = tuple(case.system.blame.looks(subject.declaration, case.steps))
    for between in (looks, ()) if looks else ((),):
        seen = _played(subject, case, between)
        if seen is not None:
            return seen
    end = difference.at
    answers = [*(done.outcome for done in steps[:end]), difference.got]
    shown = dataclasses.replace(case, steps=case.steps[: end + 1])
    return Seen(shown, steps[: end + 1], answers, difference, subject.declaration, 0)


def _played(subject: Subject, case: Case, looks: tuple[Any, ...]) -> Seen | None:
    """What the subject answers with these looks after every step; None where it does not, or as it should."""
    declaration = subject.declaration
    steps = tuple(part for op in case.steps for part in (op, *looks))
    most = declaration.limits.max_steps
    if most is not None and len(steps) > most:
        return None
    case = dataclasses.replace(case, steps=steps, outcomes=(), got=())
    try:
        answer = subject.play([case])[0]
    except BrokenSubject:
        return None
    if not isinstance(answer, Played):
        return None
    right = trajectory(case, Coverage())
    first = judge(case, right, answer, declaration)
    return first and Seen(case, right, answer.outcomes, first, declaration, len(looks))


def _answers_alike(fault: Fault, seen: Seen) -> bool:
    """Whether the reference with this fault answers as the subject did, to the end."""
    config = seen.case.config
    shown, introspection = seen.case.system.declared_part, seen.declaration.introspection
    try:
        state = fault.model.initial(config)
        for op, answer in zip(seen.case.steps, seen.answers, strict=True):
            done = fault.model.step(state, op, config)
            own, wanted = shown(done.outcome, introspection), shown(answer, introspection)
            if own != wanted and not same_without_tokens(own, wanted, seen.declaration):
                return False
            state = done.state
    except Exception:  # a planted fault may break anything; then it explains nothing
        return False
    return True


def _broken(seen: Seen) -> list[Rule]:
    """The laws that the step at fault breaks with the subject's outcome and state; the telling ones, if any."""
    system, config, op = seen.case.system, seen.case.config, seen.case.steps[seen.at]
    try:
        pre, right, own = system.blame.told(seen)
        excused = system.broken(config, pre, op, right)
        broken = [rule for rule in system.broken(config, pre, op, own) if rule not in excused]
    except Exception:  # a law takes states and outcomes of the reference's making; others may be beyond it
        return []
    return [rule for rule in broken if rule not in system.blame.general] or broken


def _of_step(seen: Seen) -> Rule:
    """The rule of the last row about what differs, else of the last row, else of the operation."""
    rows = seen.steps[seen.at].rows
    about = [row for row in rows if seen.case.system.blame.about(seen, row)] or rows
    rule: Rule = about[-1].rule if about else seen.case.steps[seen.at].rule
    return rule
