"""No verdict without ground: a level or a rule that nothing could have shown broken has not been checked."""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from entrycache_conformance import generate
from entrycache_conformance.explain import note_detectable
from entrycache_conformance.judge import Coverage, run_reference
from entrycache_conformance.levels import Profile
from entrycache_conformance.report import RunReport
from entrycache_conformance.resolve import PythonSubject, open_in_process
from entrycache_conformance.run import Options, conform, conform_to_rules
from entrycache_conformance.subjects.wrappers import NarrowedSubject, without_operations
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_protocol.case import Case, case_from_json
from entrycache_protocol.errors import Verdict
from entrycache_protocol.server import Refuse, Subject
from entrycache_protocol.subject import Answer, RunResult, SubjectWrapper, TestedSubject
from entrycache_reference.rules import Rule

PROFILE: Final = Profile(60, 0, 0)
LEVELS: Final = ("range", "queue", "manager", "reads", "cursors")


def judged(subject: TestedSubject, tmp_path: Path, levels: tuple[str, ...] = ("range",)) -> RunReport:
    return conform(subject, Options(levels, PROFILE, 0, 0.0, tmp_path))


class OneStep(Subject):
    """A class of constants, which takes runs of one step alone."""

    system = "pulsar-pip430"
    settings = ()
    limits: ClassVar = {"max_steps": 1}

    def __init__(self, config: Any) -> None:
        pass

    def insert(self, cache: str, pos: Any, size: int, expected_reads: Any = None) -> dict[str, Any]:
        if size < 0:
            raise Refuse
        return {"inserted": True}

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"hit": False}


class Empty(Subject):
    """A disabled cache."""

    system = "pulsar-pip430"
    settings = ()

    def __init__(self, config: Any) -> None:
        pass

    def insert(self, cache: str, pos: Any, size: int, expected_reads: Any = None) -> dict[str, Any]:
        if size < 0:
            raise Refuse
        return {"inserted": False}

    def get(self, cache: str, pos: Any) -> dict[str, Any]:
        return {"hit": False}

    def evict(self, bytes: int) -> dict[str, Any]:
        if bytes <= 0:
            raise Refuse
        return {"entries": 0, "bytes": 0}


def test_constants_within_a_limit_do_not_conform(tmp_path: Path) -> None:
    report = judged(PythonSubject(OneStep), tmp_path)
    assert report.verdict is Verdict.NOTHING_CHECKED
    assert "steps were judged, fewer than 300" in report.skipped[-1].reason


@pytest.mark.long
@pytest.mark.parametrize("ops", [{"insert"}, {"get", "get_range", "exists"}], ids=["no-insert", "no-lookup"])
def test_a_level_needs_its_central_operations(ops: set[str], tmp_path: Path) -> None:
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    report = judged(without_operations(subject, frozenset(ops)), tmp_path)
    assert report.levels["range"].verdict is Verdict.NOTHING_CHECKED
    assert "central operations" in report.skipped[-1].reason
    assert judged(subject, tmp_path).levels["range"].verdict is Verdict.CONFORMS


@pytest.mark.parametrize(
    ("system", "level", "ops", "said"),
    [
        ("kafka-streams", "views", {"store_view"}, "operations of this level that the subject declares"),
        ("pulsar-pip430", "inflight", {"append", "cursor_open", "read_begin"}, "central operations storage_answer"),
    ],
)
def test_part_of_a_level_is_nothing_checked(system: str, level: str, ops: set[str], said: str, tmp_path: Path) -> None:
    subject = reference_subject(SYSTEMS[system])
    report = judged(without_operations(subject, subject.declaration.ops - ops), tmp_path, (level,))
    assert report.verdict is Verdict.NOTHING_CHECKED
    assert said in report.skipped[-1].reason


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "level", "ops", "reason"),
    [
        ("pulsar-pip430", "ledger", {"cursor_open"}, "cursor_read, replay_read was refused"),
        (
            "kafka-streams",
            "views",
            {"store_put", "store_put_all", "store_put_if_absent"},
            "none of its central operations",
        ),
    ],
)
def test_lookups_that_can_find_nothing_do_not_conform(
    name: str, level: str, ops: set[str], reason: str, tmp_path: Path
) -> None:
    """The central operations are offered, but not the ones that they need: the answers are all refusals, or empty."""
    report = judged(without_operations(reference_subject(SYSTEMS[name]), frozenset(ops)), tmp_path, (level,))
    assert report.levels[level].verdict is Verdict.NOTHING_CHECKED
    assert reason in report.skipped[-1].reason


def test_a_cache_that_can_hold_nothing_does_not_conform(tmp_path: Path) -> None:
    fixed = {"max_size_bytes": 0}
    report = judged(PythonSubject(type("Disabled", (Empty,), {"fixed": fixed})), tmp_path, ("range", "queue"))
    assert {level.verdict for level in report.levels.values()} == {Verdict.NOTHING_CHECKED}
    assert {"nothing that was stored was ever found" in skip.reason for skip in report.skipped} == {True}


