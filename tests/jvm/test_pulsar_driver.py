"""The driver of the released Pulsar cache, on cases worked out by hand from the protocol, level by level."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from entrycache_conformance.java.driver import java_test_classpath, released_command
from entrycache_conformance.java.program import compile_sources
from tests.support.jvm import (
    cases_cursors,
    cases_ledger,
    cases_limits,
    cases_manager,
    cases_pending,
    cases_range_queue,
    cases_reads,
)
from tests.support.jvm.driver import RELEASE, SUBJECT, Step, run_request, talk
from tests.support.jvm.steps import Case

CASES: Final[dict[str, Case]] = {
    **cases_range_queue.CASES,
    **cases_manager.CASES,
    **cases_reads.CASES,
    **cases_cursors.CASES,
    **cases_limits.CASES,
    **cases_pending.CASES,
    **cases_ledger.CASES,
}


def outcomes(command: list[str]) -> dict[str, list[Step]]:
    """Return the answers to all cases, sent at once; no run leaks."""
    requests = [run_request(i, config, [step for step, _ in steps]) for i, (config, steps) in enumerate(CASES.values())]
    answers = talk(command, {"cmd": "start", "version": 1}, *requests)[1:]
    assert [(answer["id"], answer.get("leaked")) for answer in answers] == [(i, 0) for i in range(len(CASES))]
    return {name: answer["outcomes"] for name, answer in zip(CASES, answers, strict=True)}


def compared(outcome: Step, expected: Step) -> Step:
    """Return the outcome without the message, and without the payload if the case does not mention it."""
    return {key: part for key, part in outcome.items() if key in expected or key not in {"message", "tokens"}}


def differing(got: list[Step], name: str) -> list[int]:
    """Return the steps of a case with different answers."""
    expected = [outcome for _, outcome in CASES[name][1]]
    return [i for i, (one, other) in enumerate(zip(got, expected, strict=True)) if compared(one, other) != other]


@pytest.fixture(scope="module")
def answered(released: list[str]) -> dict[str, list[Step]]:
    return outcomes(released)


@pytest.mark.parametrize("name", CASES)
def test_the_released_jar_answers_by_the_protocol(name: str, answered: dict[str, list[Step]]) -> None:
    steps = CASES[name][1]
    assert [compared(got, expected) for got, (_, expected) in zip(answered[name], steps, strict=True)] == [
        expected for _, expected in steps
    ]


@pytest.mark.long
def test_every_jdk_beside_this_one_answers_the_same(
    released: list[str], answered: dict[str, list[Step]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are the same if another JDK built the class path, and without any output on stderr."""
    here = Path(released[0]).resolve().parents[1]
    for home in sorted({java.resolve().parents[1] for java in here.parent.glob("*/bin/java")} | {here}):
        monkeypatch.setenv("JAVA_HOME", str(home))
        command = released_command(SUBJECT)
        if Path(command[0]).resolve().parents[1] != home:
            continue  # Too old; another one was found instead.
        assert outcomes(command) == answered
        done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_start_declares_every_op_of_all_levels(released: list[str]) -> None:
    (answer,) = talk(released, {"cmd": "start", "version": 1}, {"cmd": "stop"})
    system = answer["systems"]["pulsar-pip430"]
    assert answer["implementation"]["version"] == RELEASE.version
    assert {step["op"] for _, steps in CASES.values() for step, _ in steps} == set(system["ops"])
    assert system["introspection"] == ["now", "bytes", "caches", "queue", "tombstones", "requeues"]
    assert (system["payload"], system["leaks"]) == (True, True)


@pytest.mark.parametrize(
    ("change", "seen_in"),
    [
        ("time-cutoff-included", "the cutoff is strict"),
        ("size-one-entry-too-many", "whole entries go until enough is free"),
        ("requeue-keeps-accessed", "an accessed entry is spared once"),
        ("target-without-watermark", "an insert that crosses the trigger frees down to the target at once"),
        ("fills-without-reads-cached", "fills that nobody else reads are not cached"),
        ("grace-one-milli-longer", "grace starts anew whenever a member leaves"),
        ("rank-of-old-positions", "a rank counts all cursors at the position or before it"),
    ],
)
def test_a_changed_jar_answers_otherwise(change: str, seen_in: str, changed_jars: dict[str, Path]) -> None:
    config, steps = CASES[seen_in]
    request = run_request(1, config, [step for step, _ in steps])
    (answer,) = talk(released_command(SUBJECT, str(changed_jars[change])), request)
    assert differing(answer["outcomes"], seen_in)


def test_a_jar_that_keeps_the_size_of_what_it_removed_is_seen_through(changed_jars: dict[str, Path]) -> None:
    seen_in = "whole entries go until enough is free"
    config, steps = CASES[seen_in]
    request = run_request(1, config, [*(step for step, _ in steps), {"op": "observe"}])
    (answer,) = talk(released_command(SUBJECT, str(changed_jars["removal-keeps-size"])), request)
    *got, observed = answer["outcomes"]
    assert not differing(got, seen_in)
    assert (observed["bytes"], observed["caches"]) == (0, {"a": {"bytes": 40, "entries": []}})


@pytest.mark.long
def test_a_jar_that_keeps_references_leaks(changed_jars: dict[str, Path]) -> None:
    seen_in = "a range is served from the cache where it can be, and the gaps are filled"
    config, steps = CASES[seen_in]
    request = run_request(1, config, [step for step, _ in steps])
    (answer,) = talk(released_command(SUBJECT, str(changed_jars["insert-keeps-a-reference"])), request)
    assert not differing(answer["outcomes"], seen_in)
    assert answer["leaked"] == 3


@pytest.mark.long
def test_a_jar_that_hands_over_wrong_bytes_is_seen_by_its_tokens(released: list[str], tmp_path: Path) -> None:
    """Positions and sizes are right, but each entry that storage answers has the bytes of the next one."""
    compile_sources([Path(__file__).with_name("ReadEntryUtils.java")], java_test_classpath(SUBJECT), tmp_path)
    seen_in = "without caching all is read from storage"
    config, steps = CASES[seen_in]
    request = run_request(1, config, [step for step, _ in steps])
    (answer,) = talk(released_command(SUBJECT, str(tmp_path)), request)
    assert differing(answer["outcomes"], seen_in) == [1, 2]
    assert [answer["outcomes"][step]["tokens"] for step in (1, 2)] == [[1, 2, 3], [1]]
    assert answer["leaked"] == 0
