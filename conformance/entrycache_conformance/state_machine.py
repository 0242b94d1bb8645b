"""State machines of Hypothesis that hold a cache beside the reference, with one rule for each operation.

`build_state_machine` makes a subclass of `CacheMachine` for one subject. Each step draws an operation next to the
reference's state, by the generators of the search, performs it on both sides and compares the answers at once. The
reference's laws are an invariant. Hypothesis chooses the rules, shrinks and replays; only its public
interfaces are used.

A `Run` is one run of the subject. A Python class and a cache of this process answer each step. The protocol has whole
runs only, so a process plays an example when it ends, or when a rule of a user's own wants an answer.

A failure raises `AnswerDiffers` with one line. Its text holds the steps, the rule and the case file. It takes longer to
make, so it is made once: as a note of the shortest example.
"""

import atexit
import functools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, Protocol

import hypothesis
from hypothesis import stateful

from entrycache_conformance import resolve, strategies
from entrycache_conformance.check import FailureText
from entrycache_conformance.judge import Coverage, LawBroken, check_laws, guided_step, judge
from entrycache_conformance.levels import select_levels
from entrycache_protocol import codec, errors, wire
from entrycache_protocol.case import Case, config_to_json
from entrycache_protocol.declaration import Declaration, StepLimits
from entrycache_protocol.server import ClassAnswerer, Skip, Subject
from entrycache_protocol.subject import (
    Answer,
    Difference,
    FailedRun,
    FailingCase,
    FailureKind,
    InProcessSubject,
    RunResult,
    SkippedRun,
    TestedSubject,
    raise_interruption,
    require_supported,
)
from entrycache_protocol.system import AnySystem, CasePlan, Draw

FAILURES: Final = Path("entrycache-failures")
"""The default folder of case files."""


class AnswerDiffers(AssertionError):
    """The error of a step at which the subject and the reference differ."""


class Run(Protocol):
    """One run of a subject in this process, step by step; `instance` is the implementation."""

    instance: Any

    def answer(self, op: Any) -> RunResult:
        """Perform one operation and return its outcome. An error of the implementation is raised."""

    def leaked(self) -> int | None:
        """Return the references that are left, or None if nobody counts them."""


class ClassRun(Run):
    """A run of a Python class of an author."""

    def __init__(self, subject: type[Subject], declaration: Declaration, config: Any) -> None:
        self._count, self._answers = 0, ClassAnswerer(subject)
        self._declaration, self._config = declaration, config
        sent = config_to_json(declaration.system, config, declaration.sent_keys)
        self.instance = self._answers.open(strategies.as_json(sent))

    def answer(self, op: Any) -> RunResult:
        """Perform one operation; an error of the class is raised.

        Raises:
            BrokenSubject: the answer is not of the protocol.
        """
        value = self._answers.perform(self.instance, self._answers.read(strategies.as_json(codec.encode_op(op))))
        leaked = {"leaked": 0} if self._declaration.leaks else {}
        line = json.dumps({"id": 0, "outcomes": [value], **leaked}).encode()
        case = Case(self._declaration.system, self._config, (op,))
        try:
            result: Any = wire.read_answer(wire.parse_line(line), case, 0, self._declaration)
        except errors.BrokenSubject as error:
            text = str(error).replace("the outcome of step 0 ", f"the outcome of step {self._count} ", 1)
            raise errors.BrokenSubject(text) from None
        self._count += 1
        return RunResult(result.outcomes)

    def leaked(self) -> int | None:
        """Return the references that the instance counts, if the class declares `leaks`."""
        return self._answers.leaked(self.instance)


class LocalRun(Run):
    """A run of a cache of ours in this process."""

    def __init__(self, subject: InProcessSubject, config: Any) -> None:
        self._subject = subject
        self.instance = subject.open(config)

    def answer(self, op: Any) -> RunResult:
        """Perform one operation; an error of the cache is raised."""
        return RunResult((self.instance(op),))

    def leaked(self) -> int | None:
        """Return the references that the cache counts, if it declares `leaks`."""
        return self._subject.leaked(self.instance)