@pytest.mark.long
def test_lookups_of_which_nothing_is_compared_show_nothing(tmp_path: Path) -> None:
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    blind = {"get": {"hit", "tokens"}, "exists": {"exists"}, "get_range": {"hits", "tokens"}}
    uncompared = {op: frozenset(keys) for op, keys in blind.items()}
    declaration = dataclasses.replace(subject.declaration, uncompared=uncompared)
    report = judged(NarrowedSubject(subject, declaration), tmp_path)
    assert report.levels["range"].verdict is Verdict.NOTHING_CHECKED
    assert "no lookup that is compared had two different answers" in report.skipped[-1].reason
    uncompared = {op: keys for op, keys in uncompared.items() if op != "get"}
    declaration = dataclasses.replace(subject.declaration, uncompared=uncompared)
    assert judged(NarrowedSubject(subject, declaration), tmp_path).levels["range"].verdict is Verdict.CONFORMS


@pytest.mark.long
def test_a_state_of_which_no_part_is_declared_is_an_exception(tmp_path: Path) -> None:
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    declaration = dataclasses.replace(subject.declaration, introspection=frozenset())
    report = judged(NarrowedSubject(subject, declaration), tmp_path)
    assert [one.what for one in report.exceptions if one.kind == "uncompared"] == ["observe"]
    assert report.headline == "conforms, with exceptions"
    assert judged(subject, tmp_path).exceptions == ()


@pytest.mark.parametrize("most", [0, 7])
@pytest.mark.parametrize("name", ["pulsar-pip430", "pulsar-legacy", "pulsar-segmented"])
def test_no_entry_is_greater_than_a_subject_takes(name: str, most: int) -> None:
    declaration = reference_subject(SYSTEMS[name]).declaration
    declaration = dataclasses.replace(declaration, limits=dataclasses.replace(declaration.limits, max_size=most))
    source, system = random.Random(1), declaration.system
    for level in system.levels:
        menu = system.cases.menu(list(system.ops_up_to(level)), level)
        for _ in range(40):
            steps = generate.make_case(source.randint, declaration, menu, None).case.steps
            assert max((getattr(op, "size", 0) for op in steps), default=0) <= most


@pytest.mark.long
def test_a_stub_without_insert_conforms_nowhere_but_with_its_cursors(tmp_path: Path) -> None:
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    levels = judged(without_operations(subject, frozenset({"insert"})), tmp_path, LEVELS).levels
    assert {name for name, level in levels.items() if level.verdict is Verdict.CONFORMS} <= {"cursors"}


@pytest.mark.long
def test_a_rule_that_no_answer_can_show_broken_is_not_checked(tmp_path: Path) -> None:
    """Without a query that shows the queue, nobody sees whether a new entry counts as accessed (R-INSERT-1)."""
    subject = open_in_process("fast", "pulsar-pip430")
    assert subject is not None
    blind = judged(without_operations(subject, frozenset({"observe"})), tmp_path).levels["range"].rules
    seeing = judged(subject, tmp_path).levels["range"].rules
    assert (blind["R-INSERT-1"].verdict, blind["R-INSERT-1"].detectable) == (Verdict.NOTHING_CHECKED, False)
    assert (seeing["R-INSERT-1"].verdict, seeing["R-INSERT-1"].detectable) == (Verdict.CONFORMS, True)
    assert blind["R-READ-3"].verdict is Verdict.CONFORMS


@pytest.mark.long
def test_a_rule_does_not_conform_without_an_operation_that_could_break_it(tmp_path: Path) -> None:
    """R-EVICT-8 is about `evict` and `expire`, and `expire` is left out after it broke R-EXPIRE-1."""
    subject = open_in_process("expire-at-the-cutoff", "pulsar-pip430")
    assert subject is not None
    options = Options(("queue",), PROFILE, 0, 0.0, tmp_path)
    report = conform_to_rules(subject, {"R-EVICT-8", "R-READ-1"}, options, lambda *_: None)
    verdicts = {rule: judged.verdict for rule, judged in report.levels["queue"].rules.items()}
    assert verdicts == {"R-EVICT-8": Verdict.NOTHING_CHECKED, "R-READ-1": Verdict.CONFORMS}
    assert (report.verdict, report.failures) == (Verdict.NOTHING_CHECKED, ())
    reasons = {skip.what: skip.reason for skip in report.skipped}
    assert "expire, which was left out" in reasons["R-EVICT-8"]


class Repeating(SubjectWrapper):
    """A subject that repeats for each operation its first right answer, or the one before: a wrong cache."""

    def __init__(self, subject: TestedSubject, repeats_first: bool) -> None:
        super().__init__(subject)
        self._repeats_first = repeats_first
        self._answers: dict[str, Any] = {}

    def play(self, cases: Sequence[Case]) -> list[Answer]:
        return [self._altered(case, answer) for case, answer in zip(cases, super().play(cases), strict=True)]

    def _altered(self, case: Case, answer: Answer) -> Answer:
        if not isinstance(answer, RunResult):
            return answer
        outcomes = []
        for op, outcome in zip(case.steps, answer.outcomes, strict=True):
            if isinstance(outcome, type(case.system.wire.refusal)):
                outcomes.append(outcome)
                continue
            outcomes.append(self._answers.get(op.name, outcome))
            if op.name not in self._answers or not self._repeats_first:
                self._answers[op.name] = outcome
        return answer._replace(outcomes=tuple(outcomes))


