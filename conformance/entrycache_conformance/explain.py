"""Name the rules that a difference breaks, the likeliest first.

A step without an answer breaks the rules of liveness. Otherwise the first of these questions that has an answer names
the first rules:

1. Which seeded faults make the reference answer exactly as the subject did, to the end of the case and of variations of
it? If they break several rules, the faults that answer as the subject does in the most random cases count. Faults whose
law the subject's own step breaks come first, then those whose law applies to the step.

The rule of a read inside a forward comes before all these if its answer is what differs first.

2. Which laws does the failing step break, with the subject's own outcome and state? Laws that almost any difference
breaks wait until the third question has no answer.

3. Which seeded faults make the reference answer as the subject did in this case alone? Their rules come last.

4. Which rule made the reference's last row about the difference? If no row is about it: which rule is the operation's?

To answer them, `explain_difference` plays the case once more, with state queries after every step if the subject allows
it. A fault often shows some steps after it happened, and faults with the same answers leave different states. Nothing
is patched: each seeded fault has a model of its own.

`shape_of` says what tells a failure from others: the seeded faults that answer as the subject did, or else the form of
the failing step and of its answer. A longer case `has_shape` if it shows the same.

`write_failure` writes the case file of a failure, with its rules, and returns the failure for the report.
"""

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple

from entrycache_conformance import failure, generate, levels
from entrycache_conformance.judge import (
    Coverage,
    answer_case,
    follow_answers,
    guided_step,
    is_match,
    judge,
    judge_case,
    run_reference,
)
from entrycache_faults.model import CallLimitExceeded, Fault, limit_calls, record_calls
from entrycache_protocol import codec, errors, files
from entrycache_protocol.case import Case, write_case
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.subject import (
    Difference,
    FailingCase,
    FailureKind,
    RunResult,
    TestedSubject,
)
from entrycache_reference.rules import Rule

MAX_CALLS: Final = 1_000_000
"""The number of calls in one step after which a faulty reference counts as endless. Some faults requeue while a budget
of 2^31 - 1 lasts. A pass over 1,000 accessed entries makes fewer than a fifth of it.
"""


RANDOM_CASES: Final = 18
"""The number of random cases that tell apart faults which answer alike in every variation."""


class ObservedFailure(NamedTuple):
    """A failing case as it was played once more.

    `steps` are the reference's and `answers` the subject's, one per operation. The operations in `queries` follow each
    step of the case.
    """

    case: Case
    declaration: Declaration
    queries: tuple[Any, ...]
    steps: Sequence[Any]
    answers: Sequence[Any]
    difference: Difference

    @property
    def at(self) -> int:
        """The failing step: the one that differs, or whose state queries do."""
        return self.difference.at - self.difference.at % (1 + len(self.queries))

    @property
    def pre(self) -> Any:
        """The reference's state before the failing step."""
        return self.steps[self.at - 1].state if self.at else self.case.system.model.initial(self.case.config)

    @property
    def query_answers(self) -> Mapping[Any, Any]:
        """The answers to the state queries after the failing step."""
        after = self.answers[self.at + 1 : self.at + 1 + len(self.queries)]
        parts = (self.case.system.wire.declared_part(answer, self.declaration.introspection) for answer in after)
        return dict(zip(self.queries, parts, strict=True))


def explain_difference(
    subject: TestedSubject, case: Case, steps: Sequence[Any], difference: Difference
) -> tuple[Rule, ...]:
    """Return the rules that explain a difference, the likeliest first."""
    if difference.is_unanswered:
        hang = difference.failed is not None and difference.failed.trouble is FailureKind.HANG
        return (case.system.laws.liveness[0 if hang else 1],)
    if difference.failed is not None:
        return (case.system.blame.leak,)
    observed = _observe_failure(subject, case, steps, difference)
    laws, too_general = _judge_step(observed), case.system.blame.general
    faults = _matching_faults(observed)
    confirmed = _faults_of_variations(subject, observed, faults)
    specific = [rule for rule in laws.broken if rule not in too_general]
    likely = sorted(
        [fault.rule for fault in confirmed],
        key=lambda rule: (rule not in specific, rule not in laws.applied, rule in too_general),
    )
    others = sorted([fault.rule for fault in faults], key=lambda rule: rule in too_general)
    rules = [*(likely or specific), *others] or laws.broken or [_rule_of_step(observed)]
    order = case.system.blame.order
    if order is not None and _is_out_of_order(difference):
        return (order,)
    inner = _rule_of_inner_read(observed)
    return tuple(dict.fromkeys([*([inner] if inner else []), *rules]))