class ProcessRun:
    """The runs of a subject that plays whole runs, and how many steps it answered in how many seconds."""

    instance = None

    def __init__(self, subject: TestedSubject) -> None:
        self._subject = subject
        self.steps = 0
        self.seconds = 0.0

    def play(self, case: Case) -> Answer:
        """Return the answer to a whole run."""
        started_at = time.perf_counter()
        answer = self._subject.play([case])[0]
        self.seconds += time.perf_counter() - started_at
        self.steps += len(answer.outcomes) if isinstance(answer, RunResult) else 0
        return answer

    def print_and_close(self) -> None:
        """Print the rate if there was an answer, and end the process."""
        if self.steps:
            name, seconds = errors.escape_unprintable(self._subject.name), f"{self.seconds:.1f} s"
            per_second = self.steps / max(self.seconds, 1e-9)
            print(f"entrycache: {name}: {self.steps} steps in {seconds}, {per_second:.0f} a second", file=sys.stderr)
        self._subject.close()


class Setup(NamedTuple):
    """The parts that all machines of a class share.

    `cases` is the subject's declaration with the settings that stay. `menu` holds the operations of the level that the
    subject offers, each as often as it weighs.
    """

    subject: TestedSubject
    cases: Declaration
    menu: tuple[str, ...]
    level: str
    open_run: Callable[[Any], Run | ProcessRun]
    failures: Path

    @property
    def system(self) -> AnySystem:
        """The system of the subject."""
        return self.subject.declaration.system


def _explain_errors(run: Callable[[Any], None]) -> Callable[[Any, Any], None]:
    """Return a test of a machine that also says why Hypothesis calls it flaky or not satisfiable."""

    @functools.wraps(run)
    def run_test(self: Any, machine: Any) -> None:
        __tracebackhide__ = True
        try:
            run(self)
        except hypothesis.errors.Unsatisfiable as error:
            if machine._skips:
                error.add_note(f"entrycache: {machine._reason_unchecked()}")
            raise
        except hypothesis.errors.Flaky as error:
            error.add_note(
                "entrycache: the same steps got other answers when they were played again. A new instance must begin "
                "empty: look for class attributes, globals and files that one run leaves to the next, and for chance."
            )
            raise

    return run_test