def offers(name: str, level: str) -> list[frozenset[str]]:
    """Return each operation up to a level alone, and each central one of the level with each other one."""
    system = SYSTEMS[name]
    ops = sorted(system.ops_up_to(level))
    central = sorted(frozenset[str]().union(*system.cases.central.get(level, ())))
    pairs = [frozenset({one, other}) for one in central for other in ops]
    return list(dict.fromkeys([*(frozenset({op}) for op in ops), *pairs]))


def headline(name: str, level: str, ops: frozenset[str], kind: str, tmp_path: Path) -> str:
    subject = reference_subject(SYSTEMS[name])
    offered: TestedSubject = without_operations(subject, subject.declaration.ops - ops)
    if kind != "right":
        offered = Repeating(offered, kind == "first")
    return conform(offered, Options((level,), Profile(30, 0, 0), 0, 0.0, tmp_path)).headline


LEVELS_OF: Final = [(name, level) for name, system in SYSTEMS.items() for level in system.levels]
SAMPLES: Final = {("kafka-streams", "windows"): 3, ("pulsar-pip430", "limits"): 6, ("pulsar-segmented", "all"): 2}
"""The levels of which `make test` plays some subjects; they are the quickest."""


@pytest.mark.parametrize("kind", ["right", "first", "previous"])
@pytest.mark.parametrize(
    ("name", "level", "most"),
    [
        *(pytest.param(*place, most) for place, most in SAMPLES.items()),
        *(pytest.param(*place, 12, marks=pytest.mark.long) for place in LEVELS_OF),
    ],
)
def test_a_subject_of_one_or_two_operations_does_not_simply_conform(
    name: str, level: str, most: int, kind: str, tmp_path: Path
) -> None:
    """No such run ends with an internal error. A right one violates nothing, and one of constants never conforms."""
    every = offers(name, level)
    for ops in random.Random(2).sample(every, min(most, len(every))):
        said = headline(name, level, ops, kind, tmp_path)
        is_whole = ops >= frozenset(SYSTEMS[name].ops_up_to(level))
        allowed = {"nothing-checked", *({"violates"} if kind != "right" else {"conforms, with exceptions"})}
        assert said in allowed | ({"conforms"} if kind == "right" and is_whole else set()), (sorted(ops), said)


def test_a_level_whose_lookups_find_nothing_of_what_it_stores_is_nothing_checked(tmp_path: Path) -> None:
    """Both groups of central operations are offered, of stores of two kinds."""
    for ops in ({"session_get", "window_put"}, {"session_put", "window_view"}):
        assert headline("kafka-streams", "windows", frozenset(ops), "right", tmp_path) == "nothing-checked"


def every_op(steps: Any) -> Iterator[str]:
    """Yield the names of the steps, and of those that a listener performs."""
    for op in steps:
        yield op.name
        yield from every_op(getattr(op, "steps", None) or ())


@pytest.mark.long
@pytest.mark.parametrize("overflow", [True, False])
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_no_case_has_an_operation_that_the_subject_does_not_offer(name: str, overflow: bool) -> None:
    """A subject without one operation gets none of it: not beside another one, in a listener, or in its place."""
    offered = reference_subject(SYSTEMS[name]).declaration
    limits = offered.limits
    if hasattr(limits, "open_views_overflow"):
        limits = dataclasses.replace(limits, open_views_overflow=overflow)
    source, system = random.Random(1), offered.system
    for missing in sorted(offered.ops):
        declaration = dataclasses.replace(offered, ops=offered.ops - {missing}, limits=limits)
        menu = system.cases.menu([op for op in system.ops if op in declaration.ops], system.levels[-1])
        for _ in range(8):
            case = generate.make_case(source.randint, declaration, menu, None).case
            assert missing not in set(every_op(case.steps))


@pytest.mark.parametrize(("others", "detectable"), [(0, False), (1, True)])
def test_an_exception_of_a_seeded_fault_shows_no_rule_broken(others: int, detectable: bool) -> None:
    """A pass fails at the slot that one fault of R-STATE-2 leaves; the other fault takes the slot of a cached entry."""
    inserts = [{"op": "insert", "cache": "a", "pos": [1, n], "size": 1} for n in range(1 + others)]
    remove = {"op": "remove_range", "cache": "a", "first": [1, 0], "last": [1, 0], "last_inclusive": True}
    steps = [*inserts, remove, {"op": "evict", "bytes": 1}]
    case = case_from_json({"system": "pulsar-pip430", "steps": steps}, SYSTEMS)
    coverage = Coverage()
    coverage.played[Rule.STATE_2] = [(case, run_reference(case, Coverage()))]
    note_detectable(reference_subject(case.system).declaration, coverage)
    assert (Rule.STATE_2 in coverage.detectable) == detectable
