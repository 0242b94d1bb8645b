"""Play a case on a subject and judge the answer.

`run_reference` takes the reference through a case and checks its laws at every step. `judge` compares the subject's
answer with these steps and returns the first `Difference`, or None. Everything that needs a verdict (search, shrinking,
confirmation, replay, vectors) uses this pair; they differ only in where cases come from.

Some promises allow several answers. There the subject's answer is checked against the promise, and the reference goes
on from it (`follow_answers`).

`Coverage` counts the rules that fired and the entries of the decision table that were visited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from entrycache_protocol.case import MAX_STEPS, Case
from entrycache_protocol.codec import MalformedValue, OrderedOutcome
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import InternalError
from entrycache_protocol.subject import (
    Answer,
    Difference,
    FailedRun,
    FailingCase,
    FailureKind,
    SkippedRun,
    TestedSubject,
)
from entrycache_protocol.system import AnyModel, AnySystem, OrderedStep
from entrycache_reference.rules import Rule

Definition = Callable[[Any, Any, Any, Any], tuple[Rule, ...]]
"""A function that returns the rule of an operation if a step differs from the operation's definition, else nothing.

It takes a configuration, a state, an operation and its step. Definitions are in a package above this one.
"""


class LawBroken(InternalError):
    """The error of a reference that breaks one of its own laws."""


MAX_PLAYED: Final = 25
"""The number of runs that are remembered for each rule."""


@dataclass(slots=True)
class Coverage:
    """The coverage of judged runs: rules that fired and decision-table entries that were visited, with their counts.

    With a `definition` the reference must also agree with it, which takes twice as long. It is for a run that judges
    the reference itself. `played` holds for each rule the first runs in which it fired, with the reference's steps.
    `detectable` are the rules whose breach such a run would have shown. `defaults` counts for each setting the runs
    that left it out, and in which another default would have led to another outcome.
    """

    fired: dict[Rule, int] = field(default_factory=Counter)
    cells: dict[str, int] = field(default_factory=Counter)
    examples: int = 0
    steps: int = 0
    definition: Definition | None = None
    played: dict[Rule, list[tuple[Case, Sequence[Any]]]] = field(default_factory=dict)
    detectable: set[Rule] = field(default_factory=set)
    defaults: dict[str, int] = field(default_factory=Counter)

    def add(self, run: Coverage, case: Case, steps: Sequence[Any]) -> None:
        """Add the coverage of one run that was answered."""
        self.examples += 1
        self._add_counts(run)
        for rule, count in run.fired.items():
            runs = self.played.setdefault(rule, [])
            if count and len(runs) < MAX_PLAYED:
                runs.append((case, steps))

    def add_all(self, other: Coverage) -> None:
        """Add the coverage of other runs."""
        self.examples += other.examples
        self._add_counts(other)

    def _add_counts(self, run: Coverage) -> None:
        self.steps += run.steps
        for rule, count in run.fired.items():
            self.fired[rule] = self.fired.get(rule, 0) + count
        for cell, count in run.cells.items():
            self.cells[cell] = self.cells.get(cell, 0) + count
        for name, count in run.defaults.items():
            self.defaults[name] = self.defaults.get(name, 0) + count


LAWS_ONE_IN: Final = 16
"""A search checks the laws of the reference at one step in so many, at the last step of each run, and in failing runs.

The laws judge the reference, not the subject. Runs that judge the reference itself check them at every step.
"""


class LawSample(NamedTuple):
    """The steps of a run at which the laws of the reference are checked: one in `one_in`, and always the last.

    With `counts_all` the rules that a step meets are counted at every step, else at the checked steps only.
    """

    one_in: int
    offset: int
    counts_all: bool = True

    def has(self, number: int) -> bool:
        """Return whether the step of this number is one of the sample."""
        return (number + self.offset) % self.one_in == 0


EVERY_STEP: Final = LawSample(1, 0)

NO_STEP: Final = LawSample(MAX_STEPS, 1)
"""The sample of cases that only show how often rules fire: of a usual case it is the last step alone."""


def sample_laws(run: int, definition: Definition | None, counts_all: bool = True) -> LawSample:
    """Return the steps of a search's run at which laws are checked. Their position moves on by one from run to run."""
    return EVERY_STEP if definition is not None else LawSample(LAWS_ONE_IN, run, counts_all)


class JudgedCase(NamedTuple):
    """A case that a subject has played: the reference's steps, the subject's answer and the first difference."""

    steps: list[Any]
    answer: Answer
    difference: Difference | None


def answer_case(subject: TestedSubject, case: Case) -> Answer:
    """Return the subject's answer to a case, after playing the earlier runs of the case on a fresh process."""
    return subject.play_fresh([*case.earlier, case])[-1] if case.earlier else subject.play([case])[0]