class CacheMachine(stateful.RuleBasedStateMachine):
    """A cache beside the reference. Extend it by rules, invariants and an initialisation of your own.

    `subject` is the instance of your class; None if the subject is a process.
    """

    _setup: ClassVar[Setup]
    _compared: ClassVar[list[int]]
    _skips: ClassVar[Counter[str]]

    def __init_subclass__(cls) -> None:
        """Set up the test of a machine. It fails if nothing was compared.

        Leave out the phase `explain`: it names lines of this suite, and tracing them takes five times as long.
        """
        super().__init_subclass__()
        cls._compared, cls._skips = [0], Counter()
        options = cls.TestCase.settings
        phases = [phase for phase in options.phases if phase is not hypothesis.Phase.explain]
        cls.TestCase.settings = hypothesis.settings(options, phases=phases)
        test_case: Any = cls.TestCase
        run_test = _explain_errors(test_case.runTest)

        @functools.wraps(run_test)
        def run_and_count(test: Any) -> None:
            __tracebackhide__ = True
            cls._compared[0] = 0
            cls._skips.clear()
            run_test(test, cls)
            cls.require_comparisons()

        test_case.runTest = run_and_count

    @classmethod
    def require_comparisons(cls) -> None:
        """Check that some answer of the subject was compared.

        Raises:
            AssertionError: none was; the text says why.
        """
        assert cls._compared[0], f"nothing was checked of {cls._setup.subject.name}: {cls._reason_unchecked()}"

    @classmethod
    def _reason_unchecked(cls) -> str:
        for reason, count in cls._skips.most_common(1):
            return f"it skipped every step; {count} times: {reason or 'no reason given'}"
        return "no example had a step; raise max_examples or stateful_step_count"

    def __init__(self) -> None:
        super().__init__()
        self.subject: Any = None
        self._coverage = Coverage()
        self._plan: CasePlan | None = None
        self._weights: dict[str, int] = {}
        self._config: Any = None
        self._state: Any = None
        self._run: Run | ProcessRun | None = None
        self._earlier: tuple[Case, ...] = ()
        self._ops: list[Any] = []
        self._steps: list[Any] = []
        self._unchecked: list[tuple[Any, Any, Any]] = []
        self._broken_law: LawBroken | None = None
        self._failing: FailingCase | None = None
        self._limits = StepLimits(self._setup.subject.declaration)
        self._guided = guided_step(self._setup.subject.declaration)

    @property
    def case(self) -> Case:
        """The case so far: the steps of the present run, and the runs before a `restart`."""
        return Case(self._setup.system, self._config, tuple(self._ops), earlier=self._earlier)

    @property
    def reference_state(self) -> Any:
        """The state of the reference, in the types of its system; these may change with every version."""
        return self._state

    @stateful.initialize(config=strategies.configs())
    def begin(self, config: dict[str, Any]) -> None:
        """Begin with an empty cache under these settings; absent ones have the subject's defaults."""
        declaration, model = self._setup.subject.declaration, self._setup.system.model
        try:
            typed = codec.decode_object(model.config, {**declaration.fixed, **config})
        except codec.MalformedValue as error:
            raise errors.UsageError(f"{type(self).__name__}.begin: config: {error}") from None
        self._open(replace(typed, variants=declaration.base_config().variants))

    def _breaks_a_law(self) -> bool:
        """Check the laws of the steps since the last check: of the state before, the operation and the step."""
        steps, self._unchecked = self._unchecked, []
        try:
            for state, op, done in steps:
                check_laws(self._setup.system, self._config, state, op, done, self._coverage)
        except LawBroken as error:
            self._broken_law = error
        return self._broken_law is not None

    @stateful.precondition(_breaks_a_law)
    @stateful.invariant(check_during_init=True)
    def the_laws_hold(self) -> None:
        """Check the laws of the reference. A list of steps shows this invariant only if one is broken.

        Raises:
            LawBroken: the reference breaks a law.
        """
        if self._breaks_a_law() and self._broken_law is not None:
            raise self._broken_law

    def perform(self, **operation: Any) -> dict[str, Any]:
        """Perform an operation on both sides, compare the answers and return them: `perform(get={"cache": "a", ..})`.

        A list of whole steps in place of the arguments is performed one by one; the last answer is returned.

        Raises:
            AnswerDiffers: the answers differ.
        """
        __tracebackhide__ = True
        outcome = None
        for op in self._read(operation):
            strategies.require_offered(self._setup.subject, op)
            outcome = self._play(op)
        if isinstance(self._run, ProcessRun):
            outcome = self._compare_run(self._run)
        return hypothesis.reject() if outcome is None else self._write(outcome)

    def expect(self, **operation: Any) -> dict[str, Any]:
        """Return the answer that the reference would give to an operation now. Nothing changes on either side."""
        state, outcome = self._state, None
        for op in self._read(operation):
            done = self._setup.system.model.step(state, op, self._config)
            state, outcome = done.state, done.outcome
        return self._write(outcome)

    def restart(self) -> None:
        """Begin with an empty cache once more, under the same settings: the former run has ended without notice."""
        if isinstance(self._run, ProcessRun):
            self._compare_run(self._run)
        self._earlier = self._runs_so_far()
        self._open(self._config)

    def teardown(self) -> None:
        """Perform the last queries, and report the failure if there is one."""
        try:
            if self._run is not None and self._failing is None:
                self._end()
        finally:
            if self._failing is not None and hypothesis.currently_in_test_context():
                hypothesis.note(self._failure_text())
            elif hypothesis.currently_in_test_context():
                for rule in [rule for rule, count in self._coverage.fired.items() if count]:
                    hypothesis.event(rule.value)

    @classmethod
    def play(cls, case: Case) -> None:
        """Play a case, such as one of a file, by the rules of this machine.

        Raises:
            AssertionError: the answers differ; the text shows the steps, the rule and the case file.
            UsageError: it is no case, or the subject cannot play it.
        """
        if not isinstance(case, Case):
            got = type(case).__name__
            raise errors.UsageError(f"play got an instance of {got}; expected a case, as entrycache.load_case reads it")
        require_supported(case, cls._setup.subject)
        machine = cls()
        try:
            for run in (*case.earlier, case):
                machine._earlier = machine._runs_so_far()
                machine._open(run.config)
                for op in run.steps:
                    machine._play(op)
            machine._end()
        except AnswerDiffers as error:
            assert machine._failing is not None
            raise AnswerDiffers(f"{error}\n{machine._failure_text()}") from error.__cause__

    def draw_config(self, draw: Draw) -> dict[str, Any]:
        """Plan a case and return its settings that are not the default."""
        cases = self._setup.system.cases
        declaration = self._setup.cases
        self._plan = cases.plan(draw, declaration, self._setup.menu, strategies.draw_workload(draw, cases))
        self._weights = strategies.scale_weights(self._plan.menu)
        self._config = self._plan.config
        self._state = self._setup.system.model.initial(self._config)
        chosen, usual = codec.encode(self._config), codec.encode(self._setup.subject.declaration.base_config())
        return {name: value for name, value in chosen.items() if value != usual[name]}

    def draw_steps(self, draw: Draw, name: str) -> list[dict[str, Any]]:
        """Draw the steps of an operation: mostly one, and others that belong to it.

        Raises:
            UsageError: the level of the machine does not have the operation.
        """
        if name not in self._setup.system.ops_up_to(self._setup.level) or self._plan is None:
            raise errors.UsageError(f"{name} is no operation of level {self._setup.level}, or the run has not begun")
        plan, model = self._plan, self._setup.system.model
        ops, state = [self._limits.fit(plan.make(name, self._state))], self._state
        while plan.pending():
            state = model.step(state, ops[-1], self._config).state
            ops.append(self._limits.fit(plan.make(name, state)))
        return [strategies.short_step(op) for op in ops]

    def _perform_drawn(self, operation: dict[str, Any]) -> None:
        """Perform the drawn steps of a rule, within the limits of the subject. A skipped step is left out."""
        __tracebackhide__ = True
        most = self._setup.subject.declaration.limits.max_steps
        for op in self._read(operation):
            if (most is None or len(self._ops) < most) and not self._limits.find_excess(op):
                self._play(op)

    def is_planned(self, name: str, number: int) -> bool:
        """Return whether an operation weighs more than `number` in the plan of this run.

        Raises:
            UsageError: an initialisation of a user's own has drawn no plan.
        """
        if self._plan is None:
            why = f"{type(self).__name__} has no drawn settings; decorate its `begin` by @initialize(config=strategies"
            raise errors.UsageError(f"{why}.configs()), and call super().begin(config)")
        return number < self._weights.get(name, 0)

    def _runs_so_far(self) -> tuple[Case, ...]:
        """Return the runs before this one, and this one; none if none has begun."""
        return () if self._run is None else (*self._earlier, replace(self.case, earlier=()))

    def _open(self, config: Any) -> None:
        self.the_laws_hold()
        self._config = config
        self._state = self._setup.system.model.initial(config)
        self._ops, self._steps = [], []
        self._limits = StepLimits(self._setup.subject.declaration)
        try:
            self._run = self._setup.open_run(config)
        except Skip as skip:
            self._skips[skip.reason] += 1
            hypothesis.reject()
        self.subject = self._run.instance

    def _read(self, operation: dict[str, Any]) -> list[Any]:
        """Return the typed steps of an operation with its arguments, or with a list of whole steps.

        Raises:
            UsageError: the run has not begun.
        """
        if self._run is None:
            why = f"{type(self).__name__} performs an operation before its run has begun"
            raise errors.UsageError(f"{why}; do it in a rule, or in a `begin` of its own behind super().begin(config)")
        return strategies.read_steps(self._setup.subject, operation)

    def _write(self, outcome: Any) -> dict[str, Any]:
        return self._setup.system.wire.write_outcome(outcome)

    def _play(self, op: Any) -> Any:
        """Perform one step on both sides and return the subject's outcome; None if it is unknown or skipped."""
        __tracebackhide__ = True
        system, declaration = self._setup.system, self._setup.subject.declaration
        done = system.model.step(self._state, op, self._config)
        self._unchecked.append((self._state, op, done))
        self._limits.accept(op)
        self._ops.append(op)
        self._steps.append(done)
        if isinstance(self._run, ProcessRun):
            self._state = done.state
            return None
        answer = self._answer(op)
        if isinstance(answer, SkippedRun):
            del self._ops[-1], self._steps[-1], self._unchecked[-1]
            return None
        if self._guided is not None and isinstance(answer, RunResult):
            done = self._steps[-1] = self._guided(self._state, op, self._config, answer.outcomes[0])
        difference = judge(Case(system, self._config, (op,)), [done], answer, declaration, are_guided=True)
        if difference is not None:
            self._fail(difference._replace(at=len(self._ops) - 1))
        self._compared[0] += 1
        self._state = done.state
        return answer.outcomes[0]

    def _answer(self, op: Any) -> RunResult | SkippedRun:
        """Return the answer of an instance to one step."""
        __tracebackhide__ = True
        assert self._run is not None, "begin comes first"
        assert not isinstance(self._run, ProcessRun)
        try:
            return self._run.answer(op)
        except Skip as skip:
            self._skips[skip.reason] += 1
            return SkippedRun(skip.reason)
        except errors.EntrycacheError:
            raise
        except BaseException as error:  # an error of the implementation is its answer
            raise_interruption(error)
            failed = FailedRun(FailureKind.ERRORED, 0, f"{type(error).__name__}: {error}")
            self._fail(Difference(len(self._ops) - 1, self._steps[-1].outcome, None, failed), error)

    def _compare_run(self, process: ProcessRun) -> Any:
        """Play the run so far on the process, compare the answers and return the last outcome."""
        __tracebackhide__ = True
        answer = process.play(replace(self.case, earlier=()))
        difference = judge(self.case, self._steps, answer, self._setup.subject.declaration)
        if difference is not None:
            self._fail(difference)
        if isinstance(answer, SkippedRun):
            self._skips[answer.reason] += 1
        if not isinstance(answer, RunResult) or not answer.outcomes:
            return None
        self._compared[0] += len(answer.outcomes)
        return answer.outcomes[-1]

    def _end(self) -> None:
        """Perform the queries that end a case, and count what the run has left behind."""
        __tracebackhide__ = True
        for op in () if self._plan is None else map(self._limits.fit, self._plan.final_queries(self._state)):
            if not self._limits.find_excess(op):
                self._play(op)
        self.the_laws_hold()
        if isinstance(self._run, ProcessRun):
            self._compare_run(self._run)
            return
        assert self._run is not None
        result = RunResult(tuple(done.outcome for done in self._steps), self._run.leaked())
        difference = judge(self.case, self._steps, result, self._setup.subject.declaration)
        if difference is not None:
            self._fail(difference)

    def _failure_text(self) -> FailureText:
        assert self._failing is not None
        return FailureText(self._setup.subject, self._failing, self._setup.failures, self._setup.level)

    def _fail(self, difference: Difference, cause: BaseException | None = None) -> NoReturn:
        """Keep the failure and raise its error.

        Raises:
            AnswerDiffers: always.
        """
        __tracebackhide__ = True
        self.the_laws_hold()
        end = difference.at + 1
        case = replace(self.case, steps=tuple(self._ops[:end]))
        self._failing = FailingCase(case, self._steps[:end], difference)
        write = self._write
        got = difference.failed.message if difference.failed is not None else codec.format_json(write(difference.got))
        expected = codec.format_json(write(difference.expected))
        name = self._ops[difference.at].name if self._ops else "begin"
        raise AnswerDiffers(f"step {difference.at} ({name}): expected {expected}, got {got}") from cause