def _rule_of_inner_read(observed: ObservedFailure) -> Rule | None:
    """Return the rule of a read inside a call of the failing step, if that is what differs first."""
    if observed.difference.at != observed.at:
        return None
    return observed.case.system.blame.inner_rule(observed.steps[observed.at], observed.answers[observed.at])


def _is_out_of_order(difference: Difference) -> bool:
    """Return whether a pass took another entry than a subject with this `order_slack` may take."""
    expected, got = difference.expected, difference.got
    if not isinstance(expected, codec.OrderedOutcome) or not isinstance(got, codec.OrderedOutcome):
        return False
    pairs = zip(expected.taken, got.taken, strict=False)
    return next((wanted[:2] != taken[:2] for wanted, taken in pairs if wanted != taken), False)


def _observe_failure(
    subject: TestedSubject, case: Case, steps: Sequence[Any], difference: Difference
) -> ObservedFailure:
    """Play the case again with state queries, else without them. If it does not fail again, use what the difference
    says.

    If the case leaves out the variants that the subject declares, it is first judged with them, because the subject's
    other answers follow them and a faulty reference must answer alike.
    """
    queries = tuple(case.system.blame.state_queries(subject.declaration, case.steps))
    for judged in _with_variants(case, subject.declaration):
        for some in dict.fromkeys((queries, ())):
            observed = _play_with_queries(subject, judged, some)
            if observed is not None and (judged is case or observed.at // (1 + len(some)) <= difference.at):
                return observed
    return _observed_without_queries(case, steps, difference, subject.declaration)


def _observed_without_queries(
    case: Case, steps: Sequence[Any], difference: Difference, declaration: Declaration
) -> ObservedFailure:
    """Return what the difference alone says: up to it the subject answered as the reference."""
    end = difference.at + 1
    answers = [*(done.outcome for done in steps[: end - 1]), difference.got]
    cut_case = dataclasses.replace(case, steps=case.steps[:end])
    return ObservedFailure(cut_case, declaration, (), steps[:end], answers, difference)


def _with_variants(case: Case, declaration: Declaration) -> Iterator[Case]:
    """Yield the case with the variants that the subject declares, if it has others, and then the case itself."""
    variants = declaration.variants
    if variants is not None and variants != case.config.variants:
        yield dataclasses.replace(case, config=dataclasses.replace(case.config, variants=variants))
    yield case


def _play_with_queries(subject: TestedSubject, case: Case, queries: tuple[Any, ...]) -> ObservedFailure | None:
    """Return the subject's answers with these state queries after every step; None if it fails or answers correctly."""
    declaration = subject.declaration
    case = generate.with_queries(case, case.steps, queries)
    max_steps = declaration.limits.max_steps
    if max_steps is not None and len(case.steps) > max_steps:
        return None
    if declaration.unsupported_reason(case.config, case.steps):
        return None
    try:
        answer = answer_case(subject, case)
    except errors.BrokenSubject:
        return None
    if not isinstance(answer, RunResult):
        return None
    steps = run_reference(case, Coverage())
    first = judge(case, steps, answer, declaration)
    guided = [done for done, _ in follow_answers(case, steps, answer.outcomes, declaration)]
    return first and ObservedFailure(case, declaration, queries, guided, answer.outcomes, first)


def _matching_faults(observed: ObservedFailure) -> list[Fault]:
    """Return the seeded faults that answer as the subject did, from the first group that has any."""
    path = _record_path(observed)
    for group in observed.case.system.blame.faults():
        faults = [fault for fault in group if _answers_match(fault, observed, path)]
        if faults:
            return faults
    return []


def _faults_of_variations(
    subject: TestedSubject, observed: ObservedFailure, faults: Sequence[Fault]
) -> Sequence[Fault]:
    """Return the faults that answer as the subject does in variations of the case too.

    One short case may fit a fault by chance. At a variation without an answer the comparison ends.
    """
    for case in generate.vary_case(observed.case, observed.queries, observed.declaration.sent_keys) if faults else ():
        if not generate.is_playable(subject, case):
            continue
        answer = _play_variation(subject, case)
        if answer is None:
            break
        varied = observed._replace(case=case, answers=answer.outcomes)
        faults = [fault for fault in faults if _answers_match(fault, varied)]
        if not faults:
            break
    return _closest_faults(subject, observed, faults)


def _closest_faults(subject: TestedSubject, observed: ObservedFailure, faults: Sequence[Fault]) -> Sequence[Fault]:
    """Return the faults that answer as the subject does in the most random cases, if they break several rules."""
    if len({fault.rule for fault in faults}) < 2:
        return faults
    menu = observed.case.system.cases.menu(sorted(observed.declaration.ops))
    counts = dict.fromkeys(faults, 0)
    for generated in generate.make_seeded_cases(observed.declaration, menu, RANDOM_CASES, 0):
        case = generate.with_queries(generated.case, generated.case.steps, observed.queries)
        answer = _play_variation(subject, case) if generate.is_playable(subject, case) else None
        if answer is None:
            break
        varied = observed._replace(case=case, answers=answer.outcomes)
        for fault in faults:
            counts[fault] += _answers_match(fault, varied)
    return [fault for fault in faults if counts[fault] == max(counts.values())]


def _play_variation(subject: TestedSubject, case: Case) -> RunResult | None:
    """Return the subject's answers to a case; None if it gives none."""
    try:
        answer = answer_case(subject, case)
    except errors.BrokenSubject:
        return None
    return answer if isinstance(answer, RunResult) else None


class RecordedStep(NamedTuple):
    """A step in which the reference answers as the subject did: the code that it runs, and its state afterwards.

    The first step runs the code of the initial state too.
    """

    codes: Set[CodeType]
    post: Any


def _record_path(observed: ObservedFailure) -> Sequence[RecordedStep]:
    """Return the steps of the reference up to the first that answers otherwise than the subject did.

    The path is empty under a profiler, which leaves no room to record, and with `order_slack`, where states follow the
    subject's order.
    """
    config, declaration, model = observed.case.config, observed.declaration, observed.case.system.model
    path: list[RecordedStep] = []
    if declaration.order_slack:
        return path
    guided = guided_step(declaration)
    with record_calls() as initial_codes:
        state = model.initial(config)
    for op, answer in zip(observed.case.steps, observed.answers, strict=True):
        with record_calls() as codes:
            done = guided(state, op, config, answer) if guided else model.step(state, op, config)
        if codes is None or not is_match(op, done.outcome, answer, declaration):
            break
        path.append(RecordedStep(codes if path else codes | (initial_codes or set()), done.state))
        state = done.state
    return path


def _answers_match(fault: Fault, observed: ObservedFailure, path: Sequence[RecordedStep] = ()) -> bool:
    """Return whether the reference with this fault answers as the subject did, to the end."""
    return _differs(fault, observed, path) is False


def _differs(fault: Fault, observed: ObservedFailure, path: Sequence[RecordedStep] = ()) -> bool | None:
    """Return whether the reference with this fault answers otherwise than the subject did, or never ends.

    Return None if the faulty reference raises an exception before that. A fault may break anything, so its exception
    says nothing about a subject with the same defect. While the faulty reference has the states of the `path`, it
    plays only the steps that call a function of the fault: in the others it does as the reference.
    """
    config, declaration = observed.case.config, observed.declaration
    first = _find_reached(fault, path, 0)
    if path and first == len(observed.answers):
        return False
    guided = guided_step(declaration, fault.model)
    try:
        state = path[first - 1].post if first else fault.model.initial(config)
        for at, (op, answer) in enumerate(zip(observed.case.steps, observed.answers, strict=True)):
            if at < first:
                continue
            with limit_calls(MAX_CALLS):
                done = guided(state, op, config, answer) if guided else fault.model.step(state, op, config)
            if not is_match(op, done.outcome, answer, declaration):
                return True
            state = done.state
            if at < len(path) and state == path[at].post:
                first = _find_reached(fault, path, at + 1)
                state = path[first - 1].post
    except CallLimitExceeded:
        return True
    except Exception:  # see above
        return None
    return False


def _find_reached(fault: Fault, path: Sequence[RecordedStep], start: int) -> int:
    """Return the first step of the path from `start` that calls a function of the fault, or else the path's length."""
    return next((at for at in range(start, len(path)) if fault.is_reached(path[at].codes)), len(path))


class JudgedStep(NamedTuple):
    """The rules whose laws the subject's own step breaks, and those that apply to the reference's step.

    The rules about the operation come before those about every operation, such as a sum.
    """

    broken: Sequence[Rule]
    applied: Collection[Rule]


def _judge_step(observed: ObservedFailure) -> JudgedStep:
    """Hold the failing step to the laws, with the subject's outcome and state."""
    laws, blame, config = observed.case.system.laws, observed.case.system.blame, observed.case.config
    op, done = observed.case.steps[observed.at], observed.steps[observed.at]
    answer = observed.answers[observed.at] if observed.difference.at == observed.at else done.outcome
    if isinstance(answer, codec.OrderedOutcome):
        answer = answer.outcome
    if isinstance(done.outcome, codec.OrderedOutcome):
        done = done._replace(outcome=done.outcome.outcome)
    applied: dict[Rule, int] = {}
    try:
        pre, right, own = blame.own_step(observed.pre, done, op, answer, observed.query_answers, observed.declaration)
        excused = laws.broken(config, pre, op, right, applied)
        broken = [rule for rule in laws.broken(config, pre, op, own) if rule not in excused]
    except Exception:  # a law takes states and outcomes of the reference's making; others may be beyond it
        return JudgedStep((), ())
    about_all = {law.rule for law in laws.table if not getattr(law, "on", True)}
    return JudgedStep(sorted(broken, key=lambda rule: rule in about_all), applied)


def _rule_of_step(observed: ObservedFailure) -> Rule:
    """Return the rule of the last row about the difference, else of the last row, else of the operation."""
    rows = observed.steps[observed.at].rows
    is_about, difference = observed.case.system.blame.is_about, observed.difference
    about = [row for row in rows if is_about(difference.expected, difference.got, row)] or rows
    rule: Rule = about[-1].rule if about else observed.case.steps[observed.at].rule
    return rule


class Shape(NamedTuple):
    """The shape of a failure: what it has in common with other cases of the same defect.

    `faults` are the seeded faults that answer as the subject did. `op`, `arguments` (those that matter) and `direction`
    say how the failing step and its answer look.
    """

    faults: tuple[Fault, ...]
    op: str
    arguments: Mapping[str, int | None]
    direction: Any


def shape_of(subject: TestedSubject, failing: FailingCase) -> Shape:
    """Return the shape of a failure that was shortened.

    An argument matters if the step no longer fails in this way with another value of it.
    """
    op = failing.case.steps[failing.difference.at] if failing.case.steps else None
    direction = _direction_of(failing.difference)
    if op is None or failing.difference.failed is not None:
        return Shape((), "" if op is None else op.name, {}, direction)
    observed = _observe_failure(subject, failing.case, failing.path, failing.difference)
    numbers = {
        field.name: value
        for field in dataclasses.fields(op)
        if isinstance(value := getattr(op, field.name), int)  # a truth value is one
    }
    arguments = {
        name: _sign(value) for name, value in numbers.items() if _is_needed(subject, failing, name, value, direction)
    }
    return Shape(tuple(_matching_faults(observed)), op.name, arguments, direction)


def _is_needed(subject: TestedSubject, failing: FailingCase, name: str, value: int, direction: Any) -> bool:
    """Return whether other values of an argument of the failing step were played, and none failed in this way."""
    at, steps = failing.difference.at, failing.case.steps
    others = [not value] if type(value) is bool else [other for other in OTHER_VALUES if _sign(other) != _sign(value)]
    played = False
    for other in others:
        varied = (*steps[:at], dataclasses.replace(steps[at], **{name: other}))
        case = dataclasses.replace(failing.case, steps=varied, outcomes=(), got=())
        if subject.declaration.unsupported_reason(case.config, case.steps):
            continue
        difference = judge_case(subject, case).difference
        if difference is not None and difference.at == at and _is_alike(_direction_of(difference), direction):
            return False
        played = True
    return played


def has_shape(failing: FailingCase, declaration: Declaration, shape: Shape) -> bool:
    """Return whether a case that was not shortened shows the defect of this shape.

    If seeded faults answer as the subject does, one of them must do so here too.
    """
    if shape.faults and failing.difference.failed is None:
        observed = _observed_without_queries(failing.case, failing.path, failing.difference, declaration)
        return any(_answers_match(fault, observed) for fault in shape.faults)
    op = failing.case.steps[failing.difference.at] if failing.case.steps else None
    return (
        ("" if op is None else op.name) == shape.op
        and _is_alike(_direction_of(failing.difference), shape.direction)
        and all(_sign(getattr(op, name)) == sign for name, sign in shape.arguments.items())
    )


OTHER_VALUES: Final = (0, 1, 3)
"""The values of an argument that show whether it matters."""


def _sign(value: Any) -> int | None:
    """Return the sign of a number, or None for anything else."""
    return (value > 0) - (value < 0) if isinstance(value, int) else None


def error_type(message: str) -> str:
    """Return the type that an error names, such as `ValueError` in "ValueError: 7", or else its first words.

    The words end before a digit or a punctuation mark, because what follows may change from case to case.
    """
    return re.split(r"[^\w.$ ]|\s(?=\S*\d)", message, maxsplit=1)[0].strip()


def _direction_of(difference: Difference) -> Any:
    """Return how an answer differs, without the amount; of a missing answer, why, and of an error also its type."""
    failed = difference.failed
    if failed is not None:
        return (failed.trouble, error_type(failed.message)) if failed.trouble is FailureKind.ERRORED else failed.trouble
    return _direction(difference.expected, difference.got)


def _direction(expected: Any, got: Any) -> Any:
    """Return for each field of an outcome 0 (the same), 1 (more than expected), -1 (less) or what else differs."""
    if dataclasses.is_dataclass(expected) and type(expected) is type(got):
        names = [field.name for field in dataclasses.fields(expected)]
        return {name: _direction(getattr(expected, name), getattr(got, name)) for name in names}
    if expected == got:
        return 0
    if isinstance(expected, tuple | list) and isinstance(got, tuple | list) and len(expected) == len(got):
        return _direction_of_elements(expected, got)
    sizes = [len(one) if isinstance(one, tuple | list | dict) else one for one in (expected, got)]
    if all(type(size) is int for size in sizes) and sizes[0] != sizes[1]:
        return 1 if sizes[0] < sizes[1] else -1
    return f"{type(expected).__name__}, {type(got).__name__}"


def _direction_of_elements(expected: Sequence[Any], got: Sequence[Any]) -> Any:
    """Return the directions of the fields in which elements of two lists of one length differ."""
    merged: dict[str, Any] = {}
    for one, other in zip(expected, got, strict=True):
        parts = _direction(one, other)
        named = parts if isinstance(parts, dict) else {type(one).__name__: parts}
        merged |= {name: part for name, part in named.items() if part != 0}
    return merged


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether answers differ in the same direction. A field that is the same in one of them may differ."""
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return bool(one == other)
    pairs = [(one[name], other[name]) for name in one]
    return any(a == b != 0 for a, b in pairs) and all(a == b or 0 in (a, b) for a, b in pairs)


class KnownShapes:
    """The shapes of known failures, and how often a search has met each."""

    def __init__(self, shapes: Sequence[Shape] = ()) -> None:
        self._shapes = tuple(shapes)
        self.counts = [0] * len(self._shapes)

    def has(self, failing: FailingCase, declaration: Declaration) -> bool:
        """Return whether a failure has one of the shapes."""
        return any(has_shape(failing, declaration, shape) for shape in self._shapes)

    def meet(self, failing: FailingCase, declaration: Declaration) -> bool:
        """Return whether a failure of a search has one of the shapes, and count it."""
        for index, shape in enumerate(self._shapes):
            if has_shape(failing, declaration, shape):
                self.counts[index] += 1
                return True
        return False


def rules_at_level(level: str, failing: FailingCase, rules: Sequence[Rule]) -> Sequence[Rule]:
    """Return those of the rules that a case of this level can be about, or else the rule of the failing operation."""
    system, coverage = failing.case.system, Coverage()
    if level == system.levels[-1] or failing.difference.is_unanswered:
        return rules
    run_reference(dataclasses.replace(failing.case, earlier=()), coverage)
    if all(coverage.fired.get(rule) for rule in rules):
        return rules
    own: Rule = type(failing.case.steps[failing.difference.at]).rule if failing.case.steps else rules[0]
    return levels.rules_up_to(system, level, rules) or [own]


def write_failure(
    subject: TestedSubject, failing: FailingCase, folder: Path, level: str, at_once: bool = False
) -> failure.Failure:
    """Write the case file that replays a failure, and return the failure with its rules.

    With `at_once` rules that first fire above the level are named too: to find those levels takes seconds.
    """
    explained = explain_difference(subject, failing.case, failing.path, failing.difference)
    rules = tuple(rule.value for rule in (explained if at_once else rules_at_level(level, failing, explained)))
    path, unwritten = files.try_write(lambda: write_case(failing.as_reported(rules), folder, rules[0].lower()))
    return dataclasses.replace(failure.Failure.of(failing, rules, path, unwritten), level=level)


def note_detectable(declaration: Declaration, coverage: Coverage) -> None:
    """Enter the rules whose breach the runs that were played would have shown.

    A rule is detectable if one of its seeded faults answers otherwise in one of the runs that are remembered, in the
    parts that the subject declares. A rule without a seeded fault counts as detectable.
    """
    by_rule: dict[Rule, list[Fault]] = {}
    for fault in (fault for group in declaration.system.blame.faults() for fault in group):
        by_rule.setdefault(fault.rule, []).append(fault)
    paths: dict[int, Sequence[RecordedStep]] = {}
    for rule in coverage.played.keys() - coverage.detectable:
        runs, faults = coverage.played[rule], by_rule.get(rule)
        if faults is None or any(_is_detected(faults, *run, declaration, paths) for run in runs):
            coverage.detectable.add(rule)


def _is_detected(
    faults: Sequence[Fault], case: Case, steps: Sequence[Any], declaration: Declaration,
    paths: dict[int, Sequence[RecordedStep]],
) -> bool:  # fmt: skip
    """Return whether a reference with one of these faults would have answered otherwise in a run, or never ended.

    `paths` holds the recorded steps of each run by the identity of the list of its steps.
    """
    answers = [done.outcome for done in steps]
    first = Difference(max(0, len(answers) - 1), None, None)
    observed = ObservedFailure(case, declaration, (), steps, answers, first)
    if id(steps) not in paths:
        paths[id(steps)] = _record_path(observed)
    return any(_differs(fault, observed, paths[id(steps)]) for fault in faults)
