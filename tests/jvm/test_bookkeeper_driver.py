"""BookKeeper's read cache, the class whose design PIP-174 follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from entrycache_conformance import generate
from entrycache_conformance.java.releases import releases
from entrycache_conformance.judge import judge_case
from entrycache_conformance.systems import SYSTEMS
from entrycache_protocol.case import Case
from entrycache_protocol.codec import decode_op
from entrycache_protocol.subject import FailedRun, TestedSubject

SYSTEM = SYSTEMS["pulsar-segmented"]


def case_of(subject: TestedSubject, *steps: dict[str, object]) -> Case:
    """Return a case of a ring of two segments with 128 bytes each."""
    config = subject.declaration.base_config()
    config = type(config)(max_size_bytes=256, variants=config.variants)
    return Case(SYSTEM, config, tuple(decode_op(SYSTEM.ops, step) for step in steps))


def insert(entry: int, size: int) -> dict[str, object]:
    return {"op": "insert", "cache": "a", "pos": [1, entry], "size": size}


def get(entry: int) -> dict[str, object]:
    return {"op": "get", "cache": "a", "pos": [1, entry]}


@pytest.mark.parametrize("release", releases("bookkeeper"), ids=str)
def test_a_release_answers_as_the_reference_but_for_an_entry_longer_than_a_segment(
    release: object, released_subject: Callable[[str], TestedSubject]
) -> None:
    subject = released_subject(release.subject)  # type: ignore[attr-defined]
    turning = case_of(subject, insert(0, 100), insert(1, 100), get(0), insert(2, 100), get(0), get(1), {"op": "usage"})
    assert judge_case(subject, turning).difference is None
    twice = case_of(subject, insert(0, 10), insert(0, 20), get(0), {"op": "usage"})
    assert judge_case(subject, twice).difference is None
    long = judge_case(subject, case_of(subject, insert(0, 10), insert(1, 129), get(0), get(1)))
    throws = release.version == "4.14.4"  # type: ignore[attr-defined]
    assert isinstance(long.answer, FailedRun) is throws
    assert (long.difference is not None) is throws


def test_a_release_that_throws_is_given_no_entry_longer_than_a_segment(
    released_subject: Callable[[str], TestedSubject],
) -> None:
    declaration = released_subject("bookkeeper:4.14.4").declaration
    assert declaration.findings == {"limits.long_entries": "bookkeeper-long-entry-throws"}
    menu = SYSTEM.cases.menu(sorted(declaration.ops), "all")
    every = [generated.case for generated in generate.make_seeded_cases(declaration, menu, 100, 1)]
    assert [case for case in every if SYSTEM.cases.unsupported_reason(declaration, case.config, case.steps)] == []
    sizes = {step.size for case in every for step in case.steps if hasattr(step, "size")}
    assert max(sizes) > 64
    lifted = dataclasses.replace(declaration, limits=dataclasses.replace(declaration.limits, long_entries=True))
    every = [generated.case for generated in generate.make_seeded_cases(lifted, menu, 100, 1)]
    assert [case for case in every if SYSTEM.cases.unsupported_reason(declaration, case.config, case.steps)]


def test_the_newest_release_answers_as_the_reference_in_seeded_cases(
    released_subject: Callable[[str], TestedSubject],
) -> None:
    subject = released_subject(releases("bookkeeper")[-1].subject)
    menu = SYSTEM.cases.menu(sorted(subject.declaration.ops), "all")
    cases = generate.make_seeded_cases(subject.declaration, menu, 150, 1)
    assert [case for case in (generated.case for generated in cases) if judge_case(subject, case).difference] == []
