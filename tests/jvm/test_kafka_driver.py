"""The driver of the released record cache of Kafka Streams, on cases worked out by hand from the protocol."""

from __future__ import annotations

import json
import subprocess
from typing import Final

import pytest

from entrycache_conformance.java.driver import released_command
from entrycache_conformance.java.releases import releases
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from tests.support import ROOT
from tests.support.jvm.cases_kafka import CASES, LISTEN, USAGE, at, put, usage
from tests.support.jvm.driver import Step, talk
from tests.support.jvm.params import newest_in_every_run

ENDLESS: Final[list[Step]] = [
    {**LISTEN, "on_flush": [put("x", dirty=True)]},
    put("k", dirty=True),
    at("flush"),
    {"op": "resize", "max_size_bytes": 0},
]
"""The put inside the flush is counted twice in the total, so all evictions together do not reach the new limit."""


@pytest.fixture(params=newest_in_every_run(releases("kafka-streams")), ids=str)
def released(request: pytest.FixtureRequest) -> list[str]:
    try:
        return released_command(request.param.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))


def _run(number: int, config: Step, steps: list[Step]) -> Step:
    return {"cmd": "run", "id": number, "system": "kafka-streams", "config": config, "steps": steps}


def without_message(outcome: Step) -> Step:
    return {key: part for key, part in outcome.items() if key != "message"}


def test_the_released_jar_answers_by_the_protocol(released: list[str]) -> None:
    requests = [_run(i, config, [step for step, _ in steps]) for i, (config, steps) in enumerate(CASES.values())]
    start, *answers = talk(released, {"cmd": "start", "version": 1}, *requests)
    got = {
        name: [without_message(each) for each in answer["outcomes"]]
        for name, answer in zip(CASES, answers, strict=True)
    }
    assert got == {name: [expected for _, expected in steps] for name, (_, steps) in CASES.items()}
    system = start["systems"]["kafka-streams"]
    assert f"(kafka-streams-{start['implementation']['version']}.jar)" in start["implementation"]["source"]
    assert {step["op"] for _, steps in CASES.values() for step, _ in steps} == set(system["ops"])


def test_committed_data_is_read_where_stores_have_levels_of_isolation(released: list[str]) -> None:
    case = json.loads((ROOT / "spec/examples/K-VIEW-11.json").read_text("utf-8"))
    start, answer = talk(released, {"cmd": "start", "version": 1}, _run(1, {}, case["steps"]))
    if start["systems"]["kafka-streams"]["limits"]["isolation_reads"]:
        assert start["implementation"]["version"] >= "4.4"
        assert answer["outcomes"] == case["outcomes"]
    else:
        assert "no readOnly(IsolationLevel)" in answer["errored"]["message"]


def test_a_step_that_never_ends_is_answered_and_ends_the_process(released: list[str]) -> None:
    requests = [_run(1, {}, [USAGE]), _run(2, {}, ENDLESS), _run(3, {}, [USAGE])]
    text = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(released, input=text, capture_output=True, text=True, timeout=60, check=False)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == {"id": 1, "outcomes": [usage(0)]}
    assert (second["id"], second["errored"]["step"]) == (2, 3)
    assert second["errored"]["message"].startswith("the step does not end: ")
    assert done.returncode == 1


def test_an_unknown_release_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match=r"^there is no driver for Kafka Streams 1\.0; known: 3\.9\.2, 4\."):
        released_command("kafka-streams:1.0")