def _open_subject(
    make_subject: type[Subject] | str | None, command: str | None, system: str | None, failures: str | Path
) -> TestedSubject:
    if not isinstance(command, str | None):
        got = f"an instance of {type(command).__name__}"
        raise errors.UsageError(f'state_machine: command: got {got}; expected one text, such as "node cache.mjs"')
    if not isinstance(failures, str | Path):
        raise errors.UsageError(f"state_machine: failures: got {failures!r}; expected a folder for case files")
    if make_subject is not None and command is not None:
        raise errors.UsageError("state_machine got a subject and a command; expected one of them")
    if isinstance(make_subject, type):
        subject = resolve.PythonSubject(make_subject)
        if system not in {None, subject.declaration.system.name}:
            raise errors.UsageError(
                f"{subject.name} is a subject of {subject.declaration.system.name}, not of {system}"
            )
        return subject
    if not isinstance(make_subject, str | None):
        got = f"an instance of {type(make_subject).__name__}"
        raise errors.UsageError(f"state_machine got {got}; expected a class that extends Subject, or a subject's name")
    return resolve.resolve_subject(resolve.SubjectChoice(make_subject, command, None, system))


def _run_opener(make_subject: Any, subject: TestedSubject) -> Callable[[Any], Run | ProcessRun]:
    """Return the function that begins a run of the subject. A process ends with this one, and its rate is printed."""
    if isinstance(make_subject, type):
        return lambda config: ClassRun(make_subject, subject.declaration, config)
    if isinstance(subject, InProcessSubject):
        return lambda config: LocalRun(subject, config)
    process = ProcessRun(subject)
    atexit.register(process.print_and_close)
    return lambda config: process


