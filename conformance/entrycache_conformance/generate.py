"""Generate cases next to the reference, and make them shorter.

Each operation of a case is made with the reference's state before it in sight, so that its arguments can aim at
thresholds of that state. The system's own `CasePlan` says which operations a case may have and makes their arguments.
The generator needs only a source of integers between two bounds (a `Draw`); smaller numbers lead to simpler cases.

The same code therefore runs from a seed, which is fast, and in the state machines of Hypothesis (`state_machine.py`).
A `CaseMaker` also records the numbers that a case was made of and where each step begins among them. `shrink.py` makes
shorter cases from fewer of these numbers.

`minimize_items` is the one search that leaves out what a failure does not need: pieces of half the items, then of a
quarter, down to single items, as long as the rest still fails. The functions below it use it for the steps of a case.
What counts as failing is the caller's: each takes a predicate, and none plays anything itself.

`vary_case` makes cases that are like a failing one. They show which seeded faults answer as the subject does there too.
"""

import dataclasses
import json
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from entrycache_conformance.judge import (
    EVERY_STEP,
    Coverage,
    Definition,
    LawSample,
    check_laws,
    count_rules,
    sample_laws,
)
from entrycache_protocol import errors
from entrycache_protocol.case import Case, case_from_json, case_to_json, config_to_json
from entrycache_protocol.codec import MalformedValue, field_codecs
from entrycache_protocol.declaration import Declaration, StepLimits
from entrycache_protocol.subject import Difference, TestedSubject, require_supported
from entrycache_protocol.system import CasePlan, Draw, choose, recording_draw, seeded_draw


class GeneratedCase(NamedTuple):
    """A case and the reference's steps through it."""

    case: Case
    steps: list[Any]


class RecordedCase(NamedTuple):
    """A seeded case, the numbers that it was made of, and the rules and table entries that the reference met in it."""

    generated: GeneratedCase
    choices: tuple[int, ...]
    coverage: Coverage


def make_case(
    draw: Draw,
    declaration: Declaration,
    menu: Sequence[str],
    coverage: Coverage | None,
    steps: int | None = None,
    workload: Any = None,
    at_step: Callable[[], None] = lambda: None,
    law_sample: LawSample = EVERY_STEP,
) -> GeneratedCase:
    """Make a case of the operations in `menu`, with a workload profile of the system, or `OMITTED_SETTINGS`.

    With `steps` the case has exactly that many. Without it the case may end after every step, and the final queries of
    its plan follow. Laws are checked at the steps of `law_sample`, if `coverage` is given. `at_step` is called before
    each step is drawn.
    """
    system = declaration.system
    omitted: tuple[str, ...] = ()
    if workload is OMITTED_SETTINGS:
        declaration, omitted = _omit_settings(draw, declaration)
        workload = choose(draw, (None, None, *system.cases.extra_workloads))
    plan = system.cases.plan(draw, declaration, tuple(menu), workload)
    next_op = _finite_choice(draw, plan) if steps is None else _endless_choice(draw, plan)
    limits = StepLimits(declaration) if declaration.is_narrowed else None
    limit = plan.steps_max if steps is None else steps
    limit = min(limit, declaration.limits.max_steps or limit)
    state = system.model.initial(plan.config)
    ops: list[Any] = []
    reference_steps: list[Any] = []

    step, config = system.model.step, plan.config
    one_in, offset, counts_all = law_sample

    def play(op: Any) -> Any:
        done = step(state, op, config)
        if coverage is None:
            pass
        elif (len(ops) + offset) % one_in == 0:
            check_laws(system, config, state, op, done, coverage)
        elif counts_all:
            count_rules(system, config, state, op, done, coverage)
        ops.append(op)
        reference_steps.append(done)
        return done.state

    while len(ops) < limit:
        at_step()
        op = next_op(state) if limits is None else _next_within(limits, plan.config, ops, partial(next_op, state))
        if op is None:
            break
        state = play(op)
    for op in plan.final_queries(state)[: max(0, limit - len(ops))] if steps is None else ():
        if limits is None or not limits.find_excess(op):
            state = play(op if limits is None else limits.fit(op))
    if coverage is not None and ops and not law_sample.has(len(ops) - 1):
        before = reference_steps[-2].state if len(ops) > 1 else system.model.initial(plan.config)
        counted = Coverage(definition=coverage.definition) if law_sample.counts_all else coverage
        check_laws(system, plan.config, before, ops[-1], reference_steps[-1], counted)
    return GeneratedCase(Case(system, plan.config, tuple(ops), omitted=omitted), reference_steps)


