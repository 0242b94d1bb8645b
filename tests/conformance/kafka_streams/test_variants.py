"""The variants of the releases: a subject that declares one conforms; otherwise its rule is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.explain import explain_difference
from entrycache_conformance.judge import Coverage, answer_case, judge, run_reference
from entrycache_conformance.levels import Profile
from entrycache_conformance.run import Options, conform
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.limits import unsupported_reason
from entrycache_conformance.systems.reference import reference_subject
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.case import Case
from entrycache_protocol.errors import Verdict
from entrycache_protocol.subject import InProcessSubject
from entrycache_reference.kafka_streams import Config, Variants, ops
from entrycache_reference.kafka_streams.config import FailedFlush, FlushedTombstone, Total, UndeliveredEviction
from entrycache_reference.kafka_streams.outcomes import Done, ErrorKind, Failed, Unanswered, Used

SYSTEM: Final = SYSTEMS["kafka-streams"]
STEPS_MAX: Final = 8
X: Final = ops.Put("a", "x", "1", True)
Y: Final = ops.Put("a", "y", "1", True)
TOMBSTONE: Final = ops.Put("a", "x", None, True)

VARIANTS_OF_RELEASES: Final = {
    "undelivered_eviction": (UndeliveredEviction.LOST, "K-FLUSH-3", (X, ops.Evict("a"), ops.Get("a", "x"))),
    "failed_flush": (FailedFlush.CLEAN, "K-FLUSH-3", (X, ops.Listen("a", (), 1), ops.Flush("a"), ops.Metrics("a"))),
    "total": (Total.RUNNING, "K-METRICS-1", (X, ops.Listen("a", (Y,)), ops.Flush("a"), ops.Usage())),
    "flushed_tombstone": (
        FlushedTombstone.ANY_WRITE,
        "K-FLUSH-4",
        (TOMBSTONE, ops.Listen("a", (X,)), ops.Flush("a"), ops.Get("a", "x")),
    ),
}
"""Each variant of level `cache`: its other value, the rule that it breaks, and steps that show it."""


def following(variants: Variants, model: Any = SYSTEM.model, **declared: str) -> InProcessSubject:
    """Return a subject that follows these variants and declares the given ones; `model` may have a seeded fault."""
    offer = dict(reference_subject(SYSTEM).start_answer["systems"][SYSTEM.name])
    offer["variants"] = declared

    def open_instance(config: Any) -> Callable[[Any], Any]:
        own = dataclasses.replace(config, variants=variants)
        state = model.initial(own)

        def answer(op: Any) -> Any:
            nonlocal state
            done = model.step(state, op, own)
            if isinstance(done.outcome.answer, Unanswered):
                raise RuntimeError(done.outcome.answer.reason)
            state = done.state
            return done.outcome

        return answer

    return InProcessSubject("following", SYSTEM, open_instance, offer)


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS_OF_RELEASES)
def test_a_variant_that_is_not_declared_is_found(name: str, tmp_path: Path) -> None:
    value, _, _ = VARIANTS_OF_RELEASES[name]
    report = conform(following(Variants(**{name: value})), Options(("cache",), Profile(1_500, 0, 0), 0, 0.0, tmp_path))
    assert report.verdict is Verdict.VIOLATES
    assert report.failures[0].steps <= STEPS_MAX


@pytest.mark.parametrize("name", VARIANTS_OF_RELEASES)
def test_a_variant_that_is_not_declared_is_reported_with_its_rule(name: str) -> None:
    value, rule, events = VARIANTS_OF_RELEASES[name]
    subject = following(Variants(**{name: value}))
    case = Case(SYSTEM, SYSTEM.model.config(), events)
    steps = run_reference(case, Coverage())
    difference = judge(case, steps, answer_case(subject, case), subject.declaration)
    assert difference is not None
    assert explain_difference(subject, case, steps, difference)[0].value == rule


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS_OF_RELEASES)
def test_a_variant_that_is_declared_conforms(name: str, tmp_path: Path) -> None:
    value, _, _ = VARIANTS_OF_RELEASES[name]
    subject = following(Variants(**{name: value}), **{name: value.value})
    report = conform(subject, Options(("cache",), Profile(100, 0, 0), 0, 0.0, tmp_path))
    assert report.verdict is Verdict.CONFORMS, report.failures


def _answers(variants: Variants, *events: ops.Op, **config: int) -> list[Any]:
    settings = SYSTEM.model.config(variants=variants, **config)
    state = SYSTEM.model.initial(settings)
    answers = []
    for event in events:
        done = SYSTEM.model.step(state, event, settings)
        answers.append(done.outcome.answer)
        state = done.state
    return answers


def test_a_lost_entry_leaves_a_key_that_every_later_flush_ends_at() -> None:
    flushes = (ops.Usage(), ops.Resize(100), ops.Listen("a"), Y, ops.Flush("a"), ops.Flush("a"), ops.Metrics("a"))
    answers = _answers(RELEASED, X, *flushes, ops.Put("a", "x", "2"), max_size_bytes=40)
    assert answers[0] == Failed(ErrorKind.ILLEGAL_ARGUMENT)
    assert answers[1] == Used(0, 0, 47)
    assert answers[5] == answers[6] == answers[8] == Failed(ErrorKind.ILLEGAL_STATE)
    assert answers[7].dirty == ("x", "y")


def test_what_a_flush_has_marked_before_it_ended_is_dropped_silently() -> None:
    behind = (X, Y, ops.Get("a", "x"), ops.Evict("a"), ops.Listen("a"), ops.Flush("a"))
    answers = _answers(RELEASED, *behind, ops.Evict("a"), ops.Usage("a"), ops.Metrics("a"))
    assert answers[3] == Failed(ErrorKind.ILLEGAL_ARGUMENT)
    assert answers[5] == Failed(ErrorKind.ILLEGAL_STATE)
    assert answers[6] == Done()
    assert answers[7] == Used(0, 0)
    assert answers[8].dirty == ("x", "y")


def test_a_step_that_would_never_end_is_not_played_of_who_declares_it() -> None:
    steps = (X, ops.Resize(0))
    released = SYSTEM.model.config(max_size_bytes=40, variants=RELEASED)
    assert _answers(RELEASED, *steps, max_size_bytes=40)[1] == Unanswered(
        "resize evicts from nothing for ever: the running total is above the limit, and nothing is left"
    )
    declaration = following(RELEASED).declaration
    assert "step 1 of the case gives no answer" in unsupported_reason(declaration, released, steps)
    assert unsupported_reason(declaration, SYSTEM.model.config(max_size_bytes=40), steps) == ""
    assert Case(SYSTEM, released, steps).system.cases.unsupported_reason(declaration, released, steps[:1]) == ""


def test_a_namespace_that_is_closed_under_a_call_is_left_alone_by_it() -> None:
    inner = (ops.Close("a"), ops.Put("a", "z", "1"), ops.Usage())
    events = (ops.Listen("a", inner), X, Y, ops.Put("a", "w", "1"), ops.Usage())
    answers = _answers(RELEASED, *events, max_size_bytes=94)
    assert answers[4] == Used(1, 47, 47 - 47 - 47)


def test_people_are_reported_of_keys_without_an_entry_and_of_the_running_total() -> None:
    settings = SYSTEM.model.config(max_size_bytes=40, variants=RELEASED)
    done = SYSTEM.model.step(SYSTEM.model.initial(settings), X, settings)
    assert SYSTEM.text.state(done.state) == "a: (empty) (0B, dirty without an entry: x)\nrunning total: 47B"


def test_a_case_without_variants_is_explained_with_those_of_the_subject() -> None:
    fault = next(each for each in SYSTEM.seeded_faults.own if ops.StoreAll in each.replaced)
    declared = {name: str(value.value) for name, value in dataclasses.asdict(RELEASED).items()}
    subject = following(RELEASED, fault.model, **declared)
    kept = (ops.StorePut("s", "k", "1"), ops.StoreFlush("s"), ops.Evict("s"))
    case = Case(SYSTEM, Config(), (*kept, ops.StoreDelete("s", "k"), ops.StoreAll("s")))
    steps = run_reference(case, Coverage())
    difference = judge(case, steps, subject.play([case])[0], subject.declaration)
    assert difference is not None
    assert [rule.value for rule in explain_difference(subject, case, steps, difference)] == ["K-STORE-8"]