def judge_case(subject: TestedSubject, case: Case) -> JudgedCase:
    """Play a case, with its earlier runs, and judge the answer."""
    steps = run_reference(case, Coverage())
    answer = answer_case(subject, case)
    return JudgedCase(steps, answer, judge(case, steps, answer, subject.declaration))


def find_difference(subject: TestedSubject, case: Case, fresh: bool = False) -> Difference | None:
    """Return the difference of a subject's answer, or None. A case that is unsupported or unanswered has none.

    `fresh`: play the case on a fresh process.
    """
    if subject.declaration.unsupported_reason(case.config, case.steps):
        return None
    answer = subject.play_fresh([*case.earlier, case])[-1] if fresh else answer_case(subject, case)
    if isinstance(answer, FailedRun):
        return None
    return judge_unwaived(subject, case, run_reference(case, Coverage()), answer)


def judge_unwaived(subject: TestedSubject, case: Case, steps: Sequence[Any], answer: Answer) -> Difference | None:
    """Return the first difference of an answer, or None. A difference that the subject waives is none."""
    difference = judge(case, steps, answer, subject.declaration)
    return None if difference is None or subject.waives(FailingCase(case, list(steps), difference)) else difference


def step_with_laws(system: AnySystem, config: Any, state: Any, op: Any, coverage: Coverage) -> Any:
    """Take one step of the reference and check its laws.

    Raises:
        LawBroken: the reference breaks a law.
    """
    done = system.model.step(state, op, config)
    check_laws(system, config, state, op, done, coverage)
    return done


def check_laws(system: AnySystem, config: Any, state: Any, op: Any, done: Any, coverage: Coverage) -> None:
    """Check the law of every rule for one step of the reference, and the definition if there is one.

    Raises:
        LawBroken: the reference breaks a law.
    """
    broken = system.laws.broken(config, state, op, done, coverage.fired)
    if not broken and coverage.definition is not None:
        broken = coverage.definition(config, state, op, done)
    if broken:
        names = ", ".join(rule.value for rule in broken)
        raise LawBroken(f"the reference breaks {names} at {op} in {state}")
    system.laws.count_cells(config, state, op, done, coverage.cells)


def count_rules(system: AnySystem, config: Any, state: Any, op: Any, done: Any, coverage: Coverage) -> None:
    """Count the rules and the decision-table entries that one step of the reference meets, without checking laws."""
    count = system.laws.count_fired or system.laws.broken
    count(config, state, op, done, coverage.fired)
    system.laws.count_cells(config, state, op, done, coverage.cells)


def run_reference(case: Case, coverage: Coverage) -> list[Any]:
    """Return the reference's steps through a case."""
    state = case.system.model.initial(case.config)
    steps = []
    for op in case.steps:
        done = step_with_laws(case.system, case.config, state, op, coverage)
        steps.append(done)
        state = done.state
    return steps


def guided_step(declaration: Declaration, model: AnyModel | None = None) -> OrderedStep | None:
    """Return the steps of the reference, or of another model of it, that a subject's answers guide.

    None: no answer of this subject guides the reference.
    """
    own: Any = declaration.system.model
    base = own if model is None else model
    if declaration.order_slack and own.ordered is not None:
        step: OrderedStep = own.ordered(base, declaration.order_slack)
        return step
    if own.follow is None:
        return None

    def follow(state: Any, op: Any, config: Any, got: Any) -> Any:
        done = base.step(state, op, config)
        return own.follow(state, op, config, done, got) or done

    return follow


def follow_answers(
    case: Case, steps: Sequence[Any], answers: Sequence[Any], declaration: Declaration
) -> Iterator[tuple[Any, Any]]:
    """Yield each step of the reference with the subject's answer.

    An answer that the promise allows beside the reference's own guides the reference: its next steps go on from there.
    """
    model, config = case.system.model, case.config
    if model.follow is None or declaration.order_slack:
        yield from _follow_all(case, steps, answers, declaration)
        return
    state, is_guided = model.initial(config), False
    for op, own, got in zip(case.steps, steps, answers, strict=True):
        own_step = model.step(state, op, config) if is_guided else own
        guided = model.follow(state, op, config, own_step, got)
        is_guided = is_guided or guided is not None
        done = own_step if guided is None else guided
        yield done, got
        state = done.state


def _follow_all(
    case: Case, steps: Sequence[Any], answers: Sequence[Any], declaration: Declaration
) -> Iterator[tuple[Any, Any]]:
    """Yield the steps that every answer guides, or the reference's own if none does."""
    step = guided_step(declaration)
    if step is None:
        yield from zip(steps, answers, strict=True)
        return
    state = case.system.model.initial(case.config)
    for op, got in zip(case.steps, answers, strict=True):
        done = step(state, op, case.config, got)
        yield done, got
        state = done.state


