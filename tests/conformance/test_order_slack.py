"""Subjects with `order_slack` k: the reference takes entries in their order, as far as k allows it.

The contract's rules: a pass says what it did (1), takes an entry with at most k live ones before it (2), decides as the
table does (3), ends where it must (4), and everything else is compared as before, the queue as a set (5).
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache import state_machine
from entrycache_conformance import explain
from entrycache_conformance.judge import judge_case
from entrycache_conformance.levels import Profile, run_self_check
from entrycache_conformance.report import RunReport
from entrycache_conformance.run import Options, conform
from entrycache_conformance.state_machine import AnswerDiffers
from entrycache_conformance.systems.pulsar_pip430.order_slack import follow_order
from entrycache_conformance.systems.pulsar_pip430.system import SYSTEM
from entrycache_conformance.systems.reference import open_reference, reference_offer
from entrycache_faults.reference.pulsar_pip430 import SEEDED_FAULTS
from entrycache_protocol.case import Case, case_from_json
from entrycache_protocol.codec import OrderedOutcome
from entrycache_protocol.declaration import Declaration
from entrycache_protocol.errors import Verdict
from entrycache_protocol.server import Subject
from entrycache_protocol.subject import Difference, InProcessSubject
from entrycache_reference.pulsar_pip430 import Config, ops
from entrycache_reference.pulsar_pip430.outcomes import Counters, Inserted, Removed
from entrycache_reference.rules import Rule
from entrycache_reference.vocabulary import CacheName, Position
from tests.support.sharded import sharded

A: Final = CacheName("a")
INSERTS: Final = tuple(ops.Insert(A, Position(1, at), 10) for at in range(4))


def conform_sharded(slack: int, declared: int, folder: Path, level: str = "manager", examples: int = 40) -> RunReport:
    return conform(sharded(slack, declared), Options((level,), Profile(examples, 0, 0), 0, 0.0, folder))


@pytest.mark.long
@pytest.mark.parametrize("slack", [1, 2])
def test_a_sharded_queue_conforms_at_its_slack(slack: int, tmp_path: Path) -> None:
    report = conform_sharded(slack, slack, tmp_path)
    assert report.verdict is Verdict.CONFORMS
    assert f"order_slack = {slack}" in {one.what for one in report.exceptions}


def test_a_sharded_queue_violates_without_slack(tmp_path: Path) -> None:
    assert conform_sharded(1, 0, tmp_path, "queue", examples=10).verdict is Verdict.VIOLATES


@pytest.mark.long
def test_a_sharded_queue_violates_at_less(tmp_path: Path) -> None:
    report = conform_sharded(2, 1, tmp_path, "queue")
    assert report.verdict is Verdict.VIOLATES
    assert {failure.rules for failure in report.failures} == {("R-EVICT-8",)}
    written = json.loads(Path(report.failures[0].case).read_text(encoding="utf-8"))
    assert written["guided"] is True
    assert len(written["steps"]) <= 6
    assert len(written["got"][-1]["seen"]) >= 1
    assert case_from_json(written, {SYSTEM.name: SYSTEM}).got == tuple(written["got"])


def removed(*entries: int) -> tuple[tuple[str, Position, str], ...]:
    return tuple((A, Position(1, entry), "removed") for entry in entries)


def difference_of(steps: tuple[Any, ...], answer: Any, slack: int = 1, config: Config | None = None) -> Any:
    """Return the difference if the last step is answered so, and all others as the reference does."""
    config = config or Config()

    def open_instance(config: Config) -> Any:
        ordered = open_reference(SYSTEM.model, follow_order(SYSTEM.model, slack))(config)
        last = len(steps) - 1
        counted = iter(range(len(steps)))
        return lambda op: (answer, ordered(op))[0] if next(counted) == last else ordered(op)

    subject = InProcessSubject("given", SYSTEM, open_instance, {**reference_offer(SYSTEM), "order_slack": slack})
    return judge_case(subject, Case(SYSTEM, config, steps)).difference


@pytest.mark.parametrize(
    ("taken", "slack", "is_allowed"),
    [
        (removed(0), 1, True),
        (removed(1), 1, True),
        (removed(2), 1, False),
        (removed(2), 2, True),
        (((A, Position(1, 0), "requeued"),), 1, False),
        ((), 1, False),
        (removed(0, 1), 1, False),
        (removed(9), 1, False),
    ],
)
def test_a_size_pass_takes_an_entry_within_the_slack_and_no_more_than_it_needs(
    taken: Any, slack: int, is_allowed: bool
) -> None:
    answer: Any = OrderedOutcome(Removed(1, 10), taken) if taken else Removed(1, 10)
    assert (difference_of((*INSERTS, ops.Evict(5)), answer, slack) is None) is is_allowed


@pytest.mark.parametrize(
    ("taken", "is_allowed"),
    [
        (removed(0, 1, 2), True),
        (removed(1, 0, 2), True),
        (removed(0, 1), True),  # the time pass may end: one of the first two entries is not expired
        (removed(1, 0), True),
        (removed(0), False),
        (removed(0, 1, 2, 3), False),
    ],
)
def test_a_time_pass_ends_before_one_of_the_first_entries_that_is_not_expired(taken: Any, is_allowed: bool) -> None:
    steps = (*INSERTS[:3], ops.Advance(10), INSERTS[3], ops.Expire(5))
    answer = OrderedOutcome(Removed(len(taken), 10 * len(taken)), taken)
    assert (difference_of(steps, answer) is None) is is_allowed


@pytest.mark.parametrize(
    ("taken", "is_allowed"),
    [
        (removed(0), True),  # by the time pass, and 30 bytes are not above the trigger
        (removed(0, 1), True),  # both by the size pass, which frees down to 21 bytes
        (removed(1, 0), True),
        (removed(1, 2), True),  # 1:0 alone stands before 1:2
        (removed(1, 3), False),
        (removed(1), False),
        (removed(0, 1, 2), False),
    ],
)
def test_a_cycle_ends_its_time_pass_where_the_answer_fits(taken: Any, is_allowed: bool) -> None:
    config = Config(max_size_bytes=50, ttl_nanos=5, watermark=0.6)
    steps = (INSERTS[0], ops.Advance(10), *INSERTS[1:], ops.Configure(max_size_bytes=35), ops.Cycle())
    answer = OrderedOutcome(Removed(len(taken), 10 * len(taken)), taken)
    assert (difference_of(steps, answer, config=config) is None) is is_allowed


def test_the_queue_is_compared_as_a_set() -> None:
    """After a requeue out of order the queue of the subject may be in another order, with other dead slots."""
    steps = (*INSERTS[:2], ops.Observe())
    own = open_reference(SYSTEM.model)(Config())
    *_, observed = [own(op) for op in steps]
    turned = observed.__class__(observed.now, observed.bytes, observed.caches, observed.queue[::-1], 3)
    assert difference_of(steps, turned, 1) is None
    assert difference_of(steps, turned, 0) is not None
    assert (
        difference_of(steps, observed.__class__(observed.now, observed.bytes, observed.caches, observed.queue[1:], 0))
        is not None
    )


def test_the_steps_after_a_pass_follow_the_order_of_the_subject() -> None:
    steps = (*INSERTS, ops.Evict(5), ops.Evict(5), ops.Metrics())
    subject = sharded(1, 1)
    judged = judge_case(subject, Case(SYSTEM, Config(), steps))
    assert judged.difference is None
    assert difference_of(steps, Counters(4, 2, 0, 0, 0, 0, 0, 20)) is None
    assert difference_of(steps, Counters(4, 1, 0, 0, 0, 0, 0, 20)) is not None


def test_blame_plays_the_faults_in_the_order_of_the_subject() -> None:
    fault = next(fault for fault in SEEDED_FAULTS.own if fault.rule is Rule.EXPIRE_1)
    ordered = follow_order(fault.model, 1)
    opener = open_reference(fault.model, ordered)
    subject = InProcessSubject("late", SYSTEM, opener, {**reference_offer(SYSTEM), "order_slack": 1})
    case = Case(SYSTEM, Config(), (*INSERTS, ops.Advance(5), ops.Expire(5)))
    judged = judge_case(subject, case)
    assert isinstance(judged.difference, Difference)
    assert explain.explain_difference(subject, case, judged.steps, judged.difference)[0] is Rule.EXPIRE_1


class Newest(Subject):
    """A cache of equal entries whose size pass takes the newest one."""

    system = "pulsar-pip430"
    settings = ()
    order_slack = 1

    def __init__(self, config: Any) -> None:
        self.entries: list[tuple[int, int]] = []

    def insert(self, cache: str, pos: tuple[int, int], size: int, expected_reads: Any = None) -> dict[str, Any]:
        self.entries.append(pos)
        return {"inserted": True}

    def evict(self, bytes: int) -> dict[str, Any]:
        pos = self.entries.pop()
        return {"entries": 1, "bytes": 10, "seen": [["a", list(pos), "removed"]]}

    def get(self, cache: str, pos: tuple[int, int]) -> dict[str, Any]:
        return {"hit": pos in self.entries}


def test_a_state_machine_follows_the_order_of_the_subject(tmp_path: Path) -> None:
    machine = state_machine(Newest, failures=tmp_path)
    machine.play(Case(SYSTEM, Config(), (*INSERTS[:2], ops.Evict(5), ops.Get(A, Position(1, 0)))))
    with pytest.raises(AnswerDiffers, match="R-EVICT-8"):
        machine.play(Case(SYSTEM, Config(), (*INSERTS[:3], ops.Evict(5))))


def test_the_self_check_asks_for_wrong_answers_and_not_for_a_missing_order() -> None:
    declaration = sharded(1, 1).declaration
    assert run_self_check(declaration, SYSTEM.cases.menu(sorted(declaration.ops), "queue"), 0)
    assert isinstance(declaration, Declaration)
    ordered = open_reference(SYSTEM.model, follow_order(SYSTEM.model, 1))(Config())
    assert [ordered(op) for op in (INSERTS[0], ops.Evict(5))] == [
        Inserted(True),
        OrderedOutcome(Removed(1, 10), removed(0)),
    ]
