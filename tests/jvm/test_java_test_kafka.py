"""A case of kafka-streams as one Java file: every op at both levels, on every release; it fails where the case does."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from entrycache_conformance.java.classpath import java_test_classpath
from entrycache_conformance.java.program import Program, compiled
from entrycache_conformance.java.releases import releases
from entrycache_conformance.java.stand_alone import CLASS_NAME, java_test
from entrycache_conformance.judge import Coverage, trajectory
from entrycache_conformance.systems import SYSTEMS
from entrycache_conformance.systems.kafka_streams.system import write_outcome
from entrycache_protocol.case import read_case, to_json
from entrycache_protocol.errors import MissingPrerequisite, UsageError
from entrycache_reference.kafka_streams import ops
from tests.support import ROOT
from tests.support.jvm.cases_kafka import CASES
from tests.support.jvm.params import newest_in_every_run

PACKAGE: Final = "org.apache.kafka.streams.state.internals"
FINDINGS: Final = sorted((ROOT / "docs" / "findings").glob("kafka-*/case.json"))
QUICK: Final = ("-XX:TieredStopAtLevel=1",)
"""A case is over before a second compiler pays."""

NEVER_ENDS: Final = "kafka-resize-never-ends"
"""Its test says so after a minute; not waited for here."""


def _case(config: Any, rows: Any) -> dict[str, Any]:
    steps, outcomes = zip(*rows, strict=True)
    return {"system": "kafka-streams", "config": config, "steps": steps, "outcomes": outcomes}


def _finding(path: Path) -> dict[str, Any]:
    case = read_case(path, SYSTEMS)
    outcomes = [write_outcome(done.outcome) for done in trajectory(case, Coverage())]
    return {**to_json(case), "outcomes": outcomes}


SHOWN: Final = {name: _case(*case) for name, case in CASES.items() if all(step["op"] != "share" for step, _ in case[1])}
FAILING: Final = {path.parent.name: _finding(path) for path in FINDINGS if path.parent.name != NEVER_ENDS}
TEXTS: Final = {
    f"Case{number}": java_test(case).replace(CLASS_NAME, f"Case{number}")
    for number, case in enumerate((*SHOWN.values(), *FAILING.values()))
}
NAMES: Final = dict(zip((*SHOWN, *FAILING), TEXTS, strict=True))


@pytest.fixture(scope="module", params=newest_in_every_run(releases("kafka-streams")), ids=str)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    try:
        tools = java_test_classpath(request.param.subject)
    except MissingPrerequisite as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("streams")
    for name, text in TEXTS.items():
        (folder / f"{name}.java").write_text(text, "utf-8")
    return compiled([folder / f"{name}.java" for name in TEXTS], tools, folder / "out")


def _run(name: str, program: Program) -> subprocess.CompletedProcess[str]:
    return program.run(f"{PACKAGE}.{NAMES[name]}", options=QUICK, timeout_seconds=120)


def test_every_op_is_shown() -> None:
    used = {step["op"] for case in SHOWN.values() for step in case["steps"]}
    assert used == {op.name for op in ops.OPS} - {"share"}


@pytest.mark.parametrize("name", SHOWN)
def test_a_release_passes_what_it_conforms_to(name: str, program: Program) -> None:
    done = _run(name, program)
    assert (done.returncode, done.stdout) == (0, "conforms\n"), done.stderr


@pytest.mark.parametrize("name", FAILING)
def test_a_release_fails_where_the_case_of_a_finding_does(name: str, program: Program) -> None:
    done = _run(name, program)
    last = len(read_case(Path(FINDINGS[0].parents[1], name, "case.json"), SYSTEMS).got) - 1
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"step {last}: ")
    assert len(done.stdout.splitlines()) == len(("step", "expected", "got"))


def test_what_has_no_java_test_is_refused() -> None:
    share = {"op": "share", "total_bytes": 1, "threads": 1, "global_thread": False}
    with pytest.raises(UsageError, match="no Java test for the op share"):
        java_test({"system": "kafka-streams", "config": {}, "steps": [share], "outcomes": [{"bytes": 1}]})