class FilePath(NamedTuple):
    """The steps of the reference through a case, guided by the outcomes in its file.

    `allowed` holds the other answers that the promise allows, by the number of the step.
    """

    steps: list[Any]
    allowed: dict[int, list[dict[str, Any]]]


def follow_file(case: Case) -> FilePath:
    """Return the reference's steps as the outcomes in the file of a case guide them, with the other allowed answers."""
    model, config, reader = case.system.model, case.config, Declaration(case.system, frozenset(case.system.ops))
    reader = replace(reader, introspection=case.system.wire.introspection)
    path = FilePath([], {})
    state = model.initial(config)
    for index, op in enumerate(case.steps):
        done = model.step(state, op, config)
        answers = model.allowed(state, op, config, done)
        if answers and model.follow is not None and index < len(case.outcomes):
            with suppress(MalformedValue):
                got = case.system.wire.read_outcome(op, case.outcomes[index], reader)
                done = model.follow(state, op, config, done, got) or done
        others = [answer for answer in answers if answer != case.system.wire.write_outcome(done.outcome)]
        if others:
            path.allowed[index] = others
        path.steps.append(done)
        state = done.state
    return path


def judge(
    case: Case, steps: Sequence[Any], answer: Answer, declaration: Declaration, are_guided: bool = False
) -> Difference | None:
    """Return the first difference between an answer and the reference's steps, or None.

    A positive `leaked` is a difference at the last step. A skipped run has no difference. `are_guided`: the answer has
    guided these steps already.
    """
    if isinstance(answer, SkippedRun):
        return None
    if isinstance(answer, FailedRun):
        index = answer.step if answer.step is not None else max(0, len(steps) - 1)
        expected = steps[index].outcome if steps else None
        return Difference(index, expected, None, answer)
    path: list[Any] = []
    pairs = (
        zip(steps, answer.outcomes, strict=True)
        if are_guided
        else follow_answers(case, steps, answer.outcomes, declaration)
    )
    for index, (done, got) in enumerate(pairs):
        expected = done.outcome
        path.append(done)
        if got == expected:
            continue
        expected, got = _comparable(case.steps[index], expected, got, declaration)
        if got != expected and not match_without_tokens(expected, got, declaration):
            guided = any(done is not own for done, own in zip(path, steps, strict=False))
            return Difference(index, expected, got, guided=tuple(path) if guided else ())
    if answer.leaked:
        failed = FailedRun(FailureKind.LEAKED, None, f"{answer.leaked} buffer references leaked")
        last = max(0, len(steps) - 1)
        return Difference(last, steps[last].outcome if steps else None, None, failed)
    return None


def is_match(op: Any, expected: Any, got: Any, declaration: Declaration) -> bool:
    """Return whether two outcomes of a step agree in all that a subject gives to compare."""
    expected, got = _comparable(op, expected, got, declaration)
    return bool(got == expected) or match_without_tokens(expected, got, declaration)


def _comparable(op: Any, expected: Any, got: Any, declaration: Declaration) -> tuple[Any, Any]:
    """Return the expected and the actual outcome without what is not compared."""
    expected = declaration.compared_part(expected)
    return expected, adopt_uncompared(op, expected, declaration.compared_part(got), declaration)


def adopt_uncompared(op: Any, expected: Any, got: Any, declaration: Declaration) -> Any:
    """Return an outcome with the expected value of each key that is not compared. An error is always compared."""
    names = declaration.uncompared.get(type(op).name, frozenset())
    if names and isinstance(expected, OrderedOutcome) and isinstance(got, OrderedOutcome):
        return replace(got, outcome=adopt_uncompared(op, expected.outcome, got.outcome, declaration))
    if not names or type(expected) is not type(got):
        return got
    if isinstance(got, dict):
        return (
            got
            if "error" in expected
            else {**got, **{key: expected[key] for key in names & got.keys() & expected.keys()}}
        )
    kept = {key: getattr(expected, key) for key in names & type(got).__dataclass_fields__.keys()}
    return replace(got, **kept)


def match_without_tokens(expected: Any, got: Any, declaration: Declaration) -> bool:
    """Return whether two outcomes differ only in tokens that are not judged.

    Tokens are judged if the subject declares `payload` and the expected outcome has some. An expected outcome that
    returns entries without tokens leaves them open: an entry that was inserted without a token was given none.
    An outcome that returns no entry has no tokens.
    """
    if isinstance(expected, OrderedOutcome) and isinstance(got, OrderedOutcome) and expected.taken == got.taken:
        return match_without_tokens(expected.outcome, got.outcome, declaration)
    if type(expected) is not type(got) or not hasattr(expected, "tokens"):
        return False
    if declaration.payload and expected.tokens:
        return False
    returned = [name for name in expected.__dataclass_fields__ if name != "tokens"]
    if any(getattr(expected, name) != getattr(got, name) for name in returned):
        return False
    return not got.tokens or any(getattr(expected, name) for name in returned)
