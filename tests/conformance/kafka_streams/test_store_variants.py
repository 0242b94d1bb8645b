"""The released stores differ from a plain map: the rule is named, and a declared variant is followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.explain import explain_difference
from entrycache_conformance.java.releases import release_versions
from entrycache_conformance.judge import Coverage, answer_case, judge, judge_case, run_reference
from entrycache_conformance.replay import replay_case
from entrycache_conformance.resolve import SubjectChoice, resolve_subject
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.reference import reference_subject
from entrycache_evidence.kafka_streams.runs import RELEASED
from entrycache_protocol.case import case_from_json, read_case
from entrycache_protocol.subject import InProcessSubject, TestedSubject
from entrycache_reference.kafka_streams.outcomes import Value
from tests.support.jvm.params import newest_in_every_run

CASES: Final = sorted((Path(__file__).parent / "store_cases").glob("*.json"))
STEPS_MAX: Final = 8


@pytest.fixture(scope="module", params=newest_in_every_run(release_versions("kafka-streams")))
def released(request: pytest.FixtureRequest, released_subject: Callable[[str], TestedSubject]) -> TestedSubject:
    return released_subject(f"kafka-streams:{request.param}")


def test_there_are_cases() -> None:
    assert len(CASES) == 4


@pytest.mark.long
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_release_breaks_the_rule_of_the_case(path: Path, released: TestedSubject) -> None:
    case = read_case(path, SYSTEMS)
    replayed = replay_case(path, released)
    assert replayed.stale == []
    assert replayed.failure is not None
    assert set(case.rules) <= set(replayed.failure.rules)
    assert len(case.steps) <= STEPS_MAX


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_reference_follows_the_release_where_its_variants_are_declared(path: Path, released: TestedSubject) -> None:
    case = read_case(path, SYSTEMS)
    followed = replace(case, config=replace(case.config, variants=RELEASED), outcomes=())
    steps = run_reference(followed, Coverage())
    assert judge(followed, steps, answer_case(released, followed), released.declaration) is None


def test_a_release_declares_its_variants_with_findings(released: TestedSubject) -> None:
    declared = released.declaration
    assert declared.variants == RELEASED
    assert {"variants.delivery", "variants.delete_read"} <= declared.findings.keys()


# A store that its own forward closes.


def put(key: str, value: str | None) -> dict[str, Any]:
    return {"op": "store_put", "store": "w", "key": key, "value": value}


def open_and_close(*steps: dict[str, Any], end: str = "store_flush", **opening: object) -> list[dict[str, Any]]:
    """Return steps that write `a` and `b` twice, and close the store at the forward of `a`; then the further ones."""
    opened = {"op": "store_open", "store": "w", **opening}
    inner = [{"op": "store_close", "store": "w"}, *steps]
    on_a = {"op": "on_forward", "store": "w", "key": "a", "steps": inner}
    on_b = {"op": "on_forward", "store": "w", "key": "b", "steps": [{"op": "store_put", "store": "q", "key": "z"}]}
    on_b["steps"][0]["value"] = "9"
    first = [put("a", "1"), put("b", "1"), {"op": "store_flush", "store": "w"}]
    then = [put("a", "2"), put("b", "2"), on_b, on_a, {"op": end, "store": "w"}]
    return [opened, *first, *then, {"op": "store_get", "store": "q", "key": "z"}]


OLD_VALUES: Final = {"old_values": True}
CLOSED_BY_THEMSELVES: Final = {
    "closed": open_and_close(),
    "opened again": open_and_close({"op": "store_open", "store": "w"}),
    "as a store of windows": open_and_close({"op": "store_open", "store": "w", "kind": "window"}),
    "with old values": open_and_close({"op": "store_open", "store": "w", **OLD_VALUES}),
    "without old values": open_and_close({"op": "store_open", "store": "w"}, **OLD_VALUES),
    "without a listener": open_and_close({"op": "store_open", "store": "w", "listens": False}),
    "inside its own close": open_and_close({"op": "store_open", "store": "w"}, end="store_close"),
}


@pytest.fixture(scope="module")
def fast() -> TestedSubject:
    return resolve_subject(SubjectChoice("fast", system="kafka-streams"))


def differs(subject: TestedSubject, steps: list[dict[str, Any]]) -> object:
    """Return the first difference between a subject and the reference, of the variants that the subject declares."""
    case = case_from_json({"system": "kafka-streams", "steps": steps}, SYSTEMS)
    declared = replace(case, config=replace(case.config, variants=subject.declaration.variants))
    return judge(declared, run_reference(declared, Coverage()), answer_case(subject, declared), subject.declaration)


@pytest.mark.rule("K-CLOSE-3")
@pytest.mark.parametrize("name", CLOSED_BY_THEMSELVES)
def test_k_close_3__a_store_that_its_forward_closes_goes_on_with_what_it_took(fast: TestedSubject, name: str) -> None:
    assert differs(fast, CLOSED_BY_THEMSELVES[name]) is None


@pytest.mark.rule("K-CLOSE-3")
def test_k_close_3__the_releases_go_on_with_what_they_took(released: TestedSubject) -> None:
    assert [name for name, steps in CLOSED_BY_THEMSELVES.items() if differs(released, steps)] == []


# A read inside a forward.


def answer_nothing_inside(config: Any) -> Callable[[Any], Any]:
    """Open the reference, whose reads of windows inside a forward find nothing."""
    perform = reference_subject(SYSTEMS["kafka-streams"]).open(config)

    def play(op: Any) -> Any:
        outcome = perform(op)
        forwards = (
            replace(one, inner=tuple(Value(None) if isinstance(each, Value) else each for each in one.inner))
            for one in outcome.forwarded
        )
        return replace(outcome, forwarded=tuple(forwards))

    return play


READ_INSIDE: Final = [
    {"op": "store_open", "store": "w", "kind": "window"},
    {"op": "window_put", "store": "w", "key": "a", "start": 0, "value": "1"},
    {
        "op": "on_forward",
        "store": "w",
        "key": "a",
        "steps": [{"op": "window_get", "store": "w", "key": "a", "start": 0}],
    },
    {"op": "store_flush", "store": "w"},
]


@pytest.mark.rule("K-WINDOW-9")
def test_k_window_9__names_a_wrong_read_inside_a_forward() -> None:
    system = SYSTEMS["kafka-streams"]
    offer = reference_subject(system).start_answer["systems"][system.name]
    subject = InProcessSubject("nothing inside", system, answer_nothing_inside, offer)
    case = case_from_json({"system": system.name, "steps": READ_INSIDE}, SYSTEMS)
    judged = judge_case(subject, case)
    assert judged.difference is not None
    rules = [rule.value for rule in explain_difference(subject, case, judged.steps, judged.difference)]
    assert rules[0] == "K-WINDOW-9"
