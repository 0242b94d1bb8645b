"""The demo of `make conform` enters the results of its parts in the order of the table, whichever ends first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from entrycache_conformance.systems import SYSTEMS
from entrycache_dev import demo
from entrycache_dev.demo import CommandResult, Demo, request_parts

CONFORMS = {"levels": {}, "verdict": "conforms"}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, CommandResult]:
    """Return the answer of each command; the command `late` waits for the command `soon`."""
    answers: dict[str, CommandResult] = {}
    soon = threading.Event()

    def run(command: str, *arguments: str) -> CommandResult:
        if command == "late":
            assert soon.wait(10)
        if command == "soon":
            soon.set()
        return answers[command]

    monkeypatch.setattr(demo, "run_command", run)
    return answers


def test_parts_run_beside_each_other_and_are_entered_in_order(said: dict[str, CommandResult]) -> None:
    said.update(
        late=CommandResult(0, {**CONFORMS, "subject": "a"}, ""), soon=CommandResult(0, {**CONFORMS, "subject": "b"}, "")
    )
    made = Demo()
    made.part("one", "late", engine="x")
    made.part("two", "soon")
    made.finish()
    assert [(result["subject"], result.get("engine")) for result in made.results] == [("a", "x"), ("b", None)]
    assert (made.worst, made.missing) == (0, 0)


def test_a_missing_tool_is_counted_and_a_part_without_a_result_is_a_failure(said: dict[str, CommandResult]) -> None:
    said.update(lacks=CommandResult(4, None, "entrycache: mvn is missing"), dies=CommandResult(0, None, ""))
    made = Demo()
    made.part("jar", "lacks")
    made.part("audit", "dies")
    made.finish()
    assert (made.worst, made.missing) == (1, 1)
    (lacking,), (died,) = (result["skipped"] for result in made.results)
    assert lacking == {"what": "jar", "reason": "mvn is missing"}
    assert died == {"what": "audit: failed", "reason": "no result, exit code 0"}


@pytest.mark.parametrize(("rules", "worst"), [({"R-READ-1": "conforms"}, 0), ({"R-READ-1": "nothing-checked"}, 1)])
def test_an_audit_that_decides_too_little_is_a_failure(
    said: dict[str, CommandResult], rules: dict[str, str], worst: int
) -> None:
    said["audit"] = CommandResult(0, {"violations": 0, "rules": rules}, "")
    made = Demo()
    made.part("audit", "audit")
    made.finish()
    assert made.worst == worst


def test_what_others_need_is_waited_for(said: dict[str, CommandResult]) -> None:
    said.update(trace=CommandResult(0, {"events": 1}, ""), none=CommandResult(4, None, "entrycache: none"))
    made = Demo()
    assert made.made("a trace", "trace")
    assert not made.made("no trace", "none")
    made.finish()
    assert (made.missing, len(made.results)) == (1, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_every_system_is_asked(strict: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def run(*arguments: str) -> CommandResult:
        asked.append(arguments)
        return CommandResult(4, None, "entrycache: not here")

    monkeypatch.setattr(demo, "run_command", run)
    made = Demo()
    request_parts(made, tmp_path, "dev", None, strict)
    made.finish()
    subjects = {name: [line[1] for line in asked if line[:1] == ("conform",) and name in line] for name in SYSTEMS}
    for name, system in SYSTEMS.items():
        assert ("fast" in subjects[name]) is (system.fast is not None)
        assert "reference" in subjects[name]
        assert any(":" in subject for subject in subjects[name]) is (system.jvm is not None)
