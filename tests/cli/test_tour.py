"""The tour enters what its parts say in the order of the table, whichever is over first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from entrycache_cli import touring
from entrycache_cli.touring import Ran, Tour, take
from entrycache_conformance.systems import SYSTEMS

CONFORMS = {"levels": {}, "verdict": "conforms"}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, Ran]:
    """What each command answers; the one that is called `late` waits for the one that is called `soon`."""
    answers: dict[str, Ran] = {}
    soon = threading.Event()

    def run(command: str, *arguments: str) -> Ran:
        if command == "late":
            assert soon.wait(10)
        if command == "soon":
            soon.set()
        return answers[command]

    monkeypatch.setattr(touring, "run", run)
    return answers


def test_parts_run_beside_each_other_and_are_entered_in_order(said: dict[str, Ran]) -> None:
    said.update(late=Ran(0, {**CONFORMS, "subject": "a"}, ""), soon=Ran(0, {**CONFORMS, "subject": "b"}, ""))
    made = Tour()
    made.part("one", "late", engine="x")
    made.part("two", "soon")
    made.finish()
    assert [(result["subject"], result.get("engine")) for result in made.results] == [("a", "x"), ("b", None)]
    assert (made.worst, made.missing) == (0, 0)


def test_a_missing_tool_is_counted_and_a_part_without_a_result_is_a_failure(said: dict[str, Ran]) -> None:
    said.update(lacks=Ran(4, None, "entrycache: mvn is missing"), dies=Ran(0, None, ""))
    made = Tour()
    made.part("jar", "lacks")
    made.part("audit", "dies")
    made.finish()
    assert (made.worst, made.missing) == (1, 1)
    (lacking,), (died,) = (result["skipped"] for result in made.results)
    assert lacking == {"what": "jar", "reason": "mvn is missing"}
    assert died == {"what": "audit: failed", "reason": "no result, exit code 0"}


@pytest.mark.parametrize(("rules", "worst"), [({"R-READ-1": "conforms"}, 0), ({"R-READ-1": "nothing-checked"}, 1)])
def test_an_audit_that_decides_too_little_is_a_failure(said: dict[str, Ran], rules: dict[str, str], worst: int) -> None:
    said["audit"] = Ran(0, {"violations": 0, "rules": rules}, "")
    made = Tour()
    made.part("audit", "audit")
    made.finish()
    assert made.worst == worst


def test_what_others_need_is_waited_for(said: dict[str, Ran]) -> None:
    said.update(trace=Ran(0, {"events": 1}, ""), none=Ran(4, None, "entrycache: none"))
    made = Tour()
    assert made.made("a trace", "trace")
    assert not made.made("no trace", "none")
    made.finish()
    assert (made.missing, len(made.results)) == (1, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_every_system_is_asked(strict: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def run(*arguments: str) -> Ran:
        asked.append(arguments)
        return Ran(4, None, "entrycache: not here")

    monkeypatch.setattr(touring, "run", run)
    made = Tour()
    take(made, tmp_path, "dev", None, strict)
    made.finish()
    subjects = {name: [line[1] for line in asked if line[:1] == ("conform",) and name in line] for name in SYSTEMS}
    for name, system in SYSTEMS.items():
        assert ("fast" in subjects[name]) is (system.fast is not None)
        assert "reference" in subjects[name]
        assert any(":" in subject for subject in subjects[name]) is (system.jvm is not None)