def build_state_machine(
    make_subject: type[Subject] | str | None,
    system: str | None,
    level: str | None,
    config: Mapping[str, Any] | None,
    command: str | None,
    failures: str | Path,
) -> type[CacheMachine]:
    """Make the state machine of a subject; see `entrycache.state_machine`.

    Raises:
        UsageError: there is no such subject, system, level or setting, or the level has no operation of the subject.
    """
    subject = _open_subject(make_subject, command, system, failures)
    declaration = subject.declaration
    selected = select_levels(declaration, [] if level is None else [level])
    levels = [each for each in selected if declaration.system.own_ops(each) & declaration.ops]
    if not levels:
        at = "any level" if level is None else f"level {level!r}"
        raise errors.UsageError(
            f"{subject.name} offers no operation of {at}; expected one that a state machine performs"
        )
    cases = strategies.fix_settings(subject, {} if config is None else config)
    menu = declaration.system.cases.menu(declaration.ops_up_to(levels[-1]), levels[-1])
    setup = Setup(subject, cases, menu, levels[-1], _run_opener(make_subject, subject), Path(failures))
    name = "".join(part.capitalize() if part.islower() else part for part in re.findall(r"[^\W_]+", subject.name))
    doc = f"{subject.name} beside the reference of {declaration.system.name}, level {levels[-1]}."
    body = {"__doc__": doc, "__module__": __name__, "_setup": setup, **strategies.operation_rules(cases, menu)}
    return type(f"{name}Machine", (CacheMachine,), body)
