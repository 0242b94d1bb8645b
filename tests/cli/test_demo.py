"""The demo of `make conform` enters the results of its parts in the order of the table, whichever ends first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from entrycache_conformance.java.releases import newest_release, releases
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
    parts = Demo()
    parts.part("one", "late", engine="x")
    parts.part("two", "soon")
    parts.finish()
    assert [(result["subject"], result.get("engine")) for result in parts.results] == [("a", "x"), ("b", None)]
    assert (parts.worst, parts.missing) == (0, 0)


def test_a_missing_tool_is_counted_and_a_part_without_a_result_is_a_failure(said: dict[str, CommandResult]) -> None:
    said.update(lacks=CommandResult(4, None, "entrycache: mvn is missing"), dies=CommandResult(0, None, ""))
    parts = Demo()
    parts.part("jar", "lacks")
    parts.part("audit", "dies")
    parts.finish()
    assert (parts.worst, parts.missing) == (1, 1)
    (lacking,), (died,) = (result["skipped"] for result in parts.results)
    assert lacking == {"what": "jar", "reason": "mvn is missing"}
    assert died == {"what": "audit: failed", "reason": "no result, exit code 0"}


@pytest.mark.parametrize(("rules", "worst"), [({"R-READ-1": "conforms"}, 0), ({"R-READ-1": "nothing-checked"}, 1)])
def test_an_audit_that_decides_too_little_is_a_failure(
    said: dict[str, CommandResult], rules: dict[str, str], worst: int
) -> None:
    said["audit"] = CommandResult(0, {"violations": 0, "rules": rules}, "")
    parts = Demo()
    parts.part("audit", "audit")
    parts.finish()
    assert parts.worst == worst


def test_what_others_need_is_waited_for(said: dict[str, CommandResult]) -> None:
    said.update(trace=CommandResult(0, {"events": 1}, ""), none=CommandResult(4, None, "entrycache: none"))
    parts = Demo()
    assert parts.make_files("a trace", "trace")
    assert not parts.make_files("no trace", "none")
    parts.finish()
    assert (parts.missing, len(parts.results)) == (1, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_every_system_is_tested(strict: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[tuple[str, ...]] = []

    def run(*arguments: str) -> CommandResult:
        commands.append(arguments)
        return CommandResult(4, None, "entrycache: not here")

    monkeypatch.setattr(demo, "run_command", run)
    parts = Demo()
    request_parts(parts, tmp_path, "dev", None, strict)
    parts.finish()
    subjects = {name: [line[1] for line in commands if line[:1] == ("conform",) and name in line] for name in SYSTEMS}
    for name, system in SYSTEMS.items():
        assert ("fast" in subjects[name]) is (system.fast is not None)
        assert "reference" in subjects[name]
        released = [subject for subject in subjects[name] if ":" in subject]
        known = [] if system.jvm is None else [release.subject for release in releases(system.jvm.name)]
        assert released == (known if strict else known[-1:])


@pytest.mark.parametrize(("touched", "proofs"), [(["kafka-streams"], 1), ([], 0)])
def test_a_short_run_takes_the_newest_release_and_proves_what_the_change_touches(
    touched: list[str], proofs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[tuple[str, ...]] = []

    def run(*arguments: str) -> CommandResult:
        commands.append(arguments)
        return CommandResult(4, None, "entrycache: not here")

    monkeypatch.setattr(demo, "run_command", run)
    monkeypatch.setattr(demo, "find_touched_systems", lambda paths: touched)
    parts = Demo()
    request_parts(parts, tmp_path, "dev", None, True, short=True)
    parts.finish()
    families = [system.jvm.name for system in SYSTEMS.values() if system.jvm is not None]
    assert [line[1] for line in commands if line[0] == "conform"] == [newest_release(name).subject for name in families]
    proved = [line for line in commands if line[0] == "prove"]
    assert proved == [("prove", "--profile", "ci", "--system", "kafka-streams", "--json")] * proofs
