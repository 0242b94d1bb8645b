"""A subject is asked for, and a failure says how it is played again, to be pasted as it is."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from entrycache_conformance.subjects.resolve import Choice
from tests.support.command import run

CASE = '{"system": "pulsar-pip430", "steps": [{"op": "usage"}]}'


@pytest.mark.parametrize("command", ["conform", "smoke", "replay CASE", "trace record --case CASE --out OUT"])
@pytest.mark.parametrize("more", ["", "--system pulsar-pip430"])
def test_without_a_subject_nothing_is_tested(
    command: str, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case.json"
    case.write_text(CASE, "utf-8")
    words = {"CASE": str(case), "OUT": str(tmp_path / "out")}
    code, out, err = run(capsys, *(words.get(word, word) for word in f"{command} {more}".split()))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("entrycache: no subject was named; expected --command CMD, or one of reference, fast, ")


@pytest.mark.parametrize(
    "subject",
    [
        ["state-insert-counted-twice"],
        ["--command", f"{sys.executable} -m entrycache_cli serve state-insert-counted-twice", "--timeout", "9.5"],
        ["my cache", "--command", f"'{sys.executable}' -m entrycache_cli serve state-insert-counted-twice"],
    ],
    ids=["name", "command", "both"],
)
def test_the_line_that_replays_a_failure_is_pasted_as_it_is(
    subject: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--level", "range", "--failures", str(tmp_path / "a folder; $(touch it)")]
    code, out, _ = run(capsys, "conform", *subject, *options)
    assert code == 1
    (line,) = {line for line in out.splitlines() if line.startswith("replay it: ")}
    program, *arguments = shlex.split(line.removeprefix("replay it: "))
    assert program == "entrycache"
    assert arguments[2:] == subject
    assert run(capsys, *arguments)[0] == 1


def test_a_choice_is_typed_with_all_that_differs() -> None:
    assert Choice("fast").typed() == "fast"
    whole = Choice("pulsar:4.2.4", None, "a b.jar", "pulsar-pip430", 3.0)
    assert whole.typed() == "pulsar:4.2.4 --classpath 'a b.jar' --system pulsar-pip430 --timeout 3"