OMITTED_SETTINGS: Final = "omitted settings"
"""The workload of cases whose requests leave settings out, so that the subject's own defaults of them apply."""


GREAT_CASES: Final = 6
"""One case in so many that leave out the limit has entries of half the default, if they are given in full."""


def omittable_settings(declaration: Declaration) -> tuple[str, ...]:
    """Return the settings that a request to the subject may leave out."""
    names = declaration.sent_keys - declaration.system.cases.unvaried if declaration.limits.defaults else ()
    return tuple(sorted(names))


def _omit_settings(draw: Draw, declaration: Declaration) -> tuple[Declaration, tuple[str, ...]]:
    """Return the declaration without one of its settings, or without all of them, and the names of these.

    If the limit is left out, the sizes of entries aim at its default. If entries are given in full, as in
    `kafka-streams`, that takes megabytes, so one case in `GREAT_CASES` does it.
    """
    names = omittable_settings(declaration)
    at = draw(0, len(names))
    omitted = names if at == len(names) else (names[at],)
    limit = getattr(declaration.base_config(), "max_size_bytes", 0) if "max_size_bytes" in omitted else 0
    has_sizes = any("size" in op.__slots__ for op in declaration.system.ops.values())
    sizes: tuple[int, ...] = (int(limit * 0.98), limit, limit // 2) if limit and has_sizes else ()
    if limit and not has_sizes and draw(0, GREAT_CASES - 1) == GREAT_CASES - 1:
        sizes = (limit // 2,)
    kept = declaration.sent_keys - {*omitted}
    return dataclasses.replace(declaration, config=kept, sizes=(*declaration.sizes, *sizes)), omitted


def omit_computed_settings(generated: GeneratedCase, declaration: Declaration) -> GeneratedCase:
    """Return the case without the settings that are computed from others, if a step changes settings.

    A request shows the computed number. A subject that computes it again after a `configure` would get it as if it were
    given, and its mistake would stay hidden.
    """
    case = generated.case
    configure = case.system.ops.get("configure")
    if configure is None or not any(isinstance(op, configure) for op in case.steps):
        return generated
    computed = [name for name in case.system.wire.computed(case.config) if getattr(case.config, name) is None]
    omitted = tuple(name for name in omittable_settings(declaration) if name in computed)
    return generated._replace(case=dataclasses.replace(case, omitted=omitted)) if omitted else generated


def decisive_defaults(generated: GeneratedCase, declaration: Declaration) -> list[str]:
    """Return the omitted settings of a case with which another default would have led to another outcome."""
    case = generated.case
    declared_part = case.system.wire.declared_part

    def shows(done: Any, expected: Any) -> bool:
        """Return whether a step has another outcome than expected, in the part that the subject declares."""
        if done.outcome == expected.outcome:
            return False
        own, other = (declared_part(each.outcome, declaration.introspection) for each in (done, expected))
        return bool(own != other)

    def differs(name: str, value: Any) -> bool:
        config = dataclasses.replace(case.config, **{name: value})
        state = case.system.model.initial(config)
        for op, expected in zip(case.steps, generated.steps, strict=True):
            done = case.system.model.step(state, op, config)
            if shows(done, expected):
                return True
            state = done.state
        return False

    return [name for name in case.omitted if any(differs(name, other) for other in _other_defaults(case, name))]


def _other_defaults(case: Case, name: str) -> list[Any]:
    """Return other values of a setting: the double and the half of a number, or the other members of an enumeration."""
    value = getattr(case.config, name)
    if value is None:
        value = config_to_json(case.system, case.config)[name]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, Enum):
        return [other for other in type(value) if other is not value]
    if isinstance(value, float):
        return [value / 2]
    decode = next(codec.decode for codec in field_codecs(type(case.config)) if codec.name == name)
    others = []
    for other in (2 * value or 1, value // 2):
        with suppress(MalformedValue):
            others += [] if other == value else [decode(other)]
    return others


FITTING_TRIES: Final = 60
"""The number of operations that are made until one is within the limits of the subject; then the case ends."""


def _next_within(limits: StepLimits, config: Any, ops: Sequence[Any], next_op: Callable[[], Any]) -> Any:
    """Return the next operation within the limits of the subject, or None if the case ends."""
    expire = limits.declaration.system.ops["expire"] if limits.owes_expiry else None
    op = expire() if expire is not None else _fitting_op(limits, config, ops, next_op)
    if op is not None:
        limits.accept(op)
    return op


def _fitting_op(limits: StepLimits, config: Any, ops: Sequence[Any], next_op: Callable[[], Any]) -> Any:
    declaration = limits.declaration
    for _ in range(FITTING_TRIES):
        op = next_op()
        if op is None:
            return None
        op = limits.fit(op)
        fits = not limits.find_excess(op)
        if fits and not declaration.system.cases.unsupported_reason(declaration, config, [*ops, op]):
            return op
    return None


def _finite_choice(draw: Draw, plan: CasePlan) -> Callable[[Any], Any]:
    """Return a function that makes the next operation, or None by chance: the simplest number ends the case."""
    length = len(plan.menu)
    ends = max(1, length // plan.typical_steps)
    greatest = ends + length * max(1, plan.typical_steps // length) - 1

    def next_op(state: Any) -> Any:
        at = draw(0, greatest)
        return None if at < ends else plan.make(plan.menu[(at - ends) % length], state)

    return next_op


def _endless_choice(draw: Draw, plan: CasePlan) -> Callable[[Any], Any]:
    greatest = len(plan.menu) - 1
    return lambda state: plan.make(plan.menu[draw(0, greatest)], state)


class CaseMaker:
    """A maker of cases that records the numbers of the last case.

    `choices` are those numbers; `starts` holds the index of the first number of each step.
    """

    def __init__(self, declaration: Declaration, menu: Sequence[str], workload: Any) -> None:
        self._declaration = declaration
        self._menu = menu
        self._workload = workload
        self.choices: list[int] = []
        self.starts: list[int] = []

    def from_choices(self, choices: Sequence[int], coverage: Coverage) -> GeneratedCase:
        """Make the case of these numbers; the simplest numbers follow where they end."""
        rest = iter(choices)

        def draw(least: int, greatest: int) -> int:
            return min(max(next(rest, least), least), greatest)

        self.choices = []

        def recording(least: int, greatest: int) -> int:
            value = draw(least, greatest)
            self.choices.append(value)
            return value

        return self._make(recording, coverage, EVERY_STEP)

    def from_source(
        self, source: random.Random, coverage: Coverage, law_sample: LawSample = EVERY_STEP
    ) -> GeneratedCase:
        """Make the next case of a seeded source."""
        self.choices = []
        return self._make(recording_draw(source, self.choices), coverage, law_sample)

    def _make(self, draw: Draw, coverage: Coverage, law_sample: LawSample) -> GeneratedCase:
        """Make a case of draws that record themselves in `choices`."""
        self.starts = []
        generated = make_case(
            draw,
            self._declaration,
            self._menu,
            coverage,
            workload=self._workload,
            at_step=lambda: self.starts.append(len(self.choices)),
            law_sample=law_sample,
        )
        if self._workload is not OMITTED_SETTINGS:
            return omit_computed_settings(generated, self._declaration)
        coverage.defaults.update(dict.fromkeys(generated.case.omitted, 0))
        coverage.defaults.update(dict.fromkeys(decisive_defaults(generated, self._declaration), 1))
        return generated

    def choices_before_steps(self) -> list[int]:
        """Return the numbers of the last case that come before its first step."""
        return self.choices[: self.starts[0]] if self.starts else self.choices

    def choices_by_step(self) -> list[list[int]]:
        """Return the numbers of each step of the last case."""
        ends = [*self.starts[1:], len(self.choices)]
        return [self.choices[start:end] for start, end in zip(self.starts, ends, strict=False)]


def record_seeded_cases(
    declaration: Declaration,
    menu: Sequence[str],
    examples: int,
    seed: int,
    workload: Any = None,
    definition: Definition | None = None,
) -> Iterator[RecordedCase]:
    """Yield the cases of a search. They follow from the seed alone, whatever a subject answers."""
    source = _search_source(seed)
    samples = (sample_laws(run, definition) for run in range(examples))
    return (record_case(source, declaration, menu, workload, definition, sample) for sample in samples)


def make_seeded_cases(
    declaration: Declaration, menu: Sequence[str], examples: int, seed: int, workload: Any = None
) -> Iterator[GeneratedCase]:
    """Yield the cases of `record_seeded_cases` without checking laws and without recording numbers."""
    draw = seeded_draw(_search_source(seed))
    cases = (make_case(draw, declaration, menu, None, workload=workload) for _ in range(examples))
    return cases if workload is OMITTED_SETTINGS else (omit_computed_settings(one, declaration) for one in cases)


def _search_source(seed: int) -> random.Random:
    return random.Random(f"search {seed}")


def record_case(
    source: random.Random,
    declaration: Declaration,
    menu: Sequence[str],
    workload: Any,
    definition: Definition | None,
    law_sample: LawSample = EVERY_STEP,
) -> RecordedCase:
    """Make the next case of a seeded source and record its numbers and its coverage."""
    coverage = Coverage(definition=definition)
    maker = CaseMaker(declaration, menu, workload)
    generated = maker.from_source(source, coverage, law_sample)
    coverage.steps = len(generated.steps)
    return RecordedCase(generated, tuple(maker.choices), coverage)


Item = TypeVar("Item")


def minimize_items(
    items: Sequence[Item],
    fails: Callable[[tuple[Item, ...]], Sequence[Item] | None],
    budget: float = math.inf,
    forwards: bool = False,
) -> tuple[Item, ...]:
    """Return the fewest items found that still fail. Everything here that shortens a case uses this function.

    It leaves out pieces of half the items, then of a quarter, down to single items, from the end or `forwards`.
    `fails` takes the items that are left. If they still fail it returns them, or what became of them, else None.
    It is called at most `budget` times.
    """
    remaining = tuple(items)
    piece = max(1, len(remaining) // 2)
    while budget > 0:
        left_out = False
        at = 0 if forwards else max(0, len(remaining) - piece)
        while budget > 0 and at < len(remaining):
            budget -= 1
            fewer = fails(remaining[:at] + remaining[at + piece :])
            is_fewer = fewer is not None and len(fewer) < len(remaining)
            if fewer is not None and is_fewer:
                remaining, left_out = tuple(fewer), True
            if forwards:
                at += 0 if is_fewer else piece
            elif at == 0:
                break
            else:
                at = max(0, min(at, len(remaining)) - piece)
        if piece == 1 and not left_out:
            break
        piece = max(1, piece // 2)
    return remaining


Result = TypeVar("Result")


def minimize_steps(
    case: Case, fails: Callable[[Case], Result | None], tries: int, forwards: bool = False
) -> Result | None:
    """Return the result of `fails` for the shortest case found, or None if not even the case itself fails."""
    result = fails(case)
    if result is None:
        return None

    def fails_with(steps: tuple[Any, ...]) -> tuple[Any, ...] | None:
        nonlocal result
        again = fails(dataclasses.replace(case, steps=steps))
        result = result if again is None else again
        return None if again is None else steps

    minimize_items(case.steps, fails_with, tries, forwards)
    return result


def shrink_case(
    case: Case,
    difference: Difference,
    differs: Callable[[Case], Difference | None],
    tries: int,
    forwards: bool = False,
) -> tuple[Case, Difference]:
    """Return the shortest case found that still differs, and its difference."""

    def differing(shorter: Case) -> tuple[Case, Difference] | None:
        again = differs(shorter)
        return None if again is None else (shorter, again)

    cut = dataclasses.replace(case, steps=case.steps[: difference.at + 1])
    return minimize_steps(cut, differing, tries, forwards) or (case, difference)


COUNT_ARGUMENTS: Final = ("expected_reads", "max_requeues", "fails")
"""Arguments that demand as many further steps as their value."""


def lower_counts(case: Case, fails: Callable[[Case], Result | None]) -> Result | None:
    """Set each count to 1 if the case still fails. Return the last failure, or None if no count can be lowered."""
    result = None
    for at, step in enumerate(case.steps):
        for name in COUNT_ARGUMENTS:
            value = getattr(step, name, None)
            if type(value) is int and value > 1:
                steps = (*case.steps[:at], dataclasses.replace(step, **{name: 1}), *case.steps[at + 1 :])
                less = dataclasses.replace(case, steps=steps)
                again = fails(less)
                if again is not None:
                    case, step, result = less, steps[at], again
    return result


# Variations of a failing case.

MAX_VARIATIONS: Final = 40
"""The number of variations of the steps of a failing case that are played."""


def is_playable(subject: TestedSubject, case: Case) -> bool:
    """Return whether a case is valid and the subject can play it."""
    max_steps = subject.declaration.limits.max_steps
    try:
        case_from_json(json.loads(json.dumps(case_to_json(case))), {case.system.name: case.system})
        require_supported(case, subject)
    except errors.UsageError:
        return False
    return max_steps is None or len(case.steps) <= max_steps


def vary_case(case: Case, queries: Sequence[Any], sent_keys: Collection[str]) -> Iterator[Case]:
    """Yield the case with a step left out or played twice, or with another number in a step or in its configuration.

    The state queries follow each step of the case and of what is yielded. A step that is played twice names the next
    position the second time, if it names one. Only settings that are among `sent_keys` change.
    """
    steps = case.steps[:: 1 + len(queries)]
    varied = [(*steps[:at], *steps[at + 1 :]) for at in range(len(steps) - 1)]
    for at, op in enumerate(steps):
        varied += [(*steps[: at + 1], _with_next_position(op), *steps[at + 1 :])]
        varied += [(*steps[:at], other, *steps[at + 1 :]) for other in _with_other_numbers(op)]
    for config in _with_other_numbers(case.config, sent_keys):
        yield dataclasses.replace(case, config=config)
    for some in varied[:: 1 + len(varied) // MAX_VARIATIONS]:
        yield with_queries(case, some, queries)


def with_queries(case: Case, steps: Sequence[Any], queries: Sequence[Any]) -> Case:
    """Return the case with these steps, each followed by the state queries."""
    return dataclasses.replace(case, steps=tuple(part for op in steps for part in (op, *queries)), outcomes=(), got=())


def _with_other_numbers(value: Any, names: Collection[str] = ()) -> Iterator[Any]:
    """Yield an operation or a configuration with one number higher or lower, or one truth value turned round.

    `names` are the fields that may change; none: all.
    """
    for field in dataclasses.fields(value):
        number = getattr(value, field.name)
        by = {int: 1, float: 0.125}.get(type(number), 0)
        others = (not number,) if type(number) is bool else (number + by, number - by) if by else ()
        for other in others if not names or field.name in names else ():
            yield dataclasses.replace(value, **{field.name: other})


def _with_next_position(op: Any) -> Any:
    """Return an operation at the next position, if it names one."""
    position: Any = getattr(op, "pos", None)
    is_position = isinstance(position, tuple) and hasattr(position, "_replace")
    return dataclasses.replace(op, pos=position._replace(entry=position.entry + 1)) if is_position else op
